import math

import pytest

from live.ratings.expected_result import compute_features, load_result_model

MODEL = load_result_model("classical")


@pytest.mark.parametrize("name", ["classical", "blitz"])
def test_chances_add_up_and_follow_the_score(name: str) -> None:
    model = load_result_model(name)
    before = 0.0
    for score in (-900, -300, -50, 0, 50, 300, 900):
        chances = model.predict_chances(score, 40, 2200, 2200)
        assert sum(chances) == pytest.approx(1)
        assert chances.score > before
        before = chances.score


def test_a_score_counts_for_more_the_later_it_is() -> None:
    size = math.log(2)
    for score_cp, score in ((100, size), (-100, -size)):
        seen = compute_features(score_cp, 40, True, None, None, 2000)
        assert seen == pytest.approx(
            [1, 1, 0.5, score, score_cp / 400, score / 2, size, size / 2]
        )


def test_the_stronger_is_expected_to_score_more() -> None:
    assert MODEL.predict_chances(0, 20, 2600, 2200).score > 0.7
    assert MODEL.predict_chances(0, 20, 2200, 2600).score < 0.35


def test_who_is_two_pawns_down_is_helped_by_no_more_than_400_points() -> None:
    far, near = ((2400, 1700), (2250, 1850))
    assert MODEL.predict_chances(-544, 60, *far) == pytest.approx(
        MODEL.predict_chances(-544, 60, *near)
    )
    assert (
        MODEL.predict_chances(0, 60, *far).score
        > MODEL.predict_chances(0, 60, *near).score
    )
    scores = [MODEL.predict_chances(cp, 60, *far).score for cp in range(-900, 900, 50)]
    assert scores == sorted(scores)


def test_strong_players_draw_more() -> None:
    assert (
        MODEL.predict_chances(0, 40, 2700, 2700).draw
        > MODEL.predict_chances(0, 40, 1500, 1500).draw
    )


def test_without_both_ratings_neither_counts() -> None:
    assert MODEL.predict_chances(80, 30, 2700, None) == MODEL.predict_chances(80, 30)
    assert MODEL.predict_chances(80, 30) != MODEL.predict_chances(80, 30, 2700, 2000)
