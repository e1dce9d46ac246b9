"""Players and standings as lines, with the column under the cursor explained. Pure."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Sequence

import msgspec
from rich.text import Text

from live.events import FigureChoice, PlayerView
from live.ledger.players.leading_figure import standings
from live.terminal.line_filter import matcher
from live.terminal.palette import Palette
from live.terminal.players.player_columns import COLUMNS, PlayerColumn, plugin_column
from live.terminal.text_cells import left, plain, right, styled, window

_RANK = 6
#: Sorted by what is known of everybody's strength.
STANDING = "standing"
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
    leads: str = ""
    """Name of the column that players are ranked by."""
    alerting: Collection[str] = ()
    """Ids of players on a board with an alert that nobody took note of."""


class PlayerListLine(msgspec.Struct, frozen=True):
    """A line of the list."""

    place: str
    """``3``, ``3=`` where others have the same; empty for whom too little is known of."""
    view: PlayerView


def offered(views: Sequence[PlayerView]) -> list[PlayerColumn]:
    """Columns that there can be: not those of which nobody has a figure; plugins' come last."""
    own = [
        column
        for column in COLUMNS
        if not column.new or any(column.text(view) not in ("", "·") for view in views)
    ]
    names = {figure.name for view in views for figure in view.plugins}
    return own + [plugin_column(name) for name in sorted(names)]


def listed(
    views: Sequence[PlayerView],
    query: str,
    sort: str,
    *,
    reverse: bool,
    figure: FigureChoice = "auto",
) -> list[PlayerListLine]:
    """Those whom the filter takes, the greatest first; whose figure is unknown last. Places count
    in the whole field, whoever is listed.
    """
    if sort == STANDING:
        rows = [PlayerListLine(each.text, each.view) for each in standings(views, figure)]
    else:
        rows = _by_column(views, next((each for each in offered(views) if each.name == sort), None))
    if reverse:
        rows = [row for row in rows if row.place][::-1] + [row for row in rows if not row.place]
    matches = matcher(query)
    return [
        row for row in rows if matches(f"{plain(row.view.name, 60)} {row.view.elo or ''}", None)
    ]


def _by_column(views: Sequence[PlayerView], column: PlayerColumn | None) -> list[PlayerListLine]:
    taken = sorted(views, key=lambda view: (view.name, view.id))
    if column is None:
        return [PlayerListLine(str(place), view) for place, view in enumerate(taken, 1)]
    value = column.value
    known = [view for view in taken if value(view) is not None]
    known.sort(key=lambda view: _number(value(view)), reverse=True)
    # What reads the same is a tie.
    texts = [column.text(view) for view in known]
    held = Counter(texts)
    rows = [
        PlayerListLine(f"{texts.index(text) + 1}{'=' if held[text] > 1 else ''}", view)
        for text, view in zip(texts, known, strict=True)
    ]
    return rows + [PlayerListLine("", view) for view in taken if value(view) is None]


def _number(value: float | str | None) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


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
    if column.missing:
        why = view.methods.missing.get(column.missing)
        if why:
            text += f" {plain(view.name, 30)}: {plain(why, 120)}."
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
        style = palette.dim if column.head == "95 %" else palette.text
        if column.name == look.leads:
            style = palette.strong
        line.append(" " + right(column.text(view), column.width), style)
    if here:
        line.stylize_before(palette.cursor)
    return line
