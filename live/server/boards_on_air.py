"""The boards on air, as reported by overlays. Pure.

Boards on air are analysed before all others. So only overlays on this machine, and
overlays with a producer's token, can report them. An overlay sends
``{"type":"air","games":["ID"]}`` as a websocket message whenever the boards that it
shows change. The last message of an overlay is valid until it disconnects.
"""

from collections.abc import Callable, Hashable

from live.messages.from_clients import OnAirMessage, decode_client_message
from live.messages.values import GameId

#: Maximum number of boards that one overlay can report. A longer list counts as
#: empty: an overlay that shows all boards gives no board priority.
_MOST_BOARDS = 8


class BoardsOnAir:
    """The games shown by all overlays together.

    ``changed`` is called with the ids of all these games whenever the set changes.
    """

    def __init__(self, changed: Callable[[frozenset[GameId]], None]) -> None:
        self._changed = changed
        self._games_by_overlay: dict[Hashable, frozenset[GameId]] = {}
        self._all: frozenset[GameId] = frozenset()

    def update(self, overlay: Hashable, message: bytes) -> None:
        """Replace the games of an overlay with the games in its message.

        A list of more than :data:`_MOST_BOARDS` games counts as empty.
        """
        if (air := decode_client_message(message, OnAirMessage)) is not None:
            games = frozenset(air.games)
            self._games_by_overlay[overlay] = (
                games if len(games) <= _MOST_BOARDS else frozenset()
            )
            self._report_change()

    def remove(self, overlay: Hashable) -> None:
        """Remove an overlay that has disconnected, with its games."""
        if self._games_by_overlay.pop(overlay, None):
            self._report_change()

    def _report_change(self) -> None:
        games = frozenset[GameId]().union(*self._games_by_overlay.values())
        if games != self._all:
            self._all = games
            self._changed(games)
