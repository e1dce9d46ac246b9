"""What is known of every position of one game: found by our engines, or given by a file.

Scores are centipawns from White's side, a forced mate ±3900. Everything a search reports is kept:
depth, selective depth, time, nodes, tablebase hits and the score after each depth, so that a later
method needs no new search (Alliot 2017, section 4.1, asks for as much).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import msgspec

from live.engine.search import SearchResult
from live.events import MATE_CP, Score
from live.ratings.alliot.complexity import Complexity, complexity


class MoveSearch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One search: of a position, or of one move in it. 0 and None: not known."""

    cp: int
    mate: int | None = None
    depth: int = 0
    seldepth: int = 0
    time_ms: int = 0
    nodes: int = 0
    tbhits: int = 0
    by_depth: tuple[int | None, ...] = ()
    """Exact score after each depth from 1, centipawns, White's side."""
    summary: Complexity | None = None
    """Where a file gives the figures on stability instead of the scores."""

    @property
    def complexity(self) -> Complexity | None:
        """Alliot's indicators (2017, section 3.1)."""
        if self.by_depth:
            return complexity([None if cp is None else Score(cp) for cp in self.by_depth])
        return self.summary


class PositionSearch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A position and the move played in it."""

    whole: MoveSearch
    """Of the position; the score of a finished one follows from the rules."""
    best: str = ""
    """The engine's first choice (UCI); empty where unknown."""
    played: MoveSearch | None = None
    """Of the move played, where it was not the first choice."""
    lines: tuple[tuple[str, int], ...] = ()
    """Of a Multi-PV search: moves and their scores, best first."""


class SearchedGame(msgspec.Struct, frozen=True, array_like=True):
    """All positions of a game in order, the start first; one more than there are plies."""

    positions: tuple[PositionSearch | None, ...]
    """None: not known."""


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(SearchedGame)


def encode_searched(game: SearchedGame) -> bytes:
    """As it is stored."""
    return zlib.compress(_encoder.encode(game), 3)


def decode_searched(data: bytes) -> SearchedGame:
    """Raises ValueError for what ``encode_searched`` did not make."""
    try:
        return _decoder.decode(zlib.decompress(data))
    except zlib.error as error:
        raise ValueError(str(error)) from None


def move_search(result: SearchResult) -> MoveSearch:
    """What an engine found, as it is kept."""
    return MoveSearch(
        cp=result.score.cp,
        mate=result.score.mate,
        depth=result.depth,
        seldepth=result.seldepth,
        time_ms=result.time_ms,
        nodes=result.nodes,
        tbhits=result.tbhits,
        by_depth=tuple(None if score is None else score.cp for score in result.by_depth),
    )


def clamped(cp: int) -> int:
    """A score that is within what this package counts with."""
    return max(-MATE_CP, min(MATE_CP, cp))


def cps(scores: Sequence[object]) -> tuple[int | None, ...]:
    """Scores by depth as files have them: centipawns, ``M`` and ``-M`` for mates, null."""
    found: list[int | None] = []
    for score in scores:
        if score == "M" or score == "-M":
            found.append(MATE_CP if score == "M" else -MATE_CP)
        else:
            found.append(clamped(score) if isinstance(score, int) else None)
    return tuple(found)
