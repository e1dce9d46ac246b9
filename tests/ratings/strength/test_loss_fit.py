"""Learning, and what is learned, on games whose rule is known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from live.ratings.calibration.calibration_fit import TooFewGames
from live.ratings.held_out import judges
from live.ratings.strength.loss_fit import bands, learn_losses
from live.ratings.strength.loss_model import GRID_ELO, LossModel, LossReader, alone
from live.ratings.strength.percentile import Surprise, percentile
from tests.ratings.strength.made_up_games import made_up_games, made_up_turns


@cache
def learned(hard_sd: float = 0.6) -> LossModel:
    return learn_losses(
        made_up_games(260, hard_sd=hard_sd),
        name="made up",
        engine="an engine",
        limit="100 nodes",
        gain="same-search",
        time_control="classical",
        data="made up",
        date="2026-01-01",
    )


@pytest.mark.slow
def test_players_who_judge_teach_nothing() -> None:
    games = made_up_games(260, hard_sd=0.6)
    sides = [side for game in games for side in game.sides]
    assert learned().games == sum(not judges(side.player) for side in sides) < len(sides)


@pytest.mark.slow
def test_moves_alone_find_the_elo_and_cover_it() -> None:
    model = learned(0.0)
    reader = LossReader(model)
    rng = np.random.default_rng(3)
    away, inside = [], 0
    for elo in np.linspace(1500, 2500, 120).tolist():
        summed = np.zeros(len(GRID_ELO))
        for turn in made_up_turns(rng, elo, 30, 0.0):
            summed += reader.log_likelihood(turn)
        found = alone(model, summed, 30)
        assert found is not None
        away.append((found.elo if found.elo is not None else 3600) - elo)
        inside += (found.low is None or found.low <= elo) and (
            found.high is None or elo <= found.high
        )
    assert abs(np.median(away)) < 60
    assert inside / 120 > 0.88


@pytest.mark.slow
def test_percentiles_are_even_and_do_not_tell_the_game() -> None:
    model = learned()
    reader = LossReader(model)
    pairs = []
    for game in made_up_games(150, seed=99, hard_sd=0.6):
        told = []
        for side in game.sides:
            assert side.elo is not None
            expected = [reader.expected(turn, side.elo) for turn in side.turns]
            told.append(
                [
                    Surprise(turn.ply, turn.log_loss - each.mean, each.variance)
                    for turn, each in zip(side.turns, expected, strict=True)
                ]
            )
        elos = [side.elo for side in game.sides]
        pair = [percentile(model, elos[i] or 0, told[i], told[1 - i]) for i in (0, 1)]
        pairs.append([each for each in pair if each is not None])
    values = np.array(pairs)
    assert 44 < values.mean() < 56
    assert 0.15 < np.mean(values < 25) < 0.35
    assert abs(np.corrcoef(values.T)[0, 1]) < 0.2
    # Without the opponent's losses the same figures tell which game it was.
    assert sum(model.shared) > 0.5


def test_few_games_teach_nothing() -> None:
    with pytest.raises(TooFewGames, match="player-games"):
        learn_losses(
            made_up_games(10),
            name="few",
            engine="",
            limit="",
            gain="same-search",
            time_control="classical",
            data="",
            date="",
        )


def test_bands_count_player_games() -> None:
    found = bands(np.array([1100.0, 1650.0, 1700.0, 2750.0]))
    assert [(band.elo, band.games) for band in found] == [
        ((0, 1200), 1),
        ((1600, 2000), 2),
        ((2600, 4000), 1),
    ]
