"""Finding the place of a position in a game from its pieces alone."""

import random

import chess
from hypothesis import given, settings
from hypothesis import strategies as st

from live.messages.from_sources import Move
from live.sources.placements import (
    count_plies_before,
    find_placement,
    find_position_after,
)


def game(seed: int, plies: int) -> tuple[list[Move], list[chess.Board]]:
    """Return random legal moves, and the positions before and after each."""
    chance, board = random.Random(seed), chess.Board()
    moves: list[Move] = []
    positions = [board.copy()]
    while len(moves) < plies and not board.is_game_over():
        move = chance.choice(list(board.legal_moves))
        moves.append(Move(move.uci(), board.san(move)))
        board.push(move)
        positions.append(board.copy())
    return moves, positions


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(0, 60), st.integers(-5, 2))
def test_a_game_is_found_again_where_its_pieces_stand(
    seed: int, held: int, more: int
) -> None:
    moves, positions = game(seed, held + max(more, 0))
    now = max(min(held + more, len(moves)), 0)
    placed = positions[now].board_fen()
    found = find_placement(chess.STARTING_FEN, moves[: min(held, len(moves))], placed)
    assert found is not None
    board = chess.Board()
    for move in found[0]:
        board.push_uci(move.uci)
    assert board.board_fen() == placed and board.fen() == found[1]


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(10, 60))
def test_who_has_moved_tells_who_is_to_move(seed: int, plies: int) -> None:
    _, positions = game(seed, plies)
    before, now = positions[-2], positions[-1]
    fen = find_position_after(before.board_fen(), now.board_fen())
    if fen is not None:
        # The result is None for en passant, for a check that only one history explains,
        # and for castling after a king's move.
        assert chess.Board(fen).board_fen() == now.board_fen()
        assert chess.Board(fen).turn == now.turn


def test_what_tells_nothing() -> None:
    kings = "4k3/8/8/8/8/8/8/4K3"
    for before, now in (
        ("8/8/8/8/8/8/8/8", "8/8/8/8/8/8/8/8"),
        (kings, kings),
        (kings, "3k4/8/8/8/8/8/8/3K4"),
    ):
        assert find_position_after(before, now) is None
    moves, positions = game(1, 20)
    lifted = positions[-1].copy()
    lifted.remove_piece_at(next(iter(lifted.pieces(chess.PAWN, chess.WHITE))))
    assert find_placement(chess.STARTING_FEN, moves, lifted.board_fen()) is None
    assert (
        count_plies_before(
            chess.STARTING_FEN, moves, chess.Board("8/8/8/4k3/8/8/8/4K3 w - - 0 1")
        )
        is None
    )


def test_where_a_position_came_more_than_once_its_numbers_tell_when() -> None:
    board = chess.Board()
    moves = []
    positions = [board.copy()]
    for san in ["Nf3", "Nf6", "Ng1", "Ng8"] * 2:
        moves.append(Move(board.parse_san(san).uci(), san))
        board.push_san(san)
        positions.append(board.copy())
    found = [
        count_plies_before(chess.STARTING_FEN, moves, position)
        for position in positions
    ]
    assert found == list(range(9))
    # A position set up by hand has no move numbers, so its last occurrence counts.
    assert (
        count_plies_before(
            chess.STARTING_FEN, moves, chess.Board(f"{board.board_fen()} w - - 7 9")
        )
        == 8
    )
