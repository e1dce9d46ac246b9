"""The view of all boards, two lines a board: White above, Black below.

Names give way on a narrow terminal, figures never do. On a wide one more figures come in; when more
boards are listed than fit one below the other, two columns of boards stand side by side. A row is
made from the whole game, and made again only when its board changed: 256 boards at full pace cost
little.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import get_args

import msgspec
from rich.cells import cell_len
from rich.text import Text

from live.catalogue import BY_ID, EARLY_MOVES
from live.events import (
    Color,
    CurvePoint,
    FigureChoice,
    GameDetail,
    GameId,
    GameView,
    PlyView,
)
from live.games.game import move_number
from live.ledger.roster import main_event
from live.publish.published_state import game_order
from live.ratings.pace_of_play import Pace, pace_of
from live.terminal.recent_changes import RecentChanges
from live.terminal.text import (
    age_text,
    beside,
    clock_left_s,
    clock_runs,
    clock_text,
    counted,
    figure_cells,
    filled,
    left,
    matcher,
    move_text,
    odds_bar,
    plain,
    ply_score,
    right,
    sparkline,
    styled,
)
from live.terminal.view_context import KeyHint, ListView, ViewContext, asking

COLORS: tuple[Color, ...] = get_args(Color)
#: Scores beyond ten pawns say the same: won (lichess, modules/analyse AccuracyPercent).
SWING_CAP_CP = 1000
#: A swing is looked for in so many last moves of both sides.
SWING_PLIES = 4
NAME_CELLS = 40


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


def is_early(point: CurvePoint | None) -> bool:
    """Whether too few moves are counted."""
    return point is None or point.counted < EARLY_MOVES


def best_strength(game: GameDetail) -> float | None:
    """The higher perceived rating that is not early."""
    points = [last_point(game, color) for color in COLORS]
    known = (x.perceived for x in points if x and not is_early(x) and x.perceived is not None)
    return max(known, default=None)


def least_clock_s(game: GameDetail) -> float | None:
    """The shorter clock of a game that runs."""
    clocks = (ply.clock_s for ply in last_plies(game).values() if ply.clock_s is not None)
    return min(clocks, default=None) if game.result == "*" else None


def problem_of(game: GameDetail) -> str:
    """What is wrong with it, or that only the journal holds it."""
    return plain(game.problem or (RESTORED if game.restored else ""), 60)


def words(game: GameDetail) -> str:
    """What a filter looks at."""
    players = (f"{plain(x.title or '', 4)} {plain(x.name)}" for x in (game.white, game.black))
    state = "running" if game.result == "*" else f"finished {game.result}"
    return " ".join((plain(main_event(game)), game.round, *players, state, problem_of(game)))


def odds_of(game: GameDetail) -> tuple[float, float] | None:
    """How likely White is to win, and the game to be drawn; None after the end and while nobody
    knows. That of the last position whose score is known.
    """
    if game.result != "*":
        return None
    for ply in reversed(game.plies[-2:]):
        if ply.win is not None and ply.draw is not None:
            return ply.win, ply.draw
    return None


def swing_cp(game: GameDetail) -> int | None:
    """The largest change of the score over one of the last four plies; None while unknown."""
    scores = [
        max(-SWING_CAP_CP, min(SWING_CAP_CP, ply.score_cp))
        for ply in game.plies[-SWING_PLIES - 1 :]
        if ply.score_cp is not None
    ]
    if len(scores) < 2:
        return None
    return max(abs(after - before) for before, after in pairwise(scores))


class BoardRows:
    """The games that are listed, kept up with the state."""

    def __init__(self, changes: RecentChanges) -> None:
        self._changes = changes
        self._games: dict[GameId, GameDetail] = {}

    def refresh(
        self, ids: Sequence[GameId], game: Callable[[GameId], GameDetail | None]
    ) -> list[GameDetail]:
        """These games; those that changed are asked for again."""
        every, touched = self._changes.touched()
        known = {} if every else self._games
        found = ((id, None if id in touched else known.get(id)) for id in ids)
        self._games = {id: here for id, held in found if (here := held or game(id)) is not None}
        return list(self._games.values())


# --- clocks --------------------------------------------------------------------------------------

#: Seconds below which a clock is low, and nearly run out.
_LOW_S: dict[Pace, tuple[float, float]] = {
    "classical": (300.0, 60.0),
    "rapid": (60.0, 20.0),
    "blitz": (20.0, 10.0),
    "bullet": (10.0, 5.0),
}


def low_clock_s(time_control: str) -> tuple[float, float]:
    """Seconds below which a clock of this game is low, and nearly run out."""
    return _LOW_S[pace_of(time_control) or "classical"]


def clock_style(left_s: float | None, low_s: tuple[float, float]) -> str:
    """How what is left of a running game's clock is drawn; the number itself says the same."""
    if left_s is None or left_s >= low_s[0]:
        return ""
    return "bad" if left_s < low_s[1] else "warn"


