"""How hard a position is, and what is asked to know it."""

import math

import chess
import pytest

from live.human.difficulty import (
    WEIGHTS,
    ChoiceWeights,
    Difficulty,
    MoveLosses,
    compute_move_losses,
    estimate_choices,
    estimate_difficulty,
    format_share,
    is_find,
    is_trap,
)
from live.human.question import (
    HumanQuestion,
    choose_kind,
    explain_not_covered,
    round_answer,
    round_elo,
)

#: The network alone.
PLAIN = ChoiceWeights(1, 0, 0, 0, 0, -99, 0, 0, 0, 1)


def losses(others_cp: int = 0, **searched_cp: int) -> MoveLosses:
    """The first is the engine's choice."""
    return MoveLosses(next(iter(searched_cp)), searched_cp, others_cp)


def test_without_losses_the_shares_are_the_networks() -> None:
    found = estimate_choices(
        {"a": 600, "b": 300, "c": 100}, losses(a=0, b=40, c=300), 2000, PLAIN
    )
    assert found == pytest.approx({"a": 0.6, "b": 0.3, "c": 0.1})


def test_the_log_odds_of_two_moves_follow_from_loss_and_rating() -> None:
    weights = PLAIN._replace(loss=-2.0, loss_by_elo=-0.5, best=0.4, unsearched=-1.0)
    known = losses(150, a=0, b=50)
    found = estimate_choices({"a": 500, "b": 250, "c": 250}, known, 2400, weights)
    assert math.log(found["a"] / found["b"]) == pytest.approx(
        math.log(2) + 0.4 + 2.5 * math.log(2)
    )
    assert math.log(found["b"] / found["c"]) == pytest.approx(2.5 * math.log(2) + 1)
    weaker = estimate_choices({"a": 500, "b": 250, "c": 250}, known, 1600, weights)
    assert weaker["a"] < found["a"]


def test_promotions_to_less_than_a_queen_are_left_out() -> None:
    known = losses(b7b8q=0, b7b8n=0)
    assert estimate_choices({"b7b8q": 1000}, known, 2000, PLAIN) == {"b7b8q": 1.0}


def test_strong_players_err_less_than_the_network_has_it() -> None:
    natural_but_losing = {"a": 200, "b": 800}
    weak, strong = (
        estimate_difficulty(natural_but_losing, losses(a=0, b=300), elo)
        for elo in (1200, 2700)
    )
    assert 0.8 > weak.error_chance > 3 * strong.error_chance > 0
    assert strong.shares["a"] > weak.shares["a"] > 0.2
    assert strong.tempting and weak.tempting


def test_a_short_search_misses_errors_and_finds_some_that_are_none() -> None:
    quiet = estimate_difficulty({"a": 500, "b": 500}, losses(a=0, b=10), 2000)
    assert 0 < quiet.error_chance < 0.1
    assert quiet.expected_loss_cp == pytest.approx(
        quiet.shares["b"] * (WEIGHTS.lost_cp + WEIGHTS.lost_factor * 10)
    )
    only = estimate_difficulty({"a": 1000}, losses(a=0), 2000)
    assert only.error_chance == only.expected_loss_cp == 0


@pytest.mark.parametrize(
    ("scores", "best", "sign", "full_cp", "lost"),
    [
        # The mover's, and won is won.
        ({"a": 30, "b": -20}, "a", 1, None, {"a": 0, "b": 50}),
        ({"b": -20, "a": 30}, "b", -1, -30, {"a": 50, "b": 0}),
        ({"a": 3900, "b": 1200, "c": 900}, "a", 1, 3900, {"a": 0, "b": 0, "c": 100}),
        # A deeper search knows the best move better, and what it is worth.
        ({"a": 130, "b": 30, "c": -80}, "b", 1, 30, {"a": 0, "b": 0, "c": 110}),
        ({"a": 584, "b": 60}, "a", 1, 72, {"a": 0, "b": 62}),
        ({"a": -584, "b": -60}, "a", -1, -72, {"a": 0, "b": 62}),
    ],
)
def test_losses_are_against_the_engine_s_choice(
    scores: dict[str, int],
    best: str,
    sign: int,
    full_cp: int | None,
    lost: dict[str, int],
) -> None:
    known = compute_move_losses(scores, best, sign, full_cp)
    assert known is not None and known.searched_cp == lost
    assert compute_move_losses({}, best, sign) is None


def test_what_was_not_searched_may_tempt() -> None:
    known = compute_move_losses({"a": 50, "b": -100}, "a", 1)
    assert known is not None and known.find_loss("c") == 150
    assert estimate_difficulty({"a": 100, "c": 900}, known, 1500).tempting


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (1.0, "nearly all"),
        (0.52, "about half"),
        (0.38, "about 4 in 10"),
        (0.24, "about 1 in 4"),
        (0.083, "about 1 in 12"),
        (0.011, "about 1 in 100"),
        (0.004, "fewer than 1 in 200"),
        (0.0, "fewer than 1 in 200"),
    ],
)
def test_a_share_is_said_no_finer_than_it_is_known(share: float, words: str) -> None:
    assert format_share(share) == words


