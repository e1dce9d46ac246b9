"""FIDE's tables, checked against the examples in the regulations and against each
other.
"""

import numpy as np
import pytest

from live.ratings.fide_rating import (
    RatedGame,
    choose_development_coefficient,
    compute_fide_expected_score,
    compute_fide_performance,
    compute_rating_change,
)


@pytest.mark.parametrize(
    ("opponents", "points", "expected"),
    [
        ([2400] * 4, 2, 2400),
        ([2400] * 4, 3, 2593),
        ([2400] * 4, 4, 3200),
        ([2400] * 4, 0, 1600),
        ([2300, 2500], 1.5, 2593),
        ([], 0, None),
    ],
)
def test_the_rating_performance_is_that_of_the_table(
    opponents: list[float], points: float, expected: int | None
) -> None:
    assert compute_fide_performance(opponents, points) == expected


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        (2500, 2500, 0.5),
        (2503, 2500, 0.5),
        (2504, 2500, 0.51),
        (2500, 2600, 0.36),
        (2500, 1900, 0.92),
    ],
)
def test_the_expected_share_is_that_of_the_table(
    own: float, other: float, expected: float
) -> None:
    assert compute_fide_expected_score(own, other) == expected


def test_a_rating_changes_by_k() -> None:
    assert compute_rating_change(2500, [RatedGame(2600, 1.0)], 10) == pytest.approx(6.4)
    assert choose_development_coefficient(2399) == 20
    assert choose_development_coefficient(2400) == 10


@pytest.mark.parametrize(
    ("own", "k", "opponent", "points", "expected"),
    [
        (1500, 40, 1900, 1.0, 37),
        (1500, 40, 1900, 0.0, -3),
        (1500, 40, 2900, 1.0, 37),
        (1500, 40, 2900, 0.5, 17),
        (2000, 40, 1600, 0.0, -37),
        (2000, 40, 1000, 1.0, 3),
        (2000, 40, 1900, 0.5, -6),
        (2649, 10, 1800, 1.0, 1),
        (2650, 10, 1800, 1.0, 0),
        (2650, 10, 1800, 0.5, -5),
        (2800, 10, 1800, 1.0, 0),
        (2800, 10, 1800, 0.0, -10),
        (2800, 10, 2390, 0.0, -9),
        (1800, 20, 2800, 0.5, 8),
    ],
)
def test_the_rule_of_400_points_holds_below_2650(
    own: float, k: float, opponent: float, points: float, expected: int
) -> None:
    """The first and the eleventh case are those of lichess (scalachess, EloTest)."""
    assert (
        round(compute_rating_change(own, [RatedGame(opponent, points)], k)) == expected
    )


def test_eleven_wins_against_weak_opponents_gain_nothing_since_october_2025() -> None:
    wins = [RatedGame(1800, 1.0, "2026.01.17")] * 11
    assert compute_rating_change(2800, wins, 10) == 0
    before = [RatedGame(1800, 1.0, "2025.09.06")] * 11
    assert compute_rating_change(2800, before, 10) == pytest.approx(8.8)


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2025.10.01", 1.0),
        ("2025.09.30", 0.92),
        ("2025.09.??", 0.92),
        ("2025.??.??", 1.0),
        ("2024.??.??", 0.92),
        ("2026.01.01", 1.0),
        ("1972.07.11", 0.92),
        ("????.??.??", 1.0),
        ("2025-09-30", 0.92),
        ("", 1.0),
    ],
)
def test_a_game_has_the_rule_of_its_time(date: str, expected: float) -> None:
    assert compute_fide_expected_score(2800, 1800, date) == expected


def test_the_two_tables_agree_with_each_other() -> None:
    # The performance for a share of points is the difference at which this share is
    # expected.
    for share in np.arange(0.5, 0.92, 0.01):
        gap = (compute_fide_performance([2000], float(share)) or 0) - 2000
        assert compute_fide_expected_score(2000 + gap, 2000) == pytest.approx(
            share, abs=0.011
        )
