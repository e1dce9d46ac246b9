"""What the info lines of one search tell."""

from __future__ import annotations

from live.engine.search import Limit, SearchKey
from live.engine.uci import UciInfoReader
from live.errors import EngineFault

#: Stockfish 19 lite, 8 lines, 50,000 nodes: the last full report, and the one in which the limit
#: was reached. Depth 9 has just found a better first move, so all others changed their rank.
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


def fault(problem: str) -> EngineFault:
    raise AssertionError(problem)


def listened(lines: int, transcript: bytes) -> UciInfoReader:
    listening = UciInfoReader(SearchKey(FEN, (), Limit(nodes=50_000), lines=lines))
    for line in transcript.splitlines():
        listening.info(line, fault)
    return listening


def test_a_report_that_begins_with_a_bound_takes_no_line_from_the_last() -> None:
    result = listened(8, CUT_SHORT).result("e8g8")
    assert result is not None
    moves = [line.move for line in result.lines]
    assert moves == ["e6f4", "e8g8", "e6c7", "d8d7", "b8b7", "d8c8", "h7h6", "h7h5"]
    assert (result.best, result.score.cp, result.depth) == ("e6f4", 63, 8)


def test_a_report_without_its_first_line_counts_for_nothing() -> None:
    """All lines are of one depth, but they are not the best ones."""
    first, rest = CUT_SHORT.split(b"\n", 9)[:8], CUT_SHORT.split(b"\n")[9:]
    whole = listened(8, b"\n".join(first)).result("e8g8")
    assert whole is not None
    assert listened(8, b"\n".join(rest)).result("e8g8") is None


def test_a_search_stopped_before_its_first_node_has_no_lines() -> None:
    """Stockfish 19 lite, stopped at once: told as it was, it cost the engine its life as a liar."""
    stopped = b"\n".join(
        b"info depth 1 seldepth 0 multipv %d score cp 0 nodes 0 nps 0 hashfull 0 time 1 pv" % rank
        for rank in range(1, 9)
    )
    result = listened(8, stopped).result("e8g8")
    assert result is not None
    assert (result.best, result.lines, result.nodes) == ("e8g8", (), 0)
