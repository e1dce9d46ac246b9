"""Finds the journal that a command is about, by its file, by the source that was
followed, or because there is only one.
"""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import typer

from live.errors import InputError, LiveRateError
from live.journal.event_journal import journal_path, journals_folder
from live.settings import JournalConfig
from live.sources.source_address import recognise_source

#: Bytes with which every database of SQLite begins.
_SQLITE = b"SQLite format 3\0"


def choose_journal(given: Path | None) -> Path | None:
    """Return the journal to read; None after several were listed to choose from.

    ``given`` is the file of a journal, or the text after ``--feed`` with which it was
    written.

    Raises:
        InputError: nothing is given, and there is no journal in the usual folder.
    """
    if given is not None:
        return given if _is_database(given) else _find_journal_of_source(given)
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
    typer.echo("Name one of these journals, the newest first:")
    for path in journals:
        written = dt.datetime.fromtimestamp(path.stat().st_mtime).astimezone()
        typer.echo(f"{written:%Y-%m-%d %H:%M}  {path}")
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


def _find_journal_of_source(given: Path) -> Path:
    """Return the usual journal of a source; ``given`` itself if there is none."""
    try:
        source = recognise_source(str(given))
    except LiveRateError:
        return given
    path = journal_path(JournalConfig(), [source.name])
    if path is None or not path.is_file():
        return given
    typer.echo(f"journal {path}", err=True)
    return path
