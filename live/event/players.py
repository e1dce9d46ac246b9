"""Players pooled over the event, and their standings. Pure."""

import math
from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

from msgspec.structs import replace

from live.event.rate_game import (
    ELO_DECIMALS,
    Measure,
    SideFigures,
    algorithm_4_figures,
    perceived_figures,
    rounded,
)
from live.event.requests import Outbox
from live.games.player_identity import person_key
from live.messages.figures import ChoiceEvidence, EngineInfo, GainCounts, PlayerView
from live.messages.from_sources import Headers, Player
from live.messages.to_clients import EngineMessage, GainsMessage, StandingMessage
from live.messages.values import Color, GameId
from live.ratings.agreement import ChoiceModel, compute_log_e_value
from live.ratings.expected_score import (
    RatedGame,
    choose_development_coefficient,
    compute_fide_performance,
    compute_rating_change,
)
from live.ratings.ferreira import (
    Algorithm2,
    Algorithm3,
    FieldEngineRating,
    MeasuredPlayer,
    run_algorithm_3,
)
from live.ratings.perceived_model import PaceGroup
from live.ratings.perceived_rating import Evidence
from live.ratings.score_interval import ClusteredScores

#: The level of a field moves in steps, Elo, so that a late entry does not shift every curve of a
#: large event by less than can be seen.
LEVEL_STEP_ELO = 20


class PlayedGame(NamedTuple):
    """One game of the player, as it stands."""

    player: Player
    """As this game has the player; several may differ."""
    opponent_elo: int | None
    points: float | None
    """By its result; None while it has none."""
    was_played: bool
    """Both players have moved."""
    side: SideFigures
    date: str = ""


class PlayerTotals:
    """The games of one person: the gains counted as they come and go, all else made anew from the
    games when it is asked for.
    """

    def __init__(self, key: str, measure: Measure) -> None:
        self.key = key
        self._measure = measure
        self.games: dict[GameId, PlayedGame] = {}
        """All of the person, by id."""
        self.gains: Counter[int] = Counter()
        """Moves by gain, at one centipawn."""
        # As somebody was sent them.
        self._sent_gains: Counter[int] = Counter()
        self.player = Player("")
        """Who it is: as the first game by id has it, with the first rating that any game has.
        Follows from the games as they are now: neither their order nor the past matters.
        """
        # None when out of date.
        self._view: PlayerView | None = None

    def set(self, game: GameId, played: PlayedGame | None) -> None:
        """A game stands like this now; None: it is gone, or it was somebody else's."""
        held = self.games.get(game)
        # Figures of a side that say the same are the same object.
        if held is not None and held == played:
            return
        self._view = None
        if played is None:
            self.games.pop(game, None)
        else:
            self.games[game] = played
        # Of a player of thousands of games nothing is counted again; a new one, since the one
        # before may have been sent.
        self.gains = self.gains - _gains(held) + _gains(played)
        reported = [self.games[each].player for each in sorted(self.games)]
        if reported:
            elo = next((each.elo for each in reported if each.elo is not None), None)
            k = next((each.k for each in reported if each.k is not None), None)
            self.player = replace(reported[0], elo=elo, k=k)

    def measure_by(self, measure: Measure) -> None:
        """Other models read the games from now on."""
        self._measure, self._view = measure, None

    def take_changed_gains(self) -> GainCounts:
        """Those whose counts have changed since the last call, as they are now; 0 moves: none."""
        before, self._sent_gains = self._sent_gains, self.gains
        changed = dict(before.items() ^ self.gains.items())
        return tuple((gain_cp, self.gains[gain_cp]) for gain_cp in sorted(changed))

    @property
    def scores(self) -> ClusteredScores:
        """Of all moves against the engine."""
        return ClusteredScores(game.side.scores for game in self.games.values())

    @property
    def expected_score(self) -> float | None:
        """Expected score against the engine over all moves (Ferreira 2012, Eq. 2)."""
        scores = self.scores
        return (
            scores.total / (scores.n * self._measure.engine_gains.scale)
            if scores.n
            else None
        )

    @property
    def changed(self) -> bool:
        """Whether anything may differ from the last :meth:`view`."""
        return self._view is None

    def view(self) -> PlayerView:
        """All figures; the same object while nothing changes."""
        if self._view is None:
            self._view = self._made()
        return self._view

    def _made(self) -> PlayerView:
        games = [self.games[each] for each in sorted(self.games)]
        points = [game.points for game in games if game.points is not None]
        pace = main_pace(games)
        held = [game for game in games if game.side.pace == pace]
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
            agreement=_agreed(held, self._measure.forecast),
            mean_gain_cp=rounded(mean, 2),
            **algorithm_4_figures(self.scores, self._measure),
            **self._perceived(pace, held, len(games)),
            **_official(held, self.player),
        )

    def _perceived(
        self, pace: PaceGroup, held: Sequence[PlayedGame], games: int
    ) -> dict[str, Any]:
        """Over the games of the main pace: ratings of different paces are not one scale."""
        choice = self._measure.models.choose_for_group(pace)
        found = [game.side.evidence for game in held if game.side.evidence is not None]
        total = reduce(Evidence.join, found) if found else None
        if total is not None and len(found) > 1 and choice.reader is not None:
            total = total._replace(kappa=choice.reader.event_dispersion)
        notes = [choice.note] if choice.note else []
        if len(held) < games:
            notes.append(
                f"{len(held)} of {games} games: the others are of another pace"
            )
        return {
            **perceived_figures(total, choice.reader),
            "model": choice.model,
            "note": "; ".join(notes),
        }


