"""The view of one board: position, moves with gains, both players' figures and curves.
The view fills the screen, or is a panel beside the list of boards.
"""

import contextlib
from functools import lru_cache

import chess
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Horizontal

from live.catalogue import is_final, write_sentence
from live.games.game import number_move
from live.messages.figures import GameDetail, PlyView
from live.messages.values import GameId
from live.screens.terminal.board_rows import (
    CLOCK_CELLS,
    RESTORED,
    RESULTS,
    find_last_point,
    find_troubles,
    write_clock_cell,
)
from live.screens.terminal.charts import SIDE_SIGNS, compute_lost_scores, draw_charts
from live.screens.terminal.text import (
    FEED_SIGNS,
    WITHHELD,
    Column,
    Panel,
    align_left,
    align_right,
    begin_line,
    fit_columns,
    fit_parts,
    is_withheld,
    plain,
    wrap_texts,
    write_age,
    write_clock,
    write_heads,
    write_move,
    write_odds,
    write_player,
    write_score,
    write_share,
    write_styled_figure,
)
from live.screens.terminal.view_context import ViewContext, group_by_board
from live.screens.terminal.widgets import Lines, View, set_border_title
from live.watch.finding import format_count

# --- the position ---------------------------------------------------------------------


@lru_cache(maxsize=4)
def replay(game: GameDetail, plies: int) -> chess.Board | None:
    """Return the position after this many plies; None if the variant is unknown."""
    try:
        board = chess.Board(game.start_fen, chess960=game.variant == "chess960")
        for ply in game.plies[:plies]:
            board.push_uci(ply.uci)
    except ValueError:
        return None
    return board


def draw_diagram(board: chess.Board, *, coloured: bool) -> Panel:
    """Draw the board with White at the bottom, 2 cells per square: 9 lines of 18 cells.

    White's pieces are outlines, Black's are filled. Without colours, a dot marks the
    dark squares.
    """
    last = board.peek() if board.move_stack else None
    marked = {last.from_square, last.to_square} if last else set()
    lines: Panel = []
    for rank in range(7, -1, -1):
        line = begin_line(f"{rank + 1} ", "dim")
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
    return [*lines, begin_line("  a b c d e f g h", "dim")]


_DARK = chess.SquareSet(chess.BB_DARK_SQUARES)

# --- the move list --------------------------------------------------------------------

#: Signs of bad moves, each with the smallest loss of expected score (0 to 1) that has
#: it. The limits are those of lichess, modules/tree Advice.scala.
_SIGNS = ((0.15, "??"), (0.10, "?"), (0.05, "?!"))
#: Sign of a move that few would have found (find), and of one that sets a trap.
PRAISE = {"find": "!", "trap": "!?"}
#: Width of one side of the move list, in cells: pointer, move with sign, gain, score.
_SIDE_CELLS = 1 + 9 + 7 + 8
_CLOCK_COLUMN = 1 + CLOCK_CELLS
#: Width of the move list without clocks, in cells: move number and both sides.
MOVE_CELLS = 3 + 2 * _SIDE_CELLS


def find_signs(game: GameDetail) -> list[str]:
    """Return the sign of every ply; empty for most.

    A ply has no sign while a score it depends on is provisional. The engine's first
    choice is never a mistake, even if the score one move later is lower. A move that
    lost nothing can be a find or a trap.
    """
    costs = compute_lost_scores(game)
    signs = []
    for ply in game.plies:
        cost = 0.0 if ply.gain_cp == 0 else costs.get(ply.ply, 0.0)
        mark = next((mark for limit, mark in _SIGNS if cost >= limit), "")
        signs.append(mark or PRAISE.get(ply.mark or "", ""))
    return signs


