import math

import chess
import numpy as np
import pytest

from live.human.encoding import Floats
from live.human.likelihood import (
    difficulty,
    in_words,
    learned_elo,
    learned_kind,
    likely,
    not_covered,
    shares,
    surprise,
)


def _logits(**moves: float) -> Floats:
    given = np.full(4096, 20.0, np.float32)  # high where no legal move is: must not matter
    for uci, logit in moves.items():
        move = chess.Move.from_uci(uci)
        given[move.from_square * 64 + move.to_square] = logit
    return given


def test_shares_are_over_legal_moves_alone_largest_first() -> None:
    board = chess.Board("7k/8/8/8/8/8/8/K7 w - - 0 1")
    given = shares(board, _logits(a1a2=0.0, a1b1=math.log(2), a1b2=math.log(5)))
    assert list(given) == ["a1b2", "a1b1", "a1a2"]
    assert list(given.values()) == pytest.approx([5 / 8, 2 / 8, 1 / 8])


def test_black_reads_the_board_from_its_own_side() -> None:
    board = chess.Board("k7/8/8/8/8/8/8/7K b - - 0 1")
    given = shares(board, _logits(a1a2=0.0, a1b1=math.log(2), a1b2=math.log(5)))
    assert list(given) == ["a8b7", "a8b8", "a8a7"]


def test_a_promotion_is_counted_once_as_a_queen() -> None:
    board = chess.Board("7k/P7/8/8/8/8/8/7K w - - 0 1")
    given = shares(board, np.zeros(4096, np.float32))
    assert sorted(given) == ["a7a8q", "h1g1", "h1g2", "h1h2"]
    assert sum(given.values()) == pytest.approx(1)


def test_no_shares_where_the_game_is_over() -> None:
    assert shares(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), np.zeros(4096, np.float32)) == {}


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


def test_ratings_and_kinds_beyond_those_learned_are_moved_and_marked() -> None:
    assert learned_elo(1000) == (1000, False)
    assert learned_elo(2881) == (2800, True)
    assert learned_elo(640) == (1000, True)
    assert learned_kind("blitz") == "blitz"
    assert learned_kind(None) == "otb"
    assert learned_kind("correspondence", online=True) == "classical"


def test_difficulty_weighs_losses_by_who_plays_the_move() -> None:
    found = difficulty({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0, "b": 40, "c": 300})
    assert found is not None
    assert found.error == pytest.approx(0.2)
    assert found.expected_loss_cp == pytest.approx(72)
    assert found.scored == pytest.approx(1)


def test_difficulty_says_nothing_when_too_few_moves_are_scored() -> None:
    assert difficulty({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0}) is None
    partly = difficulty({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0, "b": 150})
    assert partly is not None
    assert partly.error == pytest.approx(0.3 / 0.8)
    assert partly.scored == pytest.approx(0.8)


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


def test_surprise_and_likely_moves() -> None:
    given = {"a": 0.6, "b": 0.25, "c": 0.1, "d": 0.05}
    assert likely(given) == ["a", "b", "c"]
    assert likely(given, most=1) == ["a"]
    assert surprise({"a": 1.0}) == 0
    assert surprise({"a": 0.5, "b": 0.5}) == pytest.approx(math.log(2))
