"""Players with the figures of all their games, and the standings of the event. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from msgspec.structs import replace

from live.event.game_change import EventChange
from live.event.rate_game import (
    ELO_DECIMALS,
    Measure,
    SideFigures,
    algorithm_4_figures,
    perceived_figures,
    rounded,
)
from live.games.player_identity import person_key
from live.messages.figures import ChoiceEvidence, EngineInfo, GainCounts, PlayerView
from live.messages.from_sources import Headers, Player
from live.messages.to_clients import EngineMessage, GainsMessage, StandingMessage
from live.messages.values import Color, GameId
from live.ratings.agreement import ChoiceModel, compute_log_e_value
from live.ratings.algorithm_2 import Algorithm2
from live.ratings.ferreira import (
    Algorithm3,
    FieldEngineRating,
    MeasuredPlayer,
    run_algorithm_3,
)
from live.ratings.fide_rating import (
    RatedGame,
    choose_development_coefficient,
    compute_fide_performance,
    compute_rating_change,
)
from live.ratings.model_choice import PaceGroup
from live.ratings.perceived_rating import Evidence
from live.ratings.score_interval import ClusteredScores

#: The mean Elo of a field is rounded to multiples of this. Otherwise a late entry to a
#: large event would change every curve by invisible amounts.
LEVEL_STEP_ELO = 20


class PlayedGame(NamedTuple):
    """One game of a player, with its present figures."""

    player: Player
    """The player as named in this game's headers. The headers of other games can
    differ.
    """
    opponent_elo: int | None
    points: float | None
    """Points by the result, 0 to 1; None while the game has no result."""
    was_played: bool
    """True if both players have moved."""
    side: SideFigures
    date: str = ""


class PlayerTotals:
    """The games of one person.

    Gains are counted whenever a game changes. All other figures are computed from the
    games on demand.
    """

    def __init__(self, key: str, measure: Measure) -> None:
        self.key = key
        self._measure = measure
        self.games: dict[GameId, PlayedGame] = {}
        """All games of the person, by game id."""
        self.gains: Counter[int] = Counter()
        """Number of moves for each gain, in whole centipawns."""
        # The counts of gains that subscribers received last.
        self._sent_gains: Counter[int] = Counter()
        self.player = Player("")
        """The name from the game with the lowest id, and the first known rating in the
        order of game ids. So the result does not depend on the order in which games are
        reported.
        """
        # The figures; None if they must be computed again.
        self._view: PlayerView | None = None

    def set_game(self, game: GameId, played: PlayedGame | None) -> None:
        """Set the figures of a game.

        None removes a game that was deleted or belongs to another person.
        """
        previous = self.games.get(game)
        # The figures of a side are the same object until they change, so this test is
        # fast.
        if previous is not None and previous == played:
            return
        self._view = None
        if played is None:
            self.games.pop(game, None)
        else:
            self.games[game] = played
        # Only this game is counted again, because a player can have thousands of games.
        # A new counter is made, because the previous one might have been sent.
        self.gains = self.gains - _count_gains(previous) + _count_gains(played)
        reported = [self.games[game_id].player for game_id in sorted(self.games)]
        if reported:
            elo = next(
                (player.elo for player in reported if player.elo is not None), None
            )
            k = next((player.k for player in reported if player.k is not None), None)
            self.player = replace(reported[0], elo=elo, k=k)

    def measure_by(self, measure: Measure) -> None:
        """Compute all later figures with other models."""
        self._measure, self._view = measure, None

    def take_changed_gains(self) -> GainCounts:
        """Return the gains whose counts have changed since the last call, with these
        counts.
        """
        before, self._sent_gains = self._sent_gains, self.gains
        changed = dict(before.items() ^ self.gains.items())
        return tuple((gain_cp, self.gains[gain_cp]) for gain_cp in sorted(changed))

    @property
    def scores(self) -> ClusteredScores:
        """Return the scores of all moves against the engine."""
        return ClusteredScores(game.side.scores for game in self.games.values())

    @property
    def expected_score(self) -> float | None:
        """Return the expected score per move against the engine, over all moves.

        See Ferreira 2012, Eq. 2. Return None without a move.
        """
        scores = self.scores
        return (
            scores.total / (scores.n * self._measure.engine_gains.scale)
            if scores.n
            else None
        )

    @property
    def changed(self) -> bool:
        """Return whether figures can have changed since the last call of
        :meth:`view`.
        """
        return self._view is None

    def view(self) -> PlayerView:
        """Return all figures. The result is the same object until a figure changes."""
        if self._view is None:
            self._view = self._build_view()
        return self._view

    def _build_view(self) -> PlayerView:
        games = [self.games[game_id] for game_id in sorted(self.games)]
        points = [game.points for game in games if game.points is not None]
        pace = find_main_pace(games)
        paced = [game for game in games if game.side.pace == pace]
        total_cp = sum(gain_cp * moves for gain_cp, moves in self.gains.items())
        mean = total_cp / self.gains.total() if self.gains else None
        return PlayerView(
            id=self.key,
            name=self.player.name,
            elo=self.player.elo,
            games=len(games),
            moves=self.gains.total(),
            points=math.fsum(points) if points else None,
            finished=len(points),
            agreement=_sum_choices(paced, self._measure.forecast),
            mean_gain_cp=rounded(mean, 2),
            **algorithm_4_figures(self.scores, self._measure),
            **self._rate_perceived(pace, paced, len(games)),
            **_compute_fide_figures(paced, self.player),
        )

    def _rate_perceived(
        self, pace: PaceGroup, paced: Sequence[PlayedGame], games: int
    ) -> dict[str, Any]:
        """Return the fields of the perceived rating over the games of the main pace.

        Games at other paces are left out, because ratings at different paces are not
        comparable.
        """
        choice = self._measure.models.choose_for_group(pace)
        evidences = [
            game.side.evidence for game in paced if game.side.evidence is not None
        ]
        total = reduce(Evidence.join, evidences) if evidences else None
        if total is not None and len(evidences) > 1 and choice.reader is not None:
            total = total._replace(kappa=choice.reader.event_dispersion)
        notes = [choice.note] if choice.note else []
        if len(paced) < games:
            notes.append(
                f"{len(paced)} of {games} games: the others are of another pace"
            )
        return {
            **perceived_figures(total, choice.reader),
            "model": choice.model,
            "note": "; ".join(notes),
        }


GamePlayers = dict[Color, PlayerTotals]


def _count_gains(played: PlayedGame | None) -> Counter[int]:
    return Counter(played.side.gains_cp if played else ())


def _sum_choices(
    paced: Sequence[PlayedGame], forecast: ChoiceModel | None
) -> ChoiceEvidence | None:
    choices = [game.side.choices for game in paced]
    counted = [
        game_choices
        for game_choices in choices
        if game_choices is not None and game_choices.moves
    ]
    if forecast is None or not counted:
        return None
    return ChoiceEvidence(
        sum(game_choices.moves for game_choices in counted),
        sum(game_choices.matches for game_choices in counted),
        round(math.fsum(game_choices.expected for game_choices in counted), 2),
        round(compute_log_e_value(counted, forecast.player_sd, forecast.game_sd), 3),
    )


def find_main_pace(games: Sequence[PlayedGame]) -> PaceGroup:
    """Return the pace at which most moves were played."""
    moves = Counter[PaceGroup]()
    for game in games:
        moves[game.side.pace] += 1 + len(game.side.gains_cp)
    return max(moves, key=lambda pace: (moves[pace], pace), default="classical")


def _compute_fide_figures(
    games: Sequence[PlayedGame], player: Player
) -> dict[str, Any]:
    """Return the performance figures by FIDE's rules.

    They include finished games against rated opponents in which both players moved.
    """
    finished = [
        RatedGame(game.opponent_elo, game.points, game.date)
        for game in games
        if game.points is not None and game.opponent_elo is not None and game.was_played
    ]
    if not finished:
        return {}
    opponents = [game.opponent_elo for game in finished]
    points = math.fsum(game.points for game in finished)
    figures: dict[str, Any] = {
        "fide_performance": compute_fide_performance(opponents, points)
    }
    if player.elo is not None:
        k = player.k or choose_development_coefficient(player.elo)
        change = compute_rating_change(player.elo, finished, k)
        figures |= {
            "rating_change": rounded(change, ELO_DECIMALS),
            "rating_k": k,
            "rating_k_listed": player.k is not None,
        }
    return figures


class EventStandings:
    """All players of the event, and the engine's rating.

    Args:
        measure: the definitions and models with which games are rated.
        engine: the engine with its rating before the first move. A rating that is not
            ``fixed`` is measured over the players of the event.
        collect: receives messages.
    """

    def __init__(
        self,
        measure: Measure,
        engine: EngineInfo,
        collect: Callable[[EventChange], None],
    ) -> None:
        self.engine = self.stored_engine = _name_models(engine, measure)
        """The engine with its current rating (``engine``), and with its rating before
        any game was known (``stored_engine``).
        """
        self._collect = collect
        self._measure = measure
        self._field = FieldEngineRating(engine.rating)
        # Only rated players with at least one game, since a large database has many
        # others.
        self._elos: dict[str, int] = {}
        self._total_elo = 0
        self.totals: dict[str, PlayerTotals] = {}
        """Every player, by id."""
        # Each player's figures that subscribers received last.
        self._sent_views: dict[str, PlayerView] = {}

    def measure_by(self, measure: Measure) -> None:
        """Use other models for all players. The caller must rate the games again."""
        self._measure = measure
        for player in self.totals.values():
            player.measure_by(measure)
        self._set_prior_engine_rating()
        self._update_engine_rating(_name_models(self.engine, measure))

    def find_players(self, id: GameId, headers: Headers) -> GamePlayers:
        """Return the two players of game ``id``.

        A person has the same object in all games.
        """
        white, black = person_key(headers.white), person_key(headers.black)
        if white == black:
            # White and Black have equal keys only if an operator made an error, or if
            # the players are two guests or two copies of an engine.
            white = black = ""
        # Each player without a name counts as a separate person.
        return {
            "white": self._totals(white or f"{id}-white"),
            "black": self._totals(black or f"{id}-black"),
        }

    def _totals(self, key: str) -> PlayerTotals:
        if key not in self.totals:
            self.totals[key] = PlayerTotals(key, self._measure)
        return self.totals[key]

    @property
    def _mean_elo(self) -> float | None:
        return self._total_elo / len(self._elos) if self._elos else None

    @property
    def field(self) -> float | None:
        """Return the mean Elo of the rated players, rounded to a multiple of
        ``LEVEL_STEP_ELO``.

        Return None while no player is rated.
        """
        mean = self._mean_elo
        return (
            None
            if mean is None
            else float(LEVEL_STEP_ELO * round(mean / LEVEL_STEP_ELO))
        )

    def rate(self, affected: Iterable[PlayerTotals]) -> None:
        """Update the engine's rating, and the figures of ``affected`` players that have
        changed.
        """
        for _ in self.rate_in_pieces(affected):
            pass

    def rate_in_pieces(
        self, affected: Iterable[PlayerTotals]
    ) -> Generator[None, None, None]:
        """Do the same as :meth:`rate`, but yield after every player.

        Use this only while no screen shows the standings.
        """
        changed = {player.key: player for player in affected if player.changed}
        for key, player in changed.items():
            moves, elo = player.gains.total(), player.player.elo
            self._field.update(key, elo, moves, player.expected_score)
            self._total_elo -= self._elos.pop(key, 0)
            if elo is not None and player.games:
                self._elos[key] = elo
                self._total_elo += elo
        self._set_prior_engine_rating()
        self._update_engine_rating(self.engine)
        for key, player in changed.items():
            for gain_cp, moves in player.take_changed_gains():
                self._collect(GainsMessage(key, gain_cp, moves))
            self._collect_changed_view(player.view())
            if not player.games:
                self.totals.pop(key, None)
                self._sent_views.pop(key, None)
            yield

    def _set_prior_engine_rating(self) -> None:
        """Set the engine's starting rating, which has weight until many moves are
        known.

        It is chosen so that the mean of the players' ratings by Algorithm 4 equals
        their mean Elo.
        """
        self._field.prior_elo = self.stored_engine.rating
        if (mean := self._mean_elo) is not None:
            self._field.prior_elo = mean - self._measure.expected_difference(mean)

    def _update_engine_rating(self, engine: EngineInfo) -> None:
        rating, moves = self._field.rating, keep_two_digits(self._field.moves)
        measured = engine.rating_source != "fixed"
        if measured and (rating, moves) != (engine.rating, engine.rating_moves):
            engine = replace(
                engine,
                rating=rating,
                rating_source="field" if moves else "calibration",
                rating_moves=moves,
            )
        if engine != self.engine:
            self.engine = engine
            self._collect(EngineMessage(engine))

    def _collect_changed_view(self, view: PlayerView) -> None:
        previous = self._sent_views.get(view.id)
        if previous is not view and previous != view:
            self._sent_views[view.id] = view
            self._collect(StandingMessage(view))

    def players(self) -> tuple[PlayerView, ...]:
        """Return every player, in order of appearance."""
        return tuple(self._sent_views.values())

    def gains(self, player: str) -> GainCounts:
        """Return the counts of a player's gains over the event; empty for an unknown
        player.
        """
        totals = self.totals.get(player)
        return tuple(sorted(totals.gains.items())) if totals is not None else ()

    def build_algorithm_2(self) -> Algorithm2:
        """Return Algorithm 2 with the data of the event.

        This takes some milliseconds per game.
        """
        algorithm = Algorithm2(self._measure.gain)
        pairs: dict[GameId, list[str]] = {}
        for key, totals in self.totals.items():
            algorithm.rate(key, totals.player.elo if totals.games else None)
            for id in sorted(totals.games):
                pairs.setdefault(id, []).append(key)
                algorithm.add_game(key, totals.games[id].side.gains_cp)
        for pair in pairs.values():
            if len(pair) == 2:
                algorithm.record_pairing(*pair)
        return algorithm

    def rate_engine(self) -> Algorithm3:
        """Return the result of Algorithm 3 for the players of the event.

        Its rows are by player id (Ferreira 2012, Table 4).
        """
        strengths = self.build_algorithm_2().solve_strengths()
        return run_algorithm_3(
            MeasuredPlayer(
                key,
                totals.expected_score,
                totals.player.elo,
                strengths[key].rating if key in strengths else None,
            )
            for key, totals in self.totals.items()
            if totals.expected_score is not None
        )


def keep_two_digits(count: int) -> int:
    """Return the count rounded down to two significant digits."""
    unit: int = 10 ** max(0, len(str(count)) - 2)
    return count // unit * unit


def _name_models(engine: EngineInfo, measure: Measure) -> EngineInfo:
    """Return the engine with the names of the models that rate by its scores."""
    models = measure.models
    return replace(
        engine, models=tuple(model.name for model in models.models), note=models.note
    )
