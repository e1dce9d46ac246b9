"""Learn models of perceived ratings from games of rated players, and judge them on
players they never saw.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain, pairwise
from statistics import NormalDist
from typing import Any, NamedTuple, get_args

import chess
import msgspec
import numpy as np
import numpy.typing as npt

from live.errors import InputError
from live.messages.figures import GainKind
from live.messages.values import Color
from live.ratings.accuracy import compute_expected_score
from live.ratings.alliot import Complexity
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.perceived_model import (
    Circumstance,
    Circumstances,
    MoveReader,
    PerceivedModel,
    Turn,
    describe_board,
    measure_circumstances,
)
from live.ratings.perceived_rating import (
    GRID_ELO,
    LEAST_ELO,
    MOST_ELO,
    SURE_QUANTILE,
    ComparedMove,
    Dispersion,
    Elos,
    Evidence,
    Floats,
    GameSums,
    Perceived,
    estimate_level,
    find_limits,
    locate_rating,
    read_rating,
)
from live.studies.corpus_database import PositionSearch, gains
from live.studies.read_games import GameLine

Ints = npt.NDArray[np.int64]
Which = npt.NDArray[np.bool_]

# --- played games ---------------------------------------------------------------------

# Two kinds of NDJSON are read, one game a line: searched games with one entry a
# position (``moves``, ``plies``), and the same with one list a figure (``moves``,
# ``cp``, ``best``). The manual says what each key holds.


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

    Forced moves are no turns. Raises InputError, naming ``subject`` and the line, for
    what cannot be read.
    """
    games = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                games.append(_searched(msgspec.json.decode(line, type=GameLine), gain))
            except (
                msgspec.DecodeError,
                UnicodeDecodeError,
                RecursionError,
                ValueError,
            ) as error:
                raise InputError(
                    f"{subject}, line {number}",
                    f"is no rated game: {error}",
                    "See: live-rate manual studies",
                ) from error
    return games


def _searched(row: GameLine, gain: GainKind) -> PlayedGame:
    searched = row.searched()
    if searched is None:
        raise ValueError("no scores")
    game = row.game()
    # A move whose position after it is not in the file says nothing.
    count = len(game.moves) if row.plies is None else len(row.plies) - 1
    sides = [
        PlayedSide(player.name if player.words else "", elo, ())
        for player, elo in ((game.white, game.white_elo), (game.black, game.black_elo))
    ]
    start = _START if row.plies is None else None
    positions = searched.positions[: count + 1]
    return played_game(sides, game.result, game.moves, positions, gain, start)


def played_game(
    sides: Sequence[PlayedSide],
    result: str,
    moves: Sequence[str],
    positions: Sequence[PositionSearch | None],
    gain: GainKind,
    start: Complexity | None = None,
) -> PlayedGame:
    """Return a game with the turns of both sides, White's first, which come without
    any.

    ``positions``: as far as they are known, the first of all among them; ``start``:
    what the engine says of that one, where it is not told.
    """
    found: tuple[tuple[list[Turn], list[str | None]], ...] = (([], []), ([], []))
    board = chess.Board()
    taken = False
    known = set[str]()
    for index, uci in enumerate(moves[: len(positions) - 1]):
        before = positions[index]
        key = board.epd()
        seen = describe_board(board, taken=taken, repeated=key in known)
        known.add(key)
        move = chess.Move.from_uci(uci)
        taken = board.is_capture(move)
        board.push(move)
        if before is None or seen.is_forced:
            continue
        color: Color = "black" if index % 2 else "white"
        gain_cp = gains(before, positions[index + 1], uci, color)[gain == "successive"]
        if gain_cp is not None:
            about = start if start and not index else before.whole.complexity
            stability_cp, jump_cp = (
                (about.stability_cp, about.jump_cp) if about else (None, None)
            )
            score = before.whole.cp * (-1 if index % 2 else 1)
            turns, best = found[index % 2]
            turns.append(Turn(gain_cp, score, index + 1, stability_cp, jump_cp, seen))
            best.append(before.best or None)
    white, black = (
        side._replace(turns=tuple(turns), best=tuple(best))
        for side, (turns, best) in zip(sides, found, strict=True)
    )
    scores = tuple(None if each is None else each.whole.cp for each in positions)
    return PlayedGame(white, black, result, scores, tuple(moves))


