"""One player's figures over several games."""

from __future__ import annotations

import pytest

from live.events import Player
from live.ledger.players.event_figures import EventFigures
from live.ratings.calibration.move_evidence import Population
from live.ratings.strength.expected_result import Chances
from live.ratings.strength.loss_model import GRID_ELO, shipped_loss_models
from live.ratings.strength.performance import PlayedAgainst, of_result


@pytest.mark.parametrize(("k", "used"), [(40, 40), (None, 10)])
def test_the_rating_change_uses_the_listed_k(k: int | None, used: int) -> None:
    won = PlayedAgainst(2400, True, Chances(1.0, 0.0, 0.0), None, 40, True, None, None)
    player = Player("Anna Adams", elo=2400, k=k)
    found = EventFigures().of({"g": (None, None, won)}, player, lambda: Population(2000.0, 400.0))
    assert found["rating_k"] == used
    assert found["rating_k_listed"] is (k is not None)
    assert found["rating_change"] == pytest.approx(used * 0.5)


def test_a_game_without_a_move_does_not_say_that_the_others_are_over() -> None:
    model = next(each for each in shipped_loss_models() if each.name == "classical")
    played = 0.01 * (GRID_ELO - 2000)
    forfeit = PlayedAgainst(2400, True, of_result(1), None, 0, over=True)
    running = PlayedAgainst(2400, True, None, played, 20, over=False)

    def alone_of(*games: PlayedAgainst) -> object:
        held = {str(at): (model, None, game) for at, game in enumerate(games)}
        figures = EventFigures().of(held, Player("Anna"), lambda: Population(2000.0, 400.0))
        return figures["alone"], figures["alone_low"], figures["alone_high"]

    assert alone_of(forfeit, running) == alone_of(running)
    assert alone_of(running) != alone_of(running._replace(over=True))
