"""The order of alerts for people."""

from __future__ import annotations

import msgspec

from live.alerts.finding import in_order
from live.events import Alert, Severity


def alert(
    id: str,
    first_seen_s: float,
    *,
    severity: Severity = "look",
    acknowledged_s: float | None = None,
    muted: bool = False,
) -> Alert:
    return Alert(
        id=id,
        kind="stale",
        severity=severity,
        text="text",
        advice="",
        first_seen_s=first_seen_s,
        acknowledged_s=acknowledged_s,
        muted=muted,
    )


def test_alerts_are_ordered_by_state_then_urgency_then_the_newest_first() -> None:
    expected = [
        alert("urgent, old", 100.0, severity="alarm"),
        alert("new", 300.0),
        alert("middle", 200.0),
        alert("old", 100.0),
        alert("seen, new", 300.0, acknowledged_s=310.0),
        alert("seen, old", 100.0, acknowledged_s=310.0),
        alert("muted", 400.0, severity="alarm", muted=True),
    ]
    assert [each.id for each in in_order(reversed(expected))] == [each.id for each in expected]
    assert in_order(expected) == expected


def test_equal_alerts_are_ordered_by_their_id() -> None:
    first = alert("a", 100.0)
    second = msgspec.structs.replace(first, id="b")
    assert in_order([second, first]) == [first, second]
