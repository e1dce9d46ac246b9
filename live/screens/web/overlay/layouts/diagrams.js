/** Layouts of small boards: `grid`, several boards for screens in the hall, and `moment`, the newest moment. */

import { Children, element, Pager, setParts, setText } from "../../drawing/elements.js";
import { asOf } from "../../client/event_state.js";
import { bothSides, COLORS, gameOrder } from "../../client/games.js";
import { loadPieces, MiniBoard } from "../../drawing/mini_board.js";
import { resultText, unbroken } from "../../drawing/number_format.js";
import { MomentAges, shownMoment } from "../on_air.js";
import { SmallGame } from "../panels.js";
import { Name } from "../../drawing/player_names.js";
import { placeOf } from "../shown_figures.js";

// No board may be on air without its pieces. Tests of pure functions have no page to load them.
if (globalThis.document) await loadPieces();

/** Possible looks of a board in the grid; all sizes in rem. */
const TALL = { name: "upright", width: 19.2, height: 20.1, diagram: 11.7 };
const WIDE = { name: "across", width: 25, height: 15.8, diagram: 12.4 };
const PLAIN = { name: "plain", width: 19, height: 8.2, diagram: 1 };
const GAP = 0.6;
/** Share of the page's height for the strip below the boards. */
const CAPTION = 0.032;
/** Maximum number of boards with diagrams; more would be too small to read. */
const MOST_DIAGRAMS = 24;

/** `layout=grid`: several boards, page by page if not all fit. */
export class GridLayout {
  ownNotice = true;

  constructor(context) {
    const { options } = context;
    this._context = context;
    this._options = options;
    this._place = element("span", "place");
    this._kind = element("span");
    this._pager = new Pager(options.page * 1000);
    this.node = element("div", "layout-grid", "", element("p", "caption panel", "", this._place, this._kind));
    this._diagrams = !options.hide.includes("diagram") && options.boards <= MOST_DIAGRAMS;
    this._cells = new Children(this.node, () => new GridBoard(context, this._diagrams));
    this._boardCount = options.boards;
  }

  /** Choose the look and the number of columns with the largest diagrams and the fewest empty cells; return the size of a rem. */
  fit(width, height) {
    const looks = this._diagrams ? [TALL, WIDE] : [PLAIN];
    const ways = looks.flatMap((look) => Array.from({ length: this._boardCount }, (_, at) => this._way(look, at + 1, width, height)));
    const best = ways.reduce((a, b) => (b.worth > a.worth ? b : a));
    this.node.className = `layout-grid ${best.look.name}`;
    this.node.style.setProperty("--columns", best.columns);
    this.node.style.setProperty("--rows", best.rows);
    return best.rem;
  }

  _way(look, columns, width, height) {
    const rows = Math.ceil(this._boardCount / columns);
    const rem = Math.min(width / (columns * (look.width + GAP) + GAP), (height * (1 - CAPTION)) / (rows * (look.height + GAP) + 2 * GAP));
    return { look, columns, rows, rem, worth: (rem * look.diagram * this._boardCount) / (columns * rows) };
  }

  draw({ games, now, swingOf, noticeOf }) {
    this.node.hidden = games.length === 0;
    // Boards stay in their places when one ends, unless the address asks to follow one.
    const ordered = this._options.follow === null ? games.toSorted(gameOrder) : games;
    const { items } = this._pager.page(ordered, this._options.boards, now);
    // If the last page has fewer boards, they keep the size of the other pages.
    const boardCount = Math.max(1, Math.min(games.length, this._options.boards));
    if (boardCount !== this._boardCount) {
      this._boardCount = boardCount;
      dispatchEvent(new Event("resize"));
    }
    this._caption(games);
    this._cells.show(items).forEach((cell, at) => cell.draw(items[at], swingOf(items[at]), noticeOf(items[at])));
  }

  /** Write the strip below the boards: round and event, and a note if figures are withheld or are Algorithm 4. */
  _caption(games) {
    const { words } = this._context;
    const places = new Set(games.map((game) => placeOf(game, words, false)));
    setParts(this._place, places.size === 1 ? [...places][0] : "");
    setText(this._kind, this._context.withheld() ? words.withheld : this._context.above() === null ? "" : words.algorithm4);
  }
}

/** A board of the grid. */
class GridBoard extends SmallGame {
  constructor(context, withDiagram) {
    super(context);
    this._board = withDiagram ? new MiniBoard("diagram") : null;
    const { bar, move, number, alert } = this.score;
    const state = element("div", "state", "", move, number, alert, this.place);
    const board = element("div", "with-bar", "", bar, ...(withDiagram ? [this._board.node] : []));
    this.node = element("article", "cell panel", "", this.sides.black.node, board, this.sides.white.node, state);
  }

  draw(game, swing, notice) {
    super.draw(game, swing, notice);
    this._board?.draw(game);
  }

  destroy() {
    this._board?.destroy();
  }
}

const TURN_MS = 400;
/** Length from which a sentence is written in smaller letters, so that its end fits. */
const LONG_LETTERS = 120;

/** `layout=moment`: a card with the newest moment and its position; nothing between moments. */
export class MomentLayout {
  /** Size in rem; the layout is scaled to fill the page. */
  size = { width: 46, height: 14.6 };

  constructor(context) {
    this._context = context;
    this._ages = new MomentAges();
    this._shown = null;
    this._kind = element("strong", "kind");
    this._sentence = element("p", "sentence");
    this._place = element("span", "place");
    this._result = element("strong", "result");
    this._names = bothSides(() => new Name());
    this._board = new MiniBoard("diagram");
    const { white, black } = this._names;
    const pairing = element("p", "pairing", "", white.node, element("span", "dash", "\u2013"), black.node, this._result);
    const words = element("div", "words", "", this._kind, this._sentence, pairing, this._place);
    this.node = element("article", "layout-moment panel", "", this._board.node, words);
  }

  draw({ games, held, now }) {
    const { options, words, everybody } = this._context;
    const moments = [...held.moments.values()];
    this._ages.note(moments, now);
    const choice = { holdMs: options.hold * 1000, always: options.sample === "moment" };
    const moment = shownMoment(moments, games, this._ages, now, choice);
    this._turn(moment);
    if (moment === null) return;
    const game = games.find(({ id }) => id === moment.game);
    setText(this._kind, words[moment.kind] ?? moment.kind);
    this.node.dataset.kind = moment.kind;
    const sentence = moment.text[options.lang] ?? moment.text.en;
    setText(this._sentence, unbroken(sentence));
    this._sentence.classList.toggle("long", sentence.length > LONG_LETTERS);
    setText(this._result, resultText(game.result));
    setParts(this._place, placeOf(game, words));
    for (const color of COLORS) this._names[color].draw(game[color].name || "?", everybody(), this._result.textContent);
    this._board.draw(asOf(game, moment.ply));
  }

  /** Show or hide the card, sliding if animations are on. */
  _turn(moment) {
    const id = moment?.id ?? null;
    if (id === this._shown) return;
    const leaving = id === null;
    this._shown = id;
    if (!this._context.moves()) {
      this.node.hidden = leaving;
      return;
    }
    this.node.hidden = false;
    const steps = [{ opacity: 0, transform: "translateY(1rem)" }, { opacity: 1, transform: "none" }];
    const animation = this.node.animate(leaving ? steps.reverse() : steps, { duration: TURN_MS, easing: "ease-out" });
    animation.onfinish = () => {
      if (this._shown === null) this.node.hidden = true;
    };
  }
}
