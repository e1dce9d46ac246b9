from __future__ import annotations

import time
from pathlib import Path

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Move, Score
from live.feeds.movetext import Movetext
from live.feeds.movetext import _common_prefix as common_prefix

DATA = Path(__file__).parents[2] / "data"


def new(
    start: chess.Board | None = None, *, max_plies: int = 1200, max_comment_bytes: int = 8192
) -> Movetext:
    return Movetext(
        start or chess.Board(), max_plies=max_plies, max_comment_bytes=max_comment_bytes
    )


def read(
    text: bytes,
    *,
    whole: bool = True,
    start: chess.Board | None = None,
    known: Movetext | None = None,
) -> Movetext:
    movetext = known or new(start)
    movetext.begin(text, whole=whole)
    while not movetext.done:
        movetext.advance(50)
    return movetext


def sans(text: bytes, *, whole: bool = True) -> str:
    return " ".join(move.san for move in read(text, whole=whole).moves)


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
        b"P-K4 e4",
        b"e4 1-0 e5 * Nf3 Nc6 1/2-1/2",
        b"e4 $" + b"9" * 5000 + b" e5 Nf3 Nc6",
        "e4 e5 ♘f3 ♞c6".encode(),
        "1… e4 e5 2…Nf3 Nc6".encode(),
        b"e4 e5 Nf3 N Nc6 TN D",
    ],
)
def test_mainline_survives(text: bytes) -> None:
    expected = "" if text.startswith(b"P-K4") else "e4 e5 Nf3 Nc6"
    assert sans(text) == expected


@pytest.mark.parametrize(
    ("text", "moves", "problem"),
    [
        (b"e4 Qh9 e5 1-0", 1, "illegal move Qh9 at ply 2 (1...)"),
        (b"e4 e5 Qh6 Nf6 1-0", 2, "illegal move Qh6 at ply 3 (2.)"),
        (b"1. e4 -- 2. d4 1-0", 1, "null move -- at ply 2 (1...)"),
        (b"e4 Z0 1-0", 1, "null move Z0 at ply 2 (1...)"),
        (b"Nf3 Nf6 Ng1 Ng8 d3 d6 Nd2 c6 Nf3 1-0", 8, "ambiguous move Nf3 at ply 9 (5.)"),
        (b"e4 foo e5 1-0", 1, "unreadable move foo at ply 2 (1...)"),
        (b"e4 e5 Nf 1-0", 2, "unreadable move Nf at ply 3 (2.)"),
        (b"e4 \xff\xfe1 1-0", 1, "unreadable move ÿþ1 at ply 2 (1...)"),
        (b"e4 e5 {oops Nf3 1-0", 2, "a comment is never closed after ply 2"),
        (b"e4 (d4 e5 Nf3 1-0", 1, "a variation is never closed after ply 1"),
        (b"e4 (d4 {) e5 Nf3 1-0", 1, "a variation is never closed after ply 1"),
        (b"0-0 1-0", 0, "illegal move 0-0 at ply 1 (1.)"),
    ],
)
def test_problems_keep_the_moves_before_and_the_result(
    text: bytes, moves: int, problem: str
) -> None:
    game = read(text)
    assert (len(game.moves), game.problem, game.result) == (moves, problem, "1-0")


def test_start_position_with_black_to_move() -> None:
    game = read(b"1... Kd7 2. Kd2 Kz1", start=chess.Board("4k3/8/8/8/8/8/8/4K3 b - - 0 1"))
    assert [move.uci for move in game.moves] == ["e8d7", "e1d2"]
    assert game.problem == "unreadable move Kz1 at ply 3 (2...)"


def test_plies_are_bounded() -> None:
    game = new(max_plies=4)
    game.begin(b"Nf3 Nf6 Ng1 Ng8 Nf3 Nf6 1-0", whole=True)
    game.advance(100)
    assert (len(game.moves), game.problem, game.result) == (4, "more than 4 plies", "1-0")


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


def test_mate_score_of_a_finished_game() -> None:
    game = read(b"f3 e5 g4 Qh4# {[%eval #0]} 0-1")
    assert game.moves[-1].eval == Score(-3900, 0)


