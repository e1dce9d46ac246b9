"""Forecast of the next moves of one board: the searches that are worth making while a
player thinks. No I/O.

A forecast is a tree of positions. Its root is the live position, and its branches are
replies. Each position needs a search for its score. Each reply needs a restricted
search of the position before it, for the gain. Each searched position needs a scout:
one short search for several lines, which shows how likely the replies are. Results are
kept while the game stays within the tree, so nothing is searched twice, and after a
move the part of the tree below that move is kept.

The value of a search is the chance that the game reaches the position where it is
needed, reduced for every ply further ahead: a search that is needed later can mostly be
made later. Searches for the gains of unexpected moves of the live position come last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

import chess
import msgspec

from live.engine.search import (
    Limit,
    Position,
    Search,
    SearchFailure,
    SearchOptions,
    SearchResult,
)
from live.messages.values import Value

Chances = Callable[[str, int, Sequence[int]], Sequence[float]]
"""Function that returns the chances of replies, from 0 to 1, in the order given. Its
arguments are the board, the ply of the replies, and the centipawns by which each reply
is behind the best, best first.
"""
HumanShares = Callable[[str, Position], Mapping[str, float]]
"""Function that returns, for a board and a position, the share of people with the
mover's rating who would play each move (UCI); empty while unknown.
"""
#: Exponent of the product of a reply's chance by scores and its share among people.
#: With 0.7 the log loss of the forecast is 1.54 nats per move, over 325 moves of six
#: boards of an open of April 2025. It is 1.79 with scores alone and 1.98 with people
#: alone. The first choice is played in 54 of 100 moves instead of 44.
_POWER = 0.7
#: Chance of a reply that either the scores or the people do not list.
_UNKNOWN = 0.003


class ForecastPolicy(Value):
    """Relative values of searches, chosen by replays of eight classical boards; changes
    of a few per cent make little difference.
    """

    replies: int = 12
    """Number of lines of a scout."""
    first_choice_chance: float = 0.5
    """Chance of the engine's first choice before the scout's result."""
    scout: float = 0.2
    """Value of a scout of a position that is certain to occur. A whole search, which
    costs about four times as much, has the value 1.
    """
    gain: float = 1.2
    """Value of a search for a gain, relative to one for a score."""
    discount: float = 0.15
    """Factor on a search's value for every ply further ahead."""
    plies: int = 3
    """Number of plies that the forecast looks ahead."""
    min_worth: float = 0.01
    """Least value of a search that is made, except searches of the live position's own
    moves.
    """
    surprise_value: float = 0.002
    """Value of a search for the gain of one unexpected move. Three played moves in a
    hundred are unexpected, and a position has about twenty such moves. With 0 these
    searches are not made.
    """


class ForecastNeed(Value, gc=False):
    """A search that can be needed, with its value."""

    worth: float
    search: Search


class _TreeNode(msgspec.Struct, eq=False):
    """A position that is on the board, or can occur."""

    position: Position
    ply: int
    result: SearchResult | None = None
    dead: bool = False
    """True if no search is possible here, because the game would be over."""
    by_scores: Mapping[str, float] = {}
    """Chances of the replies by the scout's scores; empty before the scout's result."""
    odds: list[tuple[str, float]] = []
    """Moves with their chances, likeliest first; empty while neither the scout's scores
    nor human shares are known.
    """
    searched: set[str] = set()
    """Moves whose restricted search was made."""
    after: dict[str, _TreeNode] = {}

    def walk_subtree(self) -> Iterator[_TreeNode]:
        """Yield this node and all nodes below it."""
        yield self
        for node in self.after.values():
            yield from node.walk_subtree()


class ForecastRules(NamedTuple):
    """Settings and functions shared by the forecasts of all boards."""

    limit: Limit
    chances: Chances
    search_options: SearchOptions = SearchOptions()
    policy: ForecastPolicy = ForecastPolicy()
    likely: HumanShares | None = None
    """Shares of human moves; None if they are not predicted."""


