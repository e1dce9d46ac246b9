"""Reports and incident logs as files, of commands and of the terminal's export keys."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from live.catalogue import main_event
from live.errors import InputError
from live.journal.journal_file import make_private
from live.messages.alerts import Incident
from live.messages.values import GameId
from live.screens.reports.report_files import (
    Format,
    build_files,
    build_incident_files,
    select_part,
)
from live.screens.reports.report_files import format_moment as incident_moment
from live.server.analysis import build_analysis
from live.server.event_reader import EventReader
from live.watch.alert_kinds import find_doubted_games
from live.watch.incident_log import board_words, with_boards

#: The time of a report, in the zone of this machine, as in the incident log.
WRITTEN = "%Y-%m-%d %H:%M %z"


def read_utc_now() -> dt.datetime:
    """Return the time."""
    return dt.datetime.now(dt.UTC)


def write_texts(
    texts: Mapping[str, str], folder: Path, *, private: bool = False
) -> list[Path]:
    """Write files, by their names, into a folder, which may be new; return their paths.

    ``private``: only their user can read them, as the journal.

    Raises:
        InputError: they cannot be written there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if private:
                make_private(folder / name)
            # The line ends are those of the format: CSV has its own.
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise InputError(
            str(folder),
            f"cannot be written ({error.strerror})",
            "Choose another folder",
        ) from None
    return [folder / name for name in texts]


def export_report(
    state: EventReader,
    live: EventReader,
    folder: Path,
    kind: Format,
    game: GameId | None,
    now: Callable[[], dt.datetime] = read_utc_now,
) -> str:
    """Write a report of a board, or of all, for the terminal's export key; return
    where.

    ``live`` knows the alerts that doubt results.

    Raises:
        InputError: it cannot be written, or the board is gone.
    """
    whole = build_analysis(state, in_doubt=find_doubted_games(live.alerts()))
    moment = now().astimezone()
    stem = f"live-rate-{moment:%Y%m%d-%H%M%S}"
    if game is not None:
        whole = select_part(whole, {game}, set(state.player_ids(game)))
        if not whole.games:
            raise InputError(
                "export", "this board no longer exists", "Choose another board"
            )
        board = whole.games[0].board
        stem += f"-board-{board}" if board is not None else "-board"
    found = build_files(whole, [kind], stem=stem, written=moment.strftime(WRITTEN))
    return ", ".join(map(str, write_texts(found, folder)))


def export_incidents(
    incidents: Callable[[], Sequence[Incident]],
    state: EventReader,
    folder: Path,
    now: Callable[[], dt.datetime] = read_utc_now,
) -> str:
    """Write the incident log as a page to print and sign; return where.

    ``state`` knows the names of boards.

    Raises:
        InputError: it cannot be written.
    """
    moment = now().astimezone()
    zone = moment.tzinfo or dt.UTC
    views = list(state.games())
    boards = {view.id: board_words(view) for view in views}
    found = build_incident_files(
        with_boards(incidents(), boards),
        ["html"],
        stem=f"live-rate-{moment:%Y%m%d-%H%M%S}",
        title=next(filter(None, map(main_event, views)), "live-rate"),
        written=f"as of {incident_moment(moment.timestamp(), zone)}",
        zone=zone,
    )
    return ", ".join(map(str, write_texts(found, folder, private=True)))
