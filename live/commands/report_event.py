"""``live-rate report``: reports an event, or any moment of it, from its journal."""

import datetime as dt
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.errors import InputError
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
from live.watch.incident_log import (
    incident_sign,
    kind_name,
    name_board_and_players,
    name_boards,
)


def rebuild_with_progress(
    reader: JournalReader, path: Path, to_ms: int | None = None
) -> RecordedEvent:
    """Return the event as it was at a moment, or at the end; show progress on a
    terminal.
    """
    with build_progress_bar(Console(stderr=True)) as bar:
        track = partial(bar.track, description="reading games")
        return rebuild_event(reader, path, to_ms, track=track)


def parse_moment_ms(text: str, now: dt.datetime) -> int:
    """Parse the moment of ``--at``; return milliseconds since 1970 UTC.

    The text is a date and time, or a time of day, which means the latest one not in the
    future. Without a time zone, this machine's zone applies.

    Raises:
        InputError: the text is not a time.
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
        # The last two errors mean a time outside the range of this machine's clock.
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
    """Run ``live-rate report``; return the exit code.

    With ``alerts``, the incident log up to the moment is shown as well; if files are
    written, it has files of its own.
    """
    log_to_stderr(Config().log.level)
    now = read_utc_now()
    to_ms = parse_moment_ms(at, now.astimezone()) if at is not None else None
    with JournalReader.open(path) as reader:
        event = rebuild_with_progress(reader, path, to_ms)
        state = event.state
        in_doubt = find_doubted_games(state.alerts())
        analysis = build_analysis(state, state.rate_by_methods(), in_doubt=in_doubt)
    boards = {game.id: name_board_and_players(game) for game in analysis.games}
    incidents = tuple(name_boards(event.incident_log.incidents(), boards))
    if json is not None:
        report = analysis
        if alerts:
            report = JournalReport(
                **msgspec.structs.asdict(analysis),
                alerts=tuple(state.alerts()),
                incidents=incidents,
            )
        write_output(json, to_json(report), private=alerts)
    console = Console(stderr=json == "-")
    moment = now if to_ms is None else dt.datetime.fromtimestamp(to_ms / 1000, dt.UTC)
    # All times use the UTC offset that the machine's time zone had at that moment: a
    # report about July shows summer time even if it is made in winter.
    moment = moment.astimezone()
    zone = moment.tzinfo or dt.UTC
    if to_ms is not None:
        print_line(f"as of {moment:%Y-%m-%d %H:%M:%S}", console)
    if folder is not None:
        written = moment.strftime(WRITTEN)
        texts = build_files(analysis, formats, stem=path.stem, written=written)
        paths = write_texts(texts, folder)
        if alerts:
            as_of = f"as of {incident_moment(moment.timestamp(), zone)}"
            texts = build_incident_files(
                incidents,
                formats,
                stem=path.stem,
                title=path.stem,
                written=as_of,
                zone=zone,
            )
            paths = [*paths, *write_texts(texts, folder, private=True)]
        for file in paths:
            print_line(f"wrote {file}", console)
    elif json is None:
        print_tables(analysis, console)
        if alerts:
            console.print(_build_incident_table(incidents, zone))
    return 0


class JournalReport(Analysis):
    """An event with its alerts, as ``report --alerts --json`` writes it."""

    alerts: tuple[Alert, ...] = ()
    """Open alerts, in the order in which people should look at them."""
    incidents: tuple[Incident, ...] = ()
    """The incidents, in the order they began."""


def _build_incident_table(incidents: Sequence[Incident], zone: dt.tzinfo) -> Table:
    table = Table("No.", "", "Board", "What happened", title="Incident log")
    for incident in incidents:
        began = incident_moment(incident.began_s, zone)
        lines = [f"{began} {kind_name(incident.kind)}"]
        lines += [
            format_incident_change(change, zone, began[:10])
            for change in incident.changes
        ]
        if incident.over_s is None:
            lines.append("open")
        # Plain text, without markup: names and notes can contain brackets.
        happened = Text("\n".join(plain(line, 400) for line in lines))
        table.add_row(
            str(incident.number),
            incident_sign(incident),
            Text(plain(incident.board, 80)),
            happened,
        )
    return table
