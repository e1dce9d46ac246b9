from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from live.human.players import Asked
from live.human.question import HumanAnswer
from live.ratings.strength.agreement import found_by
from live.ratings.strength.human_evidence import (
    FIRST_PLY,
    among_people,
    human_likelihood,
    log_likelihood,
)
from live.ratings.strength.known_before_move import Turn
from live.ratings.strength.loss_model import GRID_ELO, LossModel, shipped_loss_models
from live.ratings.strength.played_games import PlayedGame, PlayedSide

SHARES: tuple[dict[str, int], ...] = ({"e2e4": 600, "d2d4": 400}, {"e2e4": 900, "d2d4": 100})
ANSWER = HumanAnswer("network", ({"e2e4": 1000}, *SHARES))


def at(elo: float, answer: HumanAnswer, uci: str) -> float:
    return float(np.exp(np.interp(elo, GRID_ELO, log_likelihood(answer, uci))))


def model() -> LossModel:
    held = next(each for each in shipped_loss_models() if each.human is not None)
    assert held.human is not None
    return msgspec.structs.replace(
        held, human=msgspec.structs.replace(held.human, network="network")
    )


def test_the_reference_ratings_play_as_the_network_says() -> None:
    assert at(1500, ANSWER, "e2e4") == pytest.approx(0.6)
    assert at(2400, ANSWER, "e2e4") == pytest.approx(0.9)


def test_halfway_between_them_odds_are_the_geometric_mean() -> None:
    halfway = at(1950, ANSWER, "e2e4")
    assert halfway / (1 - halfway) == pytest.approx((0.6 / 0.4 * 0.9 / 0.1) ** 0.5)


def test_shares_of_all_moves_add_up_at_every_rating() -> None:
    both = np.exp(log_likelihood(ANSWER, "e2e4")) + np.exp(log_likelihood(ANSWER, "d2d4"))
    assert both == pytest.approx(np.ones(len(GRID_ELO)))


def test_nobodys_own_rating_enters() -> None:
    other = HumanAnswer("network", ({"d2d4": 1000}, *SHARES))
    assert log_likelihood(other, "e2e4").tolist() == log_likelihood(ANSWER, "e2e4").tolist()


def test_a_move_that_nobody_plays_is_rare_at_every_rating_and_says_little() -> None:
    told = log_likelihood(ANSWER, "a2a3")
    assert (told < -6).all()
    assert np.ptp(told[(GRID_ELO >= 1500) & (GRID_ELO <= 2400)]) < 0.1


def test_what_was_not_learned_says_nothing() -> None:
    assert not log_likelihood(ANSWER, "e7e8n").any()
    assert not log_likelihood(HumanAnswer("maia", SHARES, by_elo=False), "e2e4").any()


def test_only_the_network_it_was_learned_with_joins_a_model() -> None:
    ply = FIRST_PLY
    assert human_likelihood(model(), None, ply, "e2e4") is None
    other = msgspec.structs.replace(ANSWER, network="another")
    assert human_likelihood(model(), other, ply, "e2e4") is None
    without = msgspec.structs.replace(model(), human=None)
    assert human_likelihood(without, ANSWER, ply, "e2e4") is None
    found = human_likelihood(model(), ANSWER, ply, "e2e4")
    assert found is not None
    assert found.any()


def test_what_is_played_from_memory_is_known_and_says_nothing() -> None:
    found = human_likelihood(model(), ANSWER, FIRST_PLY - 1, "e2e4")
    assert found is not None
    assert not found.any()


def test_how_many_find_the_engines_move_goes_by_the_players_rating() -> None:
    assert found_by(ANSWER, "e2e4", 1500) == pytest.approx(0.6)
    assert found_by(ANSWER, "e2e4", 2400) == pytest.approx(0.9)
    for answer, best, elo in (
        (None, "e2e4", 1500),
        (ANSWER, None, 1500),
        (ANSWER, "e2e4", None),
        (ANSWER, "e7e8n", 1500),
        (HumanAnswer("maia", SHARES, by_elo=False), "e2e4", 1500),
    ):
        assert found_by(answer, best, elo) is None


class Knights:
    """Strong players move knights."""

    identity, by_elo = "knights", True
    about: dict[str, str] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked = 0

    def shares(self, asked: Sequence[Asked]) -> list[dict[str, float]]:
        self.asked += len(asked)
        found = []
        for one in asked:
            legal = list(one.board.legal_moves)
            weight = {
                move.uci(): one.elo[0] if one.board.piece_type_at(move.from_square) == 2 else 1000
                for move in legal
            }
            found.append({uci: each / sum(weight.values()) for uci, each in weight.items()})
        return found


def test_the_turns_of_read_games_are_asked_about() -> None:
    moves = ("e2e4", "e7e5", "a2a3", "a7a6", "h2h3", "h7h6", "c2c3", "c7c6", "g1f3", "d7d6")
    sides = [
        PlayedSide(
            name, 2000, tuple(Turn(0, 0, ply) for ply in range(first, 11, 2)), best=("g1f3",) * 5
        )
        for name, first in (("a", 1), ("b", 2))
    ]
    network = Knights()
    (told,) = among_people([PlayedGame(sides[0], sides[1], "1-0", (), moves)], network)
    assert network.asked == 4  # the last two positions, for both reference ratings
    assert [row.any() for row in told.white.human] == [False] * 4 + [True]
    assert [turn.found is None for turn in told.white.turns] == [True] * 4 + [False]
    rising = np.diff(told.white.human[-1])
    assert (rising > 0).all()
    assert (np.diff(told.black.human[-1]) < 0).all()


def test_a_game_without_moves_stays_as_it_is() -> None:
    side = PlayedSide("a", 2000, (Turn(0, 0, 9),))
    one = PlayedGame(side, side, "1-0")
    assert list(among_people([one], Knights())) == [one]


def test_a_game_that_ends_in_the_opening_says_nothing() -> None:
    """As nothing, not as unknown: one that is unknown keeps all games from teaching anything."""
    sides = [PlayedSide(name, 2000, (Turn(0, 0, ply),)) for name, ply in (("a", 1), ("b", 2))]
    drawn = PlayedGame(sides[0], sides[1], "1/2-1/2", (), ("e2e4", "e7e5"))
    (told,) = among_people([drawn], Knights())
    for side in told.sides:
        assert [row.any() for row in side.human] == [False]
        assert side.turns[0].found is None
