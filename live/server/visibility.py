"""Who may see each field of every message. Pure. There are three levels of visibility;
each sees what the one before sees, and more. The venue sees what anybody in the hall
sees anyway: moves, clocks, names, results. The public also sees everything an engine
said. The arbiter also sees what is no business of the public.

The venue sees only the fields listed for it, so nothing new reaches it unnoticed; what
is for the arbiter alone is marked as such; all else is public. A withheld field has its
default, so a client needs no second set of types.

How busy the engines are is not for the venue: a move that was the engine's first choice
needs one search fewer, so any count of searches, and any message that a search brings
about, says which were.

That a venue sees neither gains nor ratings is on purpose: a rating that falls says that
the last move was bad, which is help to its opponent (lichess refuses live evaluations
of ordinary games for the same reason: lichess-org/lila #11011, #14857).

Where the games come from is for the arbiter alone, too: a path on disk, and an address,
whose path may be its secret and where games lie that are delayed here. Others are given
a neutral name of each source (:mod:`live.server.pseudonyms`).
"""

from __future__ import annotations

import enum
from functools import cache
from typing import Any, Literal, TypeVar, cast

import msgspec
from msgspec.structs import replace

from live.messages import figures, from_sources, health, to_clients, values
from live.server.pseudonyms import neutralise_health, neutralise_sources

Shown = TypeVar("Shown", bound=msgspec.Struct)
Kind = type[msgspec.Struct]


class Visibility(enum.IntEnum):
    """Who may see a field: the lowest that may, and all above it."""

    VENUE = 0
    PUBLIC = 1
    ARBITER = 2

    @property
    def wire_name(self) -> Literal["venue", "public", "arbiter"]:
        """The name that ``hello`` uses."""
        return cast(Literal["venue", "public", "arbiter"], self.name.lower())


#: All that a venue sees: moves, clocks, names, results, and how the service is doing.
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
#: What arbiters alone see.
_ARBITER: dict[Kind, str] = {
    # Which position the engines are busy with.
    health.EngineState: "searching",
    # What is played at this moment.
    health.PublicDelay: "held_moves held_boards",
    # What is wrong at a board, and figures of one player.
    to_clients.SnapshotMessage: "alerts",
    # Screening figures are for readers who know their limits. No message carries an
    # Intrinsic; the files of a report do.
    figures.Intrinsic: "match_z difference_z",
    figures.PlayerView: "agreement",
    # The address of a game, and texts that may name files and addresses.
    figures.GameView: "url",
    # And the number of boards whose figures are behind; it counts delayed boards, too.
    health.EngineHealth: "problem behind",
    health.HumanHealth: "problem",
}


def find_minimum_visibility(kind: Kind, field: str) -> Visibility:
    """Return the lowest visibility that sees this field, as the type or one of its
    bases lists it.
    """
    for listed, sight in ((_ARBITER, Visibility.ARBITER), (_VENUE, Visibility.VENUE)):
        if any(field in listed.get(base, "").split() for base in kind.__mro__):
            return sight
    return Visibility.PUBLIC


@cache
def should_send(kind: Kind, visibility: Visibility) -> bool:
    """Return whether messages of this type are sent at all.

    Those that hold only withheld things are not, and alerts go to arbiters alone.
    """
    if kind is to_clients.AlertMessage:
        return visibility is Visibility.ARBITER
    return visibility is not Visibility.VENUE or kind in _VENUE


def redact(value: Shown, visibility: Visibility) -> Shown:
    """Return the value as ``visibility`` may see it; the very same where nothing of it
    is withheld.
    """
    hidden, nested = _plan_redaction(type(value), visibility)
    if not hidden and not nested:
        return value
    fields: dict[str, Any] = dict(hidden)
    if visibility is not Visibility.ARBITER and isinstance(value, figures.GameView):
        fields |= neutralise_sources(value, _name_source)
        problem = value.problem or ""
        if visibility is Visibility.VENUE and problem.startswith(figures.NO_SCORE):
            # It would say that an engine answered, and of which ply.
            fields["problem"] = None
    for name in nested:
        held = getattr(value, name)
        if isinstance(held, tuple):
            fields[name] = tuple(redact(each, visibility) for each in held)
        elif held is not None:
            fields[name] = redact(held, visibility)
    if isinstance(value, to_clients.SnapshotMessage | to_clients.HealthMessage):
        fields["feeds"] = redact_sources(value.feeds, visibility)
    return replace(value, **fields)


def redact_sources(
    feeds: tuple[health.FeedHealth, ...], visibility: Visibility
) -> tuple[health.FeedHealth, ...]:
    """Return the feeds that ``visibility`` sees, without addresses for all but
    arbiters.

    A venue sees the sources alone: parts of the service are named when they fail, which
    an engine's answer may bring about. Producers' parts are for arbiters alone.
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
    """Return the name of a source that has no name for the public."""
    return "source"


@cache
def _plan_redaction(
    kind: Kind, visibility: Visibility
) -> tuple[tuple[tuple[str, object], ...], tuple[str, ...]]:
    """Return the fields to empty, each with its replacement, and the fields to look
    into.
    """
    hidden = []
    nested = []
    for field in msgspec.structs.fields(kind):
        if find_minimum_visibility(kind, field.name) > visibility:
            hidden.append((field.name, None if field.required else field.default))
        elif any(
            any(_plan_redaction(inner, visibility))
            for inner in find_structs(field.type)
        ):
            nested.append(field.name)
    return tuple(hidden), tuple(nested)


def find_structs(kind: Any) -> list[Kind]:
    """Return the types of Struct that a field can hold, itself, in a tuple or in a
    union.
    """
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    found: list[Kind] = []
    for each in getattr(kind, "__args__", ()):
        found += find_structs(each)
    return found
