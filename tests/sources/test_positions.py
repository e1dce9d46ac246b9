"""Games that are sent as lists of moves, or position by position."""

import random
from collections.abc import Iterable

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.process.loop_slices import run_without_pause
from live.sources.game_line import MAX_PLIES, GameLine, ListedMove
from live.sources.position_tracker import PositionTracker, read_fen
from tests.sources.fakes import DATA, decode

START = chess.Board()


def listed(start: chess.Board, *texts: str) -> GameLine:
    moves = GameLine(start)
    run_without_pause(moves.play_moves(map(ListedMove, texts)))
    return moves


def test_san_and_uci_are_both_moves_and_illegal_ones_end_the_game_there() -> None:
    moves = listed(START, "e4", "e7e5", "Ng1-f3", "b8c6", "Qh7", "d6")
    assert [move.uci for move in moves.moves] == ["e2e4", "e7e5", "g1f3", "b8c6"]
    assert [move.san for move in moves.moves] == ["e4", "e5", "Nf3", "Nc6"]
    assert moves.problem == "illegal move 3.Qh7"
    run_without_pause(
        moves.play_moves(map(ListedMove, ("e4", "e7e5", "Ng1-f3", "b8c6", "Bb5")))
    )
    assert len(moves.moves) == 5
    assert moves.problem is None


def test_corrected_clocks_and_another_start() -> None:
    moves = GameLine()
    run_without_pause(
        moves.play_moves([ListedMove("e4", 90.0), ListedMove("e5", 80.0)])
    )
    run_without_pause(
        moves.play_moves([ListedMove("e4", 91.0, 2.0), ListedMove("e5", 80.0)])
    )
    assert [(move.clock_s, move.spent_s) for move in moves.moves] == [
        (91, 2),
        (80, None),
    ]
    for chess960, castling in ((False, "e1g1"), (True, "e1h1")):
        start = chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1", chess960=chess960)
        run_without_pause(moves.play_moves([ListedMove("O-O")], start))
        assert [move.uci for move in moves.moves] == [castling]


def test_moves_beyond_any_game_are_left_out() -> None:
    shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"] * (MAX_PLIES // 4 + 1)
    assert len(listed(START, *shuffle).moves) == MAX_PLIES


GAME = max(
    decode((DATA / "lichess-open-2025.pgn").read_bytes()), key=lambda g: len(g.moves)
)


def positions() -> list[tuple[chess.Board, str, str]]:
    """Return each position of a real game, with the move that led to it in SAN and in
    UCI.
    """
    board = chess.Board()
    found = [(board.copy(), "", "")]
    for move in GAME.moves:
        board.push_uci(move.uci)
        found.append((board.copy(stack=False), move.san, move.uci))
    return found


ALL = positions()
UCI = [move.uci for move in GAME.moves]


def tracked(plies: Iterable[int], spelling: int = 1) -> PositionTracker:
    """Return a game that was seen at these plies. Each position comes with its move as
    SAN (1), as UCI (2), or without its move (0).
    """
    game = PositionTracker()
    for ply in plies:
        told = ALL[ply]
        game.track_position(
            told[0], str(told[spelling]) if spelling else "", 1000.0 - ply, 2000.0 - ply
        )
    return game


def ucis(game: PositionTracker) -> list[str]:
    return [move.uci for move in game.moves]


@pytest.mark.parametrize("spelling", [0, 1, 2])
def test_a_game_told_position_by_position(spelling: int) -> None:
    game = tracked(range(len(ALL)), spelling)
    assert ucis(game) == UCI
    assert [move.clock_s for move in game.moves[:3]] == [999, 1998, 997]


@pytest.mark.parametrize(
    ("plies", "start", "moves", "number"),
    [
        (range(0, 40, 2), 0, UCI[:38], 1),  # missed positions are reconstructed
        ([*range(12), 11, 9, 10, 11, 12], 0, UCI[:12], 1),  # takebacks and repeats
        (range(30, 40), 30, UCI[30:39], 1),  # first seen late, the game begins there
        ([*range(10), 30, 31, 32], 30, UCI[30:32], 1),  # a gap that is too large
        ([*range(10), *range(5)], 0, UCI[:4], 2),  # pieces set back begin the next game
    ],
)
@pytest.mark.parametrize("spelling", [0, 1])
def test_what_was_missed_taken_back_or_begun_anew(
    plies: Iterable[int], start: int, moves: list[str], number: int, spelling: int
) -> None:
    game = tracked(plies, spelling)
    assert (game.start_fen, ucis(game), game.number) == (
        ALL[start][0].fen(),
        moves,
        number,
    )


def test_a_move_that_cannot_be_read_costs_the_moves_before_it_nothing() -> None:
    game = tracked(range(12))
    before = list(game.moves)
    game.track_position(ALL[12][0], "Ke9")
    assert ucis(game) == UCI[:12]
    assert game.moves[:-1] == before


def test_a_corrected_move_takes_the_place_of_the_wrong_one() -> None:
    game = tracked(range(13))
    wrong = ALL[12][0].copy()
    slip = next(move for move in wrong.legal_moves if move.uci() != UCI[12])
    san = wrong.san(slip)
    wrong.push(slip)
    game.track_position(wrong, san)
    assert ucis(game)[-1] == slip.uci()
    game.track_position(ALL[13][0], ALL[13][1])
    assert ucis(game) == UCI[:13]


@pytest.mark.parametrize("move", ["", "e4", "Qxf7"])
def test_pieces_in_the_air_cost_a_long_game_a_few_looks_at_its_moves(
    move: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = [
        "e2e4",
        "e7e5",
        "d1h5",
        "d8h4",
        "f1c4",
        "f8c5",
        "b1c3",
        "b8c6",
        "d2d3",
        "d7d6",
    ]
    line = opened + ["g1f3", "g8f6", "f3g1", "f6g8"] * 40
    game = PositionTracker(START)
    assert all(game.play_move(each) for each in line)
    now, pushed = game.board.copy(), 0
    for square in ("a2", "b2", "c1", "c3", "c4", "h5", "a8"):
        now.remove_piece_at(chess.parse_square(square))
    push = chess.Board.push

    def counted(board: chess.Board, move: chess.Move) -> None:
        nonlocal pushed
        pushed += 1
        push(board, move)

    monkeypatch.setattr(chess.Board, "push", counted)
    assert not game.try_resume_at(now, move)
    assert ucis(game) == line
    assert pushed < 12 * len(line)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w",
        "x",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 e4",
        "k" * 200,
    ],
)
def test_what_is_no_position(text: str) -> None:
    assert read_fen(text) is None


def test_a_fen_may_end_early_and_tell_chess960() -> None:
    board = read_fen("4k3/8/8/8/8/8/8/4K3 b")
    assert board is not None and board.turn == chess.BLACK and not board.chess960
    board = read_fen("4k3/8/8/8/8/8/8/1R2K3 w B - 0 1")
    assert board is not None and board.chess960


@settings(max_examples=50)
@given(st.lists(st.integers(0, len(ALL) - 1), max_size=12), st.integers(0, 2**32))
def test_law_whatever_came_before_the_last_position_is_held(
    plies: list[int], seed: int
) -> None:
    chance, game = random.Random(seed), PositionTracker()
    for ply in [*plies, len(ALL) - 1]:
        board, san, uci = ALL[ply]
        game.track_position(board, chance.choice([san, uci, "", "Ke9"]))
        held = chess.Board(game.start_fen)
        for move in game.moves:
            held.push_uci(move.uci)
        assert held.board_fen() == board.board_fen()
