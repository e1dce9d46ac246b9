"""What everybody of one event is measured with, and how figures are rounded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from live.engine.search import Limit, SearchOptions
from live.events import GainKind
from live.games.game import Game
from live.ratings.calibration.calibration_choice import CalibrationChoice, CalibrationShelf
from live.ratings.calibration.move_evidence import Calibration, Population
from live.ratings.ferreira.engine_distribution import EngineDistribution, SpikeAtZero
from live.ratings.pace_of_play import SPENT_PLIES, ClockedGame, Pace, pace_of
from live.ratings.regan.intrinsic_rating import IntrinsicTable
from live.ratings.strength.agreement import ChoiceModel
from live.ratings.strength.loss_model import LossReader
from live.ratings.strength.performance import Results

#: Decimals published: a hundredth of an Elo point, a millionth of a point of score. Figures are
#: rounded once, so that every subscriber adds the very same numbers.
ELO_DECIMALS = 2
SCORE_DECIMALS = 6


#: What Algorithm 4 shows of a field against an engine that nothing was learned of, Elo: -143 and
#: -151 over the board, -185 in blitz.
USUAL_DIFFERENCE = -150.0


class HumanSearches(NamedTuple):
    """The short search that says what the moves players choose would lose."""

    lines: int
    limit: Limit


class CalibrationsInUse(NamedTuple):
    """The gain that feeds the curves, what fits engine, limit and gain, and the options of
    searches.
    """

    gain: GainKind
    shelf: CalibrationShelf = CalibrationShelf()
    search_options: SearchOptions = SearchOptions()
    table: IntrinsicTable | None = None
    """For choices among several lines; None where none fits, see ``table_note``."""
    table_note: str = "Multi-PV is off ([engine] multipv)"
    losses: tuple[LossReader, ...] = ()
    """Models of losses, each for the games that the calibration of the same kind rates."""
    results: tuple[Results, ...] = ()
    """How games end, by pace."""
    forecast: ChoiceModel | None = None
    """Of the engine's first choices; None for an engine and limit of which it was not learned."""
    human: HumanSearches | None = None
    """For what players of a rating would play; None where nobody is asked."""

    engine_gains: EngineDistribution = SpikeAtZero()
    """How the engine's own gains are distributed: what Algorithm 4 measures players against."""

    def expected_difference(self, elo: float) -> float:
        """What Algorithm 4 shows of players of this Elo, against the engine."""
        for calibration in self.shelf.calibrations:
            learned = self._learned_for(calibration)
            if learned is not None:
                return learned.model.expected_difference(elo)
        return USUAL_DIFFERENCE

    def loss_reader(self, choice: CalibrationChoice) -> LossReader | None:
        """Of the games that ``choice`` rates; None where none was learned."""
        learned = self._learned_for(choice.calibration) if choice.calibration else None
        transfer = self.shelf.transfer
        if learned is None or transfer is None:
            return learned
        return LossReader(learned.model, transfer)

    def _learned_for(self, held: Calibration) -> LossReader | None:
        """As its own engine and limit would be read."""
        for each in self.losses:
            model = each.model
            same = model.mismatch(held.engine, held.limit, held.gain) is None
            if same and model.time_control == held.time_control:
                return each
        return None

    def results_of(self, pace: Pace | None) -> Results | None:
        """How games of this pace end; None where nothing was learned at all."""
        fast = pace in ("blitz", "bullet")
        wanted = "blitz" if fast else "classical"
        return next((each for each in self.results if each.time_control == wanted), None)


def choice_of(in_use: CalibrationsInUse, game: Game) -> CalibrationChoice:
    """Which calibration rates a game, by its pace as far as that is known."""
    return in_use.shelf.choose(game_pace(game))


def game_pace(game: Game) -> Pace | None:
    """How fast a game is played, as far as its source says."""
    clocks = [ClockedGame(move.clock_s, move.spent_s) for move in game.moves[:SPENT_PLIES]]
    return pace_of(game.headers.time_control, clocks)


class FieldPriors:
    """What is believed of every player before the first move, by calibration: the field as it is
    known now. One writer sets it (:class:`live.ledger.players.standings.EventStandings`), curves
    and players read it.
    """

    __slots__ = ("_by_name",)

    def __init__(self) -> None:
        self._by_name: Mapping[str, Population] = {}

    def set(self, by_name: Mapping[str, Population]) -> bool:
        """Returns whether anything is another now."""
        changed = by_name != self._by_name
        self._by_name = by_name
        return changed

    @property
    def known(self) -> Mapping[str, Population]:
        """By name of the calibration."""
        return self._by_name

    def of(self, calibration: Calibration) -> Population:
        return self._by_name.get(calibration.name, calibration.population)


def rounded(value: float | None, decimals: int) -> float | None:
    """``value`` as published; None stays None (unbounded or unknown)."""
    # Adding 0.0 turns -0.0, which JSON would show, into 0.0.
    return None if value is None else round(value, decimals) + 0.0
