"""``telnet://[user[:password]@]HOST[:port][/GAME,GAME]``: a chess server's address. Pure."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import msgspec

#: Where servers of the FICS family listen.
PORT = 5000
_GAME = re.compile(r"[A-Za-z0-9]{1,20}")


class FicsAddress(msgspec.Struct, frozen=True):
    """A server and what to observe there."""

    host: str
    port: int
    games: tuple[str, ...]
    """Numbers of games or names of players; none: every game the server sends."""
    user: str = ""
    """Empty: a guest."""
    password: str = ""


def fics_address(text: str) -> FicsAddress | None:
    """The parts of an address (``telnet://`` or ``tcp://``); None when it is none."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    games = tuple(game for game in parts.path.strip("/").split(",") if game)
    if parts.scheme.lower() not in ("telnet", "tcp") or not parts.hostname or port == 0:
        return None
    if not all(map(_GAME.fullmatch, games)):
        return None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not (user + password).isprintable():
        return None
    return FicsAddress(parts.hostname, port or PORT, games, user, password)
