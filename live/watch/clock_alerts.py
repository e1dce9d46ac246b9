"""Alerts about clocks and long waits. Each public function finds one kind. Pure."""

from collections.abc import Iterator

from live.event.rate_game import COLORS
from live.messages.alerts import Severity
from live.messages.values import Color
from live.watch.finding import Finding, format_hms, span
from live.watch.sides import find_winner
from live.watch.watched_board import WatchedBoard

#: Delay between the moment when a clock must have run out and the alert, seconds. In a
#: broadcast without lag, a move made in time would have arrived by then.
SHOWN_S = 15.0
#: Delay between the moment when a clock must have run out and a more urgent alert,
#: seconds. It is long because broadcasts can lag, and clocks are stopped during claims.
LATE_S = 90.0

#: Minimum wait that raises an alert, as a multiple of the usual wait for a move.
TIMES_USUAL = 20.0
#: Minimum wait that raises an alert, as a share of the time on the player's clock: a
#: shorter wait is an ordinary long think.
CLOCK_SHARE = 0.5
#: Minimum number of observed waits for computing the usual wait: at one board
#: (``OWN_WAITS``), and at all boards of its source (``WAITS``).
OWN_WAITS = 6
WAITS = 20
#: Minimum number of moves on the other boards during the wait. With fewer moves the
#: source itself has stopped, or there is a break.
MOVES_ELSEWHERE = 10

#: Customary default times (FIDE Laws 6.7), seconds: players who arrive later lose.
DEFAULT_TIMES_S = (900.0, 1800.0, 3600.0)

_AT_THE_BOARD = (
    "Look at the clock; enter the result, or have the clock's feed repaired."
)


