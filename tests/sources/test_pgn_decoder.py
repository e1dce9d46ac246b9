"""Decoder of PGN: where games begin and end, unusual texts, and texts cut anywhere.

Random and mutated PGN must raise no error and block nothing, and the result must not
depend on where bytes are cut. ``LIVE_RATE_HOSTILE_TEXTS=100000 pytest
tests/sources/test_pgn_decoder.py`` runs this number of texts; the normal run takes some
dozens.
"""

import gc
import io
import os
import random
import time
from collections.abc import Iterator
from functools import cache
from itertools import chain

import chess
import chess.pgn
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live.messages.from_sources import STANDS, GameReport
from live.sources.pgn_decoder import PgnDecoder, PgnLimits, PgnReader, Reading
from live.sources.results import read_result
from tests.fuzz.feeds import PGN_TOKENS
from tests.fuzz.mutation import mutate
from tests.sources.fakes import DATA, sans
from tests.sources.fakes import decode as streamed_games

FILES = (
    "dgt-livechess-round.pgn",
    "lichess-open-2025.pgn",
    "lichess-round-robin-2025.pgn",
    "otb-2024-25.pgn",
    "figure-1.pgn",
)
HEAD = b'[Event "E"]\n[White "W"]\n[Black "B"]\n'
A, B = b'[Event "a"]\n[White "A"]\n', b'[Event "b"]\n[White "B"]\n'


def decode(text: bytes) -> list[GameReport]:
    """Return all games of a text. A stream and a snapshot must give the same games."""
    streamed = streamed_games(text)
    assert PgnReader().read_text(text, closed=True) == streamed
    return streamed


def one(movetext: bytes, head: bytes = HEAD) -> GameReport:
    [game] = decode(head + b"\n" + movetext + b"\n\n")
    return game


def describe_games(games: list[GameReport]) -> list[str]:
    """Return White's name, moves, result and problem of each game."""
    return [
        " ".join(filter(None, (g.headers.white.name, sans(g), g.result, g.problem)))
        for g in games
    ]


@pytest.mark.parametrize("name", FILES)
def test_real_games_read_as_python_chess_reads_them(name: str) -> None:
    text = (DATA / name).read_bytes()
    handle = io.StringIO(text.decode())
    games = decode(text)
    for game in games:
        expected = chess.pgn.read_game(handle)
        assert expected is not None
        nodes = list(expected.mainline())
        assert [move.uci for move in game.moves] == [node.move.uci() for node in nodes]
        assert [move.san for move in game.moves] == [node.san() for node in nodes]
        assert [move.clock_s for move in game.moves] == [node.clock() for node in nodes]
        assert [move.spent_s for move in game.moves] == [node.emt() for node in nodes]
        for move, node in zip(game.moves, nodes, strict=True):
            score = node.eval()
            assert (move.eval is None) is (score is None)
            if score is not None and move.eval is not None:
                assert move.eval.mate == score.white().mate()
                assert move.eval.cp == score.white().score(mate_score=100_000) or (
                    abs(move.eval.cp) == 3900
                )
        assert game.result == expected.headers["Result"]
        assert game.headers.white.name == expected.headers["White"]
        assert game.headers.black.name == expected.headers["Black"]
        assert game.problem is None
    assert chess.pgn.read_game(handle) is None


# --- games ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"%s\n%s\n\n%s\n%s\n",
        b"%s\n%s\n\n\n%s\n%s\n\n\n",
        b"%s\n%s\n%s\n%s",
        b"%s%s\n%s%s\n",
        b"%s\n\n%s\n\n\n%s\n\n%s\n",
        b"\n\n  \n%s\n%s\n\n\n   %s\n%s\n\n\n  ",
        b"\xef\xbb\xbf%s\n%s\n\n\xef\xbb\xbf%s\n%s",
        b"% escaped\n; said\n%s\n%s  \n\n%s\n%s \t\n",
    ],
)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_blank_lines_there_or_not(text: bytes, newline: bytes) -> None:
    for part in (A, b"1. e4 {a\nb} e5\n2. 0-0 1-0", B, b"1. d4 0-1"):
        text = text.replace(b"%s", part, 1)
    problem = "illegal move 2.0-0"
    assert describe_games(decode(text.replace(b"\n", newline))) == [
        f"A e4 e5 1-0 {problem}",
        "B d4 0-1",
    ]


