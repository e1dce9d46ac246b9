"""live/web/client/games.js: how long a clock has run since its last message."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.conftest import Pages
from tests.web.test_overlay_figures import game, ply

LIVE = [{"feed": "hall", "state": "live"}, {"feed": "other", "state": "failed"}]
SILENT = [{"feed": "hall", "state": "stale"}]
PLAYED = game("g", [ply(1), ply(2)], feed="hall")


def elapsed(pages: Pages, *calls: list[Any]) -> float:
    """What the last of these calls answers."""
    found: list[float] = pages(
        "object", module="client/games.js", name="Ticking", args=[], calls=list(calls)
    )
    return found[-1]


def test_it_runs_from_when_the_last_move_was_seen(pages: Pages) -> None:
    seen = [["noteFeeds", LIVE, 0], ["note", PLAYED, 1_000]]
    assert elapsed(pages, *seen, ["elapsedS", PLAYED, 1_000]) == 0
    assert elapsed(pages, *seen, ["elapsedS", PLAYED, 3_500]) == 2.5
    # A score, or a snapshot after the connection broke, is no move.
    scored = game("g", [ply(1), ply(2, 35)], feed="hall")
    assert elapsed(pages, *seen, ["note", scored, 9_000], ["elapsedS", scored, 9_500]) == 8.5


def test_a_move_and_a_takeback_begin_anew(pages: Pages) -> None:
    seen = [["noteFeeds", LIVE, 0], ["note", PLAYED, 0]]
    for plies in ([ply(1), ply(2), ply(3)], [ply(1)], [ply(1), {**ply(2), "uci": "a2b3"}]):
        changed = game("g", plies, feed="hall")
        assert elapsed(pages, *seen, ["note", changed, 5_000], ["elapsedS", changed, 6_000]) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"result": "1-0"},
        {"problem": "illegal move Qh9 at ply 3"},
        {"restored": True},
        {"plies": []},
        {"id": "never seen"},
    ],
)
def test_nothing_runs_where_nothing_is_known(pages: Pages, changed: dict[str, Any]) -> None:
    stopped = {**PLAYED, **changed}
    assert elapsed(pages, ["note", PLAYED, 0], ["elapsedS", stopped, 60_000]) == 0


def test_it_stands_while_the_source_or_the_service_is_silent(pages: Pages) -> None:
    seen = [["noteFeeds", LIVE, 0], ["note", PLAYED, 0], ["noteFeeds", SILENT, 4_000]]
    # It stays where it was, also when the source is told to be silent once more.
    again = [*seen, ["noteFeeds", SILENT, 7_000]]
    assert elapsed(pages, *again, ["elapsedS", PLAYED, 60_000]) == 4
    assert elapsed(pages, *again, ["noteFeeds", LIVE, 9_000], ["elapsedS", PLAYED, 10_000]) == 10
    heard = [*seen[:2], ["elapsedS", PLAYED, 60_000, 3_000]]
    assert elapsed(pages, *heard) == 3


def test_only_the_clock_of_the_side_to_move_runs(pages: Pages) -> None:
    plies = [{**ply(1), "clock_s": 65.0}, {**ply(2), "clock_s": 300.0}]

    def shown(color: str, elapsed_s: float = 7.5, **more: Any) -> Any:
        args = [game("g", plies, **more), color, elapsed_s]
        return pages.run("overlay/shown_figures.js", "clockOf", *args)["text"]

    assert shown("white") == "0:57"
    assert shown("black") == "5:00"
    assert shown("white", 66.0) == "0.0"
    assert shown("white", result="1-0") == ""


@pytest.mark.parametrize(
    ("left", "start", "low"),
    [
        (59.0, 5400.0, True),
        (61.0, 5400.0, False),
        (21.0, 900.0, False),
        (9.0, 180.0, True),
        (30.0, 180.0, False),
        (None, 180.0, False),
        (5.0, None, False),
        (0.0, 0.0, False),
    ],
)
def test_a_low_clock_is_low_for_its_time_control(
    pages: Pages, left: float | None, start: float | None, low: bool
) -> None:
    module = "client/games.js"
    for result, said in (("*", low), ("1-0", False)):
        args = [{"result": result}, left, start]
        assert pages.run(module, "isLow", *args) is said
