/** The share menu: a link to the view, a picture of the board, and the figures as JSON or PGN. */

import { brokerOf } from "../client/connection.js";
import { button, element } from "../drawing/elements.js";
import { say } from "./language.js";
import { ask, HOME, shareAddress } from "./page_address.js";

function fileName(...parts) {
  const text = parts.filter(Boolean).join(" ").normalize("NFKD").replace(/\p{M}/gu, "");
  return text.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "live-rate";
}

/** Let the browser download a file. */
export function save(name, type, content) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Return the public id of a game, which differs from the id for arbiters while the public is delayed. */
const fetchPublicId = async (id) => (await (await ask(`games/${encodeURIComponent(id)}/public`)).json()).id;

async function fetchPgns(games) {
  const texts = [];
  for (const { id } of games) texts.push(await (await ask(`games/${encodeURIComponent(id)}.pgn`)).text());
  return texts.map((text) => `${text.trim()}\n`).join("\n");
}

/** Formats in which a view can be saved, by name. */
const FORMATS = { JSON: "JSON", PGN: "PGN", Image: say("Image") };

export class ShareMenu {
  /** `seen()` returns `{place, arbiter, games, players, game}`; `notify` shows a message about the result. */
  constructor(seen, notify, followed) {
    this._seen = seen;
    this._notify = notify;
    this._followed = followed;
  }

  /** Return the menu for a view: `board`, `boards`, `players`, or `player`, which has a link only. */
  menu(view) {
    const copy = this._button(say("Copy link"), () => this._copy(this._seen().place));
    const send = this._button(say("Send \u2026"), () => this._send(this._seen().place));
    send.hidden = navigator.share === undefined;
    const stars = this._button(say("Copy link to followed \u2605"), () => this._copy({ ...HOME, follow: this._followed.keys.join(",") }));
    // Only the service makes PGN and pictures; a static page has no service.
    const gameFormats = brokerOf() !== null ? [] : view === "board" ? ["PGN", "Image"] : ["PGN"];
    const formats = { players: ["JSON"], player: [] }[view] ?? ["JSON", ...gameFormats];
    const saves = formats.map((format) => this._button(FORMATS[format], () => this._save(view, format)));
    const box = element("div", "", "", send, copy, stars, ...saves);
    const menu = element("details", "chooser take-along", "", element("summary", "", say("Share")), box);
    menu.addEventListener("toggle", () => (stars.hidden = this._followed.size === 0));
    return menu;
  }

  _button(text, action) {
    return button(text, async () => {
      try {
        await action();
      } catch (error) {
        this._notify(say("That did not work: {}", error.message));
      }
    });
  }

  async _address(shownPlace) {
    const place = this._seen().arbiter && shownPlace.game ? { ...shownPlace, game: await fetchPublicId(shownPlace.game) } : shownPlace;
    return shareAddress(location.href, place, brokerOf() === null);
  }

  /** Share the address with the operating system's dialog; closing the dialog is not an error. */
  async _send(shownPlace) {
    const url = await this._address(shownPlace);
    await navigator.share({ title: document.title, url }).catch((error) => {
      if (error.name !== "AbortError") throw error;
    });
  }

  async _copy(shownPlace) {
    const address = await this._address(shownPlace);
    try {
      await navigator.clipboard.writeText(address);
      this._notify(say("The link is copied."));
    } catch {
      // Without HTTPS a browser can refuse, so people copy the link by hand.
      this._notify(say("Copy this link: {}", address));
    }
  }

  async _save(view, format) {
    const { games, players, game } = this._seen();
    if (view === "board" && game === null) return;
    const content = view === "players" ? players : view === "board" ? game : games;
    const base = view === "board" ? fileName(game.white.name, game.black.name, game.round) : fileName("live-rate", view);
    if (format === "JSON") save(`${base}.json`, "application/json", `${JSON.stringify(content, null, 2)}\n`);
    else if (format === "Image") save(`${base}.png`, "image/png", await (await ask(`games/${encodeURIComponent(game.id)}.png`)).blob());
    else save(`${base}.pgn`, "application/x-chess-pgn", await fetchPgns(view === "board" ? [game] : games));
    this._notify(say("Saved as {}.", FORMATS[format]));
  }
}
