"""Players and games that judge, and so are left out of everything that is learned.

Decided once, by player: one in eight, drawn by the SHA-256 of the number (or the name)
that the files of games give him. ``live/ratings/held_out.json`` lists those of the
searched games over the board, with the games they played (SHA-256 of the moves in UCI,
joined by spaces).

From a network of human moves a game is held out when one of its players is, when it
has no player numbers and its moves are drawn, or when it is among the games that judge
the ratings. Of the games held out, a third serves choices (size, rate, when to stop),
two thirds only the figures that are published.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files
from typing import Literal

import msgspec

from live.messages.values import Value

#: Shares that all players fall into; one of them judges.
SHARES = 8


def assign_share(player: str, shares: int = SHARES) -> int:
    """Which of so many shares of all players this one belongs to; share 0 judges."""
    return int(sha256(player.encode()).hexdigest(), 16) % shares


def is_held_out(player: str) -> bool:
    """Return whether no fit may see this player's games."""
    return assign_share(player) == 0


Part = Literal["train", "validation", "test"]
GamePart = Literal["all"] | Part

#: One in so many players, and of games without numbers one in so many games, is held
#: out.
PLAYERS_IN = 8
#: One in so many of the games held out serves choices.
VALIDATION_IN = 3


class HeldOut(Value):
    """Games and players held out by name, besides those drawn.

    ``games`` are SHA-256 sums (hexadecimal) of a game's moves in UCI joined by spaces;
    ``players`` are numbers as in the files of games.
    """

    games: frozenset[str]
    players: frozenset[int]

    def find_part(self, moves: str, players: Iterable[int | None]) -> Part:
        """Return the part a game belongs to, from its moves in UCI joined by spaces and
        its two players' numbers.
        """
        known = [number for number in players if number is not None]
        held = (
            any(
                number in self.players or not assign_share(str(number), PLAYERS_IN)
                for number in known
            )
            or (len(known) < 2 and not assign_share(moves, PLAYERS_IN))
            or sha256(moves.encode()).hexdigest() in self.games
        )
        if not held:
            return "train"
        return (
            "test"
            if assign_share(f"validation {moves}", VALIDATION_IN)
            else "validation"
        )


def read_held_out() -> HeldOut:
    """Read the games and players that judge this project's ratings
    (``human_held_out.json``).
    """
    text = files(__package__).joinpath("human_held_out.json").read_bytes()
    return msgspec.json.decode(text, type=HeldOut)
