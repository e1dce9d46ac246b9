"""The agreement figure: it stays normal if choices follow the forecast, and it shows if
they do not.
"""

import math

import msgspec
import numpy as np
import pytest

from live.ratings.agreement import (
    GameChoices,
    compute_alarm_threshold,
    compute_log_e_value,
    is_counted_choice,
    load_choice_model,
)
from live.ratings.move_circumstances import Board, Turn


def simulate_game(
    rng: np.random.Generator, moves: int, share: float, effect: float = 0.0
) -> GameChoices:
    game = GameChoices()
    for _ in range(moves):
        log_odds = float(rng.normal(0, 0.7))
        chance = 1 / (1 + math.exp(-log_odds - effect))
        game = game.add_choice(
            log_odds, bool(rng.random() < share or rng.random() < chance)
        )
    return game


def test_its_mean_is_one_where_choices_follow_the_forecast() -> None:
    rng = np.random.default_rng(5)
    values = [
        math.exp(
            compute_log_e_value(
                [simulate_game(rng, 20, 0.0, rng.normal(0, 0.2))], 0.05, 0.2
            )
        )
        for _ in range(600)
    ]
    assert 0.7 < np.mean(values) < 1.3


def test_an_engine_is_seen_over_a_few_games() -> None:
    rng = np.random.default_rng(6)
    games = [simulate_game(rng, 30, 0.6) for _ in range(4)]
    assert compute_log_e_value(games, 0.05, 0.2) > compute_alarm_threshold(100)


def test_a_larger_field_asks_for_more() -> None:
    assert compute_alarm_threshold(1) == pytest.approx(math.log(20))
    assert compute_alarm_threshold(100) == pytest.approx(math.log(2000))
    assert compute_alarm_threshold(0) == compute_alarm_threshold(1)


def board(*, legal: int = 30, repeated: bool = False) -> Board:
    return Board(legal, 2, False, False, 50, repeated)


@pytest.mark.parametrize(
    ("turn", "counted"),
    [
        (Turn(0, 0, 17, board=board()), True),
        (Turn(0, 0, 16, board=board()), False),
        (Turn(0, 300, 30, board=board()), True),
        (Turn(0, 301, 30, board=board()), False),
        (Turn(0, 0, 30, board=board(legal=1)), False),
        (Turn(0, 0, 30, board=board(repeated=True)), False),
    ],
)
def test_what_counts_as_a_choice(turn: Turn, counted: bool) -> None:
    assert is_counted_choice(turn) is counted


def test_a_move_that_everybody_finds_is_to_be_expected() -> None:
    model = load_choice_model("classical")
    forecasts = [
        model.compute_log_odds(Turn(0, 20, 31, 8.0, 20, board(), found), 2300)
        for found in (0.02, 0.3, 0.95)
    ]
    assert forecasts == sorted(forecasts)
    # A move that most players find is also expected from this player, so playing it is
    # no evidence against the player.
    assert forecasts[0] < -0.5 < 2 < forecasts[2]
    plain = msgspec.structs.replace(model, human=None)
    nobody_asked = Turn(0, 20, 31, 8.0, 20, board())
    assert model.compute_log_odds(nobody_asked, 2300) == plain.compute_log_odds(
        nobody_asked, 2300
    )
    assert plain.compute_log_odds(nobody_asked, 2700) > plain.compute_log_odds(
        nobody_asked, 1500
    )
