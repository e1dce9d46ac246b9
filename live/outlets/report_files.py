"""All files of a report, and of the incident log, as texts by their names. Pure: whoever asks
writes them.

In CSV (RFC 4180, UTF-8) a column is a field of the types in :mod:`live.events`, nested ones joined
by a dot, so the published schema says what each means; several in one cell are parted by
semicolons. Unknown is empty.
"""

import csv
import datetime as dt
import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from html import escape
from typing import Literal, get_args, get_origin

import msgspec

from live.alerts.incident_log import incident_sign, kind_name
from live.events import (
    AnalysedPlayer,
    Color,
    CurvePoint,
    GameDetail,
    GameId,
    Incident,
    IncidentChange,
    Player,
    PlyView,
)
from live.outlets.report_page import document, html, in_order, page, results_page, table
from live.publish.exports import Analysis, export, printable, study_lines, to_json
from live.publish.published_state import gain_counts
from live.publish.visibility import Visibility, shown

Format = Literal["pgn", "csv", "json", "html", "ndjson"]


def texts(
    whole: Analysis,
    formats: Collection[Format],
    *,
    stem: str = "event",
    written: str,
    arbiter: bool = False,
) -> dict[str, str]:
    """File names and what belongs into them: one file a format, five for CSV, and for HTML a sheet
    of the results and the games move by move beside the report, where there are several.

    Args:
        whole: the event, or part of it (:func:`only`).
        formats: which to make.
        stem: what the names begin with.
        written: when, for people.
        arbiter: whether what only arbiters may see is written, screening figures above all.
    """
    whole = shown(whole, Visibility.ARBITER if arbiter else Visibility.PUBLIC)
    found: dict[str, str] = {}
    if "pgn" in formats:
        found[f"{stem}.pgn"] = "\n".join(export(game) for game in whole.games)
    if "csv" in formats:
        found |= {f"{stem}-{name}.csv": text for name, text in _tables(whole)}
    if "json" in formats:
        found[f"{stem}.json"] = to_json(whole).decode()
    if "ndjson" in formats:
        found[f"{stem}.ndjson"] = study_lines(whole)
    if "html" in formats:
        one = len(whole.games) == 1
        found[f"{stem}.html"] = page(whole, written=written, arbiter=arbiter, each_game=one)
        if not one:
            found[f"{stem}-games.html"] = page(whole, written=written, arbiter=arbiter)
            found[f"{stem}-results.html"] = results_page(whole, written=written)
    return found


def only(whole: Analysis, games: Collection[GameId], players: Collection[str]) -> Analysis:
    """The same event as far as these games, and players by the id of their standing."""
    return msgspec.structs.replace(
        whole,
        games=tuple(game for game in whole.games if game.id in games),
        in_doubt=tuple(id for id in whole.in_doubt if id in games),
        players=tuple(view for view in whole.players if view.id in players),
        gains=tuple(each for each in whole.gains if each.player in players),
    )


# --- CSV ----------------------------------------------------------------------------------------

#: A cell that begins so would be worked out as a formula by spreadsheets, not shown.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

_GAME = ("game", "event", "round", "board", "white", "black", "result")
_GAME_FIELDS = ("id", "event", "round", "board", "white.name", "black.name", "result")


_Row = tuple[tuple[object, ...], msgspec.Struct]


def _tables(whole: Analysis) -> Iterator[tuple[str, str]]:
    """Results, every ply of every game, every point of every curve, everybody over all games, and
    gains, by the endings of their names.
    """
    games = whole.games
    heads = ("round", "board", "white", "white_elo", "black", "black_elo", "result", "in_doubt")
    fields = ("round", "board", "white.name", "white.elo", "black.name", "black.elo", "result")
    yield (
        "results",
        rows_text(
            heads,
            ((*_values(game, fields), game.id in whole.in_doubt) for game in in_order(games)),
        ),
    )
    plies = ((_values(game, _GAME_FIELDS), ply) for game in games for ply in game.plies)
    yield "plies", _rows_of(PlyView, _GAME, plies)
    points = (
        ((*_values(game, _GAME_FIELDS), color, player.name), point)
        for game in games
        for color, player, points in _sides(game)
        for point in points
    )
    yield "points", _rows_of(CurvePoint, (*_GAME, "color", "player"), points)
    yield "players", _rows_of(AnalysedPlayer, (), (((), view) for view in whole.players))
    yield "gains", _gains(whole)


def _sides(game: GameDetail) -> tuple[tuple[Color, Player, tuple[CurvePoint, ...]], ...]:
    return ("white", game.white, game.curves.white), ("black", game.black, game.curves.black)


def _rows_of(kind: type[msgspec.Struct], heads: Sequence[str], rows: Iterable[_Row]) -> str:
    """A row for each of a kind, behind what it belongs to."""
    names = _names(kind)
    return rows_text((*heads, *names), ((*lead, *_values(each, names)) for lead, each in rows))


