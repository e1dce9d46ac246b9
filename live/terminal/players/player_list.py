"""Players and standings as lines, with the column under the cursor explained. Pure."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence

import msgspec
from rich.text import Text

from live.catalogue import BY_ID, EARLY_MOVES, why_missing
from live.events import PlayerView
from live.terminal.line_filter import matcher
from live.terminal.palette import Palette
from live.terminal.players.player_columns import COLUMNS, PlayerColumn, plugin_column
from live.terminal.text_cells import left, plain, right, styled, window

_RANK = 6
#: The column that players are ranked by until somebody chooses.
RANKED = BY_ID["perceived"].name
_LEAST_NAME, _MOST_NAME = 16, 32
#: Lines for the explanation under the table.
EXPLAINED = 3


class PlayerListOptions(msgspec.Struct, frozen=True):
    """How the players are looked at now."""

    palette: Palette
    offered: Sequence[PlayerColumn]
    """Columns that there can be."""
    hidden: Collection[str]
    """Names of the columns that are switched off."""
    column: str
    """Name of the column under the cursor."""
    sort: str
    reverse: bool
    cursor: str | None
    """Id of the player under the cursor."""
    first: int
    engine_rating: int = 0
    """What Algorithm 4 adds its differences to, Elo."""
    alerting: Collection[str] = ()
    """Ids of players on a board with an alert that nobody took note of."""


class PlayerListLine(msgspec.Struct, frozen=True):
    """A line of the list."""

    place: str
    """``3``, ``3=`` where others have the same; empty for whom too little is known of."""
    view: PlayerView


def offered(views: Sequence[PlayerView]) -> list[PlayerColumn]:
    """Columns that there can be; plugins' come last."""
    names = {figure.name for view in views for figure in view.plugins}
    return [*COLUMNS, *(plugin_column(name) for name in sorted(names))]


def listed(
    views: Sequence[PlayerView],
    query: str,
    sort: str,
    *,
    reverse: bool,
    engine_rating: int = 0,
) -> list[PlayerListLine]:
    """Those whom the filter takes, the best first; whose figure is unknown or early last. Places
    count in the whole field, whoever is listed.
    """
    column = next((each for each in offered(views) if each.name == sort), None)
    rows = _by_column(views, column, engine_rating)
    if reverse:
        rows = [row for row in rows if row.place][::-1] + [row for row in rows if not row.place]
    matches = matcher(query)
    return [
        row for row in rows if matches(f"{plain(row.view.name, 60)} {row.view.elo or ''}", None)
    ]


def _by_column(
    views: Sequence[PlayerView], column: PlayerColumn | None, engine_rating: int
) -> list[PlayerListLine]:
    taken = sorted(views, key=lambda view: (view.name, view.id))
    if column is None:
        return [PlayerListLine(str(place), view) for place, view in enumerate(taken, 1)]

    def value(view: PlayerView) -> float | None:
        early = column.name == RANKED and view.counted < EARLY_MOVES
        return None if early else column.value(view, engine_rating)

    found = {view.id: value(view) for view in taken}
    known = [view for view in taken if found[view.id] is not None]
    known.sort(key=lambda view: found[view.id] or 0.0, reverse=not column.least_is_best)
    # What reads the same is a tie.
    texts = [column.text(view, engine_rating) for view in known]
    held = Counter(texts)
    rows = [
        PlayerListLine(f"{texts.index(text) + 1}{'=' if held[text] > 1 else ''}", view)
        for text, view in zip(texts, known, strict=True)
    ]
    return rows + [PlayerListLine("", view) for view in taken if found[view.id] is None]


def fitting(look: PlayerListOptions, width: int) -> tuple[list[PlayerColumn], int]:
    """Columns that fit, the one under the cursor among them, and how many more there are."""
    shown = [each for each in look.offered if each.name not in look.hidden]
    room = width - _RANK - _LEAST_NAME - 1
    at = next((index for index, each in enumerate(shown) if each.name == look.column), 0)
    start = 0
    while start < at and sum(each.width + 1 for each in shown[start : at + 1]) > room:
        start += 1
    taken: list[PlayerColumn] = []
    for each in shown[start:]:
        if each.width + 1 > room:
            break
        room -= each.width + 1
        taken.append(each)
    return taken, len(shown) - len(taken)


def players(
    rows: Sequence[PlayerListLine], width: int, height: int, look: PlayerListOptions
) -> list[Text]:
    """Heads, players, and the explanation of the column under the cursor."""
    palette = look.palette
    columns, more = fitting(look, width)
    used = _RANK + 1 + sum(each.width + 1 for each in columns)
    name = max(_LEAST_NAME, min(_MOST_NAME, width - used))
    body = max(1, height - 2 - EXPLAINED)
    at = next((index for index, row in enumerate(rows) if row.view.id == look.cursor), 0)
    first = window(len(rows), at, body, look.first)
    lines = [_heads(columns, name, look)]
    lines += [_line(row, columns, name, look) for row in rows[first : first + body]]
    lines += [Text() for _ in range(body + 1 - len(lines))]
    lines.append(styled("─" * min(width, used + name), palette.dim))
    return lines + explanation(rows[at].view, width, more, look)


def explanation(view: PlayerView, width: int, more: int, look: PlayerListOptions) -> list[Text]:
    """What the column under the cursor means, and why the player's figure is missing if it is."""
    column = next((each for each in look.offered if each.name == look.column), COLUMNS[0])
    text = f"{column.name}: {column.explained}"
    if column.figure is not None and column.value(view, look.engine_rating) is None:
        text += f" {plain(view.name, 30)}: {plain(why_missing(column.figure, view), 120)}."
    if more:
        text += f" ({more} more columns to the right or left.)"
    lines = textwrap.wrap(text, max(20, width - 2), max_lines=EXPLAINED, placeholder=" …")
    shown = [
        styled(f" {line}", look.palette.accent if not i else "") for i, line in enumerate(lines)
    ]
    return shown + [Text() for _ in range(EXPLAINED - len(shown))]


def _heads(columns: Sequence[PlayerColumn], name: int, look: PlayerListOptions) -> Text:
    palette = look.palette
    line = styled(right("#", _RANK - 1) + "  ", palette.dim)
    line.append(left("Player", name), palette.dim)
    for column in columns:
        here = column.name == look.column
        arrow = ("▴" if look.reverse else "▾") if column.name == look.sort else ""
        line.append(arrow or ("▸" if here else " "), palette.accent)
        style = f"{palette.cursor} {palette.strong}" if here else palette.dim
        line.append(right(column.head, column.width), style)
    return line


def _line(
    row: PlayerListLine, columns: Sequence[PlayerColumn], name: int, look: PlayerListOptions
) -> Text:
    palette, view = look.palette, row.view
    here = view.id == look.cursor
    line = styled("▌" if here else " ", palette.accent)
    line.append(right(row.place, _RANK - 2) + " ", palette.dim)
    line.append("!" if view.id in look.alerting else " ", palette.bad)
    line.append(left(plain(view.name, 40), name), palette.strong if here else palette.text)
    for column in columns:
        style = palette.dim if column.interval else palette.text
        if column.name == RANKED:
            style = palette.dim if view.counted < EARLY_MOVES else palette.strong
        line.append(" " + right(column.text(view, look.engine_rating), column.width), style)
    if here:
        line.stylize_before(palette.cursor)
    return line
