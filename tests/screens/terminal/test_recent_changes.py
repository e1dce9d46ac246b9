"""What a board's row says, in which order, and what has just happened."""

from collections.abc import Sequence

from msgspec.structs import replace

from live.games.game import NewGame
from live.messages.alerts import Alert
from live.messages.figures import Curves, GameDetail, GameView, PlyView, view_of
from live.messages.health import EngineHealth, FeedHealth
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
)
from live.screens.event_lines import EventLineWriter
from live.screens.terminal.board_rows import (
    RESTORED,
    build_board_matcher,
    find_best_rating,
    keep_newest_rounds,
    order_boards,
    write_problem,
    write_searched,
)
from live.screens.terminal.text import is_early, write_figure
from live.screens.terminal.view_context import NEW_S, RecentChanges
from tests.event.arithmetic import game, line
from tests.event.test_event import ledger
from tests.screens.terminal.sample_boards import detail, full_point, point
from tests.server.world import Clock


def test_a_game_from_before_the_restart_is_marked_until_its_source_sends_it() -> None:
    held = ledger()
    held.apply(NewGame(game(moves=line(1, 2, 3))))
    detail = held.game("g1")
    assert detail is not None
    restored = replace(detail, restored=True)
    assert write_problem(detail) == ""
    assert write_problem(restored) == RESTORED
    wrong = replace(restored, problem="illegal move")
    assert write_problem(wrong) == "illegal move"


def test_what_is_early_has_no_percentile_and_is_not_sorted_by() -> None:
    whole = full_point(1)
    early = replace(whole, counted=9)
    game = replace(detail(), curves=Curves(white=(early,), black=(whole,)))
    names = ("perceived", "usual", "percentile", "algorithm4", "interval")
    assert [write_figure(name, early, 2160) for name in names] == [
        "2441",
        "2180–2750",
        "early",
        "2210",
        "2010–2410",
    ]
    assert is_early(early) and is_early(None) and not is_early(whole)
    assert write_figure("percentile", whole) == "74 %"
    assert find_best_rating(game) == 2441.0
    assert find_best_rating(replace(game, curves=Curves(white=(early,)))) is None


def boards(*games: GameDetail, alerting: tuple[str, ...] = ()) -> list[str]:
    """Ids in the order of the list of boards."""
    return [game.id for game in order_boards(games, alerting)]


def test_events_that_are_pairings_do_not_come_before_boards() -> None:
    def paired(id: str, board: int, white: str, black: str) -> GameDetail:
        whole = detail(id, board, white=white, black=black)
        return replace(whole, event=f"Round 1: {white} - {black}")

    rows = [paired("a", 2, "Abel", "Bo"), paired("b", 1, "Cid", "Dee")]
    assert boards(*rows) == ["b", "a"]
    assert "Open" in write_searched(detail()) and "Round 1" not in write_searched(
        rows[0]
    )


def round_of(round: str, *results: str) -> list[GameDetail]:
    return [
        detail(f"{round}.{board}", board, round=round, result=result)
        for board, result in enumerate(results, 1)
    ]


def test_the_newest_round_comes_first_and_alerts_before_it() -> None:
    games = [*round_of("2", "*", "*"), *round_of("10", "*", "*")]
    assert boards(*games) == ["10.1", "10.2", "2.1", "2.2"]
    assert boards(*games, alerting=("2.2", "10.2")) == ["2.2", "10.2", "10.1", "2.1"]


def test_finished_boards_of_earlier_rounds_are_folded() -> None:
    games = [
        *round_of("Round 7", "1-0", "*"),
        *round_of("8.1", "1-0"),
        *round_of("Final", "1-0"),
    ]
    shown = [game.id for game in keep_newest_rounds(games, ())]
    assert shown == ["Round 7.2", "8.1.1", "Final.1"]
    # What asks for notice is never folded.
    asking = [game.id for game in keep_newest_rounds(games, {"Round 7.1"})]
    assert asking == ["Round 7.1", *shown]
    assert [game.id for game in games if build_board_matcher("round 7")(game)] == [
        "Round 7.1",
        "Round 7.2",
    ]
    assert [
        game.id for game in games if build_board_matcher("Rd 8 finished")(game)
    ] == ["8.1.1"]
    assert not any(map(build_board_matcher("round 1"), games))


