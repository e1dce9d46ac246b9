/** `layout=moment`: a card with the newest moment and its position; then nothing until the next. */

import { Diagram } from "../../drawing/diagram.js";
import { element, setParts, setText } from "../../drawing/elements.js";
import { Name } from "../../drawing/player_names.js";
import { resultText } from "../../drawing/number_format.js";
import { asOf } from "../../client/earlier_ply.js";
import { MomentAges, shownMoment } from "../story/board_interest.js";
import { placeOf } from "../shown_figures.js";

const TURN_MS = 400;
/** What is longer is written in smaller letters, so that its end is there. */
const LONG_LETTERS = 120;

export default class MomentLayout {
  /** In rem; it is made as large as the page. */
  size = { width: 46, height: 14.6 };

  constructor(context) {
    this._context = context;
    this._ages = new MomentAges();
    this._shown = null;
    this._kind = element("strong", "kind");
    this._sentence = element("p", "sentence");
    this._place = element("span", "place");
    this._result = element("strong", "result");
    this._names = { white: new Name(), black: new Name() };
    this._board = element("div", "diagram");
    this._diagram = null;
    const pairing = element(
      "p", "pairing", "", this._names.white.node, element("span", "dash", "\u2013"), this._names.black.node, this._result,
    );
    this.node = element(
      "article",
      "layout-moment panel",
      "",
      this._board,
      element("div", "words", "", this._kind, this._sentence, pairing, this._place),
    );
    this.node.hidden = true;
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
    setText(this._sentence, sentence);
    this._sentence.classList.toggle("long", sentence.length > LONG_LETTERS);
    setText(this._result, resultText(game.result));
    setParts(this._place, placeOf(game, words));
    for (const color of ["white", "black"]) {
      this._names[color].draw(game[color].name || "?", everybody(), this._result.textContent);
    }
    if (options.hide.includes("diagram")) return;
    this._diagram ??= new Diagram(this._board);
    this._diagram.draw(asOf(game, moment.ply));
  }

  /** In and out: with movement it slides, else it is there or not. */
  _turn(moment) {
    const id = moment?.id ?? null;
    if (id === this._shown) return;
    const leaving = id === null;
    this._shown = id;
    const away = { opacity: 0, transform: "translateY(1rem)" };
    const there = { opacity: 1, transform: "none" };
    if (!this._context.moves()) {
      this.node.hidden = leaving;
      return;
    }
    this.node.hidden = false;
    const steps = leaving ? [there, away] : [away, there];
    const animation = this.node.animate(steps, { duration: TURN_MS, easing: "ease-out" });
    animation.onfinish = () => {
      if (this._shown === null) this.node.hidden = true;
    };
  }
}
