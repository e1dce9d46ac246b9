"""The view of one board: position, moves with gains, both players' figures and curves;
whole, or as a part of the screen beside the list.
"""

import contextlib
from collections.abc import Callable
from itertools import pairwise

import chess
import msgspec
from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from live.catalogue import (
    is_final,
    sentence,
)
from live.games.game import number_move
from live.messages.figures import GameDetail, PlyView
from live.messages.values import Color, GameId
from live.screens.terminal.board_rows import RESTORED, RESULTS, clock_cell, last_point
from live.screens.terminal.charts import chances, move_axis, rating_chart, score_chart
from live.screens.terminal.text import (
    FEED_SIGNS,
    SEVERITY_STYLES,
    Column,
    Panel,
    age_text,
    clock_text,
    figure_cell,
    filled,
    fit_name,
    heads,
    how,
    left,
    move_text,
    odds_text,
    place_side_by_side,
    place_sign,
    plain,
    ply_score,
    point_of,
    right,
    share_text,
    styled,
    wrapped,
)
from live.screens.terminal.view_context import ViewContext, asks
from live.screens.terminal.widgets import Lines, RowList, View, entitle
from live.watch.finding import SIGNS, count_things, in_order

# --- the position ---------------------------------------------------------------------


def diagram(board: chess.Board, *, coloured: bool) -> Panel:
    """White below, 2 cells a square: 9 lines of 18 cells. White's men are outlines,
    Black's are filled; without colours a dot marks the dark squares.
    """
    last = board.peek() if board.move_stack else None
    marked = {last.from_square, last.to_square} if last else set()
    lines: Panel = []
    for rank in range(7, -1, -1):
        line = styled(f"{rank + 1} ", "dim")
        for square in chess.SquareSet(chess.BB_RANKS[rank]):
            dark, man, start = square in _DARK, board.piece_at(square), len(line)
            ground = "dark_square" if dark else "light_square"
            sign = man.unicode_symbol() if man else " " if coloured or not dark else "·"
            style = (
                "dim" if man is None else "white_piece" if man.color else "black_piece"
            )
            line.append(f"{sign} ", style)
            line.stylize("last_move" if square in marked else ground, start)
        lines.append(line)
    return [*lines, styled("  a b c d e f g h", "dim")]


_DARK = chess.SquareSet(chess.BB_DARK_SQUARES)

# --- the move list --------------------------------------------------------------------

#: A loss of this much of the winning chances, which run from -1 to 1, earns the sign
#: (lichess, modules/tree Advice.scala).
_SIGNS = ((0.3, "??"), (0.2, "?"), (0.1, "?!"))
#: Of a move that few would have found, and of one that sets a trap.
PRAISE = {"find": "!", "trap": "!?"}
#: Of one side: pointer, move with sign, gain, score.
_SIDE_CELLS = 1 + 9 + 7 + 8
_CLOCK_CELLS = 6
#: Width of the list without clocks: number, and both sides.
MOVE_CELLS = 3 + 2 * _SIDE_CELLS


def signs(game: GameDetail) -> list[str]:
    """The sign of every ply; none while a score is provisional. The engine's first
    choice is no mistake, whatever it says of it a move later. What lost nothing may be
    a find or set a trap.
    """
    scores = [
        game.start_score_cp,
        *(ply.score_cp if ply.final else None for ply in game.plies),
    ]
    found = []
    for ply, (before, after) in zip(game.plies, pairwise(scores), strict=True):
        lost = 0.0
        if (
            before is not None
            and after is not None
            and (ply.gain_cp is None or ply.gain_cp < 0)
        ):
            lost = chances(before) - chances(after)
        lost *= 1 if number_move(game, ply.ply)[1] else -1
        mark = next((mark for limit, mark in _SIGNS if lost >= limit), "")
        found.append(mark or PRAISE.get(ply.mark or "", ""))
    return found


