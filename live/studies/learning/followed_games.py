"""Counted moves of rated games in the order of play, with the sums that the perceived
rating needs after each move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from live.messages.values import Color
from live.ratings.move_circumstances import Turn
from live.ratings.perceived_model import MoveReader
from live.ratings.perceived_rating import (
    ComparedMove,
    Dispersion,
    Elos,
    Evidence,
    Floats,
    GameSums,
    estimate_level,
)
from live.studies.learning.played_games import PlayedGame

Ints = npt.NDArray[np.int64]
Which = npt.NDArray[np.bool_]

COLORS: tuple[Color, Color] = ("white", "black")
Whom = Callable[[str], bool]
Shared = Sequence[tuple[int, float]]
_BARE = Dispersion((), 1.0)


def choose_sides(
    games: Sequence[PlayedGame], is_chosen: Whom
) -> list[dict[Color, str]]:
    """Return, for each game, a mapping from colour to player of the rated players whom
    ``is_chosen`` accepts. A player without known turns in the game is left out.
    """
    sides_of_games = []
    for index, game in enumerate(games):
        players: dict[Color, str] = {}
        for color, side in zip(COLORS, game.sides, strict=True):
            # An unnamed player counts as a different player in each game, because
            # nobody knows who he is.
            player = side.player or f"{index}/{color}"
            if side.elo is not None and side.turns and is_chosen(player):
                players[color] = player
        sides_of_games.append(players)
    return sides_of_games


class FollowedMove(NamedTuple):
    """One counted move, and the sums over its side's moves up to this move."""

    color: Color
    turn: Turn
    compared: ComparedMove
    hardness: Floats
    """Part of the move's slope that the hardness of the game explains, at each Elo of
    the grid.
    """
    total: Evidence
    """Sums of all moves of this side so far, without any dispersion between games."""


class FollowedSide(NamedTuple):
    """Counted moves of one player in one game."""

    game: int
    player: str
    elo: float
    moves: list[FollowedMove]


Followed = Iterator[FollowedSide]


def follow_game(
    game: PlayedGame, reader: MoveReader, shared: Shared, *, level: float | None = None
) -> Iterator[FollowedMove]:
    """Yield the counted moves of a game in the order of plies.

    ``level``, if given, replaces the level of the game, Elo.
    """
    if level is None:
        level = estimate_level(game.white.elo, game.black.elo, reader.mean_elo)
    sides = dict(zip(COLORS, game.sides, strict=True))
    elos = {color: Elos.from_ratings(level, side.elo) for color, side in sides.items()}
    sums = GameSums(elos, shared)
    turns = []
    for color, side in sides.items():
        turns += [(color, turn) for turn in side.turns]
    for color, turn in sorted(turns, key=lambda side_turn: side_turn[1].ply):
        move = reader.compare_turn(turn, elos[color])
        hardness = sums.estimate_hardness(color, turn.ply) * np.sqrt(
            move.peers.variance
        )
        sums.add(color, turn.ply, move)
        total = sums.sum_evidence(color, _BARE, over=True)
        assert total is not None  # not None, because this move has just been added
        yield FollowedMove(color, turn, move, hardness, total)
