/** The arbiters' view: alerts, a tone for new ones, commands about them, screening figures, and the incident log. */

import { button, Children, element, kept, named, nameNode, searchField, setLine, setText, tableOf } from "../drawing/elements.js";
import { locale, say } from "./language.js";
import { ask, writePlace } from "./page_address.js";

/** Signs of the severities, most urgent first; same as SIGNS in live/watch/finding.py. */
const SIGNS = { alarm: "!!", warning: "!", look: "?" };
const SEVERITIES = Object.keys(SIGNS);

/** Return open alerts, then acknowledged ones, then muted ones; each group by urgency, and then the newest first. Pure. */
export function rankAlerts(alerts) {
  const later = ({ muted, acknowledged_s: seen = null }) => (muted ? 2 : seen === null ? 0 : 1);
  const rank = (alert) => SEVERITIES.indexOf(alert.severity) + later(alert) * SEVERITIES.length;
  return alerts.toSorted((a, b) => rank(a) - rank(b) || b.first_seen_s - a.first_seen_s || (a.id < b.id ? -1 : 1));
}

/** Return a sentence with a screening figure and the facts without which it must not be read; empty without a figure. Pure. */
export function agreementText(agreement) {
  if (!agreement) return "";
  const percent = (part) => Math.round(100 * part);
  const { moves, share, expected, z, boards, false_alarms: alarms, rests_on: basis } = agreement;
  const figures = [percent(share), moves, percent(expected), z.toFixed(1), boards, percent(alarms), basis];
  return say("{} % of {} moves, expected {} %, z = {}. With {} boards, {} % of honest events show such a figure. {} It accuses nobody.", ...figures);
}

/** Make a form with a text field and a button that sends the text. */
function makeForm(label, name, send) {
  const input = named(Object.assign(element("input"), { type: "text", required: true, maxLength: 500, placeholder: label }), label);
  const form = element("form", "write", "", input, Object.assign(element("button", "plain", name), { type: "submit" }));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (send(input.value.trim())) form.reset();
  });
  return form;
}

/** The entry of an alert in the list. `act` sends a command to the service and returns whether it was sent. */
class AlertLine {
  constructor({ id, kind, game }, act) {
    this._severity = element("strong", "severity");
    this._link = element("a");
    this._text = nameNode("text");
    this._advice = element("span", "advice");
    this._agreement = element("p", "agreement");
    this._note = element("p", "alert-note");
    this._taken = button(say("Acknowledge"), () => act({ act: "acknowledge", about: id }));
    const all = [[say("This alert"), "mute", id], [say("All of this kind"), "mute-kind", kind], ...(game ? [[say("This board"), "mute-board", game]] : [])];
    const mutes = all.map(([name, command, about]) => button(name, () => act({ act: command, about }), { label: `${say("Mute")}: ${name}` }));
    const show = () => all.forEach(([, command, about]) => act({ act: command, about, muted: false }));
    this._muted = button(say("Unmute"), show);
    this._mute = element("details", "chooser", "", element("summary", "", say("Mute")), element("div", "", "", ...mutes));
    const write = makeForm(say("Note on this alert"), say("Note"), (text) => act({ act: "note", about: id, text }));
    this._desk = element("div", "desk", "", this._taken, this._muted, this._mute, write);
    const parts = [this._severity, this._link, this._text, this._advice, this._agreement, this._note];
    this.node = element("li", "", "", ...parts, this._desk);
  }

  draw(alert, game, mayAct) {
    this.node.dataset.severity = alert.severity;
    this.node.dataset.quiet = String(alert.muted || Boolean(alert.acknowledged_s));
    const status = alert.muted ? `, ${say("muted")}` : alert.acknowledged_s ? `, ${say("acknowledged")}` : "";
    setText(this._severity, `${SIGNS[alert.severity]} ${say(alert.severity)}${status}`);
    this._link.hidden = !game;
    if (game) {
      this._link.href = writePlace({ view: "board", game: game.id, ply: alert.ply ?? undefined });
      setText(this._link, game.board === null ? say("open") : say("Board {}", game.board));
    }
    setText(this._text, alertSentence(alert.text, [`Board ${game?.board}: `]));
    setText(this._advice, alert.advice);
    setLine(this._agreement, agreementText(alert.agreement));
    setLine(this._note, alert.note ? say("Note: {}", alert.note) : "");
    this._desk.hidden = !mayAct;
    this._taken.hidden = alert.muted || Boolean(alert.acknowledged_s);
    this._muted.hidden = !alert.muted;
    this._mute.hidden = Boolean(alert.muted);
  }
}

