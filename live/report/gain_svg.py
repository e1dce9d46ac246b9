"""A player's gains at one centipawn as SVG, with the engine's under them. Pure.

The spike at 0 would flatten all other bars: it is cut off, and the number stands beside it.
"""

from __future__ import annotations

from live.events import GainCounts

#: Centipawns drawn left of 0, and right of it where successive gains lie there.
BELOW_CP, ABOVE_CP = 150, 60
_WIDTH, _BARS, _ENGINE = 340, 60, 16
_LEFT = 4


def gain_chart(counts: GainCounts, engine: GainCounts, color: str = "w") -> str:
    """Bars of one centipawn each; empty where there is no gain. ``color``: ``w`` or ``b``."""
    if not counts:
        return ""
    above = any(gain_cp > 0 for gain_cp, _ in (*counts, *engine))
    least, most = -BELOW_CP, ABOVE_CP if above else 0
    step = (_WIDTH - 2 * _LEFT) / (most - least + 1)
    moves = sum(count for _, count in counts)
    outside = sum(count for gain_cp, count in counts if not least <= gain_cp <= most)
    none = dict(counts).get(0, 0)
    said = f"0 in {none} of {moves} ({100 * none / moves:.0f} %)"
    if outside:
        said += f", {outside} outside"
    floor = 12 + _BARS
    parts = [
        f'<text class="ax" x="{_LEFT}" y="9">{said}</text>',
        _bars(counts, least, most, step, floor, _BARS, f"gain {color}"),
        f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _LEFT}" y1="{floor}" y2="{floor}"/>',
    ]
    height = floor + 10
    if any(gain_cp for gain_cp, _ in engine):
        height += _ENGINE
        parts.append(_bars(engine, least, most, step, floor + _ENGINE, _ENGINE - 2, "gain e"))
        parts.append(f'<text class="ax" x="{_LEFT}" y="{floor + _ENGINE - 3}">engine</text>')
    for mark in range(least, most + 1, 50):
        x = _LEFT + (mark - least + 0.5) * step
        anchor = "start" if mark == least else "end" if mark == most else "middle"
        parts.append(
            f'<text class="ax" x="{x:.1f}" y="{height - 1}" text-anchor="{anchor}">{mark}</text>'
        )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Gains at one centipawn">'
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
        f"M{_LEFT + (gain_cp - least) * step:.1f} {floor}"
        f"v{-height * min(1.0, count / top):.1f}h{step:.2f}V{floor}"
        for gain_cp, count in shown
    )
    return f'<path class="{style}" d="{moves}"/>'
