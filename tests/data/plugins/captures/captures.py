"""How many of a player's moves take something, with its 95 % interval (Wilson's)."""

import math
from collections.abc import Sequence

from live.events import GameDetail, PlayerView, PluginFigure

Z = 1.96


class Captures:
    """A method plugin."""

    def figure(self, player: PlayerView, games: Sequence[GameDetail]) -> PluginFigure | None:
        """Per cent over all games; None before the first move."""
        moves = [
            ply.san
            for game in games
            for ply in game.plies
            if player.name == (game.white if ply.ply % 2 else game.black).name
        ]
        if not moves:
            return None
        n, share = len(moves), sum("x" in move for move in moves) / len(moves)
        middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z * math.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2)) / (1 + Z**2 / n)
        return PluginFigure(
            value=100 * share,
            low=100 * (middle - half),
            high=100 * (middle + half),
            note=f"{n} moves",
        )
