"""One line for each thing that happened."""

from __future__ import annotations

import msgspec

from live.dashboard.lines import LineWriter
from live.events import (
    EngineHealth,
    FeedHealth,
    GameMessage,
    GameView,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PlyView,
    PointMessage,
    ScoreMessage,
)
from live.publish.state import view_of
from tests.dashboard.boards import detail, point

VIEW: GameView = view_of(detail())


def test_a_move_with_its_gain_is_one_line() -> None:
    writer = LineWriter()
    assert writer.lines([GameMessage(VIEW)]) == [
        "board 1 Petriashvili, Nikoloz - Sanchez Montesdeoca, Is…: board appears"
    ]
    played = PlyView(1, "e4", "e2e4")
    scored = msgspec.structs.replace(played, score_cp=30, final=True, gain_cp=-12)
    assert writer.lines([MoveMessage("g1", 1, played)]) == []
    assert writer.lines(
        [ScoreMessage("g1", scored), PointMessage("g1", "white", point(1, 2210.0))]
    ) == [
        "board 1 Petriashvili, Nikoloz - Sanchez Montesdeoca, Is…: 1.e4 +0.30, gain -0.12. "
        "Petriashvili, Nikoloz A4 2210 (2010–2410), 1 move"
    ]


def test_a_gain_known_before_the_score_still_names_the_move() -> None:
    writer = LineWriter()
    writer.lines([GameMessage(VIEW), MoveMessage("g1", 1, PlyView(1, "e4", "e2e4"))])
    [line] = writer.lines([PointMessage("g1", "white", point(1, None))])
    assert ": 1.e4, gain -0.12. " in line
    assert line.endswith("A4 ↓ (≤ 2034), 1 move")


def test_results_takebacks_problems_and_ends_are_told_once() -> None:
    writer = LineWriter()
    writer.lines([GameMessage(VIEW)])
    over = msgspec.structs.replace(VIEW, result="1-0", problem="illegal move Qh9 at ply 3")
    lines = writer.lines([GameMessage(over), GameMessage(over), MoveMessage("g1", 2, None)])
    assert [line.split(": ", 1)[1] for line in lines] == [
        "1-0",
        "illegal move Qh9 at ply 3",
        "taken back to ply 1",
    ]
    [gone] = writer.lines([GoneMessage("g1")])
    assert gone.endswith("gone from its source")


def test_a_curve_sent_again_tells_no_move_twice() -> None:
    writer = LineWriter()
    writer.lines([GameMessage(VIEW), MoveMessage("g1", 1, PlyView(1, "e4", "e2e4"))])
    again = [PointMessage("g1", "white", point(1, 2210.0))]
    assert len(writer.lines(again)) == 1
    assert writer.lines(again) == []
    writer.lines([MoveMessage("g1", 1, PlyView(1, "d4", "d2d4"))])
    assert ": 1.d4, " in writer.lines(again)[0]


def test_a_feed_is_told_of_when_it_changes() -> None:
    writer = LineWriter()
    live = HealthMessage((FeedHealth("demo", "live"),), EngineHealth())
    assert writer.lines([live, live]) == ["demo live"]
    retrying = HealthMessage((FeedHealth("demo", "retrying", "again in 4 s"),), EngineHealth())
    assert writer.lines([retrying]) == ["demo retrying: again in 4 s"]
