"""The incremental position says what python-chess says after replaying the whole game."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.alerts.board_history import PositionTrack

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


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), fen=st.sampled_from(FENS), plies=st.integers(0, 60))
def test_repetition_and_draws_are_those_of_the_whole_game(seed: int, fen: str, plies: int) -> None:
    chance = random.Random(seed)
    board = chess.Board(fen)
    track = PositionTrack(fen, chess960=False)
    moves: list[str] = []
    for _ in range(plies):
        legal = sorted(board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        # Mostly the same few moves, so that positions come back.
        move = legal[chance.randrange(min(3, len(legal)))]
        if chance.random() < 0.05 and moves:
            back = chance.randint(0, len(moves) - 1)
            track.cut(back)
            while len(moves) > back:
                board.pop()
                moves.pop()
            continue
        board.push(move)
        moves.append(move.uci())
        track.follow(moves)
        assert track.board.fen() == board.fen()
        assert (track.times >= 3) == board.is_repetition(3)
        assert (track.times >= 5) == board.is_repetition(5)
        if not board.is_repetition(3):
            assert (track.third_time is not None) == reachable(board)
        assert track.mated == board.is_checkmate()
        over = board.outcome(claim_draw=False)
        assert bool(track.drawn) == (over is not None and over.winner is None)


def test_the_fifth_time_and_no_earlier_the_game_is_drawn() -> None:
    track = PositionTrack(chess.STARTING_FEN, chess960=False)
    moves = ["g1f3", "g8f6", "f3g1", "f6g8"] * 4
    track.follow(moves[:-1])
    assert track.drawn == ""
    track.follow(moves)
    assert track.drawn == "the position has stood five times"