def find_still_clock(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find clocks that have not moved for several moves."""
    if not board.is_running or board.view.adjourned:
        return
    for color in COLORS:
        clock = board.read_clock(color)
        if clock.unmoved and clock.clock_s is not None:
            yield board.build_finding(
                "clock-still",
                "warning",
                f"{board.name_player(color)} used no time for {clock.unmoved} moves;"
                f" the clock shows {format_hms(clock.clock_s)}",
                "Check that the clock is running and connected to the board.",
                ply=clock.ply,
                color=color,
            )


def find_rising_clock(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find clocks that gained more time than the time control adds."""
    for color in COLORS:
        rises = board.read_clock(color).rises
        if not rises:
            continue
        rise = rises[-1]
        yield board.build_finding(
            "clock-rising",
            "look",
            f"{board.name_player(color)}'s clock rose from {format_hms(rise.from_s)}"
            f" to {format_hms(rise.to_s)}, {span(rise.over_s)} more than the increment",
            "If time was added as a penalty or correction, do nothing;"
            " otherwise compare the clocks.",
            ply=rise.ply,
            color=color,
            occurrence=len(rises),
        )


def find_fallen_flag(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a clock that has shown 0:00, or must have reached it by now.

    The alert stays open if the clock later shows more time, for example after the
    increment, because the arbiter decides whether the flag fell (FIDE Laws 6.8). The
    alert ends with the game, unless the player whose clock showed 0:00 has won.
    """
    if board.view.adjourned or board.end is not None:
        return
    for color in COLORS:
        if color in board.memory.fallen:
            yield from _find_shown_zero(board, color)
        elif board.is_running and board.ply_count:
            yield from _find_used_up_clock(board, color, now_s)


def _find_shown_zero(board: WatchedBoard, color: Color) -> Iterator[Finding]:
    name = board.name_player(color)
    ply = board.memory.fallen[color]
    clock = board.read_clock(color)
    result = board.view.result
    move_number = board.number_move(ply).rstrip(".")
    zero_text = f"{name}'s clock showed 0:00 at move {move_number}"
    severity: Severity = "alarm"
    text = f"{zero_text}, and play went on"
    advice = "Decide whether the flag fell (FIDE Laws 6.8), then acknowledge this."
    if not board.is_running:
        if find_winner(result) != color:
            return
        severity = "warning"
        text = f"{zero_text}, but the result is {result}"
    elif clock.ply == ply and clock.clock_s is not None and clock.clock_s <= 0:
        text = f"{name}'s clock shows 0:00 and there is no result"
        advice = _AT_THE_BOARD
    number = _number_fall(ply, is_shown=True)
    yield board.build_finding(
        "flag", severity, text, advice, color=color, occurrence=number
    )


def _find_used_up_clock(
    board: WatchedBoard, color: Color, now_s: float
) -> Iterator[Finding]:
    clock = board.read_clock(color)
    memory = board.memory
    if clock.clock_s is None or clock.time_to_come or color != board.to_move:
        return
    read_s = memory.moved_s if memory.read_s is None else memory.read_s
    ago_s = 0.0 if read_s is None else now_s - read_s
    if ago_s - clock.clock_s <= SHOWN_S:
        return
    text = (
        f"{board.name_player(color)}, to move, had {format_hms(clock.clock_s)} left"
        f" {span(ago_s)} ago: the time must be up"
    )
    yield board.build_finding(
        "flag",
        "warning" if ago_s - clock.clock_s > LATE_S else "look",
        text,
        _AT_THE_BOARD,
        color=color,
        occurrence=_number_fall(clock.ply, is_shown=False),
    )


def _number_fall(ply: int, *, is_shown: bool) -> int:
    """Return the occurrence number of an alert about a flag.

    At the same ply, a clock that shows 0:00 gets a higher number than a clock that is
    only calculated to be at 0:00, so the alert is raised again.
    """
    return 2 * ply + is_shown


def find_stalled_board(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a board without a new move for unusually long while other boards move.

    The limits come from 336 games of an open tournament with 90 minutes and 30 seconds
    per move. The longest think was 49 minutes, 24 times the mean wait. In 11 games the
    longest wait was at least 15 times the mean, and in one game at least 20 times.
    Openings are played fast, so the mean is too short early in a game: one of the six
    games of the demo has a think of half an hour, although 20 times the mean is only 26
    minutes. Therefore a wait must also be longer than half the time on the player's
    clock. This time is converted to real time, since recorded games are played back
    faster.
    """
    own = board.memory.pace
    source_pace = board.flow.pace
    moved_s = board.memory.moved_s
    if not board.is_running or not board.ply_count or moved_s is None:
        return
    if source_pace.moves < WAITS:
        return
    # The larger of the mean waits for a move at this board and in the whole source.
    usual_s = max(own.mean_s if own.moves >= OWN_WAITS else 0.0, source_pace.mean_s)
    # The longest ordinary think of the side to move, in real time; 0 without a clock.
    clock_s = board.read_clock(board.to_move).clock_s or 0.0
    think_s = CLOCK_SHARE * clock_s / board.flow.speed
    longest_s = max(TIMES_USUAL * usual_s, own.longest_s, think_s)
    if board.measure_wait_s(now_s) < longest_s:
        return
    elsewhere = board.moves_elsewhere
    if elsewhere < MOVES_ELSEWHERE or board.view.adjourned or board.end:
        return
    yield board.build_finding(
        "stale",
        "look",
        f"no move by {board.to_move.title()} for {span(now_s - moved_s)}, "
        f"while other boards made {elsewhere - elsewhere % 10} or more; "
        f"a move here usually takes {span(usual_s)}",
        "Check that the game is going on and the board is connected.",
    )


def find_board_not_begun(board: WatchedBoard, now_s: float) -> Iterator[Finding]:
    """Find a board where White or Black has made no move long after the round began.

    No source reports when a round begins, and default times differ between events. So
    the alert is raised at each customary default time, counted from the moment when
    half of the boards had begun.
    """
    if not board.is_running or board.view.adjourned or board.ply_count >= len(COLORS):
        return
    if board.round_began_s is None:
        return
    passed_s = now_s - board.round_began_s
    times = sum(passed_s >= default_s for default_s in DEFAULT_TIMES_S)
    if times:
        yield board.build_finding(
            "not-begun",
            "look",
            f"no move by {board.name_player(board.to_move)}"
            f" {span(passed_s)} after the round began",
            "Check that the player is present (default time, FIDE Laws 6.7) and the "
            "board is connected.",
            occurrence=times,
        )
