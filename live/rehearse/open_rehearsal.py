"""From the name after ``--as`` to the rehearsal that speaks that protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from live.clock import Clock
from live.errors import InputError
from live.events import GameReport
from live.feeds.source_address import mqtt_address
from live.rehearse.planned_faults import connections, mishaps, requests
from live.rehearse.rehearsal import Rehearsal

Protocols = Literal["lichess", "pgn-url", "dgt-board", "mqtt", "folder"]
PROTOCOLS: tuple[Protocols, ...] = get_args(Protocols)


def open_rehearsal(
    protocol: Protocols,
    games: Sequence[GameReport],
    *,
    seed: int | None = None,
    to: str = "",
    clock: Clock | None = None,
) -> Rehearsal:
    """A rehearsal of ``games``, with the faults that ``seed`` decides (None: none).

    ``to`` names a broker for ``mqtt`` (``mqtt://HOST/TOPIC``) and a folder for ``folder``; where
    it is empty, one of our own is used.

    Raises:
        InputError: ``to`` is no broker's address, or means nothing for this protocol.
    """
    if to and protocol not in ("mqtt", "folder"):
        raise InputError("--to", f"means nothing for {protocol}", "It is for mqtt and folder")
    # Each protocol brings its own libraries.
    match protocol:
        case "lichess":
            from live.rehearse.servers.lichess_broadcast_server import LichessRehearsal

            return LichessRehearsal(games, clock=clock, fates=connections(seed))
        case "pgn-url":
            from live.rehearse.servers.pgn_server import PgnUrlRehearsal

            return PgnUrlRehearsal(games, clock=clock, fates=requests(seed))
        case "dgt-board":
            from live.rehearse.servers.livechess_server import DgtBoardRehearsal

            return DgtBoardRehearsal(games, clock=clock, mishaps=mishaps(seed))
        case "folder":
            from live.rehearse.servers.folder_writer import FolderRehearsal

            folder = Path(to).expanduser() if to else None
            return FolderRehearsal(games, folder=folder, clock=clock, mishaps=mishaps(seed))
        case "mqtt":
            from live.rehearse.servers.mqtt_publisher import MqttRehearsal

            broker = mqtt_address(to) if to else None
            if to and broker is None:
                raise InputError(
                    "--to", "is no broker's address", "It looks like mqtt://HOST/TOPIC"
                )
            return MqttRehearsal(games, broker=broker, clock=clock, mishaps=mishaps(seed))
