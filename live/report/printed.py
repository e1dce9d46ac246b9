"""How figures, names, tables and charts stand on paper, and the page around them. Pure.

A figure that is not known is an empty cell, never a zero. In charts White and Black differ by the
kind of line, not by colour alone, so a grey print says the same. The spike of gains at 0 would
flatten all other bars: it is cut off, and the number stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

import msgspec

from live.events import GainCounts, GameDetail

#: Longest name on paper, characters; the longest real one has about 60.
NAME_CHARS = 80
MINUS = "\N{MINUS SIGN}"


def plain(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source without control characters and not endless."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    words = " ".join(printable.split())
    return words if len(words) <= most else words[: most - 1] + "…"


def html(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source for a page: never markup, and kept from turning its neighbours around."""
    return f"<bdi>{escape(plain(text, most))}</bdi>"


def whole(value: float | None) -> str:
    """``2034``."""
    return "" if value is None else f"{value:.0f}".replace("-", MINUS)


def signed(value: float | None, decimals: int = 0) -> str:
    """``+12``, with a real minus sign."""
    return "" if value is None else f"{value:+.{decimals}f}".replace("-", MINUS)


def pawns(cp: float | None) -> str:
    """Centipawns as signed pawns: ``+0.35``."""
    return "" if cp is None else signed(cp / 100, 2)


def percent(share: float | None) -> str:
    """``61 %``."""
    return "" if share is None else f"{100 * share:.0f} %"


def clock(seconds: float | None) -> str:
    """``1:02:11``."""
    if seconds is None:
        return ""
    kept = max(0, int(seconds))
    return f"{kept // 3600}:{kept // 60 % 60:02d}:{kept % 60:02d}"


class HtmlColumn(msgspec.Struct, frozen=True):
    """Its head, and the classes of its cells: ``n`` figures, ``c`` centred, empty for text."""

    head: str
    kind: str = ""

    def cell(self, tag: str, html: str) -> str:
        kind = f' class="{self.kind}"' if self.kind else ""
        return f"<{tag}{kind}>{html}</{tag}>"