# --- order ---------------------------------------------------------------------------------------


class BoardOrder(msgspec.Struct, frozen=True):
    """One way to sort."""

    key: str
    """Key to press."""
    name: str
    explained: str
    value: Callable[[GameDetail, float], float | None]
    """Greatest first; None comes last. The float is the board's time since its last move, s."""


def _clock_used(game: GameDetail, age_s: float) -> float | None:
    least_s = least_clock_s(game)
    return None if least_s is None else -least_s


_SWING = "largest change of the score in the last four plies first"
_STRONGEST = "highest perceived rating first, once it is not early"
_LEAST_TIME = "least time on a clock first, running games only"
_LONGEST = "longest without a move first, running games only"
ORDERS = {
    order.name: order
    for order in (
        BoardOrder("B", "board", "by event, round and board number", lambda game, age_s: 0.0),
        BoardOrder("S", "swing", _SWING, lambda game, age_s: swing_cp(game)),
        BoardOrder("R", "rating", _STRONGEST, lambda game, age_s: best_strength(game)),
        BoardOrder("T", "time trouble", _LEAST_TIME, _clock_used),
        BoardOrder("A", "age", _LONGEST, lambda game, age_s: age_s if game.result == "*" else None),
    )
}


def ordered(
    games: Iterable[GameDetail],
    order: BoardOrder,
    *,
    reverse: bool = False,
    pinned: Collection[GameId] = (),
    alerting: Collection[GameId] = (),
    age_s: Callable[[GameId], float] = lambda game: 0.0,
) -> list[GameDetail]:
    """Pinned boards first, then those in ``alerting``, then by ``order``; equal ones in the order
    of the pairing list.
    """
    found = sorted(games, key=game_order)
    if order.name == "board":
        found = found[::-1] if reverse else found
    else:
        values = {game.id: order.value(game, age_s(game.id)) for game in found}
        known = [game for game in found if values[game.id] is not None]
        known.sort(key=lambda game: values[game.id] or 0.0, reverse=not reverse)
        # Unknown stays last, whichever way round.
        found = known + [game for game in found if values[game.id] is None]
    return sorted(found, key=lambda game: (game.id not in pinned, game.id not in alerting))


def running_first(views: Sequence[GameView], limit: int) -> list[GameView]:
    """At most ``limit`` games in pairing order. Running games are chosen before finished ones, and
    of these the newest round: nobody scrolls here.
    """
    running = sorted((view for view in views if view.result == "*"), key=game_order)
    finished = sorted((view for view in views if view.result != "*"), key=game_order)
    finished.sort(key=_round, reverse=True)
    return sorted((running + finished)[:limit], key=game_order)


def _round(view: GameView) -> tuple[int, str]:
    """Sources write boards into rounds: 4.12 is board 12 of round 4."""
    _, parts, _, _ = game_order(view)
    return parts[0]


# --- the view -------------------------------------------------------------------------------------

#: From this width on two columns of boards stand side by side, each still with every figure.
TWO_COLUMNS = 164
_GAP = 3
RESULTS = {"1/2-1/2": "½-½", "1/2-0": "½-0", "0-1/2": "0-½"}
_LEAST_NAME, _MOST_NAME = 12, 30
_LEAST_CURVE, _MOST_CURVE = 5, 36


