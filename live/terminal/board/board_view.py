"""The view of one board: a cursor in its moves, and one panel or all."""

from __future__ import annotations

from rich.text import Text

from live.alerts.finding import in_order
from live.events import GameId
from live.terminal.alerts.alert_list import asks, point_of
from live.terminal.board.board_card import PANELS, BoardCardOptions, board_card
from live.terminal.boards.boards_view import BoardsView
from live.terminal.text_cells import styled
from live.terminal.view_context import ViewContext
from live.terminal.view_frame import KeyHint


class BoardView:
    name = "Board"

    def __init__(self, context: ViewContext, boards: BoardsView) -> None:
        self._context = context
        self._boards = boards
        self.game: GameId | None = None
        self.ply: int | None = None
        """Under the cursor; None goes with the last move."""
        self._panel = 0

    def open(self, game: GameId) -> None:
        """Look at this board, at its last move."""
        if game != self.game:
            self.ply = None
        self.game = game

    def draw(self, width: int, height: int) -> list[Text]:
        context = self._context
        game = context.state.game(self.game) if self.game else None
        if game is None:
            gone = styled("  The source no longer holds this board: esc goes back")
            return [Text(), gone, *(Text() for _ in range(height - 2))]
        last = len(game.plies)
        if self.ply is not None and self.ply > last:
            self.ply = None  # what the cursor was on was taken back
        changes = context.changes
        changes.feeds(context.state.feeds())
        age_s, exact = changes.age_s(game.id)
        look = BoardCardOptions(
            palette=context.palette,
            figure=context.figure,
            engine_rating=context.state.engine().rating,
            ply=last if self.ply is None else self.ply,
            following=self.ply is None,
            panel=PANELS[self._panel],
            age_s=age_s if exact else None,
            ran_s=changes.ran_s(game.id, game.feed, last),
            new=changes.is_new(game.id, last),
            alerts=[
                point_of(alert, game)
                for alert in in_order(context.state.alerts())
                if alert.game == game.id and asks(alert)
            ],
            engine_gains=context.state.engine_gains(),
        )
        return board_card(game, width, height, look)

    def caption(self) -> str:
        """Whether the cursor goes with the game."""
        game = self._context.state.game(self.game) if self.game else None
        if game is None or self.ply is None:
            return ""
        return f"at ply {self.ply} of {len(game.plies)}: end follows the game again"

    def offers(self) -> list[KeyHint]:
        return [
            KeyHint("escape", "esc", "back", "back to all boards"),
            KeyHint("up", "↑↓ j k", "moves", "from move to move; ←→ h l by one ply, home end"),
            KeyHint("tab", "tab", "panel", "moves, curves, gains, other methods"),
            KeyHint("n", "n p", "board", "the next and the previous board"),
            *self._context.board_keys(self.game),
        ]

    def press(self, key: str) -> bool:
        if key in ("down", "j"):
            self._step(2)
        elif key in ("up", "k"):
            self._step(-2)
        elif key in ("right", "l"):
            self._step(1)
        elif key in ("left", "h"):
            self._step(-1)
        elif key in ("home", "g"):
            self.ply = 0
        elif key in ("end", "G"):
            self.ply = None
        elif key == "tab":
            self._panel = (self._panel + 1) % len(PANELS)
        elif key == "shift+tab":
            self._panel = (self._panel - 1) % len(PANELS)
        elif key in ("n", "p") and self.game:
            other = self._boards.neighbour(self.game, 1 if key == "n" else -1)
            if other:
                self._boards.cursor = other
                self.open(other)
        else:
            return self._context.press_board(key, self.game)
        return True

    def _step(self, by: int) -> None:
        game = self._context.state.game(self.game) if self.game else None
        if game is None:
            return
        last = len(game.plies)
        ply = max(0, min(last, (last if self.ply is None else self.ply) + by))
        self.ply = None if ply == last and by > 0 else ply
