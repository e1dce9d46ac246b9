"""The view of all boards, one line per board, with the figures that an arbiter needs.
Beside the list: the board under the cursor, the latest moments, and the standings.

Columns that do not fit are left out, the least important first. Key f makes clocks more
important than ratings.
"""

from collections.abc import Collection, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical

from live.event.rate_game import COLORS
from live.games.rounds import normalise_round
from live.messages.figures import GameDetail
from live.messages.values import Color, GameId
from live.screens.terminal.board_rows import (
    CLOCK_CELLS,
    CURVE_CELLS,
    ORDERS,
    RESULTS,
    Trouble,
    build_board_matcher,
    find_last_point,
    find_round,
    find_troubles,
    keep_newest_rounds,
    order_boards,
    write_clock_cell,
    write_curve,
    write_newest_score,
)
from live.screens.terminal.board_view import CURVE_KEY, BoardView
from live.screens.terminal.players_view import MomentsView, PlayersView
from live.screens.terminal.sources_view import write_feed_panel
from live.screens.terminal.text import (
    Column,
    Panel,
    align_left,
    begin_line,
    fit_columns,
    is_withheld,
    write_age,
    write_heads,
    write_move,
    write_player,
    write_styled_figure,
)
from live.screens.terminal.view_context import (
    ViewContext,
    group_by_board,
    is_awaiting_arbiter,
)
from live.screens.terminal.widgets import Lines, ListView
from live.watch.finding import format_count

#: Columns by their heads, the most important first.
COLUMNS = {
    column.head: column
    for column in (
        Column("Rd", 2),
        Column("Score", 6),
        Column("Plays like", 6, "perceived", sided=True),
        Column("Elo", 4, sided=True),
        Column("Curve", CURVE_CELLS, sided=True, to_right=False),
        Column("Clocks", CLOCK_CELLS, sided=True),
        Column("Move", 4),
        Column("Age", 4),
        Column("Better than", 6, "percentile", sided=True),
    )
}
#: Heads of the columns that come first when clocks are preferred.
_FOR_ARBITERS = ("Rd", "Score", "Clocks", "Move", "Age")
#: Width in cells of the alert's sign, the board number, and the gaps around both names.
_LEFT = 2 + 3 + 3
_LEAST_NAME, _MOST_NAME = 12, 24
#: Indent of a board's problem, in cells: it begins under the names.
_NOTE_INDENT = 6
#: Sign of a board that was restored from the journal and has not been sent since.
_RESTORED_SIGN = "◌"


