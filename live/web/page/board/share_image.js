/** The picture of a board that people share: one SVG, made from what is held. Pure. */

import { resultText, scoreText, whiteShare } from "../../drawing/number_format.js";
import { parsePlacement, placementAfter } from "../../client/board_position.js";
import {
  basisText, countedMoves, lastMove, placeText, provisionalWords, scoreAfter, sideFigure, withoutFigure,
} from "../score_words.js";
import { pointAt } from "../../client/figures.js";
import { sparkPaths } from "../boards/board_card.js";

export const [WIDTH, HEIGHT] = [1200, 630];
const FONT = "system-ui, 'DejaVu Sans', sans-serif";
const [INK, QUIET, GROUND, PANEL] = ["#e8ecf1", "#9aa7b8", "#12161c", "#1a2029"];
const COLORS = { white: "#f2c14e", black: "#63a4ff" };
const SQUARES = { light: "#d9dee5", dark: "#71849b", lightMarked: "#e8d592", darkMarked: "#b39d57" };
/** Longer names would run into what stands beside them. */
const NAME_CHARS = 30;

/** Text as XML: what a feed says stays text here, too; characters that XML forbids are dropped. */
export function xmlText(text) {
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
  const marked = [last.slice(0, 2), last.slice(2, 4)].filter(Boolean).map((name) => "abcdefgh".indexOf(name[0]) + 8 * (name[1] - 1));
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
    words(x, y + 70, 50, read?.early ? QUIET : COLORS[color], read?.text ?? "\u2013", 'font-weight="700"'),
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
  const curves = {
    white: game.curves.white.filter((point) => point.ply <= ply),
    black: game.curves.black.filter((point) => point.ply <= ply),
  };
  const paths = sparkPaths(curves);
  const [x, side] = [600, 480];
  const bar = whiteShare(score.cp ?? 0);
  const drawn = paths
    ? ["white", "black"]
        .map(
          (color) =>
            `<path d="${paths[color].band}" fill="${COLORS[color]}" fill-opacity="0.16"/>` +
            `<path d="${paths[color].line}" fill="none" stroke="${COLORS[color]}" stroke-width="2.5" vector-effect="non-scaling-stroke"/>`,
        )
        .join("")
    : "";
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