export class ArbiterView {
  constructor(act) {
    this.sound = new AlertSound();
    this._shown = null;
    this._log = new IncidentLog(act);
    const list = element("ol", "alerts");
    this._alerts = new Children(list, (alert) => new AlertLine(alert, act));
    this._note = element("p", "note");
    const parts = [element("h2", "", say("For arbiters only")), this.sound.button, this._note, list, this._log.node];
    this.node = named(element("section", "arbiter-view", "", ...parts), say("For arbiters only"));
  }

  /** Draw the alerts again if the log has become readable, since commands are possible only then. */
  tick() {
    if (this._shown !== null) this.draw(...this._shown, performance.now());
  }

  draw(held, place, now) {
    this._shown = [held, place];
    if (held.hello?.sight === "arbiter") this._log.refresh(now);
    this._log.node.hidden = held.hello?.sight !== "arbiter";
    const alerts = rankAlerts([...(held.alerts?.values() ?? [])]);
    setLine(this._note, alerts.length ? "" : say("Nothing to look at."));
    this._alerts.show(alerts).forEach((line, at) => {
      const alert = alerts[at];
      line.draw(alert, alert.game ? held.games.get(alert.game) : null, this._log.known);
    });
  }
}

const EVERY_MS = 5_000;

/** Return date and time in this machine's time zone; `long` adds the name of the zone. */
const writeTime = (seconds, timeStyle = "medium") => new Date(1000 * seconds).toLocaleString(locale, { dateStyle: "short", timeStyle });

/** Return the history of an incident, one line per change. Pure except for the machine's time zone. */
function incidentLines({ changes }) {
  return changes.map(({ at_s: at, what, text }) => `${writeTime(at)} ${say(what)}${text ? `: ${text}` : ""}`);
}

/** Return the head of the printed log: event, time and number of incidents. Pure except for the machine's time zone. */
function printHead({ incidents, words, atS }, title) {
  const open = incidents.filter(({ over_s: over }) => over === null).length;
  const count = say("Incidents: {}, open: {}", incidents.length, open);
  return [title, say("as of {}", writeTime(atS, "long")), count, words && say("only those with: {}", words)].filter(Boolean).join(" \u00b7 ");
}

class IncidentLog {
  constructor(act) {
    /** Whether the log could be read. Arbiters who may see only some boards can neither read the log nor answer alerts. */
    this.known = false;
    this._askedAt = -Infinity;
    /** The log as last read, the words of the search, and the time of reading, seconds since 1970 UTC. */
    this._read = { incidents: [], words: "", atS: 0 };
    this._body = element("tbody");
    this._head = element("p", "printed");
    this._note = element("p", "note");
    this._filter = searchField(say("Filter: words in the log"), () => this.refresh(Infinity));
    const table = tableOf(say("Incident log"), [say("No."), say("Board"), say("What happened")], this._body, "incidents");
    const bar = element("div", "toolbar", "", this._filter, button(say("Print"), () => window.print()));
    this._write = makeForm(say("Entry into the log"), say("Write"), (text) => act({ act: "enter", text }));
    this._write.hidden = true;
    const heads = [say("Round"), say("Hall"), say("Arbiter"), say("Date"), say("Signature")];
    const signed = element("p", "printed", heads.map((name) => `${name}: ${"_".repeat(22)}`).join("  "));
    const parts = [element("h2", "", say("Incident log")), this._head, this._write, bar, this._note, element("div", "scroll", "", table), signed];
    this.node = named(element("section", "incident-log", "", ...parts), say("Incident log"));
    addEventListener("beforeprint", () => this._list(printHead(this._read, document.title)));
    addEventListener("afterprint", () => this._list());
  }

  /** Request the log from the service, at most every few seconds. */
  async refresh(now) {
    if (now - this._askedAt < EVERY_MS) return;
    this._askedAt = now === Infinity ? this._askedAt : now;
    const words = this._filter.value;
    try {
      const { incidents } = await (await ask("incidents", words ? { words } : {})).json();
      this.known = true;
      this._write.hidden = false;
      if (words !== this._filter.value) return;
      this._read = { incidents, words, atS: Date.now() / 1000 };
      setLine(this._note, incidents.length ? "" : words ? say("Nothing matches the filter.") : say("Nothing here yet."));
      this._list();
    } catch (error) {
      setLine(this._note, say("The log cannot be read: {}.", error.message));
    }
  }

