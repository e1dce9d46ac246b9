"""Learn models of perceived ratings from games of rated players, and judge them on players they
never saw.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from statistics import NormalDist
from typing import Any, NamedTuple, get_args

import chess
import msgspec
import numpy as np
import numpy.typing as npt

from live.errors import InputError
from live.events import Color, GainKind
from live.ratings.alliot import Complexity
from live.ratings.expected_score import difference_of
from live.ratings.perceived_model import (
    Circumstance,
    Circumstances,
    MoveReader,
    PerceivedModel,
    Turn,
    board_before,
    measured,
)
from live.ratings.perceived_rating import (
    GRID_ELO,
    LEAST_ELO,
    MOST_ELO,
    Dispersion,
    Elos,
    Evidence,
    Floats,
    GameSums,
    game_level,
    perceived,
    place,
)
from live.studies.corpus_database import gains
from live.studies.read_games import GameLine

Ints = npt.NDArray[np.int64]
Which = npt.NDArray[np.bool_]

# --- played games -------------------------------------------------------------------------------

# Two kinds of NDJSON are read, one game a line: searched games with one entry a position
# (``moves``, ``plies``), and the same with one list a figure (``moves``, ``cp``, ``best``). The
# manual says what each key holds.


#: What the engine says of the usual starting position, where a file leaves it out.
_START = Complexity(5.5, 25, None, 0)


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


def read_played_games(
    lines: Iterable[bytes | str], gain: GainKind, subject: str = "rated games"
) -> list[PlayedGame]:
    """The games of NDJSON ``lines``, with turns by ``gain``.

    Forced moves are no turns. Raises InputError, naming ``subject`` and the line, for what cannot
    be read.
    """
    games = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                games.append(_searched(msgspec.json.decode(line, type=GameLine), gain))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
                raise InputError(
                    f"{subject}, line {number}",
                    f"is no rated game: {error}",
                    "See: live-rate manual studies",
                ) from error
    return games


def _searched(row: GameLine, gain: GainKind) -> PlayedGame:
    moves, searched = row.uci, row.searched()
    if searched is None:
        raise ValueError("no scores")
    # A move whose position after it is not in the file says nothing.
    count = len(moves) if row.plies is None else len(row.plies) - 1
    positions = searched.positions[: count + 1]
    found: tuple[tuple[list[Turn], list[str | None]], ...] = (([], []), ([], []))
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
            about = before.whole.complexity if index or row.plies is not None else _START
            stability_cp, jump_cp = (about.stability_cp, about.jump_cp) if about else (None, None)
            score = before.whole.cp * (-1 if index % 2 else 1)
            turns, best = found[index % 2]
            turns.append(Turn(gain_cp, score, index + 1, stability_cp, jump_cp, seen))
            best.append(before.best or None)
    game = row.game()
    players, elos = (game.white, game.black), (game.white_elo, game.black_elo)
    sides = [
        PlayedSide(player.name if player.words else "", elo, tuple(turns), tuple(best))
        for player, elo, (turns, best) in zip(players, elos, found, strict=True)
    ]
    scores = tuple(None if each is None else each.whole.cp for each in positions)
    return PlayedGame(sides[0], sides[1], game.result, scores, moves)


# --- games followed ------------------------------------------------------------------------------

COLORS: tuple[Color, Color] = ("white", "black")
Whom = Callable[[str], bool]
Shared = Sequence[tuple[int, float]]
_BARE = Dispersion((), 1.0)


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
    at_own: float
    """``S(R) - n/2`` of all moves so far."""
    total: Evidence
    """Of all moves so far; without any dispersion."""


Followed = Iterator[tuple[int, str, list[FollowedMove]]]
"""Player-games: game, player and moves."""


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
    sums, at_own = GameSums(elos, shared), dict.fromkeys(COLORS, 0.0)
    turns = ((color, turn) for color, side in sides.items() for turn in side.turns)
    for color, turn in sorted(turns, key=lambda each: each[1].ply):
        move = reader.compare(turn, elos[color])
        taken, variance = sums.hardness(color, turn.ply), move.single.own_variance
        sums.add(color, turn.ply, move)
        total = sums.evidence(color, _BARE, over=True)
        assert total is not None  # it has this move
        own_score = move.surprise * math.sqrt(variance)
        at_own[color] += own_score - taken
        yield FollowedMove(color, turn, own_score, variance, taken, at_own[color], total)


# --- held out -----------------------------------------------------------------------------------

# Which players judge the figures, and so are left out of everything that is learned.
#
# Decided once, by player: one in eight, drawn by the SHA-256 of the number (or the name) that the
# files of games give him. ``live/ratings/held_out.json`` lists those of the searched games over the
# board, with the games they played (SHA-256 of the moves in UCI, joined by spaces).


#: Shares that all players fall into; one of them judges.
SHARES = 8


def share_of(player: str, shares: int = SHARES) -> int:
    """Which of so many shares of all players this one belongs to; share 0 judges."""
    return int(sha256(player.encode()).hexdigest(), 16) % shares


def judges(player: str) -> bool:
    """Whether no fit may see this player's games."""
    return share_of(player) == 0


