"""Games of rated players with every turn, as models of losses are learned from and judged on.

Three kinds of NDJSON are read, one game a line: searched games with one entry a position
(``moves``, ``plies``), the same with one list a figure (``moves``, ``cp``, ``best``), and gains of
one player's side (``gains_cp``, ``evals_cp``), whose two sides are put together where both are
there. What each key holds is explained in ``tests/data/README.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import chess
import msgspec

from live.errors import InputError
from live.events import MATE_CP, GainKind, Score
from live.ratings.alliot.complexity import complexity
from live.ratings.gain import MAX_GAIN_CP
from live.ratings.perceived.circumstances import Turn, board_before

#: Ply of White's first gain in a file of gains: play is recorded from move 4 on.
_FIRST_PLY = 7
#: What the engine says of the usual starting position, where a file leaves it out.
_START_STABILITY_CP, _START_JUMP_CP = 5.5, 25


class PlayedSide(NamedTuple):
    """One player's turns of one game."""

    player: str
    elo: int | None
    turns: tuple[Turn, ...]
    first_choices: tuple[bool, ...] = ()
    """Of each turn, whether the engine's own first choice was played; empty where unknown."""
    best: tuple[str | None, ...] = ()
    """That choice itself, UCI."""


class PlayedGame(NamedTuple):
    """Both sides; one without turns where they are not known."""

    white: PlayedSide
    black: PlayedSide
    result: str
    scores_cp: tuple[int | None, ...] = ()
    """White's side, after each ply from 0 on; None where unknown."""
    moves: tuple[str, ...] = ()
    """In UCI; empty where the file leaves them out."""

    @property
    def sides(self) -> tuple[PlayedSide, PlayedSide]:
        return self.white, self.black


class _Ply(msgspec.Struct):
    cp: int | None = None
    best: str | None = None
    played: int | None = None
    by_depth: list[int | str | None] | None = None


class _Plies(msgspec.Struct):
    white: int | str
    black: int | str
    moves: list[str]
    plies: list[_Ply]
    result: str = "*"
    white_elo: int | None = None
    black_elo: int | None = None


class _Lists(msgspec.Struct):
    white: int | str
    black: int | str
    moves: list[str]
    cp: list[int | None]
    best: list[str | None]
    played: list[int | None]
    stability: list[float | None]
    jump: list[int | None]
    start_cp: int
    result: str = "*"
    white_elo: int | None = None
    black_elo: int | None = None


class _Gains(msgspec.Struct):
    player: int | str
    elo: int
    opponent_elo: int
    colour: str
    result: str
    gains_cp: list[int]
    evals_cp: list[int]


class _Kind(msgspec.Struct):
    gains_cp: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    plies: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Position(NamedTuple):
    cp: int | None
    best: str | None
    played: int | None
    """Score of the move played from here, where it was searched."""
    stability_cp: float | None
    jump_cp: int | None


def read_played_games(
    lines: Iterable[bytes | str], gain: GainKind, subject: str = "rated games"
) -> list[PlayedGame]:
    """The games of NDJSON ``lines``, with turns by ``gain``.

    Forced moves are no turns. Raises InputError, naming ``subject`` and the line, for what cannot
    be read, and for gains of the other definition (a file of gains holds successive ones).
    """
    games: list[PlayedGame] = []
    halves: list[_Gains] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{subject}, line {number}"
        try:
            kind = msgspec.json.decode(line, type=_Kind)
            if kind.gains_cp is not msgspec.UNSET:
                if gain != "successive":
                    raise InputError(
                        where, f"holds successive gains, not {gain}", "Use --gain successive"
                    )
                halves.append(msgspec.json.decode(line, type=_Gains))
            elif kind.plies is not msgspec.UNSET:
                games.append(_of_plies(msgspec.json.decode(line, type=_Plies), gain))
            else:
                games.append(_of_lists(msgspec.json.decode(line, type=_Lists), gain))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise InputError(
                where, f"is no rated game: {error}", "See the README for the kinds of file"
            ) from error
    return [*games, *_together(halves)]


def _of_plies(row: _Plies, gain: GainKind) -> PlayedGame:
    positions = []
    for ply in row.plies:
        told = complexity([_score(each) for each in ply.by_depth]) if ply.by_depth else None
        positions.append(
            _Position(
                ply.cp,
                ply.best,
                ply.played,
                told.stability_cp if told else None,
                told.jump_cp if told else None,
            )
        )
    return _searched(row, positions, gain)


