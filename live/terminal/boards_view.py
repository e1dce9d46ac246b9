"""The view of all boards, two lines a board: White above, Black below.

Names give way on a narrow terminal, figures never do. On a wide one more figures come in; when more
boards are listed than fit one below the other, two columns of boards stand side by side.
"""

from __future__ import annotations

from functools import partial

import msgspec
from rich.cells import cell_len
from rich.text import Text

from live.catalogue import BY_ID
from live.events import GameId
from live.terminal.board_rows import (
    ORDERS,
    BoardOrder,
    BoardRow,
    SideRow,
    clock_style,
    ordered,
    running_first,
)
from live.terminal.palette import Palette
from live.terminal.text import (
    age_text,
    beside,
    clock_left_s,
    clock_text,
    counted,
    figure_cells,
    left,
    matcher,
    odds_bar,
    plain,
    ply_score,
    right,
    sparkline,
    styled,
)
from live.terminal.view_context import KeyHint, ListView, ViewContext, asking, filled

#: From this width on two columns of boards stand side by side, each still with every figure.
TWO_COLUMNS = 164
_GAP = 3
RESULTS = {"1/2-1/2": "½-½", "1/2-0": "½-0", "0-1/2": "0-½"}
_LEAST_NAME, _MOST_NAME = 12, 30
_LEAST_CURVE, _MOST_CURVE = 5, 36


class SideColumn(msgspec.Struct, frozen=True):
    """One figure of a side."""

    name: str
    head: str
    width: int
    to_right: bool = True
    spill: int = 0
    """Cells of its head that reach into what the head before it leaves free."""

    def set(self, text: str, more: int = 0) -> str:
        width = self.width + more
        return right(text, width) if self.to_right else left(text, width)