def move_heads(width: int) -> Text:
    """The heads of the list of moves; with clocks where there is room for them."""
    clock = clock_cells(width)
    head = "".join(
        left(f" {color}", 10)
        + right("gain", 7)
        + right("score ", 8)
        + right("clock", clock)
        for color in ("○ White", "● Black")
    )
    return styled(f"    {head}".rstrip(), "dim")


def clock_cells(width: int) -> int:
    """Return the cells of a clock in the list of moves: none where there is no room."""
    return _CLOCK_CELLS if width >= MOVE_CELLS + 2 * _CLOCK_CELLS else 0


def move_rows(game: GameDetail, cursor_ply: int, width: int) -> dict[int, Text]:
    """Return a line for each move number, in order."""
    clock = clock_cells(width)
    rows: dict[int, Text] = {}
    for ply, mark in zip(game.plies, signs(game), strict=True):
        number, white = number_move(game, ply.ply)
        if number not in rows:
            rows[number] = styled(right(str(number), 3), "dim")
            if not white:  # the game began with Black's move
                rows[number].append(" " * (_SIDE_CELLS + clock))
        _append(rows[number], ply, mark, cursor_ply == ply.ply, clock)
    return rows


def _append(line: Text, ply: PlyView, mark: str, here: bool, clock: int) -> None:
    start = len(line)
    # The cursor is a sign as well: some terminals show no background.
    line.append("▸" if here else " ", "accent")
    line.append(ply.san, "strong" if mark else "text")
    style = "bad" if mark == "??" else "good" if mark in PRAISE.values() else "warn"
    line.append(left(mark, 9 - len(ply.san)), style)
    gain = "·" if ply.gain_cp is None else f"{ply.gain_cp / 100:+.2f}"
    line.append(right(gain, 7), "text" if ply.gain_cp else "dim")
    score = ply_score(ply)
    score += "" if ply.score_cp is None or score.endswith("~") else " "
    line.append(right(score, 8), "text" if ply.final else "dim")
    line.append(right(clock_text(ply.clock_s), clock), "dim")
    if here:
        line.stylize_before("cursor", start)


# --- a board on the screen ------------------------------------------------------------

_DIAGRAM = 20
#: The diagram and its letters, lines.
_SQUARES = 9
#: From this height on, the view says in words what the figures mean.
_SAID_FROM = 34
#: From this height on, a part of the screen has a diagram.
_DIAGRAM_FROM = 30
#: Fewer lines say nothing.
_LEAST_CHARTS = 5
#: What stands beside a player's name: of the perceived rating, and of Algorithm 4,
#: which has a scale of its own.
_SIDE_COLUMNS = {
    "perceived": (
        Column("Elo", 4, "elo"),
        Column("Plays like", 11, "perceived"),
        Column("usual", 9, "usual", to_right=False),
        Column("Better than", 11, "percentile"),
        Column("Moves", 5, "counted"),
        Column("Clock", 5, "clock"),
    ),
    "algorithm4": (
        Column("Algorithm 4", 11, "algorithm4"),
        Column("95 %", 9, "interval", to_right=False),
        Column("Clock", 5, "clock"),
    ),
}
#: A name has its title from this width on.
_TITLED = 16
#: Sign of a side, and the other.
_SIDES: tuple[tuple[str, Color, Color], ...] = (
    ("○", "white", "black"),
    ("●", "black", "white"),
)
#: The widths from which what is drawn elsewhere too has room.
_ROOM_FROM = {"percentile": 60, "usual": 76, "counted": 76}
#: Lines of what is wrong.
_MOST_WRONG = 3