@pytest.mark.parametrize(
    ("text", "games"),
    [
        (b'[Event "a"]\n\n[White "A"]\n\n\n[Black "B"]\n\n1. e4 *\n', ["A e4 *"]),
        (A + b"\n1. e4\n" + B + b"\n1. d4\n\n", ["A e4 *", "B d4 *"]),
        # Games without moves, without tags, in paragraphs, or all on one line.
        (
            A + b"\n *\n\n\n" + B + b"\n*\n\n" + A + b"\n" + B + b"\n",
            ["A *", "B *", "A *", "B *"],
        ),
        (b"1. e4 e5 1-0\n\n1. d4 *\n1. c4 *\n", ["? e4 e5 1-0", "? d4 *", "? c4 *"]),
        (A + b"\n1. e4 e5\n\n2. Nf3\n\n*\n", ["A e4 e5 Nf3 *"]),
        (b'[White "A"] [Black "B"] 1. e4 e5 1-0\n', ["A e4 e5 1-0"]),
        (b'[White "A"] *\n[White "B"] 1. e4 e5 *\n', ["A *", "B e4 e5 *"]),
        (b'[White "A"] * [White "B"] 1. e4\n', ["A *", "B e4 *"]),
        (
            b'[White "A"] e4 1/2-1/2 [White "B"] 1. d4 {*} 0-1',
            ["A e4 1/2-1/2", "B d4 0-1"],
        ),
        (
            b"1. e4 e5 * 1. d4 d5 1-0 1 c4 c5 *\n",
            ["? e4 e5 *", "? d4 d5 1-0", "? c4 c5 *"],
        ),
        (b"1. e4 {a} e5 {b} \xbd-\xbd 1.d4 d5\n*\n", ["? e4 e5 1/2-1/2", "? d4 d5 *"]),
        # These texts contain one game: the results are in comments or are followed by a
        # move.
        (A + b'\n1. e4 {* 1. d4} e5 {1-0 [White "C"]} *\n', ["A e4 e5 *"]),
        (A + b"\n1. e4 e5 ; 1-0 1. d4\n*\n", ["A e4 e5 *"]),
        (A + b"\n1. e4 1-0 1... e5 *\n", ["A e4 e5 *"]),
        (b'[White "A"] who came late\n[Black "B"]\n\n1. e4 *\n', ["A e4 *"]),
        (
            b'[Event "a"]\nWhite "X"]\n[White "A"]\n\n1. e4 *\n\n' + B + b"\n*\n",
            ["A e4 *", "B *"],
        ),
        # An error in one game does not affect the next.
        (
            A + b"\n1. e4 e5 2. Qh9 Nc6 0-1\n\n" + B + b"\n1. d4 1-0\n\n",
            ["A e4 e5 0-1 illegal move 2.Qh9", "B d4 1-0"],
        ),
        (
            A + b"\n1. e4 {oops e5 1-0\n\n" + B + b"\n1. d4 {x} d5 *\n\n",
            ["A e4 1-0 a comment is never closed after ply 1", "B d4 d5 *"],
        ),
        (
            A + b"\n1. e4 {oops *\n\n" + B + b"\n1. d4 *\n",
            ["A e4 * a comment is never closed after ply 1", "B d4 *"],
        ),
        # At the end of a cut text, an incomplete word, comment or tag is ignored.
        (A + b"\n1. e4 e5 2. Nf", ["A e4 e5 *"]),
        (A + b"\n1. e4 e5 2. Nf3", ["A e4 e5 Nf3 *"]),
        (A + b"\n1. e4 e5 2. Qh9 Nc6 3. Nf", ["A e4 e5 * illegal move 2.Qh9"]),
        (A + b"\n1. f3 e5 2. g4 Qh4#", ["A f3 e5 g4 Qh4# *"]),
        (A + b"\n1. e4 e5 2. Qh6", ["A e4 e5 *"]),
        (A + b"\n1. e4 1-0", ["A e4 1-0"]),
        (A + b'\n*\n\n[Event "b"', ["A *"]),
        (A + b'\n*\n\n[Event "b"]\n[White "B"]\n', ["A *"]),
        (A + b"\n*\n\n[", ["A *"]),
        (A + b'[Black "B"]\n[Resul', ["A *"]),
        # Each game can have a charset of its own.
        ('[White "Müller"]\n\n1. e4 e5 *\n\n'.encode("utf-16"), ["Müller e4 e5 *"]),
        ('[White "W"]\n[Result "½-½"]\n\n1. e4 ½-½\n'.encode(), ["W e4 1/2-1/2"]),
        (
            b"".join(
                b'[White "%s"]\n\n*\n\n' % "Müller".encode(c)
                for c in ("utf-8", "cp1252")
            ),
            ["Müller *", "Müller *"],
        ),
        # A variant that is not supported.
        (
            A + b'[Variant "Crazyhouse"]\n\n1. P@e4 e5 0-1\n',
            ["A 0-1 the variant crazyhouse is not followed"],
        ),
        # Texts without games.
        (b"", []),
        (b"<html><body>Login</body></html>", []),
        (b"*\n*\n", []),
        (b"\x00" * 100, []),
    ],
)
def test_where_games_begin_and_end(text: bytes, games: list[str]) -> None:
    assert describe_games(decode(text)) == games


