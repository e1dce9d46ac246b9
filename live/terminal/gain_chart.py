"""Gains at one centipawn as bars of characters, a column a centipawn, beside the engine's. Pure.

The spike at 0 would flatten all other bars, and so would a column for the worst blunder: what the
one holds and what lies beyond the picture is written.
"""

from __future__ import annotations

from rich.text import Text

from live.events import GainCounts
from live.terminal.palette import Palette
from live.terminal.text_cells import styled

_UP = " ▁▂▃▄▅▆▇█"
#: The spike at 0, cut off.
_SPIKE = "█"
#: Centipawns between two marks of the axis.
_MARK_CP = 25


def gain_chart(
    counts: GainCounts,
    engine: GainCounts,
    width: int,
    rows: int,
    style: str,
    palette: Palette,
) -> list[Text]:
    """The player's bars, ``rows`` lines high, the axis in centipawns and the engine's own: with
    the line of what is written ``rows + 3`` lines.
    """
    if not counts:
        return [styled("no gain yet", palette.dim), *(Text() for _ in range(rows + 2))]
    least, most = _range(counts, engine, width)
    lines = [styled(_written(counts, least, most), palette.dim)]
    lines += _bars(dict(counts), least, most, rows, style, palette)
    lines.append(styled(_axis(least, most), palette.dim))
    if all(gain_cp == 0 for gain_cp, _ in engine):
        lines.append(styled("the engine's own: 0 in every move" if engine else "", palette.dim))
    else:
        lines += _bars(dict(engine), least, most, 1, palette.dim, palette)
        lines[-1].append(" engine", palette.dim)
    return [_cut(line, width) for line in lines]


def _cut(line: Text, width: int) -> Text:
    line.truncate(width)
    return line


def _range(counts: GainCounts, engine: GainCounts, width: int) -> tuple[int, int]:
    """First and last centipawn that has a column. Right of 0 only where there are such gains."""
    highest = max(gain_cp for gain_cp, _ in (*counts, *engine, (0, 0)))
    most = min(highest, width // 2)
    return most - width + 1, most


def _written(counts: GainCounts, least: int, most: int) -> str:
    held = dict(counts)
    moves = sum(held.values())
    none = held.get(0, 0)
    parts = [f"0 in {none} of {moves} ({100 * none / moves:.0f} %)"]
    below = sum(count for gain_cp, count in counts if gain_cp < least)
    above = sum(count for gain_cp, count in counts if gain_cp > most)
    if below:
        parts.append(f"{below} below {least}")
    if above:
        parts.append(f"{above} above {most}")
    return " · ".join(parts)


def _bars(
    counts: dict[int, int], least: int, most: int, rows: int, style: str, palette: Palette
) -> list[Text]:
    shown = range(least, most + 1)
    top = max((counts.get(gain_cp, 0) for gain_cp in shown if gain_cp), default=0)
    lines = []
    for row in range(rows):
        line = Text(no_wrap=True)
        for gain_cp in shown:
            count = counts.get(gain_cp, 0)
            if gain_cp == 0:
                line.append(_SPIKE if count else " ", palette.accent)
                continue
            eighths = -(-count * rows * 8 // top) if top else 0
            line.append(_UP[max(0, min(8, eighths - (rows - 1 - row) * 8))], style)
        lines.append(line)
    return lines


def _axis(least: int, most: int) -> str:
    """Marks under their columns, as far as they do not touch."""
    cells = ["─"] * (most - least + 1)
    for mark in range(-(-least // _MARK_CP) * _MARK_CP, most + 1, _MARK_CP):
        label = f"{mark:+d}" if mark else "0"
        # Right-aligned, so that the last column's mark, which is 0, fits.
        end = mark - least + 1
        if end >= len(label):
            cells[end - len(label) : end] = label
    return "".join(cells)
