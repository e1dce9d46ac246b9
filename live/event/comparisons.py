"""Comparisons and rankings of players: predictors, ranks, and Ferreira's Table 4. Pure.

They are computed on demand for a study, from all moves of the event. They do not change
when games continue.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import msgspec

from live.catalogue import BY_ID, rank_players, read
from live.event.methods import (
    NO_CHOICE,
    JudgedSide,
    accumulate_conformance,
    tournament_figures,
)
from live.messages.figures import PlayerView
from live.messages.values import Color, Value
from live.ratings.algorithm_2 import RatingMargins, Strength
from live.ratings.choice_model import Spread
from live.ratings.conformance import PONDERATED, is_counted, predict_by_conformance
from live.ratings.covariance import (
    RAW_STEP_FIT,
    STEP,
    STEP_CONFORMANCE,
    STEP_FIT,
    TANH,
    TANH_CONFORMANCE,
    TANH_FIT,
    convert_conformance_to_gain,
    predict_by_convolution,
    predict_by_covariance,
)
from live.ratings.expected_score import (
    convert_difference_to_score,
    convert_score_to_difference,
)
from live.ratings.ferreira import Algorithm3
from live.ratings.gains import GainHistogram
from live.ratings.markov import ENOUGH_MOVES, Transitions, predict_by_markov
from live.ratings.predictions import (
    BattleRoyale,
    Prediction,
    predict_both_colors,
)

# --- comparison data ------------------------------------------------------------------


class ComparisonData:
    """One player's moves, counted separately for every method that compares players."""

    def __init__(
        self, view: PlayerView, gains: Counter[int], games: Sequence[JudgedSide]
    ) -> None:
        self.view = view
        self.gains = GainHistogram(gains.elements())
        """Gains from which the rating curves are computed."""
        self.raw = accumulate_conformance(games)
        self.ponderated = accumulate_conformance(games, PONDERATED)
        self.shortfalls = GainHistogram()
        """Raw same-search gains of the counted moves."""
        self.step = GainHistogram()
        """Same-search gains with the paper's weights ("ponderated"), for the step
        vector.
        """
        self.tanh = GainHistogram()
        """Same-search gains with the paper's weights ("ponderated"), for the tanh
        vector.
        """
        self.transitions = Transitions()
        self.judged = False
        """True if the engine's first choice is known for at least one move, counted or
        not.
        """
        self.turns: list[tuple[Spread, ...]] = []
        """For each game, the choices among several engine lines; empty without
        Multi-PV.
        """
        for color, moves, *_ in games:
            for move in moves:
                if move.best_cp is not None and move.gain_cp is not None:
                    self.judged = True
                    if is_counted(move.ply, forced=move.forced):
                        self._count_move(color, move.best_cp, move.gain_cp)
            self.turns.append(tuple(move.spread for move in moves if move.spread))

    def _count_move(self, color: Color, best_cp: int, gain_cp: int) -> None:
        self.shortfalls.add(gain_cp)
        for histogram, kind in (
            (self.step, STEP_CONFORMANCE),
            (self.tanh, TANH_CONFORMANCE),
        ):
            if (
                weighted_cp := convert_conformance_to_gain(kind, best_cp, gain_cp)
            ) is not None:
                histogram.add(weighted_cp)
        self.transitions.add(color, best_cp, gain_cp)


class ComparedMoves(NamedTuple):
    """The moves of every player of the event, by player id, with ratings by Algorithm
    2.

    The ratings are not rounded.
    """

    players: Mapping[str, ComparisonData]
    strengths: Mapping[str, Strength]
    margins: Mapping[str, RatingMargins]
    """Uncertainty of each player's rating in ``strengths``, by player id."""


# --- predictors -----------------------------------------------------------------------

# Each predictor forecasts games of player A against player B from the moves of these
# two players, averaged over both colours. If data is missing, it says which. The row of
# each predictor names its source.

#: Reason for a missing forecast by the predictor from perceived ratings.
NO_MODEL = "no model fits engine, limit and gain"
#: Function that returns the chances of White (first argument) against Black.
Predictor = Callable[[ComparisonData, ComparisonData], Prediction]


class PredictorRow(Prediction, kw_only=True):
    """One predictor's forecast for player A against player B. The expected score is
    A's.
    """

    predictor: str
    source: str
    difference: float | None = None
    """Elo by which A is stronger than B, converted from the expected score with the
    normal curve (Ferreira 2012, section 4).
    """


