"""All files of a report and of the incident log, as texts by file name. Pure: the
caller writes the files.

Each column of a CSV file (RFC 4180, UTF-8) is a field of a type in :mod:`live.messages`
and is explained in its published schema. Dots join the names of nested fields.
Semicolons separate several values in a cell. An unknown value is an empty cell.
"""

import csv
import datetime as dt
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape
from typing import Literal, get_args, get_origin

import msgspec

from live.messages.alerts import Incident, IncidentChange
from live.messages.figures import AnalysedPlayer, CurvePoint, GameDetail, PlyView
from live.messages.from_sources import Player
from live.messages.values import Color, GameId
from live.screens.reports.report_page import (
    escape_html,
    render_document,
    render_report,
    render_results,
    render_table,
    sort_games,
)
from live.server.analysis import Analysis, to_json, write_study_lines
from live.server.pgn_writer import replace_unprintable, write_game
from live.server.visibility import Visibility, redact
from live.watch.incident_log import incident_sign, kind_name

Format = Literal["pgn", "csv", "json", "html", "ndjson"]


def build_files(
    whole: Analysis,
    formats: Collection[Format],
    *,
    stem: str = "event",
    written: str,
    arbiter: bool = False,
) -> dict[str, str]:
    """Return the report's files, as texts by file name.

    Each format gives one file, but CSV gives five. HTML gives three if there are
    several games: the report, a sheet of results and a page with all moves.

    Args:
        whole: the event, or part of it (:func:`select_part`).
        formats: the formats to write.
        stem: the beginning of every file name.
        written: the time of the report, as shown to people.
        arbiter: whether to include what only arbiters are allowed to see, such as
            screening figures.
    """
    whole = redact(whole, Visibility.ARBITER if arbiter else Visibility.PUBLIC)
    files: dict[str, str] = {}
    if "pgn" in formats:
        files[f"{stem}.pgn"] = "\n".join(write_game(game) for game in whole.games)
    if "csv" in formats:
        files |= {f"{stem}-{name}.csv": text for name, text in _build_tables(whole)}
    if "json" in formats:
        files[f"{stem}.json"] = to_json(whole).decode()
    if "ndjson" in formats:
        files[f"{stem}.ndjson"] = write_study_lines(whole)
    if "html" in formats:
        is_single_game = len(whole.games) == 1
        files[f"{stem}.html"] = render_report(
            whole, written=written, arbiter=arbiter, each_game=is_single_game
        )
        if not is_single_game:
            files[f"{stem}-games.html"] = render_report(
                whole, written=written, arbiter=arbiter
            )
            files[f"{stem}-results.html"] = render_results(whole, written=written)
    return files


def select_part(
    whole: Analysis, games: Collection[GameId], players: Collection[str]
) -> Analysis:
    """Return the part of the event with these games and players.

    Args:
        whole: the event.
        games: ids of the games to keep.
        players: ids of the players to keep, as used in the standings.
    """
    return msgspec.structs.replace(
        whole,
        games=tuple(game for game in whole.games if game.id in games),
        in_doubt=tuple(id for id in whole.in_doubt if id in games),
        players=tuple(view for view in whole.players if view.id in players),
        gains=tuple(gain for gain in whole.gains if gain.player in players),
    )


# --- CSV ------------------------------------------------------------------------------

#: Spreadsheets evaluate a cell as a formula if it begins with one of these characters.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

#: First columns of a row about a move or a curve point, each with a field of the game.
_GAME_COLUMNS = {
    "game": "id",
    "event": "event",
    "round": "round",
    "board": "board",
    "white": "white.name",
    "black": "black.name",
    "result": "result",
}
#: Columns of the table of results, each with a field of the game.
_RESULT_COLUMNS = {
    "round": "round",
    "board": "board",
    "white": "white.name",
    "white_elo": "white.elo",
    "black": "black.name",
    "black_elo": "black.elo",
    "result": "result",
}

_Row = tuple[tuple[object, ...], msgspec.Struct]


