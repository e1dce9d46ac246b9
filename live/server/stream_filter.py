"""Which part of the event a subscriber wants. Pure.

A :class:`StreamFilter` is normalised and hashable: two subscribers who ask for the same
thing in another order share one stream, so its messages are numbered and framed once
for both.
"""

from __future__ import annotations

from collections.abc import Iterable

from live.games.player_identity import fold_name
from live.messages.figures import GameView
from live.messages.to_clients import Change, GainsMessage
from live.messages.values import GameId, Value
from live.server.visibility import Visibility, should_send

#: Longest accepted filter value, characters; longer than any real name or id.
MAX_VALUE_CHARS = 200
#: Pattern of a value in the schemas: not only spaces.
SOME_TEXT = r"\S"
#: Most values in one filter: a wall of overlays needs a few dozen boards.
MAX_VALUES = 64
#: Parameters of a query that select games, on a websocket and in lists.
GAME_FILTERS = ("game", "event", "player", "board")
#: All parameters of a query that make a filter.
PARAMETERS = (*GAME_FILTERS, "detail")
DETAILS = ("full", "brief", "gains")


class FilterError(ValueError):
    """A query that selects nothing sensible; the text is one line for people."""


class StreamFilter(Value):
    """Conditions of different kinds must all hold, within one kind any is enough;
    empty: all.
    """

    games: frozenset[GameId] = frozenset()
    events: frozenset[str] = frozenset()
    players: frozenset[str] = frozenset()
    """Folded names, or FIDE ids as decimal digits."""
    boards: frozenset[str] = frozenset()
    """Board numbers as decimal digits."""
    restriction: StreamFilter | None = None
    """What a token confines the subscriber to, whatever it asks for."""
    visibility: Visibility = Visibility.PUBLIC
    brief: bool = False
    """Only what overlays show: see :mod:`live.server.brief`."""
    gains: bool = False
    """Everybody's pooled gains too."""

    @property
    def is_narrow(self) -> bool:
        """Whether it could leave out some game."""
        return bool(self.games or self.events or self.players or self.boards) or (
            self.restriction is not None and self.restriction.is_narrow
        )

    def has_game(self, view: GameView) -> bool:
        """Return whether the filter selects the game."""
        return (
            (not self.games or view.id in self.games)
            and (not self.events or fold_name(view.event) in self.events)
            and (
                not self.players
                or not self.players.isdisjoint(_list_player_names(view))
            )
            and (not self.boards or str(view.board) in self.boards)
            and (self.restriction is None or self.restriction.has_game(view))
        )

    def should_send(self, change: Change) -> bool:
        """Return whether the filter wants messages of this type and may see them."""
        wanted = self.gains or not isinstance(change, GainsMessage)
        return wanted and should_send(type(change), self.visibility)


EVERYTHING = StreamFilter()
ALL = StreamFilter(visibility=Visibility.ARBITER, gains=True)
"""Everything, and all of it."""


def parse_filter(query: Iterable[tuple[str, str]]) -> StreamFilter:
    """Parse ``game``, ``event``, ``player``, ``board`` and ``detail`` of a query
    string.

    Each may be repeated. Other parameters are left to the caller.

    Raises:
        FilterError: an unknown detail, an empty or overlong value, too many values.
    """
    given = [(name, value) for name, value in query if name in PARAMETERS]
    if len(given) > MAX_VALUES:
        raise FilterError(f"more than {MAX_VALUES} filter values")
    values: dict[str, set[str]] = {name: set() for name in PARAMETERS}
    for name, value in given:
        if not value.strip():
            raise FilterError(f"{name} is empty")
        if len(value) > MAX_VALUE_CHARS:
            raise FilterError(f"{name} is longer than {MAX_VALUE_CHARS} characters")
        if name == "detail" and value not in DETAILS:
            raise FilterError(f"detail {value!r} is none of {', '.join(DETAILS)}")
        values[name].add(value if name == "game" else fold_name(value))
    games, events, players, boards, details = map(frozenset, values.values())
    return StreamFilter(
        games,
        events,
        players,
        boards,
        brief="brief" in details,
        gains="gains" in details,
    )


def _list_player_names(view: GameView) -> set[str]:
    players = (view.white, view.black)
    ids = {str(player.fide_id) for player in players if player.fide_id is not None}
    return ids | {fold_name(player.name) for player in players}
