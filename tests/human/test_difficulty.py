import pytest

from live.human.difficulty import Difficulty, difficulty, in_words, is_find, is_trap, losses_cp


def test_difficulty_weighs_losses_by_who_plays_the_move() -> None:
    found = difficulty({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0, "b": 40, "c": 300})
    assert found is not None
    assert found.error_chance == pytest.approx(0.2)
    assert found.expected_loss_cp == pytest.approx(72)
    assert found.scored == pytest.approx(1)


def test_difficulty_says_nothing_when_too_few_moves_are_scored() -> None:
    assert difficulty({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0}) is None
    partly = difficulty({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0, "b": 150})
    assert partly is not None
    assert partly.error_chance == pytest.approx(0.3 / 0.8)
    assert partly.scored == pytest.approx(0.8)


def test_what_was_not_scored_counts_where_it_is_an_error_anyway() -> None:
    given = {"a": 0.2, "b": 0.1, "c": 0.7}
    assert difficulty(given, {"a": 0, "b": 90}, 90) is None
    found = difficulty(given, {"a": 0, "b": 130}, 130)
    assert found is not None
    assert found.error_chance == pytest.approx(0.8)
    assert found.expected_loss_cp == pytest.approx(0.8 * 130)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (1.0, "nearly all"),
        (0.84, "about 8 in 10"),
        (0.52, "about half"),
        (0.38, "about 4 in 10"),
        (0.3, "about 3 in 10"),
        (0.24, "about 1 in 4"),
        (0.2, "about 1 in 5"),
        (0.083, "about 1 in 12"),
        (0.011, "about 1 in 100"),
        (0.004, "fewer than 1 in 200"),
        (0.0, "fewer than 1 in 200"),
    ],
)
def test_a_share_is_said_no_finer_than_it_is_known(share: float, words: str) -> None:
    assert in_words(share) == words


def test_losses_are_the_movers_and_won_is_won() -> None:
    assert losses_cp({"a": 30, "b": -20}, "a", 1) == {"a": 0, "b": 50}
    assert losses_cp({"b": -20, "a": 30}, "b", -1) == {"a": 50, "b": 0}
    assert losses_cp({"a": 3900, "b": 1200, "c": 900}, "a", 1) == {"a": 0, "b": 0, "c": 100}
    assert losses_cp({}, "a", 1) == {"a": 0}


def test_a_deeper_search_knows_the_best_move_better() -> None:
    assert losses_cp({"a": 130, "b": 30, "c": -80}, "b", 1) == {"a": 0, "b": 0, "c": 110}


def hard(error_chance: float, tempting: bool = True) -> Difficulty:
    return Difficulty(0.9, error_chance, 120.0, tempting)


def test_it_is_tempting_where_the_move_that_most_choose_is_an_error() -> None:
    given = {"a": 0.2, "b": 0.5, "c": 0.3}
    natural = difficulty(given, {"a": 0, "b": 100, "c": 0})
    rare = difficulty(given, {"a": 0, "b": 0, "c": 100})
    assert natural is not None and natural.tempting
    assert rare is not None and not rare.tempting


def test_a_find_is_played_by_few_where_most_would_err() -> None:
    assert is_find(0.08, hard(0.6), 40)
    assert not is_find(0.2, hard(0.6), 40)
    assert not is_find(0.08, hard(0.3), 40)
    assert is_find(0.08, hard(0.6), 900)
    assert not is_find(0.08, hard(0.6), -900)


def test_a_trap_costs_its_author_little_and_the_natural_reply_errs() -> None:
    assert is_trap(0.2, hard(0.45), 10, -30)
    assert not is_trap(0.2, hard(0.45, tempting=False), 10, -30)
    assert not is_trap(0.2, hard(0.45), 80, -30)
    assert not is_trap(0.2, hard(0.45), 10, -800)
    assert not is_trap(0.2, hard(0.3), 10, -30)
    assert not is_trap(0.9, hard(0.45), 10, -30)
    assert is_trap(None, hard(0.45), 10, -30)
