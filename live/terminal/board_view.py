"""The view of one board: position, moves with gains, graphs, both players' figures, a panel at a
time; its pictures are made of characters.
"""

import contextlib
import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

import chess
import msgspec
from rich.cells import cell_len
from rich.text import Text

from live.alerts.finding import SIGNS, in_order
from live.catalogue import (
    BY_ID,
    FIGURES,
    Figure,
    Reading,
    cell,
    ends_cell,
    is_final,
    read,
    sentence,
    why_missing,
)
from live.events import Color, GameDetail, GameId, PlyView, SideMethods
from live.games.game import move_number
from live.terminal.boards_view import RESTORED, RESULTS, BoardsView, clock_cell, last_point
from live.terminal.text import (
    FEED_SIGNS,
    SEVERITY_STYLES,
    Column,
    Panel,
    age_text,
    beside,
    clock_text,
    counted,
    figure_cell,
    filled,
    heads,
    is_early,
    left,
    move_text,
    odds_text,
    plain,
    ply_score,
    point_of,
    right,
    share_text,
    styled,
)
from live.terminal.view_context import KeyHint, View, ViewContext, asks

# --- graphs ---------------------------------------------------------------------------------------

_UP = " ▁▂▃▄▅▆▇█"
#: Stands where the cursor is.
_CURSOR = "┊"
#: Labels and rules of the axis left of a graph, cells.
AXIS = 6
#: The marks of the score axis, pawns; placed by winning chances, so that ±1 is not lost near ±10.
_MARKS = (5, 2, 0, -2, -5)
#: A rating axis never spans less than this, Elo: noise must not look like drama.
MIN_SPAN_ELO = 400.0

Values = TypeVar("Values")
Bar = Sequence[tuple[str, str]]
"""Sign and style of each cell, from above."""


