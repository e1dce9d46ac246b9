from __future__ import annotations

import numpy as np
import pytest

from live.errors import InputError
from live.ratings.choice_model import Model, Spread
from live.ratings.intrinsic_rating import RYBKA_3, IntrinsicCounter, IntrinsicTable, Milepost
from live.studies.regan_fit import RatedTurns, learn_intrinsic
from tests.benchmarks.ratings.regan_recovery import real_turns, simulate, spreads_of

STRAIGHT = IntrinsicTable(
    name="straight",
    engine="Some engine",
    limit="depth 9",
    lines=20,
    source="made up",
    mileposts=(Milepost(1400, 0.20, 0.42), Milepost(2600, 0.08, 0.52)),
)


def games_of(
    table: IntrinsicTable, players: int, turns: int, seed: int, stray_elo: float = 0.0
) -> list[RatedTurns]:
    """One game for each player, who may play above or below their rating."""
    rng = np.random.default_rng(seed)
    pool = real_turns()
    games = []
    for player in range(players):
        elo = float(rng.uniform(1400, 2600))
        shown = elo + stray_elo * float(rng.standard_normal())
        played = simulate(pool, table.skill(shown), turns, rng)
        games.append(RatedTurns(str(player), elo, tuple(spreads_of(played))))
    return games


def learn(games: list[RatedTurns], model: Model = "shares") -> IntrinsicTable:
    return learn_intrinsic(
        games,
        name="mine",
        engine="Some engine",
        limit="depth 9",
        lines=20,
        source="simulated",
        model=model,
    )


@pytest.mark.slow
def test_a_straight_table_is_learned_back() -> None:
    learned = learn(games_of(STRAIGHT, 400, 40, seed=1))
    for elo in (1500, 2000, 2500):
        truth, found = STRAIGHT.skill(elo), learned.skill(elo)
        assert found.s == pytest.approx(truth.s, rel=0.15)
        assert found.c == pytest.approx(truth.c, rel=0.10)
    assert (learned.turns, learned.players) == (16_000, 400)
    assert learned.mismatch("Some engine", "depth 9") is None
    assert learned.mismatch("Some engine", "depth 10") is not None
    assert learned.players_sd_elo is not None and learned.players_sd_elo < 120


def test_mileposts_are_centuries_within_the_ratings_seen() -> None:
    posts = learn(games_of(STRAIGHT, 60, 40, seed=2)).mileposts
    assert 1400 <= posts[0].elo < 1600 and 2400 < posts[-1].elo <= 2600
    assert all(post.elo % 100 == 0 for post in posts[1:-1])


@pytest.mark.slow
def test_how_far_players_stray_from_their_rating_is_seen() -> None:
    learned = learn(games_of(STRAIGHT, 400, 60, seed=3, stray_elo=300))
    assert learned.players_sd_elo == pytest.approx(300, rel=0.3)


@pytest.mark.slow
def test_a_learned_table_rates_new_players() -> None:
    learned = learn(games_of(STRAIGHT, 300, 40, seed=4))
    off = []
    for game in games_of(STRAIGHT, 30, 200, seed=5):
        counter = IntrinsicCounter(learned)
        for spread in game.spreads:
            counter.add(spread)
        rating = counter.rating.elo
        off.append(game.elo - (rating if rating is not None else 2000))
    assert abs(np.mean(off)) < 70
    assert np.std(off) < 260


@pytest.mark.slow
def test_the_other_models_can_be_learned_too() -> None:
    learned = learn(games_of(STRAIGHT, 60, 30, seed=6), model="powers")
    assert learned.model == "powers"
    assert learned.skill(1500).s > learned.skill(2500).s


def test_too_few_turns_are_refused() -> None:
    with pytest.raises(InputError, match="mine: 80 turns: 400 are needed"):
        learn(games_of(STRAIGHT, 2, 40, seed=7))
    with pytest.raises(InputError, match="0 turns"):
        learn([])
    with pytest.raises(InputError, match="0 turns"):
        learn([RatedTurns("a", 2000, ())])


def test_ratings_all_alike_are_refused() -> None:
    alike = [
        RatedTurns(game.player, 2000, game.spreads) for game in games_of(STRAIGHT, 20, 40, seed=8)
    ]
    with pytest.raises(InputError, match="ratings differ by 0 Elo only"):
        learn(alike)


@pytest.mark.slow
def test_games_in_which_the_strong_play_worse_are_refused() -> None:
    upside_down = [
        RatedTurns(game.player, 4000 - game.elo, game.spreads)
        for game in games_of(STRAIGHT, 100, 40, seed=9)
    ]
    with pytest.raises(InputError, match="do not choose better moves"):
        learn(upside_down)


def test_games_without_a_mistake_are_refused() -> None:
    perfect = [
        RatedTurns(str(elo), elo, (Spread((0, 0.1, 0.3), 0, 0.0),) * 40)
        for elo in range(1500, 2500, 50)
    ]
    with pytest.raises(InputError, match=r"no finite s and c|cannot be told apart"):
        learn(perfect)


def test_the_published_table_is_no_table_for_another_engine() -> None:
    assert RYBKA_3.mismatch("Some engine", "depth 9") is not None