def table(columns: Sequence[HtmlColumn], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already: whoever fills them has escaped what came from a source."""
    heads = "".join(each.cell("th", escape(each.head)) for each in columns)
    body = "\n".join(
        f"<tr>{''.join(map(HtmlColumn.cell, columns, ['td'] * len(columns), row))}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table>"


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'"


def document(title: str, *parts: str) -> str:
    """A whole page that loads nothing and runs nothing; ``title`` as text, ``parts`` as HTML."""
    style = resources.files("live.report").joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


# --- charts -----------------------------------------------------------------------------------

WIDTH, HEIGHT = 340, 150
#: Room for what stands beside the plot: left, right, top, bottom.
LEFT, RIGHT, TOP, BOTTOM = 34, 46, 6, 16
#: Never less than this over the height: noise must not look like drama.
LEAST_SPAN_ELO = 400.0
#: An evaluation is drawn as an expected score: half a pawn more matters near level, not far out.
#: Expected score 1/(1 + exp(-0.00368208 cp)), as lichess publishes it.
_PER_CP = 0.00368208


class ChartFrame(msgspec.Struct, frozen=True):
    """Where plies and values lie in the picture."""

    plies: int
    low: float = 0.0
    high: float = 1.0
    right: int = WIDTH - 8

    def x(self, ply: float) -> float:
        return LEFT + (self.right - LEFT) * ply / max(1, self.plies)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, share)))

    def line(self, places: Iterable[tuple[int, float]]) -> str:
        """Plies and values as the points of a line."""
        return " ".join(f"{self.x(ply):.1f},{self.y(value):.1f}" for ply, value in places)

    def axes(self, ticks: Sequence[tuple[float, str]]) -> str:
        lines = [
            f'<line class="grid" x1="{LEFT}" x2="{self.right}" y1="{self.y(at):.1f}" '
            f'y2="{self.y(at):.1f}"/><text class="ax" x="{LEFT - 4}" y="{self.y(at) + 3:.1f}" '
            f'text-anchor="end">{label}</text>'
            for at, label in ticks
        ]
        moves = max(1, (self.plies + 1) // 2)
        step = 5 if moves <= 30 else 10 if moves <= 70 else 20
        lines += [
            f'<text class="ax" x="{self.x(2 * at):.1f}" y="{HEIGHT - 3}" '
            f'text-anchor="middle">{at}</text>'
            for at in range(step, moves + 1, step)
        ]
        return "".join(lines)


def ratings(game: GameDetail) -> str:
    """Both perceived ratings in their usual bands; empty where there is no point."""
    sides = [("White", "w", game.curves.white), ("Black", "b", game.curves.black)]
    bounds = [each.perceived for _, _, curve in sides for each in curve]
    for _, _, curve in sides:
        # Not the first half of the bands: they begin as wide as the page.
        for each in curve[len(curve) // 2 :]:
            bounds += [each.usual_low, each.usual_high]
    known = [each for each in bounds if each is not None]
    if not known:
        return ""
    middle, span = (min(known) + max(known)) / 2, max(LEAST_SPAN_ELO, max(known) - min(known))
    frame = ChartFrame(len(game.plies), middle - span / 2, middle + span / 2, WIDTH - RIGHT)
    step = next(each for each in (100, 200, 500, 1000, 5000, 10**9) if span / each <= 5)
    marks = range(math.ceil(frame.low / step), int(frame.high // step) + 1)
    areas, lines, ends = [], [], []
    for name, color, curve in sides:
        upper = [(each.ply, each.usual_high) for each in curve if each.usual_high is not None]
        lower = [(each.ply, each.usual_low) for each in curve if each.usual_low is not None]
        if len(upper) > 1:
            band = frame.line((*upper, *reversed(lower)))
            areas.append(f'<polygon class="band {color}" points="{band}"/>')
        line = [(each.ply, each.perceived) for each in curve if each.perceived is not None]
        if line:
            lines.append(f'<polyline class="line {color}" points="{frame.line(line)}"/>')
            ends.append((frame.y(line[-1][1]), name, color))
    ends.sort()
    if len(ends) == 2 and ends[1][0] - ends[0][0] < 10:
        # The names are kept apart.
        centre = (ends[0][0] + ends[1][0]) / 2
        ends = [(centre - 5, *ends[0][1:]), (centre + 5, *ends[1][1:])]
    names = [
        f'<text class="end {color}" x="{WIDTH - RIGHT + 4}" y="{y + 3:.1f}">{name}</text>'
        for y, name, color in ends
    ]
    axes = frame.axes([(each * step, whole(each * step)) for each in marks])
    return _svg("Playing like, by ply", [axes, *areas, *lines, *names])


def evaluation(game: GameDetail) -> str:
    """The engine's evaluation as White's expected score; empty where nothing is scored."""
    scores = [(0, game.start_score_cp), *((ply.ply, ply.score_cp) for ply in game.plies)]
    known = [(ply, 1 / (1 + math.exp(-_PER_CP * cp))) for ply, cp in scores if cp is not None]
    if len(known) < 2:
        return ""
    frame = ChartFrame(len(game.plies))
    half = f'y1="{frame.y(0.5):.1f}" y2="{frame.y(0.5):.1f}"'
    parts = [
        *_shares(frame, known),
        f'<line class="half" x1="{LEFT}" x2="{frame.right}" {half}/>',
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
    frame = ChartFrame(len(game.plies))
    won = [(ply, win) for ply, win, _ in known]
    not_lost = frame.line((ply, share) for ply, _, share in known)
    parts = [
        *_shares(frame, won),
        f'<polygon class="ed" points="{not_lost} {frame.line(reversed(won))}"/>',
        f'<polyline class="el" points="{not_lost}"/>',
    ]
    return _svg("Win, draw and loss of White by ply", parts)


def _shares(frame: ChartFrame, known: Sequence[tuple[int, float]]) -> list[str]:
    """Axes from 0 to 100 %, and White's share up to a line."""
    floor = frame.line([(known[0][0], 0.0), *known, (known[-1][0], 0.0)])
    return [
        frame.axes([(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")]),
        f'<polygon class="ev" points="{floor}"/>',
        f'<polyline class="el" points="{frame.line(known)}"/>',
    ]


def _svg(label: str, parts: Sequence[str], height: int = HEIGHT) -> str:
    open_tag = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">'
    return f"{open_tag}{''.join(parts)}</svg>"


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
    return _svg("Gains at one centipawn", parts, height)


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
