/**
 * The overlays' languages. The texts of each language are in a file beside this one, named by its code. To add a
 * language, copy a file, translate it, and list it here; overlays use it with `?lang=CODE`, and the builder offers it.
 *
 * `locale` formats numbers and dates, `letters` are the letters of king, queen, rook, bishop and knight in moves. `{}` is
 * a placeholder for a value.
 */

/** For each language code, the language's own name. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  it: "Italiano",
  ru: "Русский",
};

/** Return a text with `values` in place of `{}`, as in `fill("Round {}", 3)`. A number and its `%` stay on one line. */
export function fill(text, ...values) {
  return text.replaceAll(" %", "\u00a0%").split("{}").reduce((said, part, at) => said + String(values[at - 1] ?? "") + part);
}

/** Return a counted thing as text: `1 move`, `5 moves`. The last plural form of the thing is used for most numbers. */
export function counted(words, thing, count) {
  const rule = new Intl.PluralRules(words.locale).select(count);
  return fill(words[thing].at(["one", "few"].indexOf(rule)), count);
}

/** Return seconds as a rounded duration in words. */
export function age({ locale }, seconds) {
  const [unit, length] = seconds < 60 ? ["second", 1] : seconds < 3600 ? ["minute", 60] : ["hour", 3600];
  return Math.round(seconds / length).toLocaleString(locale, { style: "unit", unit, unitDisplay: "short" });
}

/** Return the text for a token that is `missing` or `wrong`; otherwise empty. */
export const tokenText = (trouble, words) => ({ missing: words.tokenMissing, wrong: words.tokenWrong })[trouble] ?? "";

/** Return a move with the piece letters of a language. Text that is not a move is not changed, since feeds can send any text. */
export function localMove(san, letters) {
  if (!/^[KQRBN]?[a-h1-8x=QRBN+#]+$/.test(san)) return san;
  return san.replace(/[KQRBN]/g, (letter) => letters["KQRBN".indexOf(letter)]);
}
