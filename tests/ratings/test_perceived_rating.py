"""The perceived rating."""

import gzip
import json
import math
from collections.abc import Sequence
from functools import cache
from itertools import cycle
from pathlib import Path

import chess
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from live.messages.figures import GainKind
from live.messages.values import Color
from live.ratings.model_choice import load_shipped_models
from live.ratings.move_circumstances import Turn, describe_board
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import (
    Elos,
    GameSums,
    Perceived,
    estimate_level,
    read_rating,
)
from live.server.analysis import to_json
from live.studies.learning.played_games import PlayedGame, read_played_games
from tests.ratings import second_implementation as second

# --- circumstances --------------------------------------------------------------------


def test_a_recapture_takes_back_on_the_square() -> None:
    board = chess.Board()
    for move in ("e2e4", "d7d5", "e4d5"):
        board.push_uci(move)
    assert describe_board(board, is_after_capture=True).recapture
    # The queen can take on the square, but the move before was no capture.
    assert not describe_board(board, is_after_capture=False).recapture


def test_one_legal_move_is_forced() -> None:
    board = chess.Board("7k/8/8/8/8/8/r7/1r5K w - - 0 1")
    assert not describe_board(board, is_after_capture=False).legal_moves
    board = chess.Board("7k/8/8/8/8/6q1/8/7K w - - 0 1")
    assert describe_board(board, is_after_capture=False).is_forced


# --- perceived rating -----------------------------------------------------------------

# Tests against the second implementation, and of general properties.


COLORS: tuple[Color, Color] = ("white", "black")
GAMES = Path(__file__).parents[1] / "data" / "searched-games.ndjson.gz"
Rated = tuple[float | None, float | None]


def reader(*names: str, scale: float = 1.0) -> MoveReader:
    held = {model.name: model for model in load_shipped_models()}
    return MoveReader([held[name] for name in names], scale)


@cache
def games(gain: GainKind) -> list[PlayedGame]:
    return read_played_games(gzip.decompress(GAMES.read_bytes()).splitlines(), gain)


def turns_of(game: PlayedGame) -> list[tuple[Color, Turn]]:
    turns: list[tuple[Color, Turn]] = []
    for color, side in zip(COLORS, game.sides, strict=True):
        turns += [(color, turn) for turn in side.turns]
    return sorted(turns, key=lambda each: each[1].ply)


def sums(
    read: MoveReader, turns: Sequence[tuple[Color, Turn]], elos: Rated
) -> GameSums:
    level = estimate_level(*elos, read.models[0].mean_elo)
    of = {
        color: Elos.from_ratings(level, elo)
        for color, elo in zip(COLORS, elos, strict=True)
    }
    total = GameSums(of, read.shared)
    for color, turn in turns:
        total.add(color, turn.ply, read.compare_turn(turn, of[color]))
    return total


def figure(
    total: GameSums, read: MoveReader, color: Color, *, over: bool
) -> Perceived | None:
    found = total.sum_evidence(color, read.dispersion, over=over)
    return None if found is None else read_rating(found, read.prior_sd)


def as_move(color: Color, turn: Turn) -> second.Move:
    board = turn.board
    return second.Move(
        color,
        turn.ply,
        turn.gain_cp,
        turn.score_before_cp,
        turn.stability_cp,
        turn.jump_cp,
        None if board is None else board.legal_moves,
        0 if board is None else board.captures,
        board is not None and board.recapture,
        board is not None and board.check,
        0 if board is None else board.pieces,
    )


def close(fast: Sequence[float | None], slow: Sequence[float | None]) -> bool:
    return all(
        (a is None) == (b is None)
        and (a is None or b is None or math.isclose(a, b, abs_tol=1e-6))
        for a, b in zip(fast, slow, strict=True)
    )


@pytest.mark.parametrize(
    ("index", "names", "gain", "elos", "scale"),
    [
        (0, ("classical",), "same-search", (2251, 1655), 1.0),
        (1, ("classical",), "same-search", (None, 2400), 1.0),
        (2, ("classical",), "same-search", (None, None), 1.31),
        (0, ("classical",), "same-search", (3350, 640), 1.0),
        (1, ("classical-successive",), "successive", (2780, 2801), 1.0),
        (2, ("blitz-successive",), "successive", (1500, 1200), 0.8),
        (
            0,
            ("classical-successive", "blitz-successive"),
            "successive",
            (2100, 1900),
            1.0,
        ),
    ],
)
def test_a_second_implementation_agrees(
    index: int, names: tuple[str, ...], gain: GainKind, elos: Rated, scale: float
) -> None:
    read = reader(*names, scale=scale)
    # Leaving out every third move keeps the slow implementation fast enough, and makes
    # gaps like those of moves without a score.
    turns = [each for each in turns_of(games(gain)[index]) if each[1].ply % 3]
    models = [json.loads(to_json(model)) for model in read.models]
    total, made = sums(read, (), elos), {}
    for color, turn in turns:
        total.add(color, turn.ply, read.compare_turn(turn, total.elos[color]))
        made[turn.ply] = [
            figure(total, read, color, over=over) for over in (False, True)
        ]
    for over in (False, True):
        slow = second.figures(
            models,
            [as_move(*each) for each in turns[:40]],
            dict(zip(COLORS, elos, strict=True)),
            field=models[0]["mean_elo"],
            over=over,
            scale=scale,
        )
        for color in COLORS:
            assert slow[color]
            for expected in slow[color]:
                found = made[expected.ply][over and expected is slow[color][-1]]
                assert found is not None
                assert close(found, expected[1:]), (found, expected)


turn = st.builds(
    Turn,
    gain_cp=st.sampled_from((0, 0, -5, -15, -40, -100, -400)),
    score_before_cp=st.integers(-900, 900),
    ply=st.just(1),
    stability_cp=st.floats(0, 60),
    jump_cp=st.integers(0, 300),
)
elo = st.floats(800, 3200)


def in_order(moves: Sequence[Turn]) -> list[tuple[Color, Turn]]:
    turns = (replace(move, ply=index + 1) for index, move in enumerate(moves))
    return list(zip(cycle(COLORS), turns, strict=False))


@given(st.lists(turn, min_size=4, max_size=30), elo, elo, st.integers(1, 29))
@settings(deadline=None, max_examples=50)
def test_moves_taken_back_leave_nothing_behind(
    moves: list[Turn], white: float, black: float, ply: int
) -> None:
    read = reader("classical")
    turns = in_order(moves)
    total = sums(read, turns, (white, black))
    total.truncate(ply)
    fresh = sums(read, turns[:ply], (white, black))
    for color in COLORS:
        held = figure(total, read, color, over=True)
        assert held == figure(fresh, read, color, over=True)
