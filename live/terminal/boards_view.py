"""The view of all boards, a line a board: what an arbiter needs, and the figures of both players;
the board under the cursor beside it; standings of players by a figure, and one player's every
figure.

Boards with alerts that nobody took note of stand on top, the most urgent first, then the newest
round. What a terminal has no room for is left out, least important columns first; key f prefers
the clocks.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from live.alerts.finding import SIGNS
from live.catalogue import (
    BY_ID,
    LIVE_FIGURES,
    Figure,
    Standing,
    ends_cell,
    main_event,
    read,
    standings,
)
from live.events import (
    Alert,
    Color,
    CurvePoint,
    GameDetail,
    GameId,
    GameView,
    PlayerView,
    PlyView,
)
from live.games.game import main_round, move_number, round_of
from live.games.pace_of_play import Pace, pace_of
from live.ledger.rate_game import COLORS
from live.publish.published_state import game_order
from live.terminal.charts import sparkline
from live.terminal.printed import RANK, figure_columns
from live.terminal.text import (
    SEVERITY_STYLES,
    Column,
    Panel,
    age_text,
    beside,
    clock_runs,
    clock_text,
    counted,
    figure_cell,
    filled,
    fit,
    heads,
    is_early,
    left,
    matcher,
    move_text,
    plain,
    ply_score,
    point_of,
    right,
    styled,
)
from live.terminal.view_context import (
    KeyHint,
    ListView,
    PageView,
    RecentChanges,
    ViewContext,
    asks,
    worst_by_board,
)

RESULTS = {"1/2-1/2": "½-½", "1/2-0": "½-0", "0-1/2": "0-½"}
#: Shown for a game that the journal holds and no source has sent since the start.
RESTORED = "from before the restart, not sent again yet"


# --- what is worked out of a game ---------------------------------------------------------------


def last_plies(game: GameDetail) -> dict[Color, PlyView]:
    """The last move of either side."""
    return {"white" if move_number(game, ply.ply)[1] else "black": ply for ply in game.plies[-2:]}


def last_point(game: GameDetail, color: Color) -> CurvePoint | None:
    """A side's figures after its last move."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    return points[-1] if points else None


def best_strength(game: GameDetail) -> float | None:
    """The higher perceived rating that is not early."""
    points = [last_point(game, color) for color in COLORS]
    known = (x.perceived for x in points if x and not is_early(x) and x.perceived is not None)
    return max(known, default=None)


def least_clock_s(game: GameDetail) -> float | None:
    """The shorter clock."""
    clocks = (ply.clock_s for ply in last_plies(game).values() if ply.clock_s is not None)
    return min(clocks, default=None)


def problem_of(game: GameView) -> str:
    """What is wrong with it, or that only the journal holds it."""
    restored = RESTORED if game.restored else ""
    return plain(game.problem or game.dispute or restored, 100)


def words(game: GameView) -> str:
    """What a filter looks at; the round by its number as one word."""
    players = (f"{plain(x.title or '', 4)} {plain(x.name)}" for x in (game.white, game.black))
    state = "running" if game.running else f"finished {game.result}"
    round = f"{game.round} round={main_round(game.round)};"
    return " ".join((plain(main_event(game)), round, *players, state, problem_of(game)))


def board_matcher(query: str) -> Callable[[GameView], bool]:
    """What says whether a filter takes a board: ``round 8`` stands for the round alone."""
    matches = matcher(re.sub(r"\b(?:round|rd)\s+(\w+)", r"round=\1;", query, flags=re.IGNORECASE))
    return lambda game: matches(words(game), game.board)


# --- clocks --------------------------------------------------------------------------------------

#: Seconds below which a clock is low, and nearly run out.
_LOW_S: dict[Pace, tuple[float, float]] = {
    "classical": (300.0, 60.0),
    "rapid": (60.0, 20.0),
    "blitz": (20.0, 10.0),
    "bullet": (10.0, 5.0),
}


def clock_style(left_s: float | None, time_control: str) -> str:
    """How what is left of a running game's clock is drawn; the number itself says the same."""
    low_s, nearly_s = _LOW_S[pace_of(time_control) or "classical"]
    if left_s is None or left_s >= low_s:
        return ""
    return "bad" if left_s < nearly_s else "warn"


