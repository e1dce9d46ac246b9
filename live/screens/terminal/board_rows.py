"""The cells of a board's row, the order of the rows, and the filter. Pure.

Boards with unanswered alerts come first, the most urgent on top, then the boards of the
newest round.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

from live.catalogue import find_event_name
from live.event.rate_game import COLORS
from live.games.game import number_move
from live.games.pace_of_play import Pace, classify_pace
from live.games.rounds import normalise_round, read_round_number
from live.messages.alerts import Alert
from live.messages.figures import CurvePoint, GameDetail, GameView
from live.messages.values import Color, GameId
from live.screens.terminal.charts import draw_sparkline
from live.screens.terminal.text import (
    SEVERITY_STYLES,
    build_matcher,
    is_whites_clock_running,
    plain,
    shorten_alert,
    write_clock,
    write_score,
)
from live.screens.terminal.view_context import RecentChanges, is_awaiting_arbiter
from live.server.event_reader import game_order
from live.watch.finding import SIGNS

Game = TypeVar("Game", bound=GameView)

#: Width of a small curve, in cells.
CURVE_CELLS = 6
#: Width of a clock, in cells.
CLOCK_CELLS = len("1:59:59")
RESULTS = {"1/2-1/2": "½-½", "1/2-0": "½-0", "0-1/2": "0-½"}
#: Text about a game restored from the journal, while no source has sent it since.
RESTORED = "from before the restart, not sent again yet"


# --- values computed from a game ------------------------------------------------------


def find_last_point(game: GameDetail, color: Color) -> CurvePoint | None:
    """Return a side's figures after its last move; None before its first."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    return points[-1] if points else None


def find_best_percentile(game: GameDetail) -> float | None:
    """Return the higher of both players' percentiles; None if both are unknown."""
    points = [find_last_point(game, color) for color in COLORS]
    percentiles = (x.percentile for x in points if x and x.percentile is not None)
    return max(percentiles, default=None)


def find_least_clock_s(game: GameDetail) -> float | None:
    """Return the lower of both clocks, in seconds.

    None means that no clock is known or that the game is over.
    """
    clocks = [ply.clock_s for ply in game.plies[-2:] if ply.clock_s is not None]
    return min(clocks, default=None) if game.running else None


def write_problem(game: GameView) -> str:
    """Return a board's problem, or that it was restored; an empty string without
    either.
    """
    restored = RESTORED if game.restored else ""
    return plain(game.problem or game.dispute or restored, 100)


class Trouble(NamedTuple):
    """One problem of a board, as drawn."""

    sign: str
    text: str
    style: str


def find_troubles(game: GameView, alerts: Iterable[Alert]) -> list[Trouble]:
    """Return a board's problems, the most urgent first.

    Acknowledged and muted alerts are left out. If no alert is left, the problem in the
    game's own data is returned, dim if the board has acknowledged or muted alerts.

    Args:
        game: the board's game.
        alerts: the board's alerts, the most urgent first.
    """
    troubles, style = [], "warn"
    for alert in alerts:
        style = "dim"
        if is_awaiting_arbiter(alert):
            text, severity = plain(shorten_alert(alert, game), 200), alert.severity
            troubles.append(Trouble(SIGNS[severity], text, SEVERITY_STYLES[severity]))
    problem = plain(game.problem or game.dispute, 200)
    return troubles or ([Trouble("!", problem, style)] if problem else [])


def build_filter_text(game: GameView) -> str:
    """Return the text in which a filter searches, with the round as ``round=8;``."""
    players = (
        f"{plain(x.title or '', 4)} {plain(x.name)}" for x in (game.white, game.black)
    )
    state = "running" if game.running else f"finished {game.result}"
    round = f"{game.round} round={normalise_round(game.round)};"
    return " ".join(
        (plain(find_event_name(game)), round, *players, state, write_problem(game))
    )


def build_board_matcher(query: str) -> Callable[[GameView], bool]:
    """Return a function that decides whether a filter matches a board; ``round 8``
    matches only the boards of round 8.
    """
    matches = build_matcher(
        re.sub(r"\b(?:round|rd)\s+(\w+)", r"round=\1;", query, flags=re.IGNORECASE)
    )
    return lambda game: matches(build_filter_text(game), game.board)


# --- clocks ---------------------------------------------------------------------------

#: Seconds below which a clock is low, and below which it has nearly run out.
_LOW_S: dict[Pace, tuple[float, float]] = {
    "classical": (300.0, 60.0),
    "rapid": (60.0, 20.0),
    "blitz": (20.0, 10.0),
    "bullet": (10.0, 5.0),
}


