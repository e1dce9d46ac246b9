from __future__ import annotations

import msgspec
import pytest

from live.ratings.strength.expected_result import load_result_model
from live.ratings.strength.loss_model import GRID_ELO, Roots
from live.ratings.strength.performance import (
    PlayedAgainst,
    Results,
    of_result,
    performance,
)
from tests.ratings.strength.test_loss_fit import learned


def results() -> Results:
    return Results(load_result_model("classical"))


def game(points: float | None, opponent: float | None = 2300, white: bool = True) -> PlayedAgainst:
    ends = None if points is None else of_result(points)
    return PlayedAgainst(opponent, white, ends, None, 0)


def test_nothing_known_has_no_performance() -> None:
    assert performance(None, results(), []) is None
    assert performance(None, results(), [game(None)]) is None
    assert performance(None, results(), [game(1, opponent=None)]) is None


def test_half_the_points_perform_like_the_opponents() -> None:
    found = performance(
        None, results(), [game(1), game(0), game(1, white=False), game(0, white=False)]
    )
    assert found is not None
    assert found.elo == pytest.approx(2300, abs=60)
    assert found.low is not None
    assert found.low < 2200


def test_all_points_have_no_upper_end() -> None:
    found = performance(None, results(), [game(1), game(1)])
    assert found is not None
    assert found.high is None
    assert found.low is not None


def test_moves_and_results_count_together() -> None:
    moves = -0.5 * ((GRID_ELO - 2000) / 60.0) ** 2
    won = PlayedAgainst(2600, True, of_result(1), moves, 30)
    lost = PlayedAgainst(2600, True, of_result(0), moves, 30)
    better, worse = (performance(learned(), results(), [each]) for each in (won, lost))
    assert better is not None
    assert worse is not None
    assert better.elo is not None
    assert worse.elo is not None
    assert 1900 < worse.elo < better.elo < 2600


def test_a_game_of_which_nothing_is_known_changes_nothing() -> None:
    model = msgspec.structs.replace(learned(), performance=Roots(1, (0.5, 0.0), (1, 0), (-2, 2)))
    moves = -0.5 * ((GRID_ELO - 2000) / 60.0) ** 2
    held = PlayedAgainst(2600, True, of_result(1), moves, 30)
    found = performance(model, results(), [held])
    assert performance(model, results(), [held, game(None)]) == found
    assert performance(model, results(), [held, held]) != found


def test_more_games_narrow_it() -> None:
    few = performance(None, results(), [game(0.5)] * 2)
    many = performance(None, results(), [game(0.5)] * 9)
    assert few is not None
    assert many is not None
    widths = [(each.high or 0) - (each.low or 0) for each in (few, many)]
    assert widths[1] < widths[0]
