"""Everybody of an event in one order: Algorithms 2 and 4, the calibrated rating, battle royale.

Pure; made on demand from a study of the event.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from live.events import PlayerView
from live.ledger.methods.comparison_data import ComparedMoves
from live.ledger.methods.predictors import Predictor, convolution, covariance_tanh, markov
from live.ratings.alliot.battle_royale import BattleRoyale

#: What pairings may be predicted by (Alliot 2017, sections 4.3 and 4.4).
PAIRED_BY: dict[str, Predictor] = {
    "covariance": covariance_tanh,
    "convolution": convolution,
    "markov": markov,
}


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """One player by every method that ranks."""

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    algorithm_2: float | None
    """Elo; null where nobody of the player's group is rated."""
    algorithm_2_difference: float | None
    """Elo above the mean of the player's group."""
    algorithm_2_low: float | None
    """95 % interval of ``algorithm_2``; of the difference where nobody of the group is rated."""
    algorithm_2_high: float | None
    algorithm_4: float | None
    algorithm_4_low: float | None
    algorithm_4_high: float | None
    calibrated: float | None
    calibrated_low: float | None
    calibrated_high: float | None
    place: int | None
    """In the battle royale, from 1, equal scores sharing it."""
    expected_score: float | None
    """Mean against all others, both colours alike."""
    expected_low: float | None
    expected_high: float | None
    victories: int
    """Opponents beaten on average of both colours."""
    opponents: int
    missing: str = ""
    """Why there is no place, for people."""


def rank(
    study: ComparedMoves, views: Iterable[PlayerView], by: str = "covariance"
) -> tuple[Rank, ...]:
    """Best of the battle royale first; those without a place last, by Algorithm 4.

    Raises KeyError for a predictor not in ``PAIRED_BY``.
    """
    predict = PAIRED_BY[by]
    players = study.players
    battle = BattleRoyale(
        lambda white, black: predict(players[white], players[black]),
        [view.id for view in sorted(views, key=_strength, reverse=True)],
    )
    ranks = []
    for place in battle.places():
        view = players[place.player].view
        strength = study.strengths.get(view.id)
        low, high = study.intervals.get(view.id, (None, None))
        ranks.append(
            Rank(
                id=view.id,
                name=view.name,
                elo=view.elo,
                games=view.games,
                moves=view.moves,
                algorithm_2=strength.rating if strength else None,
                algorithm_2_difference=strength.relative if strength else None,
                algorithm_2_low=low,
                algorithm_2_high=high,
                algorithm_4=view.rating,
                algorithm_4_low=view.low,
                algorithm_4_high=view.high,
                calibrated=view.calibrated,
                calibrated_low=view.calibrated_low,
                calibrated_high=view.calibrated_high,
                place=place.rank,
                expected_score=place.expected_score,
                expected_low=place.low,
                expected_high=place.high,
                victories=place.victories,
                opponents=place.opponents,
                missing=place.missing,
            )
        )
    return tuple(ranks)


def _strength(view: PlayerView) -> tuple[bool, float]:
    known = view.expected_score is not None
    return known, view.expected_score or 0.0
