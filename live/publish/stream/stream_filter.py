"""Which part of the event a subscriber wants. Pure.

A :class:`StreamFilter` is normalised and hashable: two subscribers who ask for the same thing in
another order share one stream, so its messages are numbered and framed once for both.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

from live.events import Change, GainsMessage, GameId, GameView, Player
from live.publish.visibility import Visibility, sends

#: Longest accepted filter value, characters; longer than any real name or id.
MAX_VALUE_CHARS = 200
#: A value in the schemas: more than spaces.
SOME_TEXT = r"\S"
#: Most values in one filter: a wall of overlays needs a few dozen boards.
MAX_VALUES = 64

#: Parameters of a query that make a filter.
PARAMETERS = ("game", "event", "player", "board", "type", "detail")

#: ``type`` of every message a filter may select. The others (``hello``, ``snapshot``,
#: ``heartbeat``) hold a connection together and always come.
CHANGE_TYPES: frozenset[str] = frozenset(
    str(kind.__struct_config__.tag) for kind in Change.__args__
)


class FilterError(ValueError):
    """A query that selects nothing sensible; the text is one line for people."""


class StreamFilter(msgspec.Struct, frozen=True):
    """Conditions of different kinds must all hold, within one kind any is enough; empty: all.

    ``types`` thins out the messages only, not the snapshot: it is for consumers that react to
    events. Whoever holds state must take every type.
    """

    games: frozenset[GameId] = frozenset()
    events: frozenset[str] = frozenset()
    players: frozenset[str] = frozenset()
    """Folded names, or FIDE ids as decimal digits."""
    boards: frozenset[str] = frozenset()
    """Board numbers as decimal digits."""
    types: frozenset[str] = frozenset()
    within: StreamFilter | None = None
    """What a token confines the subscriber to, whatever it asks for."""
    visibility: Visibility = Visibility.PUBLIC
    brief: bool = False
    """Only what overlays show: see :mod:`live.publish.wire`."""
    gains: bool = False
    """Everybody's pooled gains too."""

    @property
    def narrow(self) -> bool:
        """True when some game could be left out."""
        return bool(self.games or self.events or self.players or self.boards) or (
            self.within is not None and self.within.narrow
        )

    def takes(self, view: GameView) -> bool:
        """Whether the game is selected."""
        return (
            (not self.games or view.id in self.games)
            and (not self.events or fold(view.event) in self.events)
            and (not self.players or not self.players.isdisjoint(_names_of(view)))
            and (not self.boards or str(view.board) in self.boards)
            and (self.within is None or self.within.takes(view))
        )

    def takes_type(self, change: Change) -> bool:
        """Whether messages of this type are wanted, and for these eyes."""
        if self.types:
            wanted = change.__struct_config__.tag in self.types
        else:
            wanted = self.gains or not isinstance(change, GainsMessage)
        return wanted and sends(type(change), self.visibility)

    @property
    def of_nothing(self) -> StreamFilter:
        """What a filter comes to that selects no game: the same for all that ask in this form."""
        # No game has an empty id, and none can be asked for.
        return msgspec.structs.replace(
            StreamFilter(types=self.types, brief=self.brief, gains=self.gains),
            games=frozenset({""}),
            visibility=self.visibility,
        )


EVERYTHING = StreamFilter()


def parse(query: Iterable[tuple[str, str]]) -> StreamFilter:
    """The filter of a query string's ``game``, ``event``, ``player``, ``board``, ``type`` and
    ``detail``.

    Each may be repeated; ``type`` may also hold several names separated by commas (names of
    players contain commas, so the others may not). Other parameters are left to the caller.

    Raises:
        FilterError: an unknown type or detail, an empty or overlong value, too many values.
    """
    values: dict[str, list[str]] = {name: [] for name in PARAMETERS}
    for name, value in query:
        if name in values:
            values[name].extend(value.split(",") if name == "type" else [value])
    if sum(map(len, values.values())) > MAX_VALUES:
        raise FilterError(f"more than {MAX_VALUES} filter values")
    for name, given in values.items():
        for value in given:
            if not value.strip():
                raise FilterError(f"{name} is empty")
            if len(value) > MAX_VALUE_CHARS:
                raise FilterError(f"{name} is longer than {MAX_VALUE_CHARS} characters")
    types = frozenset(value.strip() for value in values["type"])
    if unknown := types - CHANGE_TYPES:
        known = ", ".join(sorted(CHANGE_TYPES))
        raise FilterError(f"type {sorted(unknown)[0]!r} is not one of {known}")
    if odd := set(values["detail"]) - {"full", "brief", "gains"}:
        raise FilterError(f"detail {sorted(odd)[0]!r} is none of full, brief and gains")
    return StreamFilter(
        games=frozenset(values["game"]),
        events=_folded(values["event"]),
        players=_folded(values["player"]),
        boards=frozenset(value.strip() for value in values["board"]),
        types=types,
        brief="brief" in values["detail"],
        gains="gains" in values["detail"],
    )


def fold(name: str) -> str:
    """A name as filters compare it: composed, caseless, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def _folded(values: Sequence[str]) -> frozenset[str]:
    return frozenset(map(fold, values))


def _names_of(view: GameView) -> set[str]:
    names: set[str] = set()
    for player in (view.white, view.black):
        names |= _names(player)
    return names


def _names(player: Player) -> set[str]:
    names = {fold(player.name)}
    if player.fide_id is not None:
        names.add(str(player.fide_id))
    return names
