/** Asks for a token where the service lets nobody in without a valid one, and names one that opens nothing. */

import { element, setText } from "../drawing/elements.js";
import { brokerOf } from "../client/open_connection.js";
import { tokenTrouble, tokenUnused } from "../client/token_check.js";

const WORDS = {
  missing: "This service shows its games to those who have a token.",
  unused: "This service knows no tokens: the one in the address opens nothing, everybody sees this page.",
  wrong: "This token is not valid here: mistyped, expired or withdrawn.",
};
/** How often it is asked, while nothing comes. */
const EVERY_MS = 10_000;
/** Where nothing came for so long since the page was opened, the token may be why. */
const AFTER_MS = 2_000;

export class TokenEntry {
  constructor() {
    this._askAt = AFTER_MS;
    this._let = false;
    this._text = element("p", "note");
    this._input = element("input");
    Object.assign(this._input, { type: "password", autocomplete: "off", required: true, id: "token" });
    const label = element("label", "", "Token ", this._input);
    this._form = element("form", "", "", label, element("button", "plain", "Show the games"));
    this._form.addEventListener("submit", (event) => {
      event.preventDefault();
      const url = new URL(location.href);
      url.searchParams.set("token", this._input.value.trim());
      location.replace(url);
    });
    this.node = element("section", "token-entry", "", this._text, this._form);
    this.node.setAttribute("aria-label", "Token");
    this.node.hidden = true;
  }

  /**
   * Looks whether a token is what is missing, while nothing has ever come: without one a service
   * waits and is silent. Once something came, whether a token was needed for what `sight` shows.
   */
  async look(connection, sight, now) {
    // Static pages have no service beside them that could be asked.
    if (brokerOf(document) !== null) return;
    if (connection.heardAt !== null) {
      if (this._let) return;
      this._let = true;
      this.node.hidden = true;
      if (sight !== "arbiter" && (await tokenUnused(location.href, (url) => fetch(url)))) this._say("unused");
      return;
    }
    if (now < this._askAt) return;
    this._askAt = now + EVERY_MS;
    const trouble = await tokenTrouble(location.href, (url) => fetch(url));
    if (connection.heardAt === null) this._say(trouble);
  }

  _say(trouble) {
    setText(this._text, WORDS[trouble] ?? "");
    this._form.hidden = trouble === "unused";
    this.node.hidden = trouble === "";
  }
}