# --- learn --------------------------------------------------------------------------------------

# Learn a model of perceived ratings from games of rated players.
#
# The weights of the logit are the likeliest, with a normal prior on each that keeps small samples
# honest. What games share (``beta``) and what they differ by beyond chance (``kappa``) is
# measured on players that the weights were not learned from: they are split into shares, and each
# share is scored by weights learned from the others. Players who judge
# (``live.studies.perceived_learning``) are never seen.


#: Classes of loss, centipawns.
LOSS_EDGES_CP: dict[GainKind, tuple[int, ...]] = {
    "same-search": (0, 10, 25, 60, 150),
    "successive": (-15, 0, 10, 25, 60, 150),
}
CHANGING: Circumstances = (
    "always",
    "opening",
    "early",
    "ahead",
    "behind",
    "dead",
    "instability",
    "choices",
)
#: Those of every turn; the rest are known where people were asked. Their order is the weights'.
CIRCUMSTANCES: Circumstances = get_args(Circumstance)[:-2]
SCALE_ELO = 400.0
#: Precision of the normal prior on a weight, on its change with Elo, and on the bend.
PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND = 2.0, 8.0, 16.0
#: More turns than this teach the weights nothing new; players' games are then drawn evenly.
MOST_TURNS = 90_000
#: Fewest player-games to learn anything from.
MIN_GAMES = 50
#: Fewest moves: of fewer the prior says more than the games.
MIN_MOVES = 1000
#: Shares of the players, each scored by weights learned from the others.
FOLDS = 5
#: Up to which ply ``beta`` holds; the last for all after.
STAGES_PLIES = (20, 40, 60)
MOST_BETA = 0.3
#: After how many counted moves ``kappa`` is measured.
NODES = (5, 10, 20, 40)


class Turns(NamedTuple):
    """Turns of rated players, one row each, by game, then by ply."""

    side: Ints
    """Twice the number of the game, and 1 for Black."""
    player: Ints
    """Index among the players."""
    elo: Floats
    at: Floats
    """Circumstances: (rows, circumstances)."""
    gain_cp: Ints
    classes: Ints

    def rows(self, which: Which) -> Turns:
        """Some of them."""
        return Turns(*(each[which] for each in self))  # type: ignore[arg-type]  # of either kind


def turns_of(
    games: Sequence[PlayedGame],
    chosen: Sequence[Mapping[Color, str]],
    names: Circumstances,
    edges_cp: Sequence[int],
) -> tuple[Turns, list[str]]:
    """Every turn of the chosen sides, and who plays them."""
    players: dict[str, int] = {}
    rows: list[tuple[int, ...]] = []
    at: list[list[float]] = []
    for index, (game, sides) in enumerate(zip(games, chosen, strict=True)):
        turns = [
            (turn, index * 2 + number, sides[color], side.elo or 0)
            for number, (color, side) in enumerate(zip(COLORS, game.sides, strict=True))
            if color in sides
            for turn in side.turns
        ]
        for turn, key, player, elo in sorted(turns, key=lambda each: each[0].ply):
            rows.append((key, players.setdefault(player, len(players)), elo, turn.gain_cp))
            at.append(measured(turn, names))
    key_, player_, elo_, gain_ = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    at_ = np.array(at, dtype=np.float64).reshape(-1, len(names))
    classes = np.searchsorted(edges_cp, -gain_)
    return Turns(key_, player_, elo_.astype(np.float64), at_, gain_, classes), list(players)


