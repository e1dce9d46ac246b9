"""Which boards are on air, as reported by overlays. Pure.

A board on air is analysed before all others. So only overlays on this machine, and
those with a producer's token, may name boards. An overlay sends
``{"type":"air","games":["ID"]}`` as a websocket message whenever it shows other boards;
its last message counts while it is connected.
"""

from collections.abc import Callable, Hashable

from live.messages.from_clients import OnAirMessage, decode_client_message
from live.messages.values import GameId

#: Most boards that one overlay may name: a grid of all boards puts none before the
#: others.
MOST_BOARDS = 8


class BoardsOnAir:
    """What all overlays together show; ``changed`` is called with it whenever it
    changes.
    """

    def __init__(self, changed: Callable[[frozenset[GameId]], None]) -> None:
        self._changed = changed
        self._shown: dict[Hashable, frozenset[GameId]] = {}
        self._all: frozenset[GameId] = frozenset()

    def update(self, overlay: Hashable, message: bytes) -> None:
        """Replace the games of this overlay by those of its message; too many count as
        none.
        """
        if (air := decode_client_message(message, OnAirMessage)) is not None:
            games = frozenset(air.games)
            self._shown[overlay] = games if len(games) <= MOST_BOARDS else frozenset()
            self._report_change()

    def remove(self, overlay: Hashable) -> None:
        """Forget an overlay that has disconnected."""
        if self._shown.pop(overlay, None):
            self._report_change()

    def _report_change(self) -> None:
        games = frozenset[GameId]().union(*self._shown.values())
        if games != self._all:
            self._all = games
            self._changed(games)
