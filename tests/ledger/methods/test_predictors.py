"""Every predictor for two players: the same figures as its own room gives, or a reason."""

from __future__ import annotations

from copy import copy

import msgspec
import pytest

from live.ledger.methods.comparison_data import ComparedMoves
from live.ledger.methods.predictors import (
    ELO_FIGURES,
    PREDICTORS,
    both_colors,
    by_figure,
    compare,
    convolution,
)
from live.ratings.alliot.covariance import CONVOLUTION_29, predict_by_convolution
from live.ratings.alliot.prediction import Prediction
from live.ratings.expected_score import expected_score_of
from live.ratings.gain_histogram import expected_score_exact
from tests.ledger.event_of_three import event


@pytest.fixture(scope="module")
def study() -> ComparedMoves:
    return event().study()


@pytest.mark.slow
def test_every_predictor_answers_or_says_what_is_missing(study: ComparedMoves) -> None:
    rows = compare(study, "anand", "carlsen")
    assert len(rows) == 3 + len(ELO_FIGURES) + len(PREDICTORS)
    for row in rows:
        assert (row.expected_score is None) == bool(row.missing), row
        if row.low is not None and row.high is not None and row.expected_score is not None:
            assert row.low <= row.expected_score <= row.high, row
    missing = {row.predictor for row in rows if row.missing}
    assert missing == {*ELO_FIGURES, "Markov"}


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


def of_figures(study: ComparedMoves, **figures: float | None) -> Prediction:
    """Carlsen with these figures, against one who performs at 2500 ± 100."""
    a, b = study.players["carlsen"], study.players["anand"]
    known = {"performance": 2500.0, "performance_low": 2400.0, "performance_high": 2600.0}
    one, other = copy(a), copy(b)
    one.view = msgspec.structs.replace(a.view, **figures)
    other.view = msgspec.structs.replace(
        b.view, **known, level=2600.0, level_low=2500.0, level_high=2700.0
    )
    return by_figure(one, other, "level" if "level" in figures else "performance")


def test_figures_on_the_elo_scale_predict_by_their_difference(study: ComparedMoves) -> None:
    found = of_figures(study, performance=2600.0, performance_low=2500.0, performance_high=2700.0)
    assert found.expected_score == pytest.approx(expected_score_of(100))
    apart = 100 * 2**0.5  # two independent estimates
    assert found.low == pytest.approx(expected_score_of(100 - apart))
    assert found.high == pytest.approx(expected_score_of(100 + apart))


def test_an_unbounded_figure_is_said_to_be_that(study: ComparedMoves) -> None:
    assert of_figures(study, performance_low=2450.0).missing == "unbounded: Carlsen"


def test_a_level_that_is_the_elo_claims_no_certainty(study: ComparedMoves) -> None:
    found = of_figures(study, level=2826.0, level_low=2826.0, level_high=2826.0)
    assert found.expected_score is not None and found.low is None and found.high is None
    assert "the Elo itself" in found.caution
