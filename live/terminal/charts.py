"""Pictures of characters: board, score, rating curves with their band, gains, move list. Pure.

Of gains at one centipawn the spike at 0 would flatten all other bars, and so would a column for the
worst blunder: what the one holds and what lies beyond the picture is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import chess
from rich.text import Text

from live.events import CurvePoint, GainCounts, GameDetail, PlyView
from live.games.game import move_number
from live.terminal.text import clock_text, filled, left, ply_score, right, styled

_UP = " ▁▂▃▄▅▆▇█"
#: Labels and rules of the axis left of a graph, cells.
AXIS = 6
#: The marks of the score axis, pawns; placed by winning chances, so that ±1 is not lost near ±10.
_MARKS = (5, 2, 0, -2, -5)
#: A rating axis never spans less than this, Elo: noise must not look like drama.
MIN_SPAN_ELO = 400.0

Values = TypeVar("Values")


def _sampled(values: Sequence[Values], width: int) -> tuple[list[Values], int, int]:
    """The values that have a column: the last of each so many; how many, and how wide it is."""
    columns = max(1, width - AXIS)
    step = max(1, -(-len(values) // columns))
    drawn = [values[min(start + step, len(values)) - 1] for start in range(0, len(values), step)]
    return drawn, step, max(1, min(4, columns // len(drawn)))


def _axis_left(label: str) -> Text:
    """The beginning of a graph's line."""
    return Text.assemble(
        (right(label, AXIS - 1), "dim"), ("┤" if label else "│", "dim"), no_wrap=True
    )


