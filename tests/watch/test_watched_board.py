"""What is remembered of a board: its position, as python-chess has it after replaying
the game, and its clocks, of which corrections leave no trace.
"""

import itertools
import random
from collections.abc import Hashable

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.messages.from_sources import FeedReport, GameReport, Headers, Move, Player
from live.watch.board_alerts import find_board_alerts
from live.watch.played_position import DRAWS_WITHOUT_CLAIM, PlayedPosition
from live.watch.player_clock import (
    SideClock,
    read_increment_s,
    read_side_clock,
    read_time_controls,
)
from live.watch.watched_board import WatchedBoard
from tests.watch.replayed_event import START, START_S, Rehearsal

#: Few pieces and no pawns that could end the shuffling: repetitions come by themselves.
FENS = [
    chess.STARTING_FEN,
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "8/8/8/4k3/8/8/4K3/R7 w - - 90 80",
    "4k3/8/8/2pP4/8/8/8/4K3 w - c6 0 1",
]


def reachable(board: chess.Board) -> bool:
    """By replaying the game for every move."""
    for move in board.legal_moves:
        if board.is_zeroing(move):
            continue
        board.push(move)
        third = board.is_repetition(3)
        board.pop()
        if third:
            return True
    return False


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), fen=st.sampled_from(FENS), plies=st.integers(0, 60))
def test_repetition_and_draws_are_those_of_the_whole_game(
    seed: int, fen: str, plies: int
) -> None:
    chance = random.Random(seed)
    board = chess.Board(fen)
    moves: list[str] = []
    for _ in range(plies):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        # Mostly the same few moves, so that positions come back.
        move = legal[chance.randrange(min(3, len(legal)))]
        board.push(move)
        moves.append(move.uci())
        position = PlayedPosition(fen, moves)
        assert position.board.fen() == board.fen()
        assert (position.times >= 3) == board.is_repetition(3)
        assert (position.times >= 5) == board.is_repetition(5)
        if not board.is_repetition(3):
            assert (position.move_to_third_occurrence is not None) == reachable(board)
        over = board.outcome(claim_draw=False)
        assert position.ending == (over and over.termination)
        assert (position.ending in DRAWS_WITHOUT_CLAIM) == (
            over is not None and over.winner is None
        )


def test_a_move_of_a_long_game_costs_what_a_move_of_a_short_one_costs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Moves are not played again, and repetitions not counted again, for every ply."""
    keyed = 0
    build_key = PlayedPosition._build_key

    def counting(self: PlayedPosition) -> Hashable:
        nonlocal keyed
        keyed += 1
        return build_key(self)

    monkeypatch.setattr(PlayedPosition, "_build_key", counting)
    hall = Rehearsal()
    costs = []
    for plies in range(1, 401):
        hall.now_s = START_S + plies
        before = keyed
        board = board_with(hall, *(5400.0,) * plies)
        list(find_board_alerts(board, hall.now_s))
        costs.append(keyed - before)
    assert max(costs[300:]) <= max(costs[:40])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), fen=st.sampled_from(FENS))
def test_what_ended_a_game_stands_though_it_goes_on(seed: int, fen: str) -> None:
    """The first ending that python-chess sees."""
    chance = random.Random(seed)
    board, position = chess.Board(fen), PlayedPosition(fen)
    first: tuple[int, chess.Termination] | None = None
    for ply in range(1, 120):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        move = legal[chance.randrange(min(3, len(legal)))]
        board.push(move)
        position.play(move.uci())
        over = board.outcome(claim_draw=False)
        if over is not None and first is None:
            first = ply, over.termination
        assert position.end == first


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("90+30", 30.0),
        ("40/5400+30:1800+30", 30.0),
        ("180+2", 2.0),
        ("300", 0.0),
        ("15 min/game + 10 sec/move", 10.0),
        ("90 min/40 moves + 30 min + 30 sec/move", 30.0),
        ("90 min + 30 min", None),
        ("G/90;+30", 30.0),
        ("5700+30 (a)", 30.0),
        ("1 day", None),
        ("90:30", None),
        ("40/7200:20/3600:900", 0.0),
        ("", None),
    ],
)
def test_what_a_time_control_adds(text: str, seconds: float | None) -> None:
    assert read_increment_s(text) == seconds


@pytest.mark.parametrize(
    "text, moves",
    [
        ("40/7200:20/3600:900+30", (40, 60)),
        ("40/5400+30:1800+30", (40,)),
        ("40/90+30,30+30", (40,)),
        ("40/90+30/30+30", (40,)),
        ("100/40+50/20+15+30", (40, 60)),
        ("90 + 30/40 + 30", (40,)),
        ("90 min/40 moves + 30 min + 30 sec/move", (40,)),
        ("90min/40moves + 30min + 30sec/move", (40,)),
        ("40 moves in 2 h, then 20 moves in 1 h, 15 min + 30 s", (40, 60)),
        ("2h/40 + 1h/20 + 15m", (40, 60)),
        ("90 min, 30 min after move 40", (40,)),
        ("40/120, SD/60", (40,)),
        ("90+30", ()),
        ("45/45", ()),
        # Minutes and seconds a move, as some write them.
        *((text, ()) for text in ("15/10", "25/10", "60/10", "90/30")),
        ("G/90+30", ()),
        ("15 min/game + 10 sec/move", ()),
        ("1/86400", ()),
        ("180+2", ()),
        ("", ()),
    ],
)
def test_after_which_moves_a_time_control_gives_more_time(
    text: str, moves: tuple[int, ...]
) -> None:
    assert read_time_controls(text) == moves


def test_a_last_period_for_a_number_of_moves_repeats() -> None:
    assert read_time_controls("40/7200:20/3600")[:4] == (40, 60, 80, 100)
    assert read_time_controls("40/9000")[:2] == (40, 80)


def white(*clocks: float) -> SideClock:
    """White's clock, which has shown these."""
    return read_side_clock(list(zip(itertools.count(1, 2), clocks, strict=False)), 30.0)