@lru_cache(maxsize=2)
def draw_moves(game: GameDetail, at: int, width: int) -> Panel:
    """Return the head of the move list, and a line for each move number.

    Clocks are shown if ``width``, in cells, allows it. ``at`` is the ply under the
    cursor.
    """
    clock = _CLOCK_COLUMN if width >= MOVE_CELLS + 2 * _CLOCK_COLUMN else 0
    head = begin_line("   ", "dim")
    for color in ("○ White", "● Black"):
        head.append(
            align_left(f" {color}", 10)
            + align_right("gain", 7)
            + align_right("score ", 8)
        )
        head.append(align_right("clock", clock))
    lines = [head]
    for ply, mark in zip(game.plies, find_signs(game), strict=True):
        number, white = number_move(game, ply.ply)
        if white or ply.ply == 1:
            lines.append(begin_line(align_right(str(number), 3), "dim"))
            if not white:  # the game began with Black's move
                lines[-1].append(" " * (_SIDE_CELLS + clock))
        _append(lines[-1], ply, mark, at == ply.ply, clock)
    return lines


def _append(line: Text, ply: PlyView, mark: str, is_selected: bool, clock: int) -> None:
    start = len(line)
    # The cursor is also shown as a sign: some terminals cannot show a background
    # colour.
    line.append("▸" if is_selected else " ", "accent")
    line.append(ply.san, "strong" if mark else "text")
    style = "bad" if mark == "??" else "good" if mark in PRAISE.values() else "warn"
    line.append(align_left(mark, 9 - len(ply.san)), style)
    gain = "·" if ply.gain_cp is None else f"{ply.gain_cp / 100:+.2f}"
    line.append(align_right(gain, 7), "text" if ply.gain_cp else "dim")
    score = write_score(ply)
    score += "" if ply.score_cp is None or score.endswith("~") else " "
    line.append(align_right(score, 8), "text" if ply.final else "dim")
    line.append(align_right(write_clock(ply.clock_s), clock), "dim")
    if is_selected:
        line.stylize_before("cursor", start)


# --- a board on the screen ------------------------------------------------------------

#: Width in cells of the border on both sides of its title, together.
_TITLE_ENDS = 6
#: For each figure of the curves, the columns beside a player's name, the most important
#: first.
_SIDE_COLUMNS = {
    "perceived": (
        Column("Elo", 4, "elo"),
        Column("Plays like", 12, "perceived"),
        Column("Clock", CLOCK_CELLS, "clock"),
        Column("usual", 9, "usual"),
        Column("Better than", 11, "percentile"),
        Column("Moves", 5, "counted"),
    ),
    "algorithm4": (
        Column("Algorithm 4", 11, "algorithm4"),
        Column("Clock", CLOCK_CELLS, "clock"),
        Column("95 %", 9, "interval"),
    ),
}
_LEAST_NAME, _MOST_NAME = 12, 40
#: Maximum number of lines about the board's problems.
_MOST_WRONG = 3
#: Key that changes the figure of the curves, in every view with curves.
CURVE_KEY = Binding(
    "v",
    "figure",
    "curve",
    tooltip="of Algorithm 4 (Ferreira), or of the perceived rating",
)


