"""What boards, clocks and operators get wrong for good, done to the moments of one
game. Pure.

Each is what one alert of :mod:`live.watch` is raised for. Unlike a slip that is put
right before the next move, these last: the game ends as the mistake leaves it.

Finished games turned back into what a source said while they were played. Pure.

The demo and the rehearsals run on this: from the clocks of a game follows when each
move was made, and from that everything a source would have reported, whole game by
whole game.
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
"""``slip``: a wrong move is sent first and corrected before the next. ``takeback``: the
move is withdrawn and sent again. What lasts longer is a mistake.
"""

Told = tuple[float, GameReport]
"""When, seconds, and what the source holds of the game from then on."""

#: Own moves that a clock stands still, and what it gains when it rises, seconds.
STILL_MOVES = 8
RISE_S = 900.0
#: A flag has been down this long before anybody enters the result, seconds.
FLAG_S = 600.0
#: Moves that come only after the result.
LATE_PLIES = 2


def add_mistake(told: Sequence[Told], kind: Incident, ply: int) -> list[Told]:
    """Return the same game with something wrong from ``ply`` on, if it has that ply."""
    at = next(
        (at for at, (_, report) in enumerate(told) if len(report.moves) >= ply), None
    )
    if at is None:
        return list(told)
    before, (at_s, shown), (over_s, whole) = told[:at], told[at], told[-1]
    rest_s = told[at : at + 2][-1][0] - at_s
    match kind:
        case "slip":
            if (slip := choose_wrong_move(shown, ply)) is None:
                return list(told)
            false = replace(shown, moves=(*shown.moves[:-1], slip))
            return [*before, (at_s, false), (at_s + rest_s / 2, shown), *told[at + 1 :]]
        case "takeback":
            again = [
                (at_s + rest_s / 3, _truncate_game(shown, ply - 1)),
                (at_s + rest_s * 2 / 3, shown),
            ]
            return [*told[: at + 1], *again, *told[at + 1 :]]
        case "stale":
            return list(before)
        case "flag":
            # Who is to move runs out of time; the result comes late.
            at_s, last = before[-1]
            fallen = _replace_clocks(last, {ply - 3: 0.0})
            over = replace(fallen, result="0-1" if ply % 2 else "1-0")
            return [*before, (at_s + 1, fallen), (at_s + 1 + FLAG_S, over)]
        case "late-move":
            early = replace(whole, moves=whole.moves[:-LATE_PLIES])
            so_far = [
                each for each in told[:-1] if len(each[1].moves) <= len(early.moves)
            ]
            return [*so_far, (over_s, early), (over_s + 5, whole)]
    return [
        (at_s, _spoil_report(report, kind, ply, len(whole.moves)))
        for at_s, report in told
    ]


def _spoil_report(
    game: GameReport, mistake: Incident, ply: int, last: int
) -> GameReport:
    """Return a report of a game of ``last`` plies with what is wrong from ``ply``."""
    clocks = {
        index: game.moves[index].clock_s for index in range(ply - 1, len(game.moves), 2)
    }
    match mistake:
        case "result":  # the operator enters the wrong one
            wrong: dict[Result, Result] = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1-0"}
            return replace(game, result=wrong.get(game.result, game.result))
        case "last-move":
            return replace(game, moves=game.moves[: last - 1])
        case "clock-still":
            still = [index for index in clocks if index < ply + 2 * STILL_MOVES]
            return _replace_clocks(game, dict.fromkeys(still, clocks.get(ply - 1)))
        case "clock-rising":
            risen = {index: s + RISE_S for index, s in clocks.items() if s is not None}
            return _replace_clocks(game, risen)
    if len(game.moves) < ply:
        return game
    problem = f"a comment is never closed after ply {ply - 1}"
    if mistake == "illegal-move":
        problem = f"illegal move {(ply + 1) // 2}{'.' if ply % 2 else '...'}Qh9"
    return replace(game, moves=game.moves[: ply - 1], problem=problem)


def _replace_clocks(game: GameReport, clocks: Mapping[int, float | None]) -> GameReport:
    """Return the game with other clocks after some moves, by index; nobody says how
    long these took.
    """
    moves = list(game.moves)
    for index, clock_s in clocks.items():
        if 0 <= index < len(moves):
            moves[index] = replace(moves[index], clock_s=clock_s, spent_s=None)
    return replace(game, moves=tuple(moves))


#: Where a game has no clocks: about the pace of 90 minutes for 40 moves plus half a
#: minute each.
MOVE_S = 120.0
#: The result is entered this long after the last move.
RESULT_S = 20.0

#: At the end, but for a remark: ``5700+30 (a)``.
_INCREMENT = re.compile(r"\+\s*(\d{1,5})\s*(?:\([^()]*\)\s*)?$")


class PlannedIncident(Value):
    """Something a board or its operator got wrong."""

    kind: Incident
    game: int
    """Index among the games replayed."""
    ply: int


class GameMoment(Value):
    """From ``at_s`` on, the source holds ``report`` for game number ``game``."""

    at_s: float
    game: int
    report: GameReport


def plan_timeline(
    games: Sequence[GameReport],
    *,
    speed: float = 1.0,
    incidents: Iterable[PlannedIncident] = (),
) -> list[GameMoment]:
    """Return everything the source says, in order of time, from 0 s on.

    Each game starts at 0 without moves, grows ply by ply as its clocks say, and gets
    its result last; ``speed`` 60 turns an hour into a minute. The last moment of each
    game is the game as given, unless a mistake was made with it. An incident at a ply
    that the game does not have, or where no wrong move is possible, does not happen.
    """
    if not speed > 0:
        raise ValueError(f"speed must be above 0, not {speed}")
    incidents = list(incidents)
    moments: list[GameMoment] = []
    for index, game in enumerate(games):
        times_s = list(accumulate(infer_thinking_s(game), initial=0.0))
        told = [(at_s, _truncate_game(game, ply)) for ply, at_s in enumerate(times_s)]
        told.append((times_s[-1] + RESULT_S, game))
        for incident in incidents:
            if incident.game == index:
                told = add_mistake(told, incident.kind, incident.ply)
        moments += [GameMoment(at_s / speed, index, report) for at_s, report in told]
    moments.sort(key=lambda moment: moment.at_s)  # stable: a game's own order is kept
    return moments


def infer_thinking_s(game: GameReport) -> list[float]:
    """Return the seconds each move took: as reported, else from the mover's clocks and
    the increment.

    A clock that jumps up (the next time control, an arbiter's correction) counts 0 s;
    where there is no clock a move takes :data:`MOVE_S`. The first move of each side has
    no clock before it and counts 0 s.
    """
    found = _INCREMENT.search(game.headers.time_control)
    increment_s = float(found[1]) if found else 0.0
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
    """Return another legal move where ``ply`` was played, as a board with a bad sensor
    would send it.

    The same piece on another square if it has one, else any other move; None if there
    is none.
    """
    board = chess.Board(game.start_fen, chess960=game.headers.variant == "chess960")
    for move in game.moves[: ply - 1]:
        board.push_uci(move.uci)
    played = board.parse_uci(game.moves[ply - 1].uci)
    others = [move for move in board.legal_moves if move != played]
    if not others:
        return None

    def distance(move: chess.Move) -> tuple[bool, int, str]:
        away = chess.square_distance(move.to_square, played.to_square)
        return (move.from_square != played.from_square, away, move.uci())

    nearest = min(others, key=distance)
    return replace(
        game.moves[ply - 1], uci=nearest.uci(), san=board.san(nearest), eval=None
    )


def _truncate_game(game: GameReport, ply: int) -> GameReport:
    return replace(game, moves=game.moves[:ply], result="*", problem=None)
