"""The searches that one game needs, and what becomes of their answers. Pure.

A position for every ply and one more, and where the move played was not the engine's first choice
one search restricted to it: as the service does it (``live.engine.search.SearchOptions``), so that
a corpus searches nothing that a live event would not. A finished position is scored by the rules.
"""

from __future__ import annotations

import chess

from live.engine.search import Position, Search, SearchFailure, SearchOptions, SearchResult
from live.events import MATE_CP
from live.studies.corpus_database import NumberedGame
from live.studies.searched_game import MoveSearch, PositionSearch, SearchedGame, move_search


class GameSearches:
    """One game on its way; done when ``waiting`` is empty."""

    def __init__(self, game: NumberedGame, options: SearchOptions) -> None:
        self.game = game
        self._options = options
        self._over = _by_rule(game)
        self._whole: dict[int, SearchResult] = {}
        self._played: dict[int, SearchResult] = {}
        self.waiting: set[Search] = set()
        self.failed = ""
        """Why a position could not be searched, for people."""

    def first(self, *, retrograde: bool = False) -> list[Search]:
        """A search of every position, in the order of play or from the end (Alliot 2017, 2.3)."""
        plies = range(len(self.game.moves) + (self._over is None))
        searches = [self._options.whole(self._position(ply)) for ply in plies]
        self.waiting.update(searches)
        return searches[::-1] if retrograde else searches

    def take(self, search: Search, result: SearchResult | SearchFailure) -> Search | None:
        """An answer; what has to be searched after it."""
        self.waiting.discard(search)
        if isinstance(result, SearchFailure):
            self.failed = self.failed or result.reason
            return None
        ply = len(search.position.moves)
        if search.only is not None:
            self._played[ply] = result
            return None
        self._whole[ply] = result
        if ply == len(self.game.moves):
            return None
        played = self.game.moves[ply]
        if played == result.best:
            return None
        more = self._options.played(search.position, played, result.depth)
        self.waiting.add(more)
        return more

    def searched(self) -> SearchedGame:
        """Everything found."""
        positions = [self._found(ply) for ply in range(len(self.game.moves))]
        last = self._whole.get(len(self.game.moves))
        end = None if last is None else PositionSearch(move_search(last), last.best)
        if self._over is not None:
            end = PositionSearch(self._over)
        return SearchedGame((*positions, end))

    def _found(self, ply: int) -> PositionSearch | None:
        whole, played = self._whole.get(ply), self._played.get(ply)
        if whole is None:
            return None
        return PositionSearch(
            move_search(whole),
            whole.best,
            None if played is None else move_search(played),
            tuple((line.move, line.score.cp) for line in whole.lines),
        )

    def _position(self, ply: int) -> Position:
        game = self.game
        return Position(game.start_fen, game.moves[:ply], game.chess960)


def _by_rule(game: NumberedGame) -> MoveSearch | None:
    """The score of the last position where the game is over in it."""
    board = chess.Board(game.start_fen, chess960=game.chess960)
    for uci in game.moves:
        board.push(chess.Move.from_uci(uci))
        board.clear_stack()
    if board.is_checkmate():
        return MoveSearch(-MATE_CP if board.turn == chess.WHITE else MATE_CP, 0)
    if board.is_stalemate() or board.is_insufficient_material():
        return MoveSearch(0)
    return None