def test_commands_deep_in_a_comment_are_not_looked_for() -> None:
    game = new(max_comment_bytes=100)
    game.begin(b"e4 {" + b"x" * 200 + b"[%clk 0:00:01]} e5 {[%clk 0:00:02]}", whole=True)
    game.advance(100)
    assert [move.clock_s for move in game.moves] == [None, 2.0]


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
    assert (" ".join(move.san for move in game.moves), game.problem) == (moves, None)


def test_castling_cut_short_is_not_castled() -> None:
    start = b"e4 e5 Nf3 Nf6 Bc4 Bc5 O-O d6 d3 Bg4 Nc3 Nc6 Be3 Qd7 Re1 O-O"
    assert len(read(start, whole=False).moves) == 15
    assert read(start + b"-O *", whole=False).moves[-1].san == "O-O-O"
    game = read(start, whole=False)
    assert read(start + b"-O *", known=game).moves[-1].san == "O-O-O"
    game = read(start, whole=True)
    assert read(start + b"-O *", known=game).moves[-1].san == "O-O-O"


def test_double_forfeit_is_no_castling() -> None:
    game = new()
    game.begin(b"e4 0-0", whole=True, tag="0-0")
    game.advance(10)
    assert (game.result, game.problem) == ("0-0", None)


def test_other_variants_are_only_read_for_their_result() -> None:
    game = Movetext(chess.Board(), max_plies=9, max_comment_bytes=9, playable=False)
    game.begin(b"P@e4 e5 ( x 0-1", whole=True)
    game.advance(10)
    assert (game.moves, game.problem, game.result) == ([], None, "0-1")


# --- reading again ------------------------------------------------------------------------------


def state(game: Movetext) -> tuple[object, ...]:
    return (game.moves, game.result, game.problem, game.start_eval)


GAME = (DATA / "lichess-open-2025.pgn").read_bytes().split(b"\n\n")[1].strip()


def resends(text: bytes) -> list[bytes]:
    """The movetext after each move, as lichess sends it."""
    parts = text.split(b"} ")
    return [b"} ".join(parts[:n]) + b"} *" for n in range(1, len(parts) - 1)] + [text]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"1. e4 *", b"1. e4 e5 *"),
        (b"1. e4 *", b"1. e4 {[%clk 0:01:00]} *"),
        (b"1. e4 {[%clk 0:01:00]} *", b"1. e4 {[%clk 0:01:01]} e5 *"),
        (b"1. e4 {[%clk 0:01:00]} e5 *", b"1. e4 {[%clk 0:01:09]} e5 *"),
        (b"1. e4 {[%clk 0:01:00]} *", b"1. e4 *"),
        (b"1. e4 * {[%clk 0:01:00]}", b"1. e4 * {[%clk 0:02:00]}"),
        (b"1. e4 e5 2. Nf3 *", b"1. e4 e5 *"),
        (b"1. e4 e5 2. Nf3 *", b"1. e4 c5 2. Nf3 d6 *"),
        (b"1. e4 e5 2. Nf3 Nc6 *", b"1. d4 *"),
        (b"{[%eval 0.1]} e4 *", b"{[%eval 0.2]} e4 *"),
        (b"{[%eval 0.1]} *", b"*"),
        (b"1. e4 Qh9 *", b"1. e4 Qh4 *"),
        (b"1. e4 Qh9 *", b"1. e4 Qh9 2. d4 1-0"),
        (b"1. e4 e5 1-0", b"1. e4 e5 2. Nf3 *"),
        (b"1. e4 1-0 e5 *", b"1. e4 0-1 e5 *"),
        (b"1. e4 (d4 *", b"1. e4 (d4) e5 *"),
        (b"1. e4 {x *", b"1. e4 {x} e5 *"),
        (b"1. e4 ; x", b"1. e4 ; xe5\ne5"),
        (b"1. e4 ; x\n*", b"1. e4 ; x e5\n*"),
        (b"1. e4 e5 2. Nf3 Nc6 3. Bb5 *", b"1.e4 e5 2.Nf3 Nc6 3.Bb5 a6 *"),
        (b"1. e4 e5 2. Nf3", b"1. e4 e5 2. Nf3+ Nc6"),
        (b"1. e4 e5$1", b"1. e4 e5$12 Nf3"),
        (b"", b"e4"),
        (b"e4", b""),
    ],
)
def test_text_that_changes_reads_as_if_new(before: bytes, after: bytes) -> None:
    for whole in (True, False):
        game = read(before, whole=whole)
        assert state(read(after, known=game)) == state(read(after))
        assert state(read(before, known=game, whole=whole)) == state(read(before, whole=whole))


