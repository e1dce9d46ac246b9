"""What a board's row says, in which order, and what has just happened."""

from msgspec.structs import replace

from live.games.game import NewGame
from live.messages.figures import Curves, GameDetail, PlyView
from live.messages.health import FeedHealth
from live.messages.to_clients import (
    GoneMessage,
    MoveMessage,
    PointMessage,
)
from live.screens.terminal.board_rows import (
    RESTORED,
    build_board_matcher,
    build_filter_text,
    find_best_percentile,
    keep_newest_rounds,
    order_boards,
    write_newest_score,
    write_problem,
)
from live.screens.terminal.text import is_early, write_figure
from live.screens.terminal.view_context import NEW_S, RecentChanges
from tests.event.arithmetic import game, line
from tests.event.test_event import ledger
from tests.screens.terminal.sample_boards import detail, full_point, point
from tests.server.world import Clock


def test_a_game_from_before_the_restart_is_marked_until_its_source_sends_it() -> None:
    held = ledger()
    held.apply_step(NewGame(game(moves=line(1, 2, 3))))
    detail = held.game("g1")
    assert detail is not None
    restored = replace(detail, restored=True)
    assert write_problem(detail) == ""
    assert write_problem(restored) == RESTORED
    wrong = replace(restored, problem="illegal move")
    assert write_problem(wrong) == "illegal move"


def test_what_is_early_has_no_percentile_and_is_not_sorted_by() -> None:
    whole = full_point(1)
    early = replace(whole, counted=9, percentile=None)
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
    assert find_best_percentile(game) == 74.0
    assert find_best_percentile(replace(game, curves=Curves(white=(early,)))) is None


def test_a_score_of_an_earlier_move_is_marked() -> None:
    game = detail(provisional=True)
    first, last = game.plies
    assert write_newest_score(game) == ("+0.37~", "")
    unscored = replace(last, score_cp=None, final=False)
    assert write_newest_score(replace(game, plies=(first, unscored))) == (
        "+0.30…",
        "dim",
    )
    # However long ago that was.
    behind = (first, *(replace(unscored, ply=ply) for ply in range(2, 14)))
    assert write_newest_score(replace(game, plies=behind)) == ("+0.30…", "dim")
    assert write_newest_score(replace(game, plies=(unscored,))) == ("·", "")
    assert write_newest_score(replace(game, plies=())) == ("", "")


def boards(*games: GameDetail, alerting: tuple[str, ...] = ()) -> list[str]:
    """Ids in the order of the list of boards."""
    return [game.id for game in order_boards(games, alerting)]


def test_events_that_are_pairings_do_not_come_before_boards() -> None:
    def paired(id: str, board: int, white: str, black: str) -> GameDetail:
        whole = detail(id, board, white=white, black=black)
        return replace(whole, event=f"Round 1: {white} - {black}")

    rows = [paired("a", 2, "Abel", "Bo"), paired("b", 1, "Cid", "Dee")]
    assert boards(*rows) == ["b", "a"]
    assert "Open" in build_filter_text(detail()) and "Round 1" not in build_filter_text(
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
    changes.track_ages_and_silences([], [replace(detail(), id="g2", plies_played=3)])
    clock.now_s += 600
    assert changes.measure_age_s("g2", 3) == (600.0, False)


def test_a_clock_runs_from_the_move_and_stands_while_its_feed_is_silent() -> None:
    clock = Clock()
    changes = RecentChanges(clock)
    live, silent = (FeedHealth("hall", state) for state in ("live", "stale"))
    changes.track_ages_and_silences([live], [])
    # A position that was there before counts from when it is first looked at, however
    # late.
    clock.now_s += 7200
    assert changes.measure_run_s("g1", "hall", 0) == 0.0
    clock.now_s += 3
    assert changes.measure_run_s("g1", "hall", 0) == 3.0
    changes.note([MOVE])
    clock.now_s += 5
    assert changes.measure_run_s("g1", "hall", 1) == 5.0
    changes.track_ages_and_silences([silent], [])
    clock.now_s += 50
    changes.track_ages_and_silences([silent], [])
    assert changes.measure_run_s("g1", "hall", 1) == 5.0
    changes.track_ages_and_silences([live], [])
    assert changes.measure_run_s("g1", "hall", 1) == 55.0
    changes.note([MoveMessage("g1", 2, None)])
    clock.now_s += 2
    assert changes.measure_run_s("g1", "hall", 1) == 2.0
    # Moves that came while we were cut off count from when they are first looked at.
    assert changes.measure_run_s("g1", "hall", 4) == 0.0
    clock.now_s += 7
    assert changes.measure_run_s("g1", "hall", 4) == 7.0
    assert changes.measure_age_s("g1", 4) == (7.0, False)