@pytest.mark.parametrize(
    "comment",
    [
        b'{see\n[Event "x"]\n[White "y"]\n\n1. d4 1-0\n\n[Event "z"]\n}',
        b'{\n\n[Event "x"] 1-0\n\n}',
        b"{ 1-0\n}",
        b"; 1-0\n",
        b"; {\n",
        b"\n% {\n",
        b"\n% 1-0\n",
        b"{a;b}",
        b"{a { b}",
        b"{[%clk\n00:15:27]}\n{[%emt\n00:00:02]}",
        b"} ) (\n)",
        b"12.\n",
    ],
)
def test_comments_do_not_split(comment: bytes) -> None:
    text = A + b"\n1. e4 " + comment + b" e5 *\n\n" + B + b"\n*\n"
    assert describe_games(decode(text)) == ["A e4 e5 *", "B *"]


WON = b'[Event "E"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n'


def test_an_illegal_move_that_the_game_went_on_from_stands() -> None:
    """The game continues from the position after the illegal move."""
    text = (
        WON + b"1. e4 e5 2. Nf3 Nc6 3. Qh6 {[%clk 1:00:00]} a6 4. Bc4 d6 5. O-O 1-0\n"
    )
    first, rest = PgnReader().read_text(text, closed=True)
    assert [move.san for move in first.moves] == ["e4", "e5", "Nf3", "Nc6"]
    assert first.problem is not None and first.problem.startswith("illegal move 3.Qh6")
    assert first.problem.endswith(STANDS)
    assert [move.san for move in rest.moves] == ["a6", "Bc4", "d6", "O-O"]
    place = rest.start_fen.split()[:2]
    assert place == ["r1bqkbnr/pppp1ppp/2n4Q/4p3/4P3/5N2/PPPP1PPP/RNB1KB1R", "b"]
    assert (rest.result, rest.problem, rest.key) == ("1-0", None, "E//A/B/ from ply 5")
    board = chess.Board(rest.start_fen)
    for move in rest.moves:
        board.push_uci(move.uci)