def clock_cell(game: GameDetail, color: Color, changes: RecentChanges) -> tuple[str, str]:
    """What is left of a side's clock, and its style; with ``?`` where it has run out by our
    reckoning alone: moves come late, and clocks are stopped for claims.
    """
    plies, last = len(game.plies), last_plies(game).get(color)
    ran_s = 0.0
    if clock_runs(game, plies) is (color == "white"):
        ran_s = changes.ran_s(game.id, game.feed, plies)
    clock_s = last.clock_s if last else None
    if clock_s and ran_s >= clock_s:
        return "0:00?", "warn"
    left_s = None if clock_s is None else clock_s - ran_s
    style = clock_style(left_s, game.time_control) if game.running else ""
    return clock_text(left_s), style


def curve_cell(game: GameDetail, color: Color) -> str:
    """Draw how a side's perceived rating went of late."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    known = [point.perceived for point in points if point.perceived is not None]
    return sparkline(known, _CURVE_CELLS)


# --- order ---------------------------------------------------------------------------------------


class BoardOrder(NamedTuple):
    """One way to sort."""

    head: str
    """Of the column that it goes by."""
    explained: str
    value: Callable[[GameDetail, float], float | None] | None = None
    """Least first; None comes last. The float is the board's time since its last move, s."""
    finished: bool = False
    """Whether games that are over have one, too."""


ORDERS = {
    "board": BoardOrder("Bd", "by event, newest round and board number"),
    "clock": BoardOrder(
        "Clocks", "least time on a clock first", lambda game, age_s: least_clock_s(game)
    ),
    "age": BoardOrder("Age", "longest without a move first", lambda game, age_s: -age_s),
    "rating": BoardOrder(
        "Plays like",
        "highest perceived rating first, once it is not early",
        lambda game, age_s: None if (best := best_strength(game)) is None else -best,
        finished=True,
    ),
}


def in_board_order(games: Iterable[GameView]) -> list[GameView]:
    """By event, in it the newest round first, in that by board."""
    found = sorted(games, key=game_order)
    found.sort(key=_round, reverse=True)
    return sorted(found, key=main_event)


def _round(view: GameView) -> tuple[int, str]:
    """Sources write boards into rounds: 4.12 is board 12 of round 4."""
    _, parts, _, _ = game_order(view)
    return parts[0]


def ordered(
    games: Iterable[GameView],
    alerting: Collection[GameId],
    value: Callable[[GameView], float | None] = lambda game: None,
) -> list[GameView]:
    """Boards of ``alerting`` first, as they come there, then by ``value``; equal ones as boards
    are.
    """
    urgency = {game: place for place, game in enumerate(alerting)}

    def place(view: GameView) -> tuple[float, float]:
        known = value(view)
        return urgency.get(view.id, len(urgency)), math.inf if known is None else known

    return sorted(in_board_order(games), key=place)


def of_newest_rounds(games: Sequence[GameView], alerting: Collection[GameId]) -> list[GameView]:
    """Without those that are over, ask for no notice, and are of a round of their event before the
    newest that has begun. What has no number is not earlier.
    """
    newest: dict[str, int] = {}
    numbers = [(game, main_event(game), round_of(game.round)) for game in games]
    for game, event, number in numbers:
        if game.plies_played:
            newest[event] = max(newest.get(event, 0), number or 0)
    return [
        game
        for game, event, number in numbers
        if game.running or number is None or number >= newest.get(event, 0) or game.id in alerting
    ]


# --- the view -------------------------------------------------------------------------------------


_CURVE_CELLS = 6
#: By their heads, in the order in which they stand.
COLUMNS = {
    column.head: column
    for column in (
        Column("Rd", 2),
        Column("Elo", 4, sided=True),
        Column("Plays like", 5, sided=True),
        Column("Curve", _CURVE_CELLS, sided=True, to_right=False),
        Column("Score", 6),
        Column("Move", 4),
        Column("Clocks", 5, sided=True),
        Column("Age", 4),
        Column("Pct", 5, sided=True),
        Column("n", 3, sided=True),
    )
}
#: What gives way last comes first.
_FOR_RATINGS = ("Rd", "Plays like", "Score", "Elo", "Curve", "Clocks", "Move", "Age", "Pct", "n")
_FOR_ARBITERS = ("Rd", "Score", "Clocks", "Move", "Age", "Plays like", "Elo", "Curve", "Pct", "n")
#: Pointer, sign of the alert, board number, and the gaps around both names.
_LEFT = 1 + 2 + 3 + 3
_LEAST_NAME, _MOST_NAME = 11, 24
#: A name has its title from this width on.
_TITLED = 16
#: From this width on, the selected board stands beside the list, else below it.
_BESIDE_FROM = 100
#: Below the list: the selected board and what happened last, lines.
_SUMMARY = 14
#: Lines of the list that stay when the board is below it.
_LEAST_LIST = 4


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


