/**
 * How overlays speak. What they say in a language stands in the file of its code, beside this one:
 * to add one, copy a file, translate it, and name it here; the overlay takes it with `?lang=CODE`
 * and the builder lists it.
 *
 * `locale` is that of its numbers and dates, `letters` are the letters of king, queen, rook, bishop and knight in
 * moves. `{}` is filled in.
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

/** A counted thing: `1 move`, `5 moves`; of its forms the last is that of most numbers. */
export function counted(words, thing, count) {
  const rule = new Intl.PluralRules(words.locale).select(count);
  return fill(words[thing].at(["one", "few"].indexOf(rule)), count);
}

/** Seconds as a rough length of time. */
export function age({ locale }, seconds) {
  const [unit, length] = seconds < 60 ? ["second", 1] : seconds < 3600 ? ["minute", 60] : ["hour", 3600];
  return Math.round(seconds / length).toLocaleString(locale, { style: "unit", unit, unitDisplay: "short" });
}

/** What is said where a token is `missing` or `wrong`; else empty. */
export const tokenText = (trouble, words) => ({ missing: words.tokenMissing, wrong: words.tokenWrong })[trouble] ?? "";

/** A move with the language's letters. What is no move (feeds are not trusted) stays as it is. */
export function localMove(san, letters) {
  if (!/^[KQRBN]?[a-h1-8x=QRBN+#]+$/.test(san)) return san;
  return san.replace(/[KQRBN]/g, (letter) => letters["KQRBN".indexOf(letter)]);
}
