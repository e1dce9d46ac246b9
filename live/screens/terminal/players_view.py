"""Standings of players, one player's every figure, and what happened last."""

from collections.abc import Sequence
from functools import partial

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from live.catalogue import (
    BY_ID,
    LIVE_FIGURES,
    Figure,
    Standing,
    ends_cell,
    read,
    standings,
)
from live.messages.figures import PlayerView
from live.messages.values import GameId
from live.screens.terminal.printed import RANK, figure_columns
from live.screens.terminal.text import (
    Column,
    Panel,
    figure_cell,
    fit_name,
    heads,
    how,
    is_early,
    left,
    matcher,
    plain,
    right,
    styled,
)
from live.screens.terminal.view_context import ViewContext, worst_by_board
from live.screens.terminal.widgets import UP_AND_DOWN, Lines, ListView, TextView, View
from live.watch.finding import count_things

#: Players are listed afresh at most this often, seconds: it takes everybody's every
#: figure.
LIST_S = 1.0
_MOST_PLAYER = 32
#: Cells of the star and the board's number before a moment.
_MOMENT_INDENT = 5
#: What players are ranked by, in the order of key s.
SORTS = ("perceived", "points", "elo", "percentile", "algorithm4")


def sorting_value(figure: Figure, view: PlayerView, engine_rating: int) -> float | None:
    """What is ranked by, as far as it is shown, the best greatest; None comes last."""
    value = read(figure, view, engine_rating).value
    early = is_early(view) and figure.id in ("perceived", "percentile")
    if value is None or early:
        return None
    return round(value, 1 if figure.kind == "points" else figure.digits)


def listed(
    views: Sequence[PlayerView], query: str, sort: str, engine_rating: int = 0
) -> list[Standing]:
    """Those whom the filter takes, the best first; whose figure is unknown or early
    last. Places count in the whole field, whoever is listed.
    """
    figure, matches = BY_ID[sort], matcher(query)
    return [
        row
        for row in standings(
            views, lambda view: sorting_value(figure, view, engine_rating)
        )
        if matches(f"{plain(row.view.name, 60)} {row.view.elo or ''}", None)
    ]


class PlayersView(ListView):
    """Everybody by a figure, the best first."""

    BINDINGS = [Binding("s", "sort", "sort", tooltip="by another of the columns")]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.sort = SORTS[0]
        self._heads = Lines(id="heads")
        self._listed: Sequence[Standing] = ()
        self._asked = ("", "")
        self._listed_s = -LIST_S

    def compose(self) -> ComposeResult:
        yield self._heads
        yield self.rows

    def redraw(self) -> None:
        state, now_s = self.context.state, self.context.changes.now()
        rating, asked = state.engine().rating, (self.query_text, self.sort)
        if asked != self._asked or now_s - self._listed_s >= LIST_S:
            self._asked = asked
            self._listed_s = now_s
            self._listed = listed(tuple(state.players()), *asked, rating)
        width = self.rows.scrollable_content_region.width - 1
        columns = figure_columns(width, gap=1)
        used = RANK + 2 + sum(column.width + 1 for column in columns)
        name = Column("Player", max(1, min(_MOST_PLAYER, width - used)), to_right=False)
        line = heads(
            f"{right('#', RANK - 1)}  ", (name, *columns), BY_ID[self.sort].head
        )
        if not self._listed:
            text = (
                f"nobody matches {self.query_text!r}"
                if self.query_text
                else "nobody yet"
            )
            line = styled(f"  {text}", "dim")
        self._heads.show([line])
        worst = worst_by_board(state.alerts())
        alerting: set[str] = set()
        for game in worst:
            alerting.update(state.player_ids(game))
        draw = partial(self._row, (name, *columns), alerting, rating)
        self.rows.show([row.view.id for row in self._listed], draw)

    def _row(
        self, columns: Sequence[Column], alerting: set[str], rating: int, at: int
    ) -> Text:
        row = self._listed[at]
        name, *figures = columns
        line = Text.assemble(
            (f"{right(row.text, RANK - 2)} ", "dim"),
            ("!" if row.view.id in alerting else " ", "bad"),
            (name.set(fit_name(plain(row.view.name, 40), name.width)), "text"),
        )
        styles = {"usual": "dim", "perceived": how(row.view)}
        for column in figures:
            text = column.set(figure_cell(column.figure, row.view, rating))
            line.append(f" {text}", styles.get(column.figure, "text"))
        return line

    def caption(self) -> str:
        by = BY_ID[self.sort].name
        players = count_things(len(self._listed), "player")
        return self.add_filter(f"{players} by {by[:1].lower()}{by[1:]}")

    def open_row(self) -> None:
        self.context.show("player", self.rows.cursor or "")

    def action_sort(self) -> None:
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]


