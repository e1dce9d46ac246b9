"""The view of one board: position, moves with gains, both players' figures and curves; whole, or as
a part of the screen beside the list.
"""

import contextlib
from collections.abc import Callable
from functools import partial
from itertools import pairwise

import chess
import msgspec
from rich.cells import cell_len
from rich.text import Text

from live.alerts.finding import SIGNS, in_order
from live.catalogue import (
    is_final,
    sentence,
)
from live.events import Color, GameDetail, GameId, PlyView
from live.games.game import move_number
from live.terminal.boards_view import RESTORED, RESULTS, clock_cell, last_point
from live.terminal.charts import chances, move_axis, rating_chart, score_chart
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

_DIAGRAM = 20
#: The diagram and its letters, lines.
_SQUARES = 9
#: The diagram, the move, and most of what is known of it, lines.
_POSITION = 15
#: From this height on, a part of the screen has a diagram.
_DIAGRAM_FROM = 30
#: Fewer lines say nothing.
_LEAST_CHARTS = 5
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
#: The widths from which what is drawn elsewhere too has room.
_ROOM_FROM = {"interval": 96, "usual": 76, "algorithm4": 76, "counted": 76}
#: Alerts that have a line of their own.
_ALERTS = 2


class BoardView(View):
    """A cursor in the moves of one board, and a panel beside it."""

    name = "Board"

    def __init__(self, context: ViewContext) -> None:
        super().__init__(context)
        self.neighbour: Callable[[GameId, int], GameId | None] = lambda game, step: None
        """The board so many places further in the list, on which the list's cursor then is."""
        self.game: GameId | None = None
        self.ply: int | None = None
        """Under the cursor; None goes with the last move."""
        self.figure = "perceived"
        """Whose curves are drawn; Algorithm 4's by a key."""

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
        lines += self._below(game, width, height - len(lines))
        return filled(lines, height)

    def summary(self, game: GameDetail, width: int, height: int) -> Panel:
        """The same in a part of the screen, at the last move."""
        self.open(game.id)
        self.ply = None
        lines = [self._headlines(game)[0], *self._players(game, width)]
        if height >= _DIAGRAM_FROM:
            position = self._position(game)
            lines += beside([(position[:_SQUARES], _DIAGRAM), (position[_SQUARES:], width - 22)])
        lines += self._charts(game, width, height - len(lines))
        return filled(lines, height)

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

    # --- moves and curves -------------------------------------------------------------------------

    def _below(self, game: GameDetail, width: int, height: int) -> Panel:
        """The position beside the moves; under them the curves, by the size of the screen alone, so
        that nothing moves up and down as moves come.
        """
        said = self._said(game) if height >= 30 else []
        upper = min(_POSITION, height - 7) if height >= 20 else _SQUARES
        room = width - _DIAGRAM - 2
        upper_lines = self._moves(game, room, upper)
        lines = beside([(filled(self._position(game), upper), _DIAGRAM), (upper_lines, room)])
        rest = height - upper - len(said)
        return lines + self._charts(game, width, rest) + said if rest >= _LEAST_CHARTS else lines

    def _charts(self, game: GameDetail, width: int, height: int) -> Panel:
        """Both players' curves over the score, on one axis of moves."""
        if height < _LEAST_CHARTS:
            return []
        scored = 2 * max(1, height // 8)
        rating = self._context.state.engine().rating
        chart = rating_chart(game, self.figure, rating, width, height - scored - 1)
        chart = filled(chart, height - scored - 1)
        return [
            *chart,
            *move_axis(game, width),
            *score_chart(game, self._at(game), width, scored),
        ]

    def _moves(self, game: GameDetail, width: int, height: int) -> Panel:
        if not game.plies or width < MOVE_CELLS:
            return [styled("no room for the moves" if game.plies else "no move yet", "dim")]
        body, at = max(1, height - 1), self._at(game)
        row = move_number(game, max(1, at))[0] - move_number(game, 1)[0]
        first = row - body + 1 + (body // 2 if self.ply is not None else 0)
        first = min(max(0, first), max(0, (len(game.plies) + 2) // 2 - body))
        return moves(game, at, first, height, width)

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
        return [
            KeyHint("", "back", "back to the list", shown="esc"),
            KeyHint("left right home end", "moves", moves, self._step, shown="←→"),
            KeyHint("up down k j", "board", "previous, next board", self._next, shown="↑↓"),
            self.figure_key(),
        ]

    def figure_key(self) -> KeyHint:
        """Changes between the perceived rating and Algorithm 4."""
        other = "algorithm4" if self.figure == "perceived" else "perceived"
        explained = "the curves of Algorithm 4 against the engine, or of the perceived rating"
        label = "A4" if other == "algorithm4" else "like"
        return KeyHint("v", label, explained, partial(setattr, self, "figure", other))

    def _next(self, key: str) -> None:
        if other := self.neighbour(self.game or "", 1 if key in ("down", "j") else -1):
            self.open(other)

    def _step(self, key: str) -> None:
        game = self._detail()
        if game is not None:
            last, at = len(game.plies), self._at(game)
            steps = {"left": max(0, at - 1), "right": min(last, at + 1), "home": 0, "end": last}
            follows = steps[key] == last and key in ("right", "end")
            self.ply = None if follows else steps[key]
