"""Games of rated players, as models of losses are learned from and judged on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import chess
import msgspec
import numpy as np
import numpy.typing as npt

from live.errors import InputError
from live.events import Color, GainKind
from live.ratings.ferreira import MAX_GAIN_CP
from live.ratings.perceived_model import Circumstance, Turn, board_before, measured
from live.ratings.perceived_rating import (
    CALM_MOVES,
    GRID_ELO,
    LEAST_ELO,
    MOST_ELO,
    PULL_MOVES,
    Floats,
    LossLogit,
    class_scores,
)
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


# --- many games ---------------------------------------------------------------------------------

# Many games at once, as arrays: what learning a model and judging it need.
#
# The same arithmetic as :mod:`live.ratings.perceived_rating`, one row a counted move.


Ints = npt.NDArray[np.int64]
Which = npt.NDArray[np.bool_]

#: Rows looked at together: each takes some 2 kB.
_ROWS = 40_000


class Turns(NamedTuple):
    """Counted moves, one row each, by game, then by ply."""

    game: Ints
    side: Ints
    """0 White, 1 Black."""
    player: Ints
    """Index among the players."""
    elo: Floats
    """The mover's; NaN without one."""
    level: Floats
    """Of the game (``F``)."""
    ply: Ints
    number: Ints
    """How many moves of this side are counted with this one, from 1."""
    of: Ints
    """How many are counted in the whole game."""
    at: Floats
    """Circumstances: (rows, circumstances)."""
    gain_cp: Ints
    score_cp: Ints
    """Before the move, mover's side."""
    classes: Ints

    def rows(self, which: Which | Ints | slice) -> Turns:
        """Some of them; ``number`` and ``of`` stay those of the game."""
        return Turns(*(each[which] for each in self))  # type: ignore[arg-type]  # of either kind


def turns_of(
    games: Sequence[PlayedGame],
    names: tuple[Circumstance, ...],
    edges_cp: Sequence[int],
    *,
    field_elo: float | None = None,
) -> tuple[Turns, list[str]]:
    """Every turn of the games, and who plays them.

    ``field_elo``: the level of games without a rating, which are else left out.
    """
    players: dict[str, int] = {}
    rows: list[tuple[float, ...]] = []
    at: list[list[float]] = []
    for index, game in enumerate(games):
        known = [side.elo for side in game.sides if side.elo is not None]
        level = sum(known) / len(known) if known else field_elo
        if level is None:
            continue
        turns = [
            (turn.ply, color, number, turn)
            for color, side in enumerate(game.sides)
            for number, turn in enumerate(side.turns, 1)
        ]
        for ply, color, number, turn in sorted(turns, key=lambda each: each[:2]):
            side = game.sides[color]
            elo = float("nan") if side.elo is None else side.elo
            # Nobody knows who an unnamed player is, so he is another one in each game.
            player = players.setdefault(side.player or f"{index}/{color}", len(players))
            count = len(side.turns)
            cp = (turn.gain_cp, turn.score_before_cp)
            rows.append((index, color, player, elo, level, ply, number, count, *cp))
            at.append(measured(turn, names))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 10).T
    elo_, level_ = columns[3:5]
    whole = np.nan_to_num(columns).astype(np.int64)
    game_, color_, player_, _, _, ply_, number_, of_, gain_, score_ = whole
    at_ = np.array(at, dtype=np.float64).reshape(-1, len(names))
    classes = np.searchsorted(np.array(edges_cp), -gain_, side="left")
    about = game_, color_, player_, elo_, level_, ply_, number_, of_, at_, gain_, score_, classes
    return Turns(*about), list(players)


def in_parts(turns: Turns) -> Iterator[Turns]:
    """The same in parts of whole games, for arrays that would not fit in memory."""
    starts = np.flatnonzero(np.r_[True, turns.game[1:] != turns.game[:-1]])
    begin = 0
    while begin < len(turns.game):
        after = starts[starts >= begin + _ROWS]
        end = int(after[0]) if len(after) else len(turns.game)
        yield turns.rows(slice(begin, end))
        begin = end


class Scored(NamedTuple):
    """What each row scores against players of each Elo, before the game's hardness."""

    score: Floats
    """``s(E)``, (rows, Elos)."""
    variance: Floats
    of_level: Floats
    of_own: Floats
    """NaN without a rating; so are the next three."""
    own_variance: Floats
    own_score: Floats
    """``s(R) - 1/2``, (rows,)."""
    surprise: Floats
    hardness: Floats
    """What the opponent's surprises before come to, for ``beta`` to be multiplied by."""


