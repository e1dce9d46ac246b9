// Runs the page's modules for the tests: one JSON request a line, one JSON answer a line.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";

const PAGES = pathToFileURL(`${process.argv[2]}/`);
const { Delayed, Held, OutOfSequence, heldAsOf } = await import(new URL("client/event_state.js", PAGES));
const { compareText, gameOrder } = await import(new URL("client/games.js", PAGES));

let held = null;

const ASKED = {
  /** Calls one function of one module. */
  async call({ module, name, args }) {
    return (await import(new URL(module, PAGES)))[name](...args);
  },

  /** What columns show of a player: `[{id, text, interval, missing}]`. */
  async columns({ of, engine }) {
    const { PLAYER_COLUMNS } = await import(new URL("page/players.js", PAGES));
    return PLAYER_COLUMNS.map((column) => ({ id: column.id, ...column.show(of, engine) }));
  },

  /** Which moment a card shows at each time, with these moments there. */
  async moments({ looked, hold_ms, always }) {
    const { MomentAges, shownMoment } = await import(new URL("overlay/on_air.js", PAGES));
    const ages = new MomentAges();
    return looked.map(([moments, now]) => {
      ages.note(moments, now);
      return shownMoment(moments, [{ id: "a" }], ages, now, { holdMs: hold_ms, always });
    });
  },

  /** What is said of the token, where the service answers so (null: not at all). */
  async token({ page, status }) {
    const { tokenTrouble } = await import(new URL("client/connection.js", PAGES));
    let asked = null;
    const trouble = await tokenTrouble(page, async (url) => {
      asked = url;
      if (status === null) throw new TypeError("no network");
      return { status };
    });
    return { trouble, asked };
  },

  /** What overlays say, by language. */
  async languages() {
    const { LANGUAGES } = await import(new URL("overlay/language/words.js", PAGES));
    const said = async (code) => [code, (await import(new URL(`overlay/language/${code}.js`, PAGES))).default];
    return Object.fromEntries(await Promise.all(Object.keys(LANGUAGES).map(said)));
  },

  /** What the page says, each text in all other languages. */
  texts: async () => (await import(new URL("page/language.js", PAGES))).TEXTS,

  /** Which games a chooser that follows the story shows. */
  async followed({ options, looked }) {
    const { Chooser } = await import(new URL("overlay/on_air.js", PAGES));
    const chooser = new Chooser(options);
    return looked.map(([games, now, moments]) => chooser.choose(games, now, moments)[0].id);
  },

  /** Follows and unfollows players; what is kept, and whom of these it then holds. */
  async followed_players({ stored, toggled, asked, linked = [], throws = false }) {
    const { FollowedPlayers } = await import(new URL("page/page_address.js", PAGES));
    let [text, changes] = [stored, 0];
    const storage = {
      read: () => text,
      write(name, value) {
        if (!throws) text = value;
        return !throws;
      },
    };
    const followed = new FollowedPlayers(storage, () => (changes += 1));
    for (const player of toggled) followed.toggle(player);
    const added = followed.add(linked);
    const first = followed.first(asked, (player) => followed.has(player));
    return { text, changes, added, keys: followed.keys, has: asked.map((player) => followed.has(player)), first: first.map(({ name }) => name) };
  },

  /** What is held as it stood after a ply: games, players and moments. */
  async earlier({ games, players, moments, ply, only }) {
    const byId = (list) => new Map(list.map((each) => [each.id, each]));
    const held = { games: byId(games), players: byId(players), moments: byId(moments) };
    const then = heldAsOf(held, ply, only);
    return ["games", "players", "moments"].map((name) => [...then[name].values()]);
  },

  /** What a module exports under this name. */
  async constant({ module, name }) {
    return (await import(new URL(module, PAGES)))[name];
  },

  /** Calls methods of one object of a class, one after the other; answers what each answered. */
  async object({ module, name, args, calls }) {
    const made = new (await import(new URL(module, PAGES)))[name](...args);
    return calls.map(([method, ...given]) => made[method](...given) ?? null);
  },

  /** Forgets everything held. */
  start() {
    held = new Held();
    return null;
  },

  /** Applies messages; answers what was touched, or where it fell out of step. */
  receive({ messages }) {
    const touched = [];
    try {
      for (const message of messages) touched.push(held.receive(message));
    } catch (error) {
      if (!(error instanceof OutOfSequence)) throw error;
      return { outOfStep: error.message };
    }
    return { touched };
  },

  /** What is held, in the shape and order of a fresh snapshot. */
  snapshot() {
    return {
      engine: held.engine,
      games: [...held.games.values()].sort(gameOrder),
      players: [...held.players.values()].sort((a, b) => compareText(a.id, b.id)),
      feeds: held.feeds,
      engines: held.engines,
      alerts: [...held.alerts.values()].sort((a, b) => compareText(a.id, b.id)),
      moments: [...held.moments.values()].sort((a, b) => compareText(a.id, b.id)),
    };
  },

  /** Plays a script against a connection whose socket, clock and chance are the script's. */
  async connection({ page, script }) {
    const { Connection } = await import(new URL("client/connection.js", PAGES));
    const log = [];
    const timers = new Set();
    const own = new Held();
    let now = 0;
    let socket = null;
    const connection = new Connection(own, page, (touched) => log.push({ touched }), {
      open(url) {
        const opened = { url, close: () => log.push({ closed: url }) };
        log.push({ opened: url, at: now });
        socket = opened;
        return opened;
      },
      now: () => now,
      random: () => 0.5,
      after(ms, action) {
        const timer = { at: now + ms, action };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    });
    connection.connect();
    for (const step of script) {
      if (step.message) socket.onmessage({ data: JSON.stringify(step.message) });
      if (step.text !== undefined) socket.onmessage({ data: step.text });
      if (step.close) socket.onclose({ code: step.close, reason: "because" });
      if (step.advance) {
        const until = now + step.advance;
        for (;;) {
          const next = [...timers].sort((a, b) => a.at - b.at)[0];
          if (!next || next.at > until) break;
          timers.delete(next);
          now = next.at;
          next.action();
        }
        now = until;
      }
      log.push({ status: connection.status, heardAt: connection.heardAt, seq: own.seq });
    }
    return { log, timers: timers.size, reason: connection.reason };
  },

  /**
   * Plays a script against a reader of a broker, whose client, clock and chance are the script's:
   * `{topic, payload, retain, lost}` with the payload in Base64; `{connect}`, `{advance}`.
   */
  async broker({ script }) {
    const { BrokerConnection } = await import(new URL("client/broker_connection.js", PAGES));
    const own = new Held();
    const [timers, retained, topics, heard] = [new Set(), new Map(), new Set(), {}];
    let now = 0;
    const client = {
      on: (event, action) => (heard[event] = action),
      unsubscribe: (names) => names.forEach((name) => topics.delete(name)),
      subscribe(names) {
        for (const name of names) {
          topics.add(name);
          if (retained.has(name)) client.pending.push([name, retained.get(name)]);
        }
      },
      pending: [],
    };
    const connection = new BrokerConnection(own, "p", () => {}, {
      client: () => client,
      now: () => now,
      random: () => 0.5,
      after(ms, action) {
        const timer = { at: now + ms, action };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      unpack: async (bytes) => gunzipSync(bytes).toString(),
    });
    connection.connect();
    const statuses = [];
    for (const { topic, payload, retain, lost, connect, advance } of script) {
      if (connect) heard.connect();
      if (topic) {
        const bytes = Buffer.from(payload, "base64");
        if (retain) retained.set(topic, bytes);
        if (topics.has(topic) && !lost) client.pending.push([topic, bytes]);
      }
      const until = now + (advance ?? 0);
      for (;;) {
        while (client.pending.length) await heard.message(...client.pending.shift());
        const next = [...timers].sort((a, b) => a.at - b.at)[0];
        if (!next || next.at > until) break;
        timers.delete(next);
        now = next.at;
        next.action();
      }
      now = until;
      if (connection.status !== statuses.at(-1)) statuses.push(connection.status);
    }
    held = own;
    return { statuses, reason: connection.reason };
  },

  /** Messages through `Delayed` at given times; after each, what is shown and what is resumed from. */
  async delayed({ delay_ms, steps }) {
    const own = new Held();
    let now = 0;
    const delayed = new Delayed(own, delay_ms, () => now);
    const answer = { shown: [], seq: [], moments: [], sight: null };
    for (const { at, message } of steps) {
      now = at;
      if (message) delayed.receive(message);
      delayed.release();
      const [game = null] = own.games.values();
      answer.shown.push(game && { plies: game.plies.length, result: game.result, opening: game.opening });
      answer.sight = own.hello?.sight ?? null;
      answer.seq.push(delayed.seq);
      answer.moments.push([...own.moments.values()].map(({ id, at_s: atS }) => [id, atS]));
    }
    return answer;
  },

  /** The first delays between attempts, for a chance that always says the same. */
  async delays({ random, count, keen = false }) {
    const { delays } = await import(new URL("client/connection.js", PAGES));
    const found = [];
    for (const delay of delays(() => random, keen)) {
      found.push(delay);
      if (found.length === count) return found;
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, ...rest } = JSON.parse(line);
  let answer;
  try {
    answer = { result: (await ASKED[ask](rest)) ?? null };
  } catch (error) {
    answer = { error: error.stack };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
