"""Every predictor side by side: what the moves of two players say about a game between them.

Each answers for A against B over both colours, or says what it is missing. Sources stand with each
predictor. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

from live.ledger.methods.comparison_data import ComparedMoves, ComparisonData
from live.ledger.methods.method_figures import NO_CHOICE
from live.ratings.alliot.conformance import predict_by_conformance
from live.ratings.alliot.covariance import (
    CONVOLUTION_29,
    RAW_STEP_FIT,
    STEP,
    STEP_FIT,
    TANH,
    TANH_FIT,
    predict_by_convolution,
    predict_by_covariance,
)
from live.ratings.alliot.markov import ENOUGH_MOVES, predict_by_markov
from live.ratings.alliot.prediction import Prediction
from live.ratings.expected_score import difference_of, expected_score_of
from live.ratings.gain_histogram import GainHistogram

#: Why there is no figure of the product's own.
NO_MODEL = "no model fits engine, limit and gain"
#: White's chances, first player White.
Predictor = Callable[[ComparisonData, ComparisonData], Prediction]


class PredictorRow(msgspec.Struct, frozen=True, kw_only=True):
    """One predictor's answer for A against B."""

    predictor: str
    source: str
    expected_score: float | None = None
    """A's, in [0, 1]."""
    low: float | None = None
    """95 % interval of ``expected_score``."""
    high: float | None = None
    difference: float | None = None
    """Elo by which A is the stronger, on the normal curve (Ferreira 2012, section 4)."""
    win: float | None = None
    draw: float | None = None
    loss: float | None = None
    missing: str = ""
    """Why there is no expected score, for people."""
    caution: str = ""
    """What the figures rest on that they should not, for people."""


def compare(study: ComparedMoves, one: str, other: str) -> tuple[PredictorRow, ...]:
    """All predictors for two players of the study, by id."""
    a, b = study.players[one], study.players[other]
    rows = [
        _row("Algorithm 1", "Ferreira 2012, section 4", algorithm_1(a, b)),
        _row("Algorithm 2", "Ferreira 2012, section 5", algorithm_2(study, one, other)),
        _row("Algorithm 4", "Ferreira 2012, section 7", algorithm_4(a, b)),
        _row("perceived rating", "this product", perceived(a, b)),
    ]
    rows += [
        _row(name, f"Alliot 2017, section {section}", both_colors(predictor, a, b))
        for name, section, predictor in PREDICTORS
    ]
    return tuple(rows)


# --- Ferreira, and the product's own figures ------------------------------------------------------


def algorithm_1(a: ComparisonData, b: ComparisonData) -> Prediction:
    """Cross-correlation of all gains of both (Ferreira 2012, section 4)."""
    return predict_by_covariance(a.gains, b.gains, STEP)


def algorithm_2(study: ComparedMoves, one: str, other: str) -> Prediction:
    """Difference of both ratings over the comparisons of the event."""
    strengths = study.strengths.get(one), study.strengths.get(other)
    if strengths[0] is None or strengths[1] is None:
        return Prediction(missing="no bounded comparison with anybody they met")
    if strengths[0].part != strengths[1].part:
        return Prediction(missing="no chain of games links the two")
    found = strengths[0].relative - strengths[1].relative
    a, b = study.margins.get(one), study.margins.get(other)
    if a is None or b is None:
        return Prediction(missing="no scored move of both yet")
    return Prediction(
        expected_score=expected_score_of(found),
        low=expected_score_of(found - math.sqrt(a.below + b.above)),
        high=expected_score_of(found + math.sqrt(a.above + b.below)),
    )


def algorithm_4(a: ComparisonData, b: ComparisonData) -> Prediction:
    """Difference of both players' differences from the engine."""
    if not a.view.moves or not b.view.moves:
        return Prediction(missing="no scored move of both yet")
    return _difference(
        (a.view.difference, a.view.difference_low, a.view.difference_high),
        (b.view.difference, b.view.difference_low, b.view.difference_high),
        "the difference from the engine is unbounded",
    )


def perceived(a: ComparisonData, b: ComparisonData) -> Prediction:
    """Difference of both perceived ratings, if one model reads their games."""
    if a.view.model != b.view.model:
        return Prediction(missing="their games are read by different models")
    if a.view.model is None:
        return Prediction(missing=NO_MODEL)
    unknown = ", ".join(side.view.name for side in (a, b) if side.view.perceived is None)
    if unknown:
        return Prediction(missing=f"unknown: {unknown}")
    one, other = ((side.view.perceived, side.view.low, side.view.high) for side in (a, b))
    return _difference(one, other, "")


Rating = tuple[float | None, float | None, float | None]


