"""live/web/page/alerts/alert_sound.js: which alerts are heard, and which boards they are about."""

from __future__ import annotations

from typing import Any

import msgspec

from live.events import Alert
from tests.web.page.games import Pages, game, plain

LOOK = Alert(id="a", kind="stale", severity="look", text="t", advice="d", first_seen_s=5.0)
ALARM = msgspec.structs.replace(LOOK, id="b", kind="flag", severity="alarm", game="g1")


def heard(pages: Pages, before: dict[str, int] | None, alerts: list[Alert], choice: str) -> Any:
    args = [before, plain(alerts), choice]
    return pages("call", module="page/alerts/alert_sound.js", name="heardAlerts", args=args)


def test_it_sounds_once_for_each_new_alert_that_is_wanted(pages: Pages) -> None:
    assert heard(pages, None, [ALARM], "all") == {"heard": {"b": 1}, "rings": False}
    for choice, rings in (("off", False), ("alarms", False), ("all", True)):
        assert heard(pages, {}, [LOOK], choice)["rings"] is rings
    assert heard(pages, {}, [ALARM], "alarms")["rings"]
    assert not heard(pages, {"b": 1}, [ALARM], "all")["rings"]
    again = msgspec.structs.replace(ALARM, times=2)
    assert heard(pages, {"b": 1}, [again], "alarms")["rings"]


def test_what_is_muted_or_acknowledged_is_neither_heard_nor_marked(pages: Pages) -> None:
    quiet = [
        msgspec.structs.replace(ALARM, muted=True),
        msgspec.structs.replace(ALARM, id="c", acknowledged_s=9.0),
    ]
    assert heard(pages, {}, quiet, "all") == {"heard": {}, "rings": False}


def test_boards_with_alerts_come_first_and_keep_their_order(pages: Pages) -> None:
    games = plain([game(name, board=at) for at, name in enumerate("abc", 1)])
    place = {"q": "", "state": "all", "sort": "alerts", "down": False}
    found = pages(
        "call", module="page/boards/boards_order.js", name="arranged", args=[games, place, ["c"]]
    )
    assert "".join(each["id"] for each in found) == "cab"
