"""One line for each thing that happened."""

from __future__ import annotations

import msgspec

from live.events import (
    Alert,
    AlertMessage,
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
from live.publish.published_state import view_of
from live.terminal.recent_changes import EventLineWriter
from tests.terminal.sample_boards import detail, full_point, point

VIEW: GameView = view_of(detail())


def test_a_move_with_its_gain_is_one_line() -> None:
    writer = EventLineWriter()
    assert writer.lines([GameMessage(VIEW)]) == [
        "board 1 Petriashvili, Nikoloz - Sanchez Montesdeoca, Is…: board appears"
    ]
    played = PlyView(1, "e4", "e2e4")
    scored = msgspec.structs.replace(played, score_cp=30, final=True, gain_cp=-12)
    assert writer.lines([MoveMessage("g1", 1, msgspec.structs.replace(played, clock_s=59.0))]) == [
        "board 1 Petriashvili, Nikoloz - Sanchez Montesdeoca, Is…: played 1.e4, clock 0:59"
    ]
    assert writer.lines(
        [ScoreMessage("g1", scored), PointMessage("g1", "white", full_point(1))]
    ) == [
        "board 1 Petriashvili, Nikoloz - Sanchez Montesdeoca, Is…: 1.e4 +0.30, gain -0.12. "
        "Petriashvili, Nikoloz: playing like 2441 · usual for 2459 against 1807: 2180–2750 · "
        "better than 74 % of games by players of 2459"
    ]


def test_the_last_figure_of_a_finished_game_is_in_the_past() -> None:
    over = msgspec.structs.replace(VIEW, result="1-0", plies_played=40)
    for view, ply, said in (
        (over, 39, "played like"),
        (over, 37, "playing like"),
        (msgspec.structs.replace(over, result="*"), 39, "playing like"),
    ):
        writer = EventLineWriter()
        writer.lines([GameMessage(view)])
        [line] = writer.lines([PointMessage("g1", "white", full_point(ply))])
        assert f": {said} 2441 · " in line


def test_a_gain_known_before_the_score_still_names_the_move() -> None:
    writer = EventLineWriter()
    writer.lines([GameMessage(VIEW), MoveMessage("g1", 1, PlyView(1, "e4", "e2e4"))])
    [line] = writer.lines([PointMessage("g1", "white", point(1, None))])
    assert ": 1.e4, gain -0.12. " in line
    assert line.endswith(": no perceived rating")


def test_results_takebacks_problems_and_ends_are_told_once() -> None:
    writer = EventLineWriter()
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
    writer = EventLineWriter()
    writer.lines([GameMessage(VIEW), MoveMessage("g1", 1, PlyView(1, "e4", "e2e4"))])
    again = [PointMessage("g1", "white", point(1, 2210.0))]
    assert len(writer.lines(again)) == 1
    assert writer.lines(again) == []
    [corrected] = writer.lines([MoveMessage("g1", 1, PlyView(1, "d4", "d2d4"))])
    assert corrected.endswith(": corrected to 1.d4, was e4")
    assert ": 1.d4, " in writer.lines(again)[0]


def plies(*sans: str) -> list[MoveMessage]:
    return [
        MoveMessage("g1", ply, PlyView(ply, san, "0000")) for ply, san in enumerate(sans, start=1)
    ]


def test_of_moves_that_come_together_the_last_is_told() -> None:
    writer = EventLineWriter()
    told = writer.lines([GameMessage(VIEW), *plies("e4", "c5", "Nf3")])
    assert [line.split(": ", 1)[1] for line in told] == ["board appears", "played 3 moves to 2.Nf3"]
    [line] = writer.lines([MoveMessage("g1", 4, PlyView(4, "d6", "d7d6"))])
    assert line.endswith(": played 2...d6")


def test_a_move_after_a_takeback_is_no_correction() -> None:
    writer = EventLineWriter()
    writer.lines([GameMessage(VIEW), *plies("e4", "c5", "Nf3")])
    writer.lines([MoveMessage("g1", 2, None)])
    [line] = writer.lines([MoveMessage("g1", 2, PlyView(2, "e5", "e7e5"))])
    assert line.endswith(": played 1...e5")


def test_a_correction_in_a_game_met_in_its_middle_says_what_was_there() -> None:
    writer = EventLineWriter()
    writer.lines([GameMessage(detail())])
    [line] = writer.lines([MoveMessage("g1", 2, PlyView(2, "e5", "e7e5"))])
    assert line.endswith(": corrected to 1...e5, was c5")


def test_a_feed_is_told_of_when_it_changes() -> None:
    writer = EventLineWriter()
    live = HealthMessage((FeedHealth("demo", "live"),), EngineHealth())
    assert writer.lines([live, live]) == ["demo live"]
    retrying = HealthMessage((FeedHealth("demo", "retrying", "again in 4 s"),), EngineHealth())
    assert writer.lines([retrying]) == ["demo retrying: again in 4 s"]


def test_alerts_are_lines_where_they_are_sent_at_all() -> None:
    text = "Board 3: 0:00\x1b[2J"
    flag = Alert(id="f", kind="flag", severity="alarm", text=text, advice="", first_seen_s=1.0)
    writer = EventLineWriter()
    assert writer.lines([AlertMessage(flag)]) == ["alert raised !! Board 3: 0:00[2J"]
    assert writer.lines([AlertMessage(flag)]) == []
    over = msgspec.structs.replace(flag, cleared_s=5.0)
    assert writer.lines([AlertMessage(over)]) == ["alert over !! Board 3: 0:00[2J"]
