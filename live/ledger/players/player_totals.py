"""One player pooled over all games of the event."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from live.events import ChoiceEvidence, GainCounts, GameId, Player, PlayerMethods, PlayerView
from live.ledger.measure import ELO_DECIMALS, SCORE_DECIMALS, Measure, rounded
from live.ledger.methods.method_figures import move_figures
from live.ledger.methods.move_choice_screening import screened
from live.ledger.rate_game import SideFigures, perceived_figures
from live.ratings.alliot.markov import ENOUGH_MOVES
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.algorithm_4 import ceiling_of, over_other_games
from live.ratings.fide import development, fide_performance, rating_change
from live.ratings.gain_histogram import GainHistogram
from live.ratings.perceived.model_choice import PaceGroup
from live.ratings.perceived.perceived_rating import event_evidence, perceived
from live.ratings.score_interval import ClusteredScores
from live.ratings.strength.agreement import ChoiceModel, log_e_value


class PlayedGame(NamedTuple):
    """One game of the player, as it stands."""

    player: Player
    """As this game has the player; several may differ."""
    opponent_elo: int | None
    points: float | None
    """By its result; None while it has none."""
    plies: int
    side: SideFigures


class PlayerTotals:
    """The games of one person: the gains counted as they come and go, all else made anew from the
    games when it is asked for.
    """

    def __init__(self, key: str, measure: Measure) -> None:
        self.key = key
        self._measure = measure
        self._games: dict[GameId, PlayedGame] = {}
        self._histogram = GainHistogram()
        # Gains whose counts have changed since somebody was sent them.
        self._changed_gains: set[int] = set()
        self._scores = ClusteredScores()
        self._player = Player("")
        # None when out of date.
        self._view: PlayerView | None = None
        # What the choices came to, and the games' that it was made from.
        self._agreement: tuple[list[Any], ChoiceEvidence | None] = [], None

    @property
    def player(self) -> Player:
        """Who it is: as the first game by id has it, with the first rating that any game has.

        Follows from the games as they are now: neither their order nor the past matters.
        """
        return self._player

    @property
    def games(self) -> Mapping[GameId, PlayedGame]:
        """All of the person, by id."""
        return self._games

    def set(self, game: GameId, played: PlayedGame | None) -> None:
        """A game stands like this now; None: it is gone, or it was somebody else's."""
        held = self._games.get(game)
        if held is not None and played is not None and _alike(held, played):
            return
        self._view = None
        self._count(held.side if held else None, played.side if played else None)
        if played is None:
            self._games.pop(game, None)
        else:
            self._games[game] = played
        reported = [self._games[each].player for each in sorted(self._games)]
        if reported:
            elo = next((each.elo for each in reported if each.elo is not None), None)
            k = next((each.k for each in reported if each.k is not None), None)
            self._player = msgspec.structs.replace(reported[0], elo=elo, k=k)

    def _count(self, before: SideFigures | None, now: SideFigures | None) -> None:
        """Only gains that differ cost anything; most often one has been added."""
        old = before.gains_cp if before else ()
        new = now.gains_cp if now else ()
        same = 0
        for one, other in zip(old, new, strict=False):
            if one != other:
                break
            same += 1
        for gain_cp in old[same:]:
            self._histogram.remove(gain_cp)
        for gain_cp in new[same:]:
            self._histogram.add(gain_cp)
        self._changed_gains.update(old[same:], new[same:])
        if before is not None:
            self._scores.remove(before.scores)
        if now is not None:
            self._scores.add(now.scores)

    def measure_by(self, measure: Measure) -> None:
        """Other models read the games from now on."""
        self._measure, self._view = measure, None

    @property
    def moves(self) -> int:
        return self._histogram.n

    @property
    def gains(self) -> GainCounts:
        """Moves by gain, at one centipawn."""
        return tuple(self._histogram)

    @property
    def histogram(self) -> GainHistogram:
        """The same, to be compared with others'."""
        return self._histogram

    def take_changed_gains(self) -> GainCounts:
        """Those whose counts have changed since the last call, as they are now; 0 moves: none."""
        changed, self._changed_gains = self._changed_gains, set()
        return tuple((gain_cp, self._histogram[gain_cp]) for gain_cp in sorted(changed))

    @property
    def expected_score(self) -> float | None:
        """Expected score against the engine over all moves (Ferreira 2012, Eq. 2)."""
        n = self._scores.n
        return self._scores.total / (n * self._measure.engine_gains.scale) if n else None

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
        games = [self._games[each] for each in sorted(self._games)]
        points = [game.points for game in games if game.points is not None]
        pace = main_pace(games)
        held = [game for game in games if game.side.pace == pace]
        return PlayerView(
            id=self.key,
            name=self._player.name,
            elo=self._player.elo,
            games=len(games),
            moves=self.moves,
            points=math.fsum(points) if points else None,
            finished=len(points),
            methods=self._methods(games),
            agreement=self._agreed(held, self._measure.forecast),
            **self._of_gains(),
            **self._perceived(pace, held, len(games)),
            **_official(held, self._player),
        )

    def _of_gains(self) -> dict[str, Any]:
        """Algorithm 4 over all games."""
        engine, gain = self._measure.engine_gains, self._measure.gain
        ceiling = ceiling_of(engine, gain)
        expected = self.expected_score
        scores = self._scores.interval(engine.scale, ceiling)
        difference = None if expected is None else difference_of(expected)
        low, high = (difference_of(scores[0]), difference_of(scores[1])) if scores else (None, None)
        if self._scores.games == 1:
            # Several games show themselves how they differ; one has its own interval.
            most = difference_of(ceiling / engine.scale)
            low, high = over_other_games(difference, (low, high), most, gain)
        return {
            "mean_gain_cp": rounded(self._histogram.mean, 2),
            "score": rounded(expected, SCORE_DECIMALS),
            "difference": rounded(difference, ELO_DECIMALS),
            "difference_low": rounded(low, ELO_DECIMALS),
            "difference_high": rounded(high, ELO_DECIMALS),
        }

    def _perceived(self, pace: PaceGroup, held: Sequence[PlayedGame], games: int) -> dict[str, Any]:
        """Over the games of the main pace: ratings of different paces are not one scale."""
        choice = self._measure.models.of_group(pace)
        found = [game.side.evidence for game in held if game.side.evidence is not None]
        total = event_evidence(found)
        if total is not None and len(found) > 1 and choice.reader is not None:
            by = choice.reader.event_dispersion
            total = total._replace(
                variance=total.variance * by, own_variance=total.own_variance * by
            )
        notes = [choice.note] if choice.note else []
        if len(held) < games:
            notes.append(f"{len(held)} of {games} games: the others are of another pace")
        return {
            **perceived_figures(perceived(total) if total is not None else None),
            "model": choice.model,
            "note": "; ".join(notes),
        }

    def _methods(self, games: Sequence[PlayedGame]) -> PlayerMethods:
        sides = [game.side for game in games]
        figures = move_figures(sides)
        moves = sum(side.counts.markov for side in sides)
        if moves < ENOUGH_MOVES:
            figures["missing"]["markov"] = f"{moves} of {ENOUGH_MOVES} moves"
        spreads = tuple(spread for side in sides for spread in side.spreads)
        figures["intrinsic"], missing = screened(self._measure, spreads, self._player.elo)
        figures["missing"].update(missing)
        return PlayerMethods(**figures, markov_moves=moves)

    def _agreed(
        self, held: Sequence[PlayedGame], forecast: ChoiceModel | None
    ) -> ChoiceEvidence | None:
        choices = [game.side.choices for game in held]
        told = [each for each in choices if each is not None and each.moves]
        if forecast is None or not told:
            return None
        before, found = self._agreement
        if len(before) != len(told) or any(
            one is not other for one, other in zip(before, told, strict=True)
        ):
            found = ChoiceEvidence(
                sum(each.moves for each in told),
                sum(each.matches for each in told),
                round(math.fsum(each.expected for each in told), 2),
                round(log_e_value(told, forecast.player_sd, forecast.game_sd), 3),
            )
            self._agreement = list(told), found
        return found


