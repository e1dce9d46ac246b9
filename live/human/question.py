"""What is asked of a network of human moves, and its answer, as they cross rooms and are kept.

No network and no numpy here: whoever never asks pays for nothing.
"""

import hashlib
from collections.abc import Iterable, Mapping

import chess
import msgspec

from live.events import Value

#: Kinds of game, in the order of the network's input. ``otb`` is classical chess over the board,
#: the others are online.
KINDS = ("otb", "classical", "rapid", "blitz", "bullet")
#: Ratings beyond these were too few to learn from; they are moved to the nearest learned.
LEARNED_ELO = (1000, 2800)
#: Beside the mover's own rating: a club player's and a master's.
REFERENCE_ELOS = (1500, 2400)


class HumanQuestion(Value, gc=False, cache_hash=True):
    """What do players of these ratings play here, among themselves?"""

    fen: str
    """The position before :attr:`moves`."""
    moves: tuple[str, ...]
    """The last two plies or fewer, UCI: all of the past that a network sees."""
    elos: tuple[int, ...]
    """Of both players; whole hundreds within the ratings learned."""
    kind: str
    """One of :data:`KINDS`."""

    @property
    def digest(self) -> bytes:
        """What the answer is kept under: 16 bytes."""
        return hashlib.blake2b(_encode(self), digest_size=16).digest()


class HumanAnswer(Value):
    """How many of a thousand players choose each move, for each rating asked for."""

    network: str
    """Which network: its name and a digest of its file."""
    per_mille: tuple[dict[str, int], ...]
    """By UCI, the most frequent first; moves that round to 0 are left out."""

    def share(self, asked: int, uci: str) -> float | None:
        """0 to 1, of the rating with this number; None for a promotion to a lesser piece, which no
        network learned apart.
        """
        return None if uci[4:] not in ("", "q") else self.per_mille[asked].get(uci, 0) / 1000


_encode = msgspec.msgpack.Encoder().encode


def rounded_answer(network: str, shares: Iterable[Mapping[str, float]]) -> HumanAnswer:
    """An answer as it is kept, so that every processor gives the same figures afterwards."""
    rounded = ({uci: round(1000 * share) for uci, share in each.items()} for each in shares)
    kept = tuple({uci: share for uci, share in each.items() if share} for each in rounded)
    return HumanAnswer(network, kept)


def asked_elo(elo: int) -> int:
    """The rating that is asked for in place of this one: the nearest learned, in hundreds."""
    low, high = LEARNED_ELO
    return min(max(round(elo, -2), low), high)


def learned_kind(pace: str | None, online: bool) -> str:
    """The kind of game learned that is nearest to a pace, where it is known.

    Faster chess was learned from online games alone.
    """
    if pace in ("rapid", "blitz", "bullet"):
        return str(pace)
    return "classical" if online else "otb"


def not_covered(board: chess.Board, start: str = chess.STARTING_FEN) -> str | None:
    """Why a position is unlike those learned from, in a few words; None when it is like them.

    ``start`` is the position that the game began with.
    """
    if board.chess960:
        return "Chess960 was not learned"
    if start.split()[:4] != chess.STARTING_FEN.split()[:4]:
        return "games from another starting position were not learned"
    for color in chess.COLORS:
        if len(board.pieces(chess.QUEEN, color)) > 2:
            return "three queens of one side were not learned"
        for kind in (chess.ROOK, chess.BISHOP, chess.KNIGHT):
            if len(board.pieces(kind, color)) > 2:
                return f"a pawn promoted to a {chess.piece_name(kind)} was not learned"
    if not board.is_valid():
        return "the position is not legal"
    return None