class BoardsView(ListView[GameView]):
    name = "Boards"
    empty = "no board is listed"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.order = "board"
        self.clocks = False
        """Clocks come before ratings."""
        self.summary: Callable[[GameDetail, int, int], Panel] = lambda game, width, height: []
        """Draws the selected board in so many cells and lines."""
        self.figure_key: Callable[[], KeyHint] = lambda: KeyHint("")
        """Changes the figure whose curves are drawn there."""
        self.unfolded = False
        """Finished boards of earlier rounds are listed, too."""
        self._wrong_cells = 0
        """What the list had room for."""
        self._worst: dict[GameId, Alert] = {}
        self._known: set[GameId | None] = set()
        """Boards whose alerts somebody took note of."""
        self._finished: dict[GameId, tuple[GameView, float | None]] = {}
        """What the order that finished games have a place in goes by."""
        self._asking: Counter[GameId | None] = Counter()
        """How many of each board's alerts ask for notice."""

    def draw(self, width: int, height: int) -> Panel:
        context = self._context
        alerts = list(context.state.alerts())
        self._worst = worst_by_board(alerts)
        self._known = {alert.game for alert in alerts} - {*self._worst}
        self._asking = Counter(alert.game for alert in alerts if asks(alert))
        every = views = list(context.state.games())
        if self.query:
            views = list(filter(board_matcher(self.query), every))
        elif not self.unfolded:
            views = of_newest_rounds(every, self._worst)
        self.listed = ordered(views, self._worst, self._value)
        known = {view.id for view in views} & self._finished.keys()
        self._finished = {id: self._finished[id] for id in known}
        if not self.listed:
            text = "No board yet: they appear as soon as a source sends them"
            if self.query:
                text = f"No board matches {self.query!r}: esc shows all"
            return filled([Text(), styled(f"  {text}", "dim")], height)
        folded = 0 if self.query else len(every) - len(views)
        return self._beside_board(folded, width, height)

    def _beside_board(self, folded: int, width: int, height: int) -> Panel:
        """The list, and the board under the cursor right of it or below."""
        if width >= _BESIDE_FROM:
            own = width * 14 // 25
            rows = self._rows(folded, own, height)
            told = [Text(), *self._moments(own, height - len(rows) - 1)]
            right = width - own - 2
            return beside([(filled(rows + told, height), own), (self._board(right, height), right)])
        summary = min(_SUMMARY, height - _LEAST_LIST)
        if summary < _SUMMARY - 1:
            return filled(self._rows(folded, width, height), height)
        rows = self._rows(folded, width, height - summary)
        told = self._moments(width, 1)
        board = self._board(width, height - len(rows) - len(told))
        return [*rows, *board, *told]

    def _rows(self, folded: int, width: int, height: int) -> Panel:
        """Heads, and a line for each board that there is room for."""
        rounds = len({_round(game) for game in self.listed}) > 1
        wrong = (self._wrong(game, self._worst.get(game.id))[0] for game in self.listed)
        by = ORDERS[self.order].head
        plan = layout(width, max(map(cell_len, wrong)), by, rounds=rounds, clocks=self.clocks)
        self._wrong_cells = plan[-1].width
        lines = [heads("   ", plan, by)]
        for view in self.seen(max(1, height - 1 - bool(folded))):
            game = self._context.state.game(view.id)
            if game is not None:
                lines.append(self.pointed(view, self._row(game, plan)))
        if folded:
            more = f"and {counted(folded, 'board')} of earlier rounds, all over"
            lines.append(styled(f"   {more}: tab, or / and: round 7", "dim"))
        return lines

    def _board(self, width: int, height: int) -> Panel:
        """The board under the cursor; above it what is wrong, where the list had to cut that."""
        here = self.selected()
        game = self._context.state.game(here.id) if here else None
        if game is None:
            return []
        wrong, style = self._wrong(game, self._worst.get(game.id))
        if cell_len(wrong) <= self._wrong_cells:
            return filled(self.summary(game, width, height), height)
        whole = styled(fit(f" {wrong}", width), style)
        return filled([whole, *self.summary(game, width, height - 1)], height)

    def _moments(self, width: int, most: int) -> Panel:
        """What happened last, the newest first."""
        told = sorted(self._context.state.moments(), key=lambda each: -(each.at_s or 0.0))
        boards = {view.id: view.board for view in self._context.state.games()}
        lines = []
        for each in told[: max(0, most)]:
            board = boards.get(each.game)
            number = "·" if board is None else str(board)
            text = plain(each.text.en, 300)
            lines.append(Text.assemble((f" ★ {right(number, 2)} ", "accent"), fit(text, width - 6)))
        return lines

    def _value(self, view: GameView) -> float | None:
        """What the order goes by; of a game that is over it is worked out once."""
        order, over = ORDERS[self.order], not view.running
        if order.value is None or (over and not order.finished):
            return None
        known = self._finished.get(view.id)
        if over and known is not None and known[0] == view:
            return known[1]
        game = self._context.state.game(view.id)
        age_s = self._context.changes.age_s(view.id, view.plies_played)[0]
        value = order.value(game, age_s) if game else None
        if over:
            self._finished[view.id] = view, value
        return value

    def _row(self, game: GameDetail, plan: Sequence[Column]) -> Text:
        worst = self._worst.get(game.id)
        wrong, style = self._wrong(game, worst)
        new = game.plies and self._context.changes.is_new(game.id, game.plies[-1].ply)
        open_problem = game.problem and game.id not in self._known
        sign = SIGNS[worst.severity] if worst else "!" if open_problem else "•" if new else ""
        line = styled(left(sign, 2), style or "warn")
        cells = self._cells(game) | {"What is wrong": [(wrong, style)]}
        for player, column in zip((game.white, game.black), plan[1:3], strict=True):
            title = plain(player.title or "", 4) if column.width >= _TITLED else ""
            cells[column.head] = [(f"{title} {plain(player.name, 40)}".lstrip(), "text")]
        for column in plan:
            for text, style_of in cells[column.head]:
                line.append(column.set(text), style_of).append(" ")
        line.right_crop()
        return line

    def _wrong(self, game: GameView, worst: Alert | None) -> tuple[str, str]:
        """What is wrong with it in words, and how that is drawn."""
        if worst is not None:
            more = f" (+{others})" if (others := self._asking[game.id] - 1) else ""
            return plain(point_of(worst, game), 200) + more, SEVERITY_STYLES[worst.severity]
        return problem_of(game), "warn" if game.problem and game.id not in self._known else "dim"

    def _cells(self, game: GameDetail) -> dict[str, list[tuple[str, str]]]:
        """Each column's texts with their styles; a sided one has two."""
        changes, last = self._context.changes, game.plies[-1] if game.plies else None
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
            "Rd": [(main_round(game.round), "dim")],
            "Elo": [(str(getattr(game, color).elo or ""), "dim") for color in COLORS],
            "Move": [(move, "changed" if new else "")],
            "Curve": [(curve_cell(game, color), color) for color in COLORS],
            "Clocks": [clock_cell(game, color, changes) for color in COLORS],
            "Age": [(age if exact or not age else f">{age}", "dim")],
            "Score": [(score, over)],
            # What is early says nothing yet; what is over will not change.
            "Plays like": [
                (figure_cell("perceived", point), "dim" if is_early(point) else over)
                for point in points
            ],
            "Pct": [(figure_cell("percentile", point), "") for point in points],
            "n": [(figure_cell("counted", point), "dim") for point in points],
        }

    def caption(self) -> str:
        """How many boards, and by what."""
        return self.filtered(f"{counted(len(self.listed), 'board')} by {self.order}")

    # --- keys -------------------------------------------------------------------------------------

    def open(self, about: str) -> None:
        self.query = about

    def about(self) -> GameId | None:
        here = self.selected()
        return here.id if here else None

    def offers(self) -> list[KeyHint]:
        clocks = partial(setattr, self, "clocks", not self.clocks)
        fold = partial(setattr, self, "unfolded", not self.unfolded)
        return [
            self.enter_key("board", "look at this board in depth"),
            *self.filter_keys("list only boards with these words; !word leaves out; round 8"),
            KeyHint("s", "sort", "by board, clock, age, perceived rating", self._sort),
            KeyHint("f", "clocks", "clocks first, or ratings first", clocks),
            self.figure_key(),
            KeyHint("tab", "", "finished boards of earlier rounds, too", fold),
            self.move_key("from board to board"),
        ]

    def neighbour(self, game: GameId, step: int) -> GameId | None:
        """Put the cursor on the board ``step`` places further in the list."""
        ids = [row.id for row in self.listed]
        if not ids:
            return None
        found = ids[(ids.index(game) + step) % len(ids)] if game in ids else ids[0]
        self.cursor = found
        return found

    def _sort(self) -> None:
        names = list(ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self._context.notify(f"Sorted {ORDERS[self.order].explained}; alerts stay on top")


# --- players ------------------------------------------------------------------------------------

#: Players are listed afresh at most this often, seconds: it takes everybody's every figure.
LIST_S = 1.0
_MOST_PLAYER = 32
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
    """Those whom the filter takes, the best first; whose figure is unknown or early last. Places
    count in the whole field, whoever is listed.
    """
    figure, matches = BY_ID[sort], matcher(query)
    return [
        row
        for row in standings(views, lambda view: sorting_value(figure, view, engine_rating))
        if matches(f"{plain(row.view.name, 60)} {row.view.elo or ''}", None)
    ]


class PlayersView(ListView[Standing]):
    name = "Players"
    empty = "nobody is listed"
    sort = SORTS[0]
    _asked = ("", "")
    _listed_s = -LIST_S

    def id_of(self, line: Standing) -> str:
        return line.view.id

    def draw(self, width: int, height: int) -> Panel:
        state, now_s = self._context.state, self._context.changes.now()
        rating, asked = state.engine().rating, (self.query, self.sort)
        if asked != self._asked or now_s - self._listed_s >= LIST_S:
            self._asked, self._listed_s = asked, now_s
            self.listed = listed(tuple(state.players()), *asked, rating)
        if not self.listed:
            text = f"nobody matches {self.query!r}" if self.query else "nobody yet"
            return filled([Text(), styled(f"  {text}")], height)
        columns = figure_columns(width, gap=1)
        used = RANK + 2 + sum(column.width + 1 for column in columns)
        name = max(1, min(_MOST_PLAYER, width - used))
        every = (Column("Player", name, to_right=False), *columns)
        worst = worst_by_board(state.alerts())
        alerting = {player for game in worst for player in state.player_ids(game)}
        lines = [heads(f"{right('#', RANK - 1)}  ", every, BY_ID[self.sort].head)]
        for row in self.seen(max(1, height - 1)):
            view = row.view
            line = Text.assemble(
                (f"{right(row.text, RANK - 2)} ", "dim"),
                ("!" if view.id in alerting else " ", "bad"),
                (left(plain(view.name, 40), name), "text"),
            )
            styles = {"usual": "dim", "perceived": "dim" if is_early(view) else "strong"}
            for column in columns:
                text = column.set(figure_cell(column.figure, view, rating))
                line.append(f" {text}", styles.get(column.figure, "text"))
            lines.append(self.pointed(row, line))
        return filled(lines, height)

    def caption(self) -> str:
        """How many players are listed, and by what."""
        by = BY_ID[self.sort].name
        return self.filtered(f"{counted(len(self.listed), 'player')} by {by[:1].lower()}{by[1:]}")

    # --- keys -------------------------------------------------------------------------------------

    def offers(self) -> list[KeyHint]:
        return [
            self.enter_key("player", "every figure of this player"),
            *self.filter_keys("list only players with these words"),
            KeyHint("s", "sort", "by another of the columns", self._sort),
            self.move_key("from player to player"),
        ]

    def _sort(self) -> None:
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]


