/**
 * The connection of a static page, which reads messages from an MQTT broker instead of the service.
 *
 * The class has the interface of {@link Connection}. `live/server/site_stream.py` describes the topics: one has changes
 * as they happen, and two have the retained last snapshot and all changes since. A gap in the message numbers is filled
 * from the retained messages. The broker's client, the clock and random numbers are arguments.
 */

import { Link } from "./connection.js";
import { PROTOCOL } from "./usual.js";

/** Longest random delay before a gap is filled; without a delay all readers would ask the broker at once. */
const MEND_WITHIN_MS = 2_000;

export class BrokerConnection extends Link {
  /**
   * `client()` returns a client with `subscribe(topics)`, `unsubscribe(topics)` and the events `connect`, `close` and
   * `message`; `unpack(bytes)` returns a promise of the text inside gzip data.
   */
  constructor(held, prefix, changed, { client, unpack, ...context }) {
    super(held, changed, context);
    /** Whether the service has stopped or has lost its connection to the broker. */
    this.away = false;
    this._client = client;
    this._unpack = unpack;
    this._topics = Object.fromEntries(
      ["snapshot", "since", "changes"].map((name) => [name, `${prefix}/${PROTOCOL}/site/${name}`]),
    );
    this._statusTopic = `${prefix}/${PROTOCOL}/status`;
    this._epoch = null;
    /** Messages of `_waitingEpoch` that cannot be applied yet, by number. */
    this._waiting = new Map();
    /** The epoch of the waiting messages. It differs from `_epoch` after a restart of the service. */
    this._waitingEpoch = null;
    this._since = null;
    this._mending = false;
    this._cancelMending = () => {};
  }

  connect() {
    const client = (this._broker = this._client());
    client.on("connect", () => {
      client.subscribe([this._topics.changes, this._statusTopic]);
      this._listen(() => this._lost());
      this._mend(0);
    });
    client.on("close", () => this._lost());
    client.on("message", (topic, payload) => this._heard(topic, payload));
  }

  async _heard(topic, payload) {
    try {
      if (topic === this._statusTopic) this._heardStatus(JSON.parse(text(payload)));
      else if (topic === this._topics.changes) this._heardChanges(JSON.parse(text(payload)));
      else if (topic === this._topics.since) this._heardSince(JSON.parse(text(payload)));
      else if (topic === this._topics.snapshot) this._heardSnapshot(JSON.parse(await this._unpack(payload)));
    } catch {
      // An unreadable message counts as lost, so a fresh snapshot is needed.
      this._held.seq = null;
      this._epoch = null;
      this._gap();
    }
  }

  _heardStatus({ state, protocol }) {
    if (this._foreign(protocol)) return;
    this.away = state !== "online";
    if (this.away) this._lost();
    else this._live();
  }

  _heardChanges({ epoch, messages }) {
    this._listen(() => this._lost());
    this.away = false;
    if (epoch !== this._epoch) {
      // The service has restarted: the old state stays on the page until the new snapshot arrives.
      if (epoch !== this._waitingEpoch) this._waiting.clear();
      for (const message of messages) this._waiting.set(message.seq, message);
      this._waitingEpoch = epoch;
      this._gap();
      return;
    }
    this._take(messages);
    if (this._waiting.size > 0) this._gap();
    else if (this._mending && this._held.seq !== null) {
      // A live message could be applied, so the gap is filled.
      this._mending = false;
      this._broker.unsubscribe([this._topics.snapshot, this._topics.since]);
    }
    this._live();
  }

  _heardSince({ epoch, after, messages }) {
    this._since = { epoch, after, messages };
    if (epoch === this._epoch && this._held.seq !== null && after <= this._held.seq) {
      this._take(messages);
      this._live();
    }
  }

  _heardSnapshot({ epoch, hello, snapshot }) {
    if (this._foreign(hello.protocol)) return;
    if (epoch === this._epoch && this._held.seq !== null && snapshot.seq <= this._held.seq) return;
    if (this._waitingEpoch !== epoch) this._waiting.clear();
    this._epoch = this._waitingEpoch = epoch;
    this._held.receive({ ...hello, resumed: false });
    this._note(this._held.receive(snapshot));
    if (this._since?.epoch === epoch && this._since.after <= this._held.seq) this._take(this._since.messages);
    this._take([]);
    this._live();
  }

  /** Apply the messages whose turn has come by their number; store the others until then. */
  _take(messages) {
    for (const message of messages) {
      if (message.type === "heartbeat") {
        // A heartbeat repeats the number of the last message. If that message was not applied, there is a gap.
        if (message.seq > (this._held.seq ?? -1)) this._waiting.set(message.seq, message);
      } else this._waiting.set(message.seq, message);
    }
    while (this._held.seq !== null) {
      const next = this._waiting.get(this._held.seq + 1);
      if (next === undefined || next.type === "heartbeat") break;
      this._waiting.delete(next.seq);
      this._note(this._held.receive(next));
    }
    for (const seq of this._waiting.keys()) if (seq <= (this._held.seq ?? -1)) this._waiting.delete(seq);
  }

  _note(touched) {
    this.heardAt = this._now();
    this._changed(touched);
  }

  _live() {
    if (this._held.seq === null || this.away || this.status === "refused") return;
    this.status = "live";
    this.heardAt = this._now();
    this._changed({});
  }

  /** Fill a gap from the retained messages after a random delay. */
  _gap() {
    if (!this._mending) this._mend(MEND_WITHIN_MS * this._random());
  }

  _mend(afterMs) {
    this._mending = true;
    this._cancelMending();
    this._cancelMending = this._after(afterMs, () =>
      this._broker.subscribe([this._topics.snapshot, this._topics.since]),
    );
  }

  _lost() {
    if (this.status === "refused") return;
    this.status = this._held.seq === null && !this.away ? "connecting" : "waiting";
    this._changed({});
  }

  /** Return whether the service uses another protocol version, and tell the user if so. */
  _foreign(protocol) {
    if (protocol > PROTOCOL) this._refuse("this page is older than the service: reload it");
    if (protocol < PROTOCOL) {
      this._refuse("the service is older than this page: update the service, or write the page again");
    }
    return protocol !== PROTOCOL;
  }

  _refuse(reason) {
    this.status = "refused";
    this.reason = reason;
    this._changed({});
  }
}

const text = (payload) => new TextDecoder().decode(payload);