def test_a_game_that_goes_on_is_read_on_as_it_grows() -> None:
    reader = PgnReader()
    text = WON.replace(b"1-0", b"*") + b"1. e4 e5 2. Nf3 Nc6 3. Qh6 a6 4. Bc4"
    assert [len(game.moves) for game in reader.read_text(text + b" *\n")] == [4, 2]
    assert [len(game.moves) for game in reader.read_text(text + b" d6 5. O-O *\n")] == [
        4,
        4,
    ]


@pytest.mark.parametrize("null", [b"--", b"Z0", b"null", "––".encode()])
def test_a_game_goes_on_from_a_null_move(null: bytes) -> None:
    text = WON + b"1. e4 e5 2. Nf3 %s 3. Nc3 Nc6 4. Bb5 a6 %s Nf6 6. O-O d6 1-0\n"
    games = PgnReader().read_text(text.replace(b"%s", null), closed=True)
    assert [sans(game) for game in games] == [
        "e4 e5 Nf3",
        "Nc3 Nc6 Bb5 a6",
        "Nf6 O-O d6",
    ]
    assert [game.result for game in games] == ["1-0"] * 3
    stands = [(game.problem or "").endswith(STANDS) for game in games]
    assert stands == [True, True, False] and games[2].problem is None
    assert (games[0].problem or "").startswith("null move 2...")


def test_sides_that_pass_in_turn_lose_nothing() -> None:
    text = WON + b"1. e4 e5 2. -- -- 3. Nf3 Nc6 4. Bb5 1-0\n"
    assert [sans(game) for game in PgnReader().read_text(text)] == [
        "e4 e5",
        "Nf3 Nc6 Bb5",
    ]


def test_passing_a_thousand_times_is_bounded() -> None:
    for passes in (b"-- ", b"e4 e5 -- ", b"Nf3 Nf6 Ng1 -- Ng8 -- "):
        assert len(PgnReader().read_text(WON + passes * 1000 + b"1-0\n")) < 20


def test_clocks_in_tags_go_to_the_board_that_goes_on() -> None:
    tags = b'[WhiteClock "0:10:00"]\n[BlackClock "0:20:00"]\n'
    first, rest = PgnReader().read_text(tags + WON + b"1. e4 -- 2. Nf3 Nc6 1-0\n")
    assert [move.clock_s for move in (*first.moves, *rest.moves)] == [None, 600, 1200]


@pytest.mark.parametrize(
    "moves",
    [
        b"1. e4 e5 2. Bb6 1-0",  # no move follows
        b"1. e4 e5 2. Bb6 Qh3 3. Nh9 1-0",  # the next moves fit no position
        b"1. e4 e5 2. Nd4 Nc6 3. a3 1-0",  # the knight is ambiguous
        b"1. e4 e5 2. Bxe8 Nc6 3. a3 1-0",  # a king cannot be taken
    ],
)
def test_an_illegal_move_that_proves_nothing_ends_the_game(moves: bytes) -> None:
    (game,) = PgnReader().read_text(WON + moves + b"\n", closed=True)
    assert game.problem is not None and STANDS not in game.problem


# --- results --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "token", "result"),
    [
        (b"1-0", b"1-0", "1-0"),
        (b"*", b"1-0", "1-0"),
        (b"1-0", b"*", "1-0"),
        (b"1-0", b"0-1", "0-1"),
        (b"1/2", b"", "1/2-1/2"),
        (b"+--", b"*", "1-0"),
        (b"?", b"", "*"),
        (b"0-0", b"0-0", "0-0"),
    ],
)
def test_token_counts_unless_it_leaves_open_what_the_tag_decides(
    tag: bytes, token: bytes, result: str
) -> None:
    assert one(b"1. e4 " + token, HEAD + b'[Result "%s"]\n' % tag).result == result


def test_the_last_word_waits_while_a_text_is_written_and_no_longer() -> None:
    text = HEAD + b"\n1. e4 e5 2. Nf3"
    assert [sans(game) for game in PgnReader().read_text(text)] == ["e4 e5"]
    assert [sans(game) for game in PgnReader().read_text(text, closed=True)] == [
        "e4 e5 Nf3"
    ]
    limits = PgnLimits(game_bytes=len(text) - 1)
    assert [
        sans(game) for game in PgnReader(limits=limits).read_text(text, closed=True)
    ] == ["e4 e5"]


