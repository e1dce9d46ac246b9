"""Rating change by FIDE's rules, with the coefficient of a list or without."""

from __future__ import annotations

import pytest

from live.events import Player
from live.ledger.players.event_figures import EventFigures
from live.ratings.calibration.move_evidence import Population
from live.ratings.strength.expected_result import Chances
from live.ratings.strength.performance import PlayedAgainst


@pytest.mark.parametrize(("k", "used"), [(40, 40), (None, 10)])
def test_the_rating_change_uses_the_listed_k(k: int | None, used: int) -> None:
    won = PlayedAgainst(2400, True, Chances(1.0, 0.0, 0.0), None, 40, True, None, None)
    player = Player("Anna Adams", elo=2400, k=k)
    found = EventFigures().of({"g": (None, None, won)}, player, lambda: Population(2000.0, 400.0))
    assert found["rating_k"] == used
    assert found["rating_k_listed"] is (k is not None)
    assert found["rating_change"] == pytest.approx(used * 0.5)
