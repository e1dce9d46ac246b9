"""Plies, curve points and players as CSV (RFC 4180, UTF-8). Pure.

A column is a field of the types in :mod:`live.events`, nested ones joined by a dot, so the
published schema says what each means; several in one cell are parted by semicolons. Unknown is
empty.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args, get_origin

import msgspec

from live.events import Color, CurvePoint, GameDetail, PlayerView, PlyView
from live.publish.export.analysis_json import Analysis
from live.publish.published_state import gain_counts

#: A cell that begins so would be worked out as a formula by spreadsheets, not shown.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

_GAME = ("game", "event", "round", "board", "white", "black", "result")


def plies(games: Iterable[GameDetail]) -> str:
    """Every ply of every game."""
    names = _names(PlyView)
    rows = ((*_about(game), *_values(ply, names)) for game in games for ply in game.plies)
    return _text((*_GAME, *names), rows)


def points(games: Iterable[GameDetail]) -> str:
    """Every point of every curve."""
    names = _names(CurvePoint)
    return _text((*_GAME, "color", "player", *names), _points(games, names))


def _points(games: Iterable[GameDetail], names: Sequence[str]) -> Iterator[Sequence[object]]:
    for game in games:
        for color in get_args(Color):
            player = getattr(game, color).name
            for point in getattr(game.curves, color):
                yield (*_about(game), color, player, *_values(point, names))


def players(views: Iterable[PlayerView]) -> str:
    """Everybody over all games."""
    names = _names(PlayerView)
    return _text(names, (_values(view, names) for view in views))


def gains(whole: Analysis) -> str:
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
        for color in get_args(Color):
            points: Sequence[CurvePoint] = getattr(game.curves, color)
            name = getattr(game, color).name
            rows += (("game", game.id, color, name, *pair) for pair in gain_counts(points))
    rows += (("engine", "", "", whole.engine.name, *pair) for pair in whole.engine_gains)
    return _text(("of", "game", "color", "name", "gain_cp", "moves"), rows)


def _about(game: GameDetail) -> tuple[object, ...]:
    return (
        game.id,
        game.event,
        game.round,
        game.board,
        game.white.name,
        game.black.name,
        game.result,
    )


def _names(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """Fields as columns; those that hold a struct are its fields."""
    found: list[str] = []
    for field in msgspec.structs.fields(kind):
        inner = _struct(field.type)
        if inner is None:
            found.append(field.name)
        else:
            found += [f"{field.name}.{name}" for name in _names(inner)]
    return tuple(found)


def _struct(kind: object) -> type[msgspec.Struct] | None:
    if get_origin(kind) is tuple:
        return None
    for each in (kind, *get_args(kind)):
        if isinstance(each, type) and issubclass(each, msgspec.Struct):
            return each
    return None


def _values(held: msgspec.Struct, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(_value(held, name.split(".")) for name in names)


def _value(held: object, path: Sequence[str]) -> object:
    for name in path:
        if held is None:
            return None
        held = getattr(held, name)
    if isinstance(held, tuple):
        return "; ".join(": ".join(map(str, msgspec.structs.astuple(each))) for each in held)
    if isinstance(held, dict):
        return "; ".join(f"{key}: {why}" for key, why in held.items())
    return held


def _text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(names)
    writer.writerows([cell(value) for value in row] for row in rows)
    return out.getvalue()


def cell(value: object) -> str:
    """One value; text that a spreadsheet would work out is marked as text by an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = "".join(char if char.isprintable() else " " for char in value)
        return f"'{text}" if value.startswith(FORMULA) or text.startswith(FORMULA) else text
    return str(value)
