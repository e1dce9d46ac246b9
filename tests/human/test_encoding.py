import math
from collections.abc import Iterable

import chess
import numpy as np
import pytest

from live.human import network as encoding
from live.human.network import Floats, conditions, pack, planes, reachable, records, shares
from live.human.question import KINDS

POSITIONS = (
    chess.STARTING_FEN,
    "r3k2r/pPppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "rnbqkbnr/pppp1ppp/8/8/3PpP2/8/PPP1P1PP/RNBQKBNR b KQkq f3 0 3",
    "4k3/8/8/8/8/8/p6p/4K3 b - - 12 60",
)


def _record(
    board: chess.Board, elo: tuple[int, int] = (2000, 1800), kind: str = "otb"
) -> encoding.Positions:
    return records([pack(board, board.move_stack[-2:], elo, kind)], [not board.turn])


def _squares(moves: Iterable[chess.Move], board: chess.Board) -> set[int]:
    flip = 0 if board.turn else 56
    return {(m.from_square ^ flip) * 64 + (m.to_square ^ flip) for m in moves}


@pytest.mark.parametrize("fen", POSITIONS)
def test_reachable_moves_are_those_of_the_rules_but_for_the_kings_safety(fen: str) -> None:
    board = chess.Board(fen)
    found = set(np.flatnonzero(reachable(_record(board))[0]).tolist())
    assert _squares(board.legal_moves, board) <= found
    # Castling out of or through attack is the only move of ours that is not pseudo-legal there.
    assert len(found - _squares(board.pseudo_legal_moves, board)) <= 2


@pytest.mark.parametrize("fen", POSITIONS)
def test_attacks_are_counted_by_kind_of_man(fen: str) -> None:
    board = chess.Board(fen)
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    flip = 0 if board.turn else 56
    for side, color in enumerate((board.turn, not board.turn)):
        for square in chess.SQUARES:
            counts = [0] * 6
            for attacker in board.attackers(color, square):
                counts[(board.piece_type_at(attacker) or 0) - 1] += 1
            first = 19 + 6 * side
            assert seen[first : first + 6, square ^ flip].tolist() == counts


@pytest.mark.parametrize("fen", POSITIONS)
def test_squares_that_give_check_are_marked(fen: str) -> None:
    board = chess.Board(fen)
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    flip = 0 if board.turn else 56
    king = board.king(not board.turn)
    assert king is not None
    for kind, plane in ((chess.PAWN, 31), (chess.KNIGHT, 32), (chess.BISHOP, 33), (chess.ROOK, 34)):
        wanted = set()
        for square in set(chess.SQUARES) - {king}:
            trial = board.copy(stack=False)
            trial.set_piece_at(square, chess.Piece(kind, board.turn))
            if king in trial.attacks(square):
                wanted.add(square ^ flip)
        assert set(np.flatnonzero(seen[plane]).tolist()) == wanted


def test_pins_discovered_checks_and_checks_are_marked() -> None:
    board = chess.Board("4k3/4n3/8/7b/4B3/4R3/4K1N1/b7 w - - 0 1")
    board.set_piece_at(chess.F3, chess.Piece.from_symbol("P"))
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    marked = [np.flatnonzero(seen[plane]).tolist() for plane in range(35, 40)]
    assert marked == [[chess.F3], [], [], [], []]
    board = chess.Board("4k3/8/8/8/4B3/4R3/8/4K2r w - - 0 1")
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    marked = [np.flatnonzero(seen[plane]).tolist() for plane in range(35, 39)]
    assert marked == [[], [], [chess.E4], []]
    assert seen[39].all()
    board = chess.Board("4k3/4n3/8/8/8/4R3/8/4K3 b - - 0 1")
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    assert np.flatnonzero(seen[35]).tolist() == [chess.E2]
    board = chess.Board("4r3/8/4n3/8/8/8/8/k3K3 w - - 0 1")
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    assert np.flatnonzero(seen[38]).tolist() == [chess.E6]
    board = chess.Board("4r3/8/4n3/8/8/8/8/k3K3 b - - 0 1")
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    assert np.flatnonzero(seen[37]).tolist() == [chess.E6 ^ 56]


@pytest.mark.parametrize("fen", POSITIONS)
def test_black_sees_the_board_as_white_sees_its_mirror(fen: str) -> None:
    board = chess.Board(fen)
    assert (planes(_record(board)) == planes(_record(board.mirror()))).all()
    assert (conditions(_record(board)) == conditions(_record(board.mirror()))).all()


def test_the_last_two_plies_are_marked_from_the_movers_side() -> None:
    board = chess.Board()
    for uci in ("e2e4", "d7d5", "e4d5"):
        board.push_uci(uci)
    seen = planes(_record(board))[0].reshape(encoding.PLANES, 64)
    marked = [np.flatnonzero(seen[plane]).tolist() for plane in range(14, 18)]
    assert marked == [[chess.E5], [chess.D4], [chess.D2], [chess.D4]]
    fresh = planes(_record(chess.Board()))[0].reshape(encoding.PLANES, 64)
    assert not fresh[14:18].any()


def test_ratings_beyond_those_learned_are_the_nearest_learned() -> None:
    board = chess.Board()
    assert (
        conditions(_record(board, (3300, 400))) == conditions(_record(board, (2800, 1000)))
    ).all()
    assert (
        conditions(_record(board, (2000, 1000))) != conditions(_record(board, (1400, 1000)))
    ).any()


def test_the_kind_of_game_is_given_and_an_unknown_one_rejected() -> None:
    board = chess.Board()
    for number, kind in enumerate(KINDS):
        given = conditions(_record(board, kind=kind))[0, 14:19]
        assert np.flatnonzero(given).tolist() == [number]
    with pytest.raises(ValueError, match="bughouse"):
        _record(board, kind="bughouse")


def _logits(**moves: float) -> Floats:
    given = np.full(4096, 20.0, np.float32)  # high where no legal move is: must not matter
    for uci, logit in moves.items():
        move = chess.Move.from_uci(uci)
        given[move.from_square * 64 + move.to_square] = logit
    return given


def test_shares_are_over_legal_moves_alone_largest_first() -> None:
    board = chess.Board("7k/8/8/8/8/8/8/K7 w - - 0 1")
    given = shares(board, _logits(a1a2=0.0, a1b1=math.log(2), a1b2=math.log(5)))
    assert list(given) == ["a1b2", "a1b1", "a1a2"]
    assert list(given.values()) == pytest.approx([5 / 8, 2 / 8, 1 / 8])


def test_black_reads_the_board_from_its_own_side() -> None:
    board = chess.Board("k7/8/8/8/8/8/8/7K b - - 0 1")
    given = shares(board, _logits(a1a2=0.0, a1b1=math.log(2), a1b2=math.log(5)))
    assert list(given) == ["a8b7", "a8b8", "a8a7"]


def test_a_promotion_is_counted_once_as_a_queen() -> None:
    board = chess.Board("7k/P7/8/8/8/8/8/7K w - - 0 1")
    given = shares(board, np.zeros(4096, np.float32))
    assert sorted(given) == ["a7a8q", "h1g1", "h1g2", "h1h2"]
    assert sum(given.values()) == pytest.approx(1)


def test_no_shares_where_the_game_is_over() -> None:
    assert shares(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), np.zeros(4096, np.float32)) == {}