class PlayerPage(TextView):
    """Every figure of one player over the event."""

    BINDINGS = [Binding("enter", "boards", "boards", tooltip="this player's boards")]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self._player = ""

    def look_at(self, about: str) -> None:
        self._player = about
        self.page.scroll_home(animate=False)

    def _find(self) -> PlayerView | None:
        views = self.context.state.players()
        return next((view for view in views if view.id == self._player), None)

    def write(self) -> Panel:
        rating, view = self.context.state.engine().rating, self._find()
        if view is None:
            return [Text(), styled("  This player is gone: esc goes back")]
        name = plain(view.name, 60) or "?"
        lines = [styled(f" {name}, {count_things(view.games, 'game')}", "head")]
        for figure in LIVE_FIGURES:
            value = figure_cell(figure.id, view, rating)
            ends = ends_cell(figure, view, rating)
            unit = (
                f" {figure.unit}"
                if figure.unit in ("cp", "Elo") and value[:1].isdigit()
                else ""
            )
            said = f"{value}{unit}{f' ({ends})' if ends else ''}"
            if value in ("", "·"):
                said = figure.missing
            lines.append(_figure_line(figure.name, said, figure.meaning))
        return lines

    def action_boards(self) -> None:
        if (view := self._find()) is not None:
            self.context.show("boards", plain(view.name, 60))


def _figure_line(name: str, said: str, meaning: str) -> Text:
    return Text.assemble(
        (f" {left(plain(name, 26), 26)} ", "strong"),
        (said if len(said) > 22 else f"{said:<22}", "text"),
        (f" {meaning}", "dim"),
    )


class MomentList(OptionList):
    """What happened, the newest first."""

    BINDINGS = [
        Binding("enter", "select", "board", tooltip="look at the board"),
        *UP_AND_DOWN,
    ]


class MomentsView(View):
    """What happened last, the newest first, as it is told everywhere."""

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.border_title = "Moments"
        self._list = MomentList(compact=True)
        self._told: Panel = []
        self._boards: list[GameId] = []

    def compose(self) -> ComposeResult:
        yield self._list

    def redraw(self) -> None:
        boards = {view.id: view.board for view in self.context.state.games()}
        moments = sorted(
            self.context.state.moments(), key=lambda each: -(each.at_s or 0.0)
        )
        lines = []
        for each in moments:
            board = boards.get(each.game)
            number = "·" if board is None else str(board)
            told = self._indent(Text(plain(each.text.en, 300), "text"))
            lines.append(Text.assemble((f"★ {right(number, 2)} ", "accent"), told))
        if lines == self._told and self._list.option_count:
            return
        self._told = lines
        at = self._list.highlighted
        self._boards = [each.game for each in moments]
        quiet = styled(
            "Nothing told yet: a turn, a find, an upset will stand here", "dim"
        )
        self._list.set_options(Option(line) for line in lines or [quiet])
        self._list.highlighted = at

    def _indent(self, told: Text) -> Text:
        """Return the text with its lines below the first one indented."""
        region = self._list.scrollable_content_region
        if region.height < 2:  # cut instead
            return told
        lines = told.wrap(self.app.console, max(1, region.width - _MOMENT_INDENT))
        return Text("\n" + " " * _MOMENT_INDENT).join(lines)

    def find_board(self) -> GameId | None:
        at = self._list.highlighted
        return self._boards[at] if at is not None and at < len(self._boards) else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if (game := self.find_board()) is not None:
            self.context.show("board", game)
