"""The view of all boards, a line a board: what an arbiter needs, and the figures of both players;
the board under the cursor beside it, what happened last, and the standing.

What a terminal has no room for is left out, least important columns first; key f prefers the
clocks.
"""

from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical

from live.event.rate_game import COLORS
from live.games.rounds import normalise_round
from live.messages.alerts import Alert
from live.messages.figures import GameDetail, GameView
from live.messages.values import GameId
from live.screens.terminal.board_rows import (
    CURVE_CELLS,
    ORDERS,
    RESULTS,
    board_matcher,
    clock_cell,
    curve_cell,
    last_point,
    of_newest_rounds,
    ordered,
    problem_of,
    round_key,
)
from live.screens.terminal.board_view import BoardPanel
from live.screens.terminal.players_view import MomentsView, PlayersView
from live.screens.terminal.text import (
    FEED_SIGNS,
    SEVERITY_STYLES,
    Column,
    age_text,
    counted,
    figure_cell,
    heads,
    how,
    left,
    move_text,
    place_sign,
    plain,
    ply_score,
    point_of,
    styled,
)
from live.screens.terminal.view_context import ViewContext, asks, worst_by_board
from live.screens.terminal.widgets import Lines, ListView
from live.watch.finding import SIGNS

#: By their heads, in the order in which they stand.
COLUMNS = {
    column.head: column
    for column in (
        Column("Rd", 2),
        Column("Elo", 4, sided=True),
        Column("Plays like", 5, sided=True),
        Column("Curve", CURVE_CELLS, sided=True, to_right=False),
        Column("Score", 6),
        Column("Move", 4),
        Column("Clocks", 5, sided=True),
        Column("Age", 4),
    )
}
#: What gives way last comes first.
_FOR_RATINGS = ("Rd", "Plays like", "Score", "Elo", "Curve", "Clocks", "Move", "Age")
_FOR_ARBITERS = ("Rd", "Score", "Clocks", "Move", "Age", "Plays like", "Elo", "Curve")
#: Sign of the alert, board number, and the gaps around both names.
_LEFT = 2 + 3 + 3
_LEAST_NAME, _MOST_NAME = 11, 24
#: A name has its title from this width on.
_TITLED = 16


