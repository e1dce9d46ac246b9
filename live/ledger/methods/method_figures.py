"""The figures of the methods beside Ferreira's, from one game or several pooled. Pure.

What cannot be said is null and has its reason beside it. Sums over games do not depend on the
order of the games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from live.events import Share
from live.ledger.calibrations_in_use import rounded
from live.ledger.methods.move_quality import SideQuality
from live.ratings.score_interval import GameScores, clustered_interval

SHARE_DECIMALS = 4
PERCENT_DECIMALS = 2

NO_CHOICE = "no engine's first choice to compare with"
NO_MOVE = "no move yet"


def move_figures(sides: Sequence[SideQuality]) -> dict[str, Any]:
    """The fields of :class:`live.events.MoveMethods`, pooled over ``sides``."""
    missing: dict[str, str] = {}
    shares = {
        "conformance": share(tuple([(s.raw.n, s.raw.within) for s in sides])),
        "guid_bratko": share(tuple([(s.guid_bratko.n, s.guid_bratko.within) for s in sides])),
        "ponderated": share(tuple([(s.ponderated.n, s.ponderated.within) for s in sides])),
        "first_choice": share(tuple([(s.choices, s.matches) for s in sides])),
    }
    unchosen = bool(sides) and all(side.unchosen for side in sides)
    for name, found in shares.items():
        if found.share is None:
            first = 9 if name == "first_choice" else 10
            missing[name] = NO_CHOICE if unchosen else f"no counted move yet (from move {first} on)"
    accuracy = _over_games([(s.accuracy.so_far, s.accuracy.moves) for s in sides])
    loss = _over_games([(s.loss.so_far_cp, s.loss.moves) for s in sides])
    unscored = sum([side.accuracy.missing for side in sides])
    for name, so_far in (("accuracy", accuracy), ("centipawn_loss", loss)):
        if so_far is None:
            missing[f"{name}_so_far"] = "no scored move yet"
        if unscored:
            missing[name] = f"{unscored} moves not scored" if unscored > 1 else "1 move not scored"
        elif so_far is None:
            missing[name] = "no move that counts yet"
    return {
        **shares,
        "centipawn_loss": None if unscored else loss,
        "centipawn_loss_so_far": loss,
        "accuracy": None if unscored else accuracy,
        "accuracy_so_far": accuracy,
        "missing": missing,
    }


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
