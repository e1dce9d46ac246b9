/**
 * The websocket to the service: comes back by itself, resumes where it was, notices silence.
 * Socket, clock and chance come in as arguments, so that it runs without a browser.
 */

import { OutOfSequence } from "./event_state.js";

/** The service sends a heartbeat every 15 s; two and a bit missing means the line is dead. */
export const SILENT_AFTER_MS = 40_000;

/** From here on close codes mean: do not come back without a change. */
const FIRST_FINAL_CODE = 4100;

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
const GROWTH = 1.8;

/**
 * Milliseconds to wait before each attempt, for ever. The first is anything up to a second, so
 * that the pages of a restarted service do not all come back at once (RFC 6455, section 7.2.3);
 * the rest grow to half a minute, each somewhere in its upper half.
 */
export function* delays(random) {
  yield FIRST_DELAY_MS * random();
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * GROWTH, MAX_DELAY_MS)) {
    yield delay * (0.5 + 0.5 * random());
  }
}

/** Where the websocket of a page is: beside the page, with the page's filters and what is held. */
export function socketUrl(page, held) {
  const url = new URL("v2/live", page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  for (const [name, value] of new URL(page).searchParams) {
    // Pages take several boards with commas between them, and `03` for board 3.
    if (name === "board") {
      for (const board of value.split(",")) url.searchParams.append(name, Number(board));
    }
    if (["event", "game", "player", "token", "detail"].includes(name)) url.searchParams.append(name, value);
  }
  if (held.hello !== null && held.seq !== null) {
    url.searchParams.set("epoch", held.hello.epoch);
    url.searchParams.set("since", held.seq);
  }
  return url.href;
}

export class Connection {
  /**
   * `changed(touched)` follows every message applied (see `Held.receive`); `status` is read by
   * whoever shows it: `connecting`, `live`, `waiting` or `refused`, and `heardAt`, the time of the
   * last message, null before the first.
   */
  constructor(held, page, changed, { open, now, random, after }) {
    this.status = "connecting";
    this.heardAt = null;
    /** Why it was refused, for people. */
    this.reason = "";
    this._held = held;
    this._page = page;
    this._changed = changed;
    this._open = open;
    this._now = now;
    this._random = random;
    /** `after(ms, action)` answers a function that calls it off. */
    this._after = after;
    this._delays = delays(random);
    this._cancelSilence = () => {};
    this._socket = null;
    this._said = null;
  }

  /** Says something to the service, now and on every connection from now on. */
  say(message) {
    const text = JSON.stringify(message);
    if (text === this._said) return;
    this._said = text;
    if (this.status === "live") this._socket.send(text);
  }

  connect() {
    this.status = "connecting";
    const socket = this._open(socketUrl(this._page, this._held));
    this._socket = socket;
    let over = false;
    const end = (code, reason) => {
      if (over) return;
      over = true;
      this._cancelSilence();
      socket.close();
      this._ended(code, reason);
    };
    const listen = () => {
      this._cancelSilence();
      this._cancelSilence = this._after(SILENT_AFTER_MS, () => end(0, "silent"));
    };
    listen();
    socket.onmessage = (event) => {
      if (over) return;
      listen();
      try {
        this._heard(JSON.parse(event.data));
      } catch (error) {
        // Something was lost, or is not what it should be: only a fresh snapshot helps.
        this._held.seq = null;
        end(0, String(error));
        if (!(error instanceof OutOfSequence || error instanceof SyntaxError)) throw error;
      }
    };
    socket.onclose = (event) => end(event.code, event.reason);
  }

  _heard(message) {
    const touched = this._held.receive(message);
    this.heardAt = this._now();
    if (message.type !== "hello" && this.status !== "live") {
      this.status = "live";
      if (this._said !== null) this._socket.send(this._said);
    }
    // Only a connection that has lasted makes the next attempt quick again.
    if (message.type === "heartbeat") this._delays = delays(this._random);
    this._changed(touched);
  }

  _ended(code, reason) {
    if (code >= FIRST_FINAL_CODE) {
      this.status = "refused";
      this.reason = reason;
      return;
    }
    this.status = "waiting";
    this._after(this._delays.next().value, () => this.connect());
  }
}
