"""The command ``live-rate report``."""

import enum
from pathlib import Path
from typing import get_args

from live.commands.command_options import Ended
from live.errors import ConfigError

#: Formats in which a report can be written: an enumeration, because Typer accepts no
#: list of a Literal.
ReportFormat = enum.StrEnum("ReportFormat", "PGN CSV HTML JSON NDJSON")


def report(
    journal: str | None = None,
    *,
    at: str | None = None,
    out: Path | None = None,
    format: list[ReportFormat] | None = None,
    alerts: bool = False,
    json: str | None = None,
) -> Ended:
    """Report an event, or any moment of it, from its journal: annotated PGN, CSV, HTML,
    JSON, and NDJSON for study add.

    Options:
        journal: The file that live-rate wrote with --journal, or what was given to
            --feed. Without it the journals are listed, or the only one is taken.
        at: [TIME] The event as it was then: 15:04, or 2026-05-01T15:04.
        out: [FOLDER] Write files there, instead of a table here.
        format: [pgn|csv|html|json|ndjson] Format to write into --out; can be repeated
            (all).
        alerts: Add the alerts: for arbiters alone.
    """
    from live.commands.choose_journal import choose_only_journal, find_journal
    from live.commands.report_event import report_event as write_report
    from live.screens.reports.report_files import Format

    if format and out is None:
        raise ConfigError(
            "--format", "is given without --out", "Say where: --out FOLDER"
        )
    formats = [name for name in get_args(Format) if not format or name in format]
    chosen = choose_only_journal() if journal is None else find_journal(journal)
    if chosen is None:
        return 2
    return write_report(
        chosen, at=at, folder=out, formats=formats, alerts=alerts, json=json
    )