class MoveForecast:
    """Tree of positions of one board. ``ply`` is counted from 0, the starting position
    of its game.
    """

    def __init__(
        self, board: str, position: Position, ply: int, rules: ForecastRules
    ) -> None:
        self._board = board
        self._rules = rules
        self._policy = rules.policy
        self._scout_limit = reduce_limit(rules.limit)
        # Replies with a smaller chance are not followed, because every search there
        # would be below ``min_worth``.
        self._min_chance = rules.policy.min_worth / max(1.0, rules.policy.gain)
        self._root = _TreeNode(position, ply)
        self._nodes = {position: self._root}
        # The restricted search of the last move, which can still be needed.
        self._last: Search | None = None
        self._needs: list[ForecastNeed] | None = None
        # Legal moves of the live position, UCI; None until they are asked for.
        self._legal: list[str] | None = None

    @property
    def ply(self) -> int:
        """Return the ply of the live position."""
        return self._root.ply

    def advance_to(self, position: Position, ply: int) -> None:
        """Make this position the root; keep the results below it."""
        if position == self._root.position:
            return
        before = self._root
        self._last = None
        if position.moves and before.position.moves == position.moves[:-1]:
            depth = before.result.depth if before.result is not None else None
            options = self._rules.search_options
            self._last = options.search_of_move(
                before.position, position.moves[-1], depth
            )
        self._root = self._nodes.get(position) or _TreeNode(position, ply)
        self._nodes = {node.position: node for node in self._root.walk_subtree()}
        self._needs = self._legal = None

    def has_search(self, search: Search) -> bool:
        """Return whether this search is of the tree's positions or of the last move."""
        return search.position in self._nodes or search == self._last

    def add_result(self, search: Search, result: SearchResult | SearchFailure) -> None:
        """Add the result of a needed search, or of the live position's search."""
        node = self._nodes.get(search.position)
        if node is None:
            return
        self._needs = None
        if search.only is not None:
            node.searched.add(search.only)
        elif isinstance(result, SearchFailure):
            node.dead = True
            if node.result is not None:
                # The scout failed, so the full search's choice is all that is known.
                node.by_scores = {node.result.best: self._policy.first_choice_chance}
                self._weigh_replies(node)
        elif search == self._build_scout(node):
            self._compute_scout_chances(node, result)
        else:
            node.result = result
            if len(result.lines) > 1:
                # A search of several lines shows as much as a scout would.
                self._compute_scout_chances(node, result)
            else:
                self._weigh_replies(node)

    def update_human_shares(self) -> None:
        """Compute the chances of the replies again, with new human shares of the live
        position.
        """
        if self._root.result is not None:
            self._needs = None
            self._weigh_replies(self._root)

    def list_needs(self) -> list[ForecastNeed]:
        """Return the searches that are worth making now, the most valuable first."""
        if self._needs is None:
            min_worth = self._policy.min_worth
            needs = [
                need
                for need in self._list_needs_below(self._root, 1.0, 0)
                if need.worth >= min_worth
            ]
            needs += self._list_unexpected_moves({need.search for need in needs})
            self._needs = sorted(needs, key=lambda need: -need.worth)
        return self._needs

    def _list_unexpected_moves(self, needed: Set[Search]) -> Iterator[ForecastNeed]:
        """Yield searches for the gains of the live position's moves that are not needed
        yet.
        """
        root = self._root
        rest = self._policy.surprise_value
        if root.result is None or not root.by_scores or not rest:
            return
        if self._legal is None:
            position = root.position
            board = chess.Board(position.start_fen, chess960=position.chess960)
            for move in position.moves:
                board.push_uci(move)
            self._legal = [move.uci() for move in board.legal_moves]
        for uci in self._legal:
            played = self._find_move_search(root, root.result, uci)
            if played is not None and played not in needed:
                yield ForecastNeed(rest, played)

    def _find_move_search(
        self, node: _TreeNode, result: SearchResult, move: str
    ) -> Search | None:
        """Return the search needed for the gain of a move; None if it was made or is
        unnecessary.
        """
        if move in node.searched or move in (
            result.best,
            *(line.move for line in result.lines),
        ):
            return None
        return self._rules.search_options.search_of_move(
            node.position, move, result.depth
        )

    def _list_needs_below(
        self, node: _TreeNode, worth: float, ahead: int
    ) -> Iterator[ForecastNeed]:
        """Yield the needs of a position that was searched, and of the positions below
        it.
        """
        result = node.result
        if (
            result is None
            or ahead >= self._policy.plies
            or worth < self._policy.min_worth
        ):
            return
        if not node.by_scores:
            yield ForecastNeed(worth * self._policy.scout, self._build_scout(node))
        if not node.odds:
            yield from self._list_reply_needs(
                node, result.best, worth * self._policy.first_choice_chance, ahead
            )
            return
        for move, chance in node.odds:
            if worth * chance < self._min_chance:
                break
            played = self._find_move_search(node, result, move)
            if played is not None:
                yield ForecastNeed(worth * chance * self._policy.gain, played)
            yield from self._list_reply_needs(node, move, worth * chance, ahead)

    def _list_reply_needs(
        self, node: _TreeNode, move: str, worth: float, ahead: int
    ) -> Iterator[ForecastNeed]:
        """Yield the needs of the position after a reply."""
        after = node.after.get(move)
        if after is None:
            position = node.position
            reply = Position(
                position.start_fen, (*position.moves, move), position.chess960
            )
            after = node.after[move] = self._nodes[reply] = _TreeNode(
                reply, node.ply + 1
            )
        if after.result is not None:
            yield from self._list_needs_below(
                after, worth * self._policy.discount, ahead + 1
            )
        elif not after.dead:
            yield ForecastNeed(
                worth, self._rules.search_options.search_of_position(after.position)
            )

    def _build_scout(self, node: _TreeNode) -> Search:
        return Search(
            node.position, lines=self._policy.replies, limit=self._scout_limit
        )

    def _compute_scout_chances(self, node: _TreeNode, scout: SearchResult) -> None:
        """Compute the chances of the replies from a scout's scores.

        The best move of the full search counts as at least as good as that of the
        scout.
        """
        assert node.result is not None
        best = node.result.best
        position = node.position
        sign = (
            1 if (len(position.moves) % 2 == 0) == (" w " in position.start_fen) else -1
        )
        top_cp = scout.lines[0].score.cp if scout.lines else 0
        behind_cp = {
            line.move: max(0, sign * (top_cp - line.score.cp)) for line in scout.lines
        }
        behind_cp[best] = 0
        moves = sorted(behind_cp, key=lambda move: (behind_cp[move], move != best))
        odds = self._rules.chances(
            self._board, node.ply + 1, [behind_cp[move] for move in moves]
        )
        node.by_scores = dict(zip(moves, odds, strict=True))
        self._weigh_replies(node)

    def _weigh_replies(self, node: _TreeNode) -> None:
        """Compute the chances of the replies from scores and human shares, as far as
        known.
        """
        likely = self._rules.likely
        people = likely(self._board, node.position) if likely is not None else {}
        scores = node.by_scores
        if people and not scores and node.result is not None:
            scores = {node.result.best: self._policy.first_choice_chance}
        node.odds = combine_chances(scores, people) if people else list(scores.items())


def combine_chances(
    by_scores: Mapping[str, float], by_people: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Return the combined chances by scores and by people, likeliest first; they add up
    to 1.
    """
    odds = {
        move: (by_scores.get(move, _UNKNOWN) * by_people.get(move, _UNKNOWN)) ** _POWER
        for move in {**by_scores, **by_people}
    }
    total = sum(odds.values())
    return sorted(
        ((move, chance / total) for move, chance in odds.items()),
        key=lambda move_chance: -move_chance[1],
    )


def rank_speculation(worth: float) -> int:
    """Return the rank of a search of this value among speculation; lower ranks come
    first.
    """
    return round(-1000 * math.log(worth))


def reduce_limit(limit: Limit) -> Limit:
    """Return a limit with about a quarter of the effort."""
    if limit.nodes is not None:
        return Limit(nodes=max(1, limit.nodes // 4))
    if limit.depth is not None:
        return Limit(depth=max(1, limit.depth - 3))
    return Limit(movetime_ms=max(1, (limit.movetime_ms or 0) // 4))
