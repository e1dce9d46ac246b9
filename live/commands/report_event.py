"""``live-rate report``: an event, or any moment of it, from its journal."""

import datetime as dt
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.errors import InputError
from live.journal.arbiter_notes import decode_notes
from live.journal.journal_reader import JournalReader
from live.journal.recorded_event import RecordedEvent, rebuild_event
from live.messages.alerts import Alert, Incident
from live.process.stderr_log import log_to_stderr
from live.screens.command_output import (
    build_progress_bar,
    print_line,
    print_tables,
    write_output,
)
from live.screens.reports.report_export import WRITTEN, read_utc_now, write_texts
from live.screens.reports.report_files import (
    Format,
    build_files,
    build_incident_files,
    format_incident_change,
)
from live.screens.reports.report_files import format_moment as incident_moment
from live.screens.terminal.text import plain
from live.server.analysis import Analysis, build_analysis, to_json
from live.settings import Config
from live.watch.alert_kinds import find_doubted_games
from live.watch.arbiter_notes import build_incident_log
from live.watch.incident_log import board_words, incident_sign, kind_name, with_boards


def rebuild_with_progress(
    reader: JournalReader, path: Path, to_ms: int | None = None
) -> RecordedEvent:
    """Return the event as it was at a moment, or at the end, and show on a terminal how
    far it is.
    """
    with build_progress_bar(Console(stderr=True)) as bar:
        track = partial(bar.track, description="reading games")
        return rebuild_event(reader, path, to_ms, track=track)


def parse_moment_ms(text: str, now: dt.datetime) -> int:
    """Return the moment of ``--at`` in milliseconds: a time of day, the latest not in
    the future, or date and time; in this machine's zone unless it says.

    Raises:
        InputError: it is no time.
    """
    try:
        if len(text) <= 8 and ":" in text:
            moment = dt.datetime.combine(now.date(), dt.time.fromisoformat(text))
            if moment > now.replace(tzinfo=None):
                moment -= dt.timedelta(days=1)
        else:
            moment = dt.datetime.fromisoformat(text)
        return round(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        # The last two: beyond what this machine counts.
        raise InputError(
            f"--at {text}",
            "is not a time",
            "Write 15:04, 2026-05-01T15:04 or 2026-05-01T15:04+02:00",
        ) from None


def report_event(
    path: Path,
    *,
    at: str | None,
    folder: Path | None,
    formats: Sequence[Format],
    alerts: bool = False,
    json: str | None,
) -> int:
    """Run ``live-rate report``; return the exit code. ``alerts``: show also the
    incident log up to then, in files of its own if files are written.
    """
    log_to_stderr(Config().log.level)
    now = read_utc_now()
    to_ms = parse_moment_ms(at, now.astimezone()) if at is not None else None
    with JournalReader.open(path) as reader:
        state = rebuild_with_progress(reader, path, to_ms).state
        in_doubt = find_doubted_games(state.alerts())
        whole = build_analysis(state, state.rate_by_methods(), in_doubt=in_doubt)
        open_alerts = tuple(state.alerts()) if alerts else ()
        notes = reader.read_notes(to_ms) if alerts else []
        log = build_incident_log(decode_notes(notes)).incidents()
    boards = {game.id: board_words(game) for game in whole.games}
    incidents = tuple(with_boards(log, boards))
    if json is not None:
        more = JournalReport(
            **msgspec.structs.asdict(whole), alerts=open_alerts, incidents=incidents
        )
        write_output(json, to_json(more if alerts else whole), private=alerts)
    console = Console(stderr=json == "-")
    zone = now.astimezone().tzinfo or dt.UTC
    moment = now if to_ms is None else dt.datetime.fromtimestamp(to_ms / 1000, dt.UTC)
    if to_ms is not None:
        print_line(f"as of {moment.astimezone():%Y-%m-%d %H:%M:%S}", console)
    if folder is not None:
        written = moment.astimezone(zone).strftime(WRITTEN)
        found = build_files(whole, formats, stem=path.stem, written=written)
        paths = write_texts(found, folder)
        if alerts:
            as_of = f"as of {incident_moment(moment.timestamp(), zone)}"
            found = build_incident_files(
                incidents,
                formats,
                stem=path.stem,
                title=path.stem,
                written=as_of,
                zone=zone,
            )
            paths = [*paths, *write_texts(found, folder, private=True)]
        for each in paths:
            print_line(f"wrote {each}", console)
    elif json is None:
        print_tables(whole, console)
        if alerts:
            console.print(_build_incident_table(incidents, zone))
    return 0


class JournalReport(Analysis):
    """An event with its alerts, as ``report --alerts --json`` writes it."""

    alerts: tuple[Alert, ...] = ()
    """Those not over, in the order in which people should look at them."""
    incidents: tuple[Incident, ...] = ()
    """The incident log, in the order it began."""


def _build_incident_table(incidents: Sequence[Incident], zone: dt.tzinfo) -> Table:
    table = Table("No.", "", "Board", "What happened", title="Incident log")
    for each in incidents:
        began = incident_moment(each.began_s, zone)
        said = [f"{began} {kind_name(each.kind)}"]
        said += [
            format_incident_change(change, zone, began[:10]) for change in each.changes
        ]
        if each.over_s is None:
            said.append("open")
        # Text, not markup: names and notes may hold brackets.
        happened = Text("\n".join(plain(line, 400) for line in said))
        table.add_row(
            str(each.number), incident_sign(each), Text(plain(each.board, 80)), happened
        )
    return table
