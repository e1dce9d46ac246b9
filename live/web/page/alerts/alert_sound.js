/** A tone for new alerts, off until somebody asks: browsers and playing halls want it so. */

import { button, kept, setText } from "../../drawing/elements.js";

const STORED = "live-rate-sound";
export const SOUNDS = { off: "Sound: off", alarms: "Sound: alarms", all: "Sound: every alert" };

/** Whether an alert asks for notice. Pure. */
export const asks = ({ muted, acknowledged_s: seen = null, cleared_s: over = null }) => !muted && seen === null && over === null;

/** Games with an alert that asks for notice. Pure. */
export function alertingGames(alerts) {
  return new Set(alerts.filter((alert) => alert.game && asks(alert)).map(({ game }) => game));
}

/** Which alerts were heard of, by id, and whether one is new that `choice` wants to hear. Pure. */
export function heardAlerts(before, alerts, choice) {
  const asking = alerts.filter(asks);
  const heard = Object.fromEntries(asking.map(({ id, times }) => [id, times]));
  const wanted = asking.filter(({ severity }) => choice === "all" || (choice === "alarms" && severity === "alarm"));
  return { heard, rings: before !== null && wanted.some(({ id, times }) => times > (before[id] ?? 0)) };
}

export class AlertSound {
  constructor() {
    const choice = kept.read(STORED) ?? "";
    this._choice = Object.hasOwn(SOUNDS, choice) ? choice : "off";
    this._heard = null;
    this.button = button(SOUNDS[this._choice], () => this._next());
  }

  /** The alerts that stand now. */
  hear(alerts) {
    const { heard, rings } = heardAlerts(this._heard, alerts, this._choice);
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
