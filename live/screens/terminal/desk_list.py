"""A list of the arbiter's desk, and what is known of the row under the cursor."""

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


#: On a terminal narrower than this a board's number has to do for its players.
NAMES_FROM = 100
#: Of a board with its players.
BOARD_CELLS = 35


def read_number(board: str) -> int | None:
    """Return the board's number, with which its words begin."""
    first = board.partition(" ")[0]
    return int(first) if first.isdecimal() and len(first) < 9 else None


class DeskList(ListView, Generic[Item]):
    """Rows of alerts or incidents; a subclass says which, and how they are written."""

    empty = ""
    """Said where there is none."""

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
        """Return by id, in order, what the filter takes."""
        raise NotImplementedError

    def write_head(self) -> str:
        """Return what stands above the rows."""
        raise NotImplementedError

    def write_row(self, item: Item) -> Text:
        """Return the row of an item."""
        raise NotImplementedError

    def explain(self, item: Item) -> Panel:
        """Return all that is known of the item under the cursor."""
        raise NotImplementedError

    def write_board(self, words: str) -> str:
        """Return a board with its players, whose given names give way; on a narrow
        terminal its number has to do.
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
        here = self.find_selected()
        self._about.show(self.explain(here) if here else [])

    def find_selected(self) -> Item | None:
        """Return what is under the cursor."""
        return self.listed.get(self.rows.cursor or "")

    def write_caption(self, text: str) -> str:
        """Return the caption, without a number where nothing can be known."""
        unknown = not self.listed and self.context.no_desk()
        return self.add_filter("not known here" if unknown else text)

    def open_row(self) -> None:
        here = self.find_selected()
        if here is not None and here.game is not None:
            self.context.show("board", here.game)
        else:
            self.context.notify("This is not about a board")
