"""What is known of every position of one game, from our engines or from a file.

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
            return measure_complexity(
                [None if cp is None else Score(cp) for cp in self.by_depth]
            )
        return self.summary


class PositionSearch(Value, array_like=True, gc=False):
    """A position and the move played in it."""

    whole: MoveSearch
    """Of the position; the score of a finished one follows from the rules."""
    best: str = ""
    """The engine's first choice (UCI); empty where unknown."""
    played: MoveSearch | None = None
    """Of the move played, where it was not the first choice."""
    lines: tuple[tuple[str, int], ...] = ()
    """Of a Multi-PV search: moves and their scores, best first."""


def compute_gains(
    before: PositionSearch, after: PositionSearch | None, uci: str, color: Color
) -> tuple[int | None, int | None]:
    """Return the same-search and the successive gain of a move, centipawns; None where
    unknown.
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
    """All positions of a game in order, the start first; one more than there are
    plies.
    """

    positions: tuple[PositionSearch | None, ...]
    """None: not known."""


def build_move_search(result: SearchResult) -> MoveSearch:
    """Convert an engine's result to the form in which it is stored."""
    score = result.score
    by_depth = tuple(None if each is None else each.cp for each in result.by_depth)
    spent = result.seldepth, result.time_ms, result.nodes, result.tbhits
    return MoveSearch(score.cp, score.mate, result.depth, *spent, by_depth)


class SearchSetting(Value):
    """What makes results comparable: only those of one setting are ever pooled."""

    engine: str
    """What the engine calls itself, with what changes its scores."""
    bound: str
    """The limit of a search: ``100000 nodes``."""
    lines: int = 1
    version: str = ""
    """Of live-rate, which reads what engines print; empty for evaluations that a file
    gave.
    """

    def __str__(self) -> str:
        told = "lines" in self.bound or self.lines == 1
        return f"{self.engine}, {self.bound}{'' if told else f', {self.lines} lines'}"