def main_pace(games: Sequence[PlayedGame]) -> PaceGroup:
    """The pace with the most moves."""
    moves: dict[PaceGroup, int] = {}
    for game in games:
        moves[game.side.pace] = moves.get(game.side.pace, 0) + 1 + len(game.side.gains_cp)
    return max(moves, key=lambda pace: (moves[pace], pace), default="classical")


def _alike(one: PlayedGame, other: PlayedGame) -> bool:
    return one.side is other.side and one[:-1] == other[:-1]


def _official(games: Sequence[PlayedGame], player: Player) -> dict[str, Any]:
    """By FIDE's rules, over finished games against rated opponents; one without a move was not
    played.
    """
    finished = [
        (game.opponent_elo, game.points)
        for game in games
        if game.points is not None and game.opponent_elo is not None and game.plies
    ]
    if not finished:
        return {}
    opponents, points = [each for each, _ in finished], sum(each for _, each in finished)
    figures: dict[str, Any] = {"fide_performance": fide_performance(opponents, points)}
    if player.elo is not None:
        k = player.k or development(player.elo)
        change = rating_change(player.elo, finished, k)
        figures |= {
            "rating_change": rounded(change, ELO_DECIMALS),
            "rating_k": k,
            "rating_k_listed": player.k is not None,
        }
    return figures
