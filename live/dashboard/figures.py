"""How figures are written for people: scores, ratings, intervals, curves as text. Pure.

Uncertainty is never dropped: a rating comes with its interval, an unbounded one is an arrow.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from live.events import MATE_CP, GameView, PlyView

#: Eight heights of a sparkline.
_BLOCKS = "▁▂▃▄▅▆▇█"
#: A sparkline never stretches less than this over its height: noise must not look like drama.
MIN_SPAN_ELO = 200.0
#: Unicode categories that move the cursor, turn the line or show nothing: control, format,
#: surrogate, private, unassigned, line and paragraph separators.
_NO_TEXT = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def score_text(score_cp: int | None, mate: int | None) -> str:
    """``+0.35``, ``-12.04``, ``#5``, ``#-3``; ``·`` while unknown. White's side."""
    if score_cp is None:
        return "·"
    if mate:
        return f"#{mate}"
    if abs(score_cp) == MATE_CP:
        return "#" if mate == 0 else f"{score_cp / 100:+.0f}"
    return f"{score_cp / 100:+.2f}"


def rating_text(rating: float | None, low: float | None, high: float | None) -> str:
    """The rating in whole Elo; ``↓`` or ``↑`` where it is unbounded, ``·`` while unknown."""
    if rating is not None:
        return f"{rating:.0f}"
    if high is not None:
        return "↓"
    return "↑" if low is not None else "·"


def interval_text(low: float | None, high: float | None) -> str:
    """``1890–2370``, ``≤ 2034``, ``≥ 2310``; empty while unknown."""
    if low is not None and high is not None:
        return f"{low:.0f}–{high:.0f}"
    if high is not None:
        return f"≤ {high:.0f}"
    return f"≥ {low:.0f}" if low is not None else ""


def sparkline(values: Sequence[float | None], width: int, low: float, high: float) -> str:
    """The last ``width`` values between ``low`` and ``high``; ``╷`` and ``╵`` for what has no
    lower and no upper bound cannot be told apart in one cell, so None is a gap.
    """
    span = max(high - low, MIN_SPAN_ELO)
    base = (low + high - span) / 2
    cells = []
    for value in values[-width:]:
        if value is None:
            cells.append("·")
        else:
            step = (value - base) / span * (len(_BLOCKS) - 1)
            cells.append(_BLOCKS[max(0, min(len(_BLOCKS) - 1, round(step)))])
    return "".join(cells)


def curve_range(ratings: Sequence[float | None]) -> tuple[float, float] | None:
    """Smallest and largest bounded rating, or None when there is none."""
    bounded = [rating for rating in ratings if rating is not None]
    return (min(bounded), max(bounded)) if bounded else None


def move_text(game: GameView, ply: PlyView) -> str:
    """``23.Nf3`` or ``23...Qd4``, counted from the starting position's move number."""
    fields = game.start_fen.split()
    first_number = int(fields[5]) if len(fields) > 5 and fields[5].isdigit() else 1
    offset = ply.ply - 1 + (0 if fields[1:2] != ["b"] else 1)
    number = first_number + offset // 2
    return f"{number}{'.' if offset % 2 == 0 else '...'}{ply.san}"


def plain(text: str, width: int | None = None) -> str:
    """Feed text made safe for a terminal: no control, escape or direction characters, cut to
    ``width`` characters with an ellipsis.
    """
    safe = "".join(char for char in text if unicodedata.category(char) not in _NO_TEXT)
    if width is not None and len(safe) > width:
        return safe[: max(width - 1, 0)] + "…"
    return safe
