"""Shows arbiters where a player is short of time before the control at move 40."""

from collections.abc import Iterator

from live.events import GameDetail
from live.plugins.interface import PluginAlert

LEAST_S_A_MOVE = 6.0


class TimeTrouble:
    """An alert plugin."""

    def alerts(self, game: GameDetail) -> Iterator[PluginAlert]:
        """One for each player who is short of time now; without it, it is over."""
        if game.result != "*":
            return
        for ply in game.plies[-2:]:
            moves_left = 40 - (ply.ply + 1) // 2
            if ply.clock_s is None or moves_left <= 0:
                continue
            if ply.clock_s < moves_left * LEAST_S_A_MOVE:
                player = game.white if ply.ply % 2 else game.black
                yield PluginAlert(
                    key="short",
                    text=f"{player.name} has {ply.clock_s:.0f} s for {moves_left} moves",
                    advice="Be at the board",
                    ply=ply.ply,
                    color="white" if ply.ply % 2 else "black",
                )
