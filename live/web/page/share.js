/** Taking along what is seen: its address, a picture, and the figures as JSON, CSV or PGN. */

import { markedSquares, pieceMarkup, sparkPaths, svgAddress } from "./board_card.js";
import { parsePlacement, placementAfter } from "../client/board_position.js";
import { brokerOf } from "../client/connection.js";
import { button, element, named } from "../drawing/elements.js";
import { pointAt } from "../client/figures.js";
import { bothSides, COLORS } from "../client/games.js";
import { resultText, scoreText, whiteShare } from "../drawing/number_format.js";
import { ask, HOME, shareAddress } from "./page_address.js";
import { PLAYER_COLUMNS } from "./players.js";
import {
  basisText, countedMoves, lastMove, placeText, provisionalWords, scoreAfter, sideFigure, withoutFigure,
} from "./score_words.js";

/** Games whose PGN is asked for at once, at most. */
const TOGETHER = 4;

const METHODS = ["tournament", "accuracy", "centipawn_loss", "first_choice", "conformance", "guid_bratko", "ponderated", "markov_moves"];

/** Players as CSV: every plain figure of theirs, then those of the methods. */
function playersCsv(players) {
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

const pgnOf = async (id) => (await ask(`games/${encodeURIComponent(id)}.pgn`)).text();

async function pgnOfAll(games) {
  const texts = [];
  for (let at = 0; at < games.length; at += TOGETHER) {
    texts.push(...(await Promise.all(games.slice(at, at + TOGETHER).map(({ id }) => pgnOf(id)))));
  }
  return texts.map((text) => `${text.trim()}\n`).join("\n");
}

async function picture(game, ply, engine) {
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
    const pgn = brokerOf() === null ? ["PGN"] : [];
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
    const address = shareAddress(location.href, place, brokerOf() === null);
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
      const table = view === "players" ? playersCsv(players) : view === "board" ? gameCsv(game) : boardsCsv(games);
      save(`${base}.csv`, "text/csv", table);
    }
    this._notify(`Saved as ${format}.`);
  }
}

function name(game) {
  return fileName(game.white.name, game.black.name, game.round);
}

// --- the picture -----------------------------------------------------------------------------------

const [WIDTH, HEIGHT] = [1200, 630];
const FONT = "system-ui, 'DejaVu Sans', sans-serif";
const [INK, QUIET, GROUND, PANEL] = ["#e8ecf1", "#9aa7b8", "#12161c", "#1a2029"];
const LINES = { white: "#f2c14e", black: "#63a4ff" };
const SQUARES = { light: "#d9dee5", dark: "#71849b", lightMarked: "#e8d592", darkMarked: "#b39d57" };
/** Longer names would run into what stands beside them. */
const NAME_CHARS = 30;

