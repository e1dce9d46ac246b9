"""What each stream selects at the moment, and who selects a given game or player. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from live.events import GameId
from live.publish.stream.numbered_stream import NumberedStream


class StreamSelection:
    """One stream with what it holds: which games, and the players of these.

    A wide stream, whose filter names no game, event or player, holds everything and keeps neither.
    """

    def __init__(self, stream: NumberedStream, now_s: float) -> None:
        self.stream = stream
        self.games: set[GameId] = set()
        self.players: set[str] = set()
        self.readers = 0
        self.used_s = now_s
        self.snapshot: tuple[int, bytes] | None = None
        """The last encoded snapshot, after a stamp that changes with it."""


class StreamIndex:
    """All selections, found by game and player without asking every filter."""

    def __init__(self) -> None:
        self.narrow: list[StreamSelection] = []
        self._wide: list[StreamSelection] = []
        self._by_game: dict[GameId, list[StreamSelection]] = {}
        self._by_player: dict[str, list[StreamSelection]] = {}

    def add(self, selection: StreamSelection) -> None:
        """Take in a selection that holds nothing yet."""
        (self.narrow if selection.stream.filter.narrow else self._wide).append(selection)

    def drop(self, selection: StreamSelection) -> None:
        """Forget a selection."""
        (self.narrow if selection.stream.filter.narrow else self._wide).remove(selection)
        for game in list(selection.games):
            self.leave(selection, game)
        self.reseat(selection, ())

    def everybody(self) -> list[StreamSelection]:
        return [*self._wide, *self.narrow]

    def of_game(self, game: GameId) -> list[StreamSelection]:
        return [*self._wide, *self._by_game.get(game, ())]

    def of_player(self, player: str) -> list[StreamSelection]:
        return [*self._wide, *self._by_player.get(player, ())]

    def enter(self, selection: StreamSelection, game: GameId) -> None:
        """From now on the selection holds this game."""
        selection.games.add(game)
        self._by_game.setdefault(game, []).append(selection)

    def leave(self, selection: StreamSelection, game: GameId) -> None:
        """It no longer does."""
        selection.games.discard(game)
        _remove(self._by_game, game, selection)

    def forget(self, game: GameId) -> None:
        """The game is gone, for everybody."""
        for selection in self._by_game.pop(game, ()):
            selection.games.discard(game)

    def reseat(self, selection: StreamSelection, players: Iterable[str]) -> None:
        """From now on the selection holds exactly these players."""
        now = set(players)
        for gone in selection.players - now:
            _remove(self._by_player, gone, selection)
        for new in now - selection.players:
            self._by_player.setdefault(new, []).append(selection)
        selection.players = now


def _remove(index: dict[str, list[StreamSelection]], key: str, selection: StreamSelection) -> None:
    index[key].remove(selection)
    if not index[key]:
        del index[key]