def learn(
    games: Sequence[PlayedGame], *, gain: GainKind, without: Whom = judges, **about: Any
) -> PerceivedModel:
    """Learn from rated games; some seconds for 400 games, the same from the same games.

    ``without`` says which players are left out; ``about`` is what the model says of itself. Raises
    InputError below 50 player-games and 1000 moves, and where the model puts most of these at an
    end of the scale.
    """
    too_few = functools.partial(
        InputError, about["data"], remedy="Give more games of rated players"
    )
    edges = LOSS_EDGES_CP[gain]
    chosen = chosen_sides(games, lambda player: not without(player))
    turns, players = turns_of(games, chosen, CIRCUMSTANCES, edges)
    share = np.array([share_of(player, FOLDS) for player in players], dtype=np.int64)
    elos = turns.elo[np.unique(turns.side, return_index=True)[1]]
    if len(elos) < MIN_GAMES:
        raise too_few(f"{len(elos)} rated player-games: {MIN_GAMES} are needed to learn from")
    if len(turns.elo) < MIN_MOVES:
        raise too_few(f"{len(turns.elo)} rated moves: {MIN_MOVES} are needed to learn from")
    # That which is the same everywhere says nothing.
    known = zip(CIRCUMSTANCES, turns.at.T, strict=True)
    names = tuple(name for name, column in known if name == "always" or np.ptp(column) > 0)
    turns = turns._replace(at=turns.at[:, [CIRCUMSTANCES.index(each) for each in names]])
    changing = tuple(each for each in CHANGING if each in names)
    centre = float(round(float(elos.mean())))
    low, high = np.quantile(elos, (0.025, 0.975)).round().tolist()
    engine_rating, difference = _engine(turns, centre)
    fit = functools.partial(_fit, names, changing, centre, len(edges) + 1)
    weights = fit(turns)
    p = len(names)
    model = PerceivedModel(
        **about,
        gain=gain,
        games=len(elos),
        players=len(players),
        moves=len(turns.elo),
        elo_range=(low, high),
        mean_elo=round(float(elos.mean()), 1),
        engine_rating=engine_rating,
        difference=difference,
        centre_elo=centre,
        scale_elo=SCALE_ELO,
        loss_edges_cp=edges,
        circumstances=names,
        changing=changing,
        **_weights(weights, p),
        shared=tuple((last, 0.0) for last in STAGES_PLIES),
        dispersion=((NODES[0], 1.0),),
        finished_dispersion=1.0,
    )

    everybody = [MoveReader((model,))] * FOLDS
    apart = everybody.copy()
    for number in np.unique(share).tolist():
        others = share[turns.player] != number
        if others.any():
            other = msgspec.structs.replace(model, **_weights(fit(turns.rows(others), weights), p))
            apart[number] = MoveReader((other,))

    def followed(shared: Shared, readers: Sequence[MoveReader] = apart) -> Followed:
        """Each player-game, by the weights learned from others: game, player and moves."""
        for index, (game, sides) in enumerate(zip(games, chosen, strict=True)):
            for color, player in sides.items():
                moves = follow(game, readers[share_of(player, FOLDS)], shared)
                yield index, player, [each for each in moves if each.color == color]

    shared = _shared(followed(((0, 1.0),)), len(games))
    figures = [perceived(moves[-1].total) for _, _, moves in followed(shared, everybody)]
    ends = [each for each in figures if each and each.rating in (GRID_ELO[0], GRID_ELO[-1])]
    if 2 * len(ends) > len(figures):
        raise too_few("these moves do not tell strong from weak players")
    return msgspec.structs.replace(model, shared=shared, **_dispersions(followed(shared)))