def _build_tables(whole: Analysis) -> Iterator[tuple[str, str]]:
    """Yield five tables, each as its name and its CSV text.

    The tables are: results, plies, points of the curves, players, gains.
    """
    results = []
    for game in sort_games(whole.games):
        fields = _read_values(game, _RESULT_COLUMNS.values())
        results.append((*fields, game.id in whole.in_doubt))
    yield "results", format_csv((*_RESULT_COLUMNS, "in_doubt"), results)
    plies: list[_Row] = []
    points: list[_Row] = []
    for game in whole.games:
        lead = _read_values(game, _GAME_COLUMNS.values())
        plies += ((lead, ply) for ply in game.plies)
        for color, player, curve in _list_sides(game):
            points += (((*lead, color, player.name), point) for point in curve)
    yield "plies", _format_rows_of(PlyView, (*_GAME_COLUMNS,), plies)
    heads = (*_GAME_COLUMNS, "color", "player")
    yield "points", _format_rows_of(CurvePoint, heads, points)
    players: list[_Row] = [((), view) for view in whole.players]
    yield "players", _format_rows_of(AnalysedPlayer, (), players)
    yield "gains", _format_gains(whole)


def _list_sides(
    game: GameDetail,
) -> tuple[tuple[Color, Player, tuple[CurvePoint, ...]], ...]:
    return ("white", game.white, game.curves.white), (
        "black",
        game.black,
        game.curves.black,
    )


def _format_rows_of(
    kind: type[msgspec.Struct], heads: Sequence[str], rows: Iterable[_Row]
) -> str:
    """Return a CSV table; a row has the leading cells and the fields of one struct."""
    names = _list_columns(kind)
    return format_csv(
        (*heads, *names),
        ((*lead, *_read_values(record, names)) for lead, record in rows),
    )


def _format_gains(whole: Analysis) -> str:
    """Return a CSV table that counts moves by their gain, in steps of one centipawn.

    The counts are given for each player over all games, for each side of each game, and
    for the engine.
    """
    names = {view.id: view.name for view in whole.players}
    rows: list[Sequence[object]] = []
    for gain in whole.gains:
        name = names.get(gain.player)
        rows += (("player", "", "", name, *pair) for pair in gain.counts)
    for game in whole.games:
        for color, player, points in _list_sides(game):
            # ``n`` is 0 in a game that one side never began; such gains do not count.
            counts = sorted(
                Counter(point.gain_cp for point in points if point.n).items()
            )
            rows += (("game", game.id, color, player.name, *pair) for pair in counts)
    rows += (
        ("engine", "", "", whole.engine.name, *pair) for pair in whole.engine_gains
    )
    return format_csv(("of", "game", "color", "name", "gain_cp", "moves"), rows)