def _of_lists(row: _Lists, gain: GainKind) -> PlayedGame:
    # Lists hold the position after each move, except ``best`` and ``played``: the one before it.
    cp = [row.start_cp, *row.cp]
    stability = [_START_STABILITY_CP, *row.stability]
    jump = [_START_JUMP_CP, *row.jump]
    best, played = [*row.best, None], [*row.played, None]
    return _searched(
        row,
        [_Position(*each) for each in zip(cp, best, played, stability, jump, strict=False)],
        gain,
    )


def _searched(row: _Plies | _Lists, positions: list[_Position], gain: GainKind) -> PlayedGame:
    turns: tuple[list[Turn], list[Turn]] = ([], [])
    choices: tuple[list[bool], list[bool]] = ([], [])
    board = chess.Board()
    bests: tuple[list[str | None], list[str | None]] = ([], [])
    taken = False
    seen_before: set[str] = set()
    for index, uci in enumerate(row.moves[: len(positions) - 1]):
        key = board.epd()
        seen = board_before(board, taken=taken, repeated=key in seen_before)
        seen_before.add(key)
        move = chess.Move.from_uci(uci)
        taken = board.is_capture(move)
        board.push(move)
        gain_cp = _gain_of(positions[index], positions[index + 1], uci, index % 2, gain)
        before = positions[index]
        if gain_cp is None or before.cp is None or seen.forced:
            continue
        score = before.cp if index % 2 == 0 else -before.cp
        turns[index % 2].append(
            Turn(gain_cp, score, index + 1, before.stability_cp, before.jump_cp, seen)
        )
        choices[index % 2].append(before.best == uci)
        bests[index % 2].append(before.best)
    white = PlayedSide(
        str(row.white), row.white_elo, tuple(turns[0]), tuple(choices[0]), tuple(bests[0])
    )
    black = PlayedSide(
        str(row.black), row.black_elo, tuple(turns[1]), tuple(choices[1]), tuple(bests[1])
    )
    scores = tuple(each.cp for each in positions)
    return PlayedGame(white, black, row.result, scores, tuple(row.moves))


def _gain_of(
    before: _Position, after: _Position, uci: str, black: int, gain: GainKind
) -> int | None:
    sign = 1 - 2 * black
    if before.cp is None:
        return None
    if gain == "successive":
        return None if after.cp is None else sign * (after.cp - before.cp)
    if before.best == uci:
        return 0
    return None if before.played is None else min(0, sign * (before.played - before.cp))


def _score(told: int | str | None) -> Score | None:
    if told is None:
        return None
    if isinstance(told, str):
        return Score(cp=-MATE_CP if told.startswith("-") else MATE_CP)
    return Score(cp=max(-MATE_CP, min(MATE_CP, told)))


def _together(halves: list[_Gains]) -> Iterator[PlayedGame]:
    """Both sides of a game have the same scores, and each other's ratings."""
    waiting: dict[tuple[object, ...], list[_Gains]] = {}
    for half in halves:
        white = half.colour == "white"
        elos = (half.elo, half.opponent_elo) if white else (half.opponent_elo, half.elo)
        scores = tuple(half.evals_cp)
        others = waiting.get((scores, elos, half.result, not white))
        if others and len(scores) > 4:
            other = others.pop()
            yield _of_gains(*((half, other) if white else (other, half)))
        else:
            waiting.setdefault((scores, elos, half.result, white), []).append(half)
    for alone in waiting.values():
        for half in alone:
            yield _of_gains(half, None) if half.colour == "white" else _of_gains(None, half)


def _of_gains(white: _Gains | None, black: _Gains | None) -> PlayedGame:
    known = white or black
    assert known is not None
    sides = []
    for half, sign in ((white, 1), (black, -1)):
        if half is None:
            sides.append(PlayedSide("", known.opponent_elo, ()))
            continue
        turns = []
        for index, told in enumerate(half.gains_cp):
            gain_cp = max(-MAX_GAIN_CP, min(MAX_GAIN_CP, told))
            at = 2 * index - (sign > 0)
            if at < 0 and half.evals_cp:
                # White's first gain: the score before it follows from the one after it.
                before = half.evals_cp[0] - gain_cp
            elif 0 <= at < len(half.evals_cp):
                before = sign * half.evals_cp[at]
            else:
                break
            turns.append(Turn(gain_cp, before, _FIRST_PLY + 2 * index + (sign < 0)))
        sides.append(PlayedSide(str(half.player), half.elo, tuple(turns)))
    scores = (*(None,) * _FIRST_PLY, *known.evals_cp)
    return PlayedGame(sides[0], sides[1], known.result, scores)
