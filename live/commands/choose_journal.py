"""Finds the journal that a command is about, by its file, by the source that was
followed, or because there is only one.
"""

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from live.errors import InputError, LiveRateError
from live.journal.event_journal import find_journal_place, journals_folder
from live.messages.values import FeedName
from live.settings import JournalConfig
from live.sources.source_address import FeedAddress, recognise_source

#: Bytes with which every SQLite database begins.
_SQLITE = b"SQLite format 3\0"


def find_journal(text: str) -> Path:
    """Return the journal that ``text`` names: its file, or the text after ``--feed``
    with which it was written.

    A file without a journal is returned as it is: its reader says what is wrong.

    Raises:
        InputError: the text is the address of a source that has no journal.
    """
    # The text of an address must not become a Path, which removes slashes.
    file = Path(text)
    if _is_database(file):
        return file
    try:
        source = recognise_source(text)
    except LiveRateError:
        return file
    for name in _list_names(source):
        path = find_journal_place(JournalConfig(), [name]).path
        if path is not None and path.is_file():
            typer.echo(f"journal {path}", err=True)
            return path
    if source.kind in ("file", "folder") or file.exists():
        return file
    raise InputError(
        source.name,
        "there is no journal of this source",
        "Name the file that live-rate wrote with --journal",
    )


def choose_only_journal() -> Path | None:
    """Return the only journal in the usual folder; None after several were listed to
    choose from.

    Raises:
        InputError: there is no journal.
    """
    journals = list_journals()
    if not journals:
        raise InputError(
            f"{journals_folder()}",
            "there is no journal",
            "Name the file that live-rate wrote with --journal",
        )
    if len(journals) == 1:
        typer.echo(f"journal {journals[0]}", err=True)
        return journals[0]
    # Standard output is for the report alone, which programs may read.
    typer.echo("Name one of these journals, the newest first:", err=True)
    for path in journals:
        written = dt.datetime.fromtimestamp(path.stat().st_mtime).astimezone()
        typer.echo(f"{written:%Y-%m-%d %H:%M}  {path}", err=True)
    return None


def list_journals() -> Sequence[Path]:
    """Return the journals in the usual folder, the last written first."""
    journals = journals_folder().glob("*.sqlite")
    return sorted(journals, key=lambda path: -path.stat().st_mtime)


def _is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _list_names(source: FeedAddress) -> Iterator[FeedName]:
    """Yield the names that a run can have given to a source: a file can have been named
    from here, or with its whole path.
    """
    yield source.name
    if source.kind in ("file", "folder") and not source.forced:
        path = os.path.abspath(source.target)
        yield path
        yield os.path.relpath(path)