GamePlayers = dict[Color, PlayerTotals]


def _gains(played: PlayedGame | None) -> Counter[int]:
    return Counter(played.side.gains_cp if played else ())


def _agreed(
    held: Sequence[PlayedGame], forecast: ChoiceModel | None
) -> ChoiceEvidence | None:
    choices = [game.side.choices for game in held]
    known = [each for each in choices if each is not None and each.moves]
    if forecast is None or not known:
        return None
    return ChoiceEvidence(
        sum(each.moves for each in known),
        sum(each.matches for each in known),
        round(math.fsum(each.expected for each in known), 2),
        round(compute_log_e_value(known, forecast.player_sd, forecast.game_sd), 3),
    )


def main_pace(games: Sequence[PlayedGame]) -> PaceGroup:
    """The pace with the most moves."""
    moves = Counter[PaceGroup]()
    for game in games:
        moves[game.side.pace] += 1 + len(game.side.gains_cp)
    return max(moves, key=lambda pace: (moves[pace], pace), default="classical")


def _official(games: Sequence[PlayedGame], player: Player) -> dict[str, Any]:
    """By FIDE's rules, over finished games with rated opponents in which both moved."""
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
    """All players of the event.

    Args:
        measure: which gain feeds the curves, and the models that fit.
        engine: what is known of the engine before the first move; unless it is ``fixed``, its
            rating is measured over the field.
        outbox: gets the messages.
    """

    def __init__(self, measure: Measure, engine: EngineInfo, outbox: Outbox) -> None:
        self.engine = self.stored_engine = _described(engine, measure)
        """The engine as it counts now, and as it counted before any game was known."""
        self._outbox = outbox
        self._measure = measure
        self._field = FieldEngineRating(engine.rating)
        # Of the rated players who have a game: of a whole database they are many.
        self._elos: dict[str, int] = {}
        self._total_elo = 0
        self.totals: dict[str, PlayerTotals] = {}
        """Every player, by id."""
        # As last sent.
        self._shown: dict[str, PlayerView] = {}

    def measure_by(self, measure: Measure) -> None:
        """Other models rate the games from now on; each game is rated anew separately."""
        self._measure = measure
        for player in self.totals.values():
            player.measure_by(measure)
        self._start_engine()
        self._set_engine(_described(self.engine, measure))

    def players_of(self, id: GameId, headers: Headers) -> GamePlayers:
        """Who plays in game ``id``, as one person over all games."""
        white, black = person_key(headers.white), person_key(headers.black)
        if white == black:
            # Nobody plays against himself: a slip of the operator, two guests, an engine's match.
            white = black = ""
        # Players whose names are unknown are not all one person.
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
        """The mean Elo of the rated players, in steps; None while nobody is rated."""
        mean = self._mean_elo
        return (
            None
            if mean is None
            else float(LEVEL_STEP_ELO * round(mean / LEVEL_STEP_ELO))
        )

    def rate(self, touched: Iterable[PlayerTotals]) -> None:
        """Renew the engine's rating and the figures of those who may have changed."""
        for _ in self.rate_in_pieces(touched):
            pass

    def rate_in_pieces(
        self, touched: Iterable[PlayerTotals]
    ) -> Generator[None, None, None]:
        """:meth:`rate`, with a yield after every player, for when nothing is shown until it is
        over.
        """
        changed = {player.key: player for player in touched if player.changed}
        for key, player in changed.items():
            moves, elo = player.gains.total(), player.player.elo
            self._field.update(key, elo, moves, player.expected_score)
            self._total_elo -= self._elos.pop(key, 0)
            if elo is not None and player.games:
                self._elos[key] = elo
                self._total_elo += elo
        self._start_engine()
        self._set_engine(self.engine)
        for key, player in changed.items():
            self._outbox.changes += (
                GainsMessage(key, gain_cp, moves)
                for gain_cp, moves in player.take_changed_gains()
            )
            self._show(player.view())
            if not player.games:
                self.totals.pop(key, None)
                self._shown.pop(key, None)
            yield

    def _start_engine(self) -> None:
        """Until many moves are in, the engine's rating is what makes players of this field show
        their mean Elo.
        """
        self._field.prior_elo = self.stored_engine.rating
        if (mean := self._mean_elo) is not None:
            self._field.prior_elo = mean - self._measure.expected_difference(mean)

    def _set_engine(self, engine: EngineInfo) -> None:
        rating, moves = self._field.rating, two_digits(self._field.moves)
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
            self._outbox.changes.append(EngineMessage(engine))

    def _show(self, view: PlayerView) -> None:
        held = self._shown.get(view.id)
        if held is not view and held != view:
            self._shown[view.id] = view
            self._outbox.changes.append(StandingMessage(view))

    def players(self) -> tuple[PlayerView, ...]:
        """Every player, in the order they appeared."""
        return tuple(self._shown.values())

    def gains(self, player: str) -> GainCounts:
        """A player's gains over the event, by id; empty for an unknown one."""
        totals = self.totals.get(player)
        return tuple(sorted(totals.gains.items())) if totals is not None else ()

    def strengths(self) -> Algorithm2:
        """Algorithm 2 over the event; made afresh, some milliseconds a game."""
        found = Algorithm2(self._measure.gain)
        met: dict[GameId, list[str]] = {}
        for key, totals in self.totals.items():
            found.rate(key, totals.player.elo if totals.games else None)
            for id in sorted(totals.games):
                met.setdefault(id, []).append(key)
                found.add_game(key, totals.games[id].side.gains_cp)
        for pair in met.values():
            if len(pair) == 2:
                found.meet(*pair)
        return found

    def engine_strength(self) -> Algorithm3:
        """Algorithm 3 over the players of the event, rows by player id (Ferreira 2012, Table 4)."""
        strengths = self.strengths().strengths()
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


def two_digits(count: int) -> int:
    """The count with zeros after its first two digits."""
    unit: int = 10 ** max(0, len(str(count)) - 2)
    return count // unit * unit


def _described(engine: EngineInfo, measure: Measure) -> EngineInfo:
    """The engine with the models that read its scores."""
    models = measure.models
    return replace(
        engine, models=tuple(each.name for each in models.models), note=models.note
    )