# --- games followed -------------------------------------------------------------------

COLORS: tuple[Color, Color] = ("white", "black")
Whom = Callable[[str], bool]
Shared = Sequence[tuple[int, float]]
_BARE = Dispersion((), 1.0)


def chosen_sides(games: Sequence[PlayedGame], whom: Whom) -> list[dict[Color, str]]:
    """The rated players of each game whom ``whom`` names, where any of their turns is
    known.
    """
    chosen = []
    for index, game in enumerate(games):
        players: dict[Color, str] = {}
        for color, side in zip(COLORS, game.sides, strict=True):
            # Nobody knows who an unnamed player is, so he is another one in each game.
            player = side.player or f"{index}/{color}"
            if side.elo is not None and side.turns and whom(player):
                players[color] = player
        chosen.append(players)
    return chosen


class FollowedMove(NamedTuple):
    """One counted move, and its side after it."""

    color: Color
    turn: Turn
    compared: ComparedMove
    hardness: Floats
    """What the game's hardness takes from its slope, over the grid."""
    total: Evidence
    """Of all moves so far; without any dispersion."""


class FollowedSide(NamedTuple):
    """One player's counted moves of one game."""

    game: int
    player: str
    elo: float
    moves: list[FollowedMove]


Followed = Iterator[FollowedSide]


def follow(
    game: PlayedGame, reader: MoveReader, shared: Shared, *, level: float | None = None
) -> Iterator[FollowedMove]:
    """Yield the counted moves of a game in the order of plies.

    ``level`` puts one Elo in the place of the game's own.
    """
    if level is None:
        level = estimate_level(game.white.elo, game.black.elo, reader.mean_elo)
    sides = dict(zip(COLORS, game.sides, strict=True))
    elos = {color: Elos.from_ratings(level, side.elo) for color, side in sides.items()}
    sums = GameSums(elos, shared)
    turns = []
    for color, side in sides.items():
        turns += [(color, turn) for turn in side.turns]
    for color, turn in sorted(turns, key=lambda each: each[1].ply):
        move = reader.compare_turn(turn, elos[color])
        hardness = sums.estimate_hardness(color, turn.ply) * np.sqrt(
            move.peers.variance
        )
        sums.add(color, turn.ply, move)
        total = sums.sum_evidence(color, _BARE, over=True)
        assert total is not None  # it has this move
        yield FollowedMove(color, turn, move, hardness, total)


# --- held out -------------------------------------------------------------------------

# Which players judge the figures, and so are left out of everything that is learned.
#
# Decided once, by player: one in eight, drawn by the SHA-256 of the number (or the
# name) that the files of games give him. ``live/ratings/held_out.json`` lists those of
# the searched games over the board, with the games they played (SHA-256 of the moves in
# UCI, joined by spaces).


#: Shares that all players fall into; one of them judges.
SHARES = 8


def share_of(player: str, shares: int = SHARES) -> int:
    """Which of so many shares of all players this one belongs to; share 0 judges."""
    return int(sha256(player.encode()).hexdigest(), 16) % shares


def judges(player: str) -> bool:
    """Whether no fit may see this player's games."""
    return share_of(player) == 0


# --- learn ----------------------------------------------------------------------------