def _fit(
    names: Circumstances,
    changing: Circumstances,
    centre: float,
    classes: int,
    turns: Turns,
    start: Floats | None = None,
) -> Floats:
    """The likeliest weights: (circumstances + changing + 1, classes - 1)."""
    rows = _thinned(turns)
    z = ((rows.elo - centre) / SCALE_ELO)[:, None]
    moving = rows.at[:, [names.index(each) for each in changing]]
    features = np.concatenate([rows.at, moving * z, z * z], axis=1)
    stiff = np.repeat(
        (PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND), (len(names), len(changing), 1)
    )[:, None]
    # What holds always is as the games say.
    stiff[0], stiff[len(names)] = 0.01, 0.5
    number = np.arange(len(features))
    hit = np.eye(classes)[rows.classes][:, 1:]

    from scipy.optimize import minimize  # where asked for: slow imports
    from scipy.special import log_softmax

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(features.shape[1], classes - 1)
        log = log_softmax(np.pad(features @ weights, ((0, 0), (1, 0))), axis=1)
        fit = float(log[number, rows.classes].sum())
        rise = features.T @ (hit - np.exp(log[:, 1:]))
        penalty = 0.5 * float((stiff * weights**2).sum())
        return penalty - fit, (stiff * weights - rise).ravel()

    size = features.shape[1] * (classes - 1)
    result = minimize(
        loss,
        np.zeros(size) if start is None else start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 150},
    )
    weights: Floats = result.x.reshape(features.shape[1], classes - 1)
    return weights


def _thinned(turns: Turns) -> Turns:
    """At most ``MOST_TURNS`` of the turns, in whole player-games."""
    if len(turns.side) <= MOST_TURNS:
        return turns
    # Drawn by the number of the game, so that the same games teach whenever it is run again.
    drawn = (turns.side * 2654435761) % 2**32 / 2**32
    return turns.rows(drawn < MOST_TURNS / len(turns.side))


# --- what games share, and what they differ by ---------------------------------------------------


def _shared(followed: Followed, games: int) -> tuple[tuple[int, float], ...]:
    """``beta`` by stage: with it, the two players' scores go together no more than by chance.

    Of each game both players' sums at the end of a stage, standardised, are looked at; their
    covariance is a quadratic in the stage's ``beta``, since every earlier one is known. What was
    ``followed`` has a ``beta`` of 1.
    """
    # Moves, scores, variances and hardness, by game, side and stage.
    sums = np.zeros((4, len(STAGES_PLIES), games, 2))
    for index, _, moves in followed:
        for each in moves:
            stage = bisect_left(STAGES_PLIES[:-1], each.turn.ply)
            found = (1, each.own_score, each.own_variance, each.taken)
            sums[:, stage, index, COLORS.index(each.color)] += found
    score, spread = np.zeros((2, games, 2))
    learned: list[tuple[int, float]] = []
    for last, count, own, variance, shared in zip(STAGES_PLIES, *sums, strict=True):
        score, spread = score + own, spread + variance
        both = (count > 0).all(axis=1)
        beta = 0.0
        if both.sum() >= MIN_GAMES:
            deviation = np.sqrt(spread[both])
            beta = min(_uncorrelated(score[both] / deviation, shared[both] / deviation), MOST_BETA)
        learned.append((last, round(beta, 3)))
        score = score - beta * shared
    return tuple(learned)


def _uncorrelated(score: Floats, shared: Floats) -> float:
    """The least ``beta`` at which both columns of ``score - beta * shared`` are uncorrelated."""
    (a, b), (u, w) = (score - score.mean(axis=0)).T, (shared - shared.mean(axis=0)).T
    roots = np.roots([u @ w, -(a @ w + b @ u), a @ b])
    found = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0)]
    return float(min(found, default=0.0)) if a @ b > 0 else 0.0


