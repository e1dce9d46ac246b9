"""Describes faults of a journal's file, with their remedies."""

import os
import sqlite3
from pathlib import Path

from live.errors import InputError
from live.journal.journal_file import (
    UNUSABLE_ERRORS,
    ForeignDatabase,
    JournalLocked,
    check_is_journal,
    lock_journal,
    read_error_code,
)

#: Whether the operating system can check access for the effective user, whose rights
#: apply when files are opened.
_EFFECTIVE = os.access in os.supports_effective_ids
#: SQLite's result codes for a file or folder that this user is not allowed to write.
_UNWRITABLE = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}
_NAME_ONE = "Name a file that live-rate wrote with --journal"
#: Remedy for the user, by SQLite's primary result code.
_REMEDIES = {
    sqlite3.SQLITE_NOTADB: _NAME_ONE,
    sqlite3.SQLITE_CORRUPT: "Save what can be read with: sqlite3 FILE .recover",
}


def explain_unusable(path: Path, error: Exception) -> str:
    """Describe why a service cannot use this file as its journal.

    The text follows the file's name in a message.
    """
    if path.is_dir():
        return "is a folder"
    match error:
        case JournalLocked():
            return "is in use by another live-rate"
        case ForeignDatabase():
            return str(error)
        case OSError():
            return f"cannot be used ({error.filename or path}: {error.strerror})"
        case sqlite3.Error() if read_error_code(error) == sqlite3.SQLITE_NOTADB:
            return f"is not a journal ({error})"
        case sqlite3.Error() if read_error_code(error) == sqlite3.SQLITE_CORRUPT:
            return f"is damaged ({error})"
        case sqlite3.Error() if read_error_code(
            error
        ) in _UNWRITABLE and not _can_write(path.parent):
            return f"cannot be used ({path.parent}: this folder cannot be written)"
    return f"cannot be used ({error})"


def describe_write_error(error: sqlite3.Error) -> str:
    """Describe why a journal cannot be written now, with the remedy."""
    match read_error_code(error):
        case sqlite3.SQLITE_FULL:
            return f"{error}; make room on its disk"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return f"{error}; let this user write it and its folder"
    return str(error)


def build_unreadable_error(
    path: Path, error: sqlite3.Error | ForeignDatabase
) -> InputError:
    """Return the error of a command that cannot read this journal."""
    code = (
        sqlite3.SQLITE_NOTADB
        if isinstance(error, ForeignDatabase)
        else read_error_code(error)
    )
    remedy = _REMEDIES.get(code, "Check who may read it")
    if code in _UNWRITABLE:
        remedy = (
            f"Copy it, with {path.name}-wal beside it, to where this user may write"
        )
    return InputError(str(path), explain_unusable(path, error), remedy)


def build_damage_error(path: Path, error: Exception) -> InputError:
    """Return the error of a command that found damage while reading."""
    return InputError(
        str(path), f"is damaged ({error})", _REMEDIES[sqlite3.SQLITE_CORRUPT]
    )


def build_missing_error(path: Path) -> InputError:
    """Return the error of a command for a file that does not exist."""
    if not path.is_dir():
        return InputError(
            str(path),
            "there is no such journal",
            "Check the path; live-rate report lists the journals",
        )
    names = sorted(file.name for file in path.glob("*.sqlite"))
    return InputError(
        str(path),
        "is a folder",
        f"Name a journal in it: {', '.join(names[:10])}" if names else _NAME_ONE,
    )


def explain_refusal(path: Path) -> str:
    """Describe why a service could not use this file as its journal; empty if it could.

    The text follows the file's name in a message. The file is not changed.
    """
    path = path.expanduser().absolute()
    try:
        check_is_journal(path)
        with lock_journal(path, make=False):
            pass
    except UNUSABLE_ERRORS as error:
        return explain_unusable(path, error)
    folder = next(ancestor for ancestor in path.parents if ancestor.exists())
    if not folder.is_dir():
        return f"cannot be used ({folder}: is not a folder)"
    if not _can_write(folder):
        return f"cannot be used ({folder}: this folder cannot be written)"
    if path.exists() and not _can_write(path):
        return "cannot be used (this file cannot be written)"
    return ""


def _can_write(path: Path) -> bool:
    """Return whether this user may write a file, or create files in a folder."""
    return os.access(path, os.W_OK, effective_ids=_EFFECTIVE)