def test_a_game_resent_at_every_move_is_read_once() -> None:
    known = new()
    tokens = 0
    texts = resends(GAME)
    assert len(texts) > 120
    for ply, text in enumerate(texts, 1):
        known.begin(text, whole=True)
        tokens += 1000 - known.advance(1000)
        assert known.done and len(known.moves) == ply
    assert state(known) == state(read(GAME))
    assert tokens <= 5 * len(texts)


def test_a_clock_corrected_early_costs_no_look_at_the_board() -> None:
    known = read(GAME)
    board = known._mover.board
    after = GAME.replace(b"[%clk 1:3", b"[%clk 1:2", 1)
    assert state(read(after, known=known)) == state(read(after))
    assert known._mover.board is board


_PARTS = st.sampled_from(
    [b"e4", b"e5", b"Nf3", b"Nc6", b"O-O", b"Bc4", b"Bc5", b"Nf6", b"d3", b"d6", b" ", b"  ", b"\n",
     b"1.", b"{", b"}", b"(", b")", b";", b"%", b"*", b"1-0", b"$1", b"{[%clk 0:1:1]}",
     b"{[%clk 0:1:2]}", b"{[%eval 1]}", b"Qh9", b"--", b"x", b"\xff"]
)  # fmt: skip
_TEXTS = st.lists(_PARTS | st.just(b" "), max_size=30).map(b"".join)


@st.composite
def _edits(draw: st.DrawFn) -> list[bytes]:
    text = draw(_TEXTS)
    texts = [text]
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(text)))
        end = at + draw(st.integers(0, 4))
        text = text[:at] + draw(_TEXTS | _PARTS) + (text[end:] if draw(st.booleans()) else b"")
        texts.append(text)
    return texts


@pytest.mark.slow
@settings(max_examples=1000)
@given(_edits(), st.lists(st.booleans(), min_size=6, max_size=6))
def test_reading_again_never_depends_on_what_was_read_before(
    texts: list[bytes], wholes: list[bool]
) -> None:
    known = new()
    for text, whole in zip(texts, wholes, strict=False):
        assert state(read(text, known=known, whole=whole)) == state(read(text, whole=whole))


@pytest.mark.slow
@settings(max_examples=200)
@given(_TEXTS, st.integers(1, 5))
def test_reading_in_slices_changes_nothing(text: bytes, budget: int) -> None:
    game = new()
    game.begin(text, whole=True)
    while not game.done:
        game.advance(budget)
    assert state(game) == state(read(text))


@given(st.binary(max_size=50), st.binary(max_size=50), st.binary(max_size=50))
def test_common_prefix(prefix: bytes, a: bytes, b: bytes) -> None:
    length = common_prefix(prefix + a, prefix + b)
    assert length >= len(prefix)
    assert (prefix + a)[:length] == (prefix + b)[:length]
    assert (prefix + a)[length : length + 1] != (prefix + b)[length : length + 1] or length == min(
        len(prefix + a), len(prefix + b)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "flood",
    [b"(", b")", b"()", b"(e4) ", b"{", b"{}", b" ", b"\n", b";\n", b"%\n", b"$1", b"$", b"1.",
     b"* ", b"x ", b"Nf3 ", b"Nf3 Nf6 Ng1 Ng8 (e4) ", b"(((e4))) "],
)  # fmt: skip
def test_time_is_linear(flood: bytes) -> None:
    def seconds(size: int) -> float:
        text = b"e4 e5 " + flood * (size // len(flood))
        best = float("inf")
        for _ in range(3):
            start = time.thread_time()
            read(text)
            best = min(best, time.thread_time() - start)
        return best

    assert seconds(80_000) < 12 * seconds(20_000) + 0.05