def _dispersions(followed: Followed) -> dict[str, object]:
    """The fields of ``kappa``: mean squares of what is 1 by chance alone."""
    running: dict[int, list[float]] = {node: [] for node in NODES}
    whole: list[tuple[float, ...]] = []
    players: dict[str, int] = {}
    for _, player, moves in followed:
        for node in NODES:
            if node <= len(moves):
                running[node].append(_square(moves[node - 1].total))
        who, last = players.setdefault(player, len(players)), moves[-1]
        whole.append((who, _square(last.total), last.at_own, last.total.own_variance))
    who_, squares, at_owns, variances = np.array(whole).T
    finished = _kappa(squares)
    known = tuple((node, _kappa(np.array(found))) for node, found in running.items() if found[1:])
    return {
        "dispersion": known or ((NODES[0], finished),),
        "finished_dispersion": finished,
        "event_dispersion": _event_kappa(who_.astype(np.int64), at_owns, variances * finished),
    }


def _square(total: Evidence) -> float:
    found = perceived(total)
    assert found is not None  # a move is counted
    return place(total, found.rating) ** 2


def _kappa(squares: Floats) -> float:
    return round(float(squares.mean()), 3)


def _event_kappa(player: Ints, score: Floats, variance: Floats) -> float:
    """Of players with several games together."""
    games = np.bincount(player)
    several = games >= 2
    if several.sum() < MIN_GAMES / 2:
        return 1.0
    total = np.bincount(player, score)[several]
    spread = np.bincount(player, variance)[several]
    return _kappa(total**2 / spread)


def _engine(turns: Turns, centre: float) -> tuple[int, tuple[float, float]]:
    """Algorithm 3 over the players, weighted by their moves, and how their differences rise."""
    n = np.bincount(turns.player)
    score = np.bincount(turns.player, (np.sign(turns.gain_cp) + 1) / 2) / n
    known = (score > 0) & (score < 1)
    if not known.any():
        return round(centre), (0.0, 0.0)
    elo, n = (np.bincount(turns.player, turns.elo) / n)[known], n[known]
    difference = np.array([difference_of(each) or 0.0 for each in score[known].tolist()])
    z = (elo - centre) / SCALE_ELO
    start, slope = np.polynomial.polynomial.polyfit(z, difference, 1, w=np.sqrt(n)).tolist()
    return round(np.average(elo - difference, weights=n)), (round(start, 2), round(slope, 2))


def _weights(flat: Floats, p: int) -> dict[str, Any]:
    """The fields of a model that are fitted, rounded; ``p``: how many circumstances there are."""
    rows = [tuple(round(each, 4) + 0.0 for each in row) for row in flat.tolist()]
    return {"level": tuple(rows[:p]), "slope": tuple(rows[p:-1]), "bend": rows[-1]}


# --- judge --------------------------------------------------------------------------------------

# How well a model does on players it never saw: what its bands hold, after so many moves.
#
# One row a player-game, as arrays; the bounds that must hold are those of ``numbers`` in the
# manual.


AFTER = (5, 10, 20, 40)
WHOLE = "whole"
PERCENTILES = (5, 25, 50, 75, 95)
BANDS = ((0, 1600), (1600, 2000), (2000, 2300), (2300, 2600), (2600, 4000))
BEYOND_ELO = 3200
_SURE = NormalDist().inv_cdf(0.975)


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Floats
    side: Floats
    """0 White, 1 Black."""
    elo: Floats
    level: Floats
    """Of the game (``F``)."""
    rating: Floats
    z: Floats
    """Where the rating lies among those of players rated alike, in standard deviations."""
    usual_low: Floats
    usual_high: Floats
    inside: Floats
    """1 where the 95 % interval holds the player's Elo, else 0."""
    blind: Floats
    """The rating when everybody starts at one Elo and no rating is used."""


