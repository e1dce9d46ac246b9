"""The view of one board: position, moves with gains, graphs, both players' figures.

On a small terminal one panel at a time stands beside the board, on a large one all do.
"""

from __future__ import annotations

from typing import Literal

from rich.cells import cell_len
from rich.text import Text

from live.alerts.finding import in_order
from live.catalogue import (
    BY_ID,
    EARLY_MOVES,
    FIGURES,
    Figure,
    is_final,
    read,
    sentence,
    why_missing,
    written,
)
from live.events import GameDetail, GameId, PlyView, SideMethods
from live.games.game import move_number
from live.terminal import charts
from live.terminal.alerts_view import point_of
from live.terminal.board_rows import RESTORED, clock_style, low_clock_s
from live.terminal.boards_view import RESULTS, BoardsView
from live.terminal.text import (
    age_text,
    beside,
    clock_left_s,
    clock_runs,
    clock_text,
    figure_cells,
    left,
    move_text,
    odds_bar,
    odds_text,
    plain,
    ply_score,
    right,
    share_text,
    styled,
)
from live.terminal.view_context import KeyHint, View, ViewContext, asks, filled

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
#: Key, head, cells, and whether it is written from the left: what stands beside a player's name.
_COLUMNS = (
    ("elo", "Elo", 4, False),
    ("plays", BY_ID["perceived"].head, 11, False),
    ("usual", BY_ID["perceived"].interval, 9, True),
    ("percentile", BY_ID["percentile"].head, 5, False),
    ("a4", BY_ID["algorithm4"].head, 4, False),
    ("a4 ends", BY_ID["algorithm4"].interval, 9, True),
    ("counted", BY_ID["counted"].head, 3, False),
    ("clock", "Clock", 5, False),
)
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
        lines = [self._headline(game, width), *self._players(game, width)]
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

    def _headline(self, game: GameDetail, width: int) -> Text:
        """Where the game is played, how it stands, and what is wrong with it."""
        context, palette = self._context, self._context.palette
        age_s, exact = context.changes.age_s(game.id)
        behind = game.plies_played - game.plies_scored
        sources = " and ".join(plain(name, 40) for name in (game.feed, *game.also))
        alerts = [
            point_of(alert, game)
            for alert in in_order(context.state.alerts())
            if alert.game == game.id and asks(alert)
        ]
        restored = RESTORED if game.restored and not game.problem else ""
        age = age_text(age_s) if exact and game.result == "*" else ""
        line = styled(f" Board {game.board} " if game.board is not None else " Board ")
        line.stylize(palette.head)
        # What gives way on a narrow terminal stands last.
        for text, style in (
            ("" if game.result == "*" else RESULTS.get(game.result, game.result), palette.strong),
            (f"! {plain(game.problem, 60)}" if game.problem else "", palette.bad),
            (restored, palette.warn),
            *((f"! {plain(text, 100)}", palette.bad) for text in alerts),
            (f"{behind} plies to score" if behind > 1 else "", palette.warn),
            (f"last move {age} ago" if age else "", palette.dim),
            (f"! {plain(game.dispute, 100)}" if game.dispute else "", palette.warn),
            (plain(game.event, 40), palette.dim),
            (f"round {plain(game.round, 8)}" if game.round else "", palette.dim),
            (f"from {sources}" if game.also else "", palette.dim),
        ):
            if text:
                line.append(f"· {text} ", style)
        line.truncate(width, overflow="ellipsis")
        return line

    def _players(self, game: GameDetail, width: int) -> list[Text]:
        """A head and a line for each player: the figure, what is usual, moves, clock."""
        context, palette = self._context, self._context.palette
        columns = [each for each in _COLUMNS if each[0] != "a4 ends" or width >= _ENDS_FROM]
        name = min(40, width - 2 - sum(cells + 1 for _, _, cells, _ in columns))
        heads = {"plays": "Played like"} if is_final(game) else {}
        cells = [
            (left if to_left else right)(heads.get(key, head), n)
            for key, head, n, to_left in columns
        ]
        lines = [styled(" ".join(("  " + left("Player", name), *cells)), palette.dim)]
        last = {move_number(game, ply.ply)[1]: ply for ply in game.plies[-2:]}
        runs = clock_runs(game, len(game.plies))
        ran_s = context.changes.ran_s(game.id, game.feed, len(game.plies))
        leading = "plays" if context.figure == "perceived" else "a4"
        for sign, player, points, white in (
            ("○", game.white, game.curves.white, True),
            ("●", game.black, game.curves.black, False),
        ):
            point = points[-1] if points else None
            ply = last.get(white)
            left_s = clock_left_s(ply.clock_s, ran_s if runs is white else 0.0) if ply else None
            early = point is None or point.counted < EARLY_MOVES
            texts = {
                "elo": str(player.elo or ""),
                "clock": clock_text(left_s),
                **figure_cells(point, context.state.engine().rating),
            }
            styles = dict.fromkeys(("usual", "a4 ends"), palette.dim)
            if early:
                styles["plays"] = palette.dim
            else:
                styles[leading] = palette.strong
            if game.result == "*":
                styles["clock"] = clock_style(left_s, low_clock_s(game.time_control), palette)
            line = styled(f"{sign} ", palette.white if white else palette.black)
            title = f"{plain(player.title, 4)} " if player.title else ""
            line.append(title, palette.strong)
            line.append(left(plain(player.name, 40), name - cell_len(title)))
            for key, _, n, to_left in columns:
                line.append(" ")
                line.append(
                    (left if to_left else right)(texts.get(key, ""), n), styles.get(key, "")
                )
            lines.append(line)
        return lines

    def _said(self, game: GameDetail, width: int) -> list[Text]:
        """A sentence for each player: what the figure means here."""
        lines = []
        for sign, player, other, points in (
            ("○", game.white, game.black, game.curves.white),
            ("●", game.black, game.white, game.curves.black),
        ):
            final = is_final(game)
            text = sentence(points[-1], player.elo, other.elo, final=final) if points else ""
            line = styled(
                f"{sign} {text or game.note or 'no figure yet'}", self._context.palette.dim
            )
            line.truncate(width, overflow="ellipsis")
            lines.append(line)
        return lines

    # --- the position -----------------------------------------------------------------------------

    def _position(self, game: GameDetail, *, large: bool) -> list[Text]:
        """The diagram with what was played and what the engine would have; how many players of
        these ratings would play it, how hard the reply is; who looked, and how deep.
        """
        context, palette = self._context, self._context.palette
        at = self._at(game)
        board = charts.board_after(game, at)
        if board is None:
            return [styled(f"no diagram of {plain(game.variant, 20)}", palette.dim)]
        lines = charts.diagram(board, palette, large=large)
        ply = self._played(game)
        if ply is None:
            return [*lines, styled("  start", palette.dim)]
        new = self.ply is None and context.changes.is_new(game.id, at)
        played = styled("  ")
        played.append(move_text(game, ply), palette.changed if new else palette.strong)
        played.append(f" {ply_score(ply)}")
        lines.append(played)
        if ply.win is not None and ply.draw is not None:
            odds = styled(f"  {odds_bar(ply.win, ply.draw, 8)} ", palette.text)
            odds.append(odds_text(ply.win, ply.draw), palette.dim)
            lines.append(odds)
        if first := charts.san_of(charts.board_after(game, at - 1), ply.best):
            same = ply.best == ply.uci
            engine = styled("  engine ", palette.dim)
            engine.append("the same" if same else first, palette.good if same else palette.accent)
            lines.append(engine)
        hard = ply.difficulty
        for word, share in (
            ("find" if ply.mark == "find" else "played", ply.played_share),
            ("best", hard.best_share if hard is not None else None),
            ("trap" if ply.mark == "trap" else "err", hard.error_chance if hard else None),
        ):
            if share is not None:
                style = palette.good if word == ply.mark else palette.dim
                lines.append(styled(f"  {word} {share_text(share)}", style))
        # Alliot 2017, section 3.1: how far the score jumped while the engine looked deeper.
        jump = ply.complexity and f"jump {ply.complexity.jump_cp / 100:.2f}"
        spent = "" if ply.spent_s is None else f"took {clock_text(ply.spent_s)}"
        depth = f"depth {ply.depth}" if ply.depth else ""
        parts = filter(None, (ply.score_source, depth, jump, spent))
        return [*lines, *(styled(f"  {part}", palette.dim) for part in parts)]

    # --- panels -----------------------------------------------------------------------------------

    def _small(self, game: GameDetail, width: int, height: int) -> list[Text]:
        board = self._position(game, large=False)
        said = self._said(game, width) if height >= 30 else []
        # The moves get what the board and a graph of nine lines leave.
        height -= len(said)
        upper = max(min(len(board), max(9, height - 4)), height - 9) if height >= 13 else height
        room = width - _DIAGRAM - 2
        names = [
            f"[{name}]" if panel == _PANELS[self._panel] else f" {name} "
            for panel, name in PANEL_NAMES.items()
        ]
        heads = styled(" ".join(names), self._context.palette.dim)
        panel = [heads, *self._panel_lines(game, room, upper - 1)]
        lines = beside([(board[:upper], _DIAGRAM), (panel[:upper], room)])
        if height - upper < 3:
            return lines  # no room for a graph that says anything
        return lines + self._score(game, width, height - upper) + said

    def _panel_lines(self, game: GameDetail, width: int, height: int) -> list[Text]:
        match _PANELS[self._panel]:
            case "moves":
                return self._moves(game, width, height)
            case "curves":
                half = (width - 1) // 2
                return beside([(curve, half) for curve in self._curves(game, half, height - 1)], 1)
            case "gains":
                return self._gains(game, width, height, height)
            case "methods":
                return self._methods(game, width)[:height]

    def _large(self, game: GameDetail, width: int, height: int) -> list[Text]:
        head = self._context.palette.head
        first, middle = _LARGE_DIAGRAM + 18, charts.MOVE_CELLS + 12
        rest = width - first - middle - 4
        board = [*self._position(game, large=True), Text()]
        board += self._gains(game, first, 9, height - len(board), Text())
        graph = max(8, (height - 3 - 12) // 3 // 2 * 2)
        graphs = [
            styled("Score, White's side", head),
            *self._score(game, rest, graph),
            *(line for curve in self._curves(game, rest, graph, head) for line in curve),
            *self._said(game, rest),
            styled("Methods", head),
            *self._methods(game, rest),
        ]
        moves = self._moves(game, middle, height)
        return beside([(board, first), (moves, middle), (graphs, rest)])[:height]

    def _score(self, game: GameDetail, width: int, height: int) -> list[Text]:
        return charts.score_graph(game, self._at(game), width, height, self._context.palette)

    def _moves(self, game: GameDetail, width: int, height: int) -> list[Text]:
        body = max(1, height - 1)
        at = self._at(game)
        first = (
            charts.row_of(game, max(1, at)) - body + 1 + (body // 2 if self.ply is not None else 0)
        )
        first = min(max(0, first), max(0, (len(game.plies) + 2) // 2 - body))
        if not game.plies:
            return [styled("no move yet", self._context.palette.dim)]
        if width < charts.MOVE_CELLS:
            return [styled("no room for the moves", self._context.palette.dim)]
        return charts.moves(game, at, first, height, width, self._context.palette)

    def _curves(
        self, game: GameDetail, width: int, height: int, style: str = ""
    ) -> list[list[Text]]:
        """Of each side the curve under its name."""
        context, palette = self._context, self._context.palette
        plus = context.state.engine().rating
        name = "Plays like, usual ░" if context.figure == "perceived" else "Algorithm 4, 95 % ░"
        sides = [
            [charts.figure_at(point, context.figure, plus) for point in points]
            for points in (game.curves.white, game.curves.black)
        ]
        scale = charts.common_scale(sides)
        return [
            [
                styled(f"{sign} {name}", style or palette.dim),
                *charts.rating_graph(points, scale, width, height, colour, palette),
            ]
            for sign, points, colour in zip(
                "○●", sides, (palette.white, palette.black), strict=True
            )
        ]

    def _gains(
        self, game: GameDetail, width: int, most: int, height: int, *between: Text
    ) -> list[Text]:
        """Gains by classes, and at one centipawn where there is room."""
        palette = self._context.palette
        classes = [*charts.histogram(game, width, most, palette), *between]
        engine = self._context.state.engine_gains()
        room = height - len(classes)
        return classes + charts.gain_charts(game, engine, width, room, palette)

    def _methods(self, game: GameDetail, width: int) -> list[Text]:
        """A line for each method of the papers, White's figure beside Black's; why where there is
        none.
        """
        palette = self._context.palette
        room = max(10, (width - _METHOD_CELLS) // 2)
        white, black = game.methods.white, game.methods.black

        def row(name: str, of_white: str, of_black: str, style: str = "") -> Text:
            line = styled(left(name, _METHOD_CELLS), palette.dim)
            line.append(left(of_white, room - 1) + " ", style)
            line.append(left(of_black, room), style)
            return line

        lines = [row("", "○ White", "● Black", palette.dim)]
        for figure in FIGURES:
            if figure.side:
                texts = (_method(figure, side, room - 1) for side in (white, black))
                lines.append(row(figure.name, *texts))
        methods = game.methods
        if min(white.conformance.moves, black.conformance.moves) < _LEAST_MOVES:
            pass  # one move decides nothing
        elif methods.expected_score is not None:
            ends = ""
            if methods.low is not None and methods.high is not None:
                ends = f" ({methods.low:.2f}–{methods.high:.2f})"
            expects = f"White expects {methods.expected_score:.2f}{ends} by conformance"
            lines.append(styled(expects))
        elif methods.missing:
            lines.append(styled(plain(methods.missing, width), palette.dim))
        return lines

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


def _method(figure: Figure, side: SideMethods, room: int) -> str:
    found = read(figure, side)
    if found.value is None:
        return why_missing(figure, side)
    unit = f" {figure.unit}" if figure.unit else ""
    text = f"{written(figure, found.value)}{unit}"
    if found.low is None or found.high is None:
        return text
    low, high = (written(figure, end).removesuffix(" %") for end in (found.low, found.high))
    ranged = f"{text} ({low}–{high})"
    return ranged if len(ranged) <= room else text
