"""Move text, comments, and the mainline of a game that is sent again and again."""

import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Move, Result, Score
from live.feeds import movetext
from live.feeds.movetext import (
    CommentValues,
    Movetext,
    UnplayableMove,
    play_san,
    printable,
    read_comment,
    read_eval,
    read_time_s,
)
from tests.feeds.fakes import DATA, sans

PROMOTION = "8/4P1k1/8/8/8/8/6K1/8 w - - 0 1"
EN_PASSANT = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
TWO_KNIGHTS = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1"


def play(text: str, fen: str = chess.STARTING_FEN, *, chess960: bool = False) -> tuple[str, str]:
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
    # As UCI, both ways of writing it are known in both.
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
def test_unplayable_moves_say_why_and_leave_the_board(text: str, fen: str, says: str) -> None:
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
    for board in random_boards(1, 60):
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
    assert printable(text).isprintable()


# --- comments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        (5397.0, [b"1:29:57"]),
        (918.0, [b"00:15:18"]),
        (178.6, [b"0:02:58.6"]),
        (0.0, [b"0:00:00"]),
        (5400.0, [b"1:30"]),
        (90.0, [b"90"]),
        (360000.0, [b"100:00:00"]),
        (None, [b"-0:00:01", b"1:30.5", b"", b"1:2:3:4", b"9" * 5000]),
    ],
)
def test_clock_forms(seconds: float | None, texts: list[bytes]) -> None:
    assert {read_time_s(text) for text in texts} == {seconds}


@pytest.mark.parametrize(
    ("score", "texts"),
    [
        (Score(23), [b"0.23", b"0.23,18", b"+0.23"]),
        (Score(50), [b".5"]),
        (Score(3900), [b"57.1"]),
        (Score(-3900), [b"-99"]),
        (Score(3900, 3), [b"#3", b"M3"]),
        (Score(-3900, -3), [b"#-3", b"#-3,24"]),
        (Score(3900, 0), [b"#0"]),
        (None, [b"1e5", b"", b"9" * 5000]),
    ],
)
def test_evaluations_are_whites_in_centipawns(score: Score | None, texts: list[bytes]) -> None:
    assert {read_eval(text, white_moved=True) for text in texts} == {score}
    assert read_eval(b"#0", white_moved=False) == Score(-3900, 0)


@pytest.mark.parametrize(
    ("comment", "values"),
    [
        (b"[%emt 1:07.5]", CommentValues(None, 67.5, None)),  # minutes and seconds
        (b"[%clk\n00:15:27] [%emt\n00:00:02]", CommentValues(927.0, 2.0, None)),
        (b" good [%eval 0.17] [%clk 0:00:30][%csl Ge4] move", CommentValues(30.0, None, Score(17))),
        (b"[%clk ?] [%clk 0:00:30] [%clk 0:00:31]", CommentValues(30.0, None, None)),
        (b"a novelty", None),
        (b"[%clk]", None),
    ],
)
def test_commands_in_comments(comment: bytes, values: CommentValues | None) -> None:
    assert read_comment(comment, True) == values


# --- mainline -----------------------------------------------------------------------------------


def read(
    text: bytes, *, whole: bool = True, known: Movetext | None = None, tag: Result = "*"
) -> Movetext:
    movetext = known or Movetext(chess.Board())
    for _ in movetext.read(text, whole=whole, tag=tag):
        pass
    return movetext


@pytest.mark.parametrize(
    "text",
    [
        b"1. e4 e5 2. Nf3 Nc6 *",
        b"1.e4 e5 2.Nf3 Nc6",
        b"1 e4 1... e5 2 Nf3 2 ... Nc6",
        b"1e4 e5 2Nf3 ...Nc6",
        b"e4\ne5\tNf3\nNc6",
        b"1. e4! e5?! 2. Nf3 $1 $14 Nc6$5 +/- \xe2\xa9\xb1 ! += =",
        b"e4 {x}e5{}Nf3{ {( }Nc6",
        b"e4 e5 (Qh8) Nf3 Nc6",
        b"e4 (d4 d5 (e5) {)} 1-0) e5 (c5) (e6 (c6)) Nf3(Nc3)Nc6 (",
        b"e4 e5 ) Nf3 } Nc6 ] [",
        b"e4 ; e5 Nc3 } (\ne5 Nf3 ;\nNc6 ; end",
        b"% e4\ne4 e5\n% Nc3 {\nNf3 Nc6\n%",
        b"e4 (d4 ; )\n% )\n) e5 Nf3 Nc6",
        b"e4 1-0 e5 * Nf3 Nc6 1/2-1/2",
        b"e4 $" + b"9" * 5000 + b" e5 Nf3 Nc6",
        "e4 e5 ♘f3 ♞c6".encode(),
        "1… e4 e5 2…Nf3 Nc6".encode(),
        b"e4 e5 Nf3 N Nc6 TN D",
    ],
)
def test_mainline_survives(text: bytes) -> None:
    assert sans(read(text)) == "e4 e5 Nf3 Nc6"


