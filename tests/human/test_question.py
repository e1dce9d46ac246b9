import chess
import pytest

from live.human.question import (
    HumanQuestion,
    asked_elo,
    learned_kind,
    not_covered,
    rounded_answer,
)


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
    said = not_covered(chess.Board(fen))
    assert said is None if reason is None else reason in str(said)


def test_chess960_and_other_starts_are_named() -> None:
    assert "Chess960" in str(not_covered(chess.Board(chess960=True)))
    odd = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w Qkq - 0 1"
    assert "starting position" in str(not_covered(chess.Board(), start=odd))
    assert not_covered(chess.Board(), start=chess.STARTING_FEN) is None


def test_ratings_are_asked_for_in_hundreds_and_within_those_learned() -> None:
    assert [asked_elo(elo) for elo in (2449, 2451, 2881, 640)] == [2400, 2500, 2800, 1000]


def test_fast_chess_was_learned_online_and_slow_chess_apart() -> None:
    assert learned_kind("blitz", online=False) == "blitz"
    assert learned_kind(None, online=False) == "otb"
    assert learned_kind("classical", online=False) == "otb"
    assert learned_kind("classical", online=True) == "classical"


def test_shares_are_kept_in_thousandths_and_the_smallest_left_out() -> None:
    answer = rounded_answer("network", [{"e2e4": 0.45678, "d2d4": 0.54282, "a2a3": 0.0004}])
    assert answer.per_mille == ({"e2e4": 457, "d2d4": 543},)
    assert answer.share(0, "e2e4") == 0.457
    assert answer.share(0, "a2a3") == 0.0
    assert answer.share(0, "a7a8n") is None


def test_another_question_is_kept_apart() -> None:
    one = HumanQuestion(chess.STARTING_FEN, ("e2e4",), (2400,), "otb")
    assert one.digest == HumanQuestion(chess.STARTING_FEN, ("e2e4",), (2400,), "otb").digest
    assert one.digest != HumanQuestion(chess.STARTING_FEN, ("e2e4",), (2500,), "otb").digest
