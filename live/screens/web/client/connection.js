/** Where a page gets its messages from: the service beside it, by websocket, or the broker that a static page names. */

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

/** A keen page is asked for by few, and is to be back at once however long the service was away. */
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

/** The broker that a page names, `{url, prefix}`; null where it reads from the service itself. */
export function brokerOf() {
  const meta = document.querySelector('meta[name="live-rate-broker"]');
  return meta === null ? null : { url: meta.content, prefix: meta.dataset.prefix };
}

// --- the websocket: comes back by itself, resumes where it was, notices silence --------------------

/** The service sends a heartbeat every 15 s; two and a bit missing means the line is dead. */
const SILENT_AFTER_MS = 40_000;
/** A connection that brought nothing in so long is none: behind it a service just stopped, or hangs. */
const OPEN_WITHIN_MS = 10_000;

/** From here on close codes mean: do not come back without a change. */
const FIRST_FINAL_CODE = 4100;

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;
const GROWTH = 1.8;
/** A service that starts again is back within so long. */
const QUICK_MS = 60_000;

/**
 * Milliseconds to wait before each attempt, for ever. The first is anything up to a second, so
 * that the pages of a restarted service do not all come back at once (RFC 6455, section 7.2.3). For a minute, of a
 * keen page for ever, there is one every second; the rest grow to half a minute, each somewhere in its upper half.
 */
export function* delays(random, isKeen = false) {
  yield FIRST_DELAY_MS * random();
  for (let waited = 0; isKeen || waited < QUICK_MS; waited += FIRST_DELAY_MS) yield FIRST_DELAY_MS;
  for (let delay = FIRST_DELAY_MS; ; delay = Math.min(delay * GROWTH, MAX_DELAY_MS)) {
    yield delay * (0.5 + 0.5 * random());
  }
}

const LOOK_MS = 5_000;

/** Whether the service beside this page answers. Asked for by HTTP: browsers hold back websockets after some that failed. */
async function isServiceThere() {
  try {
    const { status } = await fetch("healthz", { cache: "no-store", signal: AbortSignal.timeout(LOOK_MS) });
    // A proxy answers for a service that is away, too; one that hides this path answers otherwise.
    return status < 500;
  } catch {
    return false;
  }
}

/** Where the websocket of a page is: beside the page, with the page's filters and what is held. */
function writeSocketUrl(page, held) {
  const url = new URL(`v${PROTOCOL}/live`, page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  for (const [name, value] of new URL(page).searchParams) {
    // Pages take several boards with commas between them, and `03` for board 3.
    if (name === "board") for (const board of value.split(",")) url.searchParams.append(name, Number(board));
    if (["event", "game", "player", "token", "detail"].includes(name)) url.searchParams.append(name, value);
  }
  if (held.hello !== null && held.seq !== null) {
    url.searchParams.set("epoch", held.hello.epoch);
    url.searchParams.set("since", held.seq);
  }
  return url.href;
}

/** What whoever shows a connection reads; socket, clock and chance come in as arguments, so that it runs without a browser. */
export class Link {
  /**
   * `changed(touched)` follows every message applied (see `Held.receive`); `after(ms, action)` answers a
   * function that calls it off.
   */
  constructor(held, changed, { now, random, after }) {
    /** `connecting`, `live`, `waiting` or `refused`. */
    this.status = "connecting";
    /** The time of the last message, null before the first. */
    this.heardAt = null;
    /** Why it was refused, for people. */
    this.reason = "";
    this._held = held;
    this._changed = changed;
    this._now = now;
    this._random = random;
    this._after = after;
    this._cancelSilence = () => {};
  }

  /** Says something to the service, where it can hear it. */
  say() {}

  /** Sends the service a message once, and answers whether it could. */
  send() {
    return false;
  }

  /** Something came: `silent()` follows where nothing more does. */
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
    this._said = null;
  }

  /** Says something to the service, now and on every connection from now on. */
  say(message) {
    const text = JSON.stringify(message);
    if (text === this._said) return;
    this._said = text;
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

  /** Connects after the next delay, or once the service is there. */
  _wait() {
    this._after(this._delays.next().value, async () => {
      if (this._isThere === null || (await this._isThere())) this.connect();
      else this._wait();
    });
  }
}

/** How often it is asked whether the token is why nothing comes. */
const TOKEN_EVERY_MS = 10_000;
/** Where nothing came for so long since the page was opened, the token may be why. */
const TOKEN_AFTER_MS = 2_000;

/** Asks whether a token is what is missing, while nothing has ever come: without one a service waits and is silent. */
export class TokenCheck {
  constructor() {
    this._askAt = TOKEN_AFTER_MS;
  }

  /** As {@link tokenTrouble}; null where nothing was asked. Static pages have no service beside them to ask. */
  async look(connection, now) {
    if (brokerOf() !== null || connection.heardAt !== null || now < this._askAt) return null;
    this._askAt = now + TOKEN_EVERY_MS;
    return tokenTrouble(location.href, (url) => fetch(url));
  }
}

/**
 * `missing` or `wrong` where the service says that a token is why nobody is let in, which a browser does not say of a
 * refused websocket; empty where it is something else, or nothing.
 */
export async function tokenTrouble(page, ask) {
  const token = new URL(page).searchParams.get("token");
  const url = new URL(`api/v${PROTOCOL}/health`, page);
  if (token !== null) url.searchParams.set("token", token);
  const answer = await ask(url.href).catch(() => null);
  if (answer?.status !== 401) return "";
  return token === null ? "missing" : "wrong";
}
