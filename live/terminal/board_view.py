"""The view of one board: position, moves with gains, graphs, both players' figures.

One panel at a time stands beside the board.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from live.alerts.finding import SIGNS, in_order
from live.catalogue import (
    BY_ID,
    FIGURES,
    Figure,
    cell,
    ends_cell,
    is_final,
    sentence,
    why_missing,
)
from live.events import Color, GameDetail, GameId, PlyView, SideMethods
from live.publish.published_state import gain_counts
from live.terminal import charts
from live.terminal.boards_view import (
    RESTORED,
    RESULTS,
    BoardsView,
    clock_cell,
    is_early,
    last_point,
)
from live.terminal.text import (
    FEED_SIGNS,
    SEVERITY_STYLES,
    age_text,
    beside,
    clock_text,
    counted,
    figure_cells,
    filled,
    left,
    move_text,
    odds_bar,
    odds_text,
    plain,
    ply_score,
    point_of,
    right,
    share_text,
    styled,
)
from live.terminal.view_context import KeyHint, View, ViewContext, asks

Panel = Literal["moves", "curves", "gains", "methods"]
PANEL_NAMES: dict[Panel, str] = {
    "moves": "Moves",
    "curves": "Curves",
    "gains": "Gains",
    "methods": "Methods",
}
_PANELS = tuple(PANEL_NAMES)
_DIAGRAM = 20
_METHOD_CELLS = 18
#: With fewer counted moves one side is not compared with the other.
_LEAST_MOVES = 5
#: What stands beside a player's name: name, head, width, whether it is set to the right.
_COLUMNS = (
    ("elo", "Elo", 4, True),
    ("plays", BY_ID["perceived"].head, 11, True),
    ("usual", BY_ID["perceived"].interval, 9, False),
    ("percentile", BY_ID["percentile"].head, 5, True),
    ("a4", BY_ID["algorithm4"].head, 4, True),
    ("a4 ends", BY_ID["algorithm4"].interval, 9, False),
    ("counted", BY_ID["counted"].head, 3, True),
    ("clock", "Clock", 5, True),
)
#: Sign of a side, and the other.
_SIDES: tuple[tuple[str, Color, Color], ...] = (("○", "white", "black"), ("●", "black", "white"))
#: Algorithm 4's interval has room from this width on.
_ENDS_FROM = 96
#: Alerts that have a line of their own.
_ALERTS = 2


class BoardView(View):
    """A cursor in the moves of one board, and one panel or all."""

    name = "Board"

    def __init__(self, context: ViewContext, boards: BoardsView) -> None:
        super().__init__(context)
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

    def _detail(self) -> GameDetail | None:
        return self._context.state.game(self.game) if self.game else None

    def draw(self, width: int, height: int) -> list[Text]:
        context = self._context
        game = self._detail()
        if game is None:
            gone = styled("  The source no longer holds this board: esc goes back")
            return filled([Text(), gone], height)
        if self.ply is not None and self.ply > len(game.plies):
            self.ply = None  # what the cursor was on was taken back
        context.changes.feeds(context.state.feeds())
        lines = [*self._headlines(game), *self._players(game, width)]
        return filled([*lines, *self._below(game, width, height - len(lines))], height)

    def _at(self, game: GameDetail) -> int:
        """The ply under the cursor; 0 is the starting position."""
        return len(game.plies) if self.ply is None else self.ply

    def _played(self, game: GameDetail) -> PlyView | None:
        """The move that led to what the cursor is on."""
        ply = self._at(game)
        return game.plies[ply - 1] if 1 <= ply <= len(game.plies) else None

    # --- what stands above ------------------------------------------------------------------------

    def _headlines(self, game: GameDetail) -> list[Text]:
        """How the game stands and where it is from; below it what is wrong, in whole sentences."""
        context = self._context
        age_s, exact = context.changes.age_s(game.id)
        behind = game.plies_played - game.plies_scored
        states = {feed.feed: feed.state for feed in context.state.feeds()}
        sources = (
            f"{FEED_SIGNS[states[name]] + ' ' if name in states else ''}{plain(name, 40)}"
            for name in (game.feed, *game.also)
        )
        line = styled(f" Board {game.board} " if game.board is not None else " Board ", "head")
        # What gives way on a narrow terminal stands last.
        for text, style in (
            ("" if game.result == "*" else RESULTS.get(game.result, game.result), "strong"),
            (RESTORED if game.restored and not game.problem else "", "warn"),
            (f"{counted(behind, 'move')} to score" if behind > 1 else "", "warn"),
            (f"last move {age_text(age_s)} ago" if exact and game.result == "*" else "", "dim"),
            (f"round {plain(game.round, 8)}" if game.round else "", "dim"),
            (f"from {' and '.join(sources)}", "dim"),
            (plain(game.event, 40), "dim"),
        ):
            if text:
                line.append(f"· {text} ", style)
        alerts = [
            (f"{SIGNS[alert.severity]} {plain(point_of(alert, game), 200)}", alert.severity)
            for alert in in_order(context.state.alerts())
            if alert.game == game.id and asks(alert)
        ]
        wrong = [styled(f" {text}", SEVERITY_STYLES[severity]) for text, severity in alerts]
        if not wrong and (problem := game.problem or game.dispute):
            wrong.append(styled(f" ! {plain(problem, 200)}", "warn"))
        return [line, *wrong[:_ALERTS]]

    def _players(self, game: GameDetail, width: int) -> list[Text]:
        """A head and a line for each player: the figure, what is usual, moves, clock."""
        context = self._context
        columns = [each for each in _COLUMNS if each[0] != "a4 ends" or width >= _ENDS_FROM]
        name = min(40, width - 2 - sum(cells + 1 for _, _, cells, _ in columns))
        texts = {key: head for key, head, _, _ in columns}
        texts |= {"plays": "Played like"} if is_final(game) else {}
        lines = [styled(f"  {left('Player', name)}{_in_cells(columns, texts)}", "dim")]
        leading = "plays" if context.figure == "perceived" else "a4"
        for sign, color, _ in _SIDES:
            player, point = getattr(game, color), last_point(game, color)
            clock, clock_style = clock_cell(game, color, context.changes)
            texts = figure_cells(point, context.state.engine().rating)
            texts |= {"elo": str(player.elo or ""), "clock": clock}
            title = f"{plain(player.title, 4)} " if player.title else ""
            line = Text.assemble(
                (f"{sign} ", color),
                (title, "strong"),
                left(plain(player.name, 40), name - cell_len(title)),
                no_wrap=True,
            )
            styles = {"usual": "dim", "a4 ends": "dim", "clock": clock_style}
            styles |= {"plays": "dim"} if is_early(point) else {leading: "strong"}
            for column in columns:
                line.append(_in_cells([column], texts), styles.get(column[0], ""))
            lines.append(line)
        return lines

    def _said(self, game: GameDetail) -> list[Text]:
        """A sentence for each player: what the figure means here."""
        lines = []
        for sign, color, other in _SIDES:
            points, final = getattr(game.curves, color), is_final(game)
            elo, opponent = getattr(game, color).elo, getattr(game, other).elo
            text = sentence(points[-1], elo, opponent, final=final) if points else ""
            lines.append(styled(f"{sign} {text or game.note or 'no figure yet'}", "dim"))
        return lines

    # --- the position -----------------------------------------------------------------------------

    def _position(self, game: GameDetail) -> list[Text]:
        """The diagram with what was played and what the engine would have; how many players of
        these ratings would play it, how hard the reply is; who looked, and how deep.
        """
        context, at = self._context, self._at(game)
        board = charts.board_after(game, at)
        if board is None:
            return [styled(f"no diagram of {plain(game.variant, 20)}", "dim")]
        lines = charts.diagram(board, coloured=bool(context.palette.ground))
        ply = self._played(game)
        if ply is None:
            return [*lines, styled("  start", "dim")]
        new = self.ply is None and context.changes.is_new(game.id, at)
        move = (move_text(game, ply), "changed" if new else "strong")
        lines.append(Text.assemble("  ", move, f" {ply_score(ply)}", no_wrap=True))
        if ply.win is not None and ply.draw is not None:
            lines.append(styled(f"  {odds_bar(ply.win, ply.draw, 8)} ", "text"))
            lines[-1].append(odds_text(ply.win, ply.draw), "dim")
        if first := charts.san_of(charts.board_after(game, at - 1), ply.best):
            lines.append(styled("  engine ", "dim"))
            same = ply.best == ply.uci
            lines[-1].append("the same" if same else first, "good" if same else "accent")
        hard = ply.difficulty
        for word, share in (
            ("find" if ply.mark == "find" else "played", ply.played_share),
            ("best", hard.best_share if hard is not None else None),
            ("trap" if ply.mark == "trap" else "err", hard.error_chance if hard else None),
        ):
            if share is not None:
                style = "good" if word == ply.mark else "dim"
                lines.append(styled(f"  {word} {share_text(share)}", style))
        # Alliot 2017, section 3.1: how far the score jumped while the engine looked deeper.
        jump = ply.complexity and f"jump {ply.complexity.jump_cp / 100:.2f}"
        spent = "" if ply.spent_s is None else f"took {clock_text(ply.spent_s)}"
        depth = f"depth {ply.depth}" if ply.depth else ""
        parts = filter(None, (ply.score_source, depth, jump, spent))
        return [*lines, *(styled(f"  {part}", "dim") for part in parts)]

    # --- panels -----------------------------------------------------------------------------------

    def _below(self, game: GameDetail, width: int, height: int) -> list[Text]:
        board = self._position(game)
        said = self._said(game) if height >= 30 else []
        # The moves get what the board and a graph of nine lines leave.
        height -= len(said)
        upper = max(min(len(board), max(9, height - 4)), height - 9) if height >= 13 else height
        room = width - _DIAGRAM - 2
        panel = _PANELS[self._panel]
        names = [
            f"[{name}]" if each == panel else f" {name} " for each, name in PANEL_NAMES.items()
        ]
        body = [styled(" ".join(names), "dim"), *self._panel_lines(game, panel, room, upper - 1)]
        lines = beside([(board[:upper], _DIAGRAM), (body[:upper], room)])
        if height - upper < 3:
            return lines  # no room for a graph that says anything
        return lines + charts.score_graph(game, self._at(game), width, height - upper) + said

    def _panel_lines(
        self, game: GameDetail, panel: Panel, width: int, height: int
    ) -> Sequence[Text]:
        match panel:
            case "moves":
                return self._moves(game, width, height)
            case "curves":
                half = (width - 1) // 2
                return beside([(curve, half) for curve in self._curves(game, half, height - 1)], 1)
            case "gains":
                return self._gains(game, width, height)
            case "methods":
                return _methods(game, width)

    def _moves(self, game: GameDetail, width: int, height: int) -> list[Text]:
        if not game.plies:
            return [styled("no move yet", "dim")]
        if width < charts.MOVE_CELLS:
            return [styled("no room for the moves", "dim")]
        body, at = max(1, height - 1), self._at(game)
        below = body // 2 if self.ply is not None else 0
        first = charts.row_of(game, max(1, at)) - body + 1 + below
        first = min(max(0, first), max(0, (len(game.plies) + 2) // 2 - body))
        return charts.moves(game, at, first, height, width)

    def _curves(self, game: GameDetail, width: int, height: int) -> list[list[Text]]:
        """Of each side the curve under its name."""
        context = self._context
        plus = context.state.engine().rating
        name = "Plays like, usual ░" if context.figure == "perceived" else "Algorithm 4, 95 % ░"
        sides = [
            [charts.figure_at(point, context.figure, plus) for point in points]
            for points in (game.curves.white, game.curves.black)
        ]
        scale = charts.common_scale(sides)
        return [
            [
                styled(f"{sign} {name}", "dim"),
                *charts.rating_graph(points, scale, width, height, color),
            ]
            for (sign, color, _), points in zip(_SIDES, sides, strict=True)
        ]

    def _gains(self, game: GameDetail, width: int, height: int) -> list[Text]:
        """Both sides' gains at one centipawn, where there is room."""
        rows = min(8, height // 2 - 4)
        engine = self._context.state.engine_gains()
        lines: list[Text] = []
        for (sign, color, _), points in zip(
            _SIDES, (game.curves.white, game.curves.black), strict=True
        ):
            lines.append(styled(f"{sign} {color.capitalize()}, centipawns", "head"))
            lines += charts.gain_chart(gain_counts(points), engine, width, rows, color)
        return lines if rows > 0 else []

    # --- keys -------------------------------------------------------------------------------------

    def caption(self) -> str:
        """Whether the cursor goes with the game."""
        game = self._detail()
        if game is None or self.ply is None:
            return ""
        move, last = self._played(game), move_text(game, game.plies[-1])
        at = f"at {move_text(game, move)}" if move else "at the start"
        return f"{at}, the last is {last}: end follows the game again"

    def about(self) -> GameId | None:
        return self.game if self._detail() is not None else None

    def offers(self) -> list[KeyHint]:
        moves = "one move back or on; home and end: start, newest"
        panels = "moves, curves, gains, other methods"
        return [
            KeyHint("", "back", "back to the list", shown="esc"),
            KeyHint("left right home end", "moves", moves, self._step, shown="←→"),
            KeyHint("up down k j", "board", "previous, next board", self._next, shown="↑↓"),
            KeyHint("tab", "panel", panels, self._tab),
        ]

    def _tab(self) -> None:
        self._panel = (self._panel + 1) % len(_PANELS)

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


def _in_cells(columns: Sequence[tuple[str, str, int, bool]], texts: Mapping[str, str]) -> str:
    """The text of each column in its cells, a blank before it."""
    return "".join(
        " " + (right if to_right else left)(texts.get(name, ""), cells)
        for name, _, cells, to_right in columns
    )


def _methods(game: GameDetail, width: int) -> list[Text]:
    """A line for each method of the papers, White's figure beside Black's; why where there is
    none.
    """
    room = max(10, (width - _METHOD_CELLS) // 2)
    methods = game.methods
    rows = [("", "○ White", "● Black", "dim")]
    rows += [
        (
            figure.name,
            _method(figure, methods.white, room - 1),
            _method(figure, methods.black, room - 1),
            "",
        )
        for figure in FIGURES
        if figure.side
    ]
    lines = [
        Text.assemble(
            (left(name, _METHOD_CELLS), "dim"),
            (f"{left(white, room - 1)} {left(black, room)}", style),
            no_wrap=True,
        )
        for name, white, black, style in rows
    ]
    if min(methods.white.conformance.moves, methods.black.conformance.moves) < _LEAST_MOVES:
        pass  # one move decides nothing
    elif methods.expected_score is not None:
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
