/** A page's connection: a websocket to the service that serves it, or the broker that a static page names. */

import { OutOfSequence } from "./event_state.js";
import { PROTOCOL } from "./usual.js";

const now = () => performance.now();
const random = Math.random;

function after(ms, action) {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}

async function unpack(bytes) {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/** Open a page's connection. With `isKeen`, it tries to reconnect every second for ever, which suits pages with few readers. */
export async function openConnection(held, page, changed, { isKeen = false } = {}) {
  const broker = brokerOf();
  if (broker === null) {
    const open = (url) => new WebSocket(url);
    return new Connection(held, page, changed, { open, now, random, after, isThere: isServiceThere, isKeen });
  }
  const { BrokerConnection } = await import("./broker_connection.js");
  const { default: mqtt } = await import("../vendor/mqtt/mqtt.esm.js");
  const options = { protocolVersion: 5, clean: true, reconnectPeriod: 1000 + 4000 * random(), timerVariant: "native" };
  const client = () => mqtt.connect(broker.url, options);
  return new BrokerConnection(held, broker.prefix, changed, { client, now, random, after, unpack });
}

/** Return the broker that the page names, `{url, prefix}`; null if the page reads from the service itself. */
export function brokerOf() {
  const meta = document.querySelector('meta[name="live-rate-broker"]');
  return meta === null ? null : { url: meta.content, prefix: meta.dataset.prefix };
}

// --- the websocket: reconnects, resumes, and notices silence ---------------------------------------

/** Time without a message after which a connection counts as lost; the service sends a heartbeat every 15 s. */
const SILENT_AFTER_MS = 40_000;
/** Longest wait for the first message; without one by then, the service has stopped or hangs. */
const OPEN_WITHIN_MS = 10_000;

/** Smallest websocket close code after which a client must not reconnect. */
const FIRST_FINAL_CODE = 4100;

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
const GROWTH = 1.8;
/** Time for which attempts to connect follow every second; a restart is usually over by then. */
const QUICK_MS = 60_000;

/**
 * Yield the wait before each attempt to connect, in milliseconds, without end. The first wait is random, up to a second,
 * so that not all pages reconnect at once after a restart (RFC 6455, section 7.2.3). Then attempts follow every second:
 * for a minute, or for ever with `isKeen`. Later waits grow to half a minute and are random between half and all of that.
 */
export function* delays(random, isKeen = false) {
  yield FIRST_DELAY_MS * random();
  for (let waited = 0; isKeen || waited < QUICK_MS; waited += FIRST_DELAY_MS) yield FIRST_DELAY_MS;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * GROWTH, MAX_DELAY_MS)) {
    yield delay * (0.5 + 0.5 * random());
  }
}

const LOOK_MS = 5_000;

/** Return whether the service answers by HTTP, since browsers delay websockets after several failures. */
async function isServiceThere() {
  try {
    const { status } = await fetch("healthz", { cache: "no-store", signal: AbortSignal.timeout(LOOK_MS) });
    // A proxy answers with a 5xx code if the service is down.
    return status < 500;
  } catch {
    return false;
  }
}

