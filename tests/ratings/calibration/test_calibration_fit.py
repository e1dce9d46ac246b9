"""Learning from players whose gains are drawn from distributions known beforehand."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from live.ratings.calibration.calibration_check import check, cross_validate
from live.ratings.calibration.calibration_fit import (
    CIRCUMSTANCES,
    TooFewGames,
    engine_rating,
    learn,
)
from live.ratings.calibration.move_evidence import Calibration, RatedMove
from live.ratings.calibration.rated_games import RatedGame, belongs
from live.ratings.expected_score import difference_of

learn_made_up = partial(
    learn,
    name="made-up",
    engine="No engine",
    limit="1 node",
    gain="same-search",
    time_control="none",
    data="simulated",
    date="2025-01-01",
)


def played(player: str, elo: int, moves: int, chance: np.random.Generator) -> RatedGame:
    """A game of one whose share of losing moves, and their size, fall with Elo."""
    form = elo + chance.normal(0, 100)
    share = 1 / (1 + np.exp((form - 1900) / 300))
    lost = chance.random(moves) < share
    size = chance.exponential(20 + 60 * share, moves)
    scores = chance.integers(-200, 200, moves)
    found = []
    previous: int | None = None
    for index in range(moves):
        gain = -int(size[index]) if lost[index] else 0
        found.append(RatedMove(gain, int(scores[index]), 2 * index + 1, previous))
        previous = gain
    return RatedGame(player, elo, tuple(found))


def field(players: int, games: int, seed: int) -> list[RatedGame]:
    chance = np.random.default_rng(seed)
    found = []
    for number in range(players):
        elo = int(chance.normal(1900, 280))
        found += [
            played(f"{seed}/{number}", elo, int(chance.integers(15, 60)), chance)
            for _ in range(games)
        ]
    return found


@pytest.fixture(scope="module")
def made_up() -> Calibration:
    return learn_made_up(field(400, 3, seed=1))


@pytest.mark.slow
def test_what_was_learned_says_what_from(made_up: Calibration) -> None:
    assert (made_up.games, made_up.players) == (1200, 400)
    assert made_up.population.mean_elo == pytest.approx(1900, abs=40)
    assert made_up.population.sd_elo == pytest.approx(280, abs=30)
    assert tuple((part.by, part.edges) for part in made_up.parts) == CIRCUMSTANCES


@pytest.mark.slow
def test_intervals_cover_players_never_seen(made_up: Calibration) -> None:
    found = check(made_up, field(1000, 1, seed=2))
    assert found.coverage is not None
    assert 0.93 <= found.coverage <= 0.97
    assert found.mean_absolute_error is not None
    assert found.constant_error is not None
    assert found.mean_absolute_error < 0.7 * found.constant_error
    for after in found.by_moves.values():
        assert after.coverage is not None
        assert 0.92 <= after.coverage <= 0.98


@pytest.mark.slow
def test_pooling_games_comes_closer(made_up: Calibration) -> None:
    games = field(120, 20, seed=3)
    found = check(made_up, games)
    assert found.pooled.players == 120
    assert found.pooled.r is not None
    assert found.r is not None
    assert found.pooled.r > found.r
    assert found.pooled.mean_absolute_error is not None
    assert found.mean_absolute_error is not None
    assert found.pooled.mean_absolute_error < found.mean_absolute_error
    assert found.pooled.coverage is not None
    assert found.pooled.coverage > 0.9


@pytest.mark.slow
def test_gains_that_tell_nothing_leave_the_prior() -> None:
    chance = np.random.default_rng(4)
    games = [
        RatedGame(game.player, int(chance.normal(1900, 280)), game.moves)
        for game in field(600, 1, seed=4)
    ]
    found = cross_validate(games, learn_made_up, 3)
    assert found.mean_absolute_error == pytest.approx(found.constant_error, rel=0.06)
    assert found.coverage is not None
    assert found.coverage > 0.92


@pytest.mark.slow
def test_players_left_out_teach_nothing() -> None:
    games = field(150, 1, seed=5)
    kept = learn_made_up(games, leave_out=(5, 0))
    assert kept.left_out == (5, 0)
    twisted = [
        RatedGame(game.player, 400, game.moves) if belongs(game.player, 5, 0) else game
        for game in games
    ]
    assert learn_made_up(twisted, leave_out=(5, 0)) == kept
    assert learn_made_up(twisted) != learn_made_up(games)


def test_few_games_are_refused_with_their_number() -> None:
    games = field(49, 1, seed=6)
    with pytest.raises(TooFewGames, match="49 rated player-games"):
        learn_made_up(games)
    with pytest.raises(TooFewGames, match="0 rated player-games"):
        learn_made_up([RatedGame("a", 2000, ())] * 60)


def test_players_all_of_one_rating_teach_without_a_crash() -> None:
    games = [RatedGame(game.player, 1800, game.moves) for game in field(60, 1, seed=7)]
    assert learn_made_up(games).population.sd_elo == 1.0


def test_the_engine_is_rated_by_algorithm_3_weighted_by_moves() -> None:
    def game(player: str, elo: int, gains: list[int]) -> RatedGame:
        return RatedGame(player, elo, tuple(RatedMove(g, 0, 1) for g in gains))

    ada = [0, 0, -10, -20]  # expected score 1/4
    ben = [0, -5, -5, -5, -5]  # expected score 1/10, over two games
    never = [-50] * 30  # expected score 0: unbounded, says nothing
    games = [game("a", 2000, ada), game("b", 1500, ben[:2]), game("b", 1600, ben[2:])]
    quarter, tenth = difference_of(1 / 4), difference_of(1 / 10)
    assert quarter is not None
    assert tenth is not None
    expected = (4 * (2000 - quarter) + 5 * ((2 * 1500 + 3 * 1600) / 5 - tenth)) / 9
    found = engine_rating([*games, game("c", 900, never)], "same-search")
    assert found == pytest.approx(expected, abs=0.06)
    assert engine_rating([game("c", 900, never)], "same-search") is None