# Learn a model of perceived ratings from games of rated players.
#
# The weights of the logit are the likeliest, with a normal prior on each that keeps
# small samples honest. What games share (``beta``) and what they differ by beyond
# chance (``kappa``) is measured on players that the weights were not learned from: they
# are split into shares, and each share is scored by weights learned from the others.
# Players who judge (``live.studies.perceived_learning``) are never seen.


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
#: Those of every turn; the rest are known where people were asked. Their order is the
#: weights'.
CIRCUMSTANCES: Circumstances = get_args(Circumstance)[:-2]
SCALE_ELO = 400.0
#: Precision of the normal prior on a weight, on its change with Elo, and on the bend.
PRECISION = 2.0
PRECISION_OF_SLOPE = 8.0
PRECISION_OF_BEND = 16.0
#: More turns than this teach the weights nothing new; players' games are then drawn
#: evenly.
MOST_TURNS = 90_000
#: Fewest player-games to learn anything from.
MIN_GAMES = 50
#: Fewest moves: of fewer the prior says more than the games.
MIN_MOVES = 1000
#: Shares of the players, each scored by weights learned from the others.
FOLDS = 5
#: Up to which ply ``beta`` holds; the last for all after.
STAGES_PLIES = (20, 40, 60)
MOST_BETA = 1.0
#: After how many counted moves ``kappa`` is measured.
NODES = (5, 10, 20, 40)
#: What share of games the usual band is to hold, and between what bounds ``kappa`` is
#: sought.
USUAL_SHARE = 0.8
LEAST_KAPPA = 0.1
MOST_KAPPA = 10.0
#: Slopes that follow the players' ratings less than this do not tell strong from weak.
LEAST_CORRELATION = 0.2
#: More games than this teach ``beta``, ``kappa`` and ``sigma`` nothing new.
MOST_GAMES = 2000
#: ``sigma``, Elo, while ``beta`` is learned, and where too little is known to learn it.
USUAL_PRIOR_SD = 360.0
#: ``sigma`` is as small as lets this share of own ratings, at most, lie outside their
#: usual bands after so many counted moves: the smaller, the calmer a rating is, and the
#: nearer to the level of the game the bands of players who are far from it lie.
OWN_OUTSIDE = 0.07
OWN_OUTSIDE_MOVES = 10
LEAST_PRIOR_SD = 100
MOST_PRIOR_SD = 600
PRIOR_SD_STEP = 5


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
        turns = []
        for number, (color, side) in enumerate(zip(COLORS, game.sides, strict=True)):
            if color in sides:
                who = index * 2 + number, sides[color], side.elo or 0
                turns += [(turn, *who) for turn in side.turns]
        for turn, key, player, elo in sorted(turns, key=lambda each: each[0].ply):
            rows.append(
                (key, players.setdefault(player, len(players)), elo, turn.gain_cp)
            )
            at.append(measure_circumstances(turn, names))
    key_, player_, elo_, gain_ = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    at_ = np.array(at, dtype=np.float64).reshape(-1, len(names))
    classes = np.searchsorted(edges_cp, -gain_)
    return Turns(key_, player_, elo_.astype(np.float64), at_, gain_, classes), list(
        players
    )


