"""Clocks and evaluations of a whole game: their units, and clocks in tags and in plain
comments.
"""

import chess
import pytest

from live.messages.from_sources import GameReport, Score
from live.sources.game_units import (
    AS_CENTIPAWNS,
    AS_MINUTES,
    LEFT_OUT,
    read_start_clock_s,
)
from live.sources.movetext import Movetext
from live.sources.pgn_decoder import PgnReader

LINE = "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O"
MOVES = LINE.split()


def game(comments: list[str], base_s: float | None = None) -> Movetext:
    """Read a game with these comments after its first moves."""
    words = [f"{move} {{{said}}}" for move, said in zip(MOVES, comments, strict=False)]
    read = Movetext(chess.Board())
    for _ in read.read_text(" ".join(words).encode(), whole=True, base_s=base_s):
        pass
    assert len(read.moves) == len(comments) and read.problem is None
    return read


def clocks(
    texts: str, base_s: float | None = None
) -> tuple[list[float | None], list[str]]:
    read = game([f"[%clk {text}]" for text in texts.split()], base_s)
    return [move.clock_s for move in read.moves], read.notes


@pytest.mark.parametrize(
    ("texts", "base_s", "seconds", "notes"),
    [
        # When less than an hour is left, the program writes minutes and seconds only.
        ("1:00:20 1:00:10 59:01 58:02", 5400, [3620, 3610, 3541, 3482], [AS_MINUTES]),
        ("1:00:20 1:00:10 59:01 58:02", None, [3620, 3610, 3541, 3482], [AS_MINUTES]),
        # Read as hours and minutes, 8:02, 4:01 and 7:59 would be plausible too.
        (
            "1:00:20 1:00:10 59:59 8:02 4:01 7:59",
            None,
            [3620, 3610, 3599, 482, 241, 479],
            None,
        ),
        ("0:10:04 0:10:00 9:58 9:50", 600, [604, 600, 598, 590], [AS_MINUTES]),
        ("0:10:04 0:10:00 9:58 9:50", None, [604, 600, 598, 590], [AS_MINUTES]),
        ("3:00 3:00 2:58 2:57", 180, [180, 180, 178, 177], [AS_MINUTES]),
        ("5:00 5:00 4:58 4:31", None, [300, 300, 298, 271], [AS_MINUTES]),
        ("15:00 15:00 14:50", None, [900, 900, 890], [AS_MINUTES]),
        ("2:59.9 3:00 2:58", None, [179.9, 180, 178], [AS_MINUTES]),
        # DGT boards write hours and minutes.
        ("1:30 1:30 1:29 1:28", 5400, [5400, 5400, 5340, 5280], []),
        ("1:30 1:30 1:29 1:28", None, [5400, 5400, 5340, 5280], []),
        ("2:00 2:00 1:59", 7200, [7200, 7200, 7140], []),
        # One clock is impossible; the others are kept.
        (
            "1:00:20 1:00:10 59:59:01 0:58:02 0:58:00",
            5400,
            [3620, 3610, None, 3482, 3480],
            None,
        ),
        ("1:00:20 1:00:10 99:00:00", None, [3620, 3610, None], [LEFT_OUT]),
        # Clocks of a correspondence game.
        ("72:00:00 72:00:00 50:00:00 72:00:00 71:00:00", None, None, []),
        ("90 89 88", None, [90, 89, 88], []),
    ],
)
def test_clocks_of_a_game_have_one_unit(
    texts: str,
    base_s: float | None,
    seconds: list[float | None] | None,
    notes: list[str] | None,
) -> None:
    read, said = clocks(texts, base_s)
    assert seconds is None or read == seconds
    assert notes is None or said == notes
    assert seconds is not None or None not in read


def evals(texts: str) -> tuple[list[Score | None], list[str]]:
    read = game([f"[%eval {text}]" for text in texts.split()])
    return [move.eval for move in read.moves], read.notes


@pytest.mark.parametrize(
    ("texts", "scores", "notes"),
    [
        ("31,20 28,21 -25,20 5000,20", [31, 28, -25, 3900], [AS_CENTIPAWNS]),
        ("0,20 3,21 #2,30", [0, 3, 3900], [AS_CENTIPAWNS]),
        ("31 28 -25", [31, 28, -25], [AS_CENTIPAWNS]),
        ("0.31,20 1,21 -0.25,20", [31, 100, -25], []),
        ("0.31 2 -0.25/18", [31, 200, -25], []),
        ("1 2 -3", [100, 200, -300], []),
        ("0,20 0,18", [0, 0], []),
        ("#3 #-3", [3900, -3900], []),
    ],
)
def test_evaluations_of_a_game_have_one_unit(
    texts: str, scores: list[int], notes: list[str]
) -> None:
    read, said = evals(texts)
    assert [score.cp for score in read if score] == scores
    assert said == notes


def test_the_evaluation_before_the_first_move_has_the_same_unit() -> None:
    read = Movetext(chess.Board())
    for _ in read.read_text(b"{[%eval 25,20]} 1. e4 {[%eval 31,20]} e5 *", whole=True):
        pass
    assert read.start_eval == Score(25)
    for _ in read.read_text(b"{[%eval 1]} 1. e4 {[%eval 0.31]} e5 *", whole=True):
        pass
    assert read.start_eval == Score(100)


