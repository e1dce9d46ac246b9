"""Learn how often the engine's first choice is played, and how far players and games differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from live.ratings.agreement import (
    ChoiceModel,
    GameChoices,
    HumanChoices,
    counts,
    log_likelihoods,
)
from live.ratings.perceived_model import Circumstance, measured
from live.ratings.perceived_rating import Floats
from live.studies.perceived_games import PlayedGame, PlayedSide
from live.studies.perceived_learning import SHARES, judges, share_of

_HUMAN: tuple[Circumstance, ...] = ("found", "found_squared")
_NAMES: tuple[Circumstance, ...] = (
    "always",
    "early",
    "late",
    "ahead",
    "behind",
    "level",
    "instability",
    "jump",
    "choices",
    "pieces",
    "captures",
    "recapture",
    "check",
)
CENTRE_ELO, SCALE_ELO = 2100.0, 400.0
#: Spreads that are tried, log-odds.
_OF_PLAYERS = (0.05, 0.08, 0.12, 0.16, 0.2)
_OF_GAMES = (0.08, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4)


def learn_choices(
    games: Sequence[PlayedGame],
    *,
    name: str,
    engine: str,
    limit: str,
    data: str,
    date: str,
    network: str = "",
    without: Callable[[str], bool] = judges,
) -> ChoiceModel:
    """Learn from searched games; the spreads are those under which games of players who did not
    teach the forecast are likeliest. ``network`` is whose answers say of the turns how many people
    choose the engine's move, where it was asked. Raises ValueError without a choice to learn from.
    """
    sides = [
        side
        for game in games
        for side in game.sides
        if side.elo is not None and side.first_choices and not without(side.player)
    ]
    plain = _learned(sides, _NAMES, all_turns=True)
    spreads = [_spreads(sides, plain)]
    human: HumanChoices | None = None
    if network:
        known = _learned(sides, (*_NAMES, *_HUMAN), all_turns=False)
        # One pair of spreads holds for all choices: the wider makes evidence weaker.
        spreads.append(_spreads(sides, known))
        human = HumanChoices(
            network=network,
            circumstances=(*_NAMES, *_HUMAN),
            weights=known.weights,
            slope=known.slope,
        )
    player_sd, game_sd = (max(each) for each in zip(*spreads, strict=True))
    return ChoiceModel(
        name=name,
        engine=engine,
        limit=limit,
        data=data,
        date=date,
        games=len(sides),
        moves=sum(len(rows) for rows, _ in plain.told),
        centre_elo=CENTRE_ELO,
        scale_elo=SCALE_ELO,
        circumstances=_NAMES,
        weights=plain.weights,
        slope=plain.slope,
        player_sd=player_sd,
        game_sd=game_sd,
        human=human,
    )


class _Learned(NamedTuple):
    told: list[tuple[Floats, Floats]]
    """Of each side, circumstances and choices."""
    log_odds: Floats
    """Of all choices, by what the other players taught."""
    weights: tuple[float, ...]
    slope: float


def _learned(
    sides: Sequence[PlayedSide], names: tuple[Circumstance, ...], *, all_turns: bool
) -> _Learned:
    told = [_rows(side, names, all_turns=all_turns) for side in sides]
    if not any(len(rows) for rows, _ in told):
        raise ValueError("no choice of a rated player to learn from")
    at = np.concatenate([rows for rows, _ in told])
    chosen = np.concatenate([choices for _, choices in told])
    share = np.concatenate(
        [
            np.full(len(rows), share_of(side.player))
            for side, (rows, _) in zip(sides, told, strict=True)
        ]
    )
    log_odds = np.zeros(len(at))
    for one in range(SHARES):
        if (share == one).any():
            log_odds[share == one] = at[share == one] @ _fit(at[share != one], chosen[share != one])
    *weights, slope = (round(float(each), 4) + 0.0 for each in _fit(at, chosen))
    return _Learned(told, log_odds, tuple(weights), slope)


def _rows(
    side: PlayedSide, names: tuple[Circumstance, ...], *, all_turns: bool
) -> tuple[Floats, Floats]:
    """Circumstances and Elo of the choices that count, and whether they were the engine's."""
    assert side.elo is not None
    z = (side.elo - CENTRE_ELO) / SCALE_ELO
    counted = [
        ([*measured(turn, names), z], choice)
        for turn, choice in zip(side.turns, side.first_choices, strict=True)
        if counts(turn) and (all_turns or turn.found is not None)
    ]
    rows = np.array([row for row, _ in counted]).reshape(-1, len(names) + 1)
    return rows, np.array([choice for _, choice in counted], dtype=np.float64)


def _fit(at: Floats, chosen: Floats) -> Floats:
    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = at @ weights
        fit = float(chosen @ odds - np.logaddexp(0, odds).sum())
        rise = at.T @ (chosen - 1 / (1 + np.exp(-odds)))
        return 0.5 * float(weights @ weights) - fit, weights - rise

    found: Floats = minimize(loss, np.zeros(at.shape[1]), jac=True, method="L-BFGS-B").x
    return found


def _spreads(sides: Sequence[PlayedSide], learned: _Learned) -> tuple[float, float]:
    by_player: dict[str, list[GameChoices]] = {}
    at = 0
    for side, (_, chosen) in zip(sides, learned.told, strict=True):
        game = GameChoices()
        for match in chosen.tolist():
            game = game.after(float(learned.log_odds[at]), bool(match))
            at += 1
        by_player.setdefault(side.player, []).append(game)
    return max(
        product(_OF_PLAYERS, _OF_GAMES),
        key=lambda spreads: sum(
            float(log_likelihoods(played, *spreads)[0]) for played in by_player.values()
        ),
    )