def learn(
    games: Sequence[PlayedGame], *, gain: GainKind, without: Whom = judges, **about: Any
) -> PerceivedModel:
    """Learn from rated games; some seconds for 400 games, the same from the same games.

    ``without`` says which players are left out; ``about`` is what the model says of
    itself. Raises InputError below 50 player-games and 1000 moves, and where the model
    puts most of these at an end of the scale.
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
        raise too_few(
            f"{len(elos)} rated player-games: {MIN_GAMES} are needed to learn from"
        )
    if len(turns.elo) < MIN_MOVES:
        raise too_few(
            f"{len(turns.elo)} rated moves: {MIN_MOVES} are needed to learn from"
        )
    # That which is the same everywhere says nothing.
    known = zip(CIRCUMSTANCES, turns.at.T, strict=True)
    names = tuple(
        name for name, column in known if name == "always" or np.ptp(column) > 0
    )
    turns = turns._replace(
        at=turns.at[:, [CIRCUMSTANCES.index(each) for each in names]]
    )
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
        event_dispersion=1.0,
        prior_sd=USUAL_PRIOR_SD,
    )

    apart = [MoveReader((model,))] * FOLDS
    for number in np.unique(share).tolist():
        others = share[turns.player] != number
        if others.any():
            other = msgspec.structs.replace(
                model, **_weights(fit(turns.rows(others), weights), p)
            )
            apart[number] = MoveReader((other,))

    drawn = _drawn_games(chosen)

    def followed(shared: Shared, readers: Sequence[MoveReader] = apart) -> Followed:
        """Yield player-games, each by the weights learned from other players."""
        for index in drawn:
            for color, player in chosen[index].items():
                moves = follow(games[index], readers[share_of(player, FOLDS)], shared)
                own = [each for each in moves if each.color == color]
                elo = games[index].sides[COLORS.index(color)].elo or 0
                yield FollowedSide(index, player, float(elo), own)

    shared = learn_shared(followed(((0, 1.0),)))
    if not _tells_players_apart(followed(shared), centre):
        raise too_few("these moves do not tell strong from weak players")
    return msgspec.structs.replace(
        model, shared=shared, **learn_spread(followed(shared))
    )


def _tells_players_apart(sides: Followed, elo: float) -> bool:
    """Return whether the slopes at one rating follow the players' own ratings at
    all.
    """
    slopes: list[float] = []
    elos: list[float] = []
    for side in sides:
        slopes.append(float(np.interp(elo, GRID_ELO, side.moves[-1].total.slope)))
        elos.append(side.elo)
    correlation = _r(np.array(slopes), np.array(elos))
    return correlation is not None and correlation >= LEAST_CORRELATION


def _drawn_games(chosen: Sequence[Mapping[Color, str]]) -> list[int]:
    """Return the numbers of at most :data:`MOST_GAMES` games with chosen sides, drawn
    evenly.
    """
    known = [index for index, sides in enumerate(chosen) if sides]
    step = -(-len(known) // MOST_GAMES) or 1
    return known[::step]


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
        (PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND),
        (len(names), len(changing), 1),
    )[:, None]
    # What holds always is as the games say.
    stiff[0] = 0.01
    stiff[len(names)] = 0.5
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
    # Drawn by the number of the game, so that the same games teach whenever it is run
    # again.
    drawn = (turns.side * 2654435761) % 2**32 / 2**32
    return turns.rows(drawn < MOST_TURNS / len(turns.side))


# --- what games share, and what they differ by ----------------------------------------


class _StageSums(NamedTuple):
    """One side at the end of a stage."""

    total: Evidence
    """As if no game were hard."""
    hardness: Floats
    """Of the moves of each stage so far where ``beta`` is 1, (stages, Elos)."""

    def place(self, betas: Sequence[float]) -> float:
        """Return the place of the side's rating with a ``beta`` for each stage so
        far.
        """
        slope = self.total.slope - np.array(betas) @ self.hardness
        total = self.total._replace(slope=slope)
        found = read_rating(total, USUAL_PRIOR_SD)
        assert found is not None  # a move is counted
        return locate_rating(total, found.rating)


def learn_shared(followed: Followed) -> tuple[tuple[int, float], ...]:
    """Learn ``beta`` stage by stage: with it, both players' places are uncorrelated at
    its end.

    What was ``followed`` has a ``beta`` of 1.
    """
    sides: dict[int, list[list[_StageSums | None]]] = {}
    for side in followed:
        sides.setdefault(side.game, []).append(_sum_stages(side.moves))
    games = [both for both in sides.values() if len(both) == 2]
    betas: list[float] = []
    for stage in range(len(STAGES_PLIES)):
        pairs = []
        for white, black in games:
            one = white[stage]
            other = black[stage]
            if one is not None and other is not None:
                pairs.append((one, other))
        beta = _find_beta(pairs, betas) if len(pairs) >= MIN_GAMES else 0.0
        betas.append(round(beta, 3))
    return tuple(zip(STAGES_PLIES, betas, strict=True))


def _sum_stages(moves: Sequence[FollowedMove]) -> list[_StageSums | None]:
    """Return a side's sums at the end of each stage; None before its first move."""
    hardness = np.zeros((len(STAGES_PLIES), len(GRID_ELO)))
    slope = np.zeros(len(GRID_ELO))
    found: list[_StageSums | None] = [None] * len(STAGES_PLIES)
    for move in moves:
        stage = bisect_left(STAGES_PLIES[:-1], move.turn.ply)
        hardness[stage] += move.hardness
        slope = slope + move.compared.slope
        total = move.total._replace(slope=slope)
        for later in range(stage, len(STAGES_PLIES)):
            found[later] = _StageSums(total, hardness[: later + 1].copy())
    return found