def test_tag_of_a_text_that_breaks_off_is_not_believed_while_it_is_written() -> None:
    text = HEAD + b'[Result "1-0"]\n\n1. e4 e5\n'
    assert PgnReader().read_text(text)[0].result == "*"
    assert PgnReader().read_text(text, closed=True)[0].result == "1-0"


@pytest.mark.parametrize("charset", ["utf-8", "cp1252"])
@pytest.mark.parametrize(
    "spelling",
    [
        "1 - 0",
        "½ : ½",
        "1—0",
        "+_-",
        "1-0",
        "*",
        "1:0",
        "1–0",
        "½-½",
        "1/2",
        "½",
        "0F-1F",
        "0-0",
        "+--",
        "-:+",
        "=/=",
    ],
)
def test_whatever_result_is_read_ends_a_text_and_its_game(
    spelling: str, charset: str
) -> None:
    word, result = spelling.encode(charset), read_result(spelling)
    text = b'[White "A"]\n[Black "B"]\n[Result "' + word + b'"]\n\n'
    for moves, end in (
        (b"", b""),
        (b"1. e4 e5 2. Nf3 ", b""),
        (b"1. e4 e5 2. Nf3 ", b" \n"),
    ):
        reader = PgnReader()
        (game,) = reader.read_text(text + moves + word + end)
        assert (game.result, game.problem, reader.whole) == (result, None, True)
        assert PgnDecoder().decode(text + moves + word + end) == ([game] if end else [])


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("1. e4 *\n\n", True),
        ("1. e4 1-0", True),
        ("1. e4 0-1\r\n", True),
        ("1. e4 {they agreed} ½-½\n", True),
        ("1. e4 {[%clk 1:30:00]} 1:0\n", True),
        ("1. e4 e5 2. Nf3 {[%clk 1:0", False),  # cut in a clock: no result
        ("1. e4 e5 2. Nf3 {[%clk\n0:1", False),
        ("1. e4 e5 2. Nf3 {one thought of 1-0", False),
        ("1. e4 ; one thought of 1-0", False),
        ("1. e4 e5 2. Nf3 +/-", False),  # White stands better
        ("1. e4 e5 2. Nf3 Nf6 3. Bc4 Bc5 4. 0-0", False),
        ('1. e4 *\n\n[White "C', False),
        ("1. e4 e", False),
        ("", True),
    ],
)
def test_the_end_of_a_text_tells_whether_it_is_all_there(
    text: str, whole: bool
) -> None:
    reader = PgnReader()
    head = '[White "A"]\n[Black "B"]\n[Result "*"]\n\n' if text else ""
    reader.read_text((head + text).encode())
    assert reader.whole is whole


def test_a_sign_after_a_move_is_no_result_and_ends_nothing() -> None:
    reader = PgnReader()
    (game,) = reader.read_text(b'[Result "0-1"]\n\n1. e4 +/- e5 2. Nf3 +/-\nNc6 0-1\n')
    assert (len(game.moves), game.result, game.problem) == (4, "0-1", None)


# --- bounds ---------------------------------------------------------------------------


def test_bounds_cost_their_game_only() -> None:
    limits = PgnLimits(game_bytes=5000)
    reader = PgnReader(limits=limits)
    good = b'[White "good"]\n\n1. e4 e5 *\n\n'
    long = b'[White "long"]\n\n1. e4 {' + b"x" * 6000 + b"} e5 *\n\n"
    plies = b'[White "plies"]\n\n' + b"Nf3 Nf6 Ng1 Ng8\n" * 301 + b"1-0\n\n"
    tags = b"".join(b'[Tag%d "x"]\n' % i for i in range(109)) + b"\n1. e4 e5 *\n\n"
    games = reader.read_text(b"".join([long, good, plies, good, tags, good]))
    assert [game.problem for game in games] == [
        "the game is longer than 5000 bytes",
        None,
        "more than 1200 plies",
        None,
        "only the first 100 headers were read",
        None,
    ]
    assert [sans(game) for game in games[1::2]] == ["e4 e5"] * 3
    assert (
        sans(games[0]) == "e4"
        and len(games[2].moves) == 1200
        and games[2].result == "1-0"
    )


