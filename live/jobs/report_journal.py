"""``live-rate report`` and ``explain``: what a journal holds. Part of the composition root."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.alerts.finding import SIGNS
from live.alerts.incident_log import board_words, kind_name, with_boards
from live.config import Config
from live.errors import InputError
from live.events import Alert, GameDetail, Incident
from live.games.game import Game
from live.jobs.analyze_games import write, write_json
from live.jobs.recorded_event import RecordedEvent, rebuilt
from live.publish.export.analysis_json import Analysis, analysis, to_json
from live.report import incident_report
from live.report.report_files import Format
from live.service.alert_service import log_of
from live.service.program_output import log_to_stderr
from live.service.report_export import utc_now, write_report, write_texts
from live.store.journal_reader import JournalReader
from live.store.rating_explanation import (
    ExplainedSearch,
    Explanation,
    explain,
    in_words,
    searches,
)
from live.terminal.figure_text import plain
from live.terminal.tables import event_summary


def moment_ms(text: str, now: dt.datetime) -> int:
    """``--at``: a time of day, the last that is not to come, or date and time; this machine's zone
    unless it says.

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
    except (ValueError, OverflowError, OSError):  # the last two: beyond what this machine counts
        raise InputError(
            f"--at {text}", "is no time", "Say 15:04, 2026-05-01T15:04 or 2026-05-01T15:04+02:00"
        ) from None


def report(
    path: Path,
    *,
    at: str | None,
    folder: Path | None,
    formats: Sequence[Format],
    alerts: bool = False,
    json: str | None,
) -> int:
    """``live-rate report``; returns the exit code. ``alerts``: the incident log up to then is shown
    as well, in files of its own where files are written.
    """
    log_to_stderr(Config())
    now = utc_now()
    to_ms = moment_ms(at, now.astimezone()) if at is not None else None
    with JournalReader.open(path) as reader:
        state = rebuilt(reader, path, to_ms).state
        whole = analysis(state, state.ledger.compared_players())
        open_alerts = tuple(state.alerts()) if alerts else ()
        log = log_of(reader.notes(to_ms)).incidents() if alerts else []
    boards = {game.id: board_words(game) for game in whole.games}
    incidents = tuple(with_boards(log, boards))
    if json is not None:
        whole_or_more = (
            JournalReport(**msgspec.structs.asdict(whole), alerts=open_alerts, incidents=incidents)
            if alerts
            else whole
        )
        write(json, to_json(whole_or_more), private=alerts)
    console = Console(stderr=json == "-")
    if to_ms is not None:
        console.print(f"as of {_moment(to_ms / 1000)}", markup=False, highlight=False)
    if folder is not None:
        moment = now if to_ms is None else dt.datetime.fromtimestamp(to_ms / 1000, dt.UTC)
        for written in write_report(whole, folder, formats, stem=path.stem, now=moment):
            console.print(f"wrote {written}", markup=False, highlight=False, soft_wrap=True)
        if alerts:
            zone = now.astimezone().tzinfo or dt.UTC
            found = incident_report.texts(
                incidents,
                formats,
                stem=path.stem,
                title=path.stem,
                written=f"as of {incident_report.moment(moment.timestamp(), zone)}",
                zone=zone,
            )
            for written in write_texts(found, folder, private=True):
                console.print(f"wrote {written}", markup=False, highlight=False, soft_wrap=True)
    elif json is None:
        _print(whole, console)
        if alerts:
            console.print(_incidents(incidents))
    return 0


def _print(whole: Analysis, console: Console) -> None:
    console.print(event_summary.games(whole.games, whole.engine, whole.gain, width=console.width))
    console.print(
        event_summary.players(whole.players, whole.engine, whole.gain, width=console.width)
    )


class JournalReport(Analysis, frozen=True):
    """An event with its alerts, as ``report --alerts --json`` writes it."""

    alerts: tuple[Alert, ...] = ()
    """Those not over, in the order in which people should look at them."""
    incidents: tuple[Incident, ...] = ()
    """The incident log, in the order it began."""


def _incidents(incidents: Sequence[Incident]) -> Table:
    table = Table("No.", "", "Board", "What happened", title="Incident log")
    zone = dt.datetime.now().astimezone().tzinfo or dt.UTC
    for each in incidents:
        began = incident_report.moment(each.began_s, zone)
        said = [f"{began} {kind_name(each.kind)}"]
        said += [incident_report.line(change, zone, began[:10]) for change in each.changes]
        if each.over_s is None:
            said.append("open")
        # Text, not markup: names and notes may hold brackets.
        happened = Text("\n".join(plain(line, 400) for line in said))
        table.add_row(str(each.number), SIGNS[each.severity], Text(plain(each.board, 80)), happened)
    return table


def _moment(at_s: float) -> str:
    return dt.datetime.fromtimestamp(at_s).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def explained(path: Path, name: str, ply: int, *, json: str | None) -> int:
    """``live-rate explain``; returns the exit code."""
    log_to_stderr(Config())
    with JournalReader.open(path) as reader:
        service = rebuilt(reader, path)
        detail = find_game(list(analysis(service.state).games), name)
        found = explanation_of(service, detail, ply)
    if json is not None:
        write_json(json, found)
    else:
        console = Console()
        for line in in_words(found):
            console.print(plain(line, 400), markup=False, highlight=False, soft_wrap=True)
    return 0


def explanation_of(service: RecordedEvent, detail: GameDetail, ply: int) -> Explanation:
    """How the rating after ``ply`` came about.

    Raises:
        InputError: there is no such ply, or it has no rating.
    """
    if not 1 <= ply <= len(detail.plies):
        raise InputError(
            f"ply {ply}", f"this game has plies 1 to {len(detail.plies)}", "Name one of them"
        )
    ledger = service.state.ledger
    game = service.state.holding(detail.id)
    assert game is not None, "it is shown, so it is held"
    made: list[ExplainedSearch] = []
    for what, search in searches(
        game, ply, ledger.measure.search_options, _depth(service, game, ply)
    ):
        found = service.looked_up(search)
        first_choice = what == "move played" and made and made[0].found.result.best == search.only
        if found is not None and not first_choice:
            made.append(ExplainedSearch(what, *found))
    explanation = explain(
        detail,
        ply,
        engine=ledger.engine,
        gain=ledger.gain,
        identity=service.run.identity,
        rater=ledger.rated_again(game.id),
        made=tuple(made),
    )
    if explanation is None:
        raise InputError(
            f"ply {ply}", "has no rating: its scores are not all known", "Name another"
        )
    return explanation


def _depth(service: RecordedEvent, game: Game, ply: int) -> int | None:
    """What the search of the position before ``ply`` reached."""
    (_, before), *_ = searches(game, ply, service.state.ledger.measure.search_options, None)
    found = service.looked_up(before)
    return found[1].result.depth if found is not None else None


def find_game(games: Sequence[GameDetail], name: str) -> GameDetail:
    """By id, else by a part of a player's name.

    Raises:
        InputError: none, or several.
    """
    for game in games:
        if game.id == name:
            return game
    words = name.casefold().split()
    found = [
        game
        for game in games
        if all(word in f"{game.white.name} {game.black.name}".casefold() for word in words)
    ]
    if len(found) == 1:
        return found[0]
    listed = found or games
    known = ", ".join(f"{each.id} ({each.white.name} - {each.black.name})" for each in listed[:8])
    if len(listed) > 8:
        known += f", or one of {len(listed) - 8} more"
    problem = "fits several games" if found else "is no game of this journal"
    raise InputError(f"game {name!r}", problem, f"Give one of: {known}")