def _find_beta(
    pairs: Sequence[tuple[_StageSums, _StageSums]], earlier: Sequence[float]
) -> float:
    """Return the least ``beta`` of a stage at which the places of both sides are
    uncorrelated.
    """

    def correlate(beta: float) -> float:
        betas = [*earlier, beta]
        places = [(one.place(betas), other.place(betas)) for one, other in pairs]
        return float(np.corrcoef(np.array(places).T)[0, 1])

    if correlate(0.0) <= 0:
        return 0.0
    if correlate(MOST_BETA) >= 0:
        return MOST_BETA
    from scipy.optimize import brentq  # where asked for: slow imports

    return float(brentq(correlate, 0.0, MOST_BETA, xtol=1e-3))


def learn_spread(followed: Followed) -> dict[str, object]:
    """Learn ``sigma``, and ``kappa``: with both, usual bands hold :data:`USUAL_SHARE`
    of games.
    """
    running: dict[int, list[Evidence]] = {node: [] for node in NODES}
    elos: dict[int, list[float]] = {node: [] for node in NODES}
    players: dict[str, list[Evidence]] = {}
    for side in followed:
        players.setdefault(side.player, []).append(side.moves[-1].total)
        for node in NODES:
            if node <= len(side.moves):
                running[node].append(side.moves[node - 1].total)
                elos[node].append(side.elo)
    prior_sd = USUAL_PRIOR_SD
    if len(running[OWN_OUTSIDE_MOVES]) >= MIN_GAMES:
        prior_sd = find_prior_sd(running[OWN_OUTSIDE_MOVES], elos[OWN_OUTSIDE_MOVES])
    finished = find_kappa([*chain.from_iterable(players.values())], prior_sd)
    enough = {node: held for node, held in running.items() if len(held) >= MIN_GAMES}
    dispersion = tuple(
        (node, find_kappa(held, prior_sd)) for node, held in enough.items()
    )
    events = [
        functools.reduce(Evidence.join, games)
        for games in players.values()
        if games[1:]
    ]
    several = len(events) >= MIN_GAMES / 2
    return {
        "prior_sd": prior_sd,
        "dispersion": dispersion or ((NODES[0], finished),),
        "finished_dispersion": finished,
        "event_dispersion": find_kappa(events, prior_sd) if several else finished,
    }


def find_prior_sd(totals: Sequence[Evidence], elos: Sequence[float]) -> float:
    """Return the least ``sigma`` with which at most :data:`OWN_OUTSIDE` of own ratings
    lie outside their usual bands.
    """

    def has_too_many_outside(prior_sd: int) -> bool:
        kappa = find_kappa(totals, prior_sd)
        outside = 0
        for total, elo in zip(totals, elos, strict=True):
            found = read_rating(total._replace(kappa=kappa), prior_sd)
            assert found is not None and found.usual_low is not None
            assert found.usual_high is not None  # the player is rated
            outside += not found.usual_low <= elo <= found.usual_high
        return outside > OWN_OUTSIDE * len(totals)

    sizes = range(LEAST_PRIOR_SD, MOST_PRIOR_SD, PRIOR_SD_STEP)
    at = bisect_left(sizes, True, key=lambda size: not has_too_many_outside(size))
    return float(sizes[min(at, len(sizes) - 1)])


