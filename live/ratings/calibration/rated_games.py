"""Games of rated players, as a calibration is learned from and checked on.

Two kinds of NDJSON are read, one game a line: gains with the evaluations they came from
(``gains_cp``, ``evals_cp``: one player's side), and searched games (``moves``, ``plies``: both
sides, both definitions of gain).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import crc32

import msgspec

from live.errors import InputError
from live.events import GainKind, GameDetail
from live.ratings.calibration.move_evidence import RatedMove
from live.ratings.gain import MAX_GAIN_CP

#: Ply of White's first gain in a file of gains: play is recorded from move 4 on.
FIRST_PLY = 7


class RatedGame(msgspec.Struct, frozen=True):
    """One player's moves in one game."""

    player: str
    elo: int
    """The player's own rating at the time."""
    moves: tuple[RatedMove, ...]


class _Gains(msgspec.Struct):
    player: int | str
    elo: int
    colour: str
    gains_cp: list[int]
    evals_cp: list[int]


class _Ply(msgspec.Struct):
    cp: int
    best: str | None = None
    played: int | None = None


class _Searched(msgspec.Struct):
    white: int | str
    black: int | str
    moves: list[str]
    plies: list[_Ply]
    white_elo: int | None = None
    black_elo: int | None = None


class _Either(msgspec.Struct):
    gains_cp: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def read_rated_games(
    lines: Iterable[bytes | str], gain: GainKind, subject: str = "rated games"
) -> Iterator[RatedGame]:
    """The rated player-games of NDJSON ``lines``; players without a rating are passed over.

    Raises InputError, naming ``subject`` and the line, for what cannot be read, and for gains of
    the other definition (a file of gains holds successive ones).
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{subject}, line {number}"
        try:
            if msgspec.json.decode(line, type=_Either).gains_cp is msgspec.UNSET:
                yield from _both_sides(msgspec.json.decode(line, type=_Searched), gain)
            elif gain == "successive":
                yield _one_side(msgspec.json.decode(line, type=_Gains))
            else:
                raise InputError(
                    where, f"holds successive gains, not {gain}", "Use --gain successive"
                )
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                where,
                f"is no rated game: {error}",
                "live-rate manual studies describes both kinds of file",
            ) from error


def belongs(player: str, divisor: int, remainder: int) -> bool:
    """Whether a player falls in one share of a split by players."""
    return crc32(player.encode()) % divisor == remainder


def _one_side(row: _Gains) -> RatedGame:
    sign, offset = (1, -1) if row.colour == "white" else (-1, 0)
    moves = []
    previous: int | None = None
    for index, gain in enumerate(row.gains_cp):
        gain_cp = max(-MAX_GAIN_CP, min(MAX_GAIN_CP, gain))
        at = 2 * index + offset
        if at < 0 and row.evals_cp:
            # White's first gain: the evaluation before it is known from the one after it.
            before = sign * row.evals_cp[0] - gain_cp
        elif 0 <= at < len(row.evals_cp):
            before = sign * row.evals_cp[at]
        else:
            break
        ply = FIRST_PLY + 2 * index + (row.colour != "white")
        moves.append(RatedMove(gain_cp, before, ply, previous))
        previous = gain_cp
    return RatedGame(str(row.player), row.elo, tuple(moves))


def _both_sides(row: _Searched, gain: GainKind) -> Iterator[RatedGame]:
    for player, elo, first in ((row.white, row.white_elo, 0), (row.black, row.black_elo, 1)):
        if elo is None:
            continue
        sign = 1 - 2 * first
        moves = []
        previous: int | None = None
        for index in range(first, min(len(row.moves), len(row.plies) - 1), 2):
            before, after = row.plies[index], row.plies[index + 1]
            gain_cp: int | None
            if gain == "successive":
                gain_cp = sign * (after.cp - before.cp)
            elif before.played is not None:
                gain_cp = min(0, sign * (before.played - before.cp))
            else:
                gain_cp = 0 if before.best == row.moves[index] else None
            if gain_cp is not None:
                moves.append(RatedMove(gain_cp, sign * before.cp, index + 1, previous))
            previous = gain_cp
        yield RatedGame(str(player), elo, tuple(moves))


def rated_games(detail: GameDetail, players: tuple[str, ...]) -> Iterator[RatedGame]:
    """The moves of each rated player, by the gain that feeds the curves.

    ``players`` are the ids of White and Black. Players without a rating, and without a scored
    move, are passed over.
    """
    sides = (
        (detail.white.elo, detail.curves.white, 1),
        (detail.black.elo, detail.curves.black, -1),
    )
    for key, (elo, points, sign) in zip(players, sides, strict=True):
        if elo is None or not points:
            continue
        gains = {point.ply: point.gain_cp for point in points}
        moves = []
        for point in points:
            at = point.ply - 1
            before_cp = detail.plies[at - 1].score_cp if at else detail.start_score_cp
            if before_cp is not None:
                previous = gains.get(point.ply - 2)
                moves.append(RatedMove(point.gain_cp, sign * before_cp, point.ply, previous))
        yield RatedGame(key, elo, tuple(moves))
