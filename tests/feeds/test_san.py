from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.feeds.movetext import MoveReader, UnplayableMove, printable

PROMOTION = "8/4P1k1/8/8/8/8/6K1/8 w - - 0 1"
EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
TWO_KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1"


def play(text: str, fen: str = chess.STARTING_FEN, *, chess960: bool = False) -> tuple[str, str]:
    return MoveReader(chess.Board(fen, chess960=chess960)).play_san(text)


@pytest.mark.parametrize(
    ("text", "fen", "uci", "san"),
    [
        ("e4", chess.STARTING_FEN, "e2e4", "e4"),
        ("Nf3", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("e4!?", chess.STARTING_FEN, "e2e4", "e4"),
        ("Nf3+", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("e2e4", chess.STARTING_FEN, "e2e4", "e4"),
        ("e2-e4", chess.STARTING_FEN, "e2e4", "e4"),
        ("Pe4", chess.STARTING_FEN, "e2e4", "e4"),
        ("Ng1-f3", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("Ng1f3", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("g1f3", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("Ngf3", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("♘f3", chess.STARTING_FEN, "g1f3", "Nf3"),
        ("e8Q", PROMOTION, "e7e8q", "e8=Q"),
        ("e8=Q", PROMOTION, "e7e8q", "e8=Q"),
        ("e8(Q)", PROMOTION, "e7e8q", "e8=Q"),
        ("e8/Q", PROMOTION, "e7e8q", "e8=Q"),
        ("e8q", PROMOTION, "e7e8q", "e8=Q"),
        ("e7e8n", PROMOTION, "e7e8n", "e8=N+"),
        ("e8N", PROMOTION, "e7e8n", "e8=N+"),
        ("exd6", EN_PASSANT, "e5d6", "exd6"),
        ("exd6e.p.", EN_PASSANT, "e5d6", "exd6"),
        ("exd6ep", EN_PASSANT, "e5d6", "exd6"),
        ("ed6", EN_PASSANT, "e5d6", "exd6"),
        ("e5:d6", EN_PASSANT, "e5d6", "exd6"),
        ("O-O", CASTLING, "e1g1", "O-O"),
        ("0-0", CASTLING, "e1g1", "O-O"),
        ("o-o-o", CASTLING, "e1c1", "O-O-O"),
        ("0-0-0!", CASTLING, "e1c1", "O-O-O"),
        ("Ra8", CASTLING, "a1a8", "Rxa8+"),
        ("Rxa8", CASTLING, "a1a8", "Rxa8+"),
        ("Nbd2", TWO_KNIGHTS, "b1d2", "Nbd2"),
        ("N1d2", TWO_KNIGHTS, "b1d2", "Nbd2"),
        ("Nb1d2", TWO_KNIGHTS, "b1d2", "Nbd2"),
        ("Qh5", "rnbqkbnr/ppppp2p/8/5pp1/4P3/2N5/PPPP1PPP/R1BQKBNR w KQkq - 0 3", "d1h5", "Qh5#"),
    ],
)
def test_spellings(text: str, fen: str, uci: str, san: str) -> None:
    assert play(text, fen) == (uci, san)


def test_chess960_castling_is_king_to_rook() -> None:
    fen = "4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1"
    assert play("O-O", fen, chess960=True) == ("e1g1", "O-O")
    assert play("O-O-O", fen, chess960=True) == ("e1b1", "O-O-O")


@pytest.mark.parametrize(
    ("text", "fen", "says"),
    [
        ("Qh9", chess.STARTING_FEN, "illegal move Qh9"),
        ("Qh5", chess.STARTING_FEN, "illegal move Qh5"),
        ("e5", chess.STARTING_FEN, "illegal move e5"),
        ("O-O", chess.STARTING_FEN, "illegal move O-O"),
        ("e8", PROMOTION, "illegal move e8"),
        ("e8=K", PROMOTION, "illegal move e8=K"),
        ("Nd2", TWO_KNIGHTS, "ambiguous move Nd2"),
        ("--", chess.STARTING_FEN, "null move --"),
        ("Z0", chess.STARTING_FEN, "null move Z0"),
        ("0000", chess.STARTING_FEN, "null move 0000"),
        ("resigns", chess.STARTING_FEN, "unreadable move resigns"),
        ("Nf3" * 1000, chess.STARTING_FEN, "illegal move Nf3Nf3Nf3Nf3Nf3Nf3Nf3Nf…"),
        ("N\x1b[31mf3", chess.STARTING_FEN, "unreadable move N�[31mf3"),
    ],
)
def test_unplayable_moves_say_why_and_leave_the_board(text: str, fen: str, says: str) -> None:
    mover = MoveReader(chess.Board(fen))
    with pytest.raises(UnplayableMove) as caught:
        mover.play_san(text)
    assert str(caught.value) == says
    assert mover.board == chess.Board(fen)


def test_pinned_pieces_do_not_move() -> None:
    # Both knights reach d4, but the one on e2 is pinned: no letter is needed for the other.
    fen = "4r1k1/8/8/8/8/1N6/4N3/4K3 w - - 0 1"
    assert play("Nd4", fen) == ("b3d4", "Nd4")
    with pytest.raises(UnplayableMove, match="illegal move"):
        play("Ned4", fen)


def test_uci_moves_get_their_san() -> None:
    mover = MoveReader(chess.Board(CASTLING))
    assert mover.play_uci("e1g1") == ("e1g1", "O-O")
    assert MoveReader(chess.Board(CASTLING)).play_uci("e1h1") == ("e1g1", "O-O")
    for text in ("e1e3", "0000", "x", "", "e7e8k"):
        with pytest.raises(UnplayableMove):
            mover.play_uci(text)


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


@pytest.mark.slow
def test_every_legal_move_reads_as_python_chess_writes_it() -> None:
    for board in random_boards(1, 400):
        for move in board.legal_moves:
            for text in (board.san(move), board.lan(move)):
                played = MoveReader(board.copy(stack=False)).play_san(text)
                assert played == (move.uci(), board.san(move)), (board.fen(), text)


_BOARDS = random_boards(2, 500)


@pytest.mark.slow
@settings(max_examples=1500)
@given(
    st.sampled_from(_BOARDS),
    st.from_regex(r"[KQRBN]?[a-h]?[1-8]?[x-]?[a-h][1-8](=?[QRBNKqrbnk])?[+#]?", fullmatch=True),
)
def test_what_parse_san_takes_is_taken_and_what_it_refuses_is_refused(
    board: chess.Board, text: str
) -> None:
    try:
        expected = board.parse_san(text).uci()
    except ValueError:
        expected = None
    mover = MoveReader(board.copy(stack=False))
    try:
        found = mover.play_san(text)[0]
    except UnplayableMove:
        found = None
        assert mover.board == board
    assert found == expected


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    mover = MoveReader(chess.Board())
    try:
        mover.play_san(text)
    except UnplayableMove as error:
        assert str(error).isprintable()
    assert printable(text).isprintable()
