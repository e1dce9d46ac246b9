"""Charts as SVG: of a game the evaluation, the odds and both perceived ratings with their bands, of
a player the gains at one centipawn, with the engine's under them. Pure.

White and Black differ by the kind of line, not by colour alone, so a grey print says the same. The
spike of gains at 0 would flatten all other bars: it is cut off, and the number stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import msgspec

from live.events import CurvePoint, GainCounts, GameDetail
from live.report.printed_figures import whole

WIDTH, HEIGHT = 340, 150
#: Room for what stands beside the plot: left, right, top, bottom.
LEFT, RIGHT, TOP, BOTTOM = 34, 46, 6, 16
#: Never less than this over the height: noise must not look like drama.
LEAST_SPAN_ELO = 400.0
#: An evaluation is drawn as an expected score: half a pawn more matters near level, not far out.
#: Expected score 1/(1 + exp(-0.00368208 cp)), as lichess publishes it.
_PER_CP = 0.00368208

Band = tuple[float, float | None, float | None, float | None]
"""Ply, value, low, high."""


class ChartFrame(msgspec.Struct, frozen=True):
    """Where plies and values lie in the picture."""

    plies: int
    low: float
    high: float
    right: int = WIDTH - RIGHT

    def x(self, ply: float) -> float:
        return LEFT + (self.right - LEFT) * ply / max(1, self.plies)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, share)))


def band(points: Sequence[CurvePoint]) -> list[Band]:
    """One curve: the perceived rating in its usual band."""
    return [(each.ply, each.perceived, each.usual_low, each.usual_high) for each in points]


def ratings(game: GameDetail) -> str:
    """Both curves with their usual bands; empty where there is no point."""
    white, black = band(game.curves.white), band(game.curves.black)
    values = [value for _, value, _, _ in white + black if value is not None]
    if not values:
        return ""
    low, high = _range(white, black, values)
    frame = ChartFrame(len(game.plies), low, high)
    parts = [_axes(frame, _rating_ticks(low, high))]
    parts += [_area(frame, curve, color) for curve, color in ((white, "w"), (black, "b"))]
    parts += [_line(frame, curve, color) for curve, color in ((white, "w"), (black, "b"))]
    parts.append(_ends(frame, (("White", "w", white), ("Black", "b", black))))
    return _svg("Playing like, by ply", parts)


def evaluation(game: GameDetail) -> str:
    """The engine's evaluation as White's expected score; empty where nothing is scored."""
    start = game.start_score_cp
    known = [(0, start)] if start is not None else []
    known += [(ply.ply, ply.score_cp) for ply in game.plies if ply.score_cp is not None]
    if len(known) < 2:
        return ""
    frame = ChartFrame(len(game.plies), 0.0, 1.0, WIDTH - 8)
    path = " ".join(
        f"{frame.x(ply):.1f},{frame.y(1 / (1 + math.exp(-_PER_CP * cp))):.1f}"
        for ply, cp in known
        if cp is not None
    )
    first, last = frame.x(known[0][0]), frame.x(known[-1][0])
    bottom = frame.y(0)
    ticks = [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")]
    parts = [
        _axes(frame, ticks),
        f'<polygon class="ev" points="{first:.1f},{bottom:.1f} {path} {last:.1f},{bottom:.1f}"/>',
        f'<polyline class="el" points="{path}"/>',
        f'<line class="half" x1="{LEFT}" x2="{frame.right}" '
        f'y1="{frame.y(0.5):.1f}" y2="{frame.y(0.5):.1f}"/>',
    ]
    return _svg("White's expected score by ply", parts)


def odds(game: GameDetail) -> str:
    """How likely White is to win (below), the game to be drawn (between) and Black to win (above);
    empty where that is not known.
    """
    known = [
        (ply.ply, ply.win, ply.win + ply.draw)
        for ply in game.plies
        if ply.win is not None and ply.draw is not None
    ]
    if len(known) < 2:
        return ""
    frame = ChartFrame(len(game.plies), 0.0, 1.0, WIDTH - 8)

    def line(places: Iterable[tuple[float, float]]) -> str:
        return " ".join(f"{frame.x(ply):.1f},{frame.y(share):.1f}" for ply, share in places)

    won = line((ply, win) for ply, win, _ in known)
    not_lost = line((ply, share) for ply, _, share in known)
    back = line((ply, win) for ply, win, _ in reversed(known))
    first, last, bottom = frame.x(known[0][0]), frame.x(known[-1][0]), frame.y(0)
    ticks = [(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")]
    parts = [
        _axes(frame, ticks),
        f'<polygon class="ev" points="{first:.1f},{bottom:.1f} {won} {last:.1f},{bottom:.1f}"/>',
        f'<polygon class="ed" points="{not_lost} {back}"/>',
        f'<polyline class="el" points="{won}"/>',
        f'<polyline class="el" points="{not_lost}"/>',
    ]
    return _svg("Win, draw and loss of White by ply", parts)


def _range(white: list[Band], black: list[Band], values: list[float]) -> tuple[float, float]:
    """Values and the later half of the bands: the first ones are as wide as the page."""
    bounds = list(values)
    for curve in (white, black):
        for _, _, low, high in curve[len(curve) // 2 :]:
            bounds += [each for each in (low, high) if each is not None]
    least, most = min(bounds), max(bounds)
    middle, span = (least + most) / 2, max(LEAST_SPAN_ELO, most - least)
    return middle - span / 2, middle + span / 2


def _rating_ticks(low: float, high: float) -> list[tuple[float, str]]:
    step = next(each for each in (100, 200, 500, 1000, 5000, 10**9) if (high - low) / each <= 5)
    first = math.ceil(low / step)
    return [(each * step, whole(each * step)) for each in range(first, int(high // step) + 1)]


def _axes(frame: ChartFrame, ticks: Sequence[tuple[float, str]]) -> str:
    lines = [
        f'<line class="grid" x1="{LEFT}" x2="{frame.right}" y1="{frame.y(at):.1f}" '
        f'y2="{frame.y(at):.1f}"/><text class="ax" x="{LEFT - 4}" y="{frame.y(at) + 3:.1f}" '
        f'text-anchor="end">{label}</text>'
        for at, label in ticks
    ]
    moves = max(1, (frame.plies + 1) // 2)
    step = 5 if moves <= 30 else 10 if moves <= 70 else 20
    lines += [
        f'<text class="ax" x="{frame.x(2 * at):.1f}" y="{HEIGHT - 3}" '
        f'text-anchor="middle">{at}</text>'
        for at in range(step, moves + 1, step)
    ]
    return "".join(lines)


def _area(frame: ChartFrame, curve: Sequence[Band], color: str) -> str:
    """The band; a bound that is not there lies at the edge of the picture."""
    known = [
        (ply, low, high) for ply, value, low, high in curve if low is not None or high is not None
    ]
    if len(known) < 2:
        return ""
    upper = [(ply, frame.high if high is None else high) for ply, _, high in known]
    lower = [(ply, frame.low if low is None else low) for ply, low, _ in reversed(known)]
    path = " ".join(f"{frame.x(ply):.1f},{frame.y(at):.1f}" for ply, at in upper + lower)
    return f'<polygon class="band {color}" points="{path}"/>'


def _line(frame: ChartFrame, curve: Sequence[Band], color: str) -> str:
    """Broken where the rating is unbounded."""
    runs: list[list[str]] = [[]]
    for ply, value, _, _ in curve:
        if value is None:
            runs.append([])
        else:
            runs[-1].append(f"{frame.x(ply):.1f},{frame.y(value):.1f}")
    return "".join(
        f'<polyline class="line {color}" points="{" ".join(run)}"/>' for run in runs if run
    )


def _ends(frame: ChartFrame, curves: Sequence[tuple[str, str, Sequence[Band]]]) -> str:
    """The names at the ends of the lines, kept apart."""
    ends = [
        (frame.y(value), name, color)
        for name, color, curve in curves
        if curve and (value := curve[-1][1]) is not None
    ]
    ends.sort()
    if len(ends) == 2 and ends[1][0] - ends[0][0] < 10:
        middle = (ends[0][0] + ends[1][0]) / 2
        ends = [(middle - 5, *ends[0][1:]), (middle + 5, *ends[1][1:])]
    return "".join(
        f'<text class="end {color}" x="{WIDTH - RIGHT + 4}" y="{y + 3:.1f}">{name}</text>'
        for y, name, color in ends
    )


def _svg(label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        + "".join(parts)
        + "</svg>"
    )


#: Centipawns drawn left of 0, and right of it where successive gains lie there.
BELOW_CP, ABOVE_CP = 150, 60
_BARS, _ENGINE = 60, 16
_GAIN_LEFT = 4


def gain_chart(counts: GainCounts, engine: GainCounts, color: str = "w") -> str:
    """Bars of one centipawn each; empty where there is no gain. ``color``: ``w`` or ``b``."""
    if not counts:
        return ""
    above = any(gain_cp > 0 for gain_cp, _ in (*counts, *engine))
    least, most = -BELOW_CP, ABOVE_CP if above else 0
    step = (WIDTH - 2 * _GAIN_LEFT) / (most - least + 1)
    moves = sum(count for _, count in counts)
    outside = sum(count for gain_cp, count in counts if not least <= gain_cp <= most)
    none = dict(counts).get(0, 0)
    said = f"0 in {none} of {moves} ({100 * none / moves:.0f} %)"
    if outside:
        said += f", {outside} outside"
    floor = 12 + _BARS
    parts = [
        f'<text class="ax" x="{_GAIN_LEFT}" y="9">{said}</text>',
        _bars(counts, least, most, step, floor, _BARS, f"gain {color}"),
        f'<line class="grid" x1="{_GAIN_LEFT}" x2="{WIDTH - _GAIN_LEFT}" '
        f'y1="{floor}" y2="{floor}"/>',
    ]
    height = floor + 10
    if any(gain_cp for gain_cp, _ in engine):
        height += _ENGINE
        parts.append(_bars(engine, least, most, step, floor + _ENGINE, _ENGINE - 2, "gain e"))
        parts.append(f'<text class="ax" x="{_GAIN_LEFT}" y="{floor + _ENGINE - 3}">engine</text>')
    for mark in range(least, most + 1, 50):
        x = _GAIN_LEFT + (mark - least + 0.5) * step
        anchor = "start" if mark == least else "end" if mark == most else "middle"
        parts.append(
            f'<text class="ax" x="{x:.1f}" y="{height - 1}" text-anchor="{anchor}">{mark}</text>'
        )
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Gains at one centipawn">'
        + "".join(parts)
        + "</svg>"
    )


def _bars(
    counts: GainCounts, least: int, most: int, step: float, floor: int, height: int, style: str
) -> str:
    """One path: a rectangle each would be most of the page."""
    shown = [each for each in counts if least <= each[0] <= most]
    top = max((count for gain_cp, count in shown if gain_cp), default=1)
    moves = " ".join(
        f"M{_GAIN_LEFT + (gain_cp - least) * step:.1f} {floor}"
        f"v{-height * min(1.0, count / top):.1f}h{step:.2f}V{floor}"
        for gain_cp, count in shown
    )
    return f'<path class="{style}" d="{moves}"/>'
