"""One game in the form in which a corpus stores it: players, date and moves, in few
bytes.

A move is packed into two bytes, so that a million games fit on a disk and are read
without being replayed. A game is identified by its players, date, start and moves. Its
result and ratings are not part of the identity, because sources contradict each other
about them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

import chess
import numpy as np

from live.games.player_identity import normalise_name
from live.messages.values import Value

STANDARD_FEN = chess.STARTING_FEN
Key = TypeVar("Key")
_PIECES = "nbrq"


class CorpusPlayer(Value):
    """Player as a source names him; an unknown player if the source has neither name
    nor number.
    """

    name: str
    """Text to show: the name, or a number in its place."""
    words: str
    """Name in the form that is compared; empty for an unknown player."""
    fide_id: int | None = None

    @property
    def keys(self) -> list[str]:
        """Keys that identify the player: the FIDE id before the name."""
        by_id = [] if self.fide_id is None else [f"fide-{self.fide_id}"]
        return [*by_id, self.words] if self.words else by_id


class CorpusGame(Value, kw_only=True):
    """Everything that a corpus stores of one game."""

    white: CorpusPlayer
    black: CorpusPlayer
    white_elo: int | None
    black_elo: int | None
    event: str
    round: str
    date: str
    """Date as ``2013``, ``2013.08`` or ``2013.08.01``; empty if unknown."""
    result: str
    """Result as in ``live.messages.from_sources.Result``."""
    moves: tuple[str, ...]
    """Moves in UCI."""
    start_fen: str = STANDARD_FEN
    chess960: bool = False
    time_control: str = ""

    @property
    def year(self) -> int | None:
        """Year of the date; None if the date is unknown."""
        return int(self.date[:4]) if self.date else None

    @property
    def digest(self) -> bytes:
        """Hash of 16 bytes that identifies the game."""
        text = "\x1f".join(
            (
                self.white.words,
                self.black.words,
                self.date,
                "" if self.start_fen == STANDARD_FEN else self.start_fen,
                " ".join(self.moves),
            )
        )
        return hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=16
        ).digest()


def pack_moves(moves: Sequence[str]) -> bytes:
    """Pack moves in UCI into two bytes each: origin, destination and promotion."""
    codes = [
        chess.parse_square(uci[:2])
        | chess.parse_square(uci[2:4]) << 6
        | f" {_PIECES}".index(uci[4:] or " ") << 12
        for uci in moves
    ]
    return np.array(codes, dtype="<u2").tobytes()


def unpack_moves(data: bytes) -> tuple[str, ...]:
    """Return the moves, in UCI, that ``pack_moves`` packed."""
    names = chess.SQUARE_NAMES
    return tuple(
        names[code & 63] + names[code >> 6 & 63] + ("", *_PIECES)[code >> 12]
        for code in np.frombuffer(data, dtype="<u2").tolist()
    )


def find_named(part: str, names: Mapping[Key, str]) -> list[Key]:
    """Return the keys of the names that equal ``part``; if there are none, the keys of
    the names that contain all words of ``part``.
    """
    exact = [key for key, name in names.items() if name.casefold() == part.casefold()]
    words = set(normalise_name(part).split()) or {part.casefold()}
    return exact or [
        key for key, name in names.items() if words <= set(normalise_name(name).split())
    ]
