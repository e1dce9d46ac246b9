from __future__ import annotations

import time
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.feeds.pgn_splitter import LineEnd, PgnSegment, PgnSplitter


def split(
    text: bytes, *, eager: bool = False, limit: int = 100_000, size: int = 0
) -> list[PgnSegment]:
    splitter = PgnSplitter(max_game_bytes=limit, eager=eager)
    segments: list[PgnSegment] = []
    for start in range(0, len(text), size or len(text) or 1):
        segments += games(splitter.feed(text[start : start + (size or len(text))]))
    return segments + games(splitter.finish())


def games(found: Iterable[PgnSegment | None]) -> list[PgnSegment]:
    return [segment for segment in found if segment is not None]


def texts(text: bytes, *, eager: bool = False) -> list[tuple[bytes, bytes]]:
    return [
        (segment.header.strip(), segment.movetext.strip()) for segment in split(text, eager=eager)
    ]


A = (b'[Event "a"]\n[White "A"]', b"1. e4 1-0")
B = (b'[Event "b"]\n[White "B"]', b"1. d4 0-1")


@pytest.mark.parametrize(
    "text",
    [
        b"%s\n\n%s\n\n%s\n\n%s\n",
        b"%s\n\n%s\n\n\n%s\n\n%s\n\n\n",
        b"%s\n\n%s\n%s\n\n%s",
        b"%s\n%s\n%s\n%s\n",
        b"%s\n\n\n%s\n\n\n%s\n\n\n%s\n",
        b"\n\n  \n%s\n\n%s\n\n\n   %s\n\n%s\n\n\n  ",
        b"\xef\xbb\xbf%s\n\n%s\n\n\xef\xbb\xbf%s\n\n%s",
        b"% escaped\n; said\n%s\n\n%s  \n\n%s\n\n%s \t\n",
    ],
)
@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_blank_lines_there_or_not(text: bytes, eager: bool, newline: bytes) -> None:
    for part in (*A, *B):
        text = text.replace(b"%s", part, 1)
    found = texts(text.replace(b"\n", newline), eager=eager)
    found[0] = (found[0][0].removeprefix(b"% escaped\n; said\n"), found[0][1])
    assert [(head.removeprefix(b"\xef\xbb\xbf"), moves) for head, moves in found] == [A, B]


def test_blank_lines_between_tags() -> None:
    text = b'[Event "a"]\n\n[White "A"]\n\n\n[Black "B"]\n\n1. e4 *\n'
    assert [moves for _, moves in texts(text)] == [b"1. e4 *"]


def test_missing_result_token() -> None:
    assert [moves for _, moves in texts(b'[Event "a"]\n\n1. e4\n[Event "b"]\n\n1. d4\n')] == [
        b"1. e4",
        b"1. d4",
    ]


def test_games_without_moves() -> None:
    text = (
        b'[Event "a"]\n[Result "*"]\n\n *\n\n\n[Event "b"]\n\n*\n\n[Event "c"]\n\n[Event "d"]\n\n'
    )
    assert [moves for _, moves in texts(text)] == [b"*", b"*", b"", b""]


def test_games_without_tags() -> None:
    assert texts(b"1. e4 e5 1-0\n\n1. d4 *\n1. c4 *\n") == [
        (b"", b"1. e4 e5 1-0"),
        (b"", b"1. d4 *"),
        (b"", b"1. c4 *"),
    ]


def test_moves_in_paragraphs_are_one_game() -> None:
    assert texts(b'[Event "a"]\n\n1. e4 e5\n\n2. Nf3\n\n*\n')[0][1] == b"1. e4 e5\n\n2. Nf3\n\n*"


