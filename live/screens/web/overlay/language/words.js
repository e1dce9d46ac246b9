/**
 * How overlays speak. What they say in a language stands in the file of its code, beside this one:
 * to add one, copy a file, translate it, and name it here; the overlay takes it with `?lang=CODE`
 * and the builder lists it.
 *
 * `letters` are the letters of king, queen, rook, bishop and knight in moves. `{}` is filled in.
 */

/** Codes, with what each language calls itself. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  it: "Italiano",
  ru: "Русский",
};

/**
 * `fill("Round {}", 3)`: the text with the values in their places, as text, whatever they hold. A figure
 * and its `%` stay in one line.
 */
export function fill(text, ...values) {
  return text.replaceAll(" %", "\u00a0%").split("{}").reduce((said, part, at) => said + String(values[at - 1] ?? "") + part);
}

/** A counted thing: `1 move`, `5 moves`; Slavic languages have a third form. */
export function counted(forms, count) {
  const few = count % 10 >= 2 && count % 10 <= 4 && (count % 100 < 12 || count % 100 > 14);
  const one = forms.length === 3 ? count % 10 === 1 && count % 100 !== 11 : count === 1;
  return fill(one ? forms[0] : forms.length === 3 && !few ? forms[2] : forms[1], count);
}

/** Seconds as a rough length of time. */
export function age(words, seconds) {
  if (seconds < 60) return fill(words.seconds, Math.round(seconds));
  if (seconds < 3600) return fill(words.minutes, Math.round(seconds / 60));
  return fill(words.hours, Math.round(seconds / 3600));
}

/** A move with the language's letters. What is no move (feeds are not trusted) stays as it is. */
export function localMove(san, letters) {
  if (!/^[KQRBN]?[a-h1-8x=QRBN+#]+$/.test(san)) return san;
  return san.replace(/[KQRBN]/g, (letter) => letters["KQRBN".indexOf(letter)]);
}
