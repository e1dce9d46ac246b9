"""The mainline of a game that is sent again and again."""

import chess
import pytest

from live.events import Move, Result, Score
from live.feeds import game_line
from live.feeds.movetext import Movetext
from live.feeds.san import play_san
from tests.feeds.fakes import DATA, sans


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

    monkeypatch.setattr(game_line, "play_san", counted)
    known, parts = Movetext(chess.Board()), GAME.split(b"} ")
    texts = [b"} ".join(parts[:n]) + b"} *" for n in range(1, len(parts) - 1)] + [GAME]
    for ply, text in enumerate(texts, 1):
        assert len(read(text, known=known).moves) == ply
    assert len(played) == len(known.moves) > 120
    assert state(known) == state(read(GAME))