@pytest.mark.parametrize(
    ("text", "moves", "problem"),
    [
        (b"e4 Qh9 e5 1-0", 1, "illegal move 1...Qh9"),
        (b"e4 e5 Qh6 Nf6 1-0", 2, "illegal move 2.Qh6"),
        (b"1. e4 -- 2. d4 1-0", 1, "null move 1...--"),
        (b"e4 Z0 1-0", 1, "null move 1...Z0"),
        (b"Nf3 Nf6 Ng1 Ng8 d3 d6 Nd2 c6 Nf3 1-0", 8, "ambiguous move 5.Nf3"),
        (b"e4 foo e5 1-0", 1, "unreadable move 1...foo"),
        (b"e4 e5 Nf 1-0", 2, "unreadable move 2.Nf"),
        (b"e4 \xff\xfe1 1-0", 1, "unreadable move 1...ÿþ1"),
        (b"e4 e5 {oops Nf3 1-0", 2, "a comment is never closed after ply 2"),
        (b"e4 (d4 e5 Nf3 1-0", 1, "a variation is never closed after ply 1"),
        (b"e4 (d4 {) e5 Nf3 1-0", 1, "a variation is never closed after ply 1"),
        (b"0-0 1-0", 0, "illegal move 1.0-0"),
    ],
)
def test_problems_keep_the_moves_before_and_the_result(
    text: bytes, moves: int, problem: str
) -> None:
    game = read(text)
    assert (len(game.moves), game.problem, game.result) == (moves, problem, "1-0")


def test_start_position_with_black_to_move() -> None:
    start = chess.Board("4k3/8/8/8/8/8/8/4K3 b - - 0 1")
    game = read(b"1... Kd7 2. Kd2 Kz1", known=Movetext(start))
    assert sans(game) == "Kd7 Kd2"
    assert game.problem == "unreadable move 2...Kz1"


def test_clocks_spent_times_and_evaluations() -> None:
    game = read(
        b"{[%eval 0.2]} 1. e4 {[%clk 1:30:00]} {[%emt 0:00:05]} (d4 {[%clk 0:00:01]}) e5 "
        b"{x} ({[%clk 0:00:02]} c5) {[%eval #-3] [%clk\n0:59:59.5]} 2. Nf3 {[%clk 1:00]} *"
    )
    assert game.start_eval == Score(20)
    assert game.moves == [
        Move("e2e4", "e4", 5400.0, 5.0),
        Move("e7e5", "e5", 3599.5, None, Score(-3900, -3)),
        Move("g1f3", "Nf3", 3600.0),
    ]


@pytest.mark.parametrize(
    ("cut", "moves"),
    [
        (b"1. e4 e", "e4"),
        (b"1. e4 e5", "e4"),
        (b"1. e4 e5 ", "e4 e5"),
        (b"1. e4 e5 2", "e4 e5"),
        (b"1. e4 e5 {", "e4 e5"),
        (b"1. e4 e5 {[%clk 0:0", "e4 e5"),
        (b"1. e4 e5 (2. d", "e4 e5"),
        (b"1. e4 e5;", "e4 e5"),
        (b"1. e4 e5 ; Nf3", "e4 e5"),
    ],
)
def test_what_is_cut_at_the_end_waits(cut: bytes, moves: str) -> None:
    game = read(cut, whole=False)
    assert (sans(game), game.problem) == (moves, None)


def test_castling_cut_short_is_not_castled_and_a_double_forfeit_is_none() -> None:
    start = b"e4 e5 Nf3 Nf6 Bc4 Bc5 O-O d6 d3 Bg4 Nc3 Nc6 Be3 Qd7 Re1 O-O"
    assert len(read(start, whole=False).moves) == 15
    for whole in (False, True):
        game = read(start, whole=whole)
        assert read(start + b"-O *", known=game).moves[-1].san == "O-O-O"
    forfeited = read(b"e4 0-0", tag="0-0")
    assert (forfeited.result, forfeited.problem) == ("0-0", None)


def test_other_variants_are_only_read_for_their_result() -> None:
    game = Movetext(chess.Board(), playable=False)
    game = read(b"P@e4 e5 ( x 0-1", known=game)
    assert (game.moves, game.problem, game.result) == ([], None, "0-1")


def state(game: Movetext) -> tuple[object, ...]:
    return (game.moves, game.result, game.problem, game.start_eval)


GAME = (DATA / "lichess-open-2025.pgn").read_bytes().split(b"\n\n")[1].strip()


def test_a_game_resent_at_every_move_is_played_once(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def counted(board: chess.Board, text: str) -> tuple[str, str]:
        played.append(text)
        return play_san(board, text)

    monkeypatch.setattr(movetext, "play_san", counted)
    known, parts = Movetext(chess.Board()), GAME.split(b"} ")
    texts = [b"} ".join(parts[:n]) + b"} *" for n in range(1, len(parts) - 1)] + [GAME]
    for ply, text in enumerate(texts, 1):
        assert len(read(text, known=known).moves) == ply
    assert len(played) == len(known.moves) > 120
    assert state(known) == state(read(GAME))