def choose_clock_style(left_s: float | None, time_control: str) -> str:
    """Return the style of a clock by the time left; empty if the time is not low."""
    low_s, nearly_s = _LOW_S[classify_pace(time_control) or "classical"]
    if left_s is None or left_s >= low_s:
        return ""
    return "bad" if left_s < nearly_s else "warn"


def write_clock_cell(
    game: GameDetail, color: Color, changes: RecentChanges
) -> tuple[str, str]:
    """Return the time left on a side's clock, and its style.

    ``0:00?`` stands for a clock that has run out if it ran since the last move. It may
    not have: moves arrive late, and arbiters stop clocks for claims.
    """
    plies, is_white = len(game.plies), color == "white"
    ran_s, clock_s = 0.0, None
    if is_whites_clock_running(game, plies) is is_white:
        ran_s = changes.measure_run_s(game.id, game.feed, plies)
    for ply in game.plies[-2:]:
        if number_move(game, ply.ply)[1] is is_white:
            clock_s = ply.clock_s
    if clock_s and ran_s >= clock_s:
        return "0:00?", "warn"
    left_s = None if clock_s is None else clock_s - ran_s
    style = choose_clock_style(left_s, game.time_control) if game.running else ""
    return write_clock(left_s), style


def write_newest_score(game: GameDetail) -> tuple[str, str]:
    """Return the score after the last move and its style.

    While it is not known, the newest known score stands there with ``…``, since it
    belongs to an earlier move.
    """
    scored = (ply for ply in reversed(game.plies) if ply.score_cp is not None)
    newest = next(scored, None)
    if newest is None:
        return ("·" if game.plies else ""), ""
    if newest is game.plies[-1]:
        return write_score(newest), ""
    return f"{write_score(newest).removesuffix('~')}…", "dim"


def write_curve(game: GameDetail, color: Color) -> str:
    """Draw the latest part of the curve of a side's perceived rating."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    ratings = [point.perceived for point in points if point.perceived is not None]
    return draw_sparkline(tuple(ratings[-2 * CURVE_CELLS :]), CURVE_CELLS)


# --- order ----------------------------------------------------------------------------


class BoardOrder(NamedTuple):
    """One way to sort the boards."""

    head: str
    """Head of the column that shows the sorted value."""
    explained: str
    value: Callable[[GameDetail, float], float | None] | None = None
    """Returns the value to sort by, least first; None sorts last. The second argument
    is the number of seconds since the board's last move.
    """


ORDERS = {
    "number": BoardOrder("Bd", "by event, newest round and board number"),
    "clock": BoardOrder(
        "Clocks",
        "least time on a clock first",
        lambda game, age_s: find_least_clock_s(game),
    ),
    "age": BoardOrder(
        "Age",
        "longest without a move first",
        lambda game, age_s: -age_s if game.running else None,
    ),
    "rating": BoardOrder(
        "Better than",
        "furthest above the usual first",
        lambda game, age_s: (
            None if (best := find_best_percentile(game)) is None else -best
        ),
    ),
}


def find_round(view: GameView) -> tuple[int, str]:
    """Return the round's number and name, without a board number: ``4.12`` is board 12
    of round 4.
    """
    _, parts, _, _ = game_order(view)
    return parts[0]


def order_boards(
    games: Iterable[Game],
    alerting: Collection[GameId],
    value: Callable[[Game], float | None] = lambda game: None,
) -> list[Game]:
    """Return the boards: first those in ``alerting``, in its order, then all others by
    ``value``, the least first.

    Boards with equal values are sorted by event, then by round, the newest first, then
    by board number.
    """
    urgency = {game: place for place, game in enumerate(alerting)}

    def place(game: Game) -> tuple[int, float, str]:
        number = value(game)
        number = math.inf if number is None else number
        return urgency.get(game.id, len(urgency)), number, find_event_name(game)

    ordered = sorted(games, key=game_order)
    ordered.sort(key=find_round, reverse=True)
    return sorted(ordered, key=place)


def keep_newest_rounds(
    games: Sequence[Game], alerting: Collection[GameId]
) -> list[Game]:
    """Return the games without finished games of earlier rounds.

    A game in ``alerting`` is always kept.

    A round is earlier if a later round of the same event has begun. A game whose round
    has no number is kept.
    """
    newest: dict[str, int] = {}
    numbers = [
        (game, find_event_name(game), read_round_number(game.round)) for game in games
    ]
    for game, event, number in numbers:
        if game.plies_played:
            newest[event] = max(newest.get(event, 0), number or 0)
    return [
        game
        for game, event, number in numbers
        if game.running
        or number is None
        or number >= newest.get(event, 0)
        or game.id in alerting
    ]
