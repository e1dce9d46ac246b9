"""One game as it stands: an immutable value, whole at every moment."""

from __future__ import annotations

import msgspec

from live.events import FeedName, GameId, Headers, Move, Result, Score


class Game(msgspec.Struct, frozen=True):
    """A game of one feed. A change makes a new ``Game`` (:func:`live.games.game_steps.applied`)."""

    id: GameId
    """Stable, short and safe in a URL; see :mod:`live.games.player_identity`."""
    feed: FeedName
    key: str
    """The source's own name of the game; empty when it has none."""
    headers: Headers
    start_fen: str
    moves: tuple[Move, ...] = ()
    """``moves[ply - 1]`` is the move that leads to ``ply``."""
    result: Result = "*"
    """As reported, or by the rules where the board is mated and nothing was reported."""
    start_eval: Score | None = None
    problem: str | None = None
    """Why the game stops short, for people."""
    also: tuple[FeedName, ...] = ()
    """Other sources that carry the same game; see :mod:`live.games.shared_games`."""
    dispute: str = ""
    """Where its sources contradict each other, for people."""

    @property
    def chess960(self) -> bool:
        return self.headers.variant == "chess960"

    def position(self, ply: int) -> tuple[str, tuple[str, ...], bool]:
        """What an engine needs of the position after ``ply`` half-moves.

        Returns:
            ``(start_fen, moves in UCI from there, chess960)``.

        Raises:
            IndexError: ``ply`` is below 0 or past the last move.
        """
        if not 0 <= ply <= len(self.moves):
            raise IndexError(f"game {self.id} has plies 0 to {len(self.moves)}, not {ply}")
        return self.start_fen, tuple(move.uci for move in self.moves[:ply]), self.chess960
