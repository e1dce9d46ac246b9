"""What a board's row says, in which order, and what has just happened."""

from __future__ import annotations

import msgspec

from live.events import (
    Alert,
    AlertMessage,
    Curves,
    EngineHealth,
    FeedHealth,
    GameDetail,
    GameMessage,
    GameView,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PlyView,
    PointMessage,
    ScoreMessage,
)
from live.games.game import NewGame
from live.ledger.tracked_game import view_of
from live.publish.published_state import game_order
from live.terminal.boards_view import (
    ORDERS,
    RESTORED,
    best_strength,
    board_matcher,
    is_early,
    of_newest_rounds,
    ordered,
    problem_of,
    running_first,
    words,
)
from live.terminal.recent_changes import NEW_S, EventLineWriter, RecentChanges
from live.terminal.text import figure_cells
from tests.ledger.arithmetic import game, line
from tests.ledger.test_event_state import ledger
from tests.terminal.sample_boards import detail, full_point, point


def test_a_game_from_before_the_restart_is_marked_until_its_source_sends_it() -> None:
    held = ledger()
    held.apply(NewGame(game(moves=line(1, 2, 3))))
    detail = held.game("g1")
    assert detail is not None
    restored = msgspec.structs.replace(detail, restored=True)
    assert problem_of(detail) == ""
    assert problem_of(restored) == RESTORED
    wrong = msgspec.structs.replace(restored, problem="illegal move")
    assert problem_of(wrong) == "illegal move"


def test_what_is_early_has_no_percentile_and_is_not_sorted_by() -> None:
    whole = full_point(1)
    early = msgspec.structs.replace(whole, counted=9)
    game = msgspec.structs.replace(detail(), curves=Curves(white=(early,), black=(whole,)))
    cells = figure_cells(early, 2160)
    assert [cells[name] for name in ("plays", "usual", "percentile", "a4", "a4 ends")] == [
        "2441", "2180–2750", "early", "2210", "2010–2410",
    ]  # fmt: skip
    assert is_early(early) and is_early(None) and not is_early(whole)
    assert figure_cells(whole, 2160)["percentile"] == "74%"
    assert best_strength(game) == 2441.0
    assert best_strength(msgspec.structs.replace(game, curves=Curves(white=(early,)))) is None


def boards(*games: GameDetail, alerting: tuple[str, ...] = ()) -> list[str]:
    """Ids in the order of the list of boards."""
    return [game.id for game in ordered(games, ORDERS["board"], alerting=alerting)]


def test_events_that_are_pairings_do_not_come_before_boards() -> None:
    def paired(id: str, board: int, white: str, black: str) -> GameDetail:
        whole = detail(id, board, white=white, black=black)
        return msgspec.structs.replace(whole, event=f"Round 1: {white} - {black}")

    rows = [paired("a", 2, "Abel", "Bo"), paired("b", 1, "Cid", "Dee")]
    assert boards(*rows) == ["b", "a"]
    assert "Open" in words(detail()) and "Round 1" not in words(rows[0])


def round_of(round: str, *results: str) -> list[GameDetail]:
    return [
        detail(f"{round}.{board}", board, round=round, result=result)
        for board, result in enumerate(results, 1)
    ]


def test_the_newest_round_comes_first_and_alerts_before_it() -> None:
    games = [*round_of("2", "*", "*"), *round_of("10", "*", "*")]
    assert boards(*games) == ["10.1", "10.2", "2.1", "2.2"]
    assert boards(*games, alerting=("2.2", "10.2")) == ["2.2", "10.2", "10.1", "2.1"]


def test_one_round_of_several_sources_stands_in_the_order_of_its_boards() -> None:
    written = {board: "7" if board > 19 else f"7.{board}" for board in range(1, 29)}
    games = [detail(f"g{board}", board, round=round) for board, round in written.items()]
    assert [game.board for game in sorted(games, key=game_order)] == list(range(1, 29))


def test_finished_boards_of_earlier_rounds_are_folded() -> None:
    games = [*round_of("Round 7", "1-0", "*"), *round_of("8.1", "1-0"), *round_of("Final", "1-0")]
    shown = [game.id for game in of_newest_rounds(games)]
    assert shown == ["Round 7.2", "8.1.1", "Final.1"]
    assert [game.id for game in games if board_matcher("round 7")(game)] == [
        "Round 7.1", "Round 7.2",
    ]  # fmt: skip
    assert [game.id for game in games if board_matcher("Rd 8 finished")(game)] == ["8.1.1"]
    assert not any(map(board_matcher("round 1"), games))


def test_where_nobody_scrolls_running_boards_are_chosen_first() -> None:
    games = [*round_of("2", "1-0", "*", "1-0"), *round_of("1", "*")]
    assert [game.id for game in running_first(games, 3)] == ["2.1", "2.2", "1.1"]


MOVE = MoveMessage("g1", 1, PlyView(1, "e4", "e2e4"))


class Clock:
    s = 100.0

    def __call__(self) -> float:
        return self.s


def test_what_is_new_is_new_for_a_moment() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    changes.note([MOVE])
    assert changes.is_new("g1", 1) and not changes.is_new("g1", 2)
    clock.s += NEW_S
    assert not changes.is_new("g1", 1)
    changes.note([PointMessage("g1", "white", point(1, 2200.0))])
    assert changes.is_new("g1", 1)


def test_an_age_is_exact_only_from_the_first_move_told() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    clock.s += 60
    assert changes.age_s("g1") == (60.0, False)
    changes.note([MOVE])
    clock.s += 5
    assert changes.age_s("g1") == (5.0, True)


def test_boards_are_touched_once_and_all_by_a_new_snapshot() -> None:
    changes = RecentChanges(Clock())
    assert changes.touched() == (True, set())
    changes.note([MOVE, MOVE])
    assert changes.touched() == (False, {"g1"})
    assert changes.touched() == (False, set())
    changes.everything()
    assert changes.touched()[0]


def test_a_board_that_is_gone_is_forgotten() -> None:
    changes = RecentChanges(Clock())
    changes.note([MOVE, GoneMessage("g1")])
    assert changes.touched()[1] == set()
    assert changes.age_s("g1") == (0.0, False)


def test_a_clock_runs_from_the_move_and_stands_while_its_feed_is_silent() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    live, silent = (FeedHealth("hall", state) for state in ("live", "stale"))
    changes.feeds([live])
    clock.s += 60
    # A position that was there before counts from when it is looked at.
    assert changes.ran_s("g1", "hall", 0) == 0.0
    clock.s += 3
    assert changes.ran_s("g1", "hall", 0) == 3.0
    changes.note([MOVE])
    clock.s += 5
    assert changes.ran_s("g1", "hall", 1) == 5.0
    # Moves that came while we were cut off.
    assert changes.ran_s("g1", "hall", 4) == 0.0
    changes.feeds([silent])
    clock.s += 50
    changes.feeds([silent])
    assert changes.ran_s("g1", "hall", 1) == 5.0
    changes.feeds([live])
    assert changes.ran_s("g1", "hall", 1) == 55.0
    changes.note([MoveMessage("g1", 2, None)])
    clock.s += 2
    assert changes.ran_s("g1", "hall", 1) == 2.0


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
        "taken back to the start",
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
