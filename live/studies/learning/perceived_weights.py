"""Fit of a model of perceived ratings to games of rated players.

The weights of the logit are the most likely ones, with a normal prior on each weight
that prevents extreme weights in small samples. The parameters of whole games are
measured on players from whom the weights were not learned: the players are divided into
shares, and each share is rated with weights learned from the other shares. Players who
are held out (``held_out``) are never used.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, get_args

import msgspec
import numpy as np

from live.errors import InputError
from live.messages.figures import GainKind
from live.messages.values import Color
from live.ratings.expected_score import convert_score_to_difference
from live.ratings.move_circumstances import (
    Circumstance,
    Circumstances,
    measure_circumstances,
)
from live.ratings.perceived_model import MoveReader, PerceivedModel
from live.ratings.perceived_rating import (
    GRID_ELO,
    Floats,
)
from live.studies.learning.followed_games import (
    COLORS,
    Followed,
    FollowedSide,
    Ints,
    Shared,
    Which,
    Whom,
    choose_sides,
    follow_game,
)
from live.studies.learning.game_spread import (
    MIN_GAMES,
    NODES,
    STAGES_PLIES,
    USUAL_PRIOR_SD,
    learn_shared,
    learn_spread,
)
from live.studies.learning.held_out import assign_share, is_held_out
from live.studies.learning.perceived_judgement import compute_correlation
from live.studies.learning.played_games import PlayedGame

#: Upper edges of the classes of loss, centipawns.
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
#: Circumstances that the weights use, in the order of the weights. The last two are
#: left out, because the share of players who find the engine's move is not known for
#: every game.
CIRCUMSTANCES: Circumstances = get_args(Circumstance)[:-2]
SCALE_ELO = 400.0
#: Precisions of the normal priors on three kinds of weights: the level of a weight, its
#: slope with Elo, and its bend with Elo.
PRECISION = 2.0
PRECISION_OF_SLOPE = 8.0
PRECISION_OF_BEND = 16.0
#: Largest number of turns to learn from: more do not improve the weights. If there are
#: more, player-games are drawn evenly.
MOST_TURNS = 90_000
#: Smallest number of moves to learn from. With fewer, the prior would outweigh the
#: games.
MIN_MOVES = 1000
#: Number of shares of the players. Each share is rated with weights learned from the
#: others.
FOLDS = 5
#: Smallest correlation between slopes and players' ratings that is accepted. Below it,
#: the model cannot distinguish strong players from weak ones.
LEAST_CORRELATION = 0.2
#: Largest number of games to learn ``beta``, ``kappa`` and ``sigma`` from: more do not
#: improve them.
MOST_GAMES = 2000


class Turns(NamedTuple):
    """Turns of rated players, one row each, sorted by game, then by ply."""

    side: Ints
    """Twice the number of the game, plus 1 for Black."""
    player: Ints
    """Index in the list of players."""
    elo: Floats
    at: Floats
    """Circumstances of each turn, shape (turns, circumstances)."""
    gain_cp: Ints
    classes: Ints

    def select_rows(self, mask: Which) -> Turns:
        """Return the turns that ``mask`` selects."""
        # The arrays are of integers or of floats.
        return Turns(*(column[mask] for column in self))  # type: ignore[arg-type]


def collect_turns(
    games: Sequence[PlayedGame],
    sides_of_games: Sequence[Mapping[Color, str]],
    names: Circumstances,
    edges_cp: Sequence[int],
) -> tuple[Turns, list[str]]:
    """Collect every turn of the chosen sides. Return the turns and the names of the
    players.
    """
    players: dict[str, int] = {}
    rows: list[tuple[int, ...]] = []
    at: list[list[float]] = []
    for index, (game, sides) in enumerate(zip(games, sides_of_games, strict=True)):
        turns = []
        for number, (color, side) in enumerate(zip(COLORS, game.sides, strict=True)):
            if color in sides:
                player_side = index * 2 + number, sides[color], side.elo or 0
                turns += [(turn, *player_side) for turn in side.turns]
        for turn, key, player, elo in sorted(turns, key=lambda entry: entry[0].ply):
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


def fit_perceived_model(
    games: Sequence[PlayedGame],
    *,
    gain: GainKind,
    is_left_out: Whom = is_held_out,
    **about: Any,
) -> PerceivedModel:
    """Learn a model from rated games. This takes some seconds for 400 games and returns
    the same model for the same games.

    ``is_left_out`` returns whether a player is left out; ``about`` are the descriptive
    fields of the model.

    Raises:
        InputError: there are fewer than 50 player-games or 1000 moves, or the moves do
            not distinguish strong players from weak ones.
    """
    edges = LOSS_EDGES_CP[gain]
    sides_of_games = choose_sides(games, lambda player: not is_left_out(player))
    turns, players = collect_turns(games, sides_of_games, CIRCUMSTANCES, edges)
    elos = turns.elo[np.unique(turns.side, return_index=True)[1]]
    too_few = functools.partial(
        InputError, about["data"], remedy="Give more games of rated players"
    )
    if len(elos) < MIN_GAMES:
        raise too_few(
            f"{len(elos)} rated player-games: {MIN_GAMES} are needed to learn from"
        )
    if len(turns.elo) < MIN_MOVES:
        raise too_few(
            f"{len(turns.elo)} rated moves: {MIN_MOVES} are needed to learn from"
        )
    names = _list_varying_circumstances(turns)
    turns = turns._replace(
        at=turns.at[:, [CIRCUMSTANCES.index(name) for name in names]]
    )
    changing = tuple(name for name in CHANGING if name in names)
    centre = float(round(float(elos.mean())))
    low, high = np.quantile(elos, (0.025, 0.975)).round().tolist()
    engine_rating, difference = _estimate_engine(turns, centre)
    fit = functools.partial(_fit, names, changing, centre, len(edges) + 1)
    weights = fit(turns)
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
        **_round_weights(weights, len(names)),
        shared=tuple((last, 0.0) for last in STAGES_PLIES),
        dispersion=((NODES[0], 1.0),),
        finished_dispersion=1.0,
        event_dispersion=1.0,
        prior_sd=USUAL_PRIOR_SD,
    )
    share = np.array([assign_share(player, FOLDS) for player in players])
    readers = []
    for fold in range(FOLDS):
        is_learned_from = share[turns.player] != fold
        apart_model = model
        if fold in share and is_learned_from.any():
            apart_weights = fit(turns.select_rows(is_learned_from), weights)
            apart_model = msgspec.structs.replace(
                model, **_round_weights(apart_weights, len(names))
            )
        readers.append(MoveReader((apart_model,)))
    follow = functools.partial(_follow_games, games, sides_of_games, readers)
    shared = learn_shared(follow(((0, 1.0),)))
    if not _can_tell_players_apart(follow(shared), centre):
        raise too_few("these moves do not tell strong from weak players")
    return msgspec.structs.replace(model, shared=shared, **learn_spread(follow(shared)))


def _list_varying_circumstances(turns: Turns) -> Circumstances:
    """Return the circumstances that differ between turns: only their weights can be
    learned.
    """
    columns = zip(CIRCUMSTANCES, turns.at.T, strict=True)
    return tuple(
        name for name, column in columns if name == "always" or np.ptp(column) > 0
    )


def _follow_games(
    games: Sequence[PlayedGame],
    sides_of_games: Sequence[Mapping[Color, str]],
    readers: Sequence[MoveReader],
    shared: Shared,
) -> Followed:
    """Yield player-games, each rated with weights learned from other players:
    ``readers`` has one reader for each share of the players.
    """
    for index in _draw_games(sides_of_games):
        for color, player in sides_of_games[index].items():
            reader = readers[assign_share(player, FOLDS)]
            moves = follow_game(games[index], reader, shared)
            own = [move for move in moves if move.color == color]
            elo = games[index].sides[COLORS.index(color)].elo or 0
            yield FollowedSide(index, player, float(elo), own)


def _can_tell_players_apart(sides: Followed, elo: float) -> bool:
    """Return whether the model distinguishes strong players from weak ones: the
    players' slopes at the Elo ``elo`` must correlate sufficiently with their own
    ratings.
    """
    slopes: list[float] = []
    elos: list[float] = []
    for side in sides:
        slopes.append(float(np.interp(elo, GRID_ELO, side.moves[-1].total.slope)))
        elos.append(side.elo)
    correlation = compute_correlation(np.array(slopes), np.array(elos))
    return correlation is not None and correlation >= LEAST_CORRELATION


def _draw_games(sides_of_games: Sequence[Mapping[Color, str]]) -> list[int]:
    """Return the numbers of at most :data:`MOST_GAMES` games with chosen sides, drawn
    evenly.
    """
    indices = [index for index, sides in enumerate(sides_of_games) if sides]
    step = -(-len(indices) // MOST_GAMES) or 1
    return indices[::step]


def _fit(
    names: Circumstances,
    changing: Circumstances,
    centre: float,
    classes: int,
    turns: Turns,
    start: Floats | None = None,
) -> Floats:
    """Return the most likely weights, shape (circumstances + changing + 1, classes -
    1).
    """
    rows = _thin_turns(turns)
    z = ((rows.elo - centre) / SCALE_ELO)[:, None]
    moving = rows.at[:, [names.index(name) for name in changing]]
    features = np.concatenate([rows.at, moving * z, z * z], axis=1)
    stiff = np.repeat(
        (PRECISION, PRECISION_OF_SLOPE, PRECISION_OF_BEND),
        (len(names), len(changing), 1),
    )[:, None]
    # The weights of the circumstance "always" have a weak prior: the games determine
    # them.
    stiff[0] = 0.01
    stiff[len(names)] = 0.5
    number = np.arange(len(features))
    hit = np.eye(classes)[rows.classes][:, 1:]

    # The import is slow, so it is made only where it is needed.
    from scipy.optimize import minimize
    from scipy.special import log_softmax

    def compute_loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(features.shape[1], classes - 1)
        log = log_softmax(np.pad(features @ weights, ((0, 0), (1, 0))), axis=1)
        fit = float(log[number, rows.classes].sum())
        rise = features.T @ (hit - np.exp(log[:, 1:]))
        penalty = 0.5 * float((stiff * weights**2).sum())
        return penalty - fit, (stiff * weights - rise).ravel()

    size = features.shape[1] * (classes - 1)
    result = minimize(
        compute_loss,
        np.zeros(size) if start is None else start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 150},
    )
    weights: Floats = result.x.reshape(features.shape[1], classes - 1)
    return weights


def _thin_turns(turns: Turns) -> Turns:
    """Return at most about ``MOST_TURNS`` of the turns, in whole player-games."""
    if len(turns.side) <= MOST_TURNS:
        return turns
    # Drawn by the number of the side in its game, so that every run draws the same
    # turns.
    drawn = (turns.side * 2654435761) % 2**32 / 2**32
    return turns.select_rows(drawn < MOST_TURNS / len(turns.side))


def _estimate_engine(turns: Turns, centre: float) -> tuple[int, tuple[float, float]]:
    """Return the engine's rating by Algorithm 3, weighted by players' moves, and the
    line of the players' Elo differences to the engine: its value at ``centre``, and its
    rise per ``SCALE_ELO``.
    """
    n = np.bincount(turns.player)
    score = np.bincount(turns.player, (np.sign(turns.gain_cp) + 1) / 2) / n
    is_bounded = (score > 0) & (score < 1)
    if not is_bounded.any():
        return round(centre), (0.0, 0.0)
    elo = (np.bincount(turns.player, turns.elo) / n)[is_bounded]
    n = n[is_bounded]
    difference = np.array(
        [
            convert_score_to_difference(share) or 0.0
            for share in score[is_bounded].tolist()
        ]
    )
    z = (elo - centre) / SCALE_ELO
    start, slope = np.polynomial.polynomial.polyfit(
        z, difference, 1, w=np.sqrt(n)
    ).tolist()
    return round(np.average(elo - difference, weights=n)), (
        round(start, 2),
        round(slope, 2),
    )


def _round_weights(flat: Floats, p: int) -> dict[str, Any]:
    """Return the fitted fields of a model, by name, rounded. ``p`` is the number of
    circumstances.
    """

    def round_row(row: Sequence[float]) -> tuple[float, ...]:
        return tuple(round(weight, 4) + 0.0 for weight in row)

    rows = [*map(round_row, flat.tolist())]
    return {"level": tuple(rows[:p]), "slope": tuple(rows[p:-1]), "bend": rows[-1]}