class PlayerPage(PageView):
    """Every figure of one player over the event."""

    name = "Player"
    player = ""

    def open(self, about: str) -> None:
        self.player = about
        self.top()

    def _view(self) -> PlayerView | None:
        views = self._context.state.players()
        return next((view for view in views if view.id == self.player), None)

    def lines(self, width: int) -> Panel:
        rating, view = self._context.state.engine().rating, self._view()
        if view is None:
            return [Text(), styled("  This player is gone: esc goes back")]
        name = plain(view.name, 60) or "?"
        lines = [styled(f" {name}, {counted(view.games, 'game')}", "head")]
        for figure in LIVE_FIGURES:
            value = figure_cell(figure.id, view, rating)
            ends = ends_cell(figure, view, rating)
            unit = f" {figure.unit}" if figure.unit in ("cp", "Elo") and value[:1].isdigit() else ""
            said = f"{value}{unit}{f' ({ends})' if ends else ''}"
            if value in ("", "·"):
                said = figure.missing
            lines.append(_figure_line(figure.name, said, figure.meaning))
        return lines

    def offers(self) -> list[KeyHint]:
        return [
            KeyHint("enter", "boards", "this player's boards", self._boards),
            *super().offers(),
            KeyHint("", "back", "back to the list", shown="esc"),
        ]

    def _boards(self) -> None:
        if (view := self._view()) is not None:
            self._context.show("boards", plain(view.name, 60))


def _figure_line(name: str, said: str, meaning: str) -> Text:
    return Text.assemble(
        (f" {left(plain(name, 26), 26)} ", "strong"),
        (said if len(said) > 22 else f"{said:<22}", "text"),
        (f" {meaning}", "dim"),
        no_wrap=True,
    )
