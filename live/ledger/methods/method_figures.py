"""The figures of the methods beside Ferreira's, from one game or several pooled. Pure.

What cannot be said is null and has its reason beside it. Sums over games do not depend on the
order of the games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Protocol

from live.events import Share
from live.ledger.measure import rounded
from live.ledger.methods.move_quality import MoveCounts
from live.ratings.accuracy import Accuracy, CentipawnLoss
from live.ratings.score_interval import GameScores, clustered_interval

SHARE_DECIMALS = 4
PERCENT_DECIMALS = 2

NO_CHOICE = "no engine's first choice to compare with"
NO_MOVE = "no move yet"


class SideOfGame(Protocol):
    """What a game says of one player, for the methods."""

    @property
    def counts(self) -> MoveCounts: ...

    @property
    def accuracy(self) -> Accuracy: ...

    @property
    def loss(self) -> CentipawnLoss: ...


def move_figures(sides: Sequence[SideOfGame]) -> dict[str, Any]:
    """The fields of :class:`live.events.MoveMethods`, pooled over ``sides``."""
    missing: dict[str, str] = {}
    shares = {
        "conformance": share(tuple([side.counts.raw for side in sides])),
        "guid_bratko": share(tuple([side.counts.guid_bratko for side in sides])),
        "ponderated": share(tuple([side.counts.ponderated for side in sides])),
        "first_choice": share(tuple([side.counts.first_choice for side in sides])),
    }
    unchosen = bool(sides) and all(side.counts.unchosen for side in sides)
    for name, found in shares.items():
        if found.share is None:
            first = 9 if name == "first_choice" else 10
            missing[name] = NO_CHOICE if unchosen else f"no counted move yet (from move {first} on)"
    means = {
        "accuracy": _over_games([(s.accuracy.so_far, s.accuracy.moves) for s in sides]),
        "centipawn_loss": _over_games([(s.loss.so_far_cp, s.loss.moves) for s in sides]),
    }
    missing |= {name: "no scored move yet" for name, mean in means.items() if mean is None}
    return {**shares, **means, "missing": missing}


# Most news leaves most shares as they are.
@lru_cache(maxsize=4096)
def share(games: tuple[tuple[int, int], ...]) -> Share:
    """A share over games of ``(moves, those counted in)``, interval clustered by game."""
    scores = [GameScores(n, within, within) for n, within in games if n]
    n = sum(score.n for score in scores)
    if not n:
        return Share()
    ends = clustered_interval(scores)
    low, high = ends if ends is not None else (None, None)
    return Share(
        share=rounded(sum(score.total for score in scores) / n, SHARE_DECIMALS),
        low=rounded(low, SHARE_DECIMALS),
        high=rounded(high, SHARE_DECIMALS),
        moves=n,
    )


def _over_games(games: Iterable[tuple[float | None, int]]) -> float | None:
    """Mean over games, weighted by their moves; None without a move."""
    known = [(value, moves) for value, moves in games if value is not None and moves]
    if not known:
        return None
    total = math.fsum([value * moves for value, moves in known])
    return rounded(total / sum([moves for _, moves in known]), PERCENT_DECIMALS)
