"""Search results for every position of one game, from this project's engines or from a
file.

Scores are centipawns from White's side; a forced mate is ±3900. Everything that a
search reports is stored: depth, selective depth, time, nodes, tablebase hits and the
score after each depth. So a later method needs no new search (Alliot 2017, section 4.1,
asks for this).
"""

from live.engine.search import SearchResult
from live.messages.from_sources import Score
from live.messages.values import Color, Value
from live.ratings.complexity import Complexity, measure_complexity
from live.ratings.gains import compute_same_search_gain, compute_successive_gain


class MoveSearch(Value, array_like=True, gc=False):
    """One search of a position, or of one move in it. In the fields other than ``cp``
    and ``mate``, 0 and None mean unknown.
    """

    cp: int
    mate: int | None = None
    depth: int = 0
    seldepth: int = 0
    time_ms: int = 0
    nodes: int = 0
    tbhits: int = 0
    by_depth: tuple[int | None, ...] = ()
    """Exact score after each depth from 1 on, centipawns, White's side."""
    summary: Complexity | None = None
    """Stability figures, if a file gives these instead of the scores by depth."""

    @property
    def complexity(self) -> Complexity | None:
        """Alliot's indicators of complexity (2017, section 3.1); None if unknown."""
        if self.by_depth:
            return measure_complexity(
                [None if cp is None else Score(cp) for cp in self.by_depth]
            )
        return self.summary


class PositionSearch(Value, array_like=True, gc=False):
    """Searches of a position and of the move played in it."""

    whole: MoveSearch
    """Search of the position. The score of a finished position follows from the
    rules.
    """
    best: str = ""
    """The engine's first choice (UCI); empty if unknown."""
    played: MoveSearch | None = None
    """Search of the move played, if it was not the first choice."""
    lines: tuple[tuple[str, int], ...] = ()
    """Moves and their scores in a Multi-PV search, best first."""


def compute_gains(
    before: PositionSearch, after: PositionSearch | None, uci: str, color: Color
) -> tuple[int | None, int | None]:
    """Return the same-search gain and the successive gain of a move, centipawns; None
    for a gain that is unknown.
    """
    best = Score(before.whole.cp)
    gain = None
    if before.best == uci:
        gain = 0
    elif before.played is not None and before.best:
        gain = compute_same_search_gain(best, Score(before.played.cp), color)
    return gain, None if after is None else compute_successive_gain(
        best, Score(after.whole.cp), color
    )


class SearchedGame(Value, array_like=True):
    """All positions of a game in order, from the starting position on: one more than
    there are plies.
    """

    positions: tuple[PositionSearch | None, ...]
    """None for a position that was not searched."""


def build_move_search(result: SearchResult) -> MoveSearch:
    """Convert an engine's result to the form in which it is stored."""
    score = result.score
    by_depth = tuple(None if score is None else score.cp for score in result.by_depth)
    spent = result.seldepth, result.time_ms, result.nodes, result.tbhits
    return MoveSearch(score.cp, score.mate, result.depth, *spent, by_depth)


class SearchSetting(Value):
    """Setting of searches. Only results of equal settings are comparable and are
    pooled.
    """

    engine: str
    """The engine's own name, with the options that change its scores."""
    bound: str
    """Limit of a search, such as ``100000 nodes``."""
    lines: int = 1
    version: str = ""
    """Version of live-rate, which interprets the engine's output; empty for evaluations
    that come from a file.
    """

    def __str__(self) -> str:
        is_stated = "lines" in self.bound or self.lines == 1
        return (
            f"{self.engine}, {self.bound}{'' if is_stated else f', {self.lines} lines'}"
        )
