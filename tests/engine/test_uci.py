"""The conversation: bytes in, events out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.engine.search import Limit, SearchProgress, SearchResult
from live.engine.search_key import SearchKey
from live.engine.uci import (
    MAX_LINE,
    MAX_STRAY_LINES,
    EngineIdentity,
    Event,
    SearchFinished,
    UciConversation,
    UciInfoReader,
    UciSettings,
    can_stop_search_early,
)
from live.errors import EngineFault
from live.messages.from_sources import Score

WHITE = SearchKey("4k3/8/8/8/8/8/8/4K2R w - - 0 1", (), Limit(nodes=1000))
BLACK = SearchKey("4k3/8/8/8/8/8/8/4K2R b - - 0 1", (), Limit(depth=7))
RESTRICTED = SearchKey(WHITE.fen, (), Limit(movetime_ms=50), only="e1e2")

HANDSHAKE = b"""Stockfish 19 by the Stockfish developers
id name Stockfish 19
id author people

option name Threads type spin default 1 min 1 max 32
option name Hash type spin default 16 min 1 max 33554432
option name Clear Hash type button
option name UCI_Chess960 type check default false
option name EvalFile type string default nn-61e7af4bb97d.nnue
uciok
readyok
"""


class Conversation(UciConversation):
    """Collects what is sent."""

    def __init__(self, settings: UciSettings | None = None) -> None:
        self._out: list[bytes] = []
        super().__init__(settings or UciSettings(), self._out.append)

    def to_send(self) -> bytes:
        sent = b"".join(self._out)
        self._out.clear()
        return sent

    def events(self, data: bytes) -> list[Event]:
        return list(self.receive(data))


def ready(settings: UciSettings | None = None) -> Conversation:
    conversation = Conversation(settings)
    events = conversation.events(HANDSHAKE)
    assert [type(event) for event in events] == [EngineIdentity]
    conversation.to_send()
    return conversation


def search(
    search_key: SearchKey, answer: bytes, readyok: bytes = b"readyok\n"
) -> list[Event]:
    conversation = ready()
    conversation.begin_search(search_key)
    return conversation.events(readyok + answer)


def result(search_key: SearchKey, answer: bytes) -> SearchResult:
    last = search(search_key, answer)[-1]
    assert isinstance(last, SearchFinished)
    return last.result


def fault(search_key: SearchKey, answer: bytes, readyok: bytes = b"readyok\n") -> str:
    with pytest.raises(EngineFault) as caught:
        search(search_key, answer, readyok)
    return str(caught.value)


def test_the_handshake_sets_what_the_engine_has() -> None:
    conversation = Conversation(UciSettings(threads=2, hash_mb=64))
    assert conversation.to_send() == b"uci\n"
    greeting, _, last = HANDSHAKE.partition(b"readyok")
    assert conversation.events(greeting) == []
    assert conversation.to_send() == (
        b"setoption name Threads value 2\nsetoption name Hash value 64\nisready\n"
    )
    assert conversation.events(b"readyok" + last) == [
        EngineIdentity(
            "Stockfish 19",
            ("Threads=2", "Hash=64", "EvalFile=nn-61e7af4bb97d.nnue", "hash cleared"),
            True,
        )
    ]
    assert conversation.to_send() == b""
    conversation = Conversation(UciSettings(reproducible=False, adaptive=True))
    conversation.to_send()
    conversation.events(b"id name Tiny\r\nuciok\r\n")
    assert conversation.to_send() == b"isready\n"
    assert conversation.events(b"readyok\r\n") == [
        EngineIdentity("Tiny", ("hash kept", "adaptive"))
    ]


def test_an_engine_that_greets_without_end_is_a_fault() -> None:
    with pytest.raises(
        EngineFault, match="not UCI, the last 'option name O1000 type spin'"
    ):
        Conversation().events(
            b"".join(b"option name O%d type spin\n" % n for n in range(2000))
        )


def test_an_idle_engine_is_prepared_for_the_next_search() -> None:
    conversation = ready()
    conversation.clear_hash()
    conversation.clear_hash()
    assert conversation.to_send() == b"ucinewgame\nisready\n"
    conversation.begin_search(WHITE)
    assert conversation.to_send().startswith(b"position fen")
    conversation.clear_hash()
    assert conversation.to_send() == b""
    answer = b"readyok\ninfo depth 1 score cp 1 pv e1e2\nbestmove e1e2\n"
    assert isinstance(conversation.events(answer)[-1], SearchFinished)
    conversation.begin_search(WHITE)  # all in one write
    assert conversation.to_send() == (
        b"ucinewgame\nisready\nposition fen 4k3/8/8/8/8/8/8/4K2R w - - "
        b"0 1\ngo nodes 1000\n"
    )


def test_options_are_said_when_they_change_and_a_kept_hash_is_not_cleared() -> None:
    conversation = ready(UciSettings(reproducible=False))
    conversation.clear_hash()
    many = SearchKey(WHITE.fen, ("e1e2",), Limit(depth=3), lines=4, chess960=True)
    conversation.begin_search(many)
    assert conversation.to_send() == (
        b"setoption name MultiPV value 4\nsetoption name UCI_Chess960 value true\n"
        b"position fen 4k3/8/8/8/8/8/8/4K2R w - - 0 1 moves e1e2\ngo depth 3\n"
    )
    conversation.events(b"info depth 1 score cp 1 pv e8e7\nbestmove e8e7\n")
    conversation.begin_search(many)
    assert b"setoption" not in conversation.to_send()
    conversation.events(b"info depth 1 score cp 1 pv e8e7\nbestmove e8e7\n")
    conversation.begin_search(RESTRICTED)
    assert conversation.to_send() == (
        b"setoption name MultiPV value 1\nsetoption name UCI_Chess960 value false\n"
        b"position fen 4k3/8/8/8/8/8/8/4K2R w - - 0 1\ngo movetime "
        b"50 searchmoves e1e2\n"
    )


def test_a_whole_search_counts_its_last_exact_line() -> None:
    found = result(
        WHITE,
        b"info depth 1 seldepth 2 multipv 1 score cp 30 nodes 20 nps 1333 "
        b"time 15 pv e1d1 e8d8\n"
        b"info depth 3 score cp 50 nodes 60 time 17 pv e1f2\n"
        b"info depth 4 score cp 90 lowerbound nodes 100 time 20 pv e1e2\n"
        b"info depth 4 currmove e1e2 currmovenumber 1\n"
        b"bestmove e1e2 ponder e8e7\n",
    )
    assert found == SearchResult(
        score=Score(50),
        best="e1e2",
        depth=3,
        by_depth=(Score(30), None, Score(50)),
        nodes=100,
        time_ms=20,
        exact_best="e1f2",
        seldepth=2,
    )


def test_a_bound_counts_in_a_restricted_search_or_where_there_is_nothing_else() -> None:
    found = result(
        WHITE, b"info depth 1 score cp 9 lowerbound pv e1e2\nbestmove e1e2\n"
    )
    assert (found.score, found.by_depth) == (Score(9), ())
    found = result(
        RESTRICTED,
        b"info depth 3 score cp 50 nodes 60 time 17 pv e1e2\n"
        b"info depth 4 score cp -90 upperbound nodes 100 time 20 pv e1e2\n"
        b"bestmove e1e2\n",
    )
    assert (found.score, found.depth, found.by_depth) == (
        Score(-90),
        4,
        (None, None, Score(50)),
    )


@pytest.mark.parametrize(
    ("said", "white", "black"),
    [
        (b"cp 12", Score(12), Score(-12)),
        (b"cp 99999", Score(3900), Score(-3900)),
        (b"cp -4000", Score(-3900), Score(3900)),
        (b"mate 3", Score(3900, 3), Score(-3900, -3)),
        (b"mate -12", Score(-3900, -12), Score(3900, 12)),
    ],
)
def test_scores_are_from_white_s_side_and_clamped(
    said: bytes, white: Score, black: Score
) -> None:
    line = b"info depth 1 score " + said + b" pv e1e2\n"
    assert result(WHITE, line + b"bestmove e1e2\n").score == white
    assert result(BLACK, line + b"bestmove e8e7\n").score == black
    after = SearchKey(WHITE.fen, ("e1e2",), Limit(nodes=5))
    assert result(after, line + b"bestmove e8e7\n").score == black


def test_it_deepens_with_each_exact_line() -> None:
    events = search(
        WHITE,
        b"info depth 1 score cp 1 pv e1e2\ninfo depth 2 score cp 2 upperbound pv e1e2\n"
        b"info string score of nothing\ninfo depth 2 score cp 3 pv e1e2\n",
    )
    assert events == [SearchProgress(Score(1), 1), SearchProgress(Score(3), 2)]


def test_a_stopped_search_says_so() -> None:
    conversation = ready()
    conversation.begin_search(WHITE)
    conversation.to_send()
    conversation.stop_search()
    conversation.stop_search()
    assert conversation.to_send() == b"stop\n"
    events = conversation.events(
        b"readyok\ninfo depth 1 score cp 1 pv e1e2\nbestmove e1e2\n"
    )
    assert isinstance(events[-1], SearchFinished) and events[-1].stopped
    conversation.stop_search()
    assert conversation.to_send() == b""
    conversation.begin_search(WHITE)
    conversation.stop_search()  # before it had a score, which is no fault
    last = conversation.events(b"readyok\nbestmove e1e2\n")[-1]
    assert isinstance(last, SearchFinished) and last.stopped


SCORED = b"info depth 1 score cp 1 pv e1e2\n"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (SCORED + b"bestmove e1e4\n", "answered 'bestmove e1e4'"),
        (SCORED + b"bestmove (none)\n", "'bestmove (none)'"),
        (SCORED + b"bestmove\n", "answered 'bestmove'"),
        (SCORED + b"bestmove e1e2\nbestmove e1e2\n", "unasked"),
        (b"bestmove e1e2\n", "gave no score"),
        (b"info depth 1 score cp x pv e1e2\n", "unreadable line"),
        (b"info depth 1 score mate 0 pv e1e2\n", "unreadable line"),
        (b"info depth 1 score\xff\n", "unreadable line"),
        (b"\x9a\x02 depth 3\n", "prints noise"),
        (b"info string caf\xc3\xa9 score cp 1\n", None),
        (b"I resign\n", None),
        (b"info depth 1 score cp\n", "unreadable line"),
        (b"info depth -5 score cp 4 pv e1e2\n", "impossible depth"),
        (b"info depth 1 score wdl 4 pv e1e2\n", "unreadable line"),
        (b"readyok\n", "answered readyok unasked"),
        (b"x" * (MAX_LINE + 1), f"more than {MAX_LINE} bytes"),
        (b"???\n" * (MAX_STRAY_LINES + 1), "not UCI, the last '???'"),
    ],
)
def test_what_cannot_be_right_is_a_fault(answer: bytes, says: str | None) -> None:
    if says is None:
        assert search(WHITE, answer) == []
    else:
        assert says in fault(WHITE, answer)


def test_an_early_answer_or_one_about_another_move_is_a_fault() -> None:
    assert "before readyok" in fault(WHITE, SCORED + b"bestmove e1e2\n", readyok=b"")
    other = b"info depth 1 score cp 1 pv e1d1\nbestmove e1d1\n"
    assert "answered 'bestmove e1d1'" in fault(RESTRICTED, other)


@given(st.lists(st.integers(1, 40), max_size=40))
def test_it_does_not_matter_how_bytes_are_cut(cuts: list[int]) -> None:
    text = (
        b"readyok\r\ninfo depth 1 score cp 30 nodes 20 time 15 pv e1d1\r\n"
        b"info depth 2 score cp 31 nodes 40 time 16 pv e1e2\nbestmove e1e2\n"
    )
    conversation, events, at = ready(), [], 0
    conversation.begin_search(WHITE)
    for cut in cuts:
        events += conversation.events(text[at : at + cut])
        at += cut
    events += conversation.events(text[at:])
    assert events == search(WHITE, text.removeprefix(b"readyok\r\n"))


def adaptive(search_key: SearchKey) -> Conversation:
    conversation = ready(UciSettings(adaptive=True))
    conversation.begin_search(search_key)
    conversation.to_send()
    conversation.events(b"readyok\n")
    return conversation


def test_a_search_that_has_seen_enough_is_stopped_and_counts_no_more() -> None:
    conversation = adaptive(WHITE)
    for depth in (1, 2, 3):
        line = f"info depth {depth} score cp 30 nodes {depth * 99} pv e1e2\n"
        conversation.events(line.encode())
        assert conversation.to_send() == (b"stop\n" if depth == 3 else b"")
    later = b"info depth 4 score cp 99 nodes 400 pv h1h8\nbestmove h1h8\n"
    finished = conversation.events(later)[-1]
    assert isinstance(finished, SearchFinished)
    assert not finished.stopped
    found = finished.result
    assert (found.score, found.depth, found.best, found.nodes) == (
        Score(30),
        3,
        "e1e2",
        297,
    )


def test_lines_must_reach_one_depth_and_restricted_searches_their_limit() -> None:
    conversation = adaptive(SearchKey(WHITE.fen, (), Limit(nodes=1000), lines=2))
    conversation.events(b"info depth 9 multipv 1 score cp 30 nodes 800 pv e1e2\n")
    assert conversation.to_send() == b""
    conversation.events(b"info depth 9 multipv 2 score cp 20 nodes 900 pv e1d1\n")
    assert conversation.to_send() == b"stop\n"
    conversation = adaptive(RESTRICTED)
    conversation.events(b"info depth 9 score cp 30 nodes 9 time 49 pv e1e2\n")
    assert conversation.to_send() == b""


#: Stockfish 19 lite, 8 lines, 50,000 nodes: the last full report, and the one in which
#: the limit was reached. Depth 9 has just found a better first move, so all others
#: changed their rank.
CUT_SHORT = b"""\
info depth 8 multipv 1 score cp -63 nodes 48253 time 302 pv e6f4
info depth 8 multipv 2 score cp -104 nodes 48253 time 335 pv e8g8
info depth 8 multipv 3 score cp -120 nodes 48253 time 335 pv e6c7
info depth 8 multipv 4 score cp -150 nodes 48253 time 335 pv d8d7
info depth 8 multipv 5 score cp -151 nodes 48253 time 335 pv b8b7
info depth 8 multipv 6 score cp -153 nodes 48253 time 335 pv d8c8
info depth 8 multipv 7 score cp -159 nodes 48253 time 335 pv h7h6
info depth 8 multipv 8 score cp -187 nodes 48253 time 335 pv h7h5
info depth 9 multipv 1 score cp -114 upperbound nodes 50066 time 337 pv e8g8
info depth 8 multipv 2 score cp -63 nodes 50066 time 337 pv e6f4
info depth 8 multipv 3 score cp -120 nodes 50066 time 337 pv e6c7
info depth 8 multipv 4 score cp -150 nodes 50066 time 337 pv d8d7
info depth 8 multipv 5 score cp -151 nodes 50066 time 338 pv b8b7
info depth 8 multipv 6 score cp -153 nodes 50066 time 338 pv d8c8
info depth 8 multipv 7 score cp -159 nodes 50066 time 338 pv h7h6
info depth 8 multipv 8 score cp -187 nodes 50066 time 338 pv h7h5"""
FEN = "1r1qk2r/5ppp/3pnb2/1p1Np3/4P3/2PB4/1P3PPP/R2QK2R b KQk - 1 17"


def unexpected(problem: str) -> EngineFault:
    raise AssertionError(problem)


def read_transcript(lines: int, transcript: bytes) -> UciInfoReader:
    listening = UciInfoReader(SearchKey(FEN, (), Limit(nodes=50_000), lines=lines))
    for line in transcript.splitlines():
        listening.read_line(line, unexpected)
    return listening


def test_a_report_that_begins_with_a_bound_takes_no_line_from_the_last() -> None:
    result = read_transcript(8, CUT_SHORT).build_result("e8g8")
    assert result is not None
    moves = [line.move for line in result.lines]
    assert moves == ["e6f4", "e8g8", "e6c7", "d8d7", "b8b7", "d8c8", "h7h6", "h7h5"]
    assert (result.best, result.score.cp, result.depth) == ("e6f4", 63, 8)


def test_a_report_without_its_first_line_counts_for_nothing() -> None:
    """All lines are of one depth, but they are not the best ones."""
    first, rest = CUT_SHORT.split(b"\n", 9)[:8], CUT_SHORT.split(b"\n")[9:]
    whole = read_transcript(8, b"\n".join(first)).build_result("e8g8")
    assert whole is not None
    assert read_transcript(8, b"\n".join(rest)).build_result("e8g8") is None


def test_a_search_stopped_before_its_first_node_has_no_lines() -> None:
    """Stockfish 19 lite, stopped at once: told as it was, it cost the engine its life
    as a liar.
    """
    stopped = b"\n".join(
        (
            b"info depth 1 seldepth 0 multipv %d score cp 0 nodes 0 nps 0 "
            b"hashfull 0 time 1 pv"
        )
        % rank
        for rank in range(1, 9)
    )
    result = read_transcript(8, stopped).build_result("e8g8")
    assert result is not None
    assert (result.best, result.lines, result.nodes) == ("e8g8", (), 0)


def scores(*cps: int | None) -> list[Score | None]:
    return [None if cp is None else Score(cp) for cp in cps]


@pytest.mark.parametrize(
    ("last", "used", "stops"),
    [
        # His own example, after two of four minutes: 53, -63 and 57 from alternating
        # sides.
        (scores(53, 63, 57), 0.5, False),
        (scores(53, 63, 57), 0.5 + 1e-9, True),
        (scores(20, 20, 20), 0.25, False),
        (scores(20, 20, 20), 0.26, True),
        (scores(900, -900, 20, 20, 20), 0.26, True),
        (scores(20, 20, 50), 0.74, False),
        (scores(20, 20, 50), 0.75, True),
        (scores(20, 20), 0.74, False),
        (scores(20, None, 20), 0.74, False),
        (scores(), 0.8, True),
    ],
)
def test_stable_scores_stop_it_early_and_time_does_in_the_end(
    last: list[Score | None], used: float, stops: bool
) -> None:
    assert can_stop_search_early(last, used) is stops
