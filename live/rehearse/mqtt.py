"""Games published over MQTT, as the README asks publishers to: a topic a board, retained, QoS 1."""

from __future__ import annotations

import chess
import msgspec

from live.events import GameReport, Player


def told_json(game: GameReport) -> bytes:
    """One game in our own schema (:class:`live.feeds.mqtt_schema.ToldGame`)."""
    told = game.headers
    body: dict[str, object] = {
        "id": game.key,
        "event": told.event,
        "site": told.site,
        "round": told.round,
        "board": told.board,
        "date": told.date,
        "time_control": told.time_control,
        "url": told.url,
        "variant": "chess960" if told.variant == "chess960" else "",
        "white": _player(told.white),
        "black": _player(told.black),
        "start_fen": "" if game.start_fen == chess.STARTING_FEN else game.start_fen,
        "result": game.result,
    }
    told_moves = [
        _given({"move": move.san, "clock_s": move.clock_s, "spent_s": move.spent_s})
        for move in game.moves
    ]
    return msgspec.json.encode({**_given(body), "moves": told_moves})


def _player(player: Player) -> dict[str, object]:
    return _given(msgspec.structs.asdict(player))


def _given(fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value not in (None, "")}
