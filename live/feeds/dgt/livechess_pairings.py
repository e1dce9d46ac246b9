"""Who plays on which board, asked of DGT LiveChess in the hall.

LiveChess answers HTTP beside its websocket, on the same port: ``/api/v1.0/tournaments``,
``/tournament/ID`` (with the serial numbers of its boards, in order), ``/round/ID/N`` (pairings with
players, result and whether the game is live). There is no public description; the paths and fields
are those that the PyPI package ``livechess`` 0.1.0 reads.
"""

from __future__ import annotations

import logging
from typing import TypeVar

import httpx
import msgspec

from live.events import FeedName, Player, Result
from live.feeds import http_client
from live.feeds.dgt.livechess_cloud_json import RESULTS, CloudPairing, player_of
from live.feeds.pgn.pgn_headers import clean
from live.feeds.result_spelling import read_result
from live.network.retry import FeedTrouble

log = logging.getLogger(__name__)

MAX_BYTES = 4_000_000
#: Bounds of what is asked for at one look.
MAX_TOURNAMENTS, MAX_ROUNDS = 4, 30


class _Summary(msgspec.Struct):
    uuid: str = ""


class _Tournament(msgspec.Struct):
    name: str | None = None
    rounds: int = 0
    eboards: list[str | None] = []


class _Pairing(CloudPairing, frozen=True):
    nr: int = 0


class _Round(msgspec.Struct):
    nr: int | None = None
    pairings: list[_Pairing] = []


class Seat(msgspec.Struct, frozen=True):
    """What the pairings say of one board."""

    event: str
    round: int
    board: int
    white: Player
    black: Player
    result: Result


T = TypeVar("T")


async def ask_seats(client: httpx.AsyncClient, feed: FeedName, url: str) -> dict[str, Seat]:
    """The seats by the serial numbers of the boards; ``url`` is that of the websocket.

    Of several rounds the last counts in which the board's game is live or has a result. Empty
    where LiveChess has no tournament, or does not answer.
    """
    base = f"http{url.removeprefix('ws')}".rstrip("/")

    async def get(path: str, kind: type[T]) -> T | None:
        try:
            answer = await http_client.get(client, feed, f"{base}/{path}", max_bytes=MAX_BYTES)
            return msgspec.json.decode(answer.body, type=kind) if answer is not None else None
        except (FeedTrouble, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            log.debug("%s: %s: %s", feed, path, error)
            return None

    seats: dict[str, Seat] = {}
    for each in (await get("tournaments", list[_Summary]) or [])[:MAX_TOURNAMENTS]:
        held = await get(f"tournament/{each.uuid}", _Tournament)
        if held is None:
            continue
        for number in range(min(held.rounds, MAX_ROUNDS)):
            found = await get(f"round/{each.uuid}/{number}", _Round)
            if found is not None:
                told = number + 1 if found.nr is None else found.nr
                seats.update(_seats(held, told, found.pairings))
    return seats


def _seats(held: _Tournament, round_: int, pairings: list[_Pairing]) -> dict[str, Seat]:
    found = {}
    for pairing in pairings:
        serial = held.eboards[pairing.nr - 1] if 0 < pairing.nr <= len(held.eboards) else None
        if serial and (pairing.live or pairing.result) and (pairing.white or pairing.black):
            result = RESULTS.get(pairing.result or "", read_result(pairing.result or ""))
            white, black = player_of(pairing.white), player_of(pairing.black)
            event = clean(held.name or "", 200)
            found[serial] = Seat(event, round_, pairing.nr, white, black, result)
    return found
