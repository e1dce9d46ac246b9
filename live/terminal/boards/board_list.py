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
from live.terminal.boards.board_row import BoardRow, SideRow
from live.terminal.figure_text import (
    age_text,
    clock_left_s,
    clock_text,
    odds_bar,
    rating_text,
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
        SideColumn("move", "Move", 9, to_right=False),
        SideColumn("score", "Score", 6),
        SideColumn("odds", "Odds", 6, to_right=False),
        SideColumn("clock", "Clock", 5),
        SideColumn("plays", "Plays", 5),
        SideColumn("usual", "usual", 9, to_right=False),
        SideColumn("percentile", "Pct", 4),
        SideColumn("a4", "A4", 4),
        SideColumn("counted", "n", 3),
        SideColumn("age", "Age", 3),
        SideColumn("swing", "Swing", 5),
        SideColumn("first", "1st", 4),
        SideColumn("loss", "Loss", 4),
    )
}
#: What there is always, and what comes in as the terminal gets wider, in this order.
_BASE = ("elo", "move", "clock", "plays", "usual", "percentile", "a4", "counted")
_MORE = ("score", "age", "odds", "swing", "first", "loss")


class BoardListLayout(msgspec.Struct, frozen=True):
    """Which figures one column of boards shows, and how wide."""

    width: int
    name: int
    columns: tuple[SideColumn, ...]
    curve: int


def layout(width: int, *, odds: bool) -> BoardListLayout:
    """The most figures that leave the names some room; ``odds``: whether anybody knows them."""
    names = list(_BASE)
    # Marks, board number, and the gaps around name and curve.
    free = width - 2 - 3 - 1 - (_LEAST_CURVE + 1)
    free -= sum(_FIXED[name].width + 1 for name in names)
    comfortable = _LEAST_NAME + 4
    for name in _MORE:
        if name == "odds" and not odds:
            continue
        if free - _FIXED[name].width - 1 >= comfortable:
            names.append(name)
            free -= _FIXED[name].width + 1
            comfortable = min(comfortable + 2, _MOST_NAME)
    spare = max(0, free - comfortable)
    name_width = max(_LEAST_NAME, min(_MOST_NAME, free - spare // 2))
    curve = max(0, min(_MOST_CURVE, _LEAST_CURVE + free - name_width))
    columns = tuple(_FIXED[name] for name in _FIXED if name in names)
    return BoardListLayout(width, name_width, columns, curve)


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
    engine_rating: int
    """What Algorithm 4 adds its differences to, Elo."""
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
    plan = layout(each, odds=look.odds)
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
        "plays": side.plays,
        "usual": side.usual,
        "percentile": side.percentile,
        "counted": str(side.counted or ""),
        "a4": "·" if side.difference is None else rating_text(look.engine_rating + side.difference),
        "first": "" if side.first_choice is None else f"{100 * side.first_choice:.0f}%",
        "loss": side.loss,
        **ours,
    }
    styles = {
        "elo": palette.dim,
        "move": palette.changed if new else "",
        "usual": palette.dim,
        "a4": palette.dim,
        # What is early says nothing yet; what is over will not change.
        "plays": palette.dim if side.early else "" if row.running else palette.strong,
        "counted": palette.dim,
        "age": palette.dim,
    }
    if row.running:
        styles["clock"] = clock_style(left_s, row.low_clock_s, palette)
    for column in plan.columns:
        line.append(" ")
        line.append(_set(column, texts.get(column.name, "")), styles.get(column.name, ""))
    if row.ratings and plan.curve:
        curve = sparkline(side.curve, plan.curve, *row.ratings)
        line.append(" " + curve, palette.white if sign == "○" else palette.black)
    return line


def _set(column: SideColumn, text: str) -> str:
    return right(text, column.width) if column.to_right else left(text, column.width)