@pytest.mark.parametrize(
    "line", [b"e4 ", b"e4\n", b'[White "A"]\n', b"{e4}", b"{\n", b"x", b"(\n"]
)
def test_a_game_too_long_is_cut_and_the_next_one_is_not(line: bytes) -> None:
    text = (
        A
        + b"\n" * (not line.startswith(b"["))
        + line * 2000
        + b"\n\n"
        + B
        + b"\n1. d4 *\n"
    )
    limits = PgnLimits(game_bytes=1000)
    for size in (len(text), 1, 77):
        decoder = PgnDecoder(limits=limits)
        parts = (text[at : at + size] for at in range(0, len(text), size))
        games = list(chain.from_iterable(map(decoder.decode, parts)))
        assert games[0].problem == "the game is longer than 1000 bytes"
        assert describe_games(games[1:] + decoder.finish_input()) == ["B d4 *"]
    assert describe_games(PgnReader(limits=limits).read_text(text)[1:]) == ["B d4 *"]


def test_games_beyond_the_bound_are_counted_and_those_remembered_bounded() -> None:
    reader = PgnReader(limits=PgnLimits(games=3))
    text = b'[White "W"]\n\n1. e4 *\n\n' * 5
    assert (len(reader.read_text(text)), reader.left_out) == (3, 2)
    assert (len(reader.read_text(text[: len(text) // 5])), reader.left_out) == (1, 0)
    decoder = PgnDecoder(limits=PgnLimits(games=10))
    for number in range(100):
        decoder.decode(b'[White "W%d"]\n\n1. e4 *\n\n' % number)
    assert len(decoder._known_games) == len(decoder._heads) == 10


def test_games_are_remembered_as_long_as_a_whole_text_has_them() -> None:
    reader, texts = (
        PgnReader(),
        [b'[White "W%d"]\n\n1. e4 *\n\n' % number for number in range(4)],
    )
    reader.read_text(texts[0] + texts[1])
    for text, remembered in (
        (b"", 2),
        (texts[2][:-4], 3),
        (texts[2], 1),
        (texts[3][:-4], 2),
    ):
        reader.read_text(text)
        assert len(reader._known_games) == len(reader._heads) == remembered
    reader.read_text(texts[3][:-4], closed=True)
    assert len(reader._known_games) == 1


def test_a_stream_of_keep_alives_or_without_newline_is_bounded() -> None:
    decoder = PgnDecoder(limits=PgnLimits(game_bytes=10_000))
    for _ in range(5000):
        assert decoder.decode(b" \n") == []
    assert len(decoder._splitter._text) == 0
    assert len(decoder.decode(b' [Event "a"]\n\n*\n')) == 1
    for _ in range(1000):
        decoder.decode(b"x" * 1000)
        assert len(decoder._splitter._line) <= 11_000
    # A result that is repeated without end gives only a few games.
    assert len(PgnDecoder().decode(b"e4\n" + b"*\n" * 1000)) < 10


# --- streams and cuts -----------------------------------------------------------------


def test_a_game_is_told_when_its_result_token_is_there() -> None:
    decoder = PgnDecoder()
    assert decoder.decode(HEAD + b"\n1. e4 ") == []
    assert decoder.decode(b"e5 *") == []
    assert [sans(game) for game in decoder.decode(b"\n")] == ["e4 e5"]
    assert decoder.decode(b"\n\n     ") == []
    assert [
        sans(game) for game in decoder.decode(HEAD + b"\n1. e4 e5 2. Nf3 *\n\n\n")
    ] == ["e4 e5 Nf3"]
    assert decoder.finish_input() == []


def test_reset_forgets_the_half_of_a_game_and_the_end_of_input_begins_anew() -> None:
    decoder = PgnDecoder()
    first = decoder.decode(HEAD + b"\n1. e4 e5 *\n\n\n")
    decoder.decode(b'[Event "half')
    decoder.reset()
    assert decoder.decode(HEAD + b"\n1. e4 e5 *\n\n\n") == first
    for _ in range(2):
        assert decoder.decode(HEAD + b"\n1. e4 e5") == []
        assert describe_games(decoder.finish_input()) == ["W e4 e5 *"]


@pytest.mark.parametrize(
    "name", [pytest.param(FILES[0], marks=pytest.mark.whole), *FILES[1:]], ids=FILES
)
def test_a_file_read_while_it_grows_never_tells_what_is_not_so(name: str) -> None:
    text = (DATA / name).read_bytes()
    whole = PgnReader().read_text(text, closed=True)
    reader = PgnReader()
    told = 0
    for end in [*range(0, len(text), 37), len(text)]:
        games = reader.read_text(text[:end])
        assert len(games) <= len(whole)
        for game, final in zip(games, whole, strict=False):
            assert game.problem is None
            moves = [move.uci for move in game.moves]
            assert moves == [move.uci for move in final.moves[: len(moves)]]
            assert game.moves[:-1] == final.moves[: len(moves) - 1] or not moves
            assert game.result in ("*", final.result)
            if game.result != "*":
                assert game.moves == final.moves
        told = max(told, sum(len(game.moves) for game in games))
    assert told == sum(len(game.moves) for game in whole)


_PIECES = st.sampled_from(
    [
        HEAD,
        b"\n",
        b"\n\n",
        b"\r\n",
        b"1. e4",
        b" e5 ",
        b" Nf3",
        b" O-O",
        b" *",
        b" 1-0",
        b"{",
        b"}",
        b"(",
        b")",
        b";",
        b"%",
        b"[",
        b'[Event "x"]',
        b"\xbd",
        b"\xc2",
        b"{[%clk 0:0:1]}",
        b"\xef\xbb\xbf",
        b"$1",
        b'[Result "1-0"]',
        b'[FEN "x"]',
    ]
)


def stream_in_parts(
    text: bytes, cuts: list[int], limits: PgnLimits
) -> list[GameReport]:
    decoder = PgnDecoder(limits=limits)
    ends = zip([0, *cuts], [*cuts, len(text)], strict=True)
    parts = (text[start:stop] for start, stop in ends)
    games = chain.from_iterable(map(decoder.decode, parts))
    return [*games, *decoder.finish_input()]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(_PIECES, max_size=40).map(b"".join) | st.binary(max_size=60),
    st.sampled_from([20, 60, 1 << 19]),
    st.data(),
)
def test_law_reports_do_not_depend_on_cuts(
    text: bytes, limit: int, data: st.DataObject
) -> None:
    limits = PgnLimits(game_bytes=limit)
    whole = stream_in_parts(text, [], limits)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    assert stream_in_parts(text, cuts, limits) == whole
    assert stream_in_parts(text, list(range(1, len(text))), limits) == whole


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(_PIECES, max_size=30).map(b"".join), min_size=2, max_size=5),
    st.booleans(),
)
def test_reading_again_never_depends_on_what_was_read_before(
    texts: list[bytes], closed: bool
) -> None:
    reader = PgnReader()
    for text in [*texts, *texts]:
        assert reader.read_text(text, closed=closed) == PgnReader().read_text(
            text, closed=closed
        )


TEXTS = int(os.environ.get("LIVE_RATE_HOSTILE_TEXTS", "40"))
LIMITS = PgnLimits(games=50)
#: Size of the longest hostile texts in bytes. It is large enough to reveal quadratic
#: time.
HOSTILE_BYTES = 20_000

_GAMES: list[bytes] = []
for _path in sorted(DATA.glob("*.pgn")):
    _, *_games = _path.read_bytes().split(b"[Event ")
    _GAMES += [b"[Event " + game for game in _games]
_BOMBS = [
    b"(",
    b"{",
    b"}",
    b"( )",
    b"e4 ",
    b"[",
    b'[a "',
    b'"',
    b"\\",
    b"\r",
    b"* ",
    b"*\n",
    b"$9",
    b";",
    b";\n",
    b"%\n",
    b"1.",
    b"9",
    b" ",
    b"\n",
    b"{}",
    b'[Event "x"]\n',
    b"1-0\n\n",
    b"Nf3 Nf6 Ng1 Ng8 ",
    b"(e4) ",
    b"{[%clk 1:2:3]}",
    b"\xff",
    b"\xc3",
    b'{\n[Event "x"]\n',
    b"x" * 50,
    b"--",
    b"[%clk ",
    b"\x1b[",
    b"Nf3\n",
    b"{ 1-0\n",
]


def hostile_texts(rng: random.Random) -> Iterator[bytes]:
    """Yield texts that repeat one token, which reveals quadratic time; then yield edits
    of real games.
    """
    for bomb in _BOMBS:
        head = rng.choice([b"", b'[White "A"]\n\n1. e4 ', b"e4 ( ", b"{\n", b"e4\n"])
        yield head + bomb * (HOSTILE_BYTES // len(bomb))
    for _ in range(TEXTS):
        games = b"".join(rng.choices(_GAMES, k=rng.choice([1, 1, 2, 3])))
        yield mutate(rng, games, PGN_TOKENS)[:HOSTILE_BYTES]


def time_pieces(pieces: Reading) -> tuple[list[GameReport], float]:
    """Return all games, and the CPU time in ms of the slowest piece of work."""
    slowest_ms = 0.0
    while True:
        start = time.thread_time()
        try:
            next(pieces)
        except StopIteration as end:
            games: list[GameReport] = end.value
            return games, slowest_ms
        slowest_ms = max(slowest_ms, (time.thread_time() - start) * 1000)


def decode_both_ways(text: bytes) -> tuple[list[GameReport], list[GameReport]]:
    """Return the games that a new decoder and a new reader find in a text.

    No piece of work may take more CPU time than ordinary games of the same size take in
    total. A slow text is measured three times, because other load on the machine can
    disturb one measurement.
    """
    for _ in range(3):
        decoder = PgnDecoder()
        streamed, first_ms = time_pieces(decoder.decode_in_pieces(text))
        rest = decoder.finish_input()
        read, read_ms = time_pieces(PgnReader(limits=LIMITS).read_in_pieces(text))
        if max(first_ms, read_ms) < ordinary_ms():
            return streamed + rest, read
        ordinary_ms.cache_clear()  # the machine may have become slower
    pytest.fail(f"blocks: {text[:200]!r}")


@cache
def ordinary_ms() -> float:
    """Return the CPU time, in milliseconds, for ordinary games of the size of the
    longest hostile texts.
    """
    games = b"".join(_GAMES)[:HOSTILE_BYTES]
    start = time.thread_time()
    PgnReader(limits=LIMITS).read_text(games)
    return (time.thread_time() - start) * 1000


@pytest.fixture
def own_objects_only() -> Iterator[None]:
    """Exclude objects of other tests from garbage collection, which would disturb the
    measured times.
    """
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.timeout(3600 if TEXTS > 2000 else 120)
def test_hostile_texts(own_objects_only: None) -> None:
    rng = random.Random(7)
    kept = PgnReader(limits=LIMITS)
    games = 0
    for text in hostile_texts(rng):
        reports, fresh = decode_both_ways(text)
        # A reader that remembers earlier texts must return the same as a new one.
        assert kept.read_text(text) == fresh, text
        games += len(reports)
    assert games > TEXTS / 4
