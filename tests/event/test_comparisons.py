"""Players compared and ranked."""

from copy import copy

import msgspec
import pytest

from live.event.comparisons import (
    PAIRED_BY,
    PREDICTORS,
    ComparedMoves,
    TableFour,
    build_table_four,
    compare,
    predict_by_perceived_ratings,
    rank,
)
from live.ratings.expected_score import convert_difference_to_score
from live.ratings.predictions import Prediction, predict_both_colors
from tests.event.arithmetic import Held, event

# --- comparison data ------------------------------------------------------------------

# All moves of a player, counted afresh, agree with what was counted as they came.


def test_a_study_counts_what_the_standings_say() -> None:
    held = event()
    study = held.collect_compared_moves()
    found = held.rate_by_methods().players
    for view in held.players():
        evidence, methods = study.players[view.id], found[view.id]
        assert evidence.gains.n == view.moves > 0
        assert evidence.raw.n == methods.conformance.moves > 0
        assert evidence.raw.share is not None and methods.conformance.share is not None
        assert abs(evidence.raw.share - methods.conformance.share) < 1e-4
        assert evidence.shortfalls.n == methods.markov_moves
        assert (
            evidence.transitions.build_chain("white").support.sum()
            == methods.markov_moves
        )
        strength = study.strengths[view.id]
        assert strength.rating is not None and methods.tournament_rating is not None
        assert abs(strength.rating - methods.tournament_rating) < 0.51


# --- predictors -----------------------------------------------------------------------

# Every predictor for two players: the same figures as its own room gives, or a reason.


@pytest.fixture(scope="module")
def study() -> ComparedMoves:
    return event().collect_compared_moves()


def test_every_predictor_answers_or_says_what_is_missing(study: ComparedMoves) -> None:
    rows = compare(study, "anand", "carlsen")
    assert len(rows) == 4 + len(PREDICTORS)
    for row in rows:
        assert (row.expected_score is None) == bool(row.missing), row
        if (
            row.low is not None
            and row.high is not None
            and row.expected_score is not None
        ):
            assert row.low <= row.expected_score <= row.high, row
    missing = {row.predictor for row in rows if row.missing}
    assert missing == {"perceived rating", "Markov"}


def test_the_two_players_change_sides(study: ComparedMoves) -> None:
    one, other = compare(study, "anand", "carlsen"), compare(study, "carlsen", "anand")
    for row, turned in zip(one, other, strict=True):
        if row.expected_score is not None and turned.expected_score is not None:
            assert row.expected_score + turned.expected_score == pytest.approx(1), (
                row.predictor
            )
        if row.low is not None and turned.high is not None:
            assert row.low + turned.high == pytest.approx(1), row.predictor


def test_a_player_without_moves_gets_reasons_only() -> None:
    rows = compare(event(0).collect_compared_moves(), "anand", "carlsen")
    assert all(row.expected_score is None and row.missing for row in rows)


def test_a_few_moves_are_too_few_for_what_leaves_the_opening_out() -> None:
    rows = {
        row.predictor: row
        for row in compare(event(10).collect_compared_moves(), "anand", "carlsen")
    }
    assert rows["Algorithm 1"].expected_score is not None
    assert "from move 10 on" in rows["conformance, raw"].missing
    assert "of 500 moves" in rows["Markov"].missing


def test_both_colours_weigh_alike(study: ComparedMoves) -> None:
    a, b = study.players["anand"], study.players["carlsen"]

    def white_wins(white: object, black: object) -> Prediction:
        del black
        return Prediction(
            expected_score=0.7 if white is a else 0.4, win=0.6, draw=0.2, loss=0.2
        )

    found = predict_both_colors(white_wins, a, b)
    assert found.expected_score == pytest.approx((0.7 + 0.6) / 2)
    assert (found.win, found.draw, found.loss) == pytest.approx((0.4, 0.2, 0.4))
    assert found.low is None