  /** List the incidents, the newest first. With a `head`, list them for print: below the head, the oldest first. */
  _list(head = "") {
    setText(this._head, head);
    const rows = (head ? this._read.incidents : this._read.incidents.toReversed()).map((incident) => {
      const lines = incidentLines(incident).map((line) => element("div", "", line));
      const open = element("span", "open", incident.over_s === null ? ` ${say("still open")}` : "");
      return element("tr", "", "", element("td", "", String(incident.number), open), element("td", "", incident.board || "\u2013"), element("td", "", "", ...lines));
    });
    this._body.replaceChildren(...rows);
  }
}

const STORED = "live-rate-sound";
const SOUNDS = { off: say("Sound: off"), alarms: say("Sound: alarms"), all: say("Sound: every alert") };

/** Return whether an alert is open: neither muted, acknowledged nor cleared. Pure. */
const asksForNotice = ({ muted, acknowledged_s: seen = null, cleared_s: over = null }) => !muted && seen === null && over === null;

/** Return the most urgent open alert of each board, by the board's id; the most urgent board comes first. Pure. */
export function worstByBoard(alerts) {
  const worst = new Map();
  for (const alert of rankAlerts(alerts.filter(asksForNotice))) if (alert.game && !worst.has(alert.game)) worst.set(alert.game, alert);
  return worst;
}

/** Return the number of open alerts with the sign of the most urgent one: `!! 4`; empty without open alerts. Pure. */
export function alertCount(alerts) {
  const asking = rankAlerts(alerts.filter(asksForNotice));
  return asking.length ? `${SIGNS[asking[0].severity]}\u00a0${asking.length}` : "";
}

/** Return an alert's text as a sentence, without those `leads` at its beginning that are shown beside it. */
function alertSentence(text, leads, nameByColor = (point) => point) {
  const point = nameByColor(leads.reduce((rest, lead) => (rest.startsWith(lead) ? rest.slice(lead.length) : rest), text));
  return point.charAt(0).toUpperCase() + point.slice(1);
}

/** Return the sign and text of an alert for use beside its board; the colour replaces the player's name. Pure. */
export function alertText({ severity, text, player }, { board, white, black }) {
  const nameByColor = (point) => (player ? point.replaceAll(player, player === white.name ? "White" : "Black") : point);
  return `${SIGNS[severity]} ${alertSentence(text, [`Board ${board}: `, `${white.name} - ${black.name}: `], nameByColor)}`;
}

/** Return the current alerts by id, and whether a new one has a severity that the reader wants to hear. Pure. */
export function hearAlerts(before, alerts, choice) {
  const asking = alerts.filter(asksForNotice);
  const heard = Object.fromEntries(asking.map(({ id, times }) => [id, times]));
  const audible = asking.filter(({ severity }) => choice === "all" || (choice === "alarms" && severity === "alarm"));
  return { heard, rings: before !== null && audible.some(({ id, times }) => times > (before[id] ?? 0)) };
}

class AlertSound {
  constructor() {
    const choice = kept.read(STORED) ?? "";
    this._choice = Object.hasOwn(SOUNDS, choice) ? choice : "off";
    this._heard = null;
    this.button = button(SOUNDS[this._choice], () => this._next());
  }

  /** Record the current alerts and play the tone for new ones. */
  hear(alerts) {
    const { heard, rings } = hearAlerts(this._heard, alerts, this._choice);
    this._heard = heard;
    if (rings) this._ring();
  }

  _next() {
    const names = Object.keys(SOUNDS);
    this._choice = names[(names.indexOf(this._choice) + 1) % names.length];
    setText(this.button, SOUNDS[this._choice]);
    kept.write(STORED, this._choice);
    if (this._choice !== "off") this._ring();
  }

  _ring() {
    this._audio ??= new AudioContext();
    const tone = this._audio.createOscillator();
    const volume = this._audio.createGain();
    const now = this._audio.currentTime;
    volume.gain.setValueAtTime(0.2, now);
    volume.gain.exponentialRampToValueAtTime(0.001, now + 0.6);
    tone.frequency.value = 880;
    tone.connect(volume).connect(this._audio.destination);
    tone.start(now);
    tone.stop(now + 0.6);
  }
}
