"""Read files of gains: NDJSON with one side of a blitz game a line, which hold no
moves.

Fields: ``player``, ``elo``, ``opponent_elo``, ``colour``, ``result``; ``gains_cp``, the
side's successive gains from move 4 on; ``evals_cp``, White's score after each ply from
ply 7 on. Both sides of one game have the same scores, and each other's ratings.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from live.ratings.gains import MAX_GAIN_CP
from live.ratings.move_circumstances import Turn
from live.studies.learning.played_games import PlayedGame, PlayedSide

#: Ply of White's first gain.
FIRST_PLY = 7
#: Games with fewer scores may be alike by chance.
LEAST_SCORES = 5


class SideGains(msgspec.Struct):
    """One line."""

    player: int | str
    elo: int
    opponent_elo: int
    colour: str
    result: str
    gains_cp: list[int]
    evals_cp: list[int]

    @property
    def is_white(self) -> bool:
        return self.colour == "white"


def is_gains_line(line: bytes) -> bool:
    """Return whether a line of NDJSON holds gains of one side."""
    return b'"gains_cp"' in line


def read_gains(lines: Iterable[bytes]) -> list[PlayedGame]:
    """Return the games; one whose other side is in no line has no turns of it."""
    waiting: dict[tuple[object, ...], list[SideGains]] = {}
    games = []
    for line in lines:
        side = msgspec.json.decode(line, type=SideGains)
        elos = (
            (side.elo, side.opponent_elo)
            if side.is_white
            else (side.opponent_elo, side.elo)
        )
        game = (tuple(side.evals_cp), elos, side.result)
        others = waiting.get((*game, not side.is_white))
        if others and len(side.evals_cp) >= LEAST_SCORES:
            games.append(_join_sides([side, others.pop()]))
        else:
            waiting.setdefault((*game, side.is_white), []).append(side)
    alone = chain.from_iterable(waiting.values())
    return [*games, *(_join_sides([side]) for side in alone)]


def _join_sides(sides: Sequence[SideGains]) -> PlayedGame:
    known = sides[0]
    made = {
        side.is_white: PlayedSide(str(side.player), side.elo, _turns(side))
        for side in sides
    }
    missing = PlayedSide("", known.opponent_elo, ())
    unknown: tuple[int | None, ...] = (None,) * FIRST_PLY
    scores = (*unknown, *known.evals_cp)
    return PlayedGame(
        made.get(True, missing), made.get(False, missing), known.result, scores
    )


def _turns(side: SideGains) -> tuple[Turn, ...]:
    return tuple(_read_turns(side))


def _read_turns(side: SideGains) -> Iterator[Turn]:
    sign = 1 if side.is_white else -1
    for index, gain_cp in enumerate(side.gains_cp):
        gain_cp = max(-MAX_GAIN_CP, min(MAX_GAIN_CP, gain_cp))
        ply = FIRST_PLY + 2 * index + (not side.is_white)
        scored = ply - 1 - FIRST_PLY
        if scored >= len(side.evals_cp):
            return
        if scored >= 0:
            before = sign * side.evals_cp[scored]
        elif side.evals_cp:
            # White's first gain: the score before it follows from the one after it.
            before = side.evals_cp[0] - gain_cp
        else:
            return
        yield Turn(gain_cp, before, ply)
