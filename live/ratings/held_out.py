"""Which players judge the figures, and so are left out of everything that is learned.

Decided once, by player: one in eight, drawn by the SHA-256 of the number (or the name) that the
files of games give him. ``held_out.json`` lists those of the searched games over the board, with
the games they played; the same rule holds where nobody is listed.
"""

from __future__ import annotations

from hashlib import sha256
from importlib import resources

import msgspec

#: Shares that all players fall into; one of them judges.
SHARES = 8


class HeldOutList(msgspec.Struct, frozen=True):
    """Who judges among the searched games over the board."""

    rule: str
    players: tuple[str, ...]
    games: tuple[str, ...]
    """SHA-256 of a game's moves in UCI, joined by spaces: those with such a player."""


def share_of(player: str, shares: int = SHARES) -> int:
    """Which of so many shares of all players this one belongs to; share 0 judges."""
    return int(sha256(player.encode()).hexdigest(), 16) % shares


def judges(player: str) -> bool:
    """Whether no fit may see this player's games."""
    return share_of(player) == 0


def held_out_list() -> HeldOutList:
    """The list that comes with the package."""
    data = resources.files("live.ratings").joinpath("held_out.json").read_bytes()
    return msgspec.json.decode(data, type=HeldOutList)