def scored(logit: LossLogit, turns: Turns, *, level: float | None = None) -> Scored:
    """Score every row; ``level`` puts one Elo in the place of the games' own."""
    number = np.arange(len(turns.game))
    lines = logit.lines(turns.at)
    shares = logit.shares(*lines)
    scores = class_scores(shares)
    levels = np.clip(turns.level if level is None else level, LEAST_ELO, MOST_ELO)
    own = logit.shares_of(*lines, np.clip(turns.elo, LEAST_ELO, MOST_ELO))
    own_scores = class_scores(own)
    own_variance = (own * own_scores**2).sum(axis=-1) - 0.25
    own_score = own_scores[number, turns.classes] - 0.5
    surprise = own_score / np.sqrt(own_variance)
    of_level = np.broadcast_to(logit.shares_of(*lines, levels), own.shape)
    return Scored(
        scores[number, :, turns.classes],
        (shares * scores**2).sum(axis=-1) - 0.25,
        np.einsum("rek,rk->re", scores, of_level),
        np.einsum("rek,rk->re", scores, own),
        own_variance,
        own_score,
        surprise,
        _hardness(turns, surprise),
    )


def _hardness(turns: Turns, surprise: Floats) -> Floats:
    """Of each row: the opponent's surprises before it, drawn towards none; 0 where he is unrated
    (all his surprises are unknown then).
    """
    found = np.zeros(len(surprise))
    known = np.nan_to_num(surprise)
    rated = ~np.isnan(surprise)
    for side in (0, 1):
        theirs = turns.side != side
        total = within_games(turns.game, np.where(theirs, known, 0.0))
        count = within_games(turns.game, np.where(theirs & rated, 1.0, 0.0))
        own = ~theirs
        found[own] = (total / (count + CALM_MOVES))[own]
    return found


def within_games(game: Ints, values: Floats) -> Floats:
    """Sums from the start of each game, row by row."""
    total = np.cumsum(values, axis=0, dtype=np.float64)
    starts = np.flatnonzero(np.r_[True, game[1:] != game[:-1]])
    before = np.concatenate([np.zeros((1, *values.shape[1:])), total])[starts]
    found: Floats = total - np.repeat(before, np.diff(np.r_[starts, len(game)]), axis=0)
    return found


def betas(ply: Ints, shared: Sequence[tuple[int, float]]) -> Floats:
    """``beta`` of each ply."""
    at = np.searchsorted([last for last, _ in shared], ply, side="left")
    found: Floats = np.array([beta for _, beta in shared])[np.minimum(at, len(shared) - 1)]
    return found


class States(NamedTuple):
    """Sums of a player-game after each of some of its moves; without any dispersion."""

    turns: Turns
    """The last move of each."""
    score: Floats
    """``S(E)``, (states, Elos)."""
    of_level: Floats
    variance: Floats
    of_own: Floats
    own_variance: Floats
    """(states,)."""
    at_own: Floats
    """``S(R) - n/2``."""


def states(turns: Turns, found: Scored, beta: Floats, wanted: Which) -> States:
    """The sums at the rows ``wanted``; ``beta`` of each row."""
    order = np.lexsort((turns.ply, turns.game * 2 + turns.side))
    key = (turns.game * 2 + turns.side)[order]
    kept = wanted[order]
    less = beta * found.hardness

    def sums(values: Floats) -> Floats:
        return within_games(key, values[order])[kept]

    return States(
        turns.rows(order).rows(kept),
        sums(found.score - less[:, None]),
        sums(found.of_level),
        sums(found.variance),
        sums(found.of_own),
        sums(found.own_variance),
        sums(found.own_score - less),
    )


def ratings(held: States) -> Floats:
    """The perceived rating of each state."""
    n = held.turns.number[:, None].astype(np.float64)
    return crossings(held.score - n / 2 + (PULL_MOVES / n) * (held.of_level - n / 2))


def places(held: States, rating: Floats) -> Floats:
    """``z``, but for the dispersion: where each rating lies among those of players rated alike."""
    return at_elo(held.score - held.of_own, rating) / np.sqrt(held.own_variance)


def at_elo(lines: Floats, elo: Floats) -> Floats:
    """Each line over the grid at an Elo of its own."""
    place = np.clip((elo - GRID_ELO[0]) / (GRID_ELO[1] - GRID_ELO[0]), 0, len(GRID_ELO) - 1)
    left = np.minimum(place.astype(np.int64), len(GRID_ELO) - 2)
    row = np.arange(len(lines))
    low, high = lines[row, left], lines[row, left + 1]
    found: Floats = low + (high - low) * (place - left)
    return found


def crossings(falling: Floats) -> Floats:
    """Where each line first falls to 0; the ends of the grid where it does not."""
    below = falling <= 0
    at = below.argmax(axis=1)
    row = np.arange(len(falling))
    inner = np.maximum(at, 1)
    left, right = falling[row, inner - 1], falling[row, inner]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = GRID_ELO[inner - 1] + (GRID_ELO[1] - GRID_ELO[0]) * left / (left - right)
    found = np.where(at == 0, GRID_ELO[0], found)
    ends: Floats = np.where(below.any(axis=1), found, GRID_ELO[-1])
    return ends
