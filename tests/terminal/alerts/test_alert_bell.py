"""The bell rings once for what is new, and only where it is asked for."""

from __future__ import annotations

import msgspec

from live.events import Alert
from live.terminal.alerts.alert_bell import CHOICES, AlertBell

LOOK = Alert(id="a", kind="stale", severity="look", text="", advice="", first_seen_s=0.0)
ALARM = msgspec.structs.replace(LOOK, id="b", kind="flag", severity="alarm")


def test_it_is_silent_until_somebody_asks() -> None:
    bell = AlertBell()
    assert not bell.rings([]) and not bell.rings([ALARM])
    assert [bell.next_choice() for _ in CHOICES][-1] == "The bell is silent"


def test_it_rings_once_for_each_new_alarm() -> None:
    bell = AlertBell("alarms")
    assert not bell.rings([LOOK]), "what stood before is no news"
    assert bell.rings([LOOK, ALARM])
    assert not bell.rings([LOOK, ALARM])
    assert bell.rings([LOOK, msgspec.structs.replace(ALARM, times=2)])
    assert not bell.rings([]) and bell.rings([ALARM]), "gone, and there again"


def test_only_all_rings_for_what_is_worth_a_look() -> None:
    alarms, every = AlertBell("alarms"), AlertBell("all")
    assert not alarms.rings([]) and not every.rings([])
    assert not alarms.rings([LOOK])
    assert every.rings([LOOK])


def test_what_is_muted_or_acknowledged_is_not_heard() -> None:
    bell = AlertBell("all")
    bell.rings([])
    assert not bell.rings([msgspec.structs.replace(ALARM, muted=True)])
    assert not bell.rings([msgspec.structs.replace(LOOK, acknowledged_s=1.0)])


def test_what_came_while_it_was_silent_is_no_news_later() -> None:
    bell = AlertBell()
    bell.rings([])
    bell.rings([ALARM])
    bell.choice = "all"
    assert not bell.rings([ALARM])