def compare(study: ComparedMoves, a_id: str, b_id: str) -> tuple[PredictorRow, ...]:
    """Return each predictor's forecast for two players of the study, given by player
    id.
    """
    a, b = study.players[a_id], study.players[b_id]
    forecasts = [
        # Algorithm 1 is the cross-correlation of all gains of the two players.
        (
            "Algorithm 1",
            "Ferreira 2012, section 4",
            predict_by_covariance(a.gains, b.gains, STEP),
        ),
        (
            "Algorithm 2",
            "Ferreira 2012, section 5",
            predict_by_strengths(study, a_id, b_id),
        ),
        ("Algorithm 4", "Ferreira 2012, section 7", predict_by_differences(a, b)),
        ("perceived rating", "this product", predict_by_perceived_ratings(a, b)),
    ]
    forecasts += [
        (name, f"Alliot 2017, section {section}", predict_both_colors(predictor, a, b))
        for name, section, predictor in PREDICTORS
    ]
    return tuple(
        PredictorRow(
            predictor=name,
            source=source,
            difference=convert_score_to_difference(prediction.expected_score),
            **msgspec.structs.asdict(prediction),
        )
        for name, source, prediction in forecasts
    )


def predict_by_strengths(study: ComparedMoves, a_id: str, b_id: str) -> Prediction:
    """Predict the expected score from the difference of the players' Algorithm 2
    ratings.
    """
    own, opposing = study.strengths.get(a_id), study.strengths.get(b_id)
    if own is None or opposing is None:
        return Prediction(missing="no bounded comparison with anybody they met")
    if own.part != opposing.part:
        return Prediction(missing="no chain of games links the two")
    difference, a, b = (
        own.relative - opposing.relative,
        study.margins[a_id],
        study.margins[b_id],
    )
    return Prediction(
        expected_score=convert_difference_to_score(difference),
        low=convert_difference_to_score(difference - math.sqrt(a.below + b.above)),
        high=convert_difference_to_score(difference + math.sqrt(a.above + b.below)),
    )


def predict_by_differences(a: ComparisonData, b: ComparisonData) -> Prediction:
    """Predict the expected score from the players' differences from the engine."""
    if not a.view.moves or not b.view.moves:
        return Prediction(missing="no scored move of both yet")
    figure = attrgetter("difference", "difference_low", "difference_high")
    missing = "the difference from the engine is unbounded"
    return _predict_by_rating_difference(figure(a.view), figure(b.view), missing)


def predict_by_perceived_ratings(a: ComparisonData, b: ComparisonData) -> Prediction:
    """Predict the expected score from perceived ratings, if one model gave both of
    them.
    """
    if a.view.model != b.view.model:
        return Prediction(missing="their games are read by different models")
    if a.view.model is None:
        return Prediction(missing=NO_MODEL)
    unknown = ", ".join(
        side.view.name for side in (a, b) if side.view.perceived is None
    )
    figure = attrgetter("perceived", "low", "high")
    return _predict_by_rating_difference(
        figure(a.view), figure(b.view), f"unknown: {unknown}"
    )


Rating = tuple[float | None, float | None, float | None]


def _predict_by_rating_difference(
    a_rating: Rating, b_rating: Rating, missing: str
) -> Prediction:
    """Predict an expected score from two ratings with their 95 % intervals.

    The interval of the difference is computed for independent estimates (Zou and Donner
    2008, after Newcombe 1998, method 10).
    """
    (a, a_low, a_high), (b, b_low, b_high) = a_rating, b_rating
    if a is None or b is None:
        return Prediction(missing=missing)
    low = high = None
    if a_low is not None and b_high is not None:
        low = convert_difference_to_score(a - b - math.hypot(a - a_low, b_high - b))
    if a_high is not None and b_low is not None:
        high = convert_difference_to_score(a - b + math.hypot(a_high - a, b - b_low))
    return Prediction(
        expected_score=convert_difference_to_score(a - b), low=low, high=high
    )


