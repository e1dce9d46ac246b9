"""Every predictor for two players: the same figures as its own room gives, or a reason."""

from __future__ import annotations

from copy import copy

import msgspec
import pytest

from live.ledger.comparisons import (
    PREDICTORS,
    ComparedMoves,
    both_colors,
    compare,
    convolution,
    perceived,
)
from live.ratings.covariance import CONVOLUTION_29, predict_by_convolution
from live.ratings.expected_score import expected_score_of
from live.ratings.gain import expected_score_exact
from live.ratings.prediction import Prediction
from tests.ledger.event_of_three import event


@pytest.fixture(scope="module")
def study() -> ComparedMoves:
    return event().study()


@pytest.mark.slow
def test_every_predictor_answers_or_says_what_is_missing(study: ComparedMoves) -> None:
    rows = compare(study, "anand", "carlsen")
    assert len(rows) == 4 + len(PREDICTORS)
    for row in rows:
        assert (row.expected_score is None) == bool(row.missing), row
        if row.low is not None and row.high is not None and row.expected_score is not None:
            assert row.low <= row.expected_score <= row.high, row
    missing = {row.predictor for row in rows if row.missing}
    assert missing == {"perceived rating", "Markov"}


def test_the_two_players_change_sides(study: ComparedMoves) -> None:
    one, other = compare(study, "anand", "carlsen"), compare(study, "carlsen", "anand")
    for row, turned in zip(one, other, strict=True):
        if row.expected_score is not None and turned.expected_score is not None:
            assert row.expected_score + turned.expected_score == pytest.approx(1), row.predictor
        if row.low is not None and turned.high is not None:
            assert row.low + turned.high == pytest.approx(1), row.predictor


def test_algorithm_1_is_the_whole_cross_correlation(study: ComparedMoves) -> None:
    row = compare(study, "anand", "ding-liren")[0]
    gains = [study.players[name].gains for name in ("anand", "ding-liren")]
    assert row.expected_score == pytest.approx(expected_score_exact(*gains), abs=1e-12)


def test_gains_are_convolved_as_they_are(study: ComparedMoves) -> None:
    """Alliot 2017, section 4.3.1: n0 and b are fitted in place of k1 and k2."""
    a, b = study.players["anand"], study.players["carlsen"]
    assert a.shortfalls != a.step
    assert convolution(a, b) == predict_by_convolution(a.shortfalls, b.shortfalls, CONVOLUTION_29)


def test_a_player_without_moves_gets_reasons_only() -> None:
    rows = compare(event(0).study(), "anand", "carlsen")
    assert all(row.expected_score is None and row.missing for row in rows)


def test_a_few_moves_are_too_few_for_what_leaves_the_opening_out() -> None:
    rows = {row.predictor: row for row in compare(event(10).study(), "anand", "carlsen")}
    assert rows["Algorithm 1"].expected_score is not None
    assert "from move 10 on" in rows["conformance, raw"].missing
    assert "of 500 moves" in rows["Markov"].missing


def test_both_colours_weigh_alike(study: ComparedMoves) -> None:
    a, b = study.players["anand"], study.players["carlsen"]

    def white_wins(white: object, black: object) -> Prediction:
        del black
        return Prediction(expected_score=0.7 if white is a else 0.4, win=0.6, draw=0.2, loss=0.2)

    found = both_colors(white_wins, a, b)
    assert found.expected_score == pytest.approx((0.7 + 0.6) / 2)
    assert (found.win, found.draw, found.loss) == pytest.approx((0.4, 0.2, 0.4))
    assert found.low is None


def of_figures(study: ComparedMoves, **figures: float | str | None) -> Prediction:
    """Carlsen with these figures, against one who plays like 2500, 2400 to 2600."""
    a, b = study.players["carlsen"], study.players["anand"]
    one, other = copy(a), copy(b)
    one.view = msgspec.structs.replace(a.view, **{"model": "classical", **figures})
    other.view = msgspec.structs.replace(
        b.view, perceived=2500.0, low=2400.0, high=2600.0, model="classical"
    )
    return perceived(one, other)


def test_perceived_ratings_predict_by_their_difference(study: ComparedMoves) -> None:
    found = of_figures(study, perceived=2600.0, low=2500.0, high=2700.0)
    assert found.expected_score == pytest.approx(expected_score_of(100))
    apart = 100 * 2**0.5  # two independent estimates
    assert found.low == pytest.approx(expected_score_of(100 - apart))
    assert found.high == pytest.approx(expected_score_of(100 + apart))


def test_an_end_beyond_the_grid_leaves_that_end_open(study: ComparedMoves) -> None:
    found = of_figures(study, perceived=2600.0, low=2500.0)
    assert found.low is not None and found.high is None


def test_what_cannot_be_compared_says_why(study: ComparedMoves) -> None:
    assert of_figures(study).missing == "unknown: Carlsen"
    assert "different models" in of_figures(study, perceived=2600.0, model="blitz").missing
