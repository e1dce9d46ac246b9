"""One player's figures over all games of the event, from what each game says. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from live.events import ChoiceEvidence, Player
from live.ledger.calibrations_in_use import ELO_DECIMALS, rounded
from live.ledger.game.game_strength import PERCENT_DECIMALS, level_figures
from live.ratings.calibration.move_evidence import Population
from live.ratings.strength.agreement import ChoiceModel, log_e_value
from live.ratings.strength.loss_model import GRID_ELO, Floats, LossModel, alone
from live.ratings.strength.performance import (
    GAMES_CORRELATION,
    PlayedAgainst,
    Results,
    development,
    fide_performance,
    human_join,
    log_likelihood_of,
    moves_of,
    performance_of,
    rating_change,
)

Performed = tuple[LossModel | None, Results | None, PlayedAgainst]

#: A field of which nothing is known.
UNKNOWN_FIELD = Population(2000.0, 400.0)
#: No percentile of a game is taken as nearer to 0 or 100 than this.
_UTMOST = 1.0


class EventFigures:
    """The figures of one player. Most news changes what a game promises and no move, so the parts
    that rest on moves and results are kept until these are others.
    """

    __slots__ = ("_made",)

    def __init__(self) -> None:
        # Each part with what it was made from.
        self._made: dict[str, tuple[tuple[Any, ...], Any]] = {}

    def of(
        self,
        games: Mapping[str, Performed],
        player: Player,
        field: Callable[[], Population],
        forecast: ChoiceModel | None = None,
    ) -> dict[str, Any]:
        """The fields of :class:`live.events.PlayerView`, over the games of one kind with the most
        moves: ratings of different kinds of games are not one scale.
        """
        kinds: dict[str, int] = {}
        for model, results, game in games.values():
            kind = _kind(model, results)
            kinds[kind] = kinds.get(kind, 0) + 1 + game.moves
        if not kinds:
            return {}
        best = max(kinds, key=lambda kind: (kinds[kind], kind))
        held = [each for _, each in sorted(games.items()) if _kind(each[0], each[1]) == best]
        model, results, _ = held[0]
        played = [each for _, _, each in held]
        # Arrays are replaced whole; choices are added in place, and taking one back begins anew.
        moves = [(_Same(game.log_likelihood), _Same(game.human), game.moves) for game in played]
        of_moves = self._kept("likelihood", (moves, _Same(model)), lambda: moves_of(model, played))
        found = performance_of(model, results, played, of_moves)
        figures = {
            "performance": rounded(found.elo, ELO_DECIMALS) if found else None,
            "performance_low": rounded(found.low, ELO_DECIMALS) if found else None,
            "performance_high": rounded(found.high, ELO_DECIMALS) if found else None,
        }
        over = [(game.opponent_elo, game.ends) for game in played if game.over]
        figures |= self._kept("official", (over, player), lambda: _official(played, player))
        choices = [(_Same(game.choices), game.choices.moves) for game in played if game.choices]
        figures["agreement"] = self._kept(
            "agreement", (choices, _Same(forecast)), lambda: _agreement(played, forecast)
        )
        if model is not None:
            elo, known = player.elo, model
            prior = field() if elo is None else None
            others = [(game.percentile, game.over) for game in played]
            figures |= self._kept(
                "moves",
                (moves, others, _Same(model), elo, prior),
                lambda: _of_moves(known, played, elo, field),
            )
        return figures

    def _kept(self, part: str, made_from: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        held = self._made.get(part)
        if held is None or held[0] != made_from:
            held = self._made[part] = made_from, make()
        return held[1]


class _Same:
    """Equal to the very same object only: arrays that are replaced whole, and models."""

    __slots__ = ("_held",)

    def __init__(self, held: object) -> None:
        self._held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._held is self._held

    __hash__ = None  # type: ignore[assignment]


def _agreement(
    played: Sequence[PlayedAgainst], forecast: ChoiceModel | None
) -> ChoiceEvidence | None:
    games = [game.choices for game in played if game.choices is not None and game.choices.moves]
    if forecast is None or not games:
        return None
    return ChoiceEvidence(
        sum(game.moves for game in games),
        sum(game.matches for game in games),
        round(sum(game.expected for game in games), 2),
        round(log_e_value(games, forecast.player_sd, forecast.game_sd), 3),
    )


def _kind(model: LossModel | None, results: Results | None) -> str:
    return f"{model.name if model else ''} {results.time_control if results else ''}"


def _official(played: Sequence[PlayedAgainst], player: Player) -> dict[str, Any]:
    """By FIDE's rules, over finished games against rated opponents."""
    finished = [
        (game.opponent_elo, game.ends.score)
        for game in played
        if game.over and game.opponent_elo is not None and game.ends is not None
    ]
    if not finished:
        return {}
    opponents, points = [each for each, _ in finished], sum(each for _, each in finished)
    figures: dict[str, Any] = {"fide_performance": fide_performance(opponents, points)}
    if player.elo is not None:
        k = player.k or development(player.elo)
        change = rating_change(player.elo, finished, k)
        figures |= {
            "rating_change": rounded(change, ELO_DECIMALS),
            "rating_k": k,
            "rating_k_listed": player.k is not None,
        }
    return figures


def _of_moves(
    model: LossModel,
    played: Sequence[PlayedAgainst],
    elo: int | None,
    field: Callable[[], Population],
) -> dict[str, Any]:
    told = [game for game in played if game.moved]
    if not told:
        return {}
    moves = sum(game.moves for game in told)
    # Damped game by game, since the moves of one game are alike; what is made of it damps once
    # more by all moves, so that is taken out.
    alike = 1 + (len(told) - 1) * GAMES_CORRELATION
    total: Floats = np.zeros(len(GRID_ELO))
    human = human_join(model, told)
    for game in told:
        by = model.weight(game.moves) / alike
        total = total + log_likelihood_of(model, game, human) * by
    total = total / model.weight(moves)
    over = len(told) == 1 and told[0].over
    said = alone(model, total, moves, over=over, human=human)
    ranks = [game.percentile for game in played if game.percentile is not None]
    return {
        "alone": rounded(said.elo, ELO_DECIMALS) if said else None,
        "alone_low": rounded(said.low, ELO_DECIMALS) if said else None,
        "alone_high": rounded(said.high, ELO_DECIMALS) if said else None,
        **level_figures(model, total, moves, elo, field),
        "percentile": rounded(pooled_percentile(ranks), PERCENT_DECIMALS),
    }


def pooled_percentile(ranks: Sequence[float]) -> float | None:
    """Of several games together: the mean of their normal scores (Stouffer), as a percentile among
    players who played as many. None without one.
    """
    if not ranks:
        return None
    scores = [float(ndtri(min(max(rank, _UTMOST), 100 - _UTMOST) / 100)) for rank in ranks]
    if len(scores) == 1:
        return ranks[0]
    return 100 * float(ndtr(math.fsum(scores) / math.sqrt(len(scores))))