/** Return the websocket address of a page, with the page's filters and the number of the last message received. */
function writeSocketUrl(page, held) {
  const url = new URL(`v${PROTOCOL}/live`, page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  for (const [name, value] of new URL(page).searchParams) {
    // A page's address can list several boards with commas, and write board 3 as `03`.
    if (name === "board") for (const board of value.split(",")) url.searchParams.append(name, Number(board));
    if (["event", "game", "player", "token", "detail"].includes(name)) url.searchParams.append(name, value);
  }
  if (held.hello !== null && held.seq !== null) {
    url.searchParams.set("epoch", held.hello.epoch);
    url.searchParams.set("since", held.seq);
  }
  return url.href;
}

/** State of a connection, as the views read it. Socket, clock and random numbers are arguments, so that tests need no browser. */
export class Link {
  /** `changed(touched)` is called after every message (see `Held.receive`); `after(ms, action)` returns its canceller. */
  constructor(held, changed, { now, random, after }) {
    /** State of the connection: `connecting`, `live`, `waiting` or `refused`. */
    this.status = "connecting";
    /** Time of the last message, milliseconds; null before the first. */
    this.heardAt = null;
    /** Reason of a refusal, as text for people. */
    this.reason = "";
    this._held = held;
    this._changed = changed;
    this._now = now;
    this._random = random;
    this._after = after;
    this._cancelSilence = () => {};
  }

  /** Send the service a message now and after every reconnection; a connection to a broker sends nothing. */
  say() {}

  /** Send the service a message once; return whether it was sent. A connection to a broker sends nothing. */
  send() {
    return false;
  }

  /** Restart the silence timer: `silent()` is called if nothing more arrives. */
  _listen(silent, afterMs = SILENT_AFTER_MS) {
    this._cancelSilence();
    this._cancelSilence = this._after(afterMs, silent);
  }
}

export class Connection extends Link {
  constructor(held, page, changed, { open, isThere = null, isKeen = false, ...context }) {
    super(held, changed, context);
    this._page = page;
    this._open = open;
    this._isThere = isThere;
    this._isKeen = isKeen;
    this._delays = delays(this._random, isKeen);
    this._socket = null;
    this._standingMessage = null;
  }

  /** Send a message now and again after every reconnection. */
  say(message) {
    const text = JSON.stringify(message);
    if (text === this._standingMessage) return;
    this._standingMessage = text;
    if (this.status === "live") this._socket.send(text);
  }

  send(message) {
    const live = this.status === "live";
    if (live) this._socket.send(JSON.stringify(message));
    return live;
  }

  connect() {
    this.status = "connecting";
    const socket = this._open(writeSocketUrl(this._page, this._held));
    this._socket = socket;
    let over = false;
    const end = (code, reason) => {
      if (over) return;
      over = true;
      this._cancelSilence();
      socket.close();
      this._ended(code, reason);
    };
    const silent = () => end(0, "silent");
    this._listen(silent, OPEN_WITHIN_MS);
    socket.onmessage = (event) => {
      if (over) return;
      this._listen(silent);
      try {
        this._heard(JSON.parse(event.data));
      } catch (error) {
        // A message was lost or is malformed, so a fresh snapshot is needed.
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
      if (this._standingMessage !== null) this._socket.send(this._standingMessage);
    }
    // Waits begin again only after a connection that has lasted until a heartbeat.
    if (message.type === "heartbeat") this._delays = delays(this._random, this._isKeen);
    this._changed(touched);
  }

  _ended(code, reason) {
    if (code >= FIRST_FINAL_CODE) {
      this.status = "refused";
      this.reason = reason;
      return;
    }
    this.status = "waiting";
    this._wait();
  }

  /** Connect after the next wait, if the service answers by then. */
  _wait() {
    this._after(this._delays.next().value, async () => {
      if (this._isThere === null || (await this._isThere())) this.connect();
      else this._wait();
    });
  }
}

/** Interval between checks of the token while nothing arrives. */
const TOKEN_EVERY_MS = 10_000;
/** Time without any message, since the page was opened, before the first check of the token. */
const TOKEN_AFTER_MS = 2_000;

/** Checks the token until the first message: without a valid token the service sends nothing over the websocket. */
export class TokenCheck {
  constructor() {
    this._askAt = TOKEN_AFTER_MS;
  }

  /** Return {@link tokenTrouble}, or null if no check was due. A static page has no service and needs no check. */
  async look(connection, now) {
    if (brokerOf() !== null || connection.heardAt !== null || now < this._askAt) return null;
    this._askAt = now + TOKEN_EVERY_MS;
    return tokenTrouble(location.href, (url) => fetch(url));
  }
}

/** Return `missing` or `wrong` if the service refuses the page's token, which a websocket does not report; otherwise empty. */
export async function tokenTrouble(page, ask) {
  const token = new URL(page).searchParams.get("token");
  const url = new URL(`api/v${PROTOCOL}/health`, page);
  if (token !== null) url.searchParams.set("token", token);
  const answer = await ask(url.href).catch(() => null);
  if (answer?.status !== 401) return "";
  return token === null ? "missing" : "wrong";
}
