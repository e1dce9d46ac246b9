"""Which games a network may learn from, and which judge it: decided once, by player.

A game is held out when one of its players is, when it has no player numbers and its moves are
drawn, or when it is among the games that judge the ratings. Of the games held out, a third serves
choices (size, rate, when to stop), two thirds only the figures that are published.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Literal

Part = Literal["train", "validation", "test"]

#: One in so many players, and of games without numbers one in so many games, is held out.
PLAYERS_IN = 8
#: One in so many of the games held out serves choices.
VALIDATION_IN = 3


def _drawn(text: str, one_in: int) -> bool:
    return int(sha256(text.encode()).hexdigest(), 16) % one_in == 0


@dataclass(frozen=True)
class HeldOut:
    """Games and players held out by name, besides those drawn.

    ``games`` are SHA-256 sums (hexadecimal) of a game's moves in UCI joined by spaces; ``players``
    are numbers as in the files of games.
    """

    games: frozenset[str]
    players: frozenset[int]

    def part_of(self, moves: str, players: Iterable[int | None]) -> Part:
        """The part of a game: its moves in UCI joined by spaces, its two players' numbers."""
        known = [number for number in players if number is not None]
        held = (
            any(number in self.players or _drawn(str(number), PLAYERS_IN) for number in known)
            or (len(known) < 2 and _drawn(moves, PLAYERS_IN))
            or sha256(moves.encode()).hexdigest() in self.games
        )
        if not held:
            return "train"
        return "validation" if _drawn(f"validation {moves}", VALIDATION_IN) else "test"


def held_out() -> HeldOut:
    """The games and players that judge this project's ratings (``human_held_out.json``)."""
    raw = json.loads(files(__package__).joinpath("human_held_out.json").read_text("utf-8"))
    return HeldOut(games=frozenset(raw["games"]), players=frozenset(raw["players"]))
