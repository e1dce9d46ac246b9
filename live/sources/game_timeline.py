"""Reconstruction of everything a source would have reported while a finished game was
played. No I/O.

The demo and the rehearsals replay games in this way. The clocks of a game show when
each move was made, and this gives the report of the whole game at each moment.

Incidents can be added to a replay: errors of boards, clocks and operators. A slip or a
takeback is corrected within a move. The other errors stay until the end of the game;
each of them raises one alert of :mod:`live.watch`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Literal, get_args

import chess
from msgspec.structs import replace

from live.messages.from_sources import GameReport, Move, Result
from live.messages.values import Value

Mistake = Literal[
    "illegal-move",
    "unreadable",
    "clock-still",
    "clock-rising",
    "flag",
    "stale",
    "last-move",
    "late-move",
    "result",
]
MISTAKES: tuple[Mistake, ...] = get_args(Mistake)
Incident = Literal["slip", "takeback"] | Mistake
"""Kind of error in a replay. ``slip``: a wrong move is sent and corrected before the
next move. ``takeback``: a move is withdrawn and sent again. The errors of
:data:`Mistake` are never corrected.
"""

TimedReport = tuple[float, GameReport]
"""Time in seconds, and the game as the source reports it from then on."""

#: Number of a player's moves during which a clock stands still, and the seconds that a
#: rising clock gains.
STILL_MOVES = 8
RISE_S = 900.0
#: Time between a fallen flag and the entry of the result, seconds.
FLAG_S = 600.0
#: Number of plies that arrive only after the result.
LATE_PLIES = 2


def add_mistake(
    timed_reports: Sequence[TimedReport], kind: Incident, ply: int
) -> list[TimedReport]:
    """Return the moments of a game with an error from ``ply`` on; unchanged if the game
    is shorter.
    """
    index = next(
        (
            index
            for index, (_, report) in enumerate(timed_reports)
            if len(report.moves) >= ply
        ),
        None,
    )
    if index is None:
        return list(timed_reports)
    before, (at_s, current), (over_s, whole) = (
        timed_reports[:index],
        timed_reports[index],
        timed_reports[-1],
    )
    rest_s = timed_reports[index : index + 2][-1][0] - at_s
    match kind:
        case "slip":
            if (slip := choose_wrong_move(current, ply)) is None:
                return list(timed_reports)
            slipped = replace(current, moves=(*current.moves[:-1], slip))
            return [
                *before,
                (at_s, slipped),
                (at_s + rest_s / 2, current),
                *timed_reports[index + 1 :],
            ]
        case "takeback":
            again = [
                (at_s + rest_s / 3, _truncate_game(current, ply - 1)),
                (at_s + rest_s * 2 / 3, current),
            ]
            return [*timed_reports[: index + 1], *again, *timed_reports[index + 1 :]]
        case "stale":
            return list(before)
        case "flag":
            # The side to move runs out of time; the result is entered late.
            at_s, last = before[-1]
            fallen = _replace_clocks(last, {ply - 3: 0.0})
            ended = replace(fallen, result="0-1" if ply % 2 else "1-0")
            return [*before, (at_s + 1, fallen), (at_s + 1 + FLAG_S, ended)]
        case "late-move":
            early = replace(whole, moves=whole.moves[:-LATE_PLIES])
            so_far = [
                moment
                for moment in timed_reports[:-1]
                if len(moment[1].moves) <= len(early.moves)
            ]
            return [*so_far, (over_s, early), (over_s + 5, whole)]
    return [
        (at_s, _spoil_report(report, kind, ply, len(whole.moves)))
        for at_s, report in timed_reports
    ]


def _spoil_report(
    game: GameReport, mistake: Incident, ply: int, last: int
) -> GameReport:
    """Return one report of a game of ``last`` plies with an error from ``ply`` on."""
    clocks = {
        index: game.moves[index].clock_s for index in range(ply - 1, len(game.moves), 2)
    }
    match mistake:
        case "result":  # the operator enters a wrong result
            wrong: dict[Result, Result] = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1-0"}
            return replace(game, result=wrong.get(game.result, game.result))
        case "last-move":
            return replace(game, moves=game.moves[: last - 1])
        case "clock-still":
            frozen = [index for index in clocks if index < ply + 2 * STILL_MOVES]
            return _replace_clocks(game, dict.fromkeys(frozen, clocks.get(ply - 1)))
        case "clock-rising":
            risen = {
                index: clock_s + RISE_S
                for index, clock_s in clocks.items()
                if clock_s is not None
            }
            return _replace_clocks(game, risen)
    if len(game.moves) < ply:
        return game
    problem = f"a comment is never closed after ply {ply - 1}"
    if mistake == "illegal-move":
        problem = f"illegal move {(ply + 1) // 2}{'.' if ply % 2 else '...'}Qh9"
    return replace(game, moves=game.moves[: ply - 1], problem=problem)


def _replace_clocks(game: GameReport, clocks: Mapping[int, float | None]) -> GameReport:
    """Return the game with the clock times in ``clocks``, by index of the move; the
    time spent on these moves is removed.
    """
    moves = list(game.moves)
    for index, clock_s in clocks.items():
        if 0 <= index < len(moves):
            moves[index] = replace(moves[index], clock_s=clock_s, spent_s=None)
    return replace(game, moves=tuple(moves))


#: Thinking time of a move in a game without clocks, seconds: about the pace of 90
#: minutes for 40 moves plus 30 s per move.
MOVE_S = 120.0
#: Time from the last move to the entry of the result, seconds.
RESULT_S = 20.0

#: Increment at the end of a time control, before an optional remark: ``5700+30 (a)``.
_INCREMENT = re.compile(r"\+\s*(\d{1,5})\s*(?:\([^()]*\)\s*)?$")


class PlannedIncident(Value):
    """An error of a board or its operator, added to a replay."""

    kind: Incident
    game: int
    """Index of the game among the replayed games."""
    ply: int


class GameMoment(Value):
    """A moment of a replay: from ``at_s`` seconds on, the source reports game ``game``
    as ``report``.
    """

    at_s: float
    game: int
    report: GameReport


def plan_timeline(
    games: Sequence[GameReport],
    *,
    speed: float = 1.0,
    incidents: Iterable[PlannedIncident] = (),
) -> list[GameMoment]:
    """Return all moments of a replay in order of time, from 0 s on.

    Each game starts at 0 s without moves, gets each move at the time that its clocks
    show, and its result last. ``speed`` 60 turns an hour into a minute. The last moment
    of a game is the game as given, unless an error remains in it. An incident is
    skipped if its game does not have that ply, or if no wrong move is possible there.
    """
    if not speed > 0:
        raise ValueError(f"speed must be above 0, not {speed}")
    incidents = list(incidents)
    moments: list[GameMoment] = []
    for index, game in enumerate(games):
        times_s = list(accumulate(infer_thinking_s(game), initial=0.0))
        timed_reports = [
            (at_s, _truncate_game(game, ply)) for ply, at_s in enumerate(times_s)
        ]
        timed_reports.append((times_s[-1] + RESULT_S, game))
        for incident in incidents:
            if incident.game == index:
                timed_reports = add_mistake(timed_reports, incident.kind, incident.ply)
        moments += [
            GameMoment(at_s / speed, index, report) for at_s, report in timed_reports
        ]
    moments.sort(key=lambda moment: moment.at_s)  # stable: keeps each game's order
    return moments


def infer_thinking_s(game: GameReport) -> list[float]:
    """Return the seconds spent on each move: as reported, otherwise computed from the
    mover's clocks and the increment.

    If a clock goes up (next time control, correction by an arbiter), the move counts 0
    s. A move without a clock counts :data:`MOVE_S`. In a game with clocks, the first
    move of each side has no clock before it and counts 0 s.
    """
    match = _INCREMENT.search(game.headers.time_control)
    increment_s = float(match[1]) if match else 0.0
    before: list[float | None] = [None, None]
    clocked = any(move.clock_s is not None for move in game.moves)
    spent: list[float] = []
    for ply, move in enumerate(game.moves):
        side = ply % 2
        previous, now = before[side], move.clock_s
        if move.spent_s is not None:
            took_s = move.spent_s
        elif now is None:
            took_s = MOVE_S
        elif previous is None:
            took_s = 0.0 if clocked and ply < 2 else MOVE_S
        else:
            took_s = previous + increment_s - now
        spent.append(max(0.0, took_s))
        if now is not None:
            before[side] = now
    return spent


def choose_wrong_move(game: GameReport, ply: int) -> Move | None:
    """Return a legal move other than the one played at ``ply``, as a board with a bad
    sensor might send it; None if there is none.

    A move of the same piece is preferred, then the one that ends nearest to the played
    move's square.
    """
    board = chess.Board(game.start_fen, chess960=game.headers.variant == "chess960")
    for move in game.moves[: ply - 1]:
        board.push_uci(move.uci)
    played = board.parse_uci(game.moves[ply - 1].uci)
    alternatives = [move for move in board.legal_moves if move != played]
    if not alternatives:
        return None

    def rank_move(move: chess.Move) -> tuple[bool, int, str]:
        distance = chess.square_distance(move.to_square, played.to_square)
        return (move.from_square != played.from_square, distance, move.uci())

    nearest = min(alternatives, key=rank_move)
    return replace(
        game.moves[ply - 1], uci=nearest.uci(), san=board.san(nearest), eval=None
    )


def _truncate_game(game: GameReport, ply: int) -> GameReport:
    return replace(game, moves=game.moves[:ply], result="*", problem=None)
