"""A list of alerts or incidents, with the details of the row under the cursor."""

from collections.abc import Mapping
from typing import Generic, TypeVar

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult

from live.messages.alerts import Alert, Incident
from live.screens.terminal.text import (
    Panel,
    begin_line,
    fit,
    fit_name,
    plain,
    wrap_texts,
)
from live.screens.terminal.view_context import ViewContext
from live.screens.terminal.widgets import Lines, ListView

Item = TypeVar("Item", Alert, Incident)


#: Minimum width of a terminal, in cells, on which boards are shown with their players.
NAMES_FROM = 100
#: Width of a board with its players, in cells.
BOARD_CELLS = 35


def read_number(board: str) -> int | None:
    """Return the number at the start of a board's description; None without one."""
    first = board.partition(" ")[0]
    return int(first) if first.isdecimal() and len(first) < 9 else None


class DeskList(ListView, Generic[Item]):
    """List of alerts or incidents; a subclass chooses and writes the rows."""

    empty = ""
    """Text that is shown while the list is empty."""

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.listed: Mapping[str, Item] = {}
        self._heads = Lines(id="heads")
        self._about = Lines(id="about")

    def compose(self) -> ComposeResult:
        yield self._heads
        yield self.rows
        yield self._about

    def find_items(self) -> Mapping[str, Item]:
        """Return the items that match the filter, by id, in the order of the list."""
        raise NotImplementedError

    def write_head(self) -> str:
        """Return the line above the rows."""
        raise NotImplementedError

    def write_row(self, item: Item) -> Text:
        """Return an item's row."""
        raise NotImplementedError

    def explain(self, item: Item) -> Panel:
        """Return the details of the item under the cursor."""
        raise NotImplementedError

    def write_board(self, words: str) -> str:
        """Return a board with its players' names, shortened to fit.

        On a narrow terminal, return only its number.
        """
        number, board = read_number(words), plain(words, 200)
        if number is not None and self.size.width < NAMES_FROM:
            return str(number)
        white, dash, black = board.partition(" – ")
        if not dash or cell_len(board) <= BOARD_CELLS:
            return fit(board, BOARD_CELLS)
        half = (BOARD_CELLS - len(dash)) // 2
        return f"{fit_name(white, half)}{dash}{fit_name(black, half)}"

    def redraw(self) -> None:
        self.listed = self.find_items()
        items = list(self.listed.values())
        lines = [begin_line(self.write_head(), "dim")]
        if unknown := self.context.no_desk():
            lines += wrap_texts([(f"Not known: {unknown}", "warn")], self.size.width, 2)
        elif not items:
            lines.append(begin_line(f"  ✓ {self.empty}", "good"))
        self._heads.show(lines)
        self.rows.show(list(self.listed), lambda at: self.write_row(items[at]))
        item = self.find_selected()
        self._about.show(self.explain(item) if item else [])

    def find_selected(self) -> Item | None:
        """Return the item under the cursor."""
        return self.listed.get(self.rows.cursor or "")

    def write_caption(self, text: str) -> str:
        """Return the caption with the filter; it says so if alerts and log are unknown
        here.
        """
        unknown = not self.listed and self.context.no_desk()
        return self.add_filter("not known here" if unknown else text)

    def open_row(self) -> None:
        item = self.find_selected()
        if item is not None and item.game is not None:
            self.context.show("board", item.game)
        else:
            self.context.notify("This is not about a board")
