"""Reads the info lines of one search, as far as they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from live.engine.search import Limit, Line, SearchProgress, SearchResult
from live.engine.search_key import SearchKey
from live.errors import EngineFault
from live.events import MATE_CP, Score


def used_share(limit: Limit, nodes: int, time_ms: int) -> float:
    """How much of the limit is used up, 0 to 1; nothing of a limit of depth."""
    if limit.nodes is not None:
        return nodes / limit.nodes
    return time_ms / limit.movetime_ms if limit.movetime_ms is not None else 0.0


def enough(by_depth: Sequence[Score | None], used: float) -> bool:
    """Whether a search may stop before its limit, at the end of an iteration.

    Always after three quarters of the limit; else after a quarter plus a fortieth for each
    centipawn by which the scores of the last three depths differ.

    Source: Alliot 2017, section 2.3. His limit was four minutes and the time to stop
    4 x (10 + max |difference|) / 40 minutes; here times are shares of the limit. Under a limit of
    nodes the result depends only on what the engine prints, so it is the same every time. His
    second condition (a game decided for three turns) is left out: the score of a position would
    depend on the scores before it, and boards could not share it.

    Args:
        by_depth: exact score after each depth from 1, the one just finished last.
        used: share of the limit, 0 to 1.
    """
    if used >= 0.75:
        return True
    last = [score.cp for score in by_depth[-3:] if score is not None]
    if len(last) < 3:
        return False
    return used > (10 + max(last) - min(last)) / 40


class SearchDeepened(msgspec.Struct, frozen=True):
    """An exact score at a new depth."""

    progress: SearchProgress


class UciInfoReader:
    """What the info lines of one search have given so far."""

    def __init__(self, search_key: SearchKey, *, adaptive: bool = False) -> None:
        self.search_key = search_key
        # Restricted searches are made for comparison, to their own limit.
        self._adaptive = adaptive and search_key.only is None
        self.enough = False
        """The search need not go on; what it prints from now on does not count."""
        turn = (search_key.fen.split(" ", 2)[1] == "w") == (len(search_key.moves) % 2 == 0)
        self._sign = 1 if turn else -1
        # The last line with a score, bound or not, and the last exact one.
        self._last: tuple[int, Score] | None = None
        self._exact: tuple[int, Score] | None = None
        self._exact_best = ""
        self._by_depth: list[Score | None] = []
        self._nodes = 0
        self._time_ms = 0
        self._seldepth = 0
        self._tbhits = 0
        # Multi-PV: the lines of the depth being reported, by rank, and the last full set.
        self._ranks: dict[int, Line] = {}
        self._full: tuple[Line, ...] = ()

    def info(self, line: bytes, fault: Callable[[str], EngineFault]) -> SearchDeepened | None:
        if self.enough or line.startswith(b"info string"):
            return None
        if not line.isascii():
            raise fault(f"unreadable line {quoted(line)}")
        if b" score " not in line:
            return None
        head, _, pv = line.partition(b" pv ")
        words = head.split()
        try:
            seen = _numbers(words)
            score = _score(words, self._sign)
        except (ValueError, IndexError):
            raise fault(f"unreadable line {quoted(line)}") from None
        depth = seen.get(b"depth", 0)
        rank = seen.get(b"multipv", 1)
        if not 0 <= depth <= 1000:
            raise fault(f"impossible depth in {quoted(line)}")
        self._nodes = seen.get(b"nodes", self._nodes)
        self._time_ms = seen.get(b"time", self._time_ms)
        self._seldepth = seen.get(b"seldepth", self._seldepth)
        self._tbhits = seen.get(b"tbhits", self._tbhits)
        exact = b"lowerbound" not in words and b"upperbound" not in words
        complete = self.search_key.lines == 1
        if not complete:
            if rank == 1:
                # A new report. Lines of the last one are none of its own, also where it begins
                # with a bound: the moves may have changed ranks.
                self._ranks.clear()
            complete = exact and self._rank(rank, depth, score, pv)
        if rank != 1:
            self._consider(complete)
            return None
        self._last = (depth, score)
        if not exact:
            return None
        self._exact = (depth, score)
        self._exact_best = _first(pv)
        if depth < 1:
            return None
        while len(self._by_depth) < depth:
            self._by_depth.append(None)
        self._by_depth[depth - 1] = score
        self._consider(complete)
        return SearchDeepened(SearchProgress(score=score, depth=depth))

    def _consider(self, complete: bool) -> None:
        """Stop early? Only where all requested lines have been searched to the same depth."""
        if self._adaptive and complete:
            used = used_share(self.search_key.limit, self._nodes, self._time_ms)
            self.enough = enough(self._by_depth, used)

    def _rank(self, rank: int, depth: int, score: Score, pv: bytes) -> bool:
        """Take one of several lines; whether it completes a set of the same depth.

        A search that is stopped before its first node reports every line without a move.
        """
        if not pv.strip():
            return False
        self._ranks[rank] = Line(move=_first(pv), score=score, depth=depth)
        top = self._ranks.get(1)
        if (
            top is not None
            and len(self._ranks) >= len(self._full)
            and list(self._ranks) == list(range(1, len(self._ranks) + 1))
            and all(line.depth == top.depth for line in self._ranks.values())
        ):
            self._full = tuple(self._ranks.values())
            return len(self._full) == self.search_key.lines
        return False

    def result(self, best: str) -> SearchResult | None:
        """What was found, or None when no score was ever reported.

        A whole search counts its last exact line (and, should an engine never print one, its
        last bound); a restricted one its last line; one of several lines the best of the last
        full set, so that all its scores are of the same depth (Alliot 2017, section 2.3).
        """
        told = self._last if self.search_key.only is not None else self._exact or self._last
        if told is None:
            return None
        depth, score = told
        exact_best = self._exact_best
        if self._full:
            depth, score, exact_best = self._full[0].depth, self._full[0].score, self._full[0].move
        if self._full or self.enough:
            best = exact_best
        return SearchResult(
            score=score,
            best=best,
            depth=depth,
            by_depth=tuple(self._by_depth),
            nodes=self._nodes,
            time_ms=self._time_ms,
            exact_best=exact_best,
            lines=self._full,
            seldepth=self._seldepth,
            tbhits=self._tbhits,
        )


_NUMBERS: Final = frozenset((b"depth", b"seldepth", b"multipv", b"nodes", b"tbhits", b"time"))


def _numbers(words: list[bytes]) -> dict[bytes, int]:
    return {word: int(words[index + 1]) for index, word in enumerate(words) if word in _NUMBERS}


def _score(words: list[bytes], sign: int) -> Score:
    """``score cp X`` or ``score mate N`` turned to White's side and clamped."""
    at = words.index(b"score")
    kind, value = words[at + 1], sign * int(words[at + 2])
    if kind == b"cp":
        return Score(cp=max(-MATE_CP, min(MATE_CP, value)))
    if kind == b"mate":
        if value == 0:
            # The side to move is mated, which no position we send is.
            raise ValueError
        return Score(cp=MATE_CP if value > 0 else -MATE_CP, mate=value)
    raise ValueError


def _first(pv: bytes) -> str:
    """The move a principal variation begins with."""
    return pv.split(b" ", 1)[0].strip().decode("utf-8", "replace")


def quoted(line: bytes) -> str:
    """The beginning of a line, harmless to print."""
    return repr(line[:80].decode("utf-8", "replace"))
