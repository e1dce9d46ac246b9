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


class ReportExporter:
    """What the terminal's export key calls: a board, or all there is."""

    def __init__(
        self, state: PublishedState, folder: Path, now: Callable[[], dt.datetime] = utc_now
    ) -> None:
        self._state = state
        self._folder = folder
        self._now = now

    def __call__(self, kind: Format, game: GameId | None) -> str:
        """Write it and say where, for people.

        Raises:
            InputError: it cannot be written, or the board is gone.
        """
        now = self._now()
        whole = analysis(self._state)
        stem = f"live-rate-{now:%Y%m%d-%H%M%S}"
        if game is not None:
            whole = only(whole, {game}, set(self._state.player_ids(game)))
            if not whole.games:
                raise InputError("export", "this board is gone", "Choose another")
            board = whole.games[0].board
            stem += f"-board-{board}" if board is not None else "-board"
        written = write_report(whole, self._folder, [kind], stem=stem, now=now)
        return ", ".join(str(path) for path in written)


class IncidentExporter:
    """What the export key of the incident log calls."""

    def __init__(
        self,
        incidents: Callable[[], Sequence[Incident]],
        state: PublishedState,
        folder: Path,
        now: Callable[[], dt.datetime] = utc_now,
    ) -> None:
        """``state`` knows the names of boards."""
        self._incidents = incidents
        self._state = state
        self._folder = folder
        self._now = now

    def __call__(self) -> str:
        """Write the whole log as a page to print and sign, and say where, for people.

        Raises:
            InputError: it cannot be written.
        """
        now = self._now().astimezone()
        zone = now.tzinfo
        assert zone is not None
        views = list(self._state.games())
        boards = {view.id: board_words(view) for view in views}
        found = incident_report.texts(
            with_boards(self._incidents(), boards),
            ["html"],
            stem=f"live-rate-{now:%Y%m%d-%H%M%S}",
            title=next((main_event(view) for view in views if main_event(view)), "live-rate"),
            written=f"as of {incident_report.moment(now.timestamp(), zone)}",
            zone=zone,
        )
        return ", ".join(str(path) for path in write_texts(found, self._folder, private=True))