def of_figures(study: ComparedMoves, **figures: float | str | None) -> Prediction:
    """Carlsen with these figures, against one who plays like 2500, 2400 to 2600."""
    a, b = study.players["carlsen"], study.players["anand"]
    one, other = copy(a), copy(b)
    one.view = msgspec.structs.replace(a.view, **{"model": "classical", **figures})
    other.view = msgspec.structs.replace(
        b.view, perceived=2500, low=2400, high=2600, model="classical"
    )
    return predict_by_perceived_ratings(one, other)


def test_perceived_ratings_predict_by_their_difference(study: ComparedMoves) -> None:
    found = of_figures(study, perceived=2600, low=2500, high=2700)
    assert found.expected_score == pytest.approx(convert_difference_to_score(100))
    apart = 100 * 2**0.5  # two independent estimates
    assert found.low == pytest.approx(convert_difference_to_score(100 - apart))
    assert found.high == pytest.approx(convert_difference_to_score(100 + apart))


def test_an_end_beyond_the_grid_leaves_that_end_open(study: ComparedMoves) -> None:
    found = of_figures(study, perceived=2600, low=2500)
    assert found.low is not None and found.high is None


def test_what_cannot_be_compared_says_why(study: ComparedMoves) -> None:
    assert of_figures(study).missing == "unknown: Carlsen"
    assert (
        "different models" in of_figures(study, perceived=2600, model="blitz").missing
    )


# --- ranking --------------------------------------------------------------------------

# Everybody in one order, by every method that ranks.


@pytest.mark.parametrize("by", sorted(PAIRED_BY))
def test_everybody_has_a_place_or_a_reason(by: str) -> None:
    held = event()
    ranks = rank(held.collect_compared_moves(), held.players(), by, engine_rating=2800)
    assert {each.name for each in ranks} == {"Anand", "Carlsen", "Ding, Liren"}
    for each in ranks:
        assert (each.place is None) == bool(each.missing)
        assert each.algorithm_2 is not None
        assert each.algorithm_4 is not None
    if by != "markov":
        places = {each.place: each for each in ranks}
        assert sorted(filter(None, places)) == [1, 2, 3]
        scores = [places[place].expected_score or 0 for place in (1, 2, 3)]
        assert scores == sorted(scores, reverse=True)
        assert sum(scores) == pytest.approx(1.5)


def test_everybody_comes_by_what_is_known_of_them_and_ties_are_ties() -> None:
    held = event()
    views = [
        msgspec.structs.replace(view, percentile=percentile, counted=30)
        for view, percentile in zip(held.players(), (40.0, 40.0, 90.0), strict=True)
    ]
    ranks = rank(held.collect_compared_moves(), views, "markov", engine_rating=2800)
    standings = [(each.name, each.standing, each.tied) for each in ranks]
    assert standings == [
        ("Ding, Liren", 1, False),
        ("Anand", 2, True),
        ("Carlsen", 2, True),
    ]
    assert [each.place for each in ranks] == [None] * 3  # Markov needs more moves


# --- ferreira table 4 -----------------------------------------------------------------

# Algorithms 2 and 3 side by side, as Ferreira's Table 4 has them.


def table(held: Held) -> TableFour:
    strengths = held.collect_compared_moves().strengths
    return build_table_four(held.players(), held.rate_engine(), strengths)


def test_both_averages_agree_where_everybody_compared_is_rated() -> None:
    found = table(event())
    assert [row.name for row in found.rows] == ["Carlsen", "Anand", "Ding, Liren"]
    for row in found.rows:
        assert row.difference is not None and row.strength is not None
        assert row.engine_by_strength == pytest.approx(row.strength - row.difference)
        if row.elo is not None:
            assert row.engine_by_elo == pytest.approx(row.elo - row.difference)
    rated = [row for row in found.rows if row.elo is not None]
    assert found.engine_by_elo == pytest.approx(
        sum(row.engine_by_elo or 0 for row in rated) / len(rated)
    )
    assert found.missing == ""


def test_an_event_without_a_move_says_so() -> None:
    found = table(event(0))
    assert (found.rows, found.engine_by_elo, found.missing) == (
        (),
        None,
        "no scored move",
    )