def _list_columns(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a type as columns; a field whose type is a struct becomes
    that struct's fields.
    """
    columns: list[str] = []
    for field in msgspec.structs.fields(kind):
        kinds = (
            ()
            if get_origin(field.type) is tuple
            else (field.type, *get_args(field.type))
        )
        inner: list[str] = []
        for part in kinds:
            if isinstance(part, type) and issubclass(part, msgspec.Struct):
                inner += (f"{field.name}.{name}" for name in _list_columns(part))
        columns += inner or [field.name]
    return tuple(columns)


def _read_values(struct: msgspec.Struct, names: Iterable[str]) -> tuple[object, ...]:
    return tuple(_read_value(struct, name) for name in names)


def _read_value(value: object, path: str) -> object:
    for name in path.split("."):
        value = None if value is None else getattr(value, name)
    if isinstance(value, tuple):
        rows = map(msgspec.structs.astuple, value)
        return "; ".join(": ".join(map(str, row)) for row in rows)
    if isinstance(value, dict):
        return "; ".join(f"{key}: {text}" for key, text in value.items())
    return value


def format_csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a CSV table; ``names`` are the column heads."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(names)
    writer.writerows(map(format_cell, row) for row in rows)
    return out.getvalue()


def format_cell(value: object) -> str:
    """Return one value as text, with an apostrophe before text that a spreadsheet would
    evaluate.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        text = str(value)
        return text.lower() if isinstance(value, bool) else text
    text = replace_unprintable(value)
    return f"'{text}" if value.startswith(FORMULA) or text.startswith(FORMULA) else text


# --- the incident log -----------------------------------------------------------------

#: Longest text of an incident that is printed, in characters.
_CHARS = 600
_INCIDENT = ("number", "kind", "severity", "board", "game", "ply", "player", "feed")
_HAPPENED = ("at", "what", "text")


def build_incident_files(
    incidents: Sequence[Incident],
    formats: Collection[str],
    *,
    stem: str,
    title: str,
    written: str,
    zone: dt.tzinfo,
) -> dict[str, str]:
    """Return the incident log's files, as texts by file name.

    Args:
        incidents: the incidents, in the order they began.
        formats: the formats to write.
        stem: the beginning of every file name.
        title: the title of the page.
        written: the time up to which the log is complete, as shown to people.
        zone: the time zone of the printed times.
    """
    files: dict[str, str] = {}
    if "csv" in formats:
        files[f"{stem}-incidents.csv"] = format_incidents_csv(incidents, zone)
    if "json" in formats:
        files[f"{stem}-incidents.json"] = to_json({"incidents": incidents}).decode()
    if "html" in formats:
        files[f"{stem}-incidents.html"] = _render_incidents(
            incidents, title, written, zone
        )
    return files


def format_incidents_csv(incidents: Sequence[Incident], zone: dt.tzinfo) -> str:
    """Return a CSV table with a row for each change of each incident, in order."""
    rows: list[Sequence[object]] = []
    for incident in incidents:
        lead = _read_values(incident, _INCIDENT)
        for change in incident.changes:
            at = format_moment(change.at_s, zone)
            rows.append((*lead, at, change.what, change.text))
    return format_csv((*_INCIDENT, *_HAPPENED), rows)


def _render_incidents(
    incidents: Sequence[Incident], title: str, written: str, zone: dt.tzinfo
) -> str:
    """Return the log as a self-contained HTML page with a line for a signature."""
    heads = ("Over", "Board", "What", "What happened to it")
    columns = [("No.", "n"), ("Began", "n"), *((head, "") for head in heads)]
    rows = [_render_incident(incident, zone) for incident in incidents]
    open_count = sum(incident.over_s is None for incident in incidents)
    ending = "" if len(incidents) == 1 else "s"
    count = f"{len(incidents)} incident{ending}, {open_count} open"
    return render_document(
        f"{title}: incidents",
        f'<p class="lead">{count} · {escape_html(written)} by live-rate</p>',
        _render_blanks("Round", "Hall"),
        render_table(columns, rows),
        "<p>An alert is a reason to look, and accuses nobody.</p>",
        _render_blanks("Arbiter", "Date", "Signature"),
    )


def _render_blanks(*names: str) -> str:
    """Return an HTML paragraph with a blank to fill in by hand for each name."""
    blank = 22 * "_"
    return f"<p>{' &nbsp; '.join(f'{name}: {blank}' for name in names)}</p>"


def _render_incident(incident: Incident, zone: dt.tzinfo) -> tuple[str, ...]:
    day = format_moment(incident.began_s, zone)[:10]
    changes = "<br>".join(
        escape_html(format_incident_change(at, zone, day), _CHARS)
        for at in incident.changes
    )
    return (
        str(incident.number),
        escape(format_moment(incident.began_s, zone)),
        "<b>open</b>"
        if incident.over_s is None
        else escape(format_moment(incident.over_s, zone, day)),
        escape_html(incident.board, 80),
        escape_html(f"{incident_sign(incident)} {kind_name(incident.kind)}", 80),
        changes,
    )


def format_incident_change(change: IncidentChange, zone: dt.tzinfo, day: str) -> str:
    """Return a text such as ``15:04:05 noted: draw offer disputed``; with the date if
    it is not ``day``.
    """
    text = f": {change.text}" if change.text else ""
    return f"{format_moment(change.at_s, zone, day)} {change.what}{text}"


def format_moment(at_s: float, zone: dt.tzinfo, day: str = "") -> str:
    """Return a text such as ``2026-05-01 15:04:05 +0200``; only the time if the date is
    ``day``.
    """
    at = dt.datetime.fromtimestamp(at_s, zone)
    if day and at.strftime("%Y-%m-%d") == day:
        return at.strftime("%H:%M:%S")
    return at.strftime("%Y-%m-%d %H:%M:%S %z")
