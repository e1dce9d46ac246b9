"""Standings of players, the page of one player with every figure, and the latest
moments.
"""

from collections.abc import Sequence
from functools import partial

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding

from live.catalogue import (
    BY_ID,
    LIVE_FIGURES,
    Figure,
    RankedPlayer,
    rank_players,
    read,
    round_percent,
    write_interval,
)
from live.messages.figures import PlayerView
from live.messages.values import GameId
from live.screens.terminal.printed import RANK, WIDEST_TABLE, choose_figure_columns
from live.screens.terminal.text import (
    WITHHELD,
    Column,
    Panel,
    align_left,
    align_right,
    begin_line,
    build_matcher,
    fit_name,
    is_withheld,
    plain,
    wrap_beside,
    write_figure,
    write_heads,
    write_styled_figure,
)
from live.screens.terminal.view_context import ViewContext, is_awaiting_arbiter
from live.screens.terminal.widgets import Lines, ListView, RowList, TextView, View
from live.watch.finding import format_count

_MOST_PLAYER = 32
#: Width of a figure's name on a player's page, in cells.
_NAME_CELLS = 26
#: Figures that players can be sorted by, in the order in which key s selects them.
SORTS = ("percentile", "points", "elo", "algorithm4")


def read_sorting_value(
    figure: Figure, view: PlayerView, engine_rating: int
) -> float | None:
    """Return the value to sort by, the greatest first, rounded as it is shown.

    None sorts last.
    """
    value = read(figure, view, engine_rating).value
    if value is None:
        return None
    if figure.id == "percentile":
        return round_percent(value)
    return round(value, 1 if figure.kind == "points" else figure.digits)


def list_players(
    views: Sequence[PlayerView], query: str, sort: str, engine_rating: int = 0
) -> list[RankedPlayer]:
    """Return the players that match the filter, the best first.

    Players whose figure is unknown come last, by perceived rating. Places are counted
    among all players, whether listed or not.
    """
    figure, matches = BY_ID[sort], build_matcher(query)
    return [
        row
        for row in rank_players(
            views, lambda view: read_sorting_value(figure, view, engine_rating)
        )
        if matches(f"{plain(row.view.name, 60)} {row.view.elo or ''}", None)
    ]


class PlayersView(ListView):
    """List of all players, sorted by a figure, the best first."""

    BINDINGS = [Binding("s", "sort", "sort", tooltip="by another of the columns")]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.sort = SORTS[0]
        self._heads = Lines(id="heads")
        self._listed: Sequence[RankedPlayer] = ()

    def compose(self) -> ComposeResult:
        yield self._heads
        yield self.rows

    def redraw(self) -> None:
        state = self.context.state
        views, rating = tuple(state.players()), state.engine().rating
        self._listed = list_players(views, self.query_text, self.sort, rating)
        width = self.rows.scrollable_content_region.width - 1
        columns = choose_figure_columns(width, gap=1)
        used = RANK + 2 + sum(column.width + 1 for column in columns)
        name = Column("Player", max(1, min(_MOST_PLAYER, width - used)), to_right=False)
        line = write_heads(
            f"{align_right('#', RANK - 1)}  ", (name, *columns), BY_ID[self.sort].head
        )
        if not self._listed:
            text = (
                f"nobody matches {self.query_text!r}"
                if self.query_text
                else "no player yet"
            )
            line = begin_line(f"  {text}", "dim")
        self._heads.show([line])
        alerting: set[str] = set()
        for alert in filter(is_awaiting_arbiter, state.alerts()):
            alerting.update(state.player_ids(alert.game or ""))
        draw = partial(self._write_row, (name, *columns), alerting, rating)
        self.rows.show([row.view.id for row in self._listed], draw)

    def _write_row(
        self, columns: Sequence[Column], alerting: set[str], rating: int, at: int
    ) -> Text:
        row = self._listed[at]
        name, *figures = columns
        line = Text.assemble(
            (f"{align_right(row.place_text, RANK - 2)} ", "dim"),
            ("!" if row.view.id in alerting else " ", "bad"),
            (name.align(fit_name(plain(row.view.name, 40), name.width)), "text"),
        )
        for column in figures:
            text, style = write_styled_figure(column.figure, row.view, rating)
            line.append(" ").append(column.align(text), style)
        return line

    def describe(self) -> str:
        players = format_count(len(self._listed), "player")
        by = BY_ID[self.sort].name
        if self.sort == "percentile":
            by = "strength of play for their Elo"
        return self.add_filter(f"{players} by {by}")

    def open_row(self) -> None:
        self.context.show("player", self.rows.cursor or "")

    def action_sort(self) -> None:
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]


