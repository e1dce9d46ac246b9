"""Fits of s and c to choices, and the learned tables by Elo."""

import math
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from live.errors import InputError
from live.ratings.choice_model import ChoiceSkill, Spread, TurnArrays
from live.ratings.intrinsic_rating import IntrinsicTable, Milepost
from live.studies.learning.choice_fit import (
    PERCENTILES,
    fit_likelihood,
    fit_percentile,
    fit_sensitivity,
    measure_share_up,
    score_percentiles,
)
from live.studies.learning.fisher_scoring import NoFit
from live.studies.learning.intrinsic_table import RatedTurns, learn_intrinsic
from tests.ratings.known_players import (
    compute_log_likelihood,
    real_turns,
    simulate,
    spreads_of,
)

# --- choice fit -----------------------------------------------------------------------


def some_turns(n: int, skill: ChoiceSkill, seed: int = 7) -> TurnArrays:
    return simulate(real_turns(), skill, n, np.random.default_rng(seed))


def test_for_the_most_likely_c_the_most_likely_s_is_that_of_both() -> None:
    turns = some_turns(200, ChoiceSkill(0.1, 0.5))
    both = fit_likelihood(turns)
    assert fit_sensitivity(turns, both.skill.c) == pytest.approx(both.skill.s, rel=1e-4)
    other = fit_sensitivity(turns, both.skill.c * 1.3)
    assert other is not None and other > both.skill.s
    assert fit_sensitivity(some_turns(10, ChoiceSkill(0.1, 0.5)), 0.5) is None


def test_no_general_optimiser_finds_more_likelihood() -> None:
    turns = some_turns(150, ChoiceSkill(0.1, 0.5))
    fit = fit_likelihood(turns)

    def loss(at: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        s, c = np.exp(np.clip(at, -8, 4)).tolist()
        return -compute_log_likelihood(turns, ChoiceSkill(s, c))

    found = minimize(loss, np.log([fit.skill.s, fit.skill.c]), method="Nelder-Mead")
    assert compute_log_likelihood(turns, fit.skill) >= -float(found.fun) - 1e-4


def test_percentiles_match_no_worse_than_a_general_optimiser() -> None:
    turns = some_turns(300, ChoiceSkill(0.1, 0.5))
    fit = fit_percentile(turns)

    def score(at: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        s, c = np.exp(np.clip(at, -8, 4)).tolist()
        return score_percentiles(turns, ChoiceSkill(s, c))

    found = minimize(score, np.log([fit.s, fit.c]), method="Nelder-Mead")
    assert score_percentiles(turns, fit) <= float(found.fun) + 1e-6
    likeliest = fit_likelihood(turns)
    assert score_percentiles(turns, fit) <= score_percentiles(turns, likeliest.skill)


def test_shares_up_are_those_of_section_6() -> None:
    # Two turns, calculated by hand. In the first, two moves have probability 1/2 each
    # and the second was played, so it spans 0.5 to 1. In the second, the clear best
    # move was played: with s = 1, c = 1 and δ = log 4, it spans 0 to 0.8.
    turns = TurnArrays([Spread((0, 0), 1, 0.0), Spread((0, math.log(4)), 0, 0.0)])
    found = measure_share_up(turns, ChoiceSkill(1, 1))
    for q, share in zip(PERCENTILES, found, strict=True):
        first = 0 if q <= 0.5 else (q - 0.5) / 0.5
        second = 1 if q >= 0.8 else q / 0.8
        assert share == pytest.approx((first + second) / 2)


def test_interval_ends_are_where_the_likelihood_has_fallen_enough() -> None:
    turns = some_turns(120, ChoiceSkill(0.1, 0.5))
    fit = fit_likelihood(turns)
    best = compute_log_likelihood(turns, fit.skill)
    fallen = float(stats.t.ppf(0.975, 118)) ** 2

    def assert_fallen(skills: Iterable[ChoiceSkill]) -> None:
        profile = max(compute_log_likelihood(turns, skill) for skill in skills)
        assert 2 * (best - profile) == pytest.approx(fallen, abs=0.01)

    many_c = [fit.skill.c * math.exp(x) for x in np.linspace(-1.5, 1.5, 601)]
    for s in fit.s_interval:
        assert_fallen(ChoiceSkill(s, c) for c in many_c)
    many_s = [fit.skill.s * math.exp(x) for x in np.linspace(-3, 3, 601)]
    for c in fit.c_interval:
        assert_fallen(ChoiceSkill(s, c) for s in many_s)


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        (TurnArrays([]), "0 turns"),
        (some_turns(19, ChoiceSkill(0.1, 0.5)), "19 turns: by .*, s and c need"),
        (
            TurnArrays([Spread((0, 0.1, 0.5), 0, 0.0)] * 200),
            "every move played was the best one",
        ),
        (TurnArrays([Spread((0, 0), i % 2, 0.0) for i in range(300)]), "."),
    ],
    ids=["none", "few", "never erred", "no choice"],
)
@pytest.mark.parametrize("fit", [fit_likelihood, fit_percentile])
def test_what_cannot_be_fitted_says_why(
    turns: TurnArrays, reason: str, fit: Callable[[object], object]
) -> None:
    with pytest.raises(NoFit, match=reason):
        fit(turns)


