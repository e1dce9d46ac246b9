"""Games of rated players, as models of losses are learned from and judged on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import chess
import msgspec

from live.errors import InputError
from live.events import Color, GainKind
from live.ratings.ferreira import MAX_GAIN_CP
from live.ratings.perceived_model import MoveReader, Turn, board_before
from live.ratings.perceived_rating import Dispersion, Elos, Evidence, GameSums, game_level
from live.studies.corpus_database import gains
from live.studies.read_games import GameLine

# --- played games -------------------------------------------------------------------------------

# Games of rated players with every turn, as models of losses are learned from and judged on.
#
# Three kinds of NDJSON are read, one game a line: searched games with one entry a position
# (``moves``, ``plies``), the same with one list a figure (``moves``, ``cp``, ``best``), and gains
# of one player's side (``gains_cp``, ``evals_cp``), whose two sides are put together where both
# are there. What each key holds is explained in ``tests/data/README.md``.


#: Ply of White's first gain in a file of gains: play is recorded from move 4 on.
_FIRST_PLY = 7
#: What the engine says of the usual starting position, where a file leaves it out.
_START_STABILITY_CP, _START_JUMP_CP = 5.5, 25


class PlayedSide(NamedTuple):
    """One player's turns of one game."""

    player: str
    elo: int | None
    turns: tuple[Turn, ...]
    best: tuple[str | None, ...] = ()
    """Of each turn the engine's own first choice, UCI; empty where unknown."""


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
            if msgspec.json.decode(line, type=_Kind).gains_cp is msgspec.UNSET:
                games.append(_searched(msgspec.json.decode(line, type=GameLine), gain))
                continue
            halves.append(msgspec.json.decode(line, type=_Gains))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
            raise InputError(
                where, f"is no rated game: {error}", "See the README for the kinds of file"
            ) from error
        if gain != "successive":
            raise InputError(where, f"holds successive gains, not {gain}", "Use --gain successive")
    return [*games, *_together(halves)]


def _searched(row: GameLine, gain: GainKind) -> PlayedGame:
    moves, searched = row.uci, row.searched(row.uci)
    if searched is None:
        raise ValueError("no scores")
    # A move whose position after it is not in the file says nothing.
    count = len(moves) if row.plies is None else len(row.plies) - 1
    positions = searched.positions[: count + 1]
    turns: tuple[list[tuple[Turn, str | None]], ...] = ([], [])
    board, taken, known = chess.Board(), False, set[str]()
    for index, uci in enumerate(moves[:count]):
        before, key = positions[index], board.epd()
        seen = board_before(board, taken=taken, repeated=key in known)
        known.add(key)
        move = chess.Move.from_uci(uci)
        taken = board.is_capture(move)
        board.push(move)
        if before is None or seen.forced:
            continue
        color: Color = "black" if index % 2 else "white"
        gain_cp = gains(before, positions[index + 1], uci, color)[gain == "successive"]
        if gain_cp is not None:
            about = before.whole.complexity
            stability_cp, jump_cp = (about.stability_cp, about.jump_cp) if about else (None, None)
            if row.plies is None and not index:
                stability_cp, jump_cp = _START_STABILITY_CP, _START_JUMP_CP
            score = before.whole.cp * (-1 if index % 2 else 1)
            turn = Turn(gain_cp, score, index + 1, stability_cp, jump_cp, seen)
            turns[index % 2].append((turn, before.best or None))
    game = row.game()
    sides = [
        PlayedSide(
            player.name if player.words else "",
            elo,
            *(zip(*found, strict=True) if found else ((), ())),
        )
        for player, elo, found in zip(
            (game.white, game.black), (game.white_elo, game.black_elo), turns, strict=True
        )
    ]
    scores = tuple(None if each is None else each.whole.cp for each in positions)
    return PlayedGame(sides[0], sides[1], game.result, scores, moves)


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


# --- games followed ------------------------------------------------------------------------------

# Whole games compared move by move, by what a running game is compared with.


COLORS: Final[tuple[Color, Color]] = ("white", "black")
Whom = Callable[[str], bool]
Shared = Sequence[tuple[int, float]]
_BARE: Final = Dispersion((), 1.0)


def chosen_sides(games: Sequence[PlayedGame], whom: Whom) -> list[dict[Color, str]]:
    """The rated players of each game whom ``whom`` names, where any of their turns is known."""
    return [
        {
            color: player
            for color, side in zip(COLORS, game.sides, strict=True)
            if side.elo is not None
            and side.turns
            # Nobody knows who an unnamed player is, so he is another one in each game.
            and whom(player := side.player or f"{index}/{color}")
        }
        for index, game in enumerate(games)
    ]


class FollowedMove(NamedTuple):
    """One counted move, and its side after it."""

    color: Color
    turn: Turn
    own_score: float
    """``s(R) - 1/2``; 0 without a rating."""
    own_variance: float
    taken: float
    """``b``: what the game's hardness takes from the score."""
    total: Evidence
    """Of all moves so far; without any dispersion."""


def follow(
    game: PlayedGame, reader: MoveReader, shared: Shared, *, level: float | None = None
) -> Iterator[FollowedMove]:
    """The counted moves of a game in the order of plies; ``level`` puts one Elo in the place of the
    game's own.
    """
    if level is None:
        level = game_level(game.white.elo, game.black.elo, reader.mean_elo)
    sides = dict(zip(COLORS, game.sides, strict=True))
    elos = {color: Elos.of(level, side.elo) for color, side in sides.items()}
    sums = GameSums(elos, shared)
    turns = ((color, turn) for color, side in sides.items() for turn in side.turns)
    for color, turn in sorted(turns, key=lambda each: each[1].ply):
        move = reader.compare(turn, elos[color])
        taken, variance = sums.hardness(color, turn.ply), move.single.own_variance
        sums.add(color, turn.ply, move)
        total = sums.evidence(color, _BARE, over=True)
        assert total is not None  # it has this move
        own_score = move.surprise * math.sqrt(variance)
        yield FollowedMove(color, turn, own_score, variance, taken, total)
