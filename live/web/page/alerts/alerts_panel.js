/** What only arbiters are sent: alerts, and screening figures with what they rest on. */

import { element, nameNode, named, setText } from "../../drawing/elements.js";
import { AlertSound } from "./alert_sound.js";
import { explainButton } from "../explanations.js";
import { IncidentLog } from "./incident_log.js";
import { writePlace } from "../page_address.js";

const SEVERITIES = ["alarm", "warning", "look"];

/** Alerts as an arbiter wants them: most urgent first, then newest. Pure. */
export function rankedAlerts(alerts) {
  const rank = ({ severity }) => SEVERITIES.indexOf(severity);
  return alerts
    .filter(({ muted }) => !muted)
    .sort((a, b) => rank(a) - rank(b) || b.first_seen_s - a.first_seen_s || (a.id < b.id ? -1 : 1));
}

/** A screening figure with all that it must not be read without; empty without one. Pure. */
export function agreementText(agreement) {
  if (!agreement) return "";
  const percent = (share) => `${Math.round(100 * share)} %`;
  const { moves, share, expected, z, boards, false_alarms: alarms, rests_on: basis } = agreement;
  return (
    `${percent(share)} of ${moves} moves, expected ${percent(expected)}, z = ${z.toFixed(1)}. ` +
    `Over ${boards} boards ${percent(alarms)} of honest events show such a figure. ${basis} It accuses nobody.`
  );
}

export class ArbiterView {
  constructor() {
    this.sound = new AlertSound();
    this._log = new IncidentLog();
    this._list = element("ol", "alerts");
    this._note = element("p", "note");
    const heading = element("h2", "", "For arbiters only", explainButton("agreement"));
    const parts = [heading, this.sound.button, this._note, this._list, this._log.node];
    this.node = named(element("section", "arbiter-view", "", ...parts), "For arbiters only");
  }

  draw(held, place, now) {
    if (held.hello?.sight === "arbiter") this._log.refresh(now);
    this._log.node.hidden = held.hello?.sight !== "arbiter";
    const alerts = rankedAlerts([...(held.alerts?.values() ?? [])]);
    setText(this._note, alerts.length ? "" : "Nothing to look at.");
    while (this._list.children.length > alerts.length) this._list.lastChild.remove();
    while (this._list.children.length < alerts.length) {
      const link = element("a");
      this._list.append(
        element("li", "", "", element("strong", "severity"), link, nameNode("text"), element("span", "advice"), element("p", "agreement")),
      );
    }
    alerts.forEach((alert, at) => {
      const [severity, link, text, advice, agreement] = this._list.children[at].children;
      this._list.children[at].dataset.severity = alert.severity;
      setText(severity, alert.severity);
      const game = alert.game ? held.games.get(alert.game) : null;
      link.hidden = !game;
      if (game) {
        link.href = writePlace({ view: "board", game: game.id, ply: alert.ply ?? undefined });
        setText(link, game.board === null ? "open" : `Board ${game.board}`);
      }
      setText(text, alert.text);
      setText(advice, alert.advice);
      setText(agreement, agreementText(alert.agreement));
      agreement.hidden = !agreement.textContent;
    });
  }
}