MOVE = MoveMessage("g1", 1, PlyView(1, "e4", "e2e4"))


def test_what_is_new_is_new_for_a_moment() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    changes.note([MOVE])
    assert changes.is_new("g1", 1) and not changes.is_new("g1", 2)
    clock.now_s += NEW_S
    assert not changes.is_new("g1", 1)
    changes.note([PointMessage("g1", "white", point(1, 2200.0))])
    assert changes.is_new("g1", 1)


def test_a_move_taken_back_or_come_while_cut_off_is_not_new() -> None:
    changes = RecentChanges(Clock())
    changes.note(
        [
            MOVE,
            MoveMessage("g1", 2, PlyView(2, "e5", "e7e5")),
            MoveMessage("g1", 2, None),
        ]
    )
    assert not changes.is_new("g1", 1)
    changes.note([MOVE])
    changes.measure_age_s("g1", 5)
    assert not changes.is_new("g1", 5)


def test_an_age_is_exact_from_the_first_move_sent_until_the_board_is_gone() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    clock.now_s += 60
    assert changes.measure_age_s("g1", 0) == (0.0, False)
    clock.now_s += 60
    assert changes.measure_age_s("g1", 0) == (60.0, False)
    changes.note([MOVE])
    clock.now_s += 5
    assert changes.measure_age_s("g1", 1) == (5.0, True)
    changes.note([GoneMessage("g1")])
    assert changes.measure_age_s("g1", 1) == (0.0, False)
    # A board that no screen shows grows old as well.
    changes.look([], [replace(VIEW, id="g2", plies_played=3)])
    clock.now_s += 600
    assert changes.measure_age_s("g2", 3) == (600.0, False)


def test_a_clock_runs_from_the_move_and_stands_while_its_feed_is_silent() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    live, silent = (FeedHealth("hall", state) for state in ("live", "stale"))
    changes.look([live], [])
    # A position that was there before counts from when it is first looked at, however
    # late.
    clock.now_s += 7200
    assert changes.measure_run_s("g1", "hall", 0) == 0.0
    clock.now_s += 3
    assert changes.measure_run_s("g1", "hall", 0) == 3.0
    changes.note([MOVE])
    clock.now_s += 5
    assert changes.measure_run_s("g1", "hall", 1) == 5.0
    changes.look([silent], [])
    clock.now_s += 50
    changes.look([silent], [])
    assert changes.measure_run_s("g1", "hall", 1) == 5.0
    changes.look([live], [])
    assert changes.measure_run_s("g1", "hall", 1) == 55.0
    changes.note([MoveMessage("g1", 2, None)])
    clock.now_s += 2
    assert changes.measure_run_s("g1", "hall", 1) == 2.0
    # Moves that came while we were cut off count from when they are first looked at.
    assert changes.measure_run_s("g1", "hall", 4) == 0.0
    clock.now_s += 7
    assert changes.measure_run_s("g1", "hall", 4) == 7.0
    assert changes.measure_age_s("g1", 4) == (7.0, False)


VIEW: GameView = view_of(detail())
LABEL = "board 1 Petriashvili, Nikoloz - Sanchez Montesdeoca, Is…: "
E4 = PlyView(1, "e4", "e2e4")
SCORED = replace(E4, score_cp=30, final=True, gain_cp=-12)
OVER = replace(VIEW, result="1-0", problem="illegal move 2.Qh9")
FIGURE = PointMessage("g1", "white", point(1, 2210.0))


def plies(*sans: str) -> list[Change]:
    return [
        MoveMessage("g1", ply, PlyView(ply, san, "0000"))
        for ply, san in enumerate(sans, start=1)
    ]


def print_changes(*batches: Sequence[Change]) -> list[str]:
    """What is printed of the last batch, without the name of the board."""
    writer = EventLineWriter()
    lines = [writer.lines(batch) for batch in batches][-1]
    return [line.removeprefix(LABEL) for line in lines]