def test_moves_that_follow_a_result_belong_to_it() -> None:
    assert texts(b"1. e4 1-0\n1... e5 *\n") == [(b"", b"1. e4 1-0\n1... e5 *")]


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
@pytest.mark.parametrize("eager", [False, True])
def test_comments_do_not_split(comment: bytes, eager: bool) -> None:
    moves = b"1. e4 " + comment + b" e5 *"
    assert texts(b'[Event "a"]\n\n' + moves + b'\n\n[Event "b"]\n\n*\n', eager=eager) == [
        (b'[Event "a"]', moves),
        (b'[Event "b"]', b"*"),
    ]


@pytest.mark.parametrize("after", [b"{c} *\n", b"*\n"])
@pytest.mark.parametrize("eager", [False, True])
def test_comment_never_closed_costs_its_game_only(after: bytes, eager: bool) -> None:
    text = b'[Event "a"]\n\n1. e4 {oops *\n\n[Event "b"]\n\n1. d4 ' + after
    assert texts(text, eager=eager) == [
        (b'[Event "a"]', b"1. e4 {oops *"),
        (b'[Event "b"]', b"1. d4 " + after.strip()),
    ]


def test_garbled_tag_line_does_not_split() -> None:
    (header, moves), (_, moves_b) = texts(
        b'[Event "a"]\nWhite "A"]\n[Black "B"]\n\n1. e4 *\n\n[Event "b"]\nWhite\n[Event "c"]\n'
    )[:2]
    assert b"Black" in header and moves == b"1. e4 *"
    assert moves_b == b"White"


def test_tags_and_moves_on_one_line() -> None:
    assert texts(b'[White "A"] [Black "B"] 1. e4 e5 1-0\n') == [
        (b'[White "A"] [Black "B"]', b"1. e4 e5 1-0")
    ]


def test_a_result_at_the_end_of_its_line_is_enough_for_streams() -> None:
    splitter = PgnSplitter(max_game_bytes=1000, eager=True)
    assert games(splitter.feed(b'[Event "a"]\n\n1. e4 1-0')) == []
    segments = games(splitter.feed(b"\n"))
    assert segments == [PgnSegment(b'[Event "a"]\n\n', b"1. e4 1-0\n", LineEnd.WHOLE)]
    assert games(splitter.feed(b"\n\n")) == []
    assert games(splitter.finish()) == []


@pytest.mark.parametrize("result", ["1-0", "½-½", "1/2-1/2", "*", "0-½", "1:0", "0.5-0.5"])
@pytest.mark.parametrize("charset", ["utf-8", "cp1252"])
def test_results_end_a_game(result: str, charset: str) -> None:
    splitter = PgnSplitter(max_game_bytes=1000, eager=True)
    assert len(games(splitter.feed(f"1. e4 {result} \n".encode(charset)))) == 1


def test_result_repeated_for_ever_is_not_given_for_ever() -> None:
    segments = split(b"e4\n" + b"*\n" * 1000, eager=True)
    assert len(segments) < 10
    assert segments[-1].movetext.count(b"*") == 1000


def test_end_of_input_says_that_the_text_may_be_cut() -> None:
    assert split(b'[Event "a"]\n\n1. e4 e')[-1] == PgnSegment(
        b'[Event "a"]\n\n', b"1. e4 e", LineEnd.CUT
    )
    assert split(b'[Event "a"]\n\n1. e4 1-0')[-1].end is LineEnd.WHOLE


@pytest.mark.parametrize(
    "cut", [b'[Event "a"', b'[Event "a"]\n', b'[Event "a"]\n[White "A"]\n', b"["]
)
def test_tags_cut_short_name_nobody(cut: bytes) -> None:
    assert split(b'[Event "0"]\n\n*\n\n' + cut)[1:] == []


def test_tags_cut_after_both_players_are_a_game() -> None:
    [game] = split(b'[Event "a"]\n[White "A"]\n[Black "B"]\n[Resul')
    assert game == PgnSegment(b'[Event "a"]\n[White "A"]\n[Black "B"]', b"", LineEnd.CUT)