def test_the_first_word_on_a_move_counts() -> None:
    read = game(
        ["[%clk 1:00:20]} {[%clk 59:01]} {[%eval 0.2]} {[%eval 31,20]", "[%clk 58:01]"]
    )
    assert [move.clock_s for move in read.moves] == [3620, 3481]
    assert read.moves[0].eval == Score(20)


@pytest.mark.parametrize(
    ("texts", "base_s", "seconds"),
    [
        # Format of the Internet Chess Club.
        (
            "0:04:57 0:04:55 0:04:49 0:04:53 (0:04:44) 4:49",
            300,
            [297, 295, 289, 293, 284, 289],
        ),
        ("0:04:57 0:04:55 0:04:49 0:04:53", None, [297, 295, 289, 293]),
        ("4:57 4:55 4:49 4:53", 300, [297, 295, 289, 293]),
        ("0:04:57", None, [297]),
        ("0:02:10 0:02:12 0:02:15 0:02:20 0:02:22", None, [None] * 5),
        ("0:02:10 0:02:12 0:02:15 0:02:20 0:02:22", 120, None),
        # These are the times spent on moves, not clocks.
        ("0:05 0:12 1:03 0:07 0:10 0:30", None, [None] * 6),
        ("0:00:05 0:00:12 0:01:03 0:00:07", 300, [None] * 4),
        ("1:0 a clock of 0:04:57 12:34:56:78", None, [None] * 5),
    ],
)
def test_a_comment_that_is_a_time_is_a_clock_where_times_run_down(
    texts: str, base_s: float | None, seconds: list[float | None] | None
) -> None:
    read = game(
        texts.split(" ")
        if "a clock" not in texts
        else ["1:0", "a", "0:04", "x", "12:3"]
    )
    read = game(texts.split(), base_s) if "a clock" not in texts else read
    told = [move.clock_s for move in read.moves]
    assert told == seconds if seconds else None not in told


def test_a_clock_in_a_command_is_believed_before_a_bare_one() -> None:
    read = game(["[%clk 0:04:57]} {0:09:00", "0:04:55"])
    assert [move.clock_s for move in read.moves] == [297, 295]


def tagged(tags: str, moves: str, fen: str = "") -> GameReport:
    head = f'[White "A"]\n[Black "B"]\n{fen}{tags}\n\n'
    (read,) = PgnReader().read_text(f"{head}{moves} *\n".encode())
    return read


def white_black(white: str, black: str) -> str:
    return f'[WhiteClock "{white}"]\n[BlackClock "{black}"]'


CLOCKED = (
    "1. d4 {[%clk 1:57:01]} Nf6 {[%clk 2:00:00]} 2. "
    "c4 {[%clk 0:00:40]} e6 {[%clk 0:15:40]}"
)


@pytest.mark.parametrize(
    ("tags", "moves", "seconds"),
    [
        # Cases of lila's RelayGameTest.
        (("00:33:51", "01:23:54"), "1. d4 Nf6", [2031, 5034]),
        (("33:51", "B/1:23:54.5"), "1. d4 Nf6 2. c4", [None, 5034.5, 2031]),
        (("0:33:51", "0:30:00"), "1. d4", [2031]),
        (("0:33:51", "0:30:00"), "", []),
        (("0:00:00", ""), "1. d4 Nf6", [0, None]),
        (("?", "33.51"), "1. d4 Nf6", [None, None]),
        # The time of the next period, an hour, was added.
        (("0:59:52", "0:15:40"), CLOCKED, [7021, 7200, 3592, 940]),
        # The clock of the side to move runs; a clock still at the starting time is
        # ignored.
        (("0:00:14", "2:00:00"), CLOCKED, [7021, 7200, 40, 940]),
    ],
)
def test_clocks_in_tags_are_those_of_the_last_moves(
    tags: tuple[str, str], moves: str, seconds: list[float | None]
) -> None:
    read = tagged(white_black(*tags), moves)
    assert [move.clock_s for move in read.moves] == seconds


def test_clocks_in_tags_go_by_the_side_that_began() -> None:
    fen = '[FEN "4k3/8/8/8/8/8/8/4K3 b - - 0 1"]\n'
    read = tagged(white_black("0:01:00", "0:02:00"), "1... Kd7 2. Kd2 Kd6", fen)
    assert [move.clock_s for move in read.moves] == [None, 60, 120]


def test_a_reader_says_in_how_many_games_it_chose() -> None:
    reader = PgnReader()
    evaluated = (
        '[White "A"]\n[Round "%d"]\n\n1. e4 {[%%eval 31,20] [%%clk 59:01]} *\n\n'
    )
    plain = '[White "A"]\n[Round "9"]\n\n1. e4 {[%eval 0.31] [%clk 0:59:01]} *\n'
    text = f"{evaluated % 1}{evaluated % 2}{plain}".encode()
    for _ in range(2):
        reader.read_text(text)
        assert reader.notes == [
            f"{AS_MINUTES} in 2 games",
            f"{AS_CENTIPAWNS} in 2 games",
        ]
    reader.read_text(plain.encode())
    assert reader.notes == []


@pytest.mark.parametrize(
    ("header", "base_s"),
    [
        ("5400+30", 5400),
        ("40/7200:20/3600", 7200),
        ("180", 180),
        ("90+30", None),
        ("150", None),
    ],
)
def test_a_header_in_seconds_says_what_a_clock_shows_at_the_start(
    header: str, base_s: float | None
) -> None:
    assert read_start_clock_s(header) == base_s
