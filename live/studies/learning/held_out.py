"""Players and games that are held out: they are used to evaluate models, so no model is
fitted to them.

The choice is made once, by player: one player in eight, drawn by the SHA-256 of the
player's number, or of the name, in the files of games. ``live/ratings/held_out.json``
lists the players drawn from the searched games over the board, with the games they
played (SHA-256 of the moves in UCI, joined by spaces).

For neural networks of human moves, a game is held out in three cases: if one of its
players is held out, if the number of a player is unknown and its moves are drawn, or if
it is among the games on which the ratings are evaluated. One third of the held-out
games is used for choices (size, learning rate, when to stop), and two thirds only for
the published figures.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from importlib.resources import files
from typing import Literal

import msgspec

from live.messages.values import Value

#: Number of shares into which all players are divided; the players of one share are
#: held out.
SHARES = 8


def assign_share(player: str, shares: int = SHARES) -> int:
    """Return the share of all players that this player belongs to, 0 to ``shares`` - 1.
    Players of share 0 are held out.
    """
    return int(sha256(player.encode()).hexdigest(), 16) % shares


def is_held_out(player: str) -> bool:
    """Return whether no fit is allowed to use this player's games. For a game without
    player numbers, ``player`` is the text of its moves.
    """
    return assign_share(player) == 0


Part = Literal["train", "validation", "test"]
GamePart = Literal["all"] | Part

#: One held-out game in this many is used for choices.
VALIDATION_IN = 3


class HeldOut(Value):
    """Games and players that are held out by name, in addition to those that are drawn.

    ``games`` are SHA-256 sums (hexadecimal) of a game's moves in UCI joined by spaces;
    ``players`` are numbers as in the files of games.
    """

    games: frozenset[str]
    players: frozenset[int]

    def find_part(self, moves: str, players: Iterable[int | None]) -> Part:
        """Return the part (training, validation or test) to which a game belongs.
        ``moves`` are its moves in UCI joined by spaces, and ``players`` the numbers of
        its two players.
        """
        numbers = [number for number in players if number is not None]
        has_judge = any(
            number in self.players or is_held_out(str(number)) for number in numbers
        )
        is_drawn = len(numbers) < 2 and is_held_out(moves)
        is_listed = sha256(moves.encode()).hexdigest() in self.games
        if not (has_judge or is_drawn or is_listed):
            return "train"
        share = assign_share(f"validation {moves}", VALIDATION_IN)
        return "test" if share else "validation"


def read_held_out() -> HeldOut:
    """Read the games and players on which this project's ratings are evaluated
    (``human_held_out.json``).
    """
    text = files(__package__).joinpath("human_held_out.json").read_bytes()
    return msgspec.json.decode(text, type=HeldOut)
