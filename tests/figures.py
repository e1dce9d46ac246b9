"""Figures for events whose ratings were not asked for any: made up, the same at every run, so that
screens can be drawn with everything there is to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from live.events import CurvePoint, Curves, EngineInfo, GameDetail, PlayerView, PlyView

Held = TypeVar("Held", bound=msgspec.Struct)

Kind = Literal["open", "elite", "unrated"]
"""An open with rated players, a field above 2700, a club event without a single rating."""


def engine_of(engine: EngineInfo, *, native: bool) -> EngineInfo:
    """The embedded engine's own calibration, or one transferred to a native engine."""
    if not native:
        return msgspec.structs.replace(engine, calibration="classical", calibration_note="")
    return msgspec.structs.replace(
        engine,
        name="Stockfish 15.1",
        calibration="classical",
        calibration_note="transferred, correlation .98",
    )


def elo_of(elo: int | None, kind: Kind) -> int | None:
    """The same player in another field."""
    if kind == "unrated":
        return None
    base = elo or 1900
    return 2700 + base % 120 if kind == "elite" else base


def game_with_figures(game: GameDetail, kind: Kind = "open") -> GameDetail:
    """Curves with moves alone, level and percentile; odds of every scored position."""
    white = msgspec.structs.replace(game.white, elo=elo_of(game.white.elo, kind))
    black = msgspec.structs.replace(game.black, elo=elo_of(game.black.elo, kind))
    methods = msgspec.structs.replace(
        game.methods,
        white=_performing(game.methods.white, len(game.curves.white), white.elo),
        black=_performing(game.methods.black, len(game.curves.black), black.elo),
    )
    return msgspec.structs.replace(
        game,
        white=white,
        black=black,
        methods=methods,
        curves=Curves(
            white=_curve(game.curves.white, white.elo, kind),
            black=_curve(game.curves.black, black.elo, kind),
        ),
        plies=tuple(_with_odds(ply) for ply in game.plies),
    )


def player_with_figures(view: PlayerView, kind: Kind = "open") -> PlayerView:
    """A player's figures over the event."""
    elo = elo_of(view.elo, kind)
    view = msgspec.structs.replace(view, elo=elo)
    if not view.moves:
        return view
    [point] = _curve((_as_point(view),), elo, kind)
    performing = _performing(view, view.moves, elo)
    names = ("alone", "level", "percentile")
    ends = [
        f"{name}{end}"
        for name in names
        for end in ("", "_low", "_high")
        if hasattr(point, name + end)
    ]
    return msgspec.structs.replace(
        performing,
        calibrated=None,
        calibrated_low=None,
        calibrated_high=None,
        form=None,
        level_share=point.level_share,
        **{name: getattr(point, name) for name in ends},
    )


def _as_point(view: PlayerView) -> CurvePoint:
    return CurvePoint(
        2 * view.moves,
        view.moves,
        round(view.mean_gain_cp or 0),
        view.expected_score or 0.0,
        view.difference,
        view.difference_low,
        view.difference_high,
        view.rating,
        view.low,
        view.high,
    )


def _performing(held: Held, moves: int, elo: int | None) -> Held:
    if not moves:
        return held
    value = (elo or 1750) + 137 - 9 * (moves % 31)
    half = 90 + 900 / moves**0.5
    return msgspec.structs.replace(
        held, performance=value, performance_low=value - half, performance_high=value + half
    )


def _curve(points: Sequence[CurvePoint], elo: int | None, kind: Kind) -> tuple[CurvePoint, ...]:
    return tuple(_point(point, elo, kind) for point in points)


def _point(point: CurvePoint, elo: int | None, kind: Kind) -> CurvePoint:
    strength = (elo or 1800) + 900 * (point.expected_score - 0.4)
    half = 250 + 1500 / point.n**0.5
    first = point.n < 2
    found: dict[str, float | None] = {
        "alone": None if first else strength,
        "alone_low": None if first else strength - half,
        "alone_high": strength + half,
    }
    if kind != "unrated":
        share = min(0.3, point.n / 120)
        level = (elo or 2000) * (1 - share) + strength * share
        found |= {
            "level": level,
            "level_low": level - 220 * (1 - share),
            "level_high": level + 220 * (1 - share),
            "level_share": share,
            "percentile": None if point.n < 5 or not elo else (17 * point.ply) % 100,
        }
    return msgspec.structs.replace(
        point, calibrated=None, calibrated_low=None, calibrated_high=None, form=None, **found
    )


def _with_odds(ply: PlyView) -> PlyView:
    if ply.score_cp is None:
        return ply
    share = 1 / (1 + 10 ** (-max(-1500, min(1500, ply.score_cp)) / 400))
    draw = 0.9 * min(share, 1 - share)
    return msgspec.structs.replace(ply, win=share - draw / 2, draw=draw, loss=1 - share - draw / 2)