NEW: list[Change] = [GameMessage(VIEW)]


def test_moves_and_figures_are_lines() -> None:
    played = MoveMessage("g1", 1, replace(E4, clock_s=59.0))
    assert print_changes([*NEW, played]) == ["board appears", "played 1.e4, clock 0:59"]
    assert print_changes([*NEW, *plies("e4", "c5", "Nf3")])[1:] == [
        "played 3 moves to 2.Nf3"
    ]
    whole: list[Change] = [
        ScoreMessage("g1", SCORED),
        PointMessage("g1", "white", full_point(1)),
    ]
    assert print_changes([*NEW, played], whole) == [
        "1.e4 +0.30, gain -0.12. Petriashvili, Nikoloz: "
        "playing like 2441 · usual for 2459 "
        "against 1807: 2180–2750 · better than 74 % of games by players of 2459"
    ]
    # A gain known before the score still names the move; sent again it is told no more.
    bare = "1.{}, gain -0.12. Petriashvili, Nikoloz: no perceived rating"
    assert print_changes([*NEW, *plies("e4")], [FIGURE]) == [bare.format("e4")]
    assert print_changes([*NEW, *plies("e4"), FIGURE], [FIGURE]) == []
    again: list[Change] = [*plies("d4"), FIGURE]
    corrected = print_changes([*NEW, *plies("e4"), FIGURE], again)
    assert corrected == ["corrected to 1.d4, was e4", bare.format("d4")]


def test_takebacks_corrections_results_and_ends_are_told_once() -> None:
    over: list[Change] = [
        GameMessage(OVER),
        GameMessage(OVER),
        MoveMessage("g1", 2, None),
    ]
    assert print_changes([*NEW, *plies("e4", "c5")], over) == [
        "1-0",
        OVER.problem,
        "taken back to 1.e4",
    ]
    assert print_changes(NEW, [MoveMessage("g1", 1, None)]) == [
        "taken back to the start"
    ]
    assert print_changes(NEW, [GoneMessage("g1")]) == ["gone from its source"]
    instead = [MoveMessage("g1", 2, PlyView(2, "e5", "e7e5"))]
    taken_back = [*NEW, *plies("e4", "c5"), MoveMessage("g1", 2, None)]
    assert print_changes(taken_back, instead) == ["played 1...e5"]
    # In a game met in its middle, too, it says what was there.
    assert print_changes([GameMessage(detail())], instead) == [
        "corrected to 1...e5, was c5"
    ]


def test_the_last_figure_of_a_finished_game_is_in_the_past() -> None:
    over = replace(VIEW, result="1-0", plies_played=3)
    for view, ply, verb in (
        (over, 3, "played like"),
        (over, 1, "playing like"),
        (replace(over, result="*"), 3, "playing like"),
    ):
        figure = PointMessage("g1", "white", full_point(ply))
        moves = plies("e4", "c5", "Nf3")
        assert (
            f": {verb} 2441 · "
            in print_changes([GameMessage(view), *moves], [figure])[0]
        )


def test_a_feed_is_told_of_when_it_changes() -> None:
    live = HealthMessage((FeedHealth("demo", "live"),), EngineHealth())
    retrying = HealthMessage(
        (FeedHealth("demo", "retrying", "again in 4 s"),), EngineHealth()
    )
    assert print_changes([live, live, retrying]) == [
        "demo live",
        "demo retrying: again in 4 s",
    ]


def test_alerts_are_lines_where_they_are_sent_at_all() -> None:
    text = "Board 3: 0:00\x1b[2J"
    flag = Alert(
        id="f", kind="flag", severity="alarm", text=text, advice="", first_seen_s=1.0
    )
    over = replace(flag, cleared_s=5.0)
    lines = print_changes([AlertMessage(flag), AlertMessage(flag), AlertMessage(over)])
    assert lines == [
        "alert raised !! Board 3: 0:00[2J",
        "alert over !! Board 3: 0:00[2J",
    ]