def find_kappa(totals: Sequence[Evidence], prior_sd: float) -> float:
    """Return the ``kappa`` with which usual bands hold :data:`USUAL_SHARE` of
    player-games.
    """

    def find_surplus(kappa: float) -> float:
        figures = [read_rating(each._replace(kappa=kappa), prior_sd) for each in totals]
        held = [is_usual(each) for each in figures if each is not None]
        return sum(held) / len(held) - USUAL_SHARE

    from scipy.optimize import bisect  # where asked for: slow imports

    return round(bisect(find_surplus, LEAST_KAPPA, MOST_KAPPA, xtol=1e-3), 3)


def is_usual(figures: Perceived) -> bool:
    """Return whether a rating lies in its usual band, which there is."""
    assert figures.usual_low is not None and figures.usual_high is not None
    return figures.usual_low <= figures.rating <= figures.usual_high


def _engine(turns: Turns, centre: float) -> tuple[int, tuple[float, float]]:
    """Algorithm 3 over the players, weighted by their moves, and how their differences
    rise.
    """
    n = np.bincount(turns.player)
    score = np.bincount(turns.player, (np.sign(turns.gain_cp) + 1) / 2) / n
    known = (score > 0) & (score < 1)
    if not known.any():
        return round(centre), (0.0, 0.0)
    elo = (np.bincount(turns.player, turns.elo) / n)[known]
    n = n[known]
    difference = np.array(
        [convert_score_to_difference(each) or 0.0 for each in score[known].tolist()]
    )
    z = (elo - centre) / SCALE_ELO
    start, slope = np.polynomial.polynomial.polyfit(
        z, difference, 1, w=np.sqrt(n)
    ).tolist()
    return round(np.average(elo - difference, weights=n)), (
        round(start, 2),
        round(slope, 2),
    )


def _weights(flat: Floats, p: int) -> dict[str, Any]:
    """The fields of a model that are fitted, rounded; ``p``: how many circumstances
    there are.
    """

    def round_row(row: Sequence[float]) -> tuple[float, ...]:
        return tuple(round(each, 4) + 0.0 for each in row)

    rows = [*map(round_row, flat.tolist())]
    return {"level": tuple(rows[:p]), "slope": tuple(rows[p:-1]), "bend": rows[-1]}


# --- judge ----------------------------------------------------------------------------

# How well a model does on players it never saw: what its bands hold, after so many
# moves.
#
# One row a player-game, as arrays; the bounds that must hold are those of ``numbers``
# in the manual.


AFTER = (5, 10, 20, 40)
WHOLE = "whole"
PERCENTILES = (5, 25, 50, 75, 95)
BANDS = ((0, 1600), (1600, 2000), (2000, 2300), (2300, 2600), (2600, 4000))
BEYOND_ELO = 3200
#: From the own Elo.
FAR_ELO = 400
#: Changes of a rating by a move that count as large, within the first moves and later.
EARLY_MOVES = 10
BIG_EARLY_ELO = 100
BIG_LATER_ELO = 60
JUMP_ELO = 300


#: Points of expected score that a move costs, in classes.
LOSSES = (0, 2, 5, 10, 20, 101)
#: Where a move that costs less is nothing, in the same points.
NOTHING = 5.0


class Judged(NamedTuple):
    """Player-games after some of their moves, one row each."""

    game: Floats
    side: Floats
    """0 White, 1 Black."""
    elo: Floats
    level: Floats
    """Of the game (``F``)."""
    won: Floats
    """1 for the winner of the game, -1 for the loser, else 0."""
    rating: Floats
    z: Floats
    """Where the rating lies among those of players rated alike, in standard
    deviations.
    """
    usual_low: Floats
    usual_high: Floats
    inside: Floats
    """1 where the 95 % interval holds the player's Elo, else 0."""
    blind: Floats
    """The rating when everybody starts at one Elo and no rating is used."""


