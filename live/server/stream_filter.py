"""The filter for the part of the event that a subscriber wants. Pure.

A :class:`StreamFilter` is normalised and hashable. Two subscribers with equal filters,
in whatever order the values were given, share one stream, so that its messages are
numbered and framed only once.
"""

from __future__ import annotations

from collections.abc import Iterable

from live.games.player_identity import fold_name
from live.messages.figures import GameView
from live.messages.to_clients import Change, GainsMessage
from live.messages.values import GameId, Value
from live.server.visibility import Visibility, should_send

#: Maximum length of a filter value, characters; longer than any real name or id.
MAX_VALUE_CHARS = 200
#: Pattern of a value in the schemas: at least one character other than a space.
SOME_TEXT = r"\S"
#: Maximum number of values in one filter: a wall of overlays needs a few dozen boards.
_MAX_VALUES = 64
#: Query parameters that select games, for websockets and lists.
GAME_FILTERS = ("game", "event", "player", "board")
#: All query parameters of a filter.
PARAMETERS = (*GAME_FILTERS, "detail")
DETAILS = ("full", "brief", "gains")


class FilterError(ValueError):
    """The parameters of a query are wrong; the text is one line for people."""


class StreamFilter(Value):
    """The conditions by which games and messages are selected.

    A game must match one value of each field that is not empty. If all fields are
    empty, all games are selected.
    """

    games: frozenset[GameId] = frozenset()
    events: frozenset[str] = frozenset()
    players: frozenset[str] = frozenset()
    """Case-folded names, or FIDE ids as decimal digits."""
    boards: frozenset[str] = frozenset()
    """Board numbers as decimal digits."""
    restriction: StreamFilter | None = None
    """A second filter, from the token of the subscriber: games must match both."""
    visibility: Visibility = Visibility.PUBLIC
    brief: bool = False
    """True for a stream with only the data that overlays show; see
    :mod:`live.server.brief`.
    """
    gains: bool = False
    """True if the gains of all players are sent too."""

    @property
    def is_narrow(self) -> bool:
        """True if the filter can leave out a game."""
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
        """Return whether to send a change: its type is selected and visible."""
        is_included = self.gains or not isinstance(change, GainsMessage)
        return is_included and should_send(type(change), self.visibility)


EVERYTHING = StreamFilter()
ALL = StreamFilter(visibility=Visibility.ARBITER, gains=True)
"""The filter for all messages with all fields, including gains."""


def parse_filter(query: Iterable[tuple[str, str]]) -> StreamFilter:
    """Return the filter given by the parameters of a query.

    The parameters are ``game``, ``event``, ``player``, ``board`` and ``detail``. Each
    can be repeated. Other parameters are ignored.

    Raises:
        FilterError: a detail is unknown, a value is empty or too long, or there are too
            many values.
    """
    pairs = [(name, value) for name, value in query if name in PARAMETERS]
    if len(pairs) > _MAX_VALUES:
        raise FilterError(f"more than {_MAX_VALUES} filter values")
    values: dict[str, set[str]] = {name: set() for name in PARAMETERS}
    for name, value in pairs:
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
