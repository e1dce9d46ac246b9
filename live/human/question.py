"""Questions to a neural network of human moves and its answers, as stored and passed
between packages.

This module imports neither a neural network nor numpy, so that importing it is fast.
"""

import hashlib
from collections.abc import Iterable, Mapping

import chess
import msgspec

from live.messages.values import GameId, Value

#: Kinds of games, in the order of the network's input. ``otb`` is classical chess over
#: the board; the others are online.
KINDS = ("otb", "classical", "rapid", "blitz", "bullet")
#: Lowest and highest rating learned; there were too few games beyond them. Other
#: ratings are moved to the nearest of these.
LEARNED_ELO = (1000, 2800)
#: Ratings that are asked for in addition to the mover's own: a club player's and a
#: master's.
REFERENCE_ELOS = (1500, 2400)


class HumanQuestion(Value, gc=False, cache_hash=True):
    """A question to the network: which moves do players choose in a position?

    It is asked for several ratings; both players of the game have the same rating.
    """

    fen: str
    """The position before :attr:`moves`."""
    moves: tuple[str, ...]
    """The last two plies or fewer, UCI: all of the past that a network sees."""
    elos: tuple[int, ...]
    """Ratings to ask for, each for both players; whole hundreds within the learned
    range.
    """
    kind: str
    """One of :data:`KINDS`."""

    @property
    def digest(self) -> bytes:
        """Return the key under which the answer is stored: 16 bytes."""
        return hashlib.blake2b(_encode(self), digest_size=16).digest()


class HumanRequest(Value):
    """A question for the neural network of human moves, about a ply of a game.

    It is answered or given up, exactly once.
    """

    game: GameId
    ply: int
    """Index of the position."""
    question: HumanQuestion
    newest: bool = False
    """True for the last position of a running game, which people look at."""


class HumanAnswer(Value):
    """Number of players in a thousand who choose each move, per rating asked for."""

    network: str
    """Name of the neural network and digest of its file."""
    per_mille: tuple[dict[str, int], ...]
    """One dictionary per rating, by UCI, the most frequent move first; moves that round
    to 0 are left out.
    """

    def find_share(self, elo_index: int, uci: str) -> float | None:
        """Return the share of a move, 0 to 1, for the rating at ``elo_index``.

        Return None for a promotion to a piece other than a queen, which no network
        learned separately.
        """
        return (
            None
            if uci[4:] not in ("", "q")
            else self.per_mille[elo_index].get(uci, 0) / 1000
        )


_encode = msgspec.msgpack.Encoder().encode


def round_answer(network: str, shares: Iterable[Mapping[str, float]]) -> HumanAnswer:
    """Return an answer rounded to per mille, so that every processor gives the same
    figures.
    """
    return HumanAnswer(network, tuple(map(_round_shares, shares)))


def _round_shares(shares: Mapping[str, float]) -> dict[str, int]:
    """Return shares in per mille, without those that round to 0."""
    rounded = {uci: round(1000 * share) for uci, share in shares.items()}
    return {uci: share for uci, share in rounded.items() if share}


def round_elo(elo: int) -> int:
    """Return the rating to ask for: the nearest learned one, in hundreds."""
    low, high = LEARNED_ELO
    return min(max(round(elo, -2), low), high)


def choose_kind(pace: str | None, online: bool) -> str:
    """Return the learned kind of game that is nearest to a pace.

    Faster chess was learned only from online games.
    """
    if pace in ("rapid", "blitz", "bullet"):
        return str(pace)
    return "classical" if online else "otb"


def explain_not_covered(
    board: chess.Board, start: str = chess.STARTING_FEN
) -> str | None:
    """Return why a position is unlike those of the training games, in a few words.

    Return None if it is like them.

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