/** Text as XML: what a feed says stays text here, too; characters that XML forbids are dropped. */
function xmlText(text) {
  return [...text]
    .filter((char) => /[\t\n\r\u0020-\ud7ff\ue000-\ufffd]|[\u{10000}-\u{10ffff}]/u.test(char))
    .join("")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function short(text) {
  const letters = [...text];
  return letters.length > NAME_CHARS ? `${letters.slice(0, NAME_CHARS - 1).join("")}\u2026` : text;
}

/** SVG text; each piece of a feed's text is isolated, so that right-to-left moves nothing else. */
function words(x, y, size, fill, text, more = "") {
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${fill}" ${more}>\u2068${xmlText(text)}\u2069</text>`;
}

function board(x, y, side, placement, last, pieces) {
  const square = side / 8;
  const marked = markedSquares(last);
  let svg = "";
  parsePlacement(placement).forEach((piece, at) => {
    const [file, rank] = [at % 8, Math.floor(at / 8)];
    const light = (file + rank) % 2 === 1;
    const fill = SQUARES[(light ? "light" : "dark") + (marked.includes(at) ? "Marked" : "")];
    const [left, top] = [x + file * square, y + (7 - rank) * square];
    svg += `<rect x="${left}" y="${top}" width="${square}" height="${square}" fill="${fill}"/>`;
    if (piece) svg += `<g transform="translate(${left} ${top}) scale(${square / 40})">${pieces.get(piece) ?? ""}</g>`;
  });
  return svg;
}

function player(x, y, game, color, ply) {
  const { name, title, elo } = game[color];
  const point = pointAt(game.curves[color], ply);
  const read = sideFigure(game, color, point, {});
  const who = [title, short(name || "?")].filter(Boolean).join(" ");
  const disc = `<circle cx="${x + 9}" cy="${y - 8}" r="8" fill="${color === "white" ? "#fff" : "#000"}" stroke="${QUIET}"/>`;
  const moves = read === null ? "" : ply === game.plies.length ? basisText(game, color, read.figure) : countedMoves(read.figure.counted);
  const about = read === null ? withoutFigure(point) : read.usual || `${read.label}, ${moves}`;
  const beneath = read === null ? "" : [read.early || read.better, read.usual && !read.early ? moves : ""].filter(Boolean).join(", ");
  return [
    disc,
    words(x + 28, y, 26, INK, who, 'font-weight="600"'),
    words(x + 570, y, 22, QUIET, elo ? `Elo ${elo}` : "", 'text-anchor="end"'),
    words(x, y + 26, 16, QUIET, read?.label ?? ""),
    words(x, y + 70, 50, read?.early ? QUIET : LINES[color], read?.text ?? "\u2013", 'font-weight="700"'),
    words(x + 175, y + 38, 20, INK, about),
    words(x + 175, y + 62, 17, QUIET, beneath),
  ].join("");
}

/** `pieces`: SVG of each piece by FEN letter, in a square of 40. */
export function shareSvg(game, ply, engine, pieces) {
  const plies = game.plies.slice(0, ply);
  const placement = placementAfter(game.start_fen, plies.map(({ uci }) => uci));
  const score = scoreAfter(game, plies);
  const whole = ply === game.plies.length;
  const paths = sparkPaths(bothSides((color) => game.curves[color].filter((point) => point.ply <= ply)));
  const [x, side] = [600, 480];
  const bar = whiteShare(score.cp ?? 0);
  const drawn = COLORS.map((color) => {
    if (paths === null) return "";
    const { band, line } = paths[color];
    const stroke = `stroke="${LINES[color]}" stroke-width="2.5" vector-effect="non-scaling-stroke"`;
    return `<path d="${band}" fill="${LINES[color]}" fill-opacity="0.16"/><path d="${line}" fill="none" ${stroke}/>`;
  }).join("");
  const state = [
    lastMove(game, plies),
    score.text ? `${scoreText(score.cp, score.mate)}${score.provisional ? ` (${provisionalWords(score.source)})` : ""}` : "",
    whole ? resultText(game.result) : "",
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="${FONT}">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="${GROUND}"/>`,
    words(40, 52, 26, INK, [...game.event].slice(0, 60).join("") || "live-rate", 'font-weight="600"'),
    words(1160, 52, 22, QUIET, placeText(game), 'text-anchor="end"'),
    `<rect x="40" y="80" width="16" height="${side}" fill="#14181d" stroke="${QUIET}"/>`,
    `<rect x="40" y="${80 + side * (1 - bar)}" width="16" height="${side * bar}" fill="#fff" fill-opacity="${score.cp === null ? 0.3 : 1}"/>`,
    board(66, 80, side, placement, plies.at(-1)?.uci ?? "", pieces),
    player(x, 118, game, "black", ply),
    `<rect x="${x}" y="205" width="560" height="180" rx="8" fill="${PANEL}"/>`,
    `<svg x="${x + 8}" y="213" width="544" height="164" viewBox="0 0 100 40" preserveAspectRatio="none">${drawn}</svg>`,
    player(x, 440, game, "white", ply),
    words(x, 550, 24, INK, state.filter(Boolean).join("    ")),
    words(40, 604, 16, QUIET, engine ? `${engine.name}, ${engine.limit}` : ""),
    words(1160, 604, 16, QUIET, "How strong the play looks, not how strong the player is. live-rate", 'text-anchor="end"'),
    "</svg>",
  ].join("");
}

// --- tables as text that any spreadsheet opens -----------------------------------------------------

/**
 * Rows of values as CSV (RFC 4180), with a header. Text from a feed that a spreadsheet would take
 * for a formula is given an apostrophe before it; null is an empty cell.
 */
export function csv(header, rows) {
  return [header, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const FIGURES = [
  "n", "counted", "perceived", "usual_low", "usual_high", "percentile", "low", "high", "score", "difference",
  "difference_low", "difference_high",
];

const BOARD = [
  "event", "round", "board", "white", "white_elo", "black", "black_elo", "result", "moves_scored",
  "last_move", "score_cp", "mate",
  ...COLORS.flatMap((color) => FIGURES.map((name) => `${color}_${name}`)), "id",
];

/** Boards, one a row. */
export function boardsCsv(games) {
  return csv(
    BOARD,
    games.map((game) => {
      const { event, round, board: number, white, black, result, plies, plies_scored: scored } = game;
      const { cp, mate } = scoreAfter(game, plies);
      const figures = COLORS.flatMap((color) => FIGURES.map((name) => game.curves[color].at(-1)?.[name]));
      return [
        event, round, number, white.name, white.elo, black.name, black.elo, result, scored, plies.at(-1)?.san, cp, mate,
        ...figures, game.id,
      ];
    }),
  );
}

const PLY = [
  "ply", "san", "uci", "clock_s", "spent_s", "score_cp", "mate", "depth", "final", "best",
  "played_cp", "gain_cp", "gain_same_search_cp", "gain_successive_cp",
  "score_source", "win", "draw", "loss",
];
const COMPLEXITY = ["stability_cp", "jump_cp", "jump_depth"];

/** One game, one ply a row, with the point of the curve that the ply made. */
export function gameCsv(game) {
  const points = new Map(COLORS.flatMap((color) => game.curves[color].map((point) => [point.ply, point])));
  return csv(
    [...PLY, ...COMPLEXITY, ...FIGURES],
    game.plies.map((ply) => {
      const point = points.get(ply.ply) ?? {};
      const complexity = ply.complexity ?? {};
      return [
        ...PLY.map((name) => (name === "final" ? Number(ply[name]) : ply[name])),
        ...COMPLEXITY.map((name) => complexity[name]),
        ...FIGURES.map((name) => point[name]),
      ];
    }),
  );
}
