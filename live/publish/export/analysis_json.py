"""What ``analyze --json`` writes: the whole event as one object. Pure.

Searched games as lines that ``live-rate study add`` takes: live results in a corpus.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from live.events import (
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    Player,
    PlayerGains,
    PlayerView,
)
from live.publish.published_state import PublishedState, snapshot
from live.publish.stream.stream_filter import StreamFilter
from live.publish.visibility import Visibility


class Analysis(msgspec.Struct, frozen=True):
    """Every game with plies and curves, every player, and what they were measured with."""

    engine: EngineInfo
    gain: GainKind
    games: tuple[GameDetail, ...]
    players: tuple[PlayerView, ...]
    partial: bool = False
    """Stopped before every position was searched: what is missing is null."""
    gains: tuple[PlayerGains, ...] = ()
    """Everybody's gains over the event, at one centipawn."""
    engine_gains: GainCounts = ()
    """The engine's own, which players are measured against."""


def analysis(
    state: PublishedState, compared: Iterable[PlayerView] = (), *, partial: bool = False
) -> Analysis:
    """The state as it stands; games and players in the order of a snapshot. ``compared``: players
    with the methods that are made on demand.
    """
    known = {view.id: view for view in compared}
    whole = snapshot(state, StreamFilter(visibility=Visibility.ARBITER, gains=True))
    return Analysis(
        engine=whole.engine,
        gain=state.gain(),
        games=whole.games,
        players=tuple(known.get(view.id, view) for view in whole.players),
        partial=partial,
        gains=whole.gains,
        engine_gains=whole.engine_gains,
    )


def to_json(result: Analysis) -> bytes:
    """Readable JSON, a newline at its end. Unbounded and unknown are null."""
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def study_lines(whole: Analysis) -> str:
    """One line a game, with engine and limit; games with a ply that is not searched are left out,
    and so are games of variants.
    """
    return "".join(
        msgspec.json.encode(_line(whole, game)).decode() + "\n"
        for game in whole.games
        if game.variant == "standard" and game.plies and all(ply.final for ply in game.plies)
    )


def _line(whole: Analysis, game: GameDetail) -> dict[str, Any]:
    return {
        "white": _name(game.white),
        "black": _name(game.black),
        "white_elo": game.white.elo,
        "black_elo": game.black.elo,
        "event": game.event,
        "round": game.round,
        "date": game.date,
        "tc": game.time_control,
        "result": game.result,
        "moves": [ply.uci for ply in game.plies],
        "engine": whole.engine.name,
        "limit": whole.engine.limit,
        "start_fen": game.start_fen,
        "start_cp": game.start_score_cp,
        "cp": [ply.score_cp for ply in game.plies],
        "mate": [ply.mate for ply in game.plies],
        "depth": [ply.depth for ply in game.plies],
        "best": [ply.best for ply in game.plies],
        "played": [ply.played_cp for ply in game.plies],
        "stability": [ply.complexity and ply.complexity.stability_cp for ply in game.plies],
        "jump": [ply.complexity and ply.complexity.jump_cp for ply in game.plies],
        "jump_depth": [ply.complexity and ply.complexity.jump_depth for ply in game.plies],
    }


def _name(player: Player) -> str | None:
    return player.name or None