class JudgedMoves(NamedTuple):
    """Moves that changed a rating, one row each: all but the first of each
    player-game.
    """

    counted: Floats
    """How many moves count with it."""
    change: Floats
    """Of the rating, Elo."""
    lost: Floats
    """Points of expected score that it cost; not a number where a score is unknown."""


class Judgement(NamedTuple):
    """What a model makes of players' games."""

    after: dict[str, Judged]
    """After each of ``AFTER`` moves, and whole games as ``whole``."""
    moves: JudgedMoves


def judge(games: Sequence[PlayedGame], model: PerceivedModel, whom: Whom) -> Judgement:
    """Rate the players that ``whom`` names by ``model``, after each of their moves."""
    reader = MoveReader((model,))
    found: dict[str, list[tuple[float, ...]]] = {
        str(when): [] for when in (*AFTER, WHOLE)
    }
    changes: list[tuple[float, ...]] = []
    for index, (game, sides) in enumerate(
        zip(games, chosen_sides(games, whom), strict=True)
    ):
        if not sides:
            continue
        moves = list(follow(game, reader, model.shared))
        # Without ratings nothing is known of the game's hardness.
        blind = list(follow(game, reader, ((0, 0.0),), level=model.mean_elo))
        level = estimate_level(game.white.elo, game.black.elo, model.mean_elo)
        for color in sides:
            side = COLORS.index(color)
            mine = [each for each in moves if each.color == color]
            unrated = [each.total for each in blind if each.color == color]
            elo = float(game.sides[side].elo or 0)
            about = (index, side, elo, level, _won(game, color))
            whens = {str(n): n for n in AFTER if n <= len(mine)} | {WHOLE: len(mine)}
            for when, n in whens.items():
                kappa = reader.dispersion.find_factor(n, over=when == WHOLE)
                total = mine[n - 1].total._replace(kappa=kappa)
                figures = _figures(total, elo, unrated[n - 1], reader.prior_sd)
                found[when].append((*about, *figures))
            changes += _changes(game, mine, reader.prior_sd)
    return Judgement(
        {
            when: Judged(*_columns(rows, len(Judged._fields)))
            for when, rows in found.items()
        },
        JudgedMoves(*_columns(changes, len(JudgedMoves._fields))),
    )


def _columns(rows: Sequence[tuple[float, ...]], count: int) -> Floats:
    columns: Floats = np.array(rows, dtype=np.float64).reshape(-1, count).T
    return columns


def _won(game: PlayedGame, color: Color) -> int:
    winner = {"1-0": "white", "0-1": "black"}.get(game.result)
    if winner is None:
        return 0
    return 1 if winner == color else -1


def _figures(
    total: Evidence, elo: float, blind: Evidence, prior_sd: float
) -> tuple[float, ...]:
    """Return the columns of :class:`Judged` from ``rating`` on."""
    seen = read_rating(total, prior_sd)
    unrated = read_rating(blind, prior_sd)
    assert seen is not None and unrated is not None  # a move is counted
    assert (
        seen.usual_low is not None and seen.usual_high is not None
    )  # and the player is rated
    least, most = find_limits(total.peers, total.kappa, SURE_QUANTILE)
    own = min(max(elo, LEAST_ELO), MOST_ELO)
    least_own, slope, most_own = (
        float(np.interp(own, GRID_ELO, each)) for each in (least, total.slope, most)
    )
    inside = least_own <= slope <= most_own
    usual = seen.usual_low, seen.usual_high
    return (
        seen.rating,
        locate_rating(total, seen.rating),
        *usual,
        inside,
        unrated.rating,
    )


def _changes(
    game: PlayedGame, moves: Sequence[FollowedMove], prior_sd: float
) -> Iterator[tuple[float, ...]]:
    """Yield the rows of :class:`JudgedMoves` of one side."""
    before: float | None = None
    for counted, move in enumerate(moves, 1):
        found = read_rating(move.total, prior_sd)
        assert found is not None  # a move is counted
        if before is not None:
            yield counted, found.rating - before, lost_points(game, move.turn.ply)
        before = found.rating


