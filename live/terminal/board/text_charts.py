"""Graphs of characters: the score, a rating curve with its band, histograms of gains. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.text import Text

from live.events import CurvePoint, FigureChoice, GainCounts, GameDetail
from live.publish.published_state import gain_counts
from live.terminal.board.move_table import chances
from live.terminal.gain_chart import gain_chart
from live.terminal.palette import Palette
from live.terminal.text_cells import left, right, styled

_UP = " ▁▂▃▄▅▆▇█"
#: Labels and rules of the axis left of a graph, cells.
AXIS = 6
#: The marks of the score axis, pawns; placed by winning chances, so that ±1 is not lost near ±10.
_MARKS = (5, 2, 0, -2, -5)
#: A rating axis never spans less than this, Elo: noise must not look like drama.
MIN_SPAN_ELO = 400.0
#: Upper ends of the bins of gains, centipawns lost, and their names.
BINS = (
    (0, "none"),
    (10, "≤ 0.10"),
    (30, "≤ 0.30"),
    (60, "≤ 0.60"),
    (100, "≤ 1.00"),
    (200, "≤ 2.00"),
    (1 << 30, "more"),
)


def score_graph(
    game: GameDetail, cursor_ply: int, width: int, height: int, palette: Palette
) -> list[Text]:
    """White's advantage above the line, Black's below; one column a ply, or the last of several."""
    columns = max(1, width - AXIS)
    scores = [game.start_score_cp, *(ply.score_cp for ply in game.plies)]
    step = max(1, -(-len(scores) // columns))
    shown = [scores[min(start + step, len(scores)) - 1] for start in range(0, len(scores), step)]
    here = cursor_ply // step
    half = max(1, height // 2)
    wide = max(1, min(4, columns // max(1, len(shown))))
    labels = _score_labels(half)
    lines = []
    for row in range(2 * half):
        line = styled(right(labels.get(row, ""), AXIS - 1), palette.dim)
        line.append("┤" if row in labels else "│", palette.dim)
        for index, score in enumerate(shown):
            cell, style = _score_cell(score, row, half, palette)
            if index == here and cell == " ":
                cell, style = "┊", palette.accent
            line.append(cell * (wide if cell != "┊" else 1), style)
            if cell == "┊" and wide > 1:
                line.append(" " * (wide - 1))
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


def _score_cell(score: int | None, row: int, half: int, palette: Palette) -> tuple[str, str]:
    if score is None:
        return ("·" if row == half - 1 else " "), palette.dim
    eighths = round(chances(score) * half * 8)
    if row < half:  # above the line, filled from below
        filled = max(0, min(8, eighths - (half - 1 - row) * 8))
        if filled == 0 and row == half - 1:
            return "▁", palette.dim
        return _UP[filled], palette.white
    # Below the line a block hangs from above: the blank part is drawn, and turned round.
    filled = max(0, min(8, -eighths - (row - half) * 8))
    if filled == 8:
        return "█", palette.black
    return _UP[8 - filled] if filled else " ", f"{palette.black} reverse" if filled else ""


class ChartScale(msgspec.Struct, frozen=True):
    """Elo from the bottom to the top of a graph."""

    low: float
    high: float

    def row(self, elo: float, height: int) -> int:
        """Row of ``elo``, 0 at the top; outside the graph for what is outside the scale."""
        return round((self.high - elo) / (self.high - self.low) * (height - 1))


Drawn = tuple[float | None, float | None, float | None]
"""Low, value, high of one point of a curve, Elo."""


def figure_at(point: CurvePoint, shown: FigureChoice, engine_rating: int) -> Drawn:
    """What the curve shows: the perceived rating in its usual band, or Algorithm 4's rating."""
    if shown == "perceived":
        return point.usual_low, point.perceived, point.usual_high

    def plus(difference: float | None) -> float | None:
        return None if difference is None else engine_rating + difference

    return plus(point.difference_low), plus(point.difference), plus(point.difference_high)


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
    return ChartScale(low - spare, high + spare)


