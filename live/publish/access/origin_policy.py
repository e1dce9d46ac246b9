"""Who may connect: the ``Host`` and ``Origin`` headers, and the address listened on. Pure.

A page anywhere on the web can make its visitor's browser connect to 127.0.0.1, and can point its
own domain name there (DNS rebinding). The first shows in ``Origin``, the second in ``Host``.

Which boards are on air, and who may say so.

A board on air is analysed before all others, so strangers have no say: only overlays on this
machine, and those with a producer's token. An overlay sends ``{"type":"air","games":["ID"]}`` as a
websocket message whenever it shows other boards; what it said counts while it is connected.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Hashable, Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from live.config import ServerConfig
from live.errors import ConfigError
from live.events import GameId


def is_loopback(host: str) -> bool:
    """Whether a name or address (no port, no brackets) can only mean this machine."""
    if host.lower().rstrip(".") == "localhost" or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(authority: str) -> str | None:
    """The host of ``host:port`` in lower case, without brackets; null when there is none."""
    if not authority or any(char in authority for char in "/@?#\\ \t"):
        return None
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port  # raises on a port that is no number
    except ValueError:
        return None
    return parts.hostname


class OriginPolicy:
    """The names we answer to and the origins whose pages may connect.

    ``bound`` is the address the server listens on. Bound to loopback, only names of this machine
    are answered. Elsewhere any name is, unless ``hosts`` lists some: then they and those of this
    machine. A page of our own may always
    connect; ``origins`` lists further ones (``https://example.org``, ``null`` for local files).
    """

    def __init__(self, bound: str, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        self._loopback_only = is_loopback(bound)
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    def answers_to(self, authority: str) -> bool:
        """Whether a ``Host`` header names us."""
        host = host_of(authority)
        if host is None:
            return False
        # A rebound domain stands in ``Host`` by its own name, never by one of this machine.
        if host in self._hosts or is_loopback(host):
            return True
        return not self._loopback_only and not self._hosts

    def names(self, origin: str) -> bool:
        """Whether this origin is one of those listed: its pages may read answers, too."""
        return origin.lower() in self._origins

    def lets_in(self, origin: str | None, authority: str) -> bool:
        """Whether a page of ``origin`` may open a websocket. Programs send no origin."""
        if origin is None:
            return True
        lowered = origin.lower()
        if lowered in self._origins:
            return True
        try:
            parts = urlsplit(lowered) if "://" in lowered else None
        except ValueError:  # as "http://[::1"
            return False
        return (
            parts is not None
            and parts.scheme in ("http", "https")
            and parts.netloc == authority.lower()
        )


def check_exposure(config: ServerConfig) -> list[str]:
    """Warnings, one line each, about an address that others can reach.

    Raises:
        ConfigError: others can reach it and nothing says that they may.
    """
    if is_loopback(config.host):
        return []
    if not config.public and not config.tokens_file:
        raise ConfigError(
            f"server.host {config.host}",
            "everybody who reaches this address could read along",
            "Give tokens (server.tokens_file), or set server.public (live-rate --public)",
        )
    warnings = []
    if config.public:
        warnings.append(
            f"whoever reaches {config.host} reads along"
            + (" without scores" if config.hide_scores else ", scores of running games included")
        )
    if config.tokens_file and not config.certificate_file:
        warnings.append(
            "tokens travel in the clear: set server.certificate_file, or put a TLS proxy in front"
        )
    return warnings


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