def judged_by(games: Sequence[PlayedGame], model: PerceivedModel, whom: Whom) -> dict[str, Judged]:
    """The players that ``whom`` names, by ``model``: after each of ``AFTER`` moves, and whole games
    as ``whole``.
    """
    reader = MoveReader((model,))
    found: dict[str, list[tuple[float, ...]]] = {str(when): [] for when in (*AFTER, WHOLE)}
    for index, (game, sides) in enumerate(zip(games, chosen_sides(games, whom), strict=True)):
        if not sides:
            continue
        moves = list(follow(game, reader, model.shared))
        # Without ratings nothing is known of the game's hardness.
        blind = follow(game, reader, ((0, 0.0),), level=model.mean_elo)
        both = list(zip(moves, blind, strict=True))
        level = game_level(game.white.elo, game.black.elo, model.mean_elo)
        for color in sides:
            side = COLORS.index(color)
            mine = [each for each in both if each[0].color == color]
            about = (index, side, float(game.sides[side].elo or 0), level)
            whens = {str(n): n for n in AFTER if n <= len(mine)} | {WHOLE: len(mine)}
            for when, n in whens.items():
                move, same = mine[n - 1]
                kappa = reader.dispersion.at(n, over=when == WHOLE)
                figures = _figures(move.total.dispersed(kappa), move.at_own, same.total)
                found[when].append((*about, *figures))
    size = len(Judged._fields)
    return {
        when: Judged(*np.array(rows, dtype=np.float64).reshape(-1, size).T)
        for when, rows in found.items()
    }


def _figures(total: Evidence, at_own: float, blind: Evidence) -> tuple[float, ...]:
    """From the rating on."""
    seen, unrated = perceived(total), perceived(blind)
    assert seen is not None and unrated is not None  # a move is counted
    assert seen.usual_low is not None and seen.usual_high is not None  # and the player is rated
    inside = abs(at_own) <= _SURE * math.sqrt(total.own_variance)
    usual = seen.usual_low, seen.usual_high
    return seen.rating, place(total, seen.rating), *usual, inside, unrated.rating


def summary(of: Judged) -> dict[str, Any]:
    """The figures of one row of the table."""
    if not len(of.elo):
        return {"n": 0}
    elo, pairs = np.clip(of.elo, LEAST_ELO, MOST_ELO), _pairs(of)
    below = [float((of.z < NormalDist().inv_cdf(each / 100)).mean()) for each in PERCENTILES]
    return {
        "n": len(of.elo),
        "percentile_below": dict(zip(map(str, PERCENTILES), map(rounded, below), strict=True)),
        "pair_r": _r(*pairs),
        "pairs": len(pairs[0]),
        "usual_holds": share(usual_holds(of)),
        "interval_holds": share(of.inside),
        "own_outside": share((elo < of.usual_low) | (elo > of.usual_high)),
        "beyond_3200": share(of.rating > BEYOND_ELO),
        "blind_r": _r(of.blind, of.elo),
        "bands": [_band(of, *band) for band in BANDS],
    }


def _band(of: Judged, low: int, high: int) -> dict[str, Any]:
    inside = (of.elo >= low) & (of.elo < high)
    some = Judged(*(each[inside] for each in of))
    n = len(some.elo)
    percentiles = [100 * NormalDist().cdf(each) for each in some.z]
    return {
        "elo": [low, high],
        "n": n,
        "usual_holds": share(usual_holds(some)),
        "percentile_mean": round(float(np.mean(percentiles)), 1) if n else None,
        "bias": round(float(np.median(some.rating - some.elo)), 1) if n else None,
        "beyond_3200": share(some.rating > BEYOND_ELO),
    }


def usual_holds(of: Judged) -> Which:
    """Whether each rating lies in its usual band."""
    return (of.usual_low <= of.rating) & (of.rating <= of.usual_high)


def _pairs(of: Judged) -> tuple[Floats, Floats]:
    """Both players' places, of the games that have both."""
    white, black = of.side == 0, of.side == 1
    _, at, there = np.intersect1d(of.game[white], of.game[black], return_indices=True)
    return of.z[white][at], of.z[black][there]


def _r(one: Floats, other: Floats) -> float | None:
    """Their correlation; None for fewer than three, or where all are the same."""
    if len(one) < 3 or not one.std() or not other.std():
        return None
    return rounded(float(np.corrcoef(one, other)[0, 1]))


def share(which: Which | Floats) -> float | None:
    """Of those there are, 0 to 1."""
    return rounded(float(which.mean())) if len(which) else None


def rounded(value: float) -> float:
    """For people."""
    return round(value, 4)
