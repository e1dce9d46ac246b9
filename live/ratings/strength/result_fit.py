"""Learn how positions end, from games with their scores and from results alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from live.ratings.held_out import judges
from live.ratings.strength.expected_result import WITHOUT_ELO, ResultModel, features
from live.ratings.strength.loss_model import Floats
from live.ratings.strength.played_games import PlayedGame

#: A game teaches at every so many plies.
EVERY_PLIES = 4
#: Precision of the normal prior on a weight.
PRECISION = 1.0
#: What engines say of the usual starting position, centipawns.
START_CP = 23

_ENDS = {"1-0": 0, "1/2-1/2": 1, "0-1": 2}


class ScoredPosition(NamedTuple):
    """A position of a finished game."""

    score_cp: int
    """White's side."""
    ply: int
    white_elo: float
    black_elo: float
    end: int
    """0 White won, 1 draw, 2 Black won."""


class Result(NamedTuple):
    """A finished game of which nothing but the players is known."""

    white_elo: float
    black_elo: float
    result: str


def positions(games: Iterable[PlayedGame], every: int = EVERY_PLIES) -> list[ScoredPosition]:
    """Every so many plies of finished games of two rated players."""
    found = []
    for game in games:
        end = _ENDS.get(game.result)
        if end is None or game.white.elo is None or game.black.elo is None:
            continue
        for ply in range(0, len(game.scores_cp), every):
            score = game.scores_cp[ply]
            if score is not None:
                found.append(ScoredPosition(score, ply, game.white.elo, game.black.elo, end))
    return found


def learn_results(
    games: Sequence[PlayedGame],
    results: Iterable[Result] = (),
    *,
    name: str,
    time_control: str,
    data: str,
    date: str,
    without: Callable[[str], bool] = judges,
) -> ResultModel:
    """Learn from games with scores, and from ``results`` as positions before the first move.

    Games with a player ``without`` names teach nothing.
    """
    taught = [game for game in games if not any(without(side.player) for side in game.sides)]
    rows = positions(taught)
    rows += [
        ScoredPosition(START_CP, 0, each.white_elo, each.black_elo, _ENDS[each.result])
        for each in results
        if each.result in _ENDS
    ]
    if not rows:
        raise ValueError("no finished game of two rated players to learn results from")
    centre = float(round(np.mean([(row.white_elo + row.black_elo) / 2 for row in rows])))
    short = len(WITHOUT_ELO)
    sides = [
        np.array(
            [
                features(
                    row.score_cp if white else -row.score_cp,
                    row.ply,
                    white,
                    row.white_elo if white else row.black_elo,
                    row.black_elo if white else row.white_elo,
                    centre,
                )
                for row in rows
            ]
        )
        for white in (True, False)
    ]
    ends = np.array([row.end for row in rows])
    return ResultModel(
        name=name,
        time_control=time_control,
        data=data,
        date=date,
        games=len(taught),
        positions=len(rows),
        centre_elo=centre,
        rated=_fit(sides[0], sides[1], ends),
        unrated=_fit(sides[0][:, :short], sides[1][:, :short], ends),
    )


def _fit(white: Floats, black: Floats, ends: Floats) -> tuple[float, ...]:
    won, lost = ends == 0, ends == 2

    def loss(weights: Floats) -> tuple[float, Floats]:
        odds = white @ weights, black @ weights
        top = np.maximum(0, np.maximum(*odds))
        win, lose, draw = np.exp(odds[0] - top), np.exp(odds[1] - top), np.exp(-top)
        total = win + lose + draw
        fit = float((won * odds[0] + lost * odds[1] - top - np.log(total)).sum())
        rise = white.T @ (won - win / total) + black.T @ (lost - lose / total)
        return 0.5 * PRECISION * float(weights @ weights) - fit, PRECISION * weights - rise

    found = minimize(loss, np.zeros(white.shape[1]), jac=True, method="L-BFGS-B").x
    return tuple(round(float(each), 4) + 0.0 for each in found)


class LogLoss(NamedTuple):
    """How well results were foreseen; lower is better."""

    positions: int
    points: float
    """Cross-entropy of the points, a draw half of each."""
    ends: float
    """Of win, draw and loss."""


def log_loss(model: ResultModel, rows: Sequence[ScoredPosition], *, rated: bool = True) -> LogLoss:
    """On positions of games that did not teach ``model``."""
    points, ends = [], []
    for row in rows:
        elos = (row.white_elo, row.black_elo) if rated else (None, None)
        chances = model.chances(row.score_cp, row.ply, *elos)
        got = 1 - row.end / 2
        points.append(-got * np.log(chances.score) - (1 - got) * np.log(1 - chances.score))
        ends.append(-np.log(chances[row.end]))
    return LogLoss(len(rows), float(np.mean(points)), float(np.mean(ends)))
