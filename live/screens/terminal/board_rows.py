"""What is worked out of a board for its row: clocks, curves, problems, order, filter.
Pure.

Boards with alerts that nobody took note of stand on top, the most urgent first, then
the newest round.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple, TypeVar

from live.catalogue import main_event
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
    is_early,
    is_whites_clock_running,
    plain,
    shorten_alert,
    write_clock,
)
from live.screens.terminal.view_context import RecentChanges, asks_for_notice
from live.server.event_reader import game_order
from live.watch.finding import SIGNS

Game = TypeVar("Game", bound=GameView)

#: Cells of a small curve.
CURVE_CELLS = 6
RESULTS = {"1/2-1/2": "½-½", "1/2-0": "½-0", "0-1/2": "0-½"}
#: Shown for a game that the journal holds and no source has sent since the start.
RESTORED = "from before the restart, not sent again yet"


# --- what is worked out of a game -----------------------------------------------------


def find_last_point(game: GameDetail, color: Color) -> CurvePoint | None:
    """Return a side's figures after its last move."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    return points[-1] if points else None


def find_best_rating(game: GameDetail) -> float | None:
    """Return the higher perceived rating that is not early."""
    points = [find_last_point(game, color) for color in COLORS]
    known = (
        x.perceived for x in points if x and not is_early(x) and x.perceived is not None
    )
    return max(known, default=None)


def find_least_clock_s(game: GameDetail) -> float | None:
    """Return the shorter clock of a running game."""
    clocks = [ply.clock_s for ply in game.plies[-2:] if ply.clock_s is not None]
    return min(clocks, default=None) if game.running else None


def write_problem(game: GameView) -> str:
    """Return what is wrong with a board, or that only the journal holds it."""
    restored = RESTORED if game.restored else ""
    return plain(game.problem or game.dispute or restored, 100)


class Trouble(NamedTuple):
    """What is wrong with a board."""

    sign: str
    text: str
    style: str


def find_troubles(game: GameView, alerts: Iterable[Alert]) -> list[Trouble]:
    """Return what is wrong with the board of these alerts, the most urgent first. A
    problem of which somebody took note is dim.
    """
    found, style = [], "warn"
    for alert in alerts:
        style = "dim"
        if asks_for_notice(alert):
            text, severity = plain(shorten_alert(alert, game), 200), alert.severity
            found.append(Trouble(SIGNS[severity], text, SEVERITY_STYLES[severity]))
    problem = plain(game.problem or game.dispute, 200)
    return found or ([Trouble("!", problem, style)] if problem else [])


def write_searched(game: GameView) -> str:
    """Return what a filter looks at; the round by its number as one word."""
    players = (
        f"{plain(x.title or '', 4)} {plain(x.name)}" for x in (game.white, game.black)
    )
    state = "running" if game.running else f"finished {game.result}"
    round = f"{game.round} round={normalise_round(game.round)};"
    return " ".join(
        (plain(main_event(game)), round, *players, state, write_problem(game))
    )


def build_board_matcher(query: str) -> Callable[[GameView], bool]:
    """Return what says whether a filter takes a board: ``round 8`` is the round."""
    matches = build_matcher(
        re.sub(r"\b(?:round|rd)\s+(\w+)", r"round=\1;", query, flags=re.IGNORECASE)
    )
    return lambda game: matches(write_searched(game), game.board)


# --- clocks ---------------------------------------------------------------------------

#: Seconds below which a clock is low, and nearly run out.
_LOW_S: dict[Pace, tuple[float, float]] = {
    "classical": (300.0, 60.0),
    "rapid": (60.0, 20.0),
    "blitz": (20.0, 10.0),
    "bullet": (10.0, 5.0),
}


def choose_clock_style(left_s: float | None, time_control: str) -> str:
    """Return how what is left of a running game's clock is drawn; the number itself
    says the same.
    """
    low_s, nearly_s = _LOW_S[classify_pace(time_control) or "classical"]
    if left_s is None or left_s >= low_s:
        return ""
    return "bad" if left_s < nearly_s else "warn"


def write_clock_cell(
    game: GameDetail, color: Color, changes: RecentChanges
) -> tuple[str, str]:
    """Return what is left of a side's clock, and its style; with ``?`` where it has run
    out by our reckoning alone: moves come late, and clocks are stopped for claims.
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


def write_curve(game: GameDetail, color: Color) -> str:
    """Draw how a side's perceived rating went of late."""
    points: Sequence[CurvePoint] = getattr(game.curves, color)
    known = [point.perceived for point in points if point.perceived is not None]
    return draw_sparkline(tuple(known[-2 * CURVE_CELLS :]), CURVE_CELLS)


# --- order ----------------------------------------------------------------------------


class BoardOrder(NamedTuple):
    """One way to sort."""

    head: str
    """Of the column that it goes by."""
    explained: str
    value: Callable[[GameDetail, float], float | None] | None = None
    """Least first; None comes last. The float is the board's time since its last move,
    s.
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
        "Plays like",
        "highest perceived rating first, once it is not early",
        lambda game, age_s: None if (best := find_best_rating(game)) is None else -best,
    ),
}


def find_round(view: GameView) -> tuple[int, str]:
    """Return the round; sources write boards into it: 4.12 is board 12 of round 4."""
    _, parts, _, _ = game_order(view)
    return parts[0]


def order_boards(
    games: Iterable[Game],
    alerting: Collection[GameId],
    value: Callable[[Game], float | None] = lambda game: None,
) -> list[Game]:
    """Put boards of ``alerting`` first, as they come there, then by ``value``; equal
    ones by event, in it the newest round first, in that by board.
    """
    urgency = {game: place for place, game in enumerate(alerting)}

    def place(game: Game) -> tuple[int, float, str]:
        known = value(game)
        number = math.inf if known is None else known
        return urgency.get(game.id, len(urgency)), number, main_event(game)

    found = sorted(games, key=game_order)
    found.sort(key=find_round, reverse=True)
    return sorted(found, key=place)


def keep_newest_rounds(
    games: Sequence[Game], alerting: Collection[GameId]
) -> list[Game]:
    """Leave out what is over, asks for no notice, and is of a round of its event before
    the newest that has begun. What has no number is not earlier.
    """
    newest: dict[str, int] = {}
    numbers = [
        (game, main_event(game), read_round_number(game.round)) for game in games
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
