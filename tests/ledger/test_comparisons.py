"""Players compared and ranked, and Algorithm 2 as it is published."""

import random
from copy import copy
from itertools import pairwise

import msgspec
import pytest

from live.events import PlayerMethods, PlayerView
from live.ledger.comparisons import (
    PAIRED_BY,
    PREDICTORS,
    ComparedMoves,
    TableFour,
    both_colors,
    by_perceived,
    compare,
    rank,
    table_four,
)
from live.ledger.players import NO_COMPARISON, NOBODY_RATED, with_strengths
from live.ratings.alliot import Prediction
from live.ratings.expected_score import expected_score_of
from live.ratings.ferreira import Algorithm2
from tests.ledger.arithmetic import Held, event


def shown(event: Algorithm2, *names: str) -> list[PlayerMethods]:
    views = [PlayerView(name, name, None, games=1, moves=1, mean_gain_cp=None) for name in names]
    return [view.methods for view in with_strengths(views, event)]


def test_whole_elo_of_algorithm_2_with_ends_rounded_outwards() -> None:
    chance = random.Random(4)
    event = Algorithm2("same-search")
    names = [f"p{n}" for n in range(8)]
    for n, name in enumerate(names):
        event.rate(name, 2000 + 50 * n)
        event.add_game(name, [-chance.choice((0, 0, 10, 40)) for _ in range(50)])
    for one, other in pairwise(names):
        event.meet(one, other)
    strengths = event.strengths()
    for name, methods in zip(names, shown(event, *names), strict=True):
        found, low, high = strengths[name].rating, strengths[name].low, strengths[name].high
        assert methods.tournament_rating == pytest.approx(found, abs=0.5 + 1e-6)
        assert 0 <= (low or 0) - (methods.tournament_low or 0) + 1e-6 < 5
        assert 0 <= (methods.tournament_high or 0) - (high or 0) + 1e-6 < 5


def test_what_cannot_be_said_has_its_reason() -> None:
    event = Algorithm2("same-search")
    event.meet("a", "b")
    assert shown(event, "a")[0].missing == {"tournament_rating": NO_COMPARISON}
    for name in ("a", "b"):
        event.add_game(name, [0])
    (methods,) = shown(event, "a")
    assert (methods.tournament_rating, methods.tournament_difference) == (None, 0)
    assert methods.missing == {"tournament_rating": NOBODY_RATED}
    event.rate("b", 2401)
    methods, only = shown(event, "a", "b")
    assert (methods.tournament_rating, methods.missing) == (2401, {})
    assert methods.tournament_low is not None and methods.tournament_high is not None
    assert methods.tournament_low < 2401 < methods.tournament_high
    # The other one's rating is what was told, whatever was played.
    assert (only.tournament_rating, only.tournament_low) == (2401, None)
    assert set(only.missing) == {"tournament_low", "tournament_high"}


# --- comparison data ----------------------------------------------------------------------------

# All moves of a player, counted afresh, agree with what was counted as they came.


def test_a_study_counts_what_the_standings_say() -> None:
    held = event()
    study = held.study()
    for view in held.compared_players():
        evidence, methods = study.players[view.id], view.methods
        assert evidence.gains.n == view.moves > 0
        assert evidence.raw.n == methods.conformance.moves > 0
        assert evidence.raw.share is not None and methods.conformance.share is not None
        assert abs(evidence.raw.share - methods.conformance.share) < 1e-4
        assert evidence.shortfalls.n == methods.markov_moves
        assert evidence.transitions.chain("white").support.sum() == methods.markov_moves
        strength = study.strengths[view.id]
        assert strength.rating is not None and methods.tournament_rating is not None
        assert abs(strength.rating - methods.tournament_rating) < 0.51


# --- predictors ---------------------------------------------------------------------------------

# Every predictor for two players: the same figures as its own room gives, or a reason.


@pytest.fixture(scope="module")
def study() -> ComparedMoves:
    return event().study()


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
        b.view, perceived=2500, low=2400, high=2600, model="classical"
    )
    return by_perceived(one, other)


def test_perceived_ratings_predict_by_their_difference(study: ComparedMoves) -> None:
    found = of_figures(study, perceived=2600, low=2500, high=2700)
    assert found.expected_score == pytest.approx(expected_score_of(100))
    apart = 100 * 2**0.5  # two independent estimates
    assert found.low == pytest.approx(expected_score_of(100 - apart))
    assert found.high == pytest.approx(expected_score_of(100 + apart))


def test_an_end_beyond_the_grid_leaves_that_end_open(study: ComparedMoves) -> None:
    found = of_figures(study, perceived=2600, low=2500)
    assert found.low is not None and found.high is None


def test_what_cannot_be_compared_says_why(study: ComparedMoves) -> None:
    assert of_figures(study).missing == "unknown: Carlsen"
    assert "different models" in of_figures(study, perceived=2600, model="blitz").missing


# --- ranking ------------------------------------------------------------------------------------

# Everybody in one order, by every method that ranks.


@pytest.mark.parametrize("by", sorted(PAIRED_BY))
def test_everybody_has_a_place_or_a_reason(by: str) -> None:
    held = event()
    ranks = rank(held.study(), held.players(), by, engine_rating=2800)
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
    ranks = rank(held.study(), views, "markov", engine_rating=2800)
    standings = [(each.name, each.standing, each.tied) for each in ranks]
    assert standings == [("Ding, Liren", 1, False), ("Anand", 2, True), ("Carlsen", 2, True)]
    assert [each.place for each in ranks] == [None] * 3  # Markov needs more moves


# --- ferreira table 4 ---------------------------------------------------------------------------

# Algorithms 2 and 3 side by side, as Ferreira's Table 4 has them.


def table(held: Held) -> TableFour:
    strengths = held.study().strengths
    return table_four(held.compared_players(), held.engine_strength(), strengths)


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
    assert (found.rows, found.engine_by_elo, found.missing) == ((), None, "no scored move")
