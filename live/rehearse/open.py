"""From the name after ``--as`` to the rehearsal that speaks that protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from live.errors import InputError
from live.events import GameReport
from live.feeds.clock import Clock
from live.feeds.mqtt_address import mqtt_address
from live.rehearse.faults import connections, mishaps, requests
from live.rehearse.play import Rehearsal

Protocols = Literal["lichess", "pgn-url", "livechess-cloud", "dgt-board", "mqtt", "folder", "fics"]
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
            from live.rehearse.lichess import LichessRehearsal

            return LichessRehearsal(games, clock=clock, fates=connections(seed))
        case "pgn-url":
            from live.rehearse.pgn_url import PgnUrlRehearsal

            return PgnUrlRehearsal(games, clock=clock, fates=requests(seed))
        case "livechess-cloud":
            from live.rehearse.livechess_cloud import LiveChessCloudRehearsal

            return LiveChessCloudRehearsal(games, clock=clock, fates=requests(seed, half=False))
        case "dgt-board":
            from live.rehearse.dgt_board import DgtBoardRehearsal

            return DgtBoardRehearsal(games, clock=clock, mishaps=mishaps(seed))
        case "fics":
            from live.rehearse.fics import FicsRehearsal

            return FicsRehearsal(games, clock=clock, mishaps=mishaps(seed))
        case "folder":
            from live.rehearse.folder import FolderRehearsal

            folder = Path(to).expanduser() if to else None
            return FolderRehearsal(games, folder=folder, clock=clock, mishaps=mishaps(seed))
        case "mqtt":
            from live.rehearse.mqtt import MqttRehearsal

            broker = mqtt_address(to) if to else None
            if to and broker is None:
                raise InputError(
                    "--to", "is no broker's address", "It looks like mqtt://HOST/TOPIC"
                )
            return MqttRehearsal(games, broker=broker, clock=clock, mishaps=mishaps(seed))
