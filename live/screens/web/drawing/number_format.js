/** Numbers as people read them. Pure. */

const MINUS = "\u2212";

/** A score from White's side: `+0.34`, `−1.20`, `#5`, `−#5`; empty while unknown. */
export function scoreText(cp, mate) {
  if (cp === null) return "";
  const sign = cp > 0 ? "+" : cp < 0 ? MINUS : "";
  if (mate !== null) return `${cp < 0 ? MINUS : ""}#${Math.abs(mate)}`;
  return sign + (Math.abs(cp) / 100).toFixed(2);
}

/**
 * White's share of a score bar, 0 to 1: the logistic curve that lichess publishes as win
 * percentage (lichess.org/page/accuracy), so that the bar moves as viewers are used to.
 */
export function whiteShare(cp) {
  return 1 / (1 + Math.exp(-0.00368208 * cp));
}

/** White's share of a bar once the game is over. */
export const RESULT_SHARES = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 };

/** A clock as the terminal has it: `5:09`, `99:59`, `1h40m`; empty when there is none. */
export function clockText(seconds) {
  if (seconds === null) return "";
  const whole = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  return minutes < 100 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

/** A text in which no line breaks within castling. */
export const unbroken = (text) => text.replace(/O-(?=O)/g, "O-\u2060");

/** The move before `ply` counts: `23. Nf3` for White's, `23… Nf6` for Black's. */
export function moveText(ply, san, startFen) {
  const [, turn = "w", , , , first = "1"] = startFen.split(" ");
  const halfMoves = 2 * (Number(first) - 1) + (turn === "b" ? 1 : 0) + ply;
  return `${Math.ceil(halfMoves / 2)}${halfMoves % 2 ? "." : "\u2026"}\u00a0${unbroken(san)}`;
}

/** `1/2-1/2` as `½–½`; a running game has no result. */
export function resultText(result) {
  return result === "*" ? "" : result.replaceAll("1/2", "\u00bd").replace("-", "\u2013");
}

/** An address that a link may have: feeds are not trusted with `javascript:`. */
export function safeLink(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  return ["http:", "https:"].includes(url?.protocol) ? url.href : null;
}