class SideColumn(msgspec.Struct, frozen=True):
    """One figure of a side."""

    name: str
    head: str
    width: int
    to_right: bool = True
    spill: int = 0
    """Cells of its head that reach into what the head before it leaves free."""

    def set(self, text: str, more: int = 0) -> str:
        """``text`` in its cells, and ``more``."""
        width = self.width + more
        return right(text, width) if self.to_right else left(text, width)


def append_cells(
    line: Text, columns: Iterable[SideColumn], texts: Mapping[str, str], styles: Mapping[str, str]
) -> None:
    """A cell for each column, a blank before it."""
    for column in columns:
        line.append(" ")
        line.append(column.set(texts.get(column.name, "")), styles.get(column.name, ""))


def side_cells(game: GameDetail, color: Color, context: ViewContext) -> tuple[dict[str, str], str]:
    """Rating, clock and figures of a side by the names of their columns; the clock's style."""
    plies, last = len(game.plies), last_plies(game).get(color)
    ran_s = 0.0
    if clock_runs(game, plies) is (color == "white"):
        ran_s = context.changes.ran_s(game.id, game.feed, plies)
    left_s = clock_left_s(last.clock_s, ran_s) if last else None
    figures = figure_cells(last_point(game, color), context.state.engine().rating)
    elo = getattr(game, color).elo
    style = clock_style(left_s, low_clock_s(game.time_control)) if game.result == "*" else ""
    return {"elo": str(elo or ""), "clock": clock_text(left_s), **figures}, style


def _curve(game: GameDetail, color: Color, choice: FigureChoice) -> list[float | None]:
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    return [each.perceived if choice == "perceived" else each.difference for each in points]


_FIXED = {
    column.name: column
    for column in (
        SideColumn("elo", "Elo", 4),
        SideColumn("score", "Score", 6),
        SideColumn("odds", "Odds", 6, to_right=False),
        SideColumn("clock", "Clock", 5),
        SideColumn("move", "Move", 9, to_right=False),
        SideColumn("plays", BY_ID["perceived"].head, 5, spill=5),
        SideColumn("usual", BY_ID["perceived"].interval, 9, to_right=False),
        SideColumn("percentile", BY_ID["percentile"].head, 5),
        SideColumn("a4", BY_ID["algorithm4"].head, 4),
        SideColumn("counted", BY_ID["counted"].head, 3),
        SideColumn("age", "Age", 3),
        SideColumn("swing", "Swing", 5),
        SideColumn("first", BY_ID["first_choice"].head, 4),
        SideColumn("loss", BY_ID["centipawn_loss"].head, 4),
    )
}
#: What there is always, and what comes in as the terminal gets wider, in this order.
_BASE = ("elo", "move", "clock", "plays", "usual", "percentile", "a4", "counted")
_MORE = ("score", "age", "odds", "swing", "first", "loss")


class BoardListLayout(msgspec.Struct, frozen=True):
    """Which figures one column of boards shows, and how wide."""

    width: int
    name: int
    columns: tuple[SideColumn, ...]
    curve: int