class BoardDrawing:
    """What is drawn of one board, with a cursor in its moves."""

    def __init__(self, context: ViewContext) -> None:
        self.context = context
        self.ply: int | None = None
        """Under the cursor; None goes with the last move."""
        self.figure = "perceived"
        """Whose curves are drawn; Algorithm 4's by a key."""
        self._shown: tuple[object, ...] = ()
        """What the charts show."""
        self._charts: Panel = []

    def change_figure(self) -> None:
        """Draw the perceived rating or Algorithm 4."""
        self.figure = "algorithm4" if self.figure == "perceived" else "perceived"

    def at(self, game: GameDetail) -> int:
        """The ply under the cursor; 0 is the starting position."""
        return len(game.plies) if self.ply is None else self.ply

    def headline(self, game: GameDetail) -> str:
        """How the game stands and where it is from; what gives way on a narrow terminal
        last.
        """
        context = self.context
        age_s, exact = context.changes.age_s(game.id, len(game.plies))
        behind = game.plies_played - game.plies_scored
        states = {feed.feed: feed.state for feed in context.state.feeds()}
        sources = (
            f"{FEED_SIGNS.get(states.get(name, ''), '')} {plain(name, 40)}".lstrip()
            for name in (game.feed, *game.also)
        )
        parts = [
            "Board" if game.board is None else f"Board {game.board}",
            "" if game.running else RESULTS.get(game.result, game.result),
            RESTORED if game.restored and not game.problem else "",
            f"{count_things(behind, 'move')} to score" if behind > 1 else "",
            f"last move {age_text(age_s)} ago" if exact and game.running else "",
            f"round {plain(game.round, 8)}" if game.round else "",
            f"from {' and '.join(sources)}",
            plain(game.event, 40),
        ]
        return " · ".join(filter(None, parts))

    def wrong(self, game: GameDetail, width: int) -> Panel:
        """Return what is wrong, in whole sentences."""
        alerts = [x for x in in_order(self.context.state.alerts()) if x.game == game.id]
        said = [
            (
                f"{SIGNS[x.severity]} {plain(point_of(x, game), 200)}",
                SEVERITY_STYLES[x.severity],
            )
            for x in filter(asks, alerts)
        ]
        if not said and (problem := game.problem or game.dispute):
            said.append((f"! {plain(problem, 200)}", "dim" if alerts else "warn"))
        return wrapped(said, width)[:_MOST_WRONG]

    def players(self, game: GameDetail, width: int) -> Panel:
        """Return a head, and a line for each player with figures and clock."""
        context = self.context
        columns = [
            msgspec.structs.replace(each, head="Played like")
            if each.figure == "perceived" and is_final(game)
            else each
            for each in _SIDE_COLUMNS[self.figure]
            if width >= _ROOM_FROM.get(each.figure, 0)
        ]
        name = min(40, width - 2 - sum(each.width + 1 for each in columns))
        rating = context.state.engine().rating
        lines = [heads("  ", (Column("Player", name, to_right=False), *columns), "")]
        for sign, color, _ in _SIDES:
            player, point = getattr(game, color), last_point(game, color)
            clock, clock_style = clock_cell(game, color, context.changes)
            own = {"elo": str(player.elo or ""), "clock": clock}
            styles = {"usual": "dim", "interval": "dim", "clock": clock_style}
            styles["perceived"] = how(point)
            has_title = player.title and name >= _TITLED
            title = f"{plain(player.title, 4)} " if has_title else ""
            line = styled(f"{sign} ", color).append(title, "strong")
            room = name - cell_len(title)
            line.append(left(fit_name(plain(player.name, 40), room), room))
            sign_before = " "
            for each in columns:
                key = each.figure
                text = own[key] if key in own else figure_cell(key, point, rating)
                line.append(sign_before).append(each.set(text), styles.get(key, ""))
                sign_before = place_sign(point) if key == "perceived" else " "
            lines.append(line)
        return lines

    def explain(self, game: GameDetail) -> Panel:
        """Return a sentence for each player: what the figure means here."""
        lines = []
        for sign, color, other in _SIDES:
            point, final = last_point(game, color), is_final(game)
            elo, opponent = getattr(game, color).elo, getattr(game, other).elo
            text = sentence(point, elo, opponent, final=final) if point else ""
            lines.append(
                styled(f"{sign} {text or game.note or 'no figure yet'}", "dim")
            )
        return lines

    def position(self, game: GameDetail) -> Panel:
        """The diagram with what was played and what the engine would have; how many
        players of these ratings would play it, how hard the reply is; who looked, and
        how deep.
        """
        context, at = self.context, self.at(game)
        ply, best = game.plies[at - 1] if at else None, ""
        try:
            board = chess.Board(game.start_fen, chess960=game.variant == "chess960")
            for each in game.plies[: max(0, at - 1)]:
                board.push_uci(each.uci)
            if ply is not None:
                with contextlib.suppress(ValueError):
                    best = board.san(chess.Move.from_uci(ply.best)) if ply.best else ""
                board.push_uci(ply.uci)
        except ValueError:  # a variant that we do not know
            return [styled(f"no diagram of {plain(game.variant, 20)}", "dim")]
        lines = diagram(board, coloured=bool(context.palette.ground))
        if ply is None:
            return [*lines, styled("  start", "dim")]
        new = self.ply is None and context.changes.is_new(game.id, at)
        move = (move_text(game, ply), "changed" if new else "strong")
        lines.append(styled("  ").append(*move).append(f" {ply_score(ply)}"))
        said: list[tuple[str, str]] = []
        if ply.win is not None and ply.draw is not None:
            said.append((f"odds {odds_text(ply.win, ply.draw)}", "dim"))
        if best:
            same = ply.best == ply.uci
            said.append(
                ("engine the same", "good") if same else (f"engine {best}", "accent")
            )
        hard = ply.difficulty if game.running or at < len(game.plies) else None
        for word, share in (
            ("find" if ply.mark == "find" else "played", ply.played_share),
            ("best", hard.best_share if hard is not None else None),
            (
                "trap" if ply.mark == "trap" else "err",
                hard.error_chance if hard else None,
            ),
        ):
            if share is not None:
                said.append(
                    (
                        f"{word} {share_text(share)}",
                        "good" if word == ply.mark else "dim",
                    )
                )
        # Alliot 2017, section 3.1: how far the score jumped while the engine looked
        # deeper.
        jump = ply.complexity and f"jump {ply.complexity.jump_cp / 100:.2f}"
        spent = "" if ply.spent_s is None else f"took {clock_text(ply.spent_s)}"
        depth = f"depth {ply.depth}" if ply.depth else ""
        said += [(part, "dim") for part in (depth, jump, spent) if part]
        return [*lines, *(styled(f"  {text}", style) for text, style in said)]

    def charts(self, game: GameDetail, width: int, height: int) -> Panel:
        """Both curves over the score, on one axis of moves; drawn once for what they
        show.
        """
        if height < _LEAST_CHARTS:
            return []
        rating = self.context.state.engine().rating
        shown = (
            game.plies,
            game.curves,
            self.figure,
            self.at(game),
            rating,
            width,
            height,
        )
        if shown != self._shown:
            self._shown = shown
            scored = 2 * max(1, height // 8)
            chart = rating_chart(game, self.figure, rating, width, height - scored - 1)
            self._charts = [
                *filled(chart, height - scored - 1),
                *move_axis(game, width),
                *score_chart(game, self.at(game), width, scored),
            ]
        return self._charts


class BoardPanel(Lines):
    """One board beside the list, at its last move."""

    def __init__(self, context: ViewContext) -> None:
        super().__init__(id="panel")
        self.drawing = BoardDrawing(context)

    def show_board(self, game: GameDetail | None, *, is_noted: bool) -> None:
        """Draw it; above it what is wrong, unless the list says that already."""
        if game is None:
            entitle(self, "")
            self.show([])
            return
        width, height = self.size
        entitle(self, self.drawing.headline(game))
        lines = [] if is_noted else self.drawing.wrong(game, width)
        lines += self.drawing.players(game, width)
        if height >= _DIAGRAM_FROM:
            position = self.drawing.position(game)
            lines += place_side_by_side(
                [(position[:_SQUARES], _DIAGRAM), (position[_SQUARES:], width - 22)]
            )
        lines += self.drawing.charts(game, width, height - len(lines))
        self.show(filled(lines, height))


class MoveList(RowList):
    """The moves of a game, two a row, with a cursor on one of them."""

    BINDINGS = [
        Binding(
            "up,k",
            "app.neighbour(-1)",
            "board",
            key_display="↑↓",
            tooltip="previous, next",
        ),
        Binding("down,j", "app.neighbour(1)", "next board", show=False),
        Binding(
            "left", "step(-1)", "moves", key_display="←→", tooltip="one back, or on"
        ),
        Binding("right", "step(1)", "one move on", show=False),
        Binding("home", "step(-999)", "the start", show=False),
        Binding("end", "step(999)", "the newest move, and follow", show=False),
        Binding("enter", "app.go_back", "back to the list", show=False),
    ]

    def __init__(self, step: Callable[[int], None]) -> None:
        super().__init__()
        self._step = step

    def action_step(self, by: int) -> None:
        self._step(by)


class BoardView(View):
    """A cursor in the moves of one board; what it stands at, and both curves."""

    BINDINGS = [
        Binding(
            "v",
            "figure",
            "curve",
            tooltip="of Algorithm 4 (Ferreira), or of the perceived rating",
        )
    ]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.drawing = BoardDrawing(context)
        self.game: GameId | None = None
        self.moves = MoveList(self._step)
        self._above = Lines(id="above")
        self._square = Lines(id="square")
        self._heads = Lines(id="heads")
        self._charts = Lines(id="charts")

    def compose(self) -> ComposeResult:
        yield self._above
        with Horizontal(id="middle"):
            yield self._square
            with Vertical():
                yield self._heads
                yield self.moves
        yield self._charts

    def look_at(self, about: GameId) -> None:
        """Look at this board, at its last move."""
        if about != self.game:
            self.drawing.ply = None
        self.game = about

    def _detail(self) -> GameDetail | None:
        return self.context.state.game(self.game) if self.game else None

    def redraw(self) -> None:
        game, drawing = self._detail(), self.drawing
        self._square.parent.display = game is not None  # type: ignore[union-attr]
        if game is None:
            entitle(self, "Board")
            self._above.show(
                [styled("  The source no longer holds this board: esc goes back")]
            )
            self._charts.show([])
            return
        if drawing.ply is not None and drawing.ply > len(game.plies):
            drawing.ply = None  # what the cursor was on was taken back
        entitle(self, drawing.headline(game))
        width = self.size.width
        self._above.show([*drawing.wrong(game, width), *drawing.players(game, width)])
        self._square.show(drawing.position(game))
        self._show_moves(game)
        width, height = self._charts.size
        said = drawing.explain(game) if self.size.height >= _SAID_FROM else []
        charts = drawing.charts(game, width, height - len(said))
        self._charts.show([*charts, *said])

    def _show_moves(self, game: GameDetail) -> None:
        at, width = (
            self.drawing.at(game),
            self.moves.scrollable_content_region.width - 1,
        )
        if width < MOVE_CELLS or not game.plies:
            self._heads.show(
                [styled(" no room for the moves" if game.plies else " no move yet")]
            )
            self.moves.show([], lambda row: Text())
            return
        self._heads.show([move_heads(width)])
        rows = move_rows(game, at, width)
        lines = list(rows.values())
        self.moves.show([str(number) for number in rows], lines.__getitem__)
        self.moves.highlighted = list(rows).index(number_move(game, max(1, at))[0])

    # --- keys -------------------------------------------------------------------------

    def caption(self) -> str:
        game, ply = self._detail(), self.drawing.ply
        if game is None or ply is None:
            return ""
        at = f"at {move_text(game, game.plies[ply - 1])}" if ply else "at the start"
        return f"{at}: end follows the game again"

    def find_board(self) -> GameId | None:
        return self.game if self._detail() is not None else None

    def action_figure(self) -> None:
        self.drawing.change_figure()

    def _step(self, by: int) -> None:
        game = self._detail()
        if game is not None:
            last = len(game.plies)
            to = max(0, min(last, self.drawing.at(game) + by))
            follows = by > 0 and to == last
            self.drawing.ply = None if follows else to