_FIXED = {
    column.name: column
    for column in (
        SideColumn("elo", "Elo", 4),
        SideColumn("score", "Score", 6),
        SideColumn("odds", "Odds", 6, to_right=False),
        SideColumn("clock", "Clock", 5),
        SideColumn("move", "Move", 9, to_right=False),
        SideColumn("plays", BY_ID["perceived"].head, 5, spill=5),
        SideColumn("usual", BY_ID["perceived"].interval, 9, to_right=False),
        SideColumn("percentile", BY_ID["percentile"].head, 5),
        SideColumn("a4", BY_ID["algorithm4"].head, 4),
        SideColumn("counted", BY_ID["counted"].head, 3),
        SideColumn("age", "Age", 3),
        SideColumn("swing", "Swing", 5),
        SideColumn("first", BY_ID["first_choice"].head, 4),
        SideColumn("loss", BY_ID["centipawn_loss"].head, 4),
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


def heads(plan: BoardListLayout, palette: Palette) -> Text:
    """The heads of one column of boards."""
    text = " " * 2 + right("Bd", 3) + " " + left("Player", plan.name)
    for column in plan.columns:
        room = len(text) - column.spill
        text = text[:room] + " " + column.set(column.head, column.spill)
    return styled(f"{text} {left('Curve', plan.curve)}" if plan.curve else text, palette.dim)


class BoardsView(ListView[BoardRow]):
    name = "Boards"
    empty = "no board is listed"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.order = "board"
        self.reverse = False
        self.alerts_first = False
        self._deep = 1
        self._alerting: set[GameId] = set()

    def draw(self, width: int, height: int) -> list[Text]:
        context, changes = self._context, self._context.changes
        views = list(context.state.games())
        self._deep = max(1, (height - 1) // 2)
        columns = 2 if width >= TWO_COLUMNS and len(views) > self._deep else 1
        if context.keyless:
            views = running_first(views, self._deep * columns)
        ids = [view.id for view in views]
        rows = context.rows.refresh(ids, context.state.game, context.figure)
        changes.feeds(context.state.feeds())
        if self.query:
            matches = matcher(self.query)
            rows = [row for row in rows if matches(row.words(), row.board)]
        self._alerting = asking(context.state.alerts())
        self.listed = ordered(
            rows,
            ORDERS[self.order],
            reverse=self.reverse,
            pinned=context.pinned,
            alerting=self._alerting if self.alerts_first else (),
            age_s=lambda game: changes.age_s(game)[0],
        )
        if len(self.listed) <= self._deep:
            columns = 1
        self.page = self._deep * columns
        seen = self.seen(self.page)
        if not seen:
            text = "No board yet: they appear as soon as a source sends them"
            if self.query:
                text = f"No board matches {self.query!r}: esc shows all"
            return filled([Text(), styled(f"  {text}", context.palette.dim)], height)
        each = (width - _GAP * (columns - 1)) // columns
        plan = layout(each, odds=any(row.odds is not None for row in self.listed))
        blocks = []
        for start in range(0, self.page, self._deep):
            lines = [heads(plan, context.palette)]
            for row in seen[start : start + self._deep]:
                lines += self._board(row, plan)
            blocks.append((lines, each))
        return filled(blocks[0][0] if columns == 1 else beside(blocks, _GAP), height)

    def _board(self, row: BoardRow, plan: BoardListLayout) -> list[Text]:
        """The two lines of one board."""
        context = self._context
        here = row.id == self.cursor and not context.keyless
        age_s, exact = context.changes.age_s(row.id)
        age = age_text(age_s) if row.running else ""
        ours = {
            "age": age if exact or not age else f">{age}"[:3],
            "swing": "" if row.swing_cp is None else f"{row.swing_cp / 100:.2f}",
            "odds": "" if row.odds is None else odds_bar(*row.odds, _FIXED["odds"].width),
        }
        number = str(row.board) if row.board is not None else "·"
        result = "" if row.running else RESULTS.get(row.result, row.result)
        pointer = "▌" if here else " "
        pin = "★" if row.id in context.pinned else pointer
        lines = [
            self._side(row, row.white, pin, number, plan, ours),
            self._side(row, row.black, pointer, result, plan, {}),
        ]
        if here:
            for line in lines:
                line.stylize_before(context.palette.cursor)
        return lines

    def _side(
        self,
        row: BoardRow,
        side: SideRow,
        pin: str,
        number: str,
        plan: BoardListLayout,
        ours: dict[str, str],
    ) -> Text:
        context, palette = self._context, self._context.palette
        white = side is row.white
        sign = "○" if white else "●"
        point, last = side.point, side.last
        new = last is not None and context.changes.is_new(row.id, last.ply)
        line = styled(pin, palette.accent)
        if (row.problem or row.id in self._alerting) and not white:
            line.append("!", palette.bad)
        else:
            line.append("•" if new else " ", palette.warn)
        line.append(right(number, 3) + " ", palette.dim if white else palette.strong)
        name = f"{sign} {side.title} " if side.title else f"{sign} "
        line.append(name, palette.strong)
        line.append(left(side.name, plan.name - cell_len(name)))
        runs = row.white_runs is white
        ran_s = context.changes.ran_s(row.id, row.feed, row.last_ply) if runs else 0.0
        left_s = clock_left_s(last.clock_s, ran_s) if last else None
        plus = context.state.engine().rating
        texts = {
            "elo": str(side.elo or ""),
            "move": side.move,
            "score": ply_score(last) if last else "",
            "clock": clock_text(left_s),
            **figure_cells(point, plus),
            "first": "" if side.first_choice is None else f"{100 * side.first_choice:.0f}%",
            "loss": "" if side.centipawn_loss is None else f"{side.centipawn_loss:.0f}",
            **ours,
        }
        styles = {
            **dict.fromkeys(("elo", "usual", "a4", "counted", "age"), palette.dim),
            "move": palette.changed if new else "",
            # What is early says nothing yet; what is over will not change.
            "plays": palette.dim if side.early else "" if row.running else palette.strong,
            "clock": clock_style(left_s, row.low_clock_s, palette) if row.running else "",
        }
        for column in plan.columns:
            line.append(" ")
            line.append(column.set(texts.get(column.name, "")), styles.get(column.name, ""))
        if row.ratings and plan.curve:
            curve = sparkline(side.curve, plan.curve, *row.ratings)
            line.append(" " + curve, palette.white if white else palette.black)
        return line

    def caption(self) -> str:
        """How the boards are sorted and filtered, and what is wrong with the one selected."""
        if self._context.keyless:
            more = len(list(self._context.state.games())) - len(self.listed)
            return f"and {more} more boards: enlarge the terminal" if more else ""
        first = "alerts, " if self.alerts_first else ""
        turned = " ▴" if self.reverse else ""
        text = self.filtered(f"{counted(len(self.listed), 'board')} by {first}{self.order}{turned}")
        row = self.selected()
        if row is not None and len(self._context.state.feeds()) > 1:
            text += f" · from {plain(row.feed, 24)}"
        if row is not None and row.problem:
            text += f" · ! {row.problem}"
        return text

    # --- keys -------------------------------------------------------------------------------------

    def offers(self) -> list[KeyHint]:
        here = self.selected()
        sideways = "from board to board; ←→ h l between columns of boards"
        return [
            KeyHint("enter", "open", "look at this board in depth", self._open, self.none()),
            *self.filter_keys("list only boards with these words; !word leaves out"),
            KeyHint("", "sort", shown="⇧"),
            *(
                KeyHint(
                    order.key,
                    "",
                    f"sort {order.explained}; again turns it round",
                    partial(self._sort, order),
                )
                for order in ORDERS.values()
            ),
            KeyHint("exclamation_mark", "", "boards with open alerts first, or not", self._up),
            self.move_key(sideways),
            *self._context.board_keys(here.id if here else None),
        ]

    def steps(self) -> dict[str, int]:
        far, deep = len(self.listed), self._deep
        across = {"right": deep, "l": deep, "left": -deep, "h": -deep}
        return {**super().steps(), **across, "g": -far, "G": far}

    def neighbour(self, game: GameId, step: int) -> GameId | None:
        """The board ``step`` places further in the list."""
        ids = [row.id for row in self.listed]
        if game not in ids:
            return ids[0] if ids else None
        return ids[(ids.index(game) + step) % len(ids)]

    def _open(self) -> None:
        self._context.show(self.cursor)

    def _sort(self, order: BoardOrder) -> None:
        self.reverse = not self.reverse if order.name == self.order else False
        self.order = order.name
        turned = ", turned round" if self.reverse else ""
        self._context.notify(f"Sorted {order.explained}{turned}")

    def _up(self) -> None:
        self.alerts_first = not self.alerts_first
        first = "Boards with open alerts first" if self.alerts_first else "Alerts move no board"
        self._context.notify(first)
