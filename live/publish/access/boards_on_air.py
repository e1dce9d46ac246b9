"""Which boards are on air, and who may say so. Pure.

A board on air is analysed before all others, so strangers have no say: only overlays on this
machine, and those with a producer's token. An overlay sends ``{"type":"air","games":["ID"]}`` as a
websocket message whenever it shows other boards; what it said counts while it is connected.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from live.events import GameId
from live.publish.access.origin_policy import host_of, is_loopback

#: Boards of one overlay that count: a grid of all boards puts none of them before the others.
MOST_BOARDS: Final = 8

#: What proxies add: the request comes from elsewhere, whatever address it has.
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via", "cf-connecting-ip")


class OnAirMessage(msgspec.Struct, frozen=True, tag="air"):
    """What an overlay sends: the games it shows now."""

    games: tuple[GameId, ...] = ()


_decoder = msgspec.json.Decoder(OnAirMessage)


def games_of(message: str | bytes) -> tuple[GameId, ...] | None:
    """The games that a message puts on air; None for any other message."""
    try:
        return _decoder.decode(message).games
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def is_this_machine(headers: Mapping[str, str], address: str) -> bool:
    """Whether a request was made on this machine, by a page of this machine or by a program."""
    if not is_loopback(address) or any(name in headers for name in _FORWARDED):
        return False
    origin = headers.get("origin")
    hosts = [host_of(headers.get("host", ""))]
    if origin is not None:
        try:
            hosts.append(urlsplit(origin).hostname)
        except ValueError:
            return False
    return all(host is not None and is_loopback(host) for host in hosts)


class BoardsOnAir:
    """What all overlays together show."""

    def __init__(self) -> None:
        self._shown: dict[Hashable, frozenset[GameId]] = {}

    def show(self, overlay: Hashable, games: Iterable[GameId]) -> None:
        """This overlay shows these games from now on; more than a few are none."""
        shown = frozenset(games)
        self._shown[overlay] = shown if len(shown) <= MOST_BOARDS else frozenset()

    def close(self, overlay: Hashable) -> None:
        """This overlay is gone."""
        self._shown.pop(overlay, None)

    @property
    def games(self) -> frozenset[GameId]:
        """The games on air now."""
        return frozenset[GameId]().union(*self._shown.values())
