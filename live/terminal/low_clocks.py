"""When a clock is low: at a blitz board later than at a classical one. Pure."""

from __future__ import annotations

from live.ratings.pace_of_play import Pace, pace_of
from live.terminal.palette import Palette

#: Seconds below which a clock is low, and nearly run out.
_LOW_S: dict[Pace, tuple[float, float]] = {
    "classical": (300.0, 60.0),
    "rapid": (60.0, 20.0),
    "blitz": (20.0, 10.0),
    "bullet": (10.0, 5.0),
}


def low_clock_s(time_control: str) -> tuple[float, float]:
    """Seconds below which a clock of this game is low, and nearly run out."""
    return _LOW_S[pace_of(time_control) or "classical"]


def clock_style(left_s: float | None, low_s: tuple[float, float], palette: Palette) -> str:
    """How what is left of a running game's clock is drawn; the number itself says the same."""
    if left_s is None or left_s >= low_s[0]:
        return ""
    return palette.bad if left_s < low_s[1] else palette.warn
