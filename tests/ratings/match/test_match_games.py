from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import InputError
from live.events import Result
from live.ratings.match import GameCounts, MatchGame, PairCounts, count_match


def match(*results: Result, start: str = "A") -> list[MatchGame]:
    """Games with alternating colours."""
    other = "B" if start == "A" else "A"
    return [
        MatchGame(start, other, result) if number % 2 == 0 else MatchGame(other, start, result)
        for number, result in enumerate(results)
    ]


def test_counts_take_the_side_of_the_first_player() -> None:
    games = match("1-0", "1-0", "1/2-1/2", "0-1", "0-1")
    found = count_match(games)
    assert (found.first, found.second) == ("A", "B")
    assert found.games == GameCounts(wins=2, draws=1, losses=2)
    assert found.pairs == PairCounts(0, 0, 1, 1, 0)
    assert (found.unpaired, found.left_out) == (1, 0)


def test_the_other_player_sees_the_reverse() -> None:
    games = match("1-0", "1-0", "1/2-1/2", "0-1", "0-1")
    found = count_match(games, first="B")
    assert found.games == GameCounts(wins=2, draws=1, losses=2)
    assert found.pairs == PairCounts(0, 1, 1, 0, 0)


def test_an_unfinished_game_does_not_shift_the_pairs_after_it() -> None:
    games = match("1-0", "*", "1-0", "0-1")
    found = count_match(games)
    assert found.pairs == PairCounts(0, 0, 0, 0, 1)
    assert (found.unpaired, found.left_out) == (1, 1)


def test_games_with_the_same_colours_make_no_pair() -> None:
    games = [MatchGame("A", "B", "1-0"), MatchGame("A", "B", "1-0"), MatchGame("B", "A", "1-0")]
    found = count_match(games)
    assert found.pairs == PairCounts(0, 0, 1, 0, 0)
    assert found.pair_order == ((3, 2),)
    assert found.unpaired == 1


def test_a_game_lost_by_both_is_left_out() -> None:
    found = count_match(match("0-0", "1/2-0", "1-0"))
    assert found.games == GameCounts(1, 0, 0)
    assert found.left_out == 2


@pytest.mark.slow
@given(st.lists(st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"]), min_size=1, max_size=30))
def test_every_game_is_counted_once(results: list[Result]) -> None:
    found = count_match(match(*results))
    assert found.games.games + found.left_out == len(results)
    assert found.unpaired >= 0
    points = found.games.wins + found.games.draws / 2
    assert sum(halves for _, halves in found.order) == 2 * points


@pytest.mark.parametrize(
    ("games", "first", "problem"),
    [
        ([], None, "there is no game"),
        (match("1-0"), "C", "'C' is not one of the two players"),
        ([*match("1-0"), MatchGame("A", "C", "1-0")], None, "game 2: is between 'A' and 'C'"),
        ([MatchGame("A", "A", "1-0")], None, "not one of the two players"),
    ],
)
def test_what_is_no_match_is_refused(
    games: list[MatchGame], first: str | None, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        count_match(games, first)