class BoardView(View, can_focus=True):
    """View of one board, with a cursor in its moves, the position there, and both
    curves.
    """

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
        CURVE_KEY,
    ]

    def __init__(self, context: ViewContext, id: str) -> None:
        super().__init__(context, id)
        self.game: GameId | None = None
        self.ply: int | None = None
        """Ply under the cursor; None while the cursor follows the last move."""
        self.figure = "perceived"
        """Figure whose curves are drawn; a key changes it to Algorithm 4."""
        self._wrong, self._players = Lines(id="wrong"), Lines(id="sides")
        self._square, self._about = Lines(id="square"), Lines(id="about-move")
        self._moves, self._charts = Lines(id="moves"), Lines(id="charts")
        self._meaning = Lines(id="meaning")

    def compose(self) -> ComposeResult:
        yield self._wrong
        yield self._players
        with Horizontal(id="middle"):
            with Container(id="position"):
                yield self._square
                yield self._about
            yield self._moves
        yield self._charts
        yield self._meaning

    def start(self) -> None:
        self.screen.set_focus(self)

    def look_at(self, about: GameId) -> None:
        """Show this board, with the cursor on its last move."""
        if about != self.game:
            self.ply = None
        self.game = about

    def find_board(self) -> GameId | None:
        return self.game if self._find_game() is not None else None

    def _find_game(self) -> GameDetail | None:
        return self.context.state.game(self.game) if self.game else None

    def _find_ply(self, game: GameDetail) -> int:
        """Return the ply under the cursor; 0 is the starting position."""
        return len(game.plies) if self.ply is None else self.ply

    def redraw(self) -> None:
        game = self._find_game()
        if game is None:
            set_border_title(self, "Board")
            for part in self.query(Lines):
                part.show([])
            gone = "  The source no longer has this board: esc goes back"
            self._wrong.show([begin_line(gone)])
            return
        if self.ply is not None and self.ply > len(game.plies):
            self.ply = None  # the move under the cursor was taken back
        set_border_title(self, self._write_headline(game))
        for part, draw in (
            (self._wrong, self._write_problems),
            (self._players, self._write_players),
            (self._square, self._draw_position),
            (self._about, self._describe_move),
            (self._moves, self._draw_moves),
            (self._charts, self._draw_charts),
            (self._meaning, self._explain),
        ):
            if part.display:
                part.show(draw(game))

    def _write_headline(self, game: GameDetail) -> str:
        """Return the game's state and its source; the parts that are cut first on a
        narrow terminal come last.
        """
        context = self.context
        age_s, exact = context.changes.measure_age_s(game.id, len(game.plies))
        unscored = game.plies_played - game.plies_scored
        if is_withheld(context.state.engine()):
            unscored = 0  # they may all be scored; none comes here
        states = {feed.feed: feed.state for feed in context.state.feeds()}
        sources = (
            f"{FEED_SIGNS.get(states.get(name, ''), '')} {plain(name, 40)}".lstrip()
            for name in (game.feed, *game.also)
        )
        parts = [
            "Board" if game.board is None else f"Board {game.board}",
            "" if game.running else RESULTS.get(game.result, game.result),
            RESTORED if game.restored and not game.problem else "",
            f"{format_count(unscored, 'move')} to score" if unscored > 1 else "",
            f"last move {write_age(age_s)} ago" if exact and game.running else "",
            f"round {plain(game.round, 8)}" if game.round else "",
            f"from {' and '.join(sources)}",
            plain(game.event, 40),
        ]
        return fit_parts(parts, self.outer_size.width - _TITLE_ENDS)

    def _write_problems(self, game: GameDetail) -> Panel:
        """Return the board's problems in whole sentences."""
        alerts = group_by_board(self.context.state.alerts()).get(game.id, ())
        troubles = find_troubles(game, alerts)
        parts = [(f"{sign} {text}", style) for sign, text, style in troubles]
        return wrap_texts(parts, self.size.width)[:_MOST_WRONG]

    def _write_players(self, game: GameDetail) -> Panel:
        """Return a head line, and a line for each player with figures and clock."""
        room = self.size.width - 2
        columns = fit_columns(_SIDE_COLUMNS[self.figure], room - _LEAST_NAME)
        used = sum(column.width + 1 for column in columns)
        name = Column("Player", min(_MOST_NAME, room - used), to_right=False)
        rating = self.context.state.engine().rating
        head = write_heads("  ", (name, *columns), "")
        if self._is_final(game):
            head = Text(head.plain.replace(" Plays like", "Played like"), "dim")
        lines = [head]
        for color, sign in SIDE_SIGNS.items():
            player, point = getattr(game, color), find_last_point(game, color)
            own = {
                "elo": (str(player.elo or ""), "text"),
                "clock": write_clock_cell(game, color, self.context.changes),
            }
            line = begin_line(f"{sign} ", color)
            line.append(name.align(write_player(player, name.width)))
            for column in columns:
                figure = column.figure
                text, style = own.get(figure) or write_styled_figure(
                    figure, point, rating
                )
                line.append(" ").append(column.align(text), style)
            lines.append(line)
        return lines

    def _explain(self, game: GameDetail) -> Panel:
        """Return a sentence for each player that explains the player's figure in this
        game.
        """
        lines = []
        elos = game.white.elo, game.black.elo
        for color, sign in SIDE_SIGNS.items():
            own_elo, opponent_elo = elos if color == "white" else elos[::-1]
            point = find_last_point(game, color)
            final = self._is_final(game)
            text = (
                write_sentence(point, own_elo, opponent_elo, final=final)
                if point
                else ""
            )
            text = text or game.note or "no figure yet"
            lines.append(begin_line(f"{sign} {text}", "dim"))
        return lines

    def _is_final(self, game: GameDetail) -> bool:
        is_measuring = self.context.state.engines().measuring is not None
        return is_final(game, is_measuring=is_measuring)

    def _draw_position(self, game: GameDetail) -> Panel:
        board = replay(game, self._find_ply(game))
        if board is None:
            return [begin_line(f"no diagram of {plain(game.variant, 20)}", "dim")]
        return draw_diagram(board, coloured=bool(self.context.palette.ground))

    def _describe_move(self, game: GameDetail) -> Panel:
        """Return a description of the move under the cursor.

        The lines name the move, the engine's choice, the share of players of these
        ratings who would play the move, the difficulty of the reply, and the search
        depth.
        """
        at = self._find_ply(game)
        if not at:
            return [begin_line("start", "dim")]
        ply, changes = game.plies[at - 1], self.context.changes
        is_new = self.ply is None and changes.is_new(game.id, at)
        lines = [begin_line(write_move(game, ply), "changed" if is_new else "strong")]
        lines[0].append(f" {write_score(ply)}")
        if ply.win is not None and ply.draw is not None:
            lines.append(begin_line(f"odds {write_odds(ply.win, ply.draw)}", "dim"))
        if ply.best == ply.uci:
            lines.append(begin_line("engine the same", "good"))
        elif best := _write_best(game, ply):
            lines.append(begin_line(f"engine {best}", "accent"))
        shares = {"find it" if ply.mark == "find" else "play it": ply.played_share}
        if ply.difficulty and (game.running or at < len(game.plies)):
            shares["reply best"] = ply.difficulty.best_share
            words = "fall for it" if ply.mark == "trap" else "go wrong"
            shares[words] = ply.difficulty.error_chance
        for words, share in shares.items():
            if share is not None:
                style = "good" if words in ("find it", "fall for it") else "dim"
                lines.append(begin_line(f"{write_share(share)} {words}", style))
        if ply.depth:
            lines.append(begin_line(f"depth {ply.depth}", "dim"))
        if ply.spent_s is not None:
            lines.append(begin_line(f"took {write_clock(ply.spent_s)}", "dim"))
        return lines

    def _draw_moves(self, game: GameDetail) -> Panel:
        """Return the part of the move list around the cursor that fits on the
        screen.
        """
        at, (width, height) = self._find_ply(game), self._moves.size
        if not game.plies:
            return [begin_line(" no move yet")]
        if width < MOVE_CELLS:
            return [begin_line(" no room for the moves")]
        head, *rows = draw_moves(game, at, width)
        row = number_move(game, max(1, at))[0] - number_move(game, 1)[0]
        top = max(0, min(row - height // 2, len(rows) + 1 - height))
        return [head, *rows[top : top + height - 1]]

    def _draw_charts(self, game: GameDetail) -> Panel:
        engine, at = self.context.state.engine(), self._find_ply(game)
        if is_withheld(engine):
            return [begin_line(f" {WITHHELD}", "dim")]
        return draw_charts(game, at, self.figure, engine.rating, self._charts.size)

    # --- keys -------------------------------------------------------------------------

    def describe(self) -> str:
        game, ply = self._find_game(), self.ply
        if game is None or ply is None:
            return ""
        at = f"at {write_move(game, game.plies[ply - 1])}" if ply else "at the start"
        return f"{at}: end follows the game again"

    def action_figure(self) -> None:
        """Switch the curves between the perceived rating and Algorithm 4."""
        self.figure = "algorithm4" if self.figure == "perceived" else "perceived"

    def action_step(self, by: int) -> None:
        game = self._find_game()
        if game is not None:
            last = len(game.plies)
            to = max(0, min(last, self._find_ply(game) + by))
            self.ply = None if by > 0 and to == last else to


def _write_best(game: GameDetail, ply: PlyView) -> str:
    """Return the engine's choice before a move; an empty string if it is unknown."""
    before = replay(game, ply.ply - 1)
    if before is None or not ply.best:
        return ""
    with contextlib.suppress(ValueError):
        return before.san(chess.Move.from_uci(ply.best))
    return ""
