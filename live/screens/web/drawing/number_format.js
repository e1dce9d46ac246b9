/** Numbers, moves and results as text for readers. Pure. */

const MINUS = "\u2212";

/** Return a score from White's side as text: `+0.34`, `−1.20`, `#5`, `−#5`; empty while unknown. */
export function scoreText(cp, mate) {
  if (cp === null) return "";
  const sign = cp > 0 ? "+" : cp < 0 ? MINUS : "";
  if (mate !== null) return `${cp < 0 ? MINUS : ""}#${Math.abs(mate)}`;
  return sign + (Math.abs(cp) / 100).toFixed(2);
}

/**
 * Return White's share of a score bar, 0 to 1, by the logistic curve that lichess publishes as win percentage
 * (lichess.org/page/accuracy), so that the bar moves as viewers expect.
 */
export const whiteShare = (cp) => 1 / (1 + Math.exp(-0.00368208 * cp));

/** White's share of a score bar for each result. */
export const RESULT_SHARES = { "1-0": 1, "0-1": 0, "1/2-1/2": 0.5 };

/** Return a clock as text, as the terminal does: `5:09`, `59:59`, `1:40:00`; empty if there is none. */
export function clockText(seconds) {
  if (seconds === null) return "";
  const whole = Math.max(0, Math.floor(seconds));
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, two(whole % 60)];
  return hours ? `${hours}:${two(minutes)}:${rest}` : `${minutes}:${rest}`;
}

/** Return a text in which no line breaks inside castling (`O-O`). */
export const unbroken = (text) => text.replace(/O-(?=O)/g, "O-\u2060");

/** Return a move with its number: `23. Nf3` for White, `23… Nf6` for Black. `ply` is the number of plies after it. */
export function moveText(ply, san, startFen) {
  const [, turn = "w", , , , first = "1"] = startFen.split(" ");
  const halfMoves = 2 * (Number(first) - 1) + (turn === "b" ? 1 : 0) + ply;
  return `${Math.ceil(halfMoves / 2)}${halfMoves % 2 ? "." : "\u2026"}\u00a0${unbroken(san)}`;
}

/** Return a result as text, `½–½` for `1/2-1/2`; empty for a running game. */
export const resultText = (result) => (result === "*" ? "" : result.replaceAll("1/2", "\u00bd").replace("-", "\u2013"));

/** Return an address if it is safe in a link, otherwise null: a feed could send one that begins with `javascript:`. */
export function safeLink(text) {
  const url = URL.canParse(text) ? new URL(text) : null;
  return ["http:", "https:"].includes(url?.protocol) ? url.href : null;
}
