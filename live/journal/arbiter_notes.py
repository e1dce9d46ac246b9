"""Stores the notes about alerts and arbiters in the journal, and the state of the alert
rules.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from live.event.event import Event
from live.event.game_change import EventChange
from live.journal.journal import Journal
from live.journal.journal_reader import RecordedNote
from live.journal.memories import build_memory, read_memories
from live.messages.alerts import Alert
from live.watch.arbiter_notes import (
    ArbiterEntry,
    ArbiterNote,
    BoardRuling,
    DatedNote,
    Heartbeat,
    Mute,
    Remembered,
    ServiceGap,
    WatchMemory,
)

log = logging.getLogger(__name__)

_TYPES: dict[str, type[ArbiterNote]] = {
    "alert": Alert,
    "mute": Mute,
    "entry": ArbiterEntry,
    "ruling": BoardRuling,
    "alive": Heartbeat,
    "gap": ServiceGap,
}


class JournalWatchStore:
    """Implements :class:`live.watch.arbiter_notes.WatchStore` with a journal."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def write_note(self, note: ArbiterNote) -> None:
        kind = next(
            kind for kind, note_type in _TYPES.items() if isinstance(note, note_type)
        )
        game = getattr(note, "game", None) or ""
        self._journal.add_note(kind, msgspec.json.encode(note), game)

    def read_notes(self) -> list[DatedNote]:
        return list(decode_notes(self._journal.read_notes()))

    def read_last_alive_s(self) -> float:
        times_ms = list(self._journal.read_last_change_times().values())
        times_ms += [note.at_ms for note in self._journal.read_notes()[-1:]]
        return max(times_ms, default=0) / 1000

    def keep_memories(self, memories: Sequence[WatchMemory]) -> None:
        self._journal.keep_memories([build_memory(*memory) for memory in memories])

    def read_memories(self, kind: str, type: type[Remembered]) -> dict[str, Remembered]:
        return read_memories(self._journal, kind, type)


def decode_notes(notes: Iterable[RecordedNote]) -> Iterator[DatedNote]:
    """Yield the notes with their times, seconds since 1970 UTC; log
    unreadable notes.
    """
    for record in notes:
        if record.kind not in _TYPES:
            continue
        try:
            note = msgspec.json.decode(record.body, type=_TYPES[record.kind])
        except ValueError as error:  # from msgspec, or for bytes that are not UTF-8
            text = "record %d of the incident log cannot be read (%s)"
            log.error(text, record.n, error)
        else:
            yield record.at_ms / 1000, note


def reapply_rulings(
    state: Event, notes: Iterable[RecordedNote]
) -> Iterator[Sequence[EventChange]]:
    """Apply the arbiters' removals and restorations of boards again.

    Yields the changes of the event after each of them.
    """
    for _, note in decode_notes(notes):
        if not isinstance(note, BoardRuling):
            continue
        if note.removed:
            yield state.remove(note.game)
        else:
            yield state.restore_removed(note.game)