def score_graph(game: GameDetail, cursor_ply: int, width: int, height: int) -> list[Text]:
    """White's advantage above the line, Black's below; one column a ply, or the last of several."""
    scores = [game.start_score_cp, *(ply.score_cp for ply in game.plies)]
    shown, step, wide = _sampled(scores, width)
    half = max(1, height // 2)
    labels = _score_labels(half)
    lines = []
    for row in range(2 * half):
        line = _axis_left(labels.get(row, ""))
        for index, score in enumerate(shown):
            cell, style = _score_cell(score, row, half)
            if index == cursor_ply // step and cell == " ":
                line.append("┊".ljust(wide), "accent")
            else:
                line.append(cell * wide, style)
        lines.append(line)
    return lines


def _score_labels(half: int) -> dict[int, str]:
    rows: dict[int, str] = {}
    for pawns in _MARKS:
        height = chances(100 * pawns) * half
        row = round(half - height - 0.5)
        row = half - 1 if pawns == 0 else max(0, min(2 * half - 1, row))
        rows.setdefault(row, f"{pawns:+d}" if pawns else "0")
    return rows


def _score_cell(score: int | None, row: int, half: int) -> tuple[str, str]:
    if score is None:
        return ("·" if row == half - 1 else " "), "dim"
    eighths = round(chances(score) * half * 8)
    if row < half:  # above the line, filled from below
        filled = max(0, min(8, eighths - (half - 1 - row) * 8))
        if filled == 0 and row == half - 1:
            return "▁", "dim"
        return _UP[filled], "white"
    # Below the line a block hangs from above: the blank part is drawn, and turned round.
    filled = max(0, min(8, -eighths - (row - half) * 8))
    if filled == 8:
        return "█", "black"
    return _UP[8 - filled] if filled else " ", "hanging" if filled else ""


ChartScale = tuple[float, float]
"""Elo from the bottom to the top of a graph."""

Drawn = tuple[float | None, float | None, float | None]
"""Low, value, high of one point of a curve, Elo."""


def figure_at(point: CurvePoint, engine_rating: int | None = None) -> Drawn:
    """What the curve shows: the perceived rating in its usual band, or with an engine's rating that
    of Algorithm 4.
    """
    if engine_rating is None:
        return point.usual_low, point.perceived, point.usual_high
    low, value, high = (
        None if each is None else engine_rating + each
        for each in (point.difference_low, point.difference, point.difference_high)
    )
    return low, value, high


def common_scale(curves: Sequence[Sequence[Drawn]]) -> ChartScale | None:
    """One scale for both players, so that their curves can be compared: from the lowest to the
    highest end of the bands of the latter half of each curve, when they have settled.
    """
    ends = [
        value
        for points in curves
        for point in points[len(points) // 2 :]
        for value in point
        if value is not None
    ]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    spare = max(0.0, MIN_SPAN_ELO - (high - low)) / 2
    return low - spare, high + spare


def rating_graph(
    points: Sequence[Drawn], scale: ChartScale | None, width: int, height: int, style: str
) -> list[Text]:
    """The rating ``━`` in its band ``░``, move by move; a band without end goes on to the edge,
    with an arrow for the rating there.
    """
    if scale is None or not points:
        return filled([styled(" " * AXIS + "no rating yet", "dim")], height)
    drawn, _, wide = _sampled(points, width)
    columns = [_column(point, scale, height) for point in drawn]
    labels = {0: scale[1], height // 2: sum(scale) / 2, height - 1: scale[0]}
    lines = []
    for row in range(height):
        line = _axis_left(f"{labels[row]:.0f}" if row in labels else "")
        for column in columns:
            line.append(column[row] * wide, "band" if column[row] == "░" else style)
        lines.append(line)
    return lines


def _column(point: Drawn, scale: ChartScale, height: int) -> list[str]:
    def row_at(elo: float) -> int:
        """0 at the top; outside the graph for what is outside the scale."""
        return round((scale[1] - elo) / (scale[1] - scale[0]) * (height - 1))

    low, rating, high = point
    if low is None and high is None:
        at = None if rating is None else row_at(rating)
        return ["━" if row == at else " " for row in range(height)]
    top = 0 if high is None else max(0, row_at(high))
    bottom = height - 1 if low is None else min(height - 1, row_at(low))
    cells = ["░" if top <= row <= bottom else " " for row in range(height)]
    if rating is None:
        cells[0 if high is None else height - 1] = "↑" if high is None else "↓"
    else:
        row = row_at(rating)
        cells[max(0, min(height - 1, row))] = "━" if 0 <= row < height else "▲" if row < 0 else "▼"
    return cells


# --- gains at one centipawn ----------------------------------------------------------------------

#: The spike at 0, cut off.
_SPIKE = "█"
#: Centipawns between two marks of the axis.
_MARK_CP = 25


def gain_chart(
    counts: GainCounts, engine: GainCounts, width: int, rows: int, style: str
) -> list[Text]:
    """The player's bars, ``rows`` lines high, the axis in centipawns and the engine's own: with
    the line of what is written ``rows + 3`` lines.
    """
    if not counts:
        return filled([styled("no gain yet", "dim")], rows + 3)
    # Right of 0 only where there are such gains.
    most = min(max(gain_cp for gain_cp, _ in (*counts, *engine, (0, 0))), width // 2)
    shown = range(most - width + 1, most + 1)
    lines = [
        styled(_written(counts, shown), "dim"),
        *_bars(dict(counts), shown, rows, style),
        styled(_axis(shown), "dim"),
    ]
    if all(gain_cp == 0 for gain_cp, _ in engine):
        lines.append(styled("the engine's own: 0 in every move" if engine else "", "dim"))
    else:
        lines += _bars(dict(engine), shown, 1, "dim")
        lines[-1].append(" engine", "dim")
    for line in lines:
        line.truncate(width)
    return lines


def _written(counts: GainCounts, shown: range) -> str:
    none, moves = dict(counts).get(0, 0), sum(count for _, count in counts)
    parts = [f"0 in {none} of {moves} ({100 * none / moves:.0f} %)"]
    if below := sum(count for gain_cp, count in counts if gain_cp < shown[0]):
        parts.append(f"{below} below {shown[0]}")
    if above := sum(count for gain_cp, count in counts if gain_cp > shown[-1]):
        parts.append(f"{above} above {shown[-1]}")
    return " · ".join(parts)


def _bars(counts: dict[int, int], shown: range, rows: int, style: str) -> list[Text]:
    top = max((counts.get(gain_cp, 0) for gain_cp in shown if gain_cp), default=0)
    lines = []
    for row in range(rows):
        line = Text(no_wrap=True)
        for gain_cp in shown:
            count = counts.get(gain_cp, 0)
            if gain_cp == 0:
                line.append(_SPIKE if count else " ", "accent")
                continue
            eighths = -(-count * rows * 8 // top) if top else 0
            line.append(_UP[max(0, min(8, eighths - (rows - 1 - row) * 8))], style)
        lines.append(line)
    return lines


def _axis(shown: range) -> str:
    """Marks under their columns, as far as they do not touch."""
    cells = ["─"] * len(shown)
    for mark in range(-(-shown[0] // _MARK_CP) * _MARK_CP, shown[-1] + 1, _MARK_CP):
        label = f"{mark:+d}" if mark else "0"
        # Right-aligned, so that the last column's mark, which is 0, fits.
        end = shown.index(mark) + 1
        if end >= len(label):
            cells[end - len(label) : end] = label
    return "".join(cells)


# --- the board -----------------------------------------------------------------------------------

#: White's men are outlines, Black's are filled: they differ without any colour.
_MEN = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))


def board_after(game: GameDetail, ply: int) -> chess.Board | None:
    """The position after ``ply`` plies; None where it cannot be set up (an unknown variant)."""
    return _replayed(
        game.start_fen, game.variant == "chess960", tuple(each.uci for each in game.plies[:ply])
    )


@lru_cache(maxsize=64)
def _replayed(start_fen: str, chess960: bool, moves: tuple[str, ...]) -> chess.Board | None:
    try:
        board = chess.Board(start_fen, chess960=chess960)
        for uci in moves:
            board.push_uci(uci)
    except ValueError:
        return None
    return board


def san_of(board: chess.Board | None, uci: str | None) -> str:
    """A move from this position in SAN; empty where it is none."""
    if board is None or not uci:
        return ""
    try:
        return board.san(chess.Move.from_uci(uci))
    except ValueError:
        return ""


def diagram(board: chess.Board, *, coloured: bool = True) -> list[Text]:
    """White below, 2 cells a square: 9 lines of 18 cells. Without colours a dot marks the dark
    squares.
    """
    last = board.peek() if board.move_stack else None
    marked = {last.from_square, last.to_square} if last else set()
    lines: list[Text] = []
    for rank in range(7, -1, -1):
        line = styled(f"{rank + 1} ", "dim")
        for file in range(8):
            square = chess.square(file, rank)
            dark = (file + rank) % 2 == 0
            ground = "dark_square" if dark else "light_square"
            man, start = board.piece_at(square), len(line)
            sign = _MEN[man.symbol()] if man else " " if coloured or not dark else "·"
            style = "dim" if man is None else "white_piece" if man.color else "black_piece"
            line.append(f"{sign} ", style)
            line.stylize("last_move" if square in marked else ground, start)
        lines.append(line)
    return [*lines, styled("  a b c d e f g h", "dim")]


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


def sign(before_cp: int | None, after_cp: int | None, *, white: bool) -> str:
    """``??``, ``?``, ``?!`` or nothing, from the scores around the move."""
    if before_cp is None or after_cp is None:
        return ""
    lost = (chances(before_cp) - chances(after_cp)) * (1 if white else -1)
    return next((mark for limit, mark in _SIGNS if lost >= limit), "")


def signs(game: GameDetail) -> list[str]:
    """The sign of every ply; none while a score is provisional. The engine's first choice is no
    mistake, whatever it says of it a move later. What lost nothing may be a find or set a trap.
    """
    scores = [game.start_score_cp, *(ply.score_cp if ply.final else None for ply in game.plies)]
    found = []
    for ply, (before, after) in zip(game.plies, pairwise(scores), strict=True):
        first = ply.gain_cp is not None and ply.gain_cp >= 0
        mark = "" if first else sign(before, after, white=move_number(game, ply.ply)[1])
        found.append(mark or PRAISE.get(ply.mark or "", ""))
    return found


def row_of(game: GameDetail, ply: int) -> int:
    """Index of the line that holds ``ply``."""
    return move_number(game, ply)[0] - move_number(game, 1)[0]


def moves(game: GameDetail, cursor_ply: int, first: int, height: int, width: int) -> list[Text]:
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