def _sampled(values: Sequence[Values], width: int) -> tuple[list[Values], int, int]:
    """The values that have a column: the last of each so many; how many, and how wide it is."""
    columns = max(1, width - AXIS)
    step = max(1, -(-len(values) // columns))
    drawn = [values[min(start + step, len(values)) - 1] for start in range(0, len(values), step)]
    return drawn, step, max(1, min(4, columns // len(drawn)))


def _graph(columns: Sequence[Bar], wide: int, labels: Mapping[int, str]) -> Panel:
    """Columns ``wide`` cells each beside their axis, which has ``labels`` at some lines."""
    lines = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        label = labels.get(row, "")
        line = styled(f"{right(label, AXIS - 1)}{'┤' if label else '│'}", "dim")
        for sign, style in cells:
            line.append(sign.ljust(wide) if sign == _CURSOR else sign * wide, style)
        lines.append(line)
    return lines


def score_graph(game: GameDetail, cursor_ply: int, width: int, height: int) -> Panel:
    """White's advantage above the line, Black's below; one column a ply, or the last of several."""
    scores = [game.start_score_cp, *(ply.score_cp for ply in game.plies)]
    shown, step, wide = _sampled(scores, width)
    half = max(1, height // 2)
    columns = [_score_column(score, half) for score in shown]
    at = cursor_ply // step
    if at < len(columns):
        columns[at] = [x if x[0] != " " else (_CURSOR, "accent") for x in columns[at]]
    labels: dict[int, str] = {}
    for pawns in _MARKS:
        row = round(half - chances(100 * pawns) * half - 0.5) if pawns else half - 1
        labels.setdefault(max(0, min(2 * half - 1, row)), f"{pawns:+d}" if pawns else "0")
    return _graph(columns, wide, labels)


def _score_column(score: int | None, half: int) -> Bar:
    if score is None:
        return [("·" if row == half - 1 else " ", "dim") for row in range(2 * half)]
    eighths = round(chances(score) * half * 8)
    parts = [max(0, min(8, eighths - 8 * row)) for row in range(half)]
    above = [(_UP[part], "white") for part in parts]
    if not parts[0]:
        above[0] = ("▁", "dim")
    # Below the line a block hangs from above: the blank part is drawn, and turned round.
    parts = [max(0, min(8, -eighths - 8 * row)) for row in range(half)]
    below = [(_UP[8 - part], "hanging") if 0 < part < 8 else (_UP[part], "black") for part in parts]
    return [*above[::-1], *below]


ChartScale = tuple[float, float]
"""Elo from the bottom to the top of a graph."""


def common_scale(curves: Sequence[Sequence[Reading]]) -> ChartScale | None:
    """One scale for both players, so that their curves can be compared: from the lowest to the
    highest end of the bands of the latter half of each curve, when they have settled.
    """
    settled = (point for points in curves for point in points[len(points) // 2 :])
    ends = [value for point in settled for value in point if value is not None]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    spare = max(0.0, MIN_SPAN_ELO - (high - low)) / 2
    return low - spare, high + spare


def rating_graph(
    points: Sequence[Reading], scale: ChartScale | None, width: int, height: int, style: str
) -> Panel:
    """The rating ``━`` in its band ``░``, move by move; a band without end goes on to the edge,
    with an arrow for the rating there.
    """
    if scale is None or not points:
        return filled([styled(" " * AXIS + "no rating yet", "dim")], height)
    drawn, _, wide = _sampled(points, width)
    columns = [
        [(sign, "band" if sign == "░" else style) for sign in _signs_of(point, scale, height)]
        for point in drawn
    ]
    elos = {0: scale[1], height // 2: sum(scale) / 2, height - 1: scale[0]}
    return _graph(columns, wide, {row: f"{elo:.0f}" for row, elo in elos.items()})


def _signs_of(point: Reading, scale: ChartScale, height: int) -> list[str]:
    def row_at(elo: float) -> int:
        """0 at the top; outside the graph for what is outside the scale."""
        return round((scale[1] - elo) / (scale[1] - scale[0]) * (height - 1))

    rating, low, high = point
    cells = [" "] * height
    if low is not None or high is not None:
        top = 0 if high is None else max(0, row_at(high))
        bottom = height - 1 if low is None else min(height - 1, row_at(low))
        cells = ["░" if top <= row <= bottom else " " for row in range(height)]
        if rating is None:
            cells[0 if high is None else -1] = "↑" if high is None else "↓"
    if rating is not None:
        row = row_at(rating)
        sign = "━" if 0 <= row < height else "▲" if row < 0 else "▼"
        cells[max(0, min(height - 1, row))] = sign
    return cells


# --- the position ---------------------------------------------------------------------------------


def diagram(board: chess.Board, *, coloured: bool) -> Panel:
    """White below, 2 cells a square: 9 lines of 18 cells. White's men are outlines, Black's are
    filled; without colours a dot marks the dark squares.
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
            style = "dim" if man is None else "white_piece" if man.color else "black_piece"
            line.append(f"{sign} ", style)
            line.stylize("last_move" if square in marked else ground, start)
        lines.append(line)
    return [*lines, styled("  a b c d e f g h", "dim")]


_DARK = chess.SquareSet(chess.BB_DARK_SQUARES)

# --- the move list -------------------------------------------------------------------------------

#: Steepness of winning chances by centipawns (lichess, scalachess core/eval.scala, 2026-08-07).
_CHANCES = -0.00368208
#: A loss of this much of the winning chances, which run from -1 to 1, earns the sign (lichess,
#: modules/tree Advice.scala).
_SIGNS = ((0.3, "??"), (0.2, "?"), (0.1, "?!"))
#: Of a move that few would have found, and of one that sets a trap.
PRAISE = {"find": "!", "trap": "!?"}
#: Of one side: pointer, move with sign, gain, score.
_SIDE_CELLS = 1 + 9 + 7 + 8
_CLOCK_CELLS = 6
#: Width of the list without clocks: number, and both sides.
MOVE_CELLS = 3 + 2 * _SIDE_CELLS


def chances(score_cp: int) -> float:
    """White's winning chances from -1 to 1, scores capped at ten pawns."""
    return 2 / (1 + math.exp(_CHANCES * max(-1000, min(1000, score_cp)))) - 1


def signs(game: GameDetail) -> list[str]:
    """The sign of every ply; none while a score is provisional. The engine's first choice is no
    mistake, whatever it says of it a move later. What lost nothing may be a find or set a trap.
    """
    scores = [game.start_score_cp, *(ply.score_cp if ply.final else None for ply in game.plies)]
    found = []
    for ply, (before, after) in zip(game.plies, pairwise(scores), strict=True):
        lost = 0.0
        if before is not None and after is not None and (ply.gain_cp is None or ply.gain_cp < 0):
            lost = chances(before) - chances(after)
        lost *= 1 if move_number(game, ply.ply)[1] else -1
        mark = next((mark for limit, mark in _SIGNS if lost >= limit), "")
        found.append(mark or PRAISE.get(ply.mark or "", ""))
    return found


def moves(game: GameDetail, cursor_ply: int, first: int, height: int, width: int) -> Panel:
    """Lines of the list from ``first`` on; with clocks where ``width`` has room for them."""
    clock = _CLOCK_CELLS if width >= MOVE_CELLS + 2 * _CLOCK_CELLS else 0
    head = "   " + "".join(
        left(f" {color}", 10) + right("gain", 7) + right("score ", 8) + right("clock", clock)
        for color in ("○ White", "● Black")
    )
    rows: dict[int, Text] = {}
    for ply, mark in zip(game.plies, signs(game), strict=True):
        number, white = move_number(game, ply.ply)
        if number not in rows:
            rows[number] = styled(right(str(number), 3), "dim")
            if not white:  # the game began with Black's move
                rows[number].append(" " * (_SIDE_CELLS + clock))
        _append(rows[number], ply, mark, cursor_ply == ply.ply, clock)
    return [styled(head.rstrip(), "dim"), *list(rows.values())[first : first + height - 1]]


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


# --- the view -------------------------------------------------------------------------------------

#: The panels beside the board: moves, curves, Algorithm 4, methods.
_PANELS = ("Moves", "Curves", "A4", "Methods")
_DIAGRAM = 20
#: The diagram, the move, and most of what is known of it, lines.
_POSITION = 15
_METHOD_CELLS = 18
#: With fewer counted moves one side is not compared with the other.
_LEAST_MOVES = 5
#: What stands beside a player's name.
_SIDE_COLUMNS = (
    Column("Elo", 4, "elo"),
    Column("Plays like", 11, "perceived"),
    Column("usual", 9, "usual", to_right=False),
    Column("Pct", 5, "percentile"),
    Column("A4", 4, "algorithm4"),
    Column("95 %", 9, "interval", to_right=False),
    Column("n", 3, "counted"),
    Column("Clock", 5, "clock"),
)
#: Sign of a side, and the other.
_SIDES: tuple[tuple[str, Color, Color], ...] = (("○", "white", "black"), ("●", "black", "white"))
#: Algorithm 4's interval has room from this width on.
_ENDS_FROM = 96
#: Alerts that have a line of their own.
_ALERTS = 2


class BoardView(View):
    """A cursor in the moves of one board, and a panel beside it."""

    name = "Board"

    def __init__(self, context: ViewContext, boards: BoardsView) -> None:
        super().__init__(context)
        self._boards = boards
        self.game: GameId | None = None
        self.ply: int | None = None
        """Under the cursor; None goes with the last move."""
        self._panel = 0

    def open(self, about: GameId) -> None:
        """Look at this board, at its last move."""
        if about != self.game:
            self.ply = None
        self.game = about

    def _detail(self) -> GameDetail | None:
        return self._context.state.game(self.game) if self.game else None

    def draw(self, width: int, height: int) -> Panel:
        game = self._detail()
        if game is None:
            gone = styled("  The source no longer holds this board: esc goes back")
            return filled([Text(), gone], height)
        if self.ply is not None and self.ply > len(game.plies):
            self.ply = None  # what the cursor was on was taken back
        lines = [*self._headlines(game), *self._players(game, width)]
        return filled([*lines, *self._below(game, width, height - len(lines))], height)

    def _at(self, game: GameDetail) -> int:
        """The ply under the cursor; 0 is the starting position."""
        return len(game.plies) if self.ply is None else self.ply

    # --- what stands above ------------------------------------------------------------------------

    def _headlines(self, game: GameDetail) -> Panel:
        """How the game stands and where it is from; below it what is wrong, in whole sentences."""
        context = self._context
        age_s, exact = context.changes.age_s(game.id, len(game.plies))
        behind = game.plies_played - game.plies_scored
        states = {feed.feed: feed.state for feed in context.state.feeds()}
        sources = (
            f"{FEED_SIGNS[states[name]] + ' ' if name in states else ''}{plain(name, 40)}"
            for name in (game.feed, *game.also)
        )
        line = styled(f" Board {game.board} " if game.board is not None else " Board ", "head")
        # What gives way on a narrow terminal stands last.
        for text, style in (
            ("" if game.running else RESULTS.get(game.result, game.result), "strong"),
            (RESTORED if game.restored and not game.problem else "", "warn"),
            (f"{counted(behind, 'move')} to score" if behind > 1 else "", "warn"),
            (f"last move {age_text(age_s)} ago" if exact and game.running else "", "dim"),
            (f"round {plain(game.round, 8)}" if game.round else "", "dim"),
            (f"from {' and '.join(sources)}", "dim"),
            (plain(game.event, 40), "dim"),
        ):
            if text:
                line.append(f"· {text} ", style)
        alerts = [x for x in in_order(context.state.alerts()) if x.game == game.id]
        wrong = [
            styled(
                f" {SIGNS[x.severity]} {plain(point_of(x, game), 200)}", SEVERITY_STYLES[x.severity]
            )
            for x in filter(asks, alerts)
        ]
        if not wrong and (problem := game.problem or game.dispute):
            wrong.append(styled(f" ! {plain(problem, 200)}", "dim" if alerts else "warn"))
        return [line, *wrong[:_ALERTS]]

    def _players(self, game: GameDetail, width: int) -> Panel:
        """A head and a line for each player: the figure, what is usual, moves, clock."""
        context = self._context
        columns = [
            msgspec.structs.replace(each, head="Played like")
            if each.figure == "perceived" and is_final(game)
            else each
            for each in _SIDE_COLUMNS
            if each.figure != "interval" or width >= _ENDS_FROM
        ]
        name = min(40, width - 2 - sum(each.width + 1 for each in columns))
        rating = context.state.engine().rating
        lines = [heads("  ", (Column("Player", name, to_right=False), *columns), "")]
        for sign, color, _ in _SIDES:
            player, point = getattr(game, color), last_point(game, color)
            clock, clock_style = clock_cell(game, color, context.changes)
            own = {"elo": str(player.elo or ""), "clock": clock}
            styles = {"usual": "dim", "interval": "dim", "clock": clock_style}
            styles["perceived"] = "dim" if is_early(point) else "strong"
            title = f"{plain(player.title, 4)} " if player.title else ""
            line = styled(f"{sign} ", color).append(title, "strong")
            line.append(left(plain(player.name, 40), name - cell_len(title)))
            for each in columns:
                key = each.figure
                text = own[key] if key in own else figure_cell(key, point, rating)
                line.append(f" {each.set(text)}", styles.get(key, ""))
            lines.append(line)
        return lines

    def _said(self, game: GameDetail) -> Panel:
        """A sentence for each player: what the figure means here."""
        lines = []
        for sign, color, other in _SIDES:
            point, final = last_point(game, color), is_final(game)
            elo, opponent = getattr(game, color).elo, getattr(game, other).elo
            text = sentence(point, elo, opponent, final=final) if point else ""
            lines.append(styled(f"{sign} {text or game.note or 'no figure yet'}", "dim"))
        return lines

    # --- the position -----------------------------------------------------------------------------

    def _position(self, game: GameDetail) -> Panel:
        """The diagram with what was played and what the engine would have; how many players of
        these ratings would play it, how hard the reply is; who looked, and how deep.
        """
        context, at = self._context, self._at(game)
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
            said.append(("engine the same", "good") if same else (f"engine {best}", "accent"))
        hard = ply.difficulty if game.running or at < len(game.plies) else None
        for word, share in (
            ("find" if ply.mark == "find" else "played", ply.played_share),
            ("best", hard.best_share if hard is not None else None),
            ("trap" if ply.mark == "trap" else "err", hard.error_chance if hard else None),
        ):
            if share is not None:
                said.append((f"{word} {share_text(share)}", "good" if word == ply.mark else "dim"))
        # Alliot 2017, section 3.1: how far the score jumped while the engine looked deeper.
        jump = ply.complexity and f"jump {ply.complexity.jump_cp / 100:.2f}"
        spent = "" if ply.spent_s is None else f"took {clock_text(ply.spent_s)}"
        depth = f"depth {ply.depth}" if ply.depth else ""
        said += [(part, "dim") for part in (depth, jump, spent) if part]
        return [*lines, *(styled(f"  {text}", style) for text, style in said)]

    # --- panels -----------------------------------------------------------------------------------

    def _below(self, game: GameDetail, width: int, height: int) -> Panel:
        board = self._position(game)
        said = self._said(game) if height >= 30 else []
        # The moves get what the board and a graph of nine lines leave; by the size alone, so that
        # nothing moves up and down as moves come.
        height -= len(said)
        upper = max(min(_POSITION, max(9, height - 4)), height - 9) if height >= 13 else height
        room, panel = width - _DIAGRAM - 2, _PANELS[self._panel]
        names = (f"[{name}]" if name == panel else f" {name} " for name in _PANELS)
        body = [styled(" ".join(names), "dim")]
        match panel:
            case "Moves":
                body += self._moves(game, room, upper - 1)
            case "Methods":
                body += _methods(game, room)
            case _:
                body += self._curves(game, panel == "A4", (room - 1) // 2, upper - 2)
        lines = beside([(filled(board, upper), _DIAGRAM), (body[:upper], room)])
        if height - upper < 3:
            return lines  # no room for a graph that says anything
        return lines + score_graph(game, self._at(game), width, height - upper) + said

    def _moves(self, game: GameDetail, width: int, height: int) -> Panel:
        if not game.plies or width < MOVE_CELLS:
            return [styled("no room for the moves" if game.plies else "no move yet", "dim")]
        body, at = max(1, height - 1), self._at(game)
        row = move_number(game, max(1, at))[0] - move_number(game, 1)[0]
        first = row - body + 1 + (body // 2 if self.ply is not None else 0)
        first = min(max(0, first), max(0, (len(game.plies) + 2) // 2 - body))
        return moves(game, at, first, height, width)

    def _curves(self, game: GameDetail, algorithm4: bool, width: int, height: int) -> Panel:
        """Of each side the curve under its name, side by side."""
        figure = BY_ID["algorithm4" if algorithm4 else "perceived"]
        name = "Algorithm 4, 95 % ░" if algorithm4 else "Plays like, usual ░"
        plus = self._context.state.engine().rating
        sides = [
            [read(figure, point, plus) for point in points]
            for points in (game.curves.white, game.curves.black)
        ]
        scale = common_scale(sides)
        graphs = [
            [styled(f"{sign} {name}", "dim"), *rating_graph(points, scale, width, height, color)]
            for (sign, color, _), points in zip(_SIDES, sides, strict=True)
        ]
        return beside([(graph, width) for graph in graphs], 1)

    # --- keys -------------------------------------------------------------------------------------

    def caption(self) -> str:
        """Whether the cursor goes with the game."""
        game = self._detail()
        if game is None or self.ply is None:
            return ""
        at = f"at {move_text(game, game.plies[self.ply - 1])}" if self.ply else "at the start"
        return f"{at}: end follows the game again"

    def about(self) -> GameId | None:
        return self.game if self._detail() is not None else None

    def offers(self) -> list[KeyHint]:
        moves = "one move back or on; home and end: start, newest"
        panels = "moves, curves, Algorithm 4, other methods"
        panel = (self._panel + 1) % len(_PANELS)
        return [
            KeyHint("", "back", "back to the list", shown="esc"),
            KeyHint("left right home end", "moves", moves, self._step, shown="←→"),
            KeyHint("up down k j", "board", "previous, next board", self._next, shown="↑↓"),
            KeyHint("tab", "panel", panels, partial(setattr, self, "_panel", panel)),
        ]

    def _next(self, key: str) -> None:
        other = self._boards.neighbour(self.game or "", 1 if key in ("down", "j") else -1)
        if other:
            self._boards.cursor = other
            self.open(other)

    def _step(self, key: str) -> None:
        game = self._detail()
        if game is not None:
            last, at = len(game.plies), self._at(game)
            steps = {"left": max(0, at - 1), "right": min(last, at + 1), "home": 0, "end": last}
            follows = steps[key] == last and key in ("right", "end")
            self.ply = None if follows else steps[key]


def _methods(game: GameDetail, width: int) -> Panel:
    """A line for each method of the papers, White's figure beside Black's; why where there is
    none.
    """
    room = max(10, (width - _METHOD_CELLS) // 2)
    methods = game.methods
    head = f"{' ' * _METHOD_CELLS}{left('○ White', room - 1)} {left('● Black', room)}"
    lines = [styled(head, "dim")]
    for each in filter(lambda figure: figure.side, FIGURES):
        white, black = (_method(each, side, room - 1) for side in (methods.white, methods.black))
        line = styled(left(each.name, _METHOD_CELLS), "dim")
        lines.append(line.append(f"{left(white, room - 1)} {left(black, room)}"))
    if min(methods.white.conformance.moves, methods.black.conformance.moves) < _LEAST_MOVES:
        return lines  # one move decides nothing
    if methods.expected_score is not None:
        ends = ""
        if methods.low is not None and methods.high is not None:
            ends = f" ({methods.low:.2f}–{methods.high:.2f})"
        lines.append(styled(f"White expects {methods.expected_score:.2f}{ends} by conformance"))
    elif methods.missing:
        lines.append(styled(plain(methods.missing, width), "dim"))
    return lines


def _method(figure: Figure, side: SideMethods, room: int) -> str:
    text = cell(figure, side)
    if not text:
        return why_missing(figure, side)
    text += f" {figure.unit}" if figure.unit else ""
    ends = ends_cell(figure, side)
    ranged = f"{text} ({ends})"
    return ranged if ends and len(ranged) <= room else text