def hard(error_chance: float, tempting: bool = True) -> Difficulty:
    return Difficulty(
        {"a": 0.2, "b": 0.8}, error_chance, 80.0, tempting, {"a": 0.0, "b": 100.0}
    )


def test_what_the_others_lose_leaves_out_who_chooses_the_move() -> None:
    assert hard(0.6).average_loss_of_others_cp("a") == pytest.approx(100)
    assert hard(0.6).average_loss_of_others_cp("b") == pytest.approx(0)
    assert hard(0.6).average_loss_of_others_cp("c") == pytest.approx(80)


def test_a_find_is_played_by_few_where_the_others_lose_by_it() -> None:
    assert is_find(0.08, 60, 50, 40) and is_find(0.08, 60, 50, 900)
    assert not is_find(0.3, 60, 50, 40)
    assert not is_find(0.08, 30, 50, 40)
    assert not is_find(0.08, 60, 50, -900)


@pytest.mark.parametrize(
    ("second_cp", "is_one"), [(60, True), (32, True), (30, False), (0, False)]
)
def test_nothing_is_found_where_the_second_move_is_within_a_third_of_a_pawn(
    second_cp: int, is_one: bool
) -> None:
    searched = MoveLosses("a2a3", {"a2a3": 0, "b2b3": second_cp, "h2h4": 400}, 400)
    hard = estimate_difficulty({"a2a3": 10, "h2h4": 990}, searched, 2000)
    second = hard.find_second_loss_cp("a2a3")
    assert is_find(0.08, hard.average_loss_of_others_cp("a2a3"), second, 20) == is_one
    # Whoever plays the second one leaves a better move behind.
    assert hard.find_second_loss_cp("b2b3") == 0


def test_the_only_move_has_no_second_one() -> None:
    searched = MoveLosses("a2a3", {"a2a3": 0}, 0)
    assert (
        estimate_difficulty({"a2a3": 1000}, searched, 2000).find_second_loss_cp("a2a3")
        == 0
    )


def test_a_trap_costs_its_author_little_and_the_natural_reply_errs() -> None:
    assert is_trap(0.2, hard(0.15), 10, -30)
    assert is_trap(None, hard(0.15), 10, -30)
    assert not is_trap(0.2, hard(0.15, tempting=False), 10, -30)
    for share, error, own_loss_cp, score_cp in (
        (0.2, 0.15, 80, -30),
        (0.2, 0.15, 10, -800),
        (0.2, 0.05, 10, -30),
        (0.9, 0.15, 10, -30),
    ):
        assert not is_trap(share, hard(error), own_loss_cp, score_cp)


@pytest.mark.parametrize(
    ("fen", "reason"),
    [
        (chess.STARTING_FEN, None),
        ("8/7k/8/8/8/8/QQ6/K7 w - - 0 1", None),
        ("7k/8/8/8/8/8/QQQ5/K7 w - - 0 1", "three queens"),
        ("7k/8/8/8/8/nnn5/8/K7 w - - 0 1", "knight"),
        ("8/8/8/8/8/8/8/K7 w - - 0 1", "not legal"),
    ],
)
def test_positions_unlike_those_learned_are_named(fen: str, reason: str | None) -> None:
    said = explain_not_covered(chess.Board(fen))
    assert said is None if reason is None else reason in str(said)
    assert "Chess960" in str(explain_not_covered(chess.Board(chess960=True)))
    odd = chess.STARTING_FEN.replace("KQkq", "Qkq")
    assert "starting position" in str(explain_not_covered(chess.Board(), start=odd))


def test_who_plays_is_asked_for_as_it_was_learned() -> None:
    """In hundreds; fast chess from online games alone, slow chess apart."""
    assert [round_elo(elo) for elo in (2449, 2451, 2881, 640)] == [
        2400,
        2500,
        2800,
        1000,
    ]
    paces = (("blitz", False), (None, False), ("classical", False), ("classical", True))
    learned = [choose_kind(pace, online) for pace, online in paces]
    assert learned == ["blitz", "otb", "otb", "classical"]


def test_shares_are_kept_in_thousandths_and_the_smallest_left_out() -> None:
    answer = round_answer(
        "network", [{"e2e4": 0.45678, "d2d4": 0.54282, "a2a3": 0.0004}]
    )
    assert answer.per_mille == ({"e2e4": 457, "d2d4": 543},)
    assert answer.find_share(0, "e2e4") == 0.457
    assert answer.find_share(0, "a2a3") == 0.0
    assert answer.find_share(0, "a7a8n") is None


def test_another_question_is_kept_apart() -> None:
    one = HumanQuestion(chess.STARTING_FEN, ("e2e4",), (2400,), "otb")
    assert (
        one.digest
        == HumanQuestion(chess.STARTING_FEN, ("e2e4",), (2400,), "otb").digest
    )
    assert (
        one.digest
        != HumanQuestion(chess.STARTING_FEN, ("e2e4",), (2500,), "otb").digest
    )