class PlayerPage(TextView):
    """Page with every figure of one player over the event."""

    BINDINGS = [Binding("enter", "boards", "boards", tooltip="this player's boards")]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self._player = ""

    def look_at(self, about: str) -> None:
        self._player = about
        self.page.scroll_home(animate=False)

    def _find_player(self) -> PlayerView | None:
        views = self.context.state.players()
        return next((view for view in views if view.id == self._player), None)

    def write(self, width: int) -> Panel:
        rating, view = self.context.state.engine().rating, self._find_player()
        if view is None:
            return [Text(), begin_line("  This player is gone: esc goes back")]
        name = plain(view.name, 60) or "?"
        lines = [begin_line(f" {name}, {format_count(view.games, 'game')}", "head")]
        for figure in LIVE_FIGURES:
            value = write_figure(figure.id, view, rating)
            ends = write_interval(figure, view, rating)
            unit = (
                f" {figure.unit}"
                if figure.unit in ("cp", "Elo") and value[:1].isdigit()
                else ""
            )
            text = f"{value}{unit}{f' ({ends})' if ends else ''}"
            if value in ("", "·"):
                text = figure.missing
            head = begin_line(f" {align_left(figure.name, _NAME_CELLS)} ", "strong")
            parts = (text, "text"), (figure.meaning, "dim")
            lines += wrap_beside(head, parts, min(width, WIDEST_TABLE))
        return lines

    def action_boards(self) -> None:
        if (view := self._find_player()) is not None:
            self.context.show("boards", plain(view.name, 60))


class MomentsView(View):
    """List of the latest moments, the newest first."""

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.border_title = "Moments"
        self.rows = RowList(self._open_board)
        self._boards: dict[str, GameId] = {}
        """Game of each moment, by the moment's id."""

    def compose(self) -> ComposeResult:
        yield self.rows

    def redraw(self) -> None:
        state, region = self.context.state, self.rows.scrollable_content_region
        moments = sorted(state.moments(), key=lambda moment: -(moment.at_s or 0.0))
        self._boards = {moment.id: moment.game for moment in moments}
        rows: list[tuple[str, Text]] = []
        for moment in moments:
            game = state.game(moment.game)
            board = game.board if game else None
            number = align_right("·" if board is None else str(board), 2)
            parts = [(plain(moment.text.en, 300), "text")]
            # A list that is one line high cuts a moment instead of wrapping it.
            width = region.width if region.height > 1 else 320
            head = begin_line(f"★ {number} ", "accent")
            line, *rest = wrap_beside(head, parts, width)
            rows.append((moment.id, line))
            rows += [("", below) for below in rest]
        if not rows:
            quiet = "Nothing yet: turns, finds and upsets will appear here"
            if is_withheld(state.engine()):
                quiet = f"No moments here: {WITHHELD}"
            rows = [("", begin_line(quiet, "dim"))]
        self.rows.show([id for id, _ in rows], lambda at: rows[at][1])

    def find_board(self) -> GameId | None:
        return self._boards.get(self.rows.cursor or "")

    def _open_board(self) -> None:
        if (game := self.find_board()) is not None:
            self.context.show("board", game)