def _make_move_predictor(
    kind: str, predict: Callable[..., Prediction], *settings: object
) -> Predictor:
    """Return a predictor that applies ``predict`` to one attribute of both players'
    data.

    Args:
        kind: name of the attribute, such as ``shortfalls``.
        predict: called with White's attribute, Black's attribute and ``settings``, if
            both players have counted moves.
        settings: further arguments of ``predict``.
    """

    def predict_scores(white: ComparisonData, black: ComparisonData) -> Prediction:
        moves = [getattr(side, kind) for side in (white, black)]
        if all(count.n for count in moves):
            return predict(*moves, *settings)
        if any(side.view.moves and not side.judged for side in (white, black)):
            return Prediction(missing=NO_CHOICE)
        return Prediction(missing="no move of both that counts (from move 10 on)")

    return predict_scores


def markov(white: ComparisonData, black: ComparisonData) -> Prediction:
    """Predict the expected score from one Markov chain per player (section 4.4.1).

    Each chain needs at least 500 moves.
    """
    shortage = "; ".join(
        f"{side.view.name} has {side.shortfalls.n} of {ENOUGH_MOVES} moves"
        for side in (white, black)
        if side.shortfalls.n < ENOUGH_MOVES
    )
    if shortage:
        return Prediction(missing=shortage)
    return predict_by_markov(
        white.transitions.build_chain("white"), black.transitions.build_chain("black")
    )


covariance_tanh = _make_move_predictor("tanh", predict_by_covariance, TANH, TANH_FIT)
# Convolution uses unweighted gains, because the paper uses n0 and b here instead of k1
# and k2 (section 4.3.1).
convolution = _make_move_predictor("shortfalls", predict_by_convolution)

PREDICTORS: tuple[tuple[str, str, Predictor], ...] = (
    ("conformance, raw", "4.2", _make_move_predictor("raw", predict_by_conformance)),
    (
        "conformance, ponderated",
        "4.2",
        _make_move_predictor("ponderated", predict_by_conformance),
    ),
    (
        "covariance, raw step",
        "4.3",
        _make_move_predictor("shortfalls", predict_by_covariance, STEP, RAW_STEP_FIT),
    ),
    (
        "covariance, step",
        "4.3",
        _make_move_predictor("step", predict_by_covariance, STEP, STEP_FIT),
    ),
    ("covariance, tanh", "4.3", covariance_tanh),
    ("29-fold convolution", "4.3", convolution),
    ("Markov", "4.4", markov),
)
#: Predictors available for the pairings of a ranking, by name (Alliot 2017, sections
#: 4.3 and 4.4).
PAIRED_BY: dict[str, Predictor] = {
    "covariance": covariance_tanh,
    "convolution": convolution,
    "markov": markov,
}


# --- ranking --------------------------------------------------------------------------

# A ranking lists all players of an event in one order, with their figures by each
# method that ranks players.
#
# The order is the order on screens (:func:`live.catalogue.rank_players`). Places in the
# battle royale (simulated games of all pairs) are separate. A ranking is computed on
# demand from a study of the event.


class Rank(Value):
    """One player's figures by each method that ranks players."""

    id: str
    name: str
    elo: int | None
    games: int
    moves: int
    counted: int
    """Number of moves from which ``perceived`` is computed."""
    standing: int | None
    """Place by percentile, from 1; equal percentiles share a place."""
    tied: bool
    """True if other players share this ``standing``."""
    perceived: float | None
    """Perceived rating, Elo. This field and those up to ``points`` have the same values
    as in :class:`live.messages.figures.PlayerView`.
    """
    low: float | None
    high: float | None
    usual_low: float | None
    usual_high: float | None
    percentile: float | None
    points: float | None
    algorithm_2: float | None
    """Rating by Algorithm 2, Elo; null if no player of the player's group is rated."""
    algorithm_2_difference: float | None
    """Elo above the mean of the player's group, by Algorithm 2."""
    algorithm_2_low: float | None
    """Lower end of the 95 % interval of ``algorithm_2``, or of
    ``algorithm_2_difference`` if no player of the group is rated.
    """
    algorithm_2_high: float | None
    algorithm_4: float | None
    algorithm_4_low: float | None
    algorithm_4_high: float | None
    place: int | None
    """Place by simulated games against all others (battle royale), from 1; equal scores
    share a place.
    """
    expected_score: float | None
    """Mean expected score against all other players, with half of the games
    as White.
    """
    expected_low: float | None
    expected_high: float | None
    victories: int
    """Number of opponents against whom the expected score over both colours is above
    1/2.
    """
    opponents: int
    missing: str = ""
    """Reason why there is no place, as text for people."""