def layout(width: int, wrong: int, sorted_by: str, *, rounds: bool, clocks: bool) -> list[Column]:
    """Choose the columns: the most that leave the names some room.

    The longest word on what is wrong has ``wrong`` cells, and without any there is no such column.
    What boards are sorted by has one in any case. ``rounds``: there are several. ``clocks``: they
    come before ratings.
    """
    least_wrong = min(wrong, width * 6 // 25)
    free = width - _LEFT - 2 * _LEAST_NAME - least_wrong - bool(wrong)
    taken = set()
    order = _FOR_ARBITERS if clocks else _FOR_RATINGS
    for head in sorted(order, key=lambda head: head != sorted_by):
        if (head != "Rd" or rounds) and COLUMNS[head].cells < free:
            taken.add(head)
            free -= COLUMNS[head].cells + 1
    more = min(free, wrong - least_wrong)
    name = min(_MOST_NAME, _LEAST_NAME + (free - more) // 2)
    columns = [
        Column("Bd", 3),
        *(Column(color, name, to_right=False) for color in ("White", "Black")),
        *(column for head, column in COLUMNS.items() if head in taken),
    ]
    if wrong:
        columns.append(Column("What is wrong", least_wrong + more, to_right=False))
    return columns


class BoardsView(ListView):
    """The list of boards, the one under the cursor, what happened last, and the standing."""

    BINDINGS = [
        Binding("s", "sort", "sort", tooltip="by board, clock, age, perceived rating"),
        Binding("f", "clocks", "clocks", tooltip="clocks first, or ratings first"),
        Binding("v", "figure", "A4", tooltip="curves of Algorithm 4, or of the perceived rating"),
        Binding(
            "r", "unfold", "rounds", tooltip="finished boards of earlier rounds, too", show=False
        ),
    ]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.order = "board"
        self.clocks = False
        """Clocks come before ratings."""
        self.unfolded = False
        """Finished boards of earlier rounds are listed, too."""
        self.listed: Sequence[GameView] = ()
        self.board = BoardPanel(context)
        """The selected board."""
        self.moments = MomentsView(context, "told")
        self.standing = PlayersView(context, "standing")
        self.standing.border_title = "Standing"
        self._heads, self._folded = Lines(id="heads"), Lines(id="folded")
        self._worst: dict[GameId, Alert] = {}
        self._known: set[GameId | None] = set()
        """Boards whose alerts somebody took note of."""
        self._asking: Counter[GameId | None] = Counter()
        """How many of each board's alerts ask for notice."""
        self._finished: dict[GameId, tuple[GameView, float | None]] = {}
        """What the order that finished games have a place in goes by."""

    def compose(self) -> ComposeResult:
        with Vertical(id="list"):
            yield self._heads
            yield self.rows
            yield self._folded
        yield self.board
        yield self.standing
        yield self.moments

    def redraw(self) -> None:
        alerts = list(self.context.state.alerts())
        self._worst = worst_by_board(alerts)
        self._known = {alert.game for alert in alerts} - {*self._worst}
        self._asking = Counter(alert.game for alert in alerts if asks(alert))
        every = views = list(self.context.state.games())
        if self.query_text:
            views = list(filter(board_matcher(self.query_text), every))
        elif not self.unfolded:
            views = of_newest_rounds(every, self._worst)
        self.listed = ordered(views, self._worst, self._value)
        known = {view.id for view in views} & self._finished.keys()
        self._finished = {id: self._finished[id] for id in known}
        self._show_rows(0 if self.query_text else len(every) - len(views))
        here = self.find_board()
        game = self.context.state.game(here) if here else None
        self.board.visible = game is not None
        self.board.show_board(game, self._explain(game) if game else "")
        for part in (self.moments, self.standing):
            if part.display:
                part.redraw()

    def _show_rows(self, folded: int) -> None:
        """Show heads, and a line for each board that there is room for."""
        self._heads.display = bool(self.listed)
        told = f" and {counted(folded, 'board')} of earlier rounds, all over: r, or / and: round 7"
        if not self.listed:
            told = " No board yet: they appear as soon as a source sends them"
            if self.query_text:
                told = f" No board matches {self.query_text!r}: esc shows all"
        self._folded.display = bool(folded or not self.listed)
        lines = [styled(told, "dim")]
        for feed in self.context.state.feeds() if not self.listed else ():
            said = f"   {FEED_SIGNS[feed.state]} {plain(feed.feed, 60)} {feed.state}"
            lines += [
                Text(),
                styled(said, "text"),
                styled(f"     {plain(feed.detail, 200)}", "dim"),
            ]
        self._folded.show(lines)
        rounds = len({round_key(game) for game in self.listed}) > 1
        wrong = (self._wrong(game)[0] for game in self.listed)
        width = self.rows.scrollable_content_region.width - 1
        by = ORDERS[self.order].head
        widest = max(map(cell_len, wrong), default=0)
        plan = layout(width, widest, by, rounds=rounds, clocks=self.clocks)
        self._heads.show([heads("   ", plan, by)])
        self._wrong_cells = plan[-1].width if widest else 0
        self.rows.show([view.id for view in self.listed], lambda row: self._row(row, plan))

    def _explain(self, game: GameView) -> str:
        """What is wrong, where the list had to cut that."""
        wrong, _ = self._wrong(game)
        return wrong if cell_len(wrong) > self._wrong_cells else ""

    def _value(self, view: GameView) -> float | None:
        """What the order goes by; of a game that is over it is worked out once."""
        order, over = ORDERS[self.order], not view.running
        if order.value is None or (over and not order.finished):
            return None
        known = self._finished.get(view.id)
        if over and known is not None and known[0] == view:
            return known[1]
        game = self.context.state.game(view.id)
        age_s = self.context.changes.age_s(view.id, view.plies_played)[0]
        value = order.value(game, age_s) if game else None
        if over:
            self._finished[view.id] = view, value
        return value

    def _row(self, at: int, plan: Sequence[Column]) -> Text:
        game = self.context.state.game(self.listed[at].id)
        if game is None:
            return Text()
        worst = self._worst.get(game.id)
        wrong, style = self._wrong(game)
        new = game.plies and self.context.changes.is_new(game.id, game.plies[-1].ply)
        open_problem = game.problem and game.id not in self._known
        sign = SIGNS[worst.severity] if worst else "!" if open_problem else "•" if new else ""
        line = styled(left(sign, 2), style or "warn")
        cells = self._cells(game) | {"What is wrong": [(wrong, style)]}
        for player, column in zip((game.white, game.black), plan[1:3], strict=True):
            title = plain(player.title or "", 4) if column.width >= _TITLED else ""
            cells[column.head] = [(f"{title} {plain(player.name, 40)}".lstrip(), "text")]
        for column in plan:
            for text, style_of, *sign_of in cells[column.head]:
                line.append(column.set(text), style_of)
                line.append("".join(sign_of) or " ", style_of)
        line.right_crop()
        return line

    def _wrong(self, game: GameView) -> tuple[str, str]:
        """What is wrong with it in words, and how that is drawn."""
        worst = self._worst.get(game.id)
        if worst is not None:
            more = f" (+{others})" if (others := self._asking[game.id] - 1) else ""
            return plain(point_of(worst, game), 200) + more, SEVERITY_STYLES[worst.severity]
        return problem_of(game), "warn" if game.problem and game.id not in self._known else "dim"

    def _cells(self, game: GameDetail) -> dict[str, list[tuple[str, ...]]]:
        """Each column's texts with their styles, and a sign behind some; a sided one has two."""
        changes, last = self.context.changes, game.plies[-1] if game.plies else None
        age_s, exact = changes.age_s(game.id, len(game.plies))
        age = age_text(age_s) if game.running else ""
        points = [last_point(game, color) for color in COLORS]
        over = "" if game.running else "strong"
        new = last is not None and changes.is_new(game.id, last.ply)
        move = move_text(game, last, "…").removesuffix(last.san) if last else ""
        score = ply_score(last) if last else ""
        if not game.running:
            score = RESULTS.get(game.result, game.result)
        board = "·" if game.board is None else str(game.board)
        return {
            "Bd": [(board, "dim")],
            "Rd": [(normalise_round(game.round), "dim")],
            "Elo": [(str(getattr(game, color).elo or ""), "dim") for color in COLORS],
            "Move": [(move, "changed" if new else "")],
            "Curve": [(curve_cell(game, color), color) for color in COLORS],
            "Clocks": [clock_cell(game, color, changes) for color in COLORS],
            "Age": [(age if exact or not age else f">{age}", "dim")],
            "Score": [(score, over)],
            "Plays like": [
                (figure_cell("perceived", point), how(point), place_sign(point)) for point in points
            ],
        }

    def caption(self) -> str:
        return self.filtered(f"{counted(len(self.listed), 'board')} by {self.order}")

    # --- keys -------------------------------------------------------------------------------------

    def find_board(self) -> GameId | None:
        return self.rows.cursor

    def open_row(self) -> None:
        self.context.show("board", self.rows.cursor or "")

    def action_clocks(self) -> None:
        self.clocks = not self.clocks

    def action_figure(self) -> None:
        self.board.drawing.change_figure()

    def action_unfold(self) -> None:
        self.unfolded = not self.unfolded

    def action_sort(self) -> None:
        names = list(ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self.context.notify(f"Sorted {ORDERS[self.order].explained}; alerts stay on top")
