"""The view of one board: position, moves with gains, graphs, both players' figures.

On a small terminal one panel at a time stands beside the board, on a large one all do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from live.alerts.finding import in_order
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
from live.terminal import charts
from live.terminal.alerts_view import point_of
from live.terminal.boards_view import (
    NAME_CELLS,
    RESTORED,
    RESULTS,
    BoardsView,
    SideColumn,
    append_cells,
    is_early,
    last_point,
    side_cells,
)
from live.terminal.text import (
    age_text,
    beside,
    clock_text,
    filled,
    left,
    move_text,
    odds_bar,
    odds_text,
    plain,
    ply_score,
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
#: From this size on every panel is shown at once.
LARGE = (150, 40)
_DIAGRAM = 20
_LARGE_DIAGRAM = 34
_METHOD_CELLS = 18
#: With fewer counted moves one side is not compared with the other.
_LEAST_MOVES = 5
#: What stands beside a player's name.
_COLUMNS = (
    SideColumn("elo", "Elo", 4),
    SideColumn("plays", BY_ID["perceived"].head, 11),
    SideColumn("usual", BY_ID["perceived"].interval, 9, to_right=False),
    SideColumn("percentile", BY_ID["percentile"].head, 5),
    SideColumn("a4", BY_ID["algorithm4"].head, 4),
    SideColumn("a4 ends", BY_ID["algorithm4"].interval, 9, to_right=False),
    SideColumn("counted", BY_ID["counted"].head, 3),
    SideColumn("clock", "Clock", 5),
)
#: Sign of a side, and the other.
_SIDES: tuple[tuple[str, Color, Color], ...] = (("○", "white", "black"), ("●", "black", "white"))
#: Algorithm 4's interval has room from this width on.
_ENDS_FROM = 96


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
        lines = [self._headline(game), *self._players(game, width)]
        rest = height - len(lines)
        large = width >= LARGE[0] and height >= LARGE[1] - 4
        lines += (self._large if large else self._small)(game, width, rest)
        return filled(lines, height)

    def _at(self, game: GameDetail) -> int:
        """The ply under the cursor; 0 is the starting position."""
        return len(game.plies) if self.ply is None else self.ply

    def _played(self, game: GameDetail) -> PlyView | None:
        """The move that led to what the cursor is on."""
        ply = self._at(game)
        return game.plies[ply - 1] if 1 <= ply <= len(game.plies) else None

    # --- what stands above ------------------------------------------------------------------------

    def _headline(self, game: GameDetail) -> Text:
        """Where the game is played, how it stands, and what is wrong with it."""
        context = self._context
        age_s, exact = context.changes.age_s(game.id)
        behind = game.plies_played - game.plies_scored
        sources = " and ".join(plain(name, 40) for name in (game.feed, *game.also))
        alerts = [
            point_of(alert, game)
            for alert in in_order(context.state.alerts())
            if alert.game == game.id and asks(alert)
        ]
        line = styled(f" Board {game.board} " if game.board is not None else " Board ", "head")
        # What gives way on a narrow terminal stands last.
        for text, style in (
            ("" if game.result == "*" else RESULTS.get(game.result, game.result), "strong"),
            (f"! {plain(game.problem, 60)}" if game.problem else "", "bad"),
            (RESTORED if game.restored and not game.problem else "", "warn"),
            *((f"! {plain(text, 100)}", "bad") for text in alerts),
            (f"{behind} plies to score" if behind > 1 else "", "warn"),
            (f"last move {age_text(age_s)} ago" if exact and game.result == "*" else "", "dim"),
            (f"! {plain(game.dispute, 100)}" if game.dispute else "", "warn"),
            (plain(game.event, 40), "dim"),
            (f"round {plain(game.round, 8)}" if game.round else "", "dim"),
            (f"from {sources}" if game.also else "", "dim"),
        ):
            if text:
                line.append(f"· {text} ", style)
        return line

    def _players(self, game: GameDetail, width: int) -> list[Text]:
        """A head and a line for each player: the figure, what is usual, moves, clock."""
        context = self._context
        columns = [each for each in _COLUMNS if each.name != "a4 ends" or width >= _ENDS_FROM]
        name = min(40, width - 2 - sum(each.width + 1 for each in columns))
        heads = {"plays": "Played like"} if is_final(game) else {}
        cells = [each.set(heads.get(each.name, each.head)) for each in columns]
        lines = [styled(" ".join(("  " + left("Player", name), *cells)), "dim")]
        leading = "plays" if context.figure == "perceived" else "a4"
        for sign, color, _ in _SIDES:
            player = getattr(game, color)
            texts, clock = side_cells(game, color, context)
            styles = {"usual": "dim", "a4 ends": "dim", "clock": clock}
            styles |= {"plays": "dim"} if is_early(last_point(game, color)) else {leading: "strong"}
            title = f"{plain(player.title, 4)} " if player.title else ""
            line = Text.assemble(
                (f"{sign} ", color),
                (title, "strong"),
                left(plain(player.name, NAME_CELLS), name - cell_len(title)),
                no_wrap=True,
            )
            append_cells(line, columns, texts, styles)
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

    def _position(self, game: GameDetail, *, large: bool) -> list[Text]:
        """The diagram with what was played and what the engine would have; how many players of
        these ratings would play it, how hard the reply is; who looked, and how deep.
        """
        context, at = self._context, self._at(game)
        board = charts.board_after(game, at)
        if board is None:
            return [styled(f"no diagram of {plain(game.variant, 20)}", "dim")]
        lines = charts.diagram(board, large=large, coloured=bool(context.palette.ground))
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

    def _small(self, game: GameDetail, width: int, height: int) -> list[Text]:
        board = self._position(game, large=False)
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
                return self._gains(game, width, height, height)
            case "methods":
                return _methods(game, width)

    def _large(self, game: GameDetail, width: int, height: int) -> list[Text]:
        first, middle = _LARGE_DIAGRAM + 18, charts.MOVE_CELLS + 12
        rest = width - first - middle - 4
        board = [*self._position(game, large=True), Text()]
        board += self._gains(game, first, 9, height - len(board), Text())
        graph = max(8, (height - 3 - 12) // 3 // 2 * 2)
        graphs = [
            styled("Score, White's side", "head"),
            *charts.score_graph(game, self._at(game), rest, graph),
            *(line for curve in self._curves(game, rest, graph, "head") for line in curve),
            *self._said(game),
            styled("Methods", "head"),
            *_methods(game, rest),
        ]
        moves = self._moves(game, middle, height)
        return beside([(board, first), (moves, middle), (graphs, rest)])

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

    def _curves(
        self, game: GameDetail, width: int, height: int, style: str = "dim"
    ) -> list[list[Text]]:
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
                styled(f"{sign} {name}", style),
                *charts.rating_graph(points, scale, width, height, color),
            ]
            for (sign, color, _), points in zip(_SIDES, sides, strict=True)
        ]

    def _gains(
        self, game: GameDetail, width: int, most: int, height: int, *between: Text
    ) -> list[Text]:
        """Gains by classes, and at one centipawn where there is room."""
        classes = [*charts.histogram(game, width, most), *between]
        engine = self._context.state.engine_gains()
        room = height - len(classes)
        return classes + charts.gain_charts(game, engine, width, room)

    # --- keys -------------------------------------------------------------------------------------

    def caption(self) -> str:
        """Whether the cursor goes with the game."""
        game = self._detail()
        if game is None or self.ply is None:
            return ""
        return f"at ply {self.ply} of {len(game.plies)}: end follows the game again"

    def offers(self) -> list[KeyHint]:
        moves = "from move to move; ←→ h l by one ply, home end"
        panels = "moves, curves, gains, other methods"
        return [
            KeyHint("", "back", "back to all boards", shown="esc"),
            KeyHint(" ".join(_STEPS), "moves", moves, self._step, shown="↑↓ j k"),
            KeyHint("home g end G", "", "", self._jump, shown=""),
            KeyHint("tab shift+tab", "panel", panels, self._tab),
            KeyHint("n p", "board", "the next and the previous board", self._next),
            *self._context.board_keys(self.game),
        ]

    def _tab(self, key: str) -> None:
        self._panel = (self._panel + (1 if key == "tab" else -1)) % len(_PANELS)

    def _next(self, key: str) -> None:
        other = self._boards.neighbour(self.game or "", 1 if key == "n" else -1)
        if other:
            self._boards.cursor = other
            self.open(other)

    def _jump(self, key: str) -> None:
        self.ply = 0 if key in ("home", "g") else None

    def _step(self, key: str) -> None:
        game = self._detail()
        if game is not None:
            by, last = _STEPS[key], len(game.plies)
            ply = max(0, min(last, self._at(game) + by))
            self.ply = None if ply == last and by > 0 else ply


_STEPS = {"up": -2, "down": 2, "j": 2, "k": -2, "right": 1, "l": 1, "left": -1, "h": -1}


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
