"""live/web/page/alerts/alerts_panel.js: alerts, and screening figures with what they rest on."""

from __future__ import annotations

import msgspec

from live.events import Agreement, Alert
from tests.web.page.games import Pages, plain

ALERT = Alert(id="a", kind="stale", severity="look", text="t", advice="d", first_seen_s=5.0)


def test_the_most_urgent_comes_first_then_the_newest(pages: Pages) -> None:
    def alert(name: str, severity: str, at_s: float, muted: bool = False) -> Alert:
        fields = {"id": name, "severity": severity, "first_seen_s": at_s, "muted": muted}
        return msgspec.structs.replace(ALERT, **fields)

    alerts = [
        alert("a", "look", 9),
        alert("b", "alarm", 1),
        alert("c", "warning", 5),
        alert("d", "alarm", 2),
        alert("e", "alarm", 3, muted=True),
    ]
    found = pages(
        "call", module="page/alerts/alerts_panel.js", name="rankedAlerts", args=[plain(alerts)]
    )
    assert "".join(each["id"] for each in found) == "dbca"


def test_a_screening_figure_never_stands_alone(pages: Pages) -> None:
    agreement = Agreement(40, 0.8, 0.55, 3.21, 56, 0.034, "402 honest player-games.")
    said = pages(
        "call", module="page/alerts/alerts_panel.js", name="agreementText", args=[plain(agreement)]
    )
    for part in ("80 %", "40 moves", "55 %", "3.2", "56 boards", "3 %", "402", "accuses nobody"):
        assert part in said
    assert (
        pages("call", module="page/alerts/alerts_panel.js", name="agreementText", args=[None]) == ""
    )