def choose_columns(
    width: int, sorted_by: str, *, empty: Collection[str], clocks: bool
) -> list[Column]:
    """Return as many columns as leave enough room for the names.

    Args:
        width: the width of the list, in cells.
        sorted_by: head of the sorted column; it comes first.
        empty: heads of columns to leave out.
        clocks: whether clocks come before ratings.
    """
    order = dict.fromkeys([sorted_by, *(_FOR_ARBITERS if clocks else ()), *COLUMNS])
    useful = COLUMNS.keys() - set(empty)
    free = width - _LEFT - 2 * _LEAST_NAME
    chosen = fit_columns([COLUMNS[head] for head in order if head in useful], free)
    free -= sum(column.cells + 1 for column in chosen)
    name = min(_MOST_NAME, _LEAST_NAME + free // 2)
    return [
        Column("Bd", 3),
        Column("White", name, to_right=False),
        Column("Black", name, to_right=False),
        *chosen,
    ]


class BoardsView(ListView):
    """The list of boards, the board under the cursor, the latest moments, and the
    standings.
    """

    BINDINGS = [
        Binding("s", "sort", "sort", tooltip="by number, clock, age, better than"),
        Binding("f", "clocks", "clocks", tooltip="clocks first, or ratings first"),
        CURVE_KEY,
        Binding(
            "r",
            "unfold",
            "rounds",
            tooltip="finished boards of earlier rounds, too",
            show=False,
        ),
    ]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.order = "number"
        self.clocks = False
        """Whether clocks come before ratings."""
        self.unfolded = False
        """Whether finished boards of earlier rounds are listed as well."""
        self.listed: Sequence[GameDetail] = ()
        self.board = BoardView(context, "panel")
        """View of the selected board."""
        self.board.can_focus = False
        self.moments = MomentsView(context, "told")
        self.standing = PlayersView(context, "standing")
        self.standing.border_title = "Players by strength of play for their Elo"
        for part in (self.moments, self.standing):
            part.rows.can_focus = False
        self._heads, self._folded = Lines(id="heads"), Lines(id="folded")
        self._troubles: dict[GameId, list[Trouble]] = {}
        """Problems that are shown in each board's row."""

    def compose(self) -> ComposeResult:
        with Vertical(id="list"):
            yield self._heads
            yield self.rows
            yield self._folded
        yield self.board
        yield self.standing
        yield self.moments

    def redraw(self) -> None:
        alerts = group_by_board(self.context.state.alerts())
        alerting = [
            game
            for game, board_alerts in alerts.items()
            if any(map(is_awaiting_arbiter, board_alerts))
        ]
        details = (
            self.context.state.game(view.id) for view in self.context.state.games()
        )
        all_games = games = list(filter(None, details))
        if self.query_text:
            games = list(filter(build_board_matcher(self.query_text), all_games))
        elif not self.unfolded:
            games = keep_newest_rounds(all_games, alerting)
        self.listed = order_boards(games, alerting, self._find_order_value)
        self._troubles = {}
        for game in self.listed:
            troubles = find_troubles(game, alerts.get(game.id, ()))
            self._troubles[game.id] = [x for x in troubles if x.style != "dim"]
        self._show_what_is_not_listed(
            0 if self.query_text else len(all_games) - len(games)
        )
        self._show_rows()
        selected = self.find_board()
        self.board.visible = selected is not None
        self.board.look_at(selected or "")
        for part in (self.board, self.moments, self.standing):
            if part.display:
                part.redraw()

    def _show_what_is_not_listed(self, folded: int) -> None:
        """Show how many boards are folded away, or why no board is listed."""
        lines: Panel = []
        if folded:
            boards = format_count(folded, "board")
            text = f" and {boards} of earlier rounds, all over: r, or / and: round 7"
            lines = [begin_line(text, "dim")]
        elif self.query_text and not self.listed:
            text = f" No board matches {self.query_text!r}: esc shows all"
            lines = [begin_line(text, "dim")]
        elif not self.listed:
            lines = self._explain_emptiness()
        self._folded.display = bool(lines)
        self._folded.show(lines)

    def _explain_emptiness(self) -> Panel:
        """Return the sources with their states, to show while there is no board."""
        text = " No board yet: they appear as soon as a source sends them"
        lines = [Text(), begin_line(text, "head")]
        for feed in self.context.state.feeds():
            lines += [Text(), *write_feed_panel(feed, self.size.width)]
        return lines

    def _show_rows(self) -> None:
        """Show the heads, and for each board a line with a note below it if it has a
        problem.
        """
        width = self.rows.scrollable_content_region.width - 1
        by = ORDERS[self.order].head
        empty = self._find_empty_columns()
        columns = choose_columns(width, by, empty=empty, clocks=self.clocks)
        self._heads.display = bool(self.listed)
        self._heads.show([write_heads("   ", columns, by)])
        rows: list[tuple[str, GameDetail, Text | None]] = []
        for game in self.listed:
            rows.append((game.id, game, None))
            if troubles := self._troubles[game.id]:
                # A row without an id belongs to the row above it.
                rows.append(("", game, _write_troubles(troubles)))

        def draw(at: int) -> Text:
            _, game, note = rows[at]
            return note or self._write_row(game, columns)

        self.rows.show([id for id, _, _ in rows], draw)

    def _find_empty_columns(self) -> set[str]:
        """Return the heads of columns that are empty, the same for every board, or not
        needed for the present order.
        """
        empty = set()
        if ORDERS[self.order].head != "Better than":
            # It needs much room and only explains the order.
            empty.add("Better than")
        if len({find_round(game) for game in self.listed}) < 2:
            empty.add("Rd")
        if not any(game.white.elo or game.black.elo for game in self.listed):
            empty.add("Elo")
        if is_withheld(self.context.state.engine()):
            empty |= {"Plays like", "Curve", "Better than"}
        return empty

    def _find_order_value(self, game: GameDetail) -> float | None:
        """Return the value by which this board is sorted, the least first; None sorts
        last.
        """
        value = ORDERS[self.order].value
        age_s, _ = self.context.changes.measure_age_s(game.id, game.plies_played)
        return value(game, age_s) if value else None

    def _write_row(self, game: GameDetail, columns: Sequence[Column]) -> Text:
        line = self._write_sign(game)
        for column in columns:
            for color in COLORS if column.sided else COLORS[:1]:
                text, style = self._write_cell(game, column, color)
                line.append(column.align(text), style).append(" ")
        line.right_crop()
        return line

    def _write_sign(self, game: GameDetail) -> Text:
        """Return the sign that begins a row: an alert, a problem, or a new move."""
        sign, style = "", "warn"
        if troubles := self._troubles[game.id]:
            sign, _, style = troubles[0]
        elif game.restored:
            sign, style = _RESTORED_SIGN, "dim"
        elif self._is_new(game):
            sign = "•"
        return begin_line(align_left(sign, 2), style)

    def _is_new(self, game: GameDetail) -> bool:
        """Return whether the board's last move arrived within the last few seconds."""
        return self.context.changes.is_new(game.id, len(game.plies))

    def _write_cell(
        self, game: GameDetail, column: Column, color: Color
    ) -> tuple[str, str]:
        """Return the text and the style of one cell.

        ``color`` selects the side in a column that has a cell for each side.
        """
        changes, last = self.context.changes, game.plies[-1] if game.plies else None
        match column.head:
            case "Bd":
                return "·" if game.board is None else str(game.board), "dim"
            case "Rd":
                return normalise_round(game.round), "dim"
            case "White":
                return write_player(game.white, column.width), "text"
            case "Black":
                return write_player(game.black, column.width), "text"
            case "Score" if not game.running:
                return RESULTS.get(game.result, game.result), "strong"
            case "Score":
                return write_newest_score(game)
            case "Plays like" | "Better than":
                point = find_last_point(game, color)
                return write_styled_figure(column.figure, point, 0)
            case "Elo":
                return str(getattr(game, color).elo or ""), "dim"
            case "Curve":
                return write_curve(game, color), color
            case "Clocks":
                return write_clock_cell(game, color, changes)
            case "Move":
                move = (
                    write_move(game, last, "…").removesuffix(last.san) if last else ""
                )
                return move, "changed" if self._is_new(game) else ""
            case _:
                age_s, exact = changes.measure_age_s(game.id, len(game.plies))
                age = f"{'' if exact else '>'}{write_age(age_s)}"
                return age if game.running else "", "dim"

    def describe(self) -> str:
        if not self.listed:
            return self.add_filter("no board")
        return self.add_filter(
            f"{format_count(len(self.listed), 'board')} by {self.order}"
        )

    # --- keys -------------------------------------------------------------------------

    def find_board(self) -> GameId | None:
        return self.rows.cursor

    def open_row(self) -> None:
        self.context.show("board", self.rows.cursor or "")

    def action_clocks(self) -> None:
        self.clocks = not self.clocks

    def action_figure(self) -> None:
        self.board.action_figure()

    def action_unfold(self) -> None:
        self.unfolded = not self.unfolded

    def action_sort(self) -> None:
        names = list(ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self.context.notify(
            f"Sorted {ORDERS[self.order].explained}; alerts stay on top"
        )


def _write_troubles(troubles: Sequence[Trouble]) -> Text:
    """Return the first problem, and the number of further ones."""
    rest = f" (+{len(troubles) - 1})" if len(troubles) > 1 else ""
    return begin_line(" " * _NOTE_INDENT).append(
        troubles[0].text + rest, troubles[0].style
    )
