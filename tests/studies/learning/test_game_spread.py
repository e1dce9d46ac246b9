"""What hard games teach: made-up games in which both players lose more than usual."""

from collections.abc import Iterable, Iterator

import numpy as np

from live.ratings.model_choice import MODELS
from live.ratings.move_circumstances import Turn
from live.ratings.perceived_model import MoveReader
from live.studies.learning.followed_games import (
    COLORS,
    FollowedSide,
    follow_game,
)
from live.studies.learning.game_spread import MIN_GAMES, learn_shared
from live.studies.learning.played_games import PlayedGame, PlayedSide

ELO = 2000


def play_side(player: str, losses_cp: Iterable[float], first_ply: int) -> PlayedSide:
    """Return a side that loses this much with its moves, in even positions."""
    turns = []
    for number, loss_cp in enumerate(losses_cp):
        turns.append(Turn(-round(loss_cp), 0, first_ply + 2 * number))
    return PlayedSide(player, ELO, tuple(turns))


def follow_hard_games(games: int) -> Iterator[FollowedSide]:
    """Yield both sides of games that are hard or easy for both players alike."""
    rng = np.random.default_rng(5)
    reader = MoveReader((MODELS.load("blitz"),))
    for number in range(games):
        mean_loss_cp = 40 * rng.lognormal(0.0, 1.0)
        white = play_side(f"{number} white", rng.exponential(mean_loss_cp, 10), 1)
        black = play_side(f"{number} black", rng.exponential(mean_loss_cp, 10), 2)
        game = PlayedGame(white, black, result="*")
        moves = [*follow_game(game, reader, ((0, 1.0),))]
        for color, side in zip(COLORS, game.sides, strict=True):
            own = [move for move in moves if move.color == color]
            yield FollowedSide(number, side.player, ELO, own)


def test_games_that_are_hard_for_both_players_teach_a_beta() -> None:
    first_stage, *_ = learn_shared(follow_hard_games(MIN_GAMES))
    last_ply, beta = first_stage
    assert last_ply == 20
    assert beta > 0.1


def test_too_few_games_teach_no_beta() -> None:
    stages = learn_shared(follow_hard_games(MIN_GAMES - 1))
    assert [beta for _, beta in stages] == [0.0, 0.0, 0.0]