def _difference(one: Rating, other: Rating, missing: str) -> Prediction:
    """From two ratings with their 95 % intervals: the ends of a difference of independent
    estimates (Zou and Donner 2008, after Newcombe 1998, method 10).
    """
    (a, a_low, a_high), (b, b_low, b_high) = one, other
    if a is None or b is None:
        return Prediction(missing=missing)
    low = high = None
    if a_low is not None and b_high is not None:
        low = expected_score_of(a - b - math.hypot(a - a_low, b_high - b))
    if a_high is not None and b_low is not None:
        high = expected_score_of(a - b + math.hypot(a_high - a, b - b_low))
    return Prediction(expected_score=expected_score_of(a - b), low=low, high=high)


# --- Alliot ---------------------------------------------------------------------------------------


def _of_gains(
    pick: Callable[[ComparisonData], GainHistogram],
    predict: Callable[[GainHistogram, GainHistogram], Prediction],
) -> Predictor:
    def predicted(white: ComparisonData, black: ComparisonData) -> Prediction:
        if not pick(white).n or not pick(black).n:
            return _unjudged(white, black)
        return predict(pick(white), pick(black))

    return predicted


def _unjudged(white: ComparisonData, black: ComparisonData) -> Prediction:
    if any(side.view.moves and not side.judged for side in (white, black)):
        return Prediction(missing=NO_CHOICE)
    return Prediction(missing="no move of both that counts (from move 10 on)")


def _conformance(white: ComparisonData, black: ComparisonData) -> Prediction:
    if not white.raw.n or not black.raw.n:
        return _unjudged(white, black)
    return predict_by_conformance(white.raw, black.raw)


def _ponderated(white: ComparisonData, black: ComparisonData) -> Prediction:
    if not white.ponderated.n or not black.ponderated.n:
        return _unjudged(white, black)
    return predict_by_conformance(white.ponderated, black.ponderated)


def markov(white: ComparisonData, black: ComparisonData) -> Prediction:
    """Both players' chains, of all their moves; none below 500 moves (section 4.4.1)."""
    short = [
        f"{side.view.name} has {side.markov_moves} of {ENOUGH_MOVES} moves"
        for side in (white, black)
        if side.markov_moves < ENOUGH_MOVES
    ]
    if short:
        return Prediction(missing="; ".join(short))
    return predict_by_markov(white.transitions.chain("white"), black.transitions.chain("black"))


covariance_tanh = _of_gains(
    lambda side: side.tanh, lambda a, b: predict_by_covariance(a, b, TANH, TANH_FIT)
)
# n0 and b stand in place of k1 and k2: gains as they are (section 4.3.1).
convolution = _of_gains(
    lambda side: side.shortfalls, lambda a, b: predict_by_convolution(a, b, CONVOLUTION_29)
)

PREDICTORS: tuple[tuple[str, str, Predictor], ...] = (
    ("conformance, raw", "4.2", _conformance),
    ("conformance, ponderated", "4.2", _ponderated),
    (
        "covariance, raw step",
        "4.3",
        _of_gains(
            lambda side: side.shortfalls,
            lambda a, b: predict_by_covariance(a, b, STEP, RAW_STEP_FIT),
        ),
    ),
    (
        "covariance, step",
        "4.3",
        _of_gains(lambda side: side.step, lambda a, b: predict_by_covariance(a, b, STEP, STEP_FIT)),
    ),
    ("covariance, tanh", "4.3", covariance_tanh),
    ("29-fold convolution", "4.3", convolution),
    ("Markov", "4.4", markov),
)


def both_colors(predict: Predictor, a: ComparisonData, b: ComparisonData) -> Prediction:
    """Mean of A against B with White and with Black: White's own advantage cancels."""
    white, black = predict(a, b), predict(b, a)
    if white.expected_score is None or black.expected_score is None:
        return white if white.expected_score is None else black

    def mean(one: float | None, other: float | None, *, turned: bool) -> float | None:
        if one is None or other is None:
            return None
        return (one + (1 - other if turned else other)) / 2

    return Prediction(
        expected_score=mean(white.expected_score, black.expected_score, turned=True),
        low=mean(white.low, black.high, turned=True),
        high=mean(white.high, black.low, turned=True),
        win=mean(white.win, black.loss, turned=False),
        draw=mean(white.draw, black.draw, turned=False),
        loss=mean(white.loss, black.win, turned=False),
        caution=white.caution or black.caution,
    )


def _row(name: str, source: str, found: Prediction) -> PredictorRow:
    score = found.expected_score
    return PredictorRow(
        predictor=name,
        source=source,
        expected_score=score,
        low=found.low,
        high=found.high,
        difference=None if score is None else difference_of(score),
        win=found.win,
        draw=found.draw,
        loss=found.loss,
        missing=found.missing,
        caution=found.caution,
    )
