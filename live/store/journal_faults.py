"""What is wrong with a journal's file, in words that name the remedy."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from live.errors import InputError
from live.store.journal_tables import ForeignDatabase

#: Where the system reports what the user of this moment may, as it does when files are opened.
_EFFECTIVE: Final = os.access in os.supports_effective_ids

#: What SQLite says of a file or folder that this user may not write.
UNWRITABLE: Final = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}

_NAME_ONE: Final = "Name what live-rate wrote with --journal"


def error_code(error: sqlite3.Error) -> int:
    """The primary result code (sqlite.org/rescode.html)."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def why_unusable(path: Path, error: Exception) -> str:
    """Why a service cannot keep a journal here: goes on from the file's name."""
    if path.is_dir():
        return "is a folder"
    match error:
        case ForeignDatabase():
            return str(error)
        case OSError():
            return f"cannot be used ({error.filename or path}: {error.strerror})"
        case sqlite3.Error() if error_code(error) == sqlite3.SQLITE_NOTADB:
            return f"is no journal ({error})"
        case sqlite3.Error() if error_code(error) == sqlite3.SQLITE_CORRUPT:
            return f"is damaged ({error})"
        case sqlite3.Error() if error_code(error) in UNWRITABLE and not may_write(path.parent):
            return f"cannot be used ({path.parent}: this folder cannot be written)"
    return f"cannot be used ({error})"


def in_words(error: sqlite3.Error) -> str:
    """Why a journal cannot be written just now, and what people can do so that it can."""
    match error_code(error):
        case sqlite3.SQLITE_FULL:
            return f"{error}; make room on its disk"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return f"{error}; let this user write it and its folder"
    return str(error)


def unreadable(path: Path, error: sqlite3.Error | ForeignDatabase) -> InputError:
    """What a command says that was to read this journal."""
    if isinstance(error, ForeignDatabase):
        return InputError(str(path), str(error), f"{_NAME_ONE}, or use the version that wrote it")
    match error_code(error):
        case sqlite3.SQLITE_NOTADB:
            return InputError(str(path), f"is no journal ({error})", _NAME_ONE)
        case sqlite3.SQLITE_CORRUPT:
            return damaged(path, error)
        case code if code in UNWRITABLE:
            remedy = f"Copy it, with {path.name}-wal beside it, to where this user may write"
            return InputError(str(path), f"cannot be read here ({error})", remedy)
    return InputError(str(path), f"cannot be read ({error})", "Check who may read it")


def damaged(path: Path, error: Exception) -> InputError:
    """What a command says that found damage on the way."""
    return InputError(
        str(path), f"is damaged ({error})", "Save what can be read with: sqlite3 FILE .recover"
    )


def not_there(path: Path) -> InputError:
    """What a command says where there is no file of this name."""
    if not path.is_dir():
        return InputError(str(path), "there is no such journal", "Check the path")
    inside = sorted(each.name for each in path.glob("*.sqlite"))
    return InputError(
        str(path),
        "is a folder",
        f"Name a journal in it: {', '.join(inside[:10])}" if inside else _NAME_ONE,
    )


def may_write(path: Path) -> bool:
    """Whether this user can write a file, or make files in a folder."""
    return os.access(path, os.W_OK, effective_ids=_EFFECTIVE)
