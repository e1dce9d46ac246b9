"""The visibility of each field of every message. Pure.

There are three levels; each includes the one before. The venue sees what everyone in
the playing hall can see: moves, clocks, names and results. The public also sees
everything that comes from engines. Arbiters also see data that is not for the public.

The venue sees only the fields that are listed for it, so a new field cannot reach it by
mistake. Fields for arbiters only are listed too; all others are public. A withheld
field has its default value, so all clients can use the same types.

The load of the engines is hidden from the venue. A move that was the engine's first
choice needs one search fewer, so any number of searches, and any message caused by a
search, would reveal such moves.

Gains and ratings are hidden from the venue on purpose. A falling rating shows that the
last move was bad, which helps the opponent (lichess refuses live evaluations of
ordinary games for the same reason: lichess-org/lila #11011, #14857).

The sources of the games are for arbiters only. They are paths on disk and addresses: an
address can contain a secret, or lead to games that are delayed here. All others see a
neutral name of each source (:mod:`live.server.pseudonyms`).
"""

from __future__ import annotations

import enum
from functools import cache
from typing import Any, Literal, TypeVar, cast

import msgspec
from msgspec.structs import replace

from live.messages import figures, from_sources, health, to_clients, values
from live.server.pseudonyms import neutralise_health, neutralise_sources

Redactable = TypeVar("Redactable", bound=msgspec.Struct)
Kind = type[msgspec.Struct]


class Visibility(enum.IntEnum):
    """The levels of visibility. A field can be seen at its level and at higher ones."""

    VENUE = 0
    PUBLIC = 1
    ARBITER = 2

    @property
    def wire_name(self) -> Literal["venue", "public", "arbiter"]:
        """The name of the level in ``hello``."""
        return cast(Literal["venue", "public", "arbiter"], self.name.lower())


#: The fields that can be seen at the level VENUE: moves, clocks, names, results, and
#: the health of sources.
_VENUE: dict[Kind, str] = {
    from_sources.Player: "name elo title fide_id federation team k",
    figures.EngineInfo: "name limit",
    figures.PlyView: "ply san uci clock_s spent_s",
    figures.GameView: "id feed event round board white black result start_fen "
    "plies_played variant problem also dispute site date time_control eco opening "
    "termination",
    figures.GameDetail: "plies curves",
    figures.Curves: "",
    health.FeedHealth: "feed state detail part",
    health.PublicDelay: "delay_s",
    to_clients.HelloMessage: "protocol epoch engine gain version resumed sight "
    "public_delay",
    to_clients.SnapshotMessage: "engine games feeds",
    to_clients.GameMessage: "game",
    to_clients.GoneMessage: "game",
    to_clients.MoveMessage: "game ply move",
    to_clients.ClockMessage: "game ply clock_s spent_s",
    to_clients.EngineMessage: "engine",
    to_clients.HealthMessage: "feeds",
    to_clients.HeartbeatMessage: "public_delay",
}
#: The fields that only arbiters can see.
_ARBITER: dict[Kind, str] = {
    # The position that an engine is searching.
    health.EngineState: "searching",
    # The number of moves that the public does not see yet.
    health.PublicDelay: "held_moves held_boards",
    # Alerts about boards and players.
    to_clients.SnapshotMessage: "alerts",
    # Screening figures, which are for readers who know their limits. No message
    # contains an Intrinsic, but the files of a report do.
    figures.Intrinsic: "match_z difference_z",
    figures.PlayerView: "agreement",
    # The address of a game.
    figures.GameView: "url",
    # Texts that can contain file names and addresses, and the number of boards whose
    # figures are behind, which includes delayed boards.
    health.EngineHealth: "problem behind",
    health.HumanHealth: "problem",
}


def find_minimum_visibility(kind: Kind, field: str) -> Visibility:
    """Return the lowest level that can see a field of a type.

    The field can be listed for the type or for one of its base classes.
    """
    for listed, sight in ((_ARBITER, Visibility.ARBITER), (_VENUE, Visibility.VENUE)):
        if any(field in listed.get(base, "").split() for base in kind.__mro__):
            return sight
    return Visibility.PUBLIC


@cache
def should_send(kind: Kind, visibility: Visibility) -> bool:
    """Return whether messages of a type are sent at this level at all.

    Messages that contain only withheld fields are not sent, and alerts are sent only to
    arbiters.
    """
    if kind is to_clients.AlertMessage:
        return visibility is Visibility.ARBITER
    return visibility is not Visibility.VENUE or kind in _VENUE


def redact(value: Redactable, visibility: Visibility) -> Redactable:
    """Return a value without the fields that are withheld at this level.

    If nothing is withheld, return the same object.
    """
    hidden, nested = _plan_redaction(type(value), visibility)
    if not hidden and not nested:
        return value
    fields: dict[str, Any] = dict(hidden)
    if visibility is not Visibility.ARBITER and isinstance(value, figures.GameView):
        fields |= neutralise_sources(value, _name_source)
        problem = value.problem or ""
        if visibility is Visibility.VENUE and problem.startswith(figures.NO_SCORE):
            # This text would reveal that an engine has answered, and for which ply.
            fields["problem"] = None
    for name in nested:
        field_value = getattr(value, name)
        if isinstance(field_value, tuple):
            fields[name] = tuple(redact(item, visibility) for item in field_value)
        elif field_value is not None:
            fields[name] = redact(field_value, visibility)
    if isinstance(value, to_clients.SnapshotMessage | to_clients.HealthMessage):
        fields["feeds"] = redact_sources(value.feeds, visibility)
    return replace(value, **fields)


def redact_sources(
    feeds: tuple[health.FeedHealth, ...], visibility: Visibility
) -> tuple[health.FeedHealth, ...]:
    """Return the feeds and parts of the service that a level can see.

    Only arbiters see addresses and parts for producers. At the level VENUE no part of
    the service is visible: a part is listed when it fails, and its failure could reveal
    that an engine has answered.
    """
    if visibility is Visibility.ARBITER:
        return feeds
    public = visibility is Visibility.PUBLIC
    return tuple(
        neutralise_health(feed, _name_source)
        for feed in feeds
        if not feed.part or (public and feed.feed not in health.PRODUCERS_PARTS)
    )


def _name_source(feed: values.FeedName) -> str:
    """Return the same neutral name for every source."""
    return "source"


@cache
def _plan_redaction(
    kind: Kind, visibility: Visibility
) -> tuple[tuple[tuple[str, object], ...], tuple[str, ...]]:
    """Return the fields of a type to be redacted at this level.

    Returns:
        The names of withheld fields, each with its replacement, and the names of fields
        whose values contain something to be redacted.
    """
    hidden = []
    nested = []
    for field in msgspec.structs.fields(kind):
        if find_minimum_visibility(kind, field.name) > visibility:
            hidden.append((field.name, None if field.required else field.default))
        elif any(
            any(_plan_redaction(struct, visibility))
            for struct in find_structs(field.type)
        ):
            nested.append(field.name)
    return tuple(hidden), tuple(nested)


def find_structs(kind: Any) -> list[Kind]:
    """Return the Struct types in the type of a field, such as in a tuple or a union."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    structs: list[Kind] = []
    for argument in getattr(kind, "__args__", ()):
        structs += find_structs(argument)
    return structs