def test_turns_all_alike_cannot_tell_s_from_c() -> None:
    with pytest.raises(NoFit):
        fit_likelihood(
            TurnArrays([Spread((0, 0.2), i % 3 == 0, 0.0) for i in range(300)])
        )


# --- intrinsic fit --------------------------------------------------------------------


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
    """Simulate one game for each player. The strength shown in a game varies around the
    rating with a standard deviation of ``stray_elo``.
    """
    rng = np.random.default_rng(seed)
    pool = real_turns()
    games = []
    for player in range(players):
        elo = float(rng.uniform(1400, 2600))
        shown = elo + stray_elo * float(rng.standard_normal())
        played = simulate(pool, table.interpolate_skill(shown), turns, rng)
        games.append(RatedTurns(str(player), elo, tuple(spreads_of(played))))
    return games


def learn(games: list[RatedTurns]) -> IntrinsicTable:
    about = {
        "name": "mine",
        "engine": "Some engine",
        "limit": "depth 9",
        "source": "simulated",
    }
    return learn_intrinsic(games, lines=20, **about)


def test_a_straight_table_is_learned_back() -> None:
    learned = learn(games_of(STRAIGHT, 400, 40, seed=1))
    for elo in (1500, 2000, 2500):
        truth, found = STRAIGHT.interpolate_skill(elo), learned.interpolate_skill(elo)
        assert found.s == pytest.approx(truth.s, rel=0.15)
        assert found.c == pytest.approx(truth.c, rel=0.10)
    assert (learned.turns, learned.players) == (16_000, 400)
    assert learned.explain_mismatch("Some engine", "depth 9") is None
    assert learned.explain_mismatch("Some engine", "depth 10") is not None
    assert learned.players_sd_elo is not None and learned.players_sd_elo < 120


def test_mileposts_are_centuries_within_the_ratings_seen() -> None:
    posts = learn(games_of(STRAIGHT, 60, 40, seed=2)).mileposts
    assert 1400 <= posts[0].elo < 1600 and 2400 < posts[-1].elo <= 2600
    assert all(post.elo % 100 == 0 for post in posts[1:-1])


def test_how_far_players_stray_from_their_rating_is_seen() -> None:
    learned = learn(games_of(STRAIGHT, 400, 60, seed=3, stray_elo=300))
    assert learned.players_sd_elo == pytest.approx(300, rel=0.3)


@pytest.mark.parametrize(
    ("games", "problem"),
    [
        (lambda: games_of(STRAIGHT, 2, 40, seed=7), "mine: 80 turns: 400 are needed"),
        (lambda: [RatedTurns("a", 2000, ())], "0 turns"),
        (
            lambda: [
                RatedTurns(each.player, 2000, each.spreads)
                for each in games_of(STRAIGHT, 20, 40, 8)
            ],
            "ratings differ by 0 Elo only",
        ),
        (
            lambda: [
                RatedTurns(each.player, 4000 - each.elo, each.spreads)
                for each in games_of(STRAIGHT, 100, 40, seed=9)
            ],
            "do not choose better moves",
        ),
        (
            lambda: [
                RatedTurns(str(elo), elo, (Spread((0, 0.1, 0.3), 0, 0.0),) * 40)
                for elo in range(1500, 2500, 50)
            ],
            r"no finite s and c|cannot be distinguished",
        ),
    ],
    ids=["few", "none", "alike", "upside down", "perfect"],
)
def test_what_teaches_no_table_is_refused(
    games: Callable[[], list[RatedTurns]], problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        learn(games())
