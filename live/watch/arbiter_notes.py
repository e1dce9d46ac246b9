"""Notes about alerts and arbiters, and the incident log built from them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from live.messages.alerts import Alert, AlertKind
from live.messages.values import GameId, Value
from live.watch.alert_kinds import NAMES
from live.watch.incident_log import IncidentLog


class Mute(Value, kw_only=True, omit_defaults=True):
    """A note that an arbiter muted or unmuted alerts."""

    muted: bool
    alert: str | None = None
    kind: AlertKind | None = None
    game: GameId | None = None

    def describe(self) -> str | None:
        """Return a description of what was muted; None if it was a single alert, whose
        own incident already shows that it was muted.
        """
        if self.kind is not None:
            return f"all alerts of kind {NAMES[self.kind]!r}"
        return "all alerts of this board" if self.game is not None else None


class Heartbeat(Value):
    """Note that the service is watching the games. After a restart, the last heartbeat
    shows when watching stopped.
    """


class ArbiterEntry(Value, omit_defaults=True):
    """Remark of an arbiter, or an event of the service."""

    text: str
    game: GameId | None = None
    by: str = ""
    """Name of the writer's token, or :data:`live.watch.incident_log.SERVICE`."""
    gap_s: float = 0.0
    """For an entry about a start of the service: how long the service did not run
    before it, seconds.
    """


class ServiceGap(Value):
    """Note that the service did not run until the time of this note: the computer
    slept, or the process was suspended.
    """

    from_s: float
    """Beginning of the gap, seconds since 1970 UTC."""


class BoardRuling(Value):
    """Note that an arbiter removed or restored a board."""

    game: GameId
    removed: bool


ArbiterNote = Alert | Mute | ArbiterEntry | BoardRuling | Heartbeat | ServiceGap

DatedNote = tuple[float, ArbiterNote]
"""A note with its time, seconds since 1970 UTC."""


class WatchMemory(NamedTuple):
    """A value to store for the next start, with its kind and its subject."""

    kind: str
    about: str
    value: object | None
    """The value; None deletes the stored value."""


Remembered = TypeVar("Remembered")


class WatchStore(Protocol):
    """Storage of notes and memories for the next start; :mod:`live.journal` implements
    it.
    """

    def write_note(self, note: ArbiterNote) -> None:
        """Store a note."""

    def read_notes(self) -> Sequence[DatedNote]:
        """Return the notes of earlier runs, the oldest first."""

    def read_last_alive_s(self) -> float:
        """Return the last time at which an earlier run is known to have been alive,
        seconds since 1970 UTC; 0 if there was none.
        """

    def keep_memories(self, memories: Sequence[WatchMemory]) -> None:
        """Store these memories, replacing those with the same kind and subject."""

    def read_memories(self, kind: str, type: type[Remembered]) -> dict[str, Remembered]:
        """Return all stored values of a kind, by subject."""


def build_incident_log(notes: Iterable[DatedNote]) -> IncidentLog:
    """Return the incident log for these notes."""
    incidents = IncidentLog()
    for at_s, note in notes:
        match note:
            case Alert():
                incidents.add_alert(note, at_s)
            case Mute():
                description = note.describe()
                if description is not None:
                    incidents.add_mute(description, note.muted, at_s, note.game)
            case ArbiterEntry(text, game, by, gap_s):
                incidents.add_entry(text, at_s, game, by, gap_s=gap_s)
            case ServiceGap(from_s):
                incidents.add_gap(from_s, at_s)
    return incidents
