"""Games of made-up players whose losses follow their Elo by a known rule."""

from __future__ import annotations

import numpy as np

from live.ratings.strength.known_before_move import Turn
from live.ratings.strength.played_games import PlayedGame, PlayedSide


def made_up_turns(rng: np.random.Generator, elo: float, moves: int, hard: float) -> list[Turn]:
    """Losses fall with Elo and rise with how hard the position is, which its stability shows."""
    turns = []
    for n in range(moves):
        instability = float(rng.gamma(2.0, 6.0))
        chance = 1 / (1 + np.exp(0.3 + (elo - 2000) / 400 - 0.04 * instability - hard))
        loss = int(rng.exponential(60)) + 1 if rng.random() < chance else 0
        turns.append(Turn(-loss, int(rng.normal(0, 80)), 2 * n + 1, instability, 20))
    return turns


def made_up_games(
    number: int, seed: int = 7, moves: int = 30, hard_sd: float = 0.0
) -> list[PlayedGame]:
    """Both players of a game share how hard it is."""
    rng = np.random.default_rng(seed)
    games = []
    for game in range(number):
        hard = float(rng.normal(0, hard_sd))
        sides: list[PlayedSide] = []
        elos: list[int] = []
        for color in (0, 1):
            elo = int(rng.integers(1300, 2701))
            turns = made_up_turns(rng, elo, moves, hard)
            turns = [
                Turn(t.gain_cp, t.score_before_cp, t.ply + color, t.stability_cp, 20) for t in turns
            ]
            elos.append(elo)
            sides.append(PlayedSide(f"player {2 * game + color}", elo, tuple(turns)))
        expected = 1 / (1 + 10 ** ((elos[1] - elos[0]) / 400))
        result = "1-0" if rng.random() < expected else "0-1"
        games.append(
            PlayedGame(
                sides[0], sides[1], result, tuple(rng.normal(0, 60, 60).astype(int).tolist())
            )
        )
    return games