def rating_graph(
    points: Sequence[Drawn],
    scale: ChartScale | None,
    width: int,
    height: int,
    style: str,
    palette: Palette,
) -> list[Text]:
    """The rating ``━`` in its band ``░``, move by move; a band without end goes on to the edge,
    with an arrow for the rating there.
    """
    if scale is None or not points:
        empty = styled(" " * AXIS + "no rating yet", palette.dim)
        return [empty, *(Text() for _ in range(height - 1))]
    columns = max(1, width - AXIS)
    step = max(1, -(-len(points) // columns))
    drawn = [points[min(start + step, len(points)) - 1] for start in range(0, len(points), step)]
    wide = max(1, min(4, columns // len(drawn)))
    cells = [_column(point, scale, height) for point in drawn]
    labels = {0: scale.high, height // 2: (scale.low + scale.high) / 2, height - 1: scale.low}
    lines = []
    for row in range(height):
        label = f"{labels[row]:.0f}" if row in labels else ""
        line = styled(right(label, AXIS - 1), palette.dim)
        line.append("┤" if row in labels else "│", palette.dim)
        for column in cells:
            line.append(column[row] * wide, palette.band if column[row] == "░" else style)
        lines.append(line)
    return lines


def _column(point: Drawn, scale: ChartScale, height: int) -> list[str]:
    low, rating, high = point
    if low is None and high is None:
        at = None if rating is None else scale.row(rating, height)
        return ["━" if row == at else " " for row in range(height)]
    top = 0 if high is None else max(0, scale.row(high, height))
    bottom = height - 1 if low is None else min(height - 1, scale.row(low, height))
    cells = ["░" if top <= row <= bottom else " " for row in range(height)]
    if rating is None:
        cells[0 if high is None else height - 1] = "↑" if high is None else "↓"
    else:
        row = scale.row(rating, height)
        cells[max(0, min(height - 1, row))] = "━" if 0 <= row < height else "▲" if row < 0 else "▼"
    return cells


def histogram(game: GameDetail, width: int, height: int, palette: Palette) -> list[Text]:
    """How many moves lost how much, as shares of either side's moves. Successive gains may be above
    0: those are counted first.
    """
    curves = (game.curves.white, game.curves.black)
    above = any(point.gain_cp > 0 for points in curves for point in points)
    bins = ((-1, "gained"), *BINS) if above else BINS
    counts = [[0] * len(bins), [0] * len(bins)]
    for side, points in enumerate(curves):
        for point in points:
            found = next(i for i, (most, _) in enumerate(bins) if -point.gain_cp <= most)
            counts[side][found] += 1
    totals = [max(1, sum(each)) for each in counts]
    most = max(count / total for each, total in zip(counts, totals, strict=True) for count in each)
    room = max(1, (width - 9 - 2 * 12) // 2)
    lines = [
        styled(
            left("lost", 9) + left("○ White", room + 12) + left("● Black", room + 12), palette.dim
        )
    ]
    for index, (_, name) in enumerate(bins):
        line = styled(left(name, 9), palette.dim)
        for side, style in ((0, palette.white), (1, palette.black)):
            share = counts[side][index] / totals[side]
            bar = "█" * round(share / most * room) if most else ""
            if counts[side][index] and not bar:
                bar = "▏"
            line.append(left(bar, room), style)
            text = f"{counts[side][index]:>4} {100 * share:>3.0f} %" if counts[side][index] else ""
            line.append(left(text, 12))
        lines.append(line)
    return lines[:height]


def gain_charts(
    game: GameDetail, engine: GainCounts, width: int, height: int, palette: Palette
) -> list[Text]:
    """Both sides' gains at one centipawn, as high as there is room; empty where there is none."""
    rows = min(4, height // 2 - 4)
    if rows < 1:
        return []
    lines: list[Text] = []
    for name, points, style in (
        ("○ White", game.curves.white, palette.white),
        ("● Black", game.curves.black, palette.black),
    ):
        counts = gain_counts(points)
        lines.append(styled(f"{name}, centipawns", palette.head))
        lines += gain_chart(counts, engine, width, rows, style, palette)
    return lines
