"""The view of all boards: sorted, filtered, with a cursor that stays on its board."""

from __future__ import annotations

from rich.text import Text

from live.events import GameId
from live.terminal.alerts.alert_list import asking
from live.terminal.boards.board_list import BoardListOptions, boards, shape
from live.terminal.boards.board_order import ORDERS, ordered
from live.terminal.boards.board_row import BoardRow
from live.terminal.line_filter import board_text, matcher
from live.terminal.text_cells import counted, plain, styled, window
from live.terminal.view_context import ViewContext
from live.terminal.view_frame import KeyHint

_BY_KEY = {order.key: order.name for order in ORDERS.values()}


class BoardsView:
    name = "Boards"

    def __init__(self, context: ViewContext) -> None:
        self._context = context
        self.order = "board"
        self.reverse = False
        self.alerts_first = False
        self.query = ""
        self.cursor: GameId | None = None
        self.listed: list[BoardRow] = []
        """As they were last drawn."""
        self._first = 0
        self._deep = 1
        self._seen: list[GameId] = []

    def draw(self, width: int, height: int) -> list[Text]:
        context = self._context
        rows = context.rows.refresh(
            [view.id for view in context.state.games()],
            context.state.game,
            context.figure,
            seen=self._seen,
        )
        changes = context.changes
        changes.feeds(context.state.feeds())
        matches = matcher(self.query)
        if self.query:
            rows = [row for row in rows if matches(board_text(row), row.board)]
        alerting = asking(context.state.alerts())
        self.listed = ordered(
            rows,
            ORDERS[self.order],
            reverse=self.reverse,
            pinned=context.pinned,
            alerting=alerting if self.alerts_first else (),
            age_s=lambda game: changes.age_s(game)[0],
        )
        if not self.listed:
            self._seen = []
            return self._nothing(height)
        at = self._at()
        self.cursor = self.listed[at].id
        deep, columns = shape(len(self.listed), width, height)
        self._deep = deep
        fits = deep * columns
        self._first = window(len(self.listed), at, fits, self._first)
        self._seen = [row.id for row in self.listed[self._first : self._first + fits]]
        look = BoardListOptions(
            palette=context.palette,
            engine_rating=context.state.engine().rating,
            odds=any(row.odds is not None for row in self.listed),
            cursor=self.cursor,
            pinned=context.pinned,
            alerting=alerting,
            is_new=changes.is_new,
            age_s=changes.age_s,
            ran_s=changes.ran_s,
        )
        lines = boards(self.listed, self._first, width, height, look)
        return [*lines, *(Text() for _ in range(height - len(lines)))]

    def _nothing(self, height: int) -> list[Text]:
        text = (
            f"No board matches {self.query!r}: esc shows all"
            if self.query
            else "No board yet: they appear as soon as a source sends them"
        )
        blank = [Text() for _ in range(height - 2)]
        return [Text(), styled(f"  {text}", self._context.palette.dim), *blank]

    def _at(self) -> int:
        for index, row in enumerate(self.listed):
            if row.id == self.cursor:
                return index
        return 0

    def caption(self) -> str:
        """How the boards are sorted and filtered, and what is wrong with the one selected."""
        parts = [
            f"{counted(len(self.listed), 'board')} by {'alerts, ' if self.alerts_first else ''}"
            f"{self.order}{' ▴' if self.reverse else ''}"
        ]
        if self.query:
            parts.append(f"filter {self.query!r}")
        at = self._at()
        if self.listed and len(self._context.state.feeds()) > 1:
            parts.append(f"from {plain(self.listed[at].feed, 24)}")
        if self.listed and self.listed[at].problem:
            parts.append(f"! {self.listed[at].problem}")
        return " · ".join(parts)

    # --- keys -------------------------------------------------------------------------------------

    def offers(self) -> list[KeyHint]:
        none = "" if self.listed else "no board is listed"
        return [
            KeyHint("enter", "⏎", "open", "look at this board in depth", none),
            KeyHint("slash", "/", "filter", "list only boards with these words; !word leaves out"),
            KeyHint("", "⇧", "sort"),
            *(
                KeyHint(order.key, order.key, "", f"sort {order.explained}; again turns it round")
                for order in ORDERS.values()
            ),
            KeyHint("exclamation_mark", "!", "", "boards with open alerts first, or not"),
            KeyHint(
                "up", "↑↓ j k", "", "from board to board; ←→ h l between columns of boards", none
            ),
            *self._context.board_keys(self.cursor if self.listed else None),
        ]

    def press(self, key: str) -> bool:
        if key in _BY_KEY:
            self._sort(_BY_KEY[key])
        elif key == "exclamation_mark":
            self.alerts_first = not self.alerts_first
            first = "Boards with open alerts first" if self.alerts_first else "Alerts move no board"
            self._context.notify(first)
        elif key in ("down", "j"):
            self._move(1)
        elif key in ("up", "k"):
            self._move(-1)
        elif key in ("right", "l"):
            self._move(self._deep)
        elif key in ("left", "h"):
            self._move(-self._deep)
        elif key == "pagedown":
            self._move(max(1, len(self._seen)))
        elif key == "pageup":
            self._move(-max(1, len(self._seen)))
        elif key in ("home", "g"):
            self._move(-len(self.listed))
        elif key in ("end", "G"):
            self._move(len(self.listed))
        elif key == "enter" and self.listed:
            self._context.show(self.listed[self._at()].id)
        elif key == "slash":
            self._context.ask_filter(self.query, self._filter)
        elif key == "escape" and self.query:
            self.query = ""
        else:
            return self._context.press_board(key, self.cursor if self.listed else None)
        return True

    def neighbour(self, game: GameId, step: int) -> GameId | None:
        """The board ``step`` places further in the list."""
        ids = [row.id for row in self.listed]
        if game not in ids:
            return ids[0] if ids else None
        return ids[(ids.index(game) + step) % len(ids)]

    def _move(self, by: int) -> None:
        if self.listed:
            at = max(0, min(len(self.listed) - 1, self._at() + by))
            self.cursor = self.listed[at].id

    def _sort(self, name: str) -> None:
        self.reverse = not self.reverse if name == self.order else False
        self.order = name
        turned = ", turned round" if self.reverse else ""
        self._context.notify(f"Sorted {ORDERS[name].explained}{turned}")

    def _filter(self, text: str) -> None:
        self.query = text
