"""How figures are written on a terminal: scores, ratings, clocks, curves as text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from live.catalogue import LEAST_SHOWN_ELO, MOST_SHOWN_ELO
from live.catalogue import points_text as points_text
from live.events import MATE_CP, EngineInfo, GameView, PlyView
from live.games.move_numbers import move_number
from live.human.difficulty import in_words
from live.terminal.text_cells import plain as plain

#: Shown where a service sends neither scores nor ratings (``--hide-scores``): empty is not unknown.
WITHHELD = "this service withholds scores and ratings"
#: Eight heights of a sparkline.
_BLOCKS = "▁▂▃▄▅▆▇█"
#: A sparkline never stretches less than this over its height: noise must not look like drama.
MIN_SPAN_ELO = 200.0


def score_text(score_cp: int | None, mate: int | None) -> str:
    """``+0.35``, ``-12.04``, ``#5``, ``#-3``; ``·`` while unknown. White's side."""
    if score_cp is None:
        return "·"
    if mate:
        return f"#{mate}"
    if abs(score_cp) == MATE_CP:
        return "#" if mate == 0 else f"{score_cp / 100:+.0f}"
    return f"{score_cp / 100:+.2f}"


def perceived_text(elo: float | None) -> str:
    """Five cells at most: ``2340``, ``3200+`` and ``800-`` beyond what is shown; ``·`` while
    unknown.
    """
    if elo is None:
        return "·"
    if elo > MOST_SHOWN_ELO:
        return f"{MOST_SHOWN_ELO}+"
    return f"{LEAST_SHOWN_ELO}-" if elo < LEAST_SHOWN_ELO else f"{elo:.0f}"


def rating_text(rating: float | None) -> str:
    """Whole Elo; ``·`` while unknown or unbounded."""
    return "·" if rating is None else f"{rating:.0f}"


def is_withheld(engine: EngineInfo) -> bool:
    """Whether scores and ratings are kept from us (:mod:`live.publish.visibility`)."""
    return engine.rating_source == "withheld"


def interval_text(low: float | None, high: float | None) -> str:
    """``1890–2370``; empty where an end is open."""
    return "" if low is None or high is None else f"{low:.0f}–{high:.0f}"


def odds_bar(win: float, draw: float, cells: int) -> str:
    """``███▒▒░``: how likely White is to win, the game to be drawn, Black to win."""
    won = round(win * cells)
    level = round((win + draw) * cells) - won
    return "█" * won + "▒" * level + "░" * (cells - won - level)


def odds_text(win: float, draw: float) -> str:
    """``45/40/15``: win, draw and loss of White in per cent; they add up to 100."""
    won = round(100 * win)
    level = round(100 * (win + draw)) - won
    return f"{won}/{level}/{100 - won - level}"


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
    number, white = move_number(game, ply.ply)
    return f"{number}{'.' if white else '...'}{ply.san}"


def clock_runs(game: GameView, plies: int) -> bool | None:
    """Whether it is White's clock that runs after so many plies; None where none is known to: the
    game is over, has not begun, or its end was not sent.
    """
    if game.result != "*" or game.problem or game.restored or not plies:
        return None
    return move_number(game, plies + 1)[1]


def clock_left_s(clock_s: float | None, ran_s: float) -> float | None:
    """What is left of a clock, never below zero."""
    return None if clock_s is None else max(0.0, clock_s - ran_s)


def clock_text(clock_s: float | None) -> str:
    """Five cells at most: ``1h39m``, ``59:59``, ``0:07.3`` is ``0:07``; empty while unknown."""
    if clock_s is None:
        return ""
    seconds = max(0, int(clock_s))
    if seconds < 6000:
        return f"{seconds // 60}:{seconds % 60:02d}"
    return f"{seconds // 3600}h{seconds // 60 % 60:02d}m"


def age_text(age_s: float | None) -> str:
    """Three cells at most: ``7s``, ``12m``, ``3h``, ``9d``; empty while unknown."""
    if age_s is None:
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if age_s >= size:
            return f"{min(int(age_s // size), 99)}{unit}"
    return f"{max(0, int(age_s))}s"


def signed(value: float | None) -> str:
    """Whole Elo with its sign; empty while unknown."""
    return "" if value is None else f"{value:+.0f}"


def percent(share: float | None) -> str:
    """``61 %``; empty while unknown."""
    return "" if share is None else f"{100 * share:.0f} %"


def share_text(share: float) -> str:
    """How many players, short: ``1 in 12``, ``4 in 10``, ``half``, ``< 1 in 200``."""
    return in_words(share).removeprefix("about ").replace("fewer than", "<")
