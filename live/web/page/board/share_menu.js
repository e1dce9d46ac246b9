/** Taking along what is seen: its address, a picture, and the figures as JSON, CSV or PGN. */

import { button, element, named } from "../../drawing/elements.js";
import { PLAYER_COLUMNS } from "../players/columns.js";
import { pieceMarkup, svgAddress } from "./pieces.js";
import { bearer, HOME, shareAddress } from "../page_address.js";
import { brokerOf } from "../../client/open_connection.js";

/** Games whose PGN is asked for at once, at most. */
const TOGETHER = 4;

const METHODS = ["tournament", "accuracy", "centipawn_loss", "first_choice", "conformance", "guid_bratko", "ponderated", "markov_moves"];

/** Players as CSV: every plain figure of theirs, then those of the methods. */
function playersCsv(players, { FIGURES, csv }) {
  const plain = ["id", "name", "elo", "games", "moves", "mean_gain_cp", ...FIGURES.filter((name) => name !== "n"), "points"];
  const methods = PLAYER_COLUMNS.filter(({ id }) => METHODS.includes(id));
  return csv(
    [...plain, ...methods.map(({ label }) => label)],
    players.map((player) => [...plain.map((name) => player[name]), ...methods.map((column) => column.value(player))]),
  );
}

function fileName(...parts) {
  const text = parts.filter(Boolean).join(" ").normalize("NFKD").replace(/\p{M}/gu, "");
  return text.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "live-rate";
}

/** Hands a file to whoever looks at the page. */
function save(name, type, content) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function pgnOf(id) {
  const url = new URL(`api/v1/games/${encodeURIComponent(id)}.pgn`, new URL(".", location.href));
  const answer = await fetch(url, bearer());
  if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
  return answer.text();
}

async function pgnOfAll(games) {
  const texts = [];
  for (let at = 0; at < games.length; at += TOGETHER) {
    texts.push(...(await Promise.all(games.slice(at, at + TOGETHER).map(({ id }) => pgnOf(id)))));
  }
  return texts.map((text) => `${text.trim()}\n`).join("\n");
}

async function picture(game, ply, engine) {
  const { HEIGHT, WIDTH, shareSvg } = await import("./share_image.js");
  const image = new Image(WIDTH, HEIGHT);
  image.src = svgAddress(shareSvg(game, ply, engine, await pieceMarkup()));
  await image.decode();
  const canvas = element("canvas");
  [canvas.width, canvas.height] = [WIDTH, HEIGHT];
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export class ShareMenu {
  /** `seen()` answers `{place, games, players, game, ply, engine}`; `notify` shows how it went. */
  constructor(seen, notify, followed) {
    this._seen = seen;
    this._notify = notify;
    this._followed = followed;
  }

  /** The menu for one view: `board`, `boards`, `players` or `player`, which has a link only. */
  menu(view) {
    const copy = this._button("Copy link", () => this._copy(this._seen().place));
    const stars = this._button("Copy link to followed \u2605", () => this._copy({ ...HOME, follow: this._followed.keys.join(",") }));
    const image = this._button("Image", () => this._image());
    // PGN is the service's to write: static pages have none beside them.
    const pgn = brokerOf(document) === null ? ["PGN"] : [];
    const formats = { players: ["JSON", "CSV"], player: [] }[view] ?? ["JSON", "CSV", ...pgn];
    const saves = formats.map((format) => this._button(format, () => this._save(view, format)));
    const box = element("div", "", "", copy, stars, ...(view === "board" ? [image] : []), ...saves);
    named(box, "Take along what is shown", "group");
    const menu = element("details", "chooser take-along", "", element("summary", "", "Share"), box);
    menu.addEventListener("toggle", () => (stars.hidden = this._followed.size === 0));
    return menu;
  }

  _button(text, action) {
    return button(text, async () => {
      try {
        await action();
      } catch (error) {
        this._notify(`That did not work: ${error.message}`);
      }
    });
  }

  async _copy(place) {
    const address = shareAddress(location.href, place, brokerOf(document) === null);
    try {
      await navigator.clipboard.writeText(address);
      this._notify("The link is copied.");
    } catch {
      // Without HTTPS a browser may refuse: then it is there to be copied by hand.
      this._notify(`Copy this link: ${address}`);
    }
  }

  async _image() {
    const { game, ply, engine } = this._seen();
    if (game === null) return;
    save(`${name(game)}.png`, "image/png", await picture(game, ply, engine));
    this._notify("The image is saved.");
  }

  async _save(view, format) {
    const { games, players, game } = this._seen();
    if (view === "board" && game === null) return;
    const held = view === "players" ? players : view === "board" ? game : games;
    const base = view === "board" ? name(game) : fileName("live-rate", view);
    if (format === "JSON") save(`${base}.json`, "application/json", `${JSON.stringify(held, null, 2)}\n`);
    else if (format === "PGN") save(`${base}.pgn`, "application/x-chess-pgn", await pgnOfAll(view === "board" ? [game] : games));
    else {
      const tables = await import("../players/csv_tables.js");
      const { boardsCsv, gameCsv } = tables;
      const table = view === "players" ? playersCsv(players, tables) : view === "board" ? gameCsv(game) : boardsCsv(games);
      save(`${base}.csv`, "text/csv", table);
    }
    this._notify(`Saved as ${format}.`);
  }
}

function name(game) {
  return fileName(game.white.name, game.black.name, game.round);
}