def layout(width: int, *, odds: bool) -> BoardListLayout:
    """The most figures that leave the names some room; ``odds``: whether anybody knows them."""
    names = list(_BASE)
    # Marks, board number, and the gaps around name and curve.
    free = width - 2 - 3 - 1 - (_LEAST_CURVE + 1)
    free -= sum(_FIXED[name].width + 1 for name in names)
    comfortable = _LEAST_NAME + 4
    for name in _MORE:
        if name == "odds" and not odds:
            continue
        if free - _FIXED[name].width - 1 >= comfortable:
            names.append(name)
            free -= _FIXED[name].width + 1
            comfortable = min(comfortable + 2, _MOST_NAME)
    spare = max(0, free - comfortable)
    name_width = max(_LEAST_NAME, min(_MOST_NAME, free - spare // 2))
    curve = max(0, min(_MOST_CURVE, _LEAST_CURVE + free - name_width))
    columns = tuple(_FIXED[name] for name in _FIXED if name in names)
    return BoardListLayout(width, name_width, columns, curve)


def heads(plan: BoardListLayout) -> Text:
    """The heads of one column of boards."""
    text = " " * 2 + right("Bd", 3) + " " + left("Player", plan.name)
    for column in plan.columns:
        room = len(text) - column.spill
        text = text[:room] + " " + column.set(column.head, column.spill)
    return styled(f"{text} {left('Curve', plan.curve)}" if plan.curve else text, "dim")


class BoardsView(ListView[GameDetail]):
    name = "Boards"
    empty = "no board is listed"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.order = "board"
        self.reverse = False
        self.alerts_first = False
        self._rows = BoardRows(context.changes)
        self._deep = 1
        self._alerting: set[GameId] = set()

    def draw(self, width: int, height: int) -> list[Text]:
        context, changes = self._context, self._context.changes
        views = list(context.state.games())
        self._deep = max(1, (height - 1) // 2)
        columns = 2 if width >= TWO_COLUMNS and len(views) > self._deep else 1
        if context.keyless:
            views = running_first(views, self._deep * columns)
        games = self._rows.refresh([view.id for view in views], context.state.game)
        changes.feeds(context.state.feeds())
        if self.query:
            matches = matcher(self.query)
            games = [game for game in games if matches(words(game), game.board)]
        self._alerting = asking(context.state.alerts())
        self.listed = ordered(
            games,
            ORDERS[self.order],
            reverse=self.reverse,
            pinned=context.pinned,
            alerting=self._alerting if self.alerts_first else (),
            age_s=lambda game: changes.age_s(game)[0],
        )
        if len(self.listed) <= self._deep:
            columns = 1
        self.page = self._deep * columns
        seen = self.seen(self.page)
        if not seen:
            text = "No board yet: they appear as soon as a source sends them"
            if self.query:
                text = f"No board matches {self.query!r}: esc shows all"
            return filled([Text(), styled(f"  {text}", "dim")], height)
        each = (width - _GAP * (columns - 1)) // columns
        plan = layout(each, odds=any(odds_of(game) is not None for game in self.listed))
        blocks = []
        for start in range(0, self.page, self._deep):
            lines = [heads(plan)]
            for game in seen[start : start + self._deep]:
                lines += self._board(game, plan)
            blocks.append((lines, each))
        return filled(blocks[0][0] if columns == 1 else beside(blocks, _GAP), height)

    def _board(self, game: GameDetail, plan: BoardListLayout) -> list[Text]:
        """The two lines of one board."""
        context = self._context
        here = game.id == self.cursor and not context.keyless
        age_s, exact = context.changes.age_s(game.id)
        age = age_text(age_s) if game.result == "*" else ""
        swing, odds = swing_cp(game), odds_of(game)
        ours = {
            "age": age if exact or not age else f">{age}"[:3],
            "swing": "" if swing is None else f"{swing / 100:.2f}",
            "odds": "" if odds is None else odds_bar(*odds, _FIXED["odds"].width),
        }
        number = str(game.board) if game.board is not None else "·"
        result = "" if game.result == "*" else RESULTS.get(game.result, game.result)
        pointer = "▌" if here else " "
        pin = "★" if game.id in context.pinned else pointer
        lines = [
            self._side(game, "white", pin, number, plan, ours),
            self._side(game, "black", pointer, result, plan, {}),
        ]
        if here:
            for line in lines:
                line.stylize_before("cursor")
        return lines

    def _side(
        self,
        game: GameDetail,
        color: Color,
        pin: str,
        number: str,
        plan: BoardListLayout,
        ours: dict[str, str],
    ) -> Text:
        context = self._context
        white = color == "white"
        player, methods = getattr(game, color), getattr(game.methods, color)
        last = last_plies(game).get(color)
        new = last is not None and context.changes.is_new(game.id, last.ply)
        wrong = (problem_of(game) or game.id in self._alerting) and not white
        name = f"{'○' if white else '●'} {plain(player.title, 4) + ' ' if player.title else ''}"
        line = Text.assemble(
            (pin, "accent"),
            ("!", "bad") if wrong else ("•" if new else " ", "warn"),
            (right(number, 3) + " ", "dim" if white else "strong"),
            (name, "strong"),
            left(plain(player.name, NAME_CELLS), plan.name - cell_len(name)),
            no_wrap=True,
        )
        cells, clock = side_cells(game, color, context)
        first, loss = methods.first_choice.share, methods.centipawn_loss
        texts = {
            **cells,
            "move": move_text(game, last, "…") if last else "",
            "score": ply_score(last) if last else "",
            "first": "" if first is None else f"{100 * first:.0f}%",
            "loss": "" if loss is None else f"{loss:.0f}",
            **ours,
        }
        early = is_early(last_point(game, color))
        styles = {
            "clock": clock,
            **dict.fromkeys(("elo", "usual", "a4", "counted", "age"), "dim"),
            "move": "changed" if new else "",
            # What is early says nothing yet; what is over will not change.
            "plays": "dim" if early else "" if game.result == "*" else "strong",
        }
        append_cells(line, plan.columns, texts, styles)
        curves = {each: _curve(game, each, context.figure) for each in COLORS}
        known = [value for curve in curves.values() for value in curve if value is not None]
        if known and plan.curve:
            curve = sparkline(curves[color], plan.curve, min(known), max(known))
            line.append(" " + curve, color)
        return line

    def caption(self) -> str:
        """How the boards are sorted and filtered, and what is wrong with the one selected."""
        if self._context.keyless:
            more = len(list(self._context.state.games())) - len(self.listed)
            return f"and {more} more boards: enlarge the terminal" if more else ""
        first = "alerts, " if self.alerts_first else ""
        turned = " ▴" if self.reverse else ""
        text = self.filtered(f"{counted(len(self.listed), 'board')} by {first}{self.order}{turned}")
        here = self.selected()
        if here is not None and len(self._context.state.feeds()) > 1:
            text += f" · from {plain(here.feed, 24)}"
        if here is not None and (problem := problem_of(here)):
            text += f" · ! {problem}"
        return text

    # --- keys -------------------------------------------------------------------------------------

    def offers(self) -> list[KeyHint]:
        here = self.selected()
        sideways = "from board to board; ←→ h l between columns of boards"
        return [
            KeyHint("enter", "open", "look at this board in depth", self._open, self.none()),
            *self.filter_keys("list only boards with these words; !word leaves out"),
            KeyHint("", "sort", shown="⇧"),
            *(
                KeyHint(
                    order.key,
                    "",
                    f"sort {order.explained}; again turns it round",
                    partial(self._sort, order),
                )
                for order in ORDERS.values()
            ),
            KeyHint("exclamation_mark", "", "boards with open alerts first, or not", self._up),
            self.move_key(sideways),
            *self._context.board_keys(here.id if here else None),
        ]

    def steps(self) -> dict[str, int]:
        far, deep = len(self.listed), self._deep
        across = {"right": deep, "l": deep, "left": -deep, "h": -deep}
        return {**super().steps(), **across, "g": -far, "G": far}

    def neighbour(self, game: GameId, step: int) -> GameId | None:
        """The board ``step`` places further in the list."""
        ids = [row.id for row in self.listed]
        if game not in ids:
            return ids[0] if ids else None
        return ids[(ids.index(game) + step) % len(ids)]

    def _open(self) -> None:
        self._context.show(self.cursor)

    def _sort(self, order: BoardOrder) -> None:
        self.reverse = not self.reverse if order.name == self.order else False
        self.order = order.name
        turned = ", turned round" if self.reverse else ""
        self._context.notify(f"Sorted {order.explained}{turned}")

    def _up(self) -> None:
        self.alerts_first = not self.alerts_first
        first = "Boards with open alerts first" if self.alerts_first else "Alerts move no board"
        self._context.notify(first)
