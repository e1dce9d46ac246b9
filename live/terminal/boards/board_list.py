"""All boards as lines, two a board: White above, Black below. Pure.

Names give way on a narrow terminal, figures never do. On a wide one more figures come in; when more
boards are listed than fit one below the other, two columns of boards stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec
from rich.cells import cell_len
from rich.text import Text

from live.events import FeedName, GameId
from live.ledger.players.leading_figure import FigureScale
from live.terminal.boards.board_row import BoardRow, SideRow
from live.terminal.figure_text import (
    age_text,
    clock_left_s,
    clock_text,
    odds_bar,
    signed,
    sparkline,
)
from live.terminal.low_clocks import clock_style
from live.terminal.palette import Palette
from live.terminal.text_cells import beside, left, right, styled

#: From this width on two columns of boards stand side by side, each still with every figure.
TWO_COLUMNS = 164
_GAP = 3
RESULTS = {"1/2-1/2": "½-½", "1/2-0": "½-0", "0-1/2": "0-½"}
_LEAST_NAME, _MOST_NAME = 12, 30
_LEAST_CURVE, _MOST_CURVE = 6, 36


class SideColumn(msgspec.Struct, frozen=True):
    """One figure of a side."""

    name: str
    head: str
    width: int
    to_right: bool = True


_FIXED = {
    column.name: column
    for column in (
        SideColumn("elo", "Elo", 4),
        SideColumn("move", "Move", 11, to_right=False),
        SideColumn("score", "Score", 7),
        SideColumn("odds", "Odds", 6, to_right=False),
        SideColumn("clock", "Clock", 5),
        SideColumn("level", "Level", 5),
        SideColumn("level_interval", "95 %", 9, to_right=False),
        SideColumn("percentile", "Pct", 4),
        SideColumn("alone", "Alone", 5),
        SideColumn("alone_interval", "95 %", 9, to_right=False),
        SideColumn("counted", "n", 3),
        SideColumn("a4", "A4", 5),
        SideColumn("a4_interval", "95 %", 9, to_right=False),
        SideColumn("age", "Age", 3),
        SideColumn("form", "Form", 4),
        SideColumn("swing", "Swing", 5),
        SideColumn("first", "1st", 4),
        SideColumn("loss", "Loss", 4),
    )
}
#: What there is always, and what comes in as the terminal gets wider, in this order.
_BASE: dict[FigureScale, tuple[str, ...]] = {
    "level": ("elo", "move", "score", "clock", "level", "level_interval", "percentile"),
    "alone": ("elo", "move", "score", "clock", "alone", "alone_interval", "counted"),
    "algorithm4": ("elo", "move", "score", "clock", "a4", "a4_interval", "counted"),
}
_MORE: dict[FigureScale, tuple[str, ...]] = {
    "level": ("counted", "age", "alone", "alone_interval", "form", "swing", "a4", "first", "loss"),
    "alone": ("age", "swing", "a4", "first", "loss"),
    "algorithm4": ("age", "swing", "first", "loss"),
}
#: From this width of a column of boards on, odds and curve stand beside each other; on a narrower
#: one the odds take the curve's place.
_ODDS_AND_CURVE = 96


class BoardListLayout(msgspec.Struct, frozen=True):
    """Which figures one column of boards shows, and how wide."""

    width: int
    name: int
    columns: tuple[SideColumn, ...]
    curve: int


def layout(width: int, scale: FigureScale, *, odds: bool) -> BoardListLayout:
    """The most figures that leave the names some room; ``odds``: whether anybody knows them."""
    names = list(_BASE[scale])
    least_curve = _LEAST_CURVE if width >= _ODDS_AND_CURVE or not odds else 0
    if odds:
        names.append("odds")
    # Marks, board number, and the gaps around name and curve.
    free = width - 2 - 3 - 1 - (least_curve + 1 if least_curve else 0)
    free -= sum(_FIXED[name].width + 1 for name in names)
    comfortable = _LEAST_NAME + 6
    for name in _MORE[scale]:
        if free - _FIXED[name].width - 1 >= comfortable:
            names.append(name)
            free -= _FIXED[name].width + 1
            comfortable = min(comfortable + 2, _MOST_NAME)
    spare = max(0, free - comfortable) if least_curve else 0
    name_width = max(_LEAST_NAME, min(_MOST_NAME, free - spare // 2))
    curve = min(_MOST_CURVE, _LEAST_CURVE + free - name_width) if least_curve else 0
    columns = tuple(_FIXED[name] for name in _FIXED if name in names)
    return BoardListLayout(width, name_width, columns, max(0, curve))


def list_scale(rows: Sequence[BoardRow]) -> FigureScale:
    """What the list shows of everybody: the best scale that a board has."""
    scales = {row.scale for row in rows}
    return next((scale for scale in _BASE if scale in scales), "algorithm4")


def capacity(width: int, height: int) -> tuple[int, int]:
    """How many boards stand one below the other, and how many columns of boards there can be."""
    return max(1, (height - 1) // 2), 2 if width >= TWO_COLUMNS else 1


def shape(number: int, width: int, height: int) -> tuple[int, int]:
    """Boards in a column and columns used for ``number`` boards."""
    rows, most = capacity(width, height)
    return rows, most if number > rows else 1


class BoardListOptions(msgspec.Struct, frozen=True):
    """How the list is looked at now."""

    palette: Palette
    scale: FigureScale
    odds: bool
    """Whether anybody knows how likely results are."""
    cursor: GameId | None
    pinned: Collection[GameId]
    alerting: Collection[GameId]
    """Boards with an alert that nobody took note of."""
    is_new: Callable[[GameId, int], bool]
    """Whether this ply of a board is a moment old."""
    age_s: Callable[[GameId], tuple[float, bool]]
    ran_s: Callable[[GameId, FeedName, int], float]
    """How long the clock of the side to move has run."""


def boards(
    rows: Sequence[BoardRow], first: int, width: int, height: int, look: BoardListOptions
) -> list[Text]:
    """Heads and the boards from ``first`` on: at most ``height`` lines."""
    deep, columns = shape(len(rows), width, height)
    each = (width - _GAP * (columns - 1)) // columns
    plan = layout(each, look.scale, odds=look.odds)
    blocks = []
    for column in range(columns):
        start = first + column * deep
        lines = [heads(plan, look)]
        for row in rows[start : start + deep]:
            lines += board_lines(row, plan, look)
        blocks.append((lines, each))
    return blocks[0][0] if columns == 1 else beside(blocks, _GAP)


def heads(plan: BoardListLayout, look: BoardListOptions) -> Text:
    """The heads of one column of boards."""
    cells = [" " * 2 + right("Bd", 3), left("Player", plan.name)]
    cells += [_set(column, column.head) for column in plan.columns]
    if plan.curve:
        cells.append(left("Curve", plan.curve))
    return styled(" ".join(cells), style=look.palette.dim)


def board_lines(row: BoardRow, plan: BoardListLayout, look: BoardListOptions) -> list[Text]:
    """The two lines of one board."""
    under = look.palette.cursor if row.id == look.cursor else ""
    number = str(row.board) if row.board is not None else "·"
    age_s, exact = look.age_s(row.id)
    age = age_text(age_s) if row.running else ""
    age = age if exact or not age else f">{age}"[:3]
    swing = "" if row.swing_cp is None else f"{row.swing_cp / 100:.2f}"
    odds = "" if row.odds is None else odds_bar(*row.odds, _FIXED["odds"].width)
    ours = {"age": age, "swing": swing, "odds": odds}
    result = "" if row.running else RESULTS.get(row.result, row.result)
    pin = "★" if row.id in look.pinned else "▌" if under else " "
    top = _line(row, row.white, "○", number, pin, plan, look, ours)
    below = _line(row, row.black, "●", result, "▌" if under else " ", plan, look, {})
    if under:
        for line in (top, below):
            line.stylize_before(under)
    return [top, below]


def _line(
    row: BoardRow,
    side: SideRow,
    sign: str,
    number: str,
    pin: str,
    plan: BoardListLayout,
    look: BoardListOptions,
    ours: dict[str, str],
) -> Text:
    palette = look.palette
    new = side.ply > 0 and look.is_new(row.id, side.ply)
    line = Text(no_wrap=True)
    line.append(pin, palette.accent)
    if (row.problem or row.id in look.alerting) and sign == "●":
        line.append("!", palette.bad)
    else:
        line.append("•" if new else " ", palette.warn)
    line.append(right(number, 3) + " ", palette.strong if sign == "●" else palette.dim)
    name = f"{sign} {side.title} " if side.title else f"{sign} "
    line.append(name, palette.strong)
    line.append(left(side.name, plan.name - cell_len(name)))
    runs = row.white_runs is (sign == "○")
    ran_s = look.ran_s(row.id, row.feed, row.last_ply) if runs else 0.0
    left_s = clock_left_s(side.clock_s, ran_s)
    texts = {
        "elo": str(side.elo or ""),
        "move": side.move,
        "score": side.score,
        "clock": clock_text(left_s),
        "level": side.level,
        "level_interval": side.level_interval,
        "percentile": side.percentile,
        "alone": side.alone,
        "alone_interval": side.alone_interval,
        "counted": str(side.counted or ""),
        "a4": side.a4,
        "a4_interval": side.a4_interval,
        "form": signed(side.form),
        "first": "" if side.first_choice is None else f"{100 * side.first_choice:.0f}%",
        "loss": side.loss,
        **ours,
    }
    styles = {
        "elo": palette.dim,
        "move": palette.changed if new else "",
        "level_interval": palette.dim,
        "alone_interval": palette.dim,
        "a4_interval": palette.dim,
        "counted": palette.dim,
        "age": palette.dim,
    }
    if row.running:
        styles["clock"] = clock_style(left_s, row.low_clock_s, palette)
    if side.leads is not None:
        styles["a4" if side.leads == "algorithm4" else side.leads] = palette.strong
    for column in plan.columns:
        line.append(" ")
        line.append(_set(column, texts.get(column.name, "")), styles.get(column.name, ""))
    if row.ratings and plan.curve:
        curve = sparkline(side.curve, plan.curve, *row.ratings)
        line.append(" " + curve, palette.white if sign == "○" else palette.black)
    return line


def _set(column: SideColumn, text: str) -> str:
    return right(text, column.width) if column.to_right else left(text, column.width)
