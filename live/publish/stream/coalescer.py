"""Which changes wait for the next tick, and which of them a later one makes needless. Pure.

A move or a vanished game goes out at once; it first pushes out what waits for the same game, so
order within a game is kept. Everything else waits, and a later change that overwrites all an
earlier one would have written takes its place **at the end** of the queue. Dropping such an
earlier change cannot be seen in the final state; the property tests hold that for random games.

Changes of different games, and changes of no game (standings, engine, health), write to different
parts of a client's state, so their order among each other is free.
"""

from __future__ import annotations

from collections.abc import Hashable

from live.events import (
    AlertMessage,
    Change,
    ClockMessage,
    EngineMessage,
    GainsMessage,
    GameId,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MomentMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)


class Coalescer:
    """Changes that wait, by game.

    Loss policy: nothing is lost but what a later change overwrites. Bounded by the state itself:
    at most one entry per field a client holds.
    """

    def __init__(self) -> None:
        self._games: dict[GameId, dict[Hashable, Change]] = {}
        self._rest: dict[Hashable, Change] = {}

    def __bool__(self) -> bool:
        return bool(self._games or self._rest)

    def add(self, change: Change) -> list[Change]:
        """Take a change in; answers what must go out now, in order (usually nothing)."""
        match change:
            # Moments are few, and clients know the game by then only if its header went before.
            case MoveMessage(game=game) | GoneMessage(game=game) | MomentMessage(game=game):
                return [*self.take_game(game), change]
            case GameMessage(game=view):
                self._keep(self._of(view.id), "game", change)
            case ScoreMessage(game=game, ply=ply):
                self._keep(self._of(game), ("score", ply.ply), change)
            case ClockMessage(game=game, ply=at):
                self._keep(self._of(game), ("clock", at), change)
            case PointMessage(game=game, color=color, point=point):
                waiting = self._of(game)
                # A point drops all later points of its colour, so waiting ones go too.
                for key in [k for k in waiting if _later_point(k, color, point.ply)]:
                    del waiting[key]
                waiting["point", color, point.ply] = change
            case StandingMessage(player=player):
                self._keep(self._rest, ("standing", player.id), change)
            case GainsMessage(player=id, gain_cp=gain_cp):
                self._keep(self._rest, ("gains", id, gain_cp), change)
            case EngineMessage():
                self._keep(self._rest, "engine", change)
            case HealthMessage():
                self._keep(self._rest, "health", change)
            case AlertMessage(alert=alert):
                waiting = self._rest if alert.game is None else self._of(alert.game)
                self._keep(waiting, ("alert", alert.id), change)
        return []

    def take_game(self, game: GameId) -> list[Change]:
        """Everything that waits for one game, in order; it waits no longer."""
        return list(self._games.pop(game, {}).values())

    def take(self) -> list[Change]:
        """Everything that waits."""
        games, self._games = self._games, {}
        rest, self._rest = self._rest, {}
        out = [change for waiting in games.values() for change in waiting.values()]
        out.extend(rest.values())
        return out

    def _of(self, game: GameId) -> dict[Hashable, Change]:
        return self._games.setdefault(game, {})

    @staticmethod
    def _keep(waiting: dict[Hashable, Change], key: Hashable, change: Change) -> None:
        waiting.pop(key, None)
        waiting[key] = change


def _later_point(key: Hashable, color: str, ply: int) -> bool:
    return isinstance(key, tuple) and key[:2] == ("point", color) and key[2] >= ply
