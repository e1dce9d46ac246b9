"""Moves as texts: which are read, how they are written, and the reason why a text is no
move.
"""

import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.sources.san import UnplayableMove, play_san, shorten_move

PROMOTION = "8/4P1k1/8/8/8/8/6K1/8 w - - 0 1"
EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
TWO_KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1"


def play(
    text: str, fen: str = chess.STARTING_FEN, *, chess960: bool = False
) -> tuple[str, str]:
    return play_san(chess.Board(fen, chess960=chess960), text)


@pytest.mark.parametrize(
    ("text", "fen", "uci", "san"),
    [
        ("e4!?", chess.STARTING_FEN, "e2e4", "e4"),
        ("Nf3+", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("Pe4", chess.STARTING_FEN, "e2e4", "e4"),
        ("Ng1f3", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("e8(Q)", PROMOTION, "e7e8q", "e8=Q"),
        ("e8/Q", PROMOTION, "e7e8q", "e8=Q"),
        ("e8q", PROMOTION, "e7e8q", "e8=Q"),
        ("e7e8n", PROMOTION, "e7e8n", "e8=N+"),
        ("exd6e.p.", EN_PASSANT, "e5d6", "exd6"),
        ("exd6ep", EN_PASSANT, "e5d6", "exd6"),
        ("ed6", EN_PASSANT, "e5d6", "exd6"),
        ("e5:d6", EN_PASSANT, "e5d6", "exd6"),
        ("0-0", CASTLING, "e1g1", "O-O"),
        ("o-o-o", CASTLING, "e1c1", "O-O-O"),
        ("Ra8", CASTLING, "a1a8", "Rxa8+"),
        ("Nb1d2", TWO_KNIGHTS, "b1d2", "Nbd2"),
        ("O\u2013O", CASTLING, "e1g1", "O-O"),
        ("0\u20110\u20110", CASTLING, "e1c1", "O-O-O"),
        ("\u041e-\u041e", CASTLING, "e1g1", "O-O"),
        ("\xa0Ra2 ", CASTLING, "a1a2", "Ra2"),
        ("R\xd7a8\u203c", CASTLING, "a1a8", "Rxa8+"),
        ("♘\ufe0eb1d2", TWO_KNIGHTS, "b1d2", "Nbd2"),
    ],
)
def test_spellings_of_moves_that_python_chess_does_not_know(
    text: str, fen: str, uci: str, san: str
) -> None:
    assert play(text, fen) == (uci, san)


def test_chess960_castling_is_king_to_rook() -> None:
    fen = "4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1"
    assert play("O-O", fen, chess960=True) == ("e1g1", "O-O")
    assert play("O-O-O", fen, chess960=True) == ("e1b1", "O-O-O")
    # In UCI, both notations of castling are read in both variants.
    for chess960, castled in ((False, "e1g1"), (True, "e1h1")):
        for text in ("e1g1", "e1h1"):
            assert play(text, CASTLING, chess960=chess960) == (castled, "O-O")


@pytest.mark.parametrize(
    ("text", "fen", "says"),
    [
        ("Qh9", chess.STARTING_FEN, "illegal move Qh9"),
        ("Qh5", chess.STARTING_FEN, "illegal move Qh5"),
        ("e8=K", PROMOTION, "illegal move e8=K"),
        ("Nd2", TWO_KNIGHTS, "ambiguous move Nd2"),
        ("0000", chess.STARTING_FEN, "null move 0000"),
        ("resigns", chess.STARTING_FEN, "unreadable move resigns"),
        ("Nf3" * 1000, chess.STARTING_FEN, "illegal move Nf3Nf3Nf3Nf3Nf3Nf3Nf3Nf…"),
        ("N\x1b[31mf3", chess.STARTING_FEN, "unreadable move N�[31mf3"),
    ],
)
def test_unplayable_moves_say_why_and_leave_the_board(
    text: str, fen: str, says: str
) -> None:
    board = chess.Board(fen)
    with pytest.raises(UnplayableMove) as caught:
        play_san(board, text)
    assert str(caught.value) == says
    assert board == chess.Board(fen)


def random_boards(seed: int, count: int) -> list[chess.Board]:
    rng = random.Random(seed)
    boards: list[chess.Board] = []
    board = chess.Board()
    while len(boards) < count:
        moves = list(board.legal_moves)
        if not moves or rng.random() < 0.01:
            board = chess.Board()
            if rng.random() < 0.4:
                board = chess.Board.from_chess960_pos(rng.randrange(960))
            continue
        board.push(rng.choice(moves))
        boards.append(board.copy(stack=False))
    return boards


def test_every_legal_move_reads_as_python_chess_writes_it() -> None:
    for board in random_boards(1, 30):
        for move in board.legal_moves:
            for text in (board.san(move), board.lan(move)):
                played = play_san(board.copy(stack=False), text)
                assert played == (move.uci(), board.san(move)), (board.fen(), text)


@given(st.text())
def test_no_move_text_is_too_odd(text: str) -> None:
    try:
        play_san(chess.Board(), text)
    except UnplayableMove as error:
        assert str(error).isprintable()
    assert shorten_move(text).isprintable()
