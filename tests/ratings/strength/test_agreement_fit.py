from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from live.ratings.strength.agreement_fit import learn_choices
from live.ratings.strength.played_games import PlayedGame, PlayedSide
from tests.ratings.strength.made_up_games import made_up_games


def chosen(games: list[PlayedGame], effect_sd: float) -> list[PlayedGame]:
    """The engine's move is played with log-odds of (Elo - 2000) / 400, and an effect by game."""
    rng = np.random.default_rng(11)

    def side(one: PlayedSide) -> PlayedSide:
        assert one.elo is not None
        chance = 1 / (1 + np.exp(-(one.elo - 2000) / 400 - rng.normal(0, effect_sd)))
        return one._replace(first_choices=tuple((rng.random(len(one.turns)) < chance).tolist()))

    return [game._replace(white=side(game.white), black=side(game.black)) for game in games]


@pytest.mark.slow
def test_it_finds_what_elo_adds_and_how_games_differ() -> None:
    games = made_up_games(200, moves=40)
    source: dict[str, Any] = {"name": "x", "engine": "", "limit": "", "data": "", "date": ""}
    alike = learn_choices(chosen(games, 0.0), **source)
    apart = learn_choices(chosen(games, 0.6), **source)
    assert alike.slope == pytest.approx(1.0, abs=0.15)
    assert apart.game_sd > alike.game_sd


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(ValueError, match="no choice"):
        learn_choices([], name="x", engine="", limit="", data="", date="")