def _gains(whole: Analysis) -> str:
    """How many moves had which gain, at one centipawn: of each player over all games, then of each
    side of each game, and last of the engine itself.
    """
    names = {view.id: view.name for view in whole.players}
    rows: list[Sequence[object]] = [
        ("player", "", "", names.get(each.player), *pair)
        for each in whole.gains
        for pair in each.counts
    ]
    for game in whole.games:
        for color, player, points in _sides(game):
            counts = gain_counts(points)
            rows += (("game", game.id, color, player.name, *pair) for pair in counts)
    rows += (("engine", "", "", whole.engine.name, *pair) for pair in whole.engine_gains)
    return rows_text(("of", "game", "color", "name", "gain_cp", "moves"), rows)


def _names(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Fields as columns; those that hold a struct are its fields."""
    found: list[str] = []
    for field in msgspec.structs.fields(kind):
        kinds = () if get_origin(field.type) is tuple else (field.type, *get_args(field.type))
        inner = [
            each for each in kinds if isinstance(each, type) and issubclass(each, msgspec.Struct)
        ]
        found += [f"{field.name}.{name}" for each in inner for name in _names(each)] or [field.name]
    return tuple(found)


def _values(held: msgspec.Struct, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(_value(held, name) for name in names)


def _value(held: object, path: str) -> object:
    for name in path.split("."):
        held = None if held is None else getattr(held, name)
    if isinstance(held, tuple):
        return "; ".join(": ".join(map(str, msgspec.structs.astuple(each))) for each in held)
    if isinstance(held, dict):
        return "; ".join(f"{key}: {why}" for key, why in held.items())
    return held


def rows_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(names)
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def cell(value: object) -> str:
    """One value; text that a spreadsheet would work out is marked as text by an apostrophe."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    text = printable(value)
    return f"'{text}" if value.startswith(FORMULA) or text.startswith(FORMULA) else text


# --- the incident log -------------------------------------------------------------------------

#: Longest text of an incident that is printed, characters.
_CHARS = 600
_INCIDENT = ("number", "kind", "severity", "board", "game", "ply", "player", "feed")
_HAPPENED = ("at", "what", "text")


def incident_texts(
    incidents: Sequence[Incident],
    formats: Collection[str],
    *,
    stem: str,
    title: str,
    written: str,
    zone: dt.tzinfo,
) -> dict[str, str]:
    """File names and what belongs into them. ``written`` says when and of which moment."""
    found: dict[str, str] = {}
    if "csv" in formats:
        found[f"{stem}-incidents.csv"] = incidents_csv(incidents, zone)
    if "json" in formats:
        found[f"{stem}-incidents.json"] = to_json({"incidents": incidents}).decode()
    if "html" in formats:
        found[f"{stem}-incidents.html"] = _incidents_page(incidents, title, written, zone)
    return found


def incidents_csv(incidents: Sequence[Incident], zone: dt.tzinfo) -> str:
    """A row for each thing that happened, in the order of the incidents."""
    rows = (
        (*_values(each, _INCIDENT), moment(change.at_s, zone), change.what, change.text)
        for each in incidents
        for change in each.changes
    )
    return rows_text((*_INCIDENT, *_HAPPENED), rows)


def _incidents_page(
    incidents: Sequence[Incident], title: str, written: str, zone: dt.tzinfo
) -> str:
    """One self-contained page, with a place for the signature."""
    heads = ("Over", "Board", "What", "What happened to it")
    columns = [("No.", "n"), ("Began", "n"), *((head, "") for head in heads)]
    rows = [_row(each, zone) for each in incidents]
    open_ones = sum(each.over_s is None for each in incidents)
    count = f"{len(incidents)} incident{'' if len(incidents) == 1 else 's'}, {open_ones} open"
    return document(
        f"{title}: incidents",
        f'<p class="lead">{count} · {html(written)} by live-rate</p>',
        _blanks("Round", "Hall"),
        table(columns, rows),
        "<p>An alert is a reason to look, and accuses nobody.</p>",
        _blanks("Arbiter", "Date", "Signature"),
    )


def _blanks(*names: str) -> str:
    """Room to write by hand."""
    blank = 22 * "_"
    return f"<p>{' &nbsp; '.join(f'{name}: {blank}' for name in names)}</p>"


def _row(each: Incident, zone: dt.tzinfo) -> tuple[str, ...]:
    day = moment(each.began_s, zone)[:10]
    happened = "<br>".join(html(change_line(at, zone, day), _CHARS) for at in each.changes)
    return (
        str(each.number),
        escape(moment(each.began_s, zone)),
        "<b>open</b>" if each.over_s is None else escape(moment(each.over_s, zone, day)),
        html(each.board, 80),
        html(f"{incident_sign(each)} {kind_name(each.kind)}", 80),
        happened,
    )


def change_line(change: IncidentChange, zone: dt.tzinfo, day: str) -> str:
    """``15:04:05 noted: draw offer disputed``; with the date where it is not ``day``."""
    text = f": {change.text}" if change.text else ""
    return f"{moment(change.at_s, zone, day)} {change.what}{text}"


def moment(at_s: float, zone: dt.tzinfo, day: str = "") -> str:
    """``2026-05-01 15:04:05 +0200``; the time alone on that ``day``."""
    at = dt.datetime.fromtimestamp(at_s, zone)
    if day and at.strftime("%Y-%m-%d") == day:
        return at.strftime("%H:%M:%S")
    return at.strftime("%Y-%m-%d %H:%M:%S %z")