def lost_points(game: PlayedGame, ply: int) -> float:
    """Return what the move at ``ply`` cost its player of the expected score, 0 to 100.

    Not a number where the score of a position is unknown. A gain costs nothing.
    """
    if ply >= len(game.scores_cp):
        return math.nan
    before = game.scores_cp[ply - 1]
    after = game.scores_cp[ply]
    if before is None or after is None:
        return math.nan
    sign = 1 if ply % 2 else -1
    lost = compute_expected_score(sign * before) - compute_expected_score(sign * after)
    return max(0.0, 100 * lost)


def summary(of: Judged) -> dict[str, Any]:
    """Return the figures of one row of the table."""
    if not len(of.elo):
        return {"n": 0}
    elo = np.clip(of.elo, LEAST_ELO, MOST_ELO)
    pairs = _pairs(of)
    below = [
        float((of.z < NormalDist().inv_cdf(each / 100)).mean()) for each in PERCENTILES
    ]
    return {
        "n": len(of.elo),
        "percentile_below": dict(
            zip(map(str, PERCENTILES), map(rounded, below), strict=True)
        ),
        "pair_r": _r(*pairs),
        "pairs": len(pairs[0]),
        "rms": round(float(np.sqrt(((of.rating - of.elo) ** 2).mean())), 1),
        "usual_holds": share(usual_holds(of)),
        "interval_holds": share(of.inside),
        "own_outside": share((elo < of.usual_low) | (elo > of.usual_high)),
        "beyond_3200": share(of.rating > BEYOND_ELO),
        "beyond_400": share(np.abs(of.rating - of.elo) > FAR_ELO),
        "blind_r": _r(of.blind, of.elo),
        "bands": [_band(of, *band) for band in BANDS],
    }


def summarise_moves(judged: Judgement) -> dict[str, Any]:
    """Return how restless ratings are, and how they answer drama; shares are 0 to 1."""
    moves = judged.moves
    whole = judged.after[WHOLE]
    size = np.abs(moves.change)
    early = moves.counted <= EARLY_MOVES
    big_later = ~early & (size >= BIG_LATER_ELO)
    known = ~np.isnan(moves.lost)
    medians = []
    for least, most in pairwise(LOSSES):
        lost = ~early & known & (moves.lost >= least) & (moves.lost < most)
        medians.append(
            round(float(np.median(moves.change[lost])), 1) if lost.any() else None
        )
    ahead = _lead_of_winners(whole)
    return {
        "n": len(size),
        "mean_change_early": _mean(size[early]),
        "mean_change_later": _mean(size[~early]),
        "big_early": share(size[early] >= BIG_EARLY_ELO),
        "big_later": share(size[~early] >= BIG_LATER_ELO),
        "big_for_nothing": share(moves.lost[big_later & known] < NOTHING),
        "median_by_loss": medians,
        "beyond_300": share(size > JUMP_ELO),
        "decided": len(ahead),
        "winner_above": share(ahead > 0),
        "winner_100_below": share(ahead <= -100),
        "beyond_400": {
            when: share(np.abs(of.rating - of.elo) > FAR_ELO)
            for when, of in judged.after.items()
            if when in ("10", "20")
        },
    }


def _mean(values: Floats) -> float | None:
    return round(float(values.mean()), 1) if len(values) else None


def _lead_of_winners(of: Judged) -> Floats:
    """Return by how much the winners of decided games are rated above the losers,
    Elo.
    """
    won = of.won > 0
    lost = of.won < 0
    _, at, there = np.intersect1d(of.game[won], of.game[lost], return_indices=True)
    ahead: Floats = of.rating[won][at] - of.rating[lost][there]
    return ahead


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
    white = of.side == 0
    black = of.side == 1
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
