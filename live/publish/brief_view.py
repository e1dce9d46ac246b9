"""What a stream with ``detail=brief`` carries: what overlays show, and nothing else. Pure.

A grid of a whole round needs every game, but no gains, no other methods, and no figure finer than a
screen shows it. Fields are left out, none is renamed: each has a default in :mod:`live.events`, so
a client needs no second set of types. Every message is made brief by itself, so a snapshot and the
changes after it agree.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from live import events


class BriefDifficulty(msgspec.Struct, frozen=True, gc=False):
    """What is left of :class:`live.events.DifficultyView`."""

    elo: int | None
    best: str
    error_chance: float | None


class BriefPly(msgspec.Struct, frozen=True, gc=False):
    """What is left of :class:`live.events.PlyView`."""

    ply: int
    san: str
    uci: str
    clock_s: float | None
    score_cp: int | None
    mate: int | None
    final: bool
    best: str | None
    win: float | None
    draw: float | None
    loss: float | None
    played_share: float | None
    played_elo: int | None
    mark: str | None
    difficulty: BriefDifficulty | None


class BriefPoint(msgspec.Struct, frozen=True, gc=False):
    """:class:`live.events.CurvePoint` in whole Elo."""

    ply: int
    n: int
    counted: int
    gain_cp: int
    perceived: int | None
    low: int | None
    high: int | None
    usual_low: int | None
    usual_high: int | None
    percentile: int | None
    score: float
    difference: int | None
    difference_low: int | None
    difference_high: int | None


def brief(message: msgspec.Struct) -> msgspec.Struct:
    """The message as a brief stream carries it. For encoding: its parts are of other types."""
    parts: dict[str, Any]
    match message:
        case events.SnapshotMessage():
            games, players = map(_game, message.games), map(_player, message.players)
            parts = {"games": tuple(games), "players": tuple(players)}
        case events.MoveMessage(move=events.PlyView() as ply):
            parts = {"move": _ply(ply)}
        case events.ScoreMessage():
            parts = {"ply": _ply(message.ply)}
        case events.ClockMessage():
            parts = {"spent_s": None}
        case events.PointMessage():
            parts = {"point": _point(message.point)}
        case events.GameMessage():
            parts = {"game": msgspec.structs.replace(message.game, methods=events.GameMethods())}
        case events.StandingMessage():
            parts = {"player": _player(message.player)}
        case _:
            return message
    return msgspec.structs.replace(message, **parts)


def _game(game: events.GameDetail) -> events.GameDetail:
    parts: dict[str, Any] = {
        "plies": tuple(map(_ply, game.plies)),
        "curves": events.Curves(
            *(tuple(map(_point, curve)) for curve in (game.curves.white, game.curves.black))  # type: ignore[arg-type]
        ),
    }
    return msgspec.structs.replace(game, methods=events.GameMethods(), **parts)


def _player(player: events.PlayerView) -> events.PlayerView:
    """What ranks stays as it is."""
    return msgspec.structs.replace(
        player,
        methods=events.PlayerMethods(),
        agreement=None,
    )


def _ply(ply: events.PlyView) -> BriefPly:
    hard = ply.difficulty
    return BriefPly(
        ply.ply,
        ply.san,
        ply.uci,
        ply.clock_s,
        ply.score_cp,
        ply.mate,
        ply.final,
        ply.best,
        _thousandths(ply.win),
        _thousandths(ply.draw),
        _thousandths(ply.loss),
        ply.played_share,
        ply.played_elo,
        ply.mark,
        BriefDifficulty(hard.elo, hard.best, hard.error_chance) if hard is not None else None,
    )


def _point(point: events.CurvePoint) -> BriefPoint:
    return BriefPoint(
        point.ply,
        point.n,
        point.counted,
        point.gain_cp,
        _whole(point.perceived),
        _whole(point.low),
        _whole(point.high),
        _whole(point.usual_low),
        _whole(point.usual_high),
        _whole(point.percentile),
        _thousandths(point.score) or 0.0,
        _whole(point.difference),
        _whole(point.difference_low),
        _whole(point.difference_high),
    )


def _whole(figure: float | None) -> int | None:
    return None if figure is None else math.floor(figure + 0.5)


def _thousandths(share: float | None) -> float | None:
    """Down: what is under a bound stays under it."""
    return None if share is None else math.floor(share * 1000 + 1e-9) / 1000
