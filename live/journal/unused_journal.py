"""Removes a journal in which nothing was kept, such as that of a mistyped source."""

import contextlib
import sqlite3
from pathlib import Path

from live.journal.arbiter_notes import decode_notes
from live.journal.journal_file import ForeignDatabase, JournalLocked, lock_journal
from live.journal.journal_reader import JournalReader
from live.messages.alerts import Alert
from live.watch.arbiter_notes import ArbiterEntry, Heartbeat, ServiceGap
from live.watch.incident_log import SERVICE


def remove_unused_journal(path: Path) -> None:
    """Remove a closed journal and the files beside it, if it holds no game and nothing
    that a person did. Do nothing if it is in use, or cannot be read.
    """
    path = path.expanduser()
    if not path.is_file():
        return
    with (
        contextlib.suppress(JournalLocked, ForeignDatabase, sqlite3.Error, OSError),
        lock_journal(path),
    ):
        with contextlib.closing(JournalReader(path)) as reader:
            is_used = _is_used(reader)
        if not is_used:
            for end in ("", "-wal", "-shm", "-lock", "-lock-journal"):
                path.with_name(path.name + end).unlink(missing_ok=True)


def _is_used(reader: JournalReader) -> bool:
    _, last_change, _ = reader.read_last_numbers()
    if last_change:
        return True
    notes = list(reader.read_notes())
    decoded = [note for _, note in decode_notes(notes)]
    if len(decoded) < len(notes):
        return True  # such as a delay that was set
    return not all(_is_own_note(note) for note in decoded)


def _is_own_note(note: object) -> bool:
    """Return whether the service writes such a note by itself, also without a game."""
    if isinstance(note, Alert):
        has_answer = note.acknowledged_s is not None or note.muted
        return not has_answer and not note.note
    if isinstance(note, ArbiterEntry):
        return note.by == SERVICE
    return isinstance(note, Heartbeat | ServiceGap)
