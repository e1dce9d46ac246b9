"""The log has a line for what happened, and none for what is only worded anew."""

from __future__ import annotations

import msgspec

from live.alerts.finding import AlertLog
from live.events import Alert, AlertMessage

ALERT = Alert(
    id="stale g1",
    kind="stale",
    severity="look",
    text="Board 1: no move for 41 min.",
    advice="Look.",
    game="g1",
    first_seen_s=1.0,
)


def lines(book: AlertLog, **changed: object) -> list[str]:
    return book.lines([AlertMessage(msgspec.structs.replace(ALERT, **changed))])


def test_each_thing_that_happens_is_one_line() -> None:
    book = AlertLog()
    assert lines(book) == ["alert raised ? Board 1: no move for 41 min."]
    assert lines(book, text="Board 1: no move for 42 min.") == []
    assert lines(book, muted=True)[0].startswith("alert muted ? ")
    assert lines(book)[0].startswith("alert shown again")
    assert lines(book, times=2)[0].startswith("alert raised again (2 times)")
    told = lines(book, times=2, acknowledged_s=3.0, note="asked\x1b[2J")
    assert told[0].startswith("alert acknowledged") and "\x1b" not in "".join(told)
    assert lines(book, times=2, cleared_s=4.0)[0].startswith("alert over")
    assert lines(book) == ["alert raised ? Board 1: no move for 41 min."]
