"""Notes in the journal about alerts and arbiters, and the incident log built from
them.
"""

import logging
from collections.abc import Iterable, Iterator

import msgspec

from live.event.event import Event
from live.journal.journal import Journal
from live.journal.journal_reader import RecordedNote
from live.messages.alerts import Alert, AlertKind
from live.messages.values import GameId, Value
from live.watch.alert_kinds import NAMES
from live.watch.incident_log import IncidentLog

log = logging.getLogger(__name__)


class Mute(Value, kw_only=True, omit_defaults=True):
    """Note that an arbiter muted or unmuted alerts."""

    muted: bool
    alert: str | None = None
    kind: AlertKind | None = None
    game: GameId | None = None

    def describe(self) -> str | None:
        """Return a description of what was muted; None for a single alert, whose own
        incident shows it.
        """
        if self.kind is not None:
            return f"all alerts of kind {NAMES[self.kind]!r}"
        return "all alerts of this board" if self.game is not None else None


class Heartbeat(Value):
    """Note that the service is watching the games. After a restart, the last one shows
    since when nothing was watched.
    """


class ArbiterEntry(Value, omit_defaults=True):
    """Remark of an arbiter, or an event of the service."""

    text: str
    game: GameId | None = None
    by: str = ""
    """Name of the writer's token, or :data:`live.watch.incident_log.SERVICE`."""
    gap_s: float = 0.0
    """For a start of the service: time before it during which the service did not run,
    seconds.
    """


class ServiceGap(Value):
    """Note that the service did not run until the time of this note: the computer
    slept, or the process was suspended.
    """

    from_s: float
    """Beginning of the gap, seconds since 1970 UTC."""


class BoardRuling(Value):
    """Note that an arbiter removed a board, or restored it."""

    game: GameId
    removed: bool


ArbiterNote = Alert | Mute | ArbiterEntry | BoardRuling | Heartbeat | ServiceGap
ALERT = "alert"
_TYPES: dict[str, type[ArbiterNote]] = {
    ALERT: Alert,
    "mute": Mute,
    "entry": ArbiterEntry,
    "ruling": BoardRuling,
    "alive": Heartbeat,
    "gap": ServiceGap,
}


def write_note(journal: Journal, note: ArbiterNote) -> None:
    """Store a note in the journal for later runs."""
    kind = next(kind for kind, each in _TYPES.items() if isinstance(note, each))
    journal.add_note(kind, msgspec.json.encode(note), getattr(note, "game", None) or "")


def decode_notes(notes: Iterable[RecordedNote]) -> Iterator[tuple[float, ArbiterNote]]:
    """Yield the notes with their times, seconds since 1970 UTC; log unreadable ones."""
    for each in notes:
        if each.kind not in _TYPES:
            continue
        try:
            note = msgspec.json.decode(each.body, type=_TYPES[each.kind])
        except ValueError as error:  # from msgspec, or for bytes that are not UTF-8
            text = "record %d of the incident log cannot be read (%s)"
            log.error(text, each.n, error)
        else:
            yield each.at_ms / 1000, note


def build_incident_log(notes: Iterable[RecordedNote]) -> IncidentLog:
    """Return the incident log for these notes."""
    incidents = IncidentLog()
    for at_s, note in decode_notes(notes):
        match note:
            case Alert():
                incidents.add_alert(note, at_s)
            case Mute():
                what = note.describe()
                if what is not None:
                    incidents.add_mute(what, note.muted, at_s, note.game)
            case ArbiterEntry(text, game, by, gap_s):
                incidents.add_entry(text, at_s, game, by, gap_s=gap_s)
            case ServiceGap(from_s):
                incidents.add_gap(from_s, at_s)
    return incidents


def reapply_rulings(state: Event, notes: Iterable[RecordedNote]) -> None:
    """Remove the boards that arbiters have removed and not restored."""
    for _, note in decode_notes(notes):
        if not isinstance(note, BoardRuling):
            continue
        if note.removed:
            state.remove(note.game)
        else:
            state.restore_removed(note.game)
