"""Searched games as lines that ``live-rate study add`` takes: live results in a corpus. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from live.events import GameDetail, Player
from live.publish.export.analysis_json import Analysis


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