@pytest.mark.parametrize(
    ("before_s", "after_s", "own_move", "rises"),
    [
        (2000.0, 2900.0, 20, 1),
        (2000.0, 3900.0, 40, 0),  # 30 minutes after 40 moves
        (2000.0, 3900.0, 38, 1),
        (2000.0, 3900.0, 39, 0),  # counted one move early
        (2000.0, 3900.0, 41, 0),
        (2000.0, 3900.0, 42, 1),
        (12.0, 1815.0, 33, 0),  # the clock counts no moves
        (2000.0, 2065.0, 20, 0),  # read a little late
    ],
)
def test_the_second_period_is_no_rise_and_a_quarter_of_an_hour_is(
    before_s: float, after_s: float, own_move: int, rises: int
) -> None:
    ply = 2 * own_move - 1
    shown = read_side_clock([(1, 5400.0), (ply - 2, before_s), (ply, after_s)], 30.0)
    assert [each.ply for each in shown.rises] == [ply] * rises


@pytest.mark.parametrize(
    ("plies_before", "own_move", "rises"), [(0, 10, 1), (60, 10, 0), (120, 10, 1)]
)
def test_moves_are_counted_from_the_beginning_and_not_from_a_late_position(
    plies_before: int, own_move: int, rises: int
) -> None:
    """A game that is followed from move 31 on reaches the control at its tenth move."""
    ply = 2 * own_move - 1
    readings = [(1, 3000.0), (ply - 2, 2000.0), (ply, 3900.0)]
    shown = read_side_clock(readings, 30.0, (40,), plies_before=plies_before)
    assert [each.ply for each in shown.rises] == [ply] * rises
    assert not shown.time_to_come


def test_a_clock_that_shows_the_same_second_or_gets_its_increment_for_nothing() -> None:
    still = [5000.0] * 4
    assert white(*still).unmoved == 0
    assert white(*still, 5000.0).unmoved == 4
    assert white(*still, 5000.0, 4970.0).unmoved == 0
    assert white(*(5400.0 + 30 * move for move in range(8))).unmoved == 7
    assert white(*(300.0,) * 10).unmoved == 0 < white(*(300.0,) * 11).unmoved, (
        "a fast game"
    )


def test_a_board_s_clocks_are_those_of_the_moves_that_stand() -> None:
    """Clocks corrected, moves taken back and played again."""
    hall = Rehearsal()
    for clocks, shown in (
        ((5400.0, 5300.0, 5200.0), (5200.0, 5300.0)),
        ((5400.0, 5300.0, 5100.0, None), (5100.0, 5300.0)),
        ((5400.0,), (5400.0, None)),
        ((5400.0, 5000.0), (5400.0, 5000.0)),
    ):
        board = board_with(hall, *clocks)
        assert (
            board.read_clock("white").clock_s,
            board.read_clock("black").clock_s,
        ) == shown


def board_with(hall: Rehearsal, *clocks: float | None) -> WatchedBoard:
    """A board as it is watched when it has been reported with these clocks."""
    moves = tuple(
        Move(*MOVES[ply % 4], clock_s=clock_s) for ply, clock_s in enumerate(clocks)
    )
    headers = Headers(Player("White"), Player("Black"), time_control="90+30")
    hall.report(FeedReport("hall", (GameReport("1", headers, START, moves),)))
    (board,) = hall.desk._watched.boards.values()
    return board


MOVES = (("g1f3", "Nf3"), ("g8f6", "Nf6"), ("f3g1", "Ng1"), ("f6g8", "Ng8"))
