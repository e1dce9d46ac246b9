"""Everybody of an event in one order, by what is known of them, and by each method that ranks.

The order is that of the screens (:mod:`live.ledger.players.leading_figure`). The battle royale has
places of its own beside it. Pure; made on demand from a study of the event.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from live.events import PlayerView
from live.ledger.methods.comparison_data import ComparedMoves
from live.ledger.methods.predictors import Predictor, convolution, covariance_tanh, markov
from live.ledger.players.leading_figure import figure, standings
from live.ratings.alliot.battle_royale import BattleRoyale

#: What pairings may be predicted by (Alliot 2017, sections 4.3 and 4.4).
PAIRED_BY: dict[str, Predictor] = {
    "covariance": covariance_tanh,
    "convolution": convolution,
    "markov": markov,
}


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """One player by what is known, and by every method that ranks."""

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    counted: int
    """Moves that ``perceived`` rests on."""
    standing: int | None
    """By ``perceived``, from 1, equal numbers sharing it."""
    tied: bool
    """Others have the same standing."""
    perceived: float | None
    """As the player's own view has it (:class:`live.events.PlayerView`), like all up to
    ``points``."""
    low: float | None
    high: float | None
    usual_low: float | None
    usual_high: float | None
    percentile: float | None
    points: float | None
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
    study: ComparedMoves,
    views: Sequence[PlayerView],
    by: str = "covariance",
    *,
    engine_rating: int,
) -> tuple[Rank, ...]:
    """The highest perceived rating first; those without one last.

    Raises KeyError for a predictor not in ``PAIRED_BY``.
    """
    predict = PAIRED_BY[by]
    players = study.players
    battle = BattleRoyale(
        lambda white, black: predict(players[white], players[black]), [view.id for view in views]
    )
    places = {place.player: place for place in battle.places()}
    ranks = []
    for standing in standings(views):
        view = standing.view
        difference = figure(view, "algorithm4", engine_rating)
        place = places[view.id]
        strength = study.strengths.get(view.id)
        low, high = study.intervals.get(view.id, (None, None))
        ranks.append(
            Rank(
                id=view.id,
                name=view.name,
                elo=view.elo,
                games=view.games,
                moves=view.moves,
                counted=view.counted,
                standing=standing.place,
                tied=standing.tied,
                perceived=view.perceived,
                low=view.low,
                high=view.high,
                usual_low=view.usual_low,
                usual_high=view.usual_high,
                percentile=view.percentile,
                points=view.points,
                algorithm_2=strength.rating if strength else None,
                algorithm_2_difference=strength.relative if strength else None,
                algorithm_2_low=low,
                algorithm_2_high=high,
                algorithm_4=difference.value if difference else None,
                algorithm_4_low=difference.low if difference else None,
                algorithm_4_high=difference.high if difference else None,
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