@pytest.mark.parametrize("line", [b"e4 ", b"e4\n", b'[White "A"]\n', b"{e4}", b"{\n", b"x", b"(\n"])
@pytest.mark.parametrize("eager", [False, True])
def test_a_game_too_long_is_cut_and_the_next_one_is_not(line: bytes, eager: bool) -> None:
    long = b'[Event "a"]\n\n' * (not line.startswith(b"[")) + line * 2000
    text = long + b'\n\n[Event "b"]\n\n1. d4 *\n'
    for size in (0, 1, 77):
        segments = split(text, eager=eager, limit=1000, size=size)
        assert segments[0].end is LineEnd.TOO_LONG
        assert len(segments[0].header) + len(segments[0].movetext) == 1000
        assert [segment.movetext.strip() for segment in segments[1:]] == [b"1. d4 *"]


def test_a_stream_without_newline_is_bounded() -> None:
    splitter = PgnSplitter(max_game_bytes=10_000, eager=True)
    segments: list[PgnSegment] = []
    for _ in range(1000):
        segments += games(splitter.feed(b"x" * 1000))
        assert len(splitter._buffer) <= 11_000
    assert [segment.end for segment in segments] == [LineEnd.TOO_LONG]


@pytest.mark.slow
def test_keep_alive_does_not_pile_up() -> None:
    splitter = PgnSplitter(max_game_bytes=10_000, eager=True)
    for _ in range(50_000):
        assert games(splitter.feed(b" \n")) == []
    assert len(splitter._buffer) <= 2
    assert len(games(splitter.feed(b' [Event "a"]\n\n*\n'))) == 1


_PIECES = st.sampled_from(
    [b'[Event "a"]', b'[White "x"]', b"\n", b"\n\n", b"\r\n", b"\r", b" ", b"1. e4", b"1-0", b"*",
     b"{", b"}", b";", b"%", b"[", b'"', b"(", b"\xbd-\xbd", b"\xef\xbb\xbf", b"\x00", b"x" * 30]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=500)
@given(
    st.lists(_PIECES, max_size=40).map(b"".join) | st.binary(max_size=60),
    st.booleans(),
    st.sampled_from([20, 60, 1000]),
    st.data(),
)
def test_games_do_not_depend_on_cuts(
    text: bytes, eager: bool, limit: int, data: st.DataObject
) -> None:
    whole = split(text, eager=eager, limit=limit)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    splitter = PgnSplitter(max_game_bytes=limit, eager=eager)
    cut: list[PgnSegment] = []
    for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True):
        cut += games(splitter.feed(text[start:stop]))
    cut += games(splitter.finish())
    assert cut == whole
    assert split(text, eager=eager, limit=limit, size=1) == whole


@pytest.mark.slow
@settings(max_examples=300)
@given(st.lists(_PIECES, max_size=40).map(b"".join))
def test_eager_or_not_the_last_word_on_each_game_is_the_same(text: bytes) -> None:
    """What is given early is given again when it grows."""
    lazy = [(segment.header.strip(), segment.movetext.strip()) for segment in split(text)]
    eager = [
        (segment.header.strip(), segment.movetext.strip()) for segment in split(text, eager=True)
    ]
    assert [game for game in lazy if game not in eager] == []
    for header, movetext in eager:
        assert any(game[0] == header and game[1].startswith(movetext) for game in lazy)


@pytest.mark.slow
@pytest.mark.parametrize(
    "flood", [b"{\n", b'{\n[Event "x"]\n', b"*\n", b"\n", b";\n", b"1\n", b"}\n"]
)
def test_time_is_linear(flood: bytes) -> None:
    def seconds(count: int) -> float:
        text = flood * count
        best = float("inf")
        for _ in range(3):
            start = time.thread_time()
            for eager in (False, True):
                split(text, eager=eager, limit=1 << 20, size=4096)
            best = min(best, time.thread_time() - start)
        return best

    assert seconds(40_000) < 12 * seconds(10_000) + 0.05
