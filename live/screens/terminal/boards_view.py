"""The view of all boards, a line a board: what an arbiter needs, and the figures of
both players; the board under the cursor beside it, what happened last, and the
standing.

What a terminal has no room for is left out, least important columns first; key f
prefers the clocks.
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
    round_key,
)
from live.screens.terminal.board_view import BoardPanel
from live.screens.terminal.players_view import MomentsView, PlayersView
from live.screens.terminal.text import (
    FEED_SIGNS,
    SEVERITY_STYLES,
    Column,
    Panel,
    age_text,
    feed_style,
    figure_cell,
    fit_name,
    heads,
    how,
    left,
    move_text,
    place_sign,
    plain,
    ply_score,
    point_of,
    styled,
    wrapped,
)
from live.screens.terminal.view_context import ViewContext, asks, worst_by_board
from live.screens.terminal.widgets import Lines, ListView
from live.watch.finding import SIGNS, count_things

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
_LEAST_NAME, _MOST_NAME = 13, 24
#: So many columns come before longer names, the others after them.
_BEFORE_NAMES = 6
_LONGER_NAMES = 10
#: What is wrong begins under the names.
_NOTE_INDENT = 6
#: Sign of a board that only the journal holds.
_RESTORED_SIGN = "◌"
#: A name has its title from this width on.
_TITLED = 16


def choose_columns(
    width: int, sorted_by: str, *, rounds: bool, clocks: bool
) -> list[Column]:
    """Return the most columns that leave the names some room.

    What boards are sorted by has one in any case. ``rounds``: there are several.
    ``clocks``: they come before ratings.
    """
    free = width - _LEFT - 2 * _LEAST_NAME
    chosen = set()
    order = _FOR_ARBITERS if clocks else _FOR_RATINGS
    by_use = sorted(order, key=lambda head: head != sorted_by)
    for place, head in enumerate(by_use):
        room = free if place < _BEFORE_NAMES else free - _LONGER_NAMES
        if (head != "Rd" or rounds) and COLUMNS[head].cells < room:
            chosen.add(head)
            free -= COLUMNS[head].cells + 1
    name = min(_MOST_NAME, _LEAST_NAME + free // 2)
    return [
        Column("Bd", 3),
        Column("White", name, to_right=False),
        Column("Black", name, to_right=False),
        *(column for head, column in COLUMNS.items() if head in chosen),
    ]


class BoardsView(ListView):
    """The list of boards, the one under the cursor, what happened last, and the
    standing.
    """

    BINDINGS = [
        Binding("s", "sort", "sort", tooltip="by board, clock, age, perceived rating"),
        Binding("f", "clocks", "clocks", tooltip="clocks first, or ratings first"),
        Binding(
            "v",
            "figure",
            "curve",
            tooltip="of Algorithm 4 (Ferreira), or of the perceived rating",
        ),
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
        self._show_what_is_not_listed(0 if self.query_text else len(every) - len(views))
        self._show_rows()
        here = self.find_board()
        game = self.context.state.game(here) if here else None
        self.board.visible = game is not None
        self.board.show_board(game, is_noted=game is not None and self._is_noted(game))
        for part in (self.moments, self.standing):
            if part.display:
                part.redraw()

    def _show_what_is_not_listed(self, folded: int) -> None:
        """Say which boards are folded, or why there is none."""
        lines = []
        if folded:
            boards = count_things(folded, "board")
            keys = "r, or / and: round 7"
            lines = [
                styled(f" and {boards} of earlier rounds, all over: {keys}", "dim")
            ]
        elif self.query_text and not self.listed:
            lines = [
                styled(f" No board matches {self.query_text!r}: esc shows all", "dim")
            ]
        elif not self.listed:
            lines = self._explain_emptiness()
        self._folded.display = bool(lines)
        self._folded.show(lines)

    def _explain_emptiness(self) -> Panel:
        """Return what is followed, and how it is."""
        width = self.size.width
        lines = [
            Text(),
            styled(" No board yet: they appear as soon as a source sends them", "head"),
        ]
        for feed in self.context.state.feeds():
            said = f"{FEED_SIGNS[feed.state]} {plain(feed.feed, 60)}: {feed.state}"
            detail = plain(feed.detail.removeprefix(feed.feed).strip(), 200)
            lines += [Text(), *wrapped([(said, feed_style(feed.state))], width, 3)]
            lines += wrapped([(detail, "text")], width, 5)
        return lines

    def _show_rows(self) -> None:
        """Show heads, a line for each board, and below it what is wrong with it."""
        width = self.rows.scrollable_content_region.width - 1
        by = ORDERS[self.order].head
        rounds = len({round_key(game) for game in self.listed}) > 1
        columns = choose_columns(width, by, rounds=rounds, clocks=self.clocks)
        self._heads.display = bool(self.listed)
        self._heads.show([heads("   ", columns, by)])
        rows: list[tuple[GameView, Text | None]] = []
        for view in self.listed:
            rows.append((view, None))
            if note := self._write_note(view):
                rows.append((view, note))

        def draw(at: int) -> Text:
            view, note = rows[at]
            return self._write_row(view, columns) if note is None else note

        ids = ["" if note else view.id for view, note in rows]
        self.rows.show(ids, draw)

    def _write_note(self, view: GameView) -> Text | None:
        """Return what is wrong and nobody took note of; None where nothing is."""
        worst = self._worst.get(view.id)
        text, style = view.problem or view.dispute or "", "warn"
        if worst is not None:
            others = self._asking[view.id] - 1
            text = point_of(worst, view) + (f" (+{others})" if others else "")
            style = SEVERITY_STYLES[worst.severity]
        elif view.id in self._known:
            return None
        return (
            styled(" " * _NOTE_INDENT).append(plain(text, 200), style) if text else None
        )

    def _is_noted(self, view: GameView) -> bool:
        """Whether the list says all that is wrong with a board."""
        note = self._write_note(view)
        if note is None:
            return not view.problem and not view.dispute
        width = self.rows.scrollable_content_region.width - 1
        return note.cell_len <= width and self._asking[view.id] < 2

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

    def _write_row(self, view: GameView, columns: Sequence[Column]) -> Text:
        game = self.context.state.game(view.id)
        if game is None:
            return Text()
        line = self._write_sign(game)
        cells = self._cells(game)
        for player, column in zip((game.white, game.black), columns[1:3], strict=True):
            title = plain(player.title or "", 4) if column.width >= _TITLED else ""
            room = column.width - (cell_len(title) + 1 if title else 0)
            name = fit_name(plain(player.name, 40), room)
            cells[column.head] = [(f"{title} {name}".lstrip(), "text")]
        for column in columns:
            for text, style, *sign in cells[column.head]:
                line.append(column.set(text), style)
                line.append("".join(sign) or " ", style)
        line.right_crop()
        return line

    def _write_sign(self, game: GameDetail) -> Text:
        """Return what a row begins with: an alert, a problem, something new."""
        worst = self._worst.get(game.id)
        new = game.plies and self.context.changes.is_new(game.id, game.plies[-1].ply)
        sign, style = "•" if new else "", "warn"
        if worst is not None:
            sign, style = SIGNS[worst.severity], SEVERITY_STYLES[worst.severity]
        elif (game.problem or game.dispute) and game.id not in self._known:
            sign = "!"
        elif game.restored:
            sign, style = _RESTORED_SIGN, "dim"
        return styled(left(sign, 2), style)

    def _cells(self, game: GameDetail) -> dict[str, list[tuple[str, ...]]]:
        """Each column's texts with their styles, and a sign behind some; a sided one
        has two.
        """
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
                (figure_cell("perceived", point), how(point), place_sign(point))
                for point in points
            ],
        }

    def caption(self) -> str:
        if not self.listed:
            return self.add_filter("no board")
        return self.add_filter(
            f"{count_things(len(self.listed), 'board')} by {self.order}"
        )

    # --- keys -------------------------------------------------------------------------

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
        self.context.notify(
            f"Sorted {ORDERS[self.order].explained}; alerts stay on top"
        )
