"""One player pooled over all games of the event."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from live.events import GainCounts, Player, PlayerMethods, PlayerView
from live.ledger.calibrations_in_use import (
    ELO_DECIMALS,
    SCORE_DECIMALS,
    CalibrationsInUse,
    FieldPriors,
    rounded,
)
from live.ledger.methods.comparison_data import ComparisonData
from live.ledger.methods.method_figures import move_figures
from live.ledger.methods.move_choice_screening import screened
from live.ledger.methods.move_quality import SideQuality
from live.ledger.outgoing_messages import rated
from live.ledger.players.event_figures import UNKNOWN_FIELD, event_figures
from live.ledger.players.event_strengths import EventStrengths
from live.ratings.alliot.markov import ENOUGH_MOVES
from live.ratings.calibration.calibrated_rating import (
    CalibratedRating,
    OwnRating,
    PooledCalibratedRating,
)
from live.ratings.calibration.calibration_choice import CalibrationChoice
from live.ratings.calibration.move_evidence import Population
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.algorithm_4 import over_other_games
from live.ratings.gain_histogram import GainHistogram
from live.ratings.score_interval import ClusteredScores, GameScores
from live.ratings.strength.loss_model import LossModel
from live.ratings.strength.performance import PlayedAgainst, Results

_NO_MOVES = GameScores(0, 0, 0)


class PlayerTotals:
    """Gains of one person, by game: moves of one game are not independent of each other.

    Adding and removing a gain are O(1).
    """

    def __init__(
        self,
        key: str,
        in_use: CalibrationsInUse,
        strengths: EventStrengths,
        priors: FieldPriors,
    ) -> None:
        self.key = key
        # What each game says of the person; several may differ.
        self._reported: dict[str, Player] = {}
        self._player = Player("")
        self._engine = engine = in_use.engine_gains
        # The most that a move can score: same-search gains are never above 0.
        self._ceiling = engine.parts(0) if in_use.gain == "same-search" else engine.scale
        self._games: dict[str, GameScores] = {}
        # Points of the games that have a result.
        self._points: dict[str, float] = {}
        self._histogram = GainHistogram()
        # Gains whose counts have changed since somebody was sent them.
        self._changed_gains: set[int] = set()
        self._scores = ClusteredScores()
        self._in_use = in_use
        self._strengths = strengths
        self._priors = priors
        self._calibrated: dict[str, tuple[CalibrationChoice, CalibratedRating]] = {}
        self._performed: dict[str, tuple[LossModel | None, Results | None, PlayedAgainst]] = {}
        self._sides: dict[str, SideQuality] = {}
        # What they come to, and their revisions when it was added up; None when out of date.
        self._judged: PlayerMethods | None = None
        self._revisions: tuple[int, ...] = ()
        # The view without methods and ratings that follow the engine's; None when out of date.
        self._ratings: PlayerView | None = None

    @property
    def player(self) -> Player:
        """Who it is: as the first game by id has it, with the first rating that any game has.

        Follows from the games as they are now: neither their order nor the past matters.
        """
        return self._player

    def enter(self, game: str, player: Player, points: float | None = None) -> None:
        """The person plays in ``game``, and this is what it says of them now; ``points`` once it
        has a result.
        """
        self._ratings = None
        if points is None:
            self._points.pop(game, None)
        else:
            self._points[game] = points
        self._games.setdefault(game, _NO_MOVES)
        if self._reported.get(game) != player:
            self._reported[game] = player
            self._know()

    def _know(self) -> None:
        reported = [self._reported[game] for game in sorted(self._reported)]
        elo = next((each.elo for each in reported if each.elo is not None), None)
        k = next((each.k for each in reported if each.k is not None), None)
        self._judged = None
        self._player = (
            msgspec.structs.replace(reported[0], elo=elo, k=k) if reported else self._player
        )

    def leave(self, game: str) -> None:
        """The game is gone, or it was somebody else; its gains must have been removed."""
        if self._games.pop(game).n:
            raise ValueError(f"{self.key} still has gains of game {game}")
        self._ratings = None
        self._points.pop(game, None)
        self._calibrated.pop(game, None)
        self._performed.pop(game, None)
        self._sides.pop(game, None)
        self._judged = None
        del self._reported[game]
        self._know()

    def rated(
        self, game: str, choice: CalibrationChoice, calibrated: CalibratedRating | None
    ) -> None:
        """What the calibration makes of the moves of ``game``; it is read, never changed, here."""
        self._ratings = None
        if calibrated is not None:
            self._calibrated[game] = choice, calibrated

    def performed(
        self,
        game: str,
        played: PlayedAgainst | None,
        model: LossModel | None = None,
        results: Results | None = None,
    ) -> None:
        """What ``game`` adds to the performance; None where nothing is known of it."""
        held = self._performed.get(game)
        if held is None if played is None else held is not None and held[2].same(played):
            return
        self._ratings = None
        if played is None:
            del self._performed[game]
        else:
            self._performed[game] = model, results, played

    def renew(self) -> None:
        """The field has changed: ratings shown before hold no more."""
        self._ratings = None

    def judged(self, game: str, side: SideQuality) -> None:
        """The judged moves of ``game``; they are read, never changed, here."""
        self._sides[game] = side
        self._judged = None

    def add_all(self, game: str, gains_cp: Sequence[int]) -> None:
        """The gains of a game that has none yet, as if each had been added."""
        self._changed_gains.update(gains_cp)
        for gain_cp in gains_cp:
            self._histogram.add(gain_cp)
            self._strengths.add(self.key, gain_cp, game)
        parts = [self._engine.parts(gain_cp) for gain_cp in gains_cp]
        self._enter_scores(
            game, GameScores(len(parts), sum(parts), sum(part * part for part in parts))
        )

    def add(self, game: str, gain_cp: int) -> None:
        self._histogram.add(gain_cp)
        self._changed_gains.add(gain_cp)
        self._strengths.add(self.key, gain_cp, game)
        self._count(game, gain_cp, 1)

    def remove(self, game: str, gain_cp: int) -> None:
        self._histogram.remove(gain_cp)
        self._changed_gains.add(gain_cp)
        self._strengths.remove(self.key, gain_cp, game)
        self._count(game, gain_cp, -1)

    def _count(self, game: str, gain_cp: int, sign: int) -> None:
        old = self._games[game]
        parts = sign * self._engine.parts(gain_cp)
        new = GameScores(
            old.n + sign, old.total + parts, old.squares + parts * self._engine.parts(gain_cp)
        )
        self._enter_scores(game, new)

    def _enter_scores(self, game: str, scores: GameScores) -> None:
        self._ratings = None
        self._scores.remove(self._games[game])
        self._scores.add(scores)
        self._games[game] = scores

    @property
    def games(self) -> int:
        return len(self._games)

    @property
    def moves(self) -> int:
        return self._histogram.n

    @property
    def gains(self) -> GainCounts:
        """Moves by gain, at one centipawn."""
        return tuple(self._histogram)

    def take_changed_gains(self) -> GainCounts:
        """Those whose counts have changed since the last call, as they are now; 0 moves: none."""
        changed, self._changed_gains = self._changed_gains, set()
        return tuple((gain_cp, self._histogram[gain_cp]) for gain_cp in sorted(changed))

    @property
    def expected_score(self) -> float | None:
        """Expected score against the engine over all moves (Ferreira 2012, Eq. 2)."""
        n = self._scores.n
        return self._scores.total / (n * self._engine.scale) if n else None

    def view(self) -> PlayerView:
        """All figures, as differences from the engine; made anew only when a gain has changed."""
        if self._ratings is None:
            self._ratings = self._rate()
        return msgspec.structs.replace(self._ratings, methods=self._methods())

    def _rate(self) -> PlayerView:
        expected = self.expected_score
        scores = self._scores.interval(self._engine.scale, self._ceiling)
        difference = None if expected is None else difference_of(expected)
        low, high = (difference_of(scores[0]), difference_of(scores[1])) if scores else (None, None)
        if self._scores.games == 1:
            # Several games show themselves how they differ; one has its own interval.
            most = difference_of(self._ceiling / self._engine.scale)
            low, high = over_other_games(difference, (low, high), most, self._in_use.gain)
        difference = rounded(difference, ELO_DECIMALS)
        low, high = rounded(low, ELO_DECIMALS), rounded(high, ELO_DECIMALS)
        return PlayerView(
            id=self.key,
            name=self.player.name,
            elo=self.player.elo,
            games=self.games,
            moves=self.moves,
            mean_gain_cp=rounded(self._histogram.mean, 2),
            expected_score=rounded(expected, SCORE_DECIMALS),
            difference=difference,
            difference_low=low,
            difference_high=high,
            rating=None,
            low=None,
            high=None,
            points=math.fsum(self._points.values()) if self._points else None,
            finished=len(self._points),
            **self._calibrated_figures(),
            **event_figures(self._performed, self.player, self._field, self._in_use.forecast),
        )

    def _field(self) -> Population:
        """What is believed of a player without a rating."""
        for calibration in self._in_use.shelf.calibrations:
            return self._priors.of(calibration)
        return UNKNOWN_FIELD

    def comparison_data(self, engine_rating: int) -> ComparisonData:
        """All moves, counted for the methods that compare players; made afresh."""
        return ComparisonData(
            rated(self.view(), engine_rating), self._histogram.copy(), self._sides.values()
        )

    def _methods(self) -> PlayerMethods:
        sides = tuple(self._sides.values())
        # News of a game mostly leaves one of its two players as they were.
        now = tuple([side.revision for side in sides])
        if self._judged is None or now != self._revisions:
            self._judged, self._revisions = self._judge(sides), now
        return self._strengths.on(self._judged, self.key)

    def _judge(self, sides: tuple[SideQuality, ...]) -> PlayerMethods:
        figures = move_figures(sides)
        moves = sum(side.markov_moves for side in sides)
        if moves < ENOUGH_MOVES:
            figures["missing"]["markov"] = f"{moves} of {ENOUGH_MOVES} moves"
        turns = tuple(spread for key in sorted(self._sides) for spread in self._sides[key].turns)
        figures["intrinsic"], missing = screened(self._in_use, turns, self.player.elo)
        figures["missing"].update(missing)
        return PlayerMethods(**figures, markov_moves=moves)

    def _calibrated_figures(self) -> dict[str, Any]:
        pool = _pool_of(self._calibrated)
        if pool is None:
            return {}
        choice, pooled, others = pool
        prior = self._priors.of(pooled.calibration)
        belief = pooled.posterior_from(prior)
        low, high = belief.interval
        elo = self.player.elo
        form = None if elo is None else pooled.posterior_from(OwnRating(elo)).mean - elo
        usual = prior.mean_elo if elo is None else elo
        return {
            "calibrated": rounded(belief.mean, ELO_DECIMALS),
            "calibrated_low": rounded(low, ELO_DECIMALS),
            "calibrated_high": rounded(high, ELO_DECIMALS),
            "form": rounded(form, ELO_DECIMALS),
            "calibration": pooled.calibration.name,
            "calibration_note": "; ".join(_notes(choice, pooled, others, usual)),
        }


def _pool_of(
    games: dict[str, tuple[CalibrationChoice, CalibratedRating]],
) -> tuple[CalibrationChoice, PooledCalibratedRating, int] | None:
    """The games to pool, and how many are left out; None without a calibrated move.

    Ratings of different pools of players (blitz of one server, classical of FIDE) are not one
    scale, and a provisional choice is no sure one, so only games of one kind are put together:
    those with the most moves.
    """
    moves: dict[tuple[str, bool], int] = {}
    for choice, rating in games.values():
        if rating.n and choice.key is not None:
            moves[choice.key] = moves.get(choice.key, 0) + rating.n
    if not moves:
        return None
    best = min(moves, key=lambda key: (-moves[key], key[1], key[0]))
    held = {id: each for id, each in games.items() if each[1].n and each[0].key == best}
    first = held[min(held)]
    pooled = PooledCalibratedRating(first[1].calibration)
    for id, (_, rating) in held.items():
        pooled.update(id, rating)
    others = sum(1 for _, rating in games.values() if rating.n) - len(held)
    return first[0], pooled, others


def _notes(
    choice: CalibrationChoice, pooled: PooledCalibratedRating, others: int, elo: float
) -> Iterator[str]:
    """``elo`` is the player's own, else the field's: what is shown is drawn inside what was learned
    from.
    """
    if choice.told:
        yield choice.told
    if others:
        yield f"{pooled.games} of {pooled.games + others} games: the others are of another kind"
    held = pooled.calibration.elo_range
    if held is not None and pooled.calibration.beyond(elo):
        yield f"beyond the ratings it was learned from ({held[0]:.0f} to {held[1]:.0f})"
