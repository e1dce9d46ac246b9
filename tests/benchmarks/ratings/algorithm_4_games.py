"""How often Algorithm 4's interval of one game holds the same player's value over other games."""

from __future__ import annotations

from collections.abc import Sequence

from live.events import GainKind
from live.ratings.expected_score import difference_of
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.strength.played_games import PlayedGame


def over_other_games(games: Sequence[PlayedGame], gain: GainKind) -> str:
    """One line for people; empty where nobody has four games."""
    by_player: dict[str, list[Algorithm4]] = {}
    for game in games:
        for side in game.sides:
            if side.elo and len(side.turns) >= 10:
                rating = Algorithm4((turn.gain_cp for turn in side.turns), gain=gain)
                by_player.setdefault(side.player, []).append(rating)
    inside = number = 0
    for rated in by_player.values():
        if len(rated) < 4:
            continue
        for one in rated:
            scored = [(each.expected_score, each.n) for each in rated if each is not one]
            n = sum(moves for _, moves in scored)
            others = difference_of(sum((p or 0.0) * moves for p, moves in scored) / n)
            if others is None:
                continue
            low, high = one.interval()
            number += 1
            inside += (low is None or low <= others) and (high is None or others <= high)
    if not number:
        return ""
    return (
        f"Algorithm 4: the interval of one game holds the player's value over three or more "
        f"other games in {inside / number:.3f} of {number} player-games"
    )