def rank(
    study: ComparedMoves,
    views: Sequence[PlayerView],
    by: str = "covariance",
    *,
    engine_rating: int,
) -> tuple[Rank, ...]:
    """Rank players by their percentile among players of the same rating.

    Players without a rating come last. Raises KeyError if ``by`` is not in
    ``PAIRED_BY``.
    """
    predict = PAIRED_BY[by]
    players = study.players
    battle = BattleRoyale(
        lambda white, black: predict(players[white], players[black]),
        [view.id for view in views],
    )
    places = {place.player: place for place in battle.rank_players()}
    ranks = []
    for standing in rank_players(views):
        view = standing.view
        difference = read(BY_ID["algorithm4"], view, engine_rating)
        place = places[view.id]
        strength = study.strengths.get(view.id)
        rating, relative, low, high = (
            _of_strength(strength) if strength else (None,) * 4
        )
        ranks.append(
            Rank(
                **{name: getattr(view, name) for name in _OF_VIEW},
                standing=standing.place,
                tied=standing.tied,
                algorithm_2=rating,
                algorithm_2_difference=relative,
                algorithm_2_low=low,
                algorithm_2_high=high,
                algorithm_4=difference.value,
                algorithm_4_low=difference.low,
                algorithm_4_high=difference.high,
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


_of_strength = attrgetter("rating", "relative", "low", "high")
_OF_VIEW = frozenset(Rank.__struct_fields__) & frozenset(PlayerView.__struct_fields__)


# --- ferreira table 4 -----------------------------------------------------------------

# The figures of Algorithms 2 and 3, in the columns of the paper's Table 4 (Ferreira
# 2012, section 6).


class FourRow(Value):
    """One player's row of Table 4. Figures except ``expected_score`` are in Elo."""

    id: str
    name: str
    games: int
    moves: int
    elo: int | None
    """``r_i``, the official rating."""
    strength: float | None
    """``r'_i``, the rating by Algorithm 2; null if no player of the player's group is
    rated.
    """
    strength_low: int | None
    """Lower end of the 95 % interval of ``strength``, in whole Elo; null for the only
    rated player of a group.
    """
    strength_high: int | None
    expected_score: float
    """``p_i``, the expected score per move against the engine, 0 to 1."""
    difference: float | None
    """``d_i``, the difference from the engine's rating; null if unbounded."""
    engine_by_elo: float | None
    """``r_i - d_i``, the engine's rating estimated from ``elo``."""
    engine_by_strength: float | None
    """``r'_i - d_i``, the engine's rating estimated from ``strength``."""


class TableFour(Value):
    """All players, highest rated first, and the average ratings of the engine."""

    rows: tuple[FourRow, ...]
    engine_by_elo: float | None
    engine_by_strength: float | None
    missing: str = ""
    """Reason why an average is null, as text for people."""


def build_table_four(
    views: Sequence[PlayerView], engine: Algorithm3, strengths: Mapping[str, Strength]
) -> TableFour:
    """Return the table of all players with their figures by Algorithms 2 and 3."""
    players = {view.id: view for view in views}
    rows: list[FourRow] = []
    for row in engine.rows:
        view, strength = players.get(row.player), strengths.get(row.player)
        if view is None:
            continue
        is_rated = strength is not None and strength.rating is not None
        figures, _ = tournament_figures(strength if is_rated else None)
        rows.append(
            FourRow(
                id=row.player,
                name=view.name,
                games=view.games,
                moves=view.moves,
                elo=view.elo,
                strength=strength.rating if strength is not None else None,
                strength_low=figures.get("tournament_low"),
                strength_high=figures.get("tournament_high"),
                expected_score=view.score or 0.0,
                difference=row.difference,
                engine_by_elo=row.by_elo,
                engine_by_strength=row.by_strength,
            )
        )
    rows.sort(key=lambda row: (-(row.elo or 0), row.name))
    missing = ""
    if not rows:
        missing = "no scored move"
    elif engine.by_elo is None and any(row.elo is not None for row in rows):
        missing = "no rated player has a bounded difference from the engine"
    elif engine.by_elo is None:
        missing = "no player is rated"
    elif engine.by_strength is None:
        missing = "no comparison of two players is bounded"
    return TableFour(tuple(rows), engine.by_elo, engine.by_strength, missing)
