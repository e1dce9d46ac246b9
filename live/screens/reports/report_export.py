"""Writing of reports and incident logs to files, for commands and the terminal app."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from live.catalogue import find_event_name
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
from live.watch.incident_log import name_board_and_players, name_boards

#: Format of the date and time at which a report was written.
WRITTEN = "%Y-%m-%d %H:%M %z"


def read_utc_now() -> dt.datetime:
    """Return the current time in UTC."""
    return dt.datetime.now(dt.UTC)


def write_texts(
    texts: Mapping[str, str], folder: Path, *, private: bool = False
) -> list[Path]:
    """Write files into a folder, create it if it does not exist, and return their
    paths.

    Args:
        texts: the text of each file, by its name.
        folder: where to write.
        private: whether to let only the current user read the files.

    Raises:
        InputError: the files cannot be written in this folder.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            if private:
                make_private(folder / name)
            # Write line ends unchanged: CSV ends its lines with CR LF.
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
    """Write a report of one board or of all boards, for the terminal's export key.

    Args:
        state: the data of the report.
        live: the data whose alerts mark results as doubtful.
        folder: where to write.
        kind: the file format.
        game: the board's game; None for all boards.
        now: returns the current time.

    Returns:
        the paths of the written files, separated by commas.

    Raises:
        InputError: the report cannot be written, or the board no longer exists.
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
    files = build_files(whole, [kind], stem=stem, written=moment.strftime(WRITTEN))
    return ", ".join(map(str, write_texts(files, folder)))


def export_incidents(
    incidents: Callable[[], Sequence[Incident]],
    state: EventReader,
    folder: Path,
    now: Callable[[], dt.datetime] = read_utc_now,
) -> str:
    """Write the incident log as a page to print and sign.

    Args:
        incidents: returns all incidents of the log.
        state: the event, from which the names of boards are read.
        folder: where to write.
        now: returns the current time.

    Returns:
        the path of the written file.

    Raises:
        InputError: the page cannot be written.
    """
    moment = now().astimezone()
    zone = moment.tzinfo or dt.UTC
    views = list(state.games())
    boards = {view.id: name_board_and_players(view) for view in views}
    files = build_incident_files(
        name_boards(incidents(), boards),
        ["html"],
        stem=f"live-rate-{moment:%Y%m%d-%H%M%S}",
        title=next(filter(None, map(find_event_name, views)), "live-rate"),
        written=f"as of {incident_moment(moment.timestamp(), zone)}",
        zone=zone,
    )
    return ", ".join(map(str, write_texts(files, folder, private=True)))
