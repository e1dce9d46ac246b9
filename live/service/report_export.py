"""Reports written to files: by ``analyze`` and from the terminal. Part of the composition root."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from live.alerts.incident_log import board_words, with_boards
from live.errors import InputError
from live.events import GameId, Incident
from live.ledger.roster import main_event
from live.publish.export.analysis_json import Analysis, analysis
from live.publish.published_state import PublishedState
from live.report import incident_report
from live.report.report_files import Format, only, texts
from live.store.journal_file import keep_private

#: How a report says when it was written.
WRITTEN = "%Y-%m-%d %H:%M UTC"


def utc_now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def write_report(
    whole: Analysis,
    folder: Path,
    formats: Collection[Format],
    *,
    stem: str,
    now: dt.datetime,
    arbiter: bool = False,
) -> list[Path]:
    """Write the files of a report into a folder, which is made if need be; answers which.

    Raises:
        InputError: they cannot be written there.
    """
    found = texts(whole, formats, stem=stem, written=now.strftime(WRITTEN), arbiter=arbiter)
    return write_texts(found, folder)


def write_texts(found: Mapping[str, str], folder: Path, *, private: bool = False) -> list[Path]:
    """Write files, by their names, into a folder, which is made if need be; answers which.
    ``private``: for their user alone to read, as the journal is.

    Raises:
        InputError: they cannot be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in found.items():
            if private:
                keep_private(folder / name)
            # The line ends are those of the format: CSV has its own.
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(
            str(folder), f"cannot be written ({error.strerror})", "Choose another folder"
        ) from None
    return [folder / name for name in found]


def export_report(
    state: PublishedState,
    folder: Path,
    kind: Format,
    game: GameId | None,
    now: Callable[[], dt.datetime] = utc_now,
) -> str:
    """What the terminal's export key calls: write a board, or all there is, and say where.

    Raises:
        InputError: it cannot be written, or the board is gone.
    """
    whole, moment = analysis(state), now()
    stem = f"live-rate-{moment:%Y%m%d-%H%M%S}"
    if game is not None:
        whole = only(whole, {game}, set(state.player_ids(game)))
        if not whole.games:
            raise InputError("export", "this board is gone", "Choose another")
        board = whole.games[0].board
        stem += f"-board-{board}" if board is not None else "-board"
    written = write_report(whole, folder, [kind], stem=stem, now=moment)
    return ", ".join(map(str, written))


def export_incidents(
    incidents: Callable[[], Sequence[Incident]],
    state: PublishedState,
    folder: Path,
    now: Callable[[], dt.datetime] = utc_now,
) -> str:
    """What the export key of the incident log calls: write the whole log as a page to print and
    sign, and say where. ``state`` knows the names of boards.

    Raises:
        InputError: it cannot be written.
    """
    moment = now().astimezone()
    zone = moment.tzinfo or dt.UTC
    views = list(state.games())
    found = incident_report.texts(
        with_boards(incidents(), {view.id: board_words(view) for view in views}),
        ["html"],
        stem=f"live-rate-{moment:%Y%m%d-%H%M%S}",
        title=next((main_event(view) for view in views if main_event(view)), "live-rate"),
        written=f"as of {incident_report.moment(moment.timestamp(), zone)}",
        zone=zone,
    )
    return ", ".join(map(str, write_texts(found, folder, private=True)))
