"""Figures for events whose perceived ratings nobody computed: made up, the same at
every run, so that screens can be drawn with everything there is to show.
"""

from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, Literal

import msgspec

from live.catalogue import EARLY_MOVES, LEAST_MOVES
from live.messages.figures import (
    CurvePoint,
    Curves,
    EngineInfo,
    GameDetail,
    PlayerView,
    PlyView,
)

Kind = Literal["open", "elite", "unrated"]
"""An open with rated players, a field above 2700, a club event without a single rating.
"""

#: Half of a usual band, Elo, and of what the moves alone say.
_USUAL, _ALONE = 300.0, 850.0


def engine_of(engine: EngineInfo, *, native: bool) -> EngineInfo:
    """The embedded engine, or a native one that no model was learned with."""
    if not native:
        return engine
    return msgspec.structs.replace(
        engine, name="Stockfish 15.1", note="read through the ratio of its centipawns"
    )


def elo_of(elo: int | None, kind: Kind) -> int | None:
    """The same player in another field."""
    if kind == "unrated":
        return None
    base = elo or 1900
    return 2700 + base % 120 if kind == "elite" else base


def game_with_figures(game: GameDetail, kind: Kind = "open") -> GameDetail:
    """Curves with perceived ratings; odds of every scored position."""
    white = msgspec.structs.replace(game.white, elo=elo_of(game.white.elo, kind))
    black = msgspec.structs.replace(game.black, elo=elo_of(game.black.elo, kind))
    level = ((white.elo or 1900) + (black.elo or 1900)) / 2
    return msgspec.structs.replace(
        game,
        white=white,
        black=black,
        curves=Curves(
            white=_curve(game.curves.white, white.elo, level),
            black=_curve(game.curves.black, black.elo, level),
        ),
        plies=tuple(_with_odds(ply) for ply in game.plies),
    )


def player_with_figures(view: PlayerView, kind: Kind = "open") -> PlayerView:
    """A player's figures over the event."""
    view = msgspec.structs.replace(view, elo=elo_of(view.elo, kind))
    if not view.counted or view.score is None:
        return view
    return msgspec.structs.replace(
        view, **_figures(view.counted, view.score, view.elo, view.elo or 1900.0)
    )


def _curve(
    points: Sequence[CurvePoint], elo: int | None, level: float
) -> tuple[CurvePoint, ...]:
    return tuple(
        msgspec.structs.replace(
            point, **_figures(point.counted, point.score, elo, level)
        )
        for point in points
    )


def _figures(
    counted: int, score: float, elo: int | None, level: float
) -> dict[str, Any]:
    """Of so many moves with this score against the engine, pulled to the level of the
    game.
    """
    if counted < LEAST_MOVES:
        return {"perceived": None, "reason": "early"}
    weight = counted / (counted + 30)
    perceived = level + weight * 2500 * (score - 0.35)
    found: dict[str, Any] = {
        "perceived": round(perceived),
        "low": round(perceived - _ALONE),
        "high": round(perceived + _ALONE),
        "reason": None,
    }
    if elo is not None and counted >= EARLY_MOVES:
        middle = level + weight * (elo - level)
        half = _USUAL * min(1.0, 0.4 + counted / 20)
        place = NormalDist(middle, half / 1.2816).cdf(perceived)
        found |= {
            "usual_low": round(middle - half),
            "usual_high": round(middle + half),
            "percentile": round(100 * place, 1),
        }
    return found


def _with_odds(ply: PlyView) -> PlyView:
    if ply.score_cp is None:
        return ply
    share = 1 / (1 + 10 ** (-max(-1500, min(1500, ply.score_cp)) / 400))
    draw = 0.9 * min(share, 1 - share)
    return msgspec.structs.replace(ply, win=share - draw / 2, draw=draw)
