"""What everybody of one event is measured with, and how figures are rounded."""

from __future__ import annotations

from typing import NamedTuple

from live.engine.search import Limit, SearchOptions
from live.events import GainKind
from live.games.game import Game
from live.ratings.agreement import ChoiceModel
from live.ratings.expected_result import ResultModel
from live.ratings.ferreira import SPIKE_AT_ZERO, EngineDistribution
from live.ratings.intrinsic_rating import IntrinsicTable
from live.ratings.pace_of_play import SPENT_PLIES, ClockedGame, Pace, pace_of
from live.ratings.perceived_model import Models

#: Decimals published: a hundredth of an Elo point, a millionth of a point of score. Figures are
#: rounded once, so that every subscriber adds the very same numbers.
ELO_DECIMALS = 2
SCORE_DECIMALS = 6
PERCENT_DECIMALS = 1

#: What Algorithm 4 shows of a field against an engine that nothing was learned of, Elo: -143 and
#: -151 over the board, -185 in blitz.
USUAL_DIFFERENCE = -150.0


class HumanSearches(NamedTuple):
    """The short search that says what the moves players choose would lose."""

    lines: int
    limit: Limit


class Measure(NamedTuple):
    """The gain that feeds the curves, the models that fit engine, limit and gain, and the options
    of searches.
    """

    gain: GainKind
    models: Models = Models()
    """What perceived ratings are read by."""
    search_options: SearchOptions = SearchOptions()
    table: IntrinsicTable | None = None
    """For choices among several lines; None where none fits, see ``table_note``."""
    table_note: str = "Multi-PV is off ([engine] multipv)"
    results: tuple[ResultModel, ...] = ()
    """How games end, by pace."""
    forecast: ChoiceModel | None = None
    """Of the engine's first choices; None for an engine and limit of which it was not learned."""
    human: HumanSearches | None = None
    """For what players of a rating would play; None where nobody is asked."""

    engine_gains: EngineDistribution = SPIKE_AT_ZERO
    """How the engine's own gains are distributed: what Algorithm 4 measures players against."""

    def expected_difference(self, elo: float) -> float:
        """What Algorithm 4 shows of players of this Elo, against the engine."""
        for model in self.models.models:
            return model.expected_difference(elo)
        return USUAL_DIFFERENCE

    def results_of(self, pace: Pace | None) -> ResultModel | None:
        """How games of this pace end; None where nothing was learned at all."""
        fast = pace in ("blitz", "bullet")
        wanted = "blitz" if fast else "classical"
        return next((each for each in self.results if each.time_control == wanted), None)


def game_pace(game: Game) -> Pace | None:
    """How fast a game is played, as far as its source says."""
    clocks = [ClockedGame(move.clock_s, move.spent_s) for move in game.moves[:SPENT_PLIES]]
    return pace_of(game.headers.time_control, clocks)


def rounded(value: float | None, decimals: int) -> float | None:
    """``value`` as published; None stays None (unbounded or unknown)."""
    # Adding 0.0 turns -0.0, which JSON would show, into 0.0.
    return None if value is None else round(value, decimals) + 0.0
