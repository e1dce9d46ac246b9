"""While a player thinks: what the next moves will need, searched ahead.

Every live board has a :class:`live.engine.look_ahead.MoveForecast`, which says what is worth
searching. Of all boards the search goes first that is worth most (that a player who has just begun
to think moves sooner than one who has thought for long was tried as a weight, and gained nothing).
Searches are made under the very same limit as if the moves had been played, so the results are
those that would be found then, and all at the lowest priority: a head takes the engine away at
once. No more of them are requested than keep the engines busy, so that each choice is made late and
knows what has happened.

Stands between the pool and its listener; leaving it out switches speculation off.

A forecast is a tree of positions, as far as it pays to look, and pure. Its root is the live
position, its branches are replies. Each position in it needs a search of its own (the score when it
comes), each reply a restricted search of the position before it (the gain), and each position that
is searched a scout: one short search for several lines, which shows how likely the replies are.
What is found is kept while the game stays within the tree, so nothing is searched twice, and after
a move the part of the tree that came true lives on.

How much a search is worth is the chance that the game comes to where it is needed, less for every
ply further ahead: what is needed later can mostly still be searched later. Last of all come the
gains of the live position's moves that nobody expects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple, Protocol

import chess
import msgspec

from live.engine.search import (
    Limit,
    Position,
    Recent,
    Search,
    SearchFailure,
    SearchOptions,
    SearchProgress,
    SearchResult,
)
from live.engine.search_queue import (
    ResultListener,
    SearchDesk,
    SearchKind,
    SearchPriority,
)
from live.events import (
    Change,
    GameId,
    GameMessage,
    GoneMessage,
    MoveMessage,
    SpeculationFigures,
    Value,
)

Chances = Callable[[str, int, Sequence[int]], Sequence[float]]
"""How likely each reply is: of this board, of the move at this ply, by the centipawns each is
behind the best, best first. As many numbers from 0 to 1 as there are replies."""

Likely = Callable[[str, Position], Mapping[str, float]]
"""What people of this board would play in a position: shares by UCI; empty while not known."""

#: Scores and people each say how likely a reply is; their product, each to this power, says most:
#: over 325 moves of six boards of an open of April 2025 1.54 nats a move,
#: where scores alone say 1.79 and people alone 1.98; its first choice is played 54 times in 100
#: instead of 44.
_POWER = 0.7
#: A reply that one of them does not know of is as likely as this.
_UNKNOWN = 0.003


class ForecastPolicy(Value):
    """What searches are worth beside each other. Chosen by replays of eight classical boards;
    around these values a few percent either way change little.
    """

    replies: int = 12
    """Lines of a scout."""
    first: float = 0.5
    """Chance of the engine's first choice before the scout has looked."""
    scout: float = 0.2
    """Worth of a scout where its position is certain to come, beside a search worth 1. Its cost
    is about a quarter of theirs."""
    gain: float = 1.2
    """Worth of a gain beside that of a score."""
    fade: float = 0.15
    """What remains of a worth with every ply further ahead."""
    plies: int = 3
    """How far ahead is looked."""
    least: float = 0.01
    """What is worth less is not searched, but for the rest of the live position's moves."""
    rest: float = 0.002
    """Worth of the gain of each move that nobody expects: three moves in a hundred are such a one,
    and there are some twenty of them. 0: they are not searched."""


class ForecastNeed(Value, gc=False):
    """A search that may be needed, and the worth of having it."""

    worth: float
    search: Search


class _Spot(msgspec.Struct, eq=False):
    """A position that is there or may come."""

    position: Position
    ply: int
    found: SearchResult | None = None
    dead: bool = False
    """No search answers here: the game would be over."""
    by_scores: Mapping[str, float] = {}
    """How likely replies are by the scout's scores; empty before it."""
    odds: list[tuple[str, float]] = []
    """Moves and their chances, likeliest first; empty while neither scout nor people know."""
    made: set[str] = set()
    """Moves whose restricted search was made."""
    after: dict[str, _Spot] = {}

    def all(self) -> Iterator[_Spot]:
        """This and all behind it."""
        yield self
        for spot in self.after.values():
            yield from spot.all()


class ForecastRules(NamedTuple):
    """What forecasts of all boards have in common."""

    limit: Limit
    chances: Chances
    search_options: SearchOptions = SearchOptions()
    policy: ForecastPolicy = ForecastPolicy()
    likely: Likely | None = None
    """None: nobody knows what people play."""


class MoveForecast:
    """The tree of one board. ``ply`` counts from 0, the starting position of its game."""

    def __init__(self, board: str, position: Position, ply: int, rules: ForecastRules) -> None:
        self._board = board
        self._rules = rules
        self._policy = rules.policy
        self._scout_limit = scout_limit(rules.limit)
        # What is worth less is not searched: chances do not fall below a part of it.
        self._least = rules.policy.least / max(1.0, rules.policy.gain)
        self._root = _Spot(position, ply)
        self._spots = {position: self._root}
        # The restricted search of the last move, which may still be needed.
        self._last: Search | None = None
        self._needs: list[ForecastNeed] | None = None
        # Legal moves of the live position, UCI; None while nothing asked for them.
        self._legal: list[str] | None = None

    @property
    def ply(self) -> int:
        """Of the live position."""
        return self._root.ply

    def advance(self, position: Position, ply: int) -> None:
        """The game has come to this position."""
        if position == self._root.position:
            return
        before = self._root
        self._last = None
        if position.moves and before.position.moves == position.moves[:-1]:
            depth = before.found.depth if before.found is not None else None
            options = self._rules.search_options
            self._last = options.played(before.position, position.moves[-1], depth)
        self._root = self._spots.get(position) or _Spot(position, ply)
        self._spots = {spot.position: spot for spot in self._root.all()}
        self._needs = self._legal = None

    def concerns(self, search: Search) -> bool:
        """Whether this search is of a position in the tree, or of the move just made."""
        return search.position in self._spots or search == self._last

    def learn(self, search: Search, result: SearchResult | SearchFailure) -> None:
        """One of the needs was searched, or the live position itself."""
        spot = self._spots.get(search.position)
        if spot is None:
            return
        self._needs = None
        if search.only is not None:
            spot.made.add(search.only)
        elif isinstance(result, SearchFailure):
            spot.dead = True
            if spot.found is not None:
                # The scout failed; what the full search chose is all that is known.
                spot.by_scores = {spot.found.best: self._policy.first}
                self._weigh(spot)
        elif search == self._scout(spot):
            self._read(spot, result)
        else:
            spot.found = result
            if len(result.lines) > 1:
                # Several lines are searched anyway: they show as much as a scout.
                self._read(spot, result)
            else:
                self._weigh(spot)

    def people_known(self) -> None:
        """It has become known what people would play in the live position."""
        if self._root.found is not None:
            self._needs = None
            self._weigh(self._root)

    def needs(self) -> list[ForecastNeed]:
        """All that is worth searching now, most worth first."""
        if self._needs is None:
            least = self._policy.least
            needs = [need for need in self._walk(self._root, 1.0, 0) if need.worth >= least]
            needs += self._unexpected({need.search for need in needs})
            self._needs = sorted(needs, key=lambda need: -need.worth)
        return self._needs

    def _unexpected(self, needed: Set[Search]) -> Iterator[ForecastNeed]:
        """Gains of the moves of the live position that are not needed yet."""
        root, rest = self._root, self._policy.rest
        if root.found is None or not root.by_scores or not rest:
            return
        if self._legal is None:
            here = root.position
            board = chess.Board(here.start_fen, chess960=here.chess960)
            for move in here.moves:
                board.push_uci(move)
            self._legal = [move.uci() for move in board.legal_moves]
        for uci in self._legal:
            played = self._played(root, root.found, uci)
            if played is not None and played not in needed:
                yield ForecastNeed(rest, played)

    def _played(self, spot: _Spot, found: SearchResult, move: str) -> Search | None:
        """The search that the gain of a move needs; none where it is made or needless."""
        if move in spot.made or move in (found.best, *(line.move for line in found.lines)):
            return None
        return self._rules.search_options.played(spot.position, move, found.depth)

    def _walk(self, spot: _Spot, worth: float, ahead: int) -> Iterator[ForecastNeed]:
        """What a position that was searched, and those behind it, need."""
        found = spot.found
        if found is None or ahead >= self._policy.plies or worth < self._policy.least:
            return
        if not spot.by_scores:
            yield ForecastNeed(worth * self._policy.scout, self._scout(spot))
        if not spot.odds:
            yield from self._reply(spot, found.best, worth * self._policy.first, ahead)
            return
        for move, chance in spot.odds:
            if worth * chance < self._least:
                break
            played = self._played(spot, found, move)
            if played is not None:
                yield ForecastNeed(worth * chance * self._policy.gain, played)
            yield from self._reply(spot, move, worth * chance, ahead)

    def _reply(self, spot: _Spot, move: str, worth: float, ahead: int) -> Iterator[ForecastNeed]:
        after = spot.after.get(move)
        if after is None:
            here = spot.position
            there = Position(here.start_fen, (*here.moves, move), here.chess960)
            after = spot.after[move] = self._spots[there] = _Spot(there, spot.ply + 1)
        if after.found is not None:
            yield from self._walk(after, worth * self._policy.fade, ahead + 1)
        elif not after.dead:
            yield ForecastNeed(worth, self._rules.search_options.whole(after.position))

    def _scout(self, spot: _Spot) -> Search:
        return Search(spot.position, lines=self._policy.replies, limit=self._scout_limit)

    def _read(self, spot: _Spot, scout: SearchResult) -> None:
        """How likely the replies are by scores; the full search's choice counts as no worse than
        the scout's.
        """
        assert spot.found is not None
        best = spot.found.best
        here = spot.position
        sign = 1 if (len(here.moves) % 2 == 0) == (" w " in here.start_fen) else -1
        top = scout.lines[0].score.cp if scout.lines else 0
        behind = {line.move: max(0, sign * (top - line.score.cp)) for line in scout.lines}
        behind[best] = 0
        moves = sorted(behind, key=lambda move: (behind[move], move != best))
        odds = self._rules.chances(self._board, spot.ply + 1, [behind[move] for move in moves])
        spot.by_scores = dict(zip(moves, odds, strict=True))
        self._weigh(spot)

    def _weigh(self, spot: _Spot) -> None:
        """How likely the replies are by all that is known."""
        likely = self._rules.likely
        people = likely(self._board, spot.position) if likely is not None else {}
        scores = spot.by_scores
        if people and not scores and spot.found is not None:
            scores = {spot.found.best: self._policy.first}
        spot.odds = joined(scores, people) if people else list(scores.items())


def joined(
    by_scores: Mapping[str, float], by_people: Mapping[str, float]
) -> list[tuple[str, float]]:
    """Chances by scores and by people in one, likeliest first; they add up to 1."""
    odds = {
        move: (by_scores.get(move, _UNKNOWN) * by_people.get(move, _UNKNOWN)) ** _POWER
        for move in {**by_scores, **by_people}
    }
    total = sum(odds.values())
    return sorted(
        ((move, chance / total) for move, chance in odds.items()), key=lambda each: -each[1]
    )


def speculative_rank(worth: float) -> int:
    """Where a search of this worth stands among speculation: lower first."""
    return round(-1000 * math.log(worth))


def scout_limit(limit: Limit) -> Limit:
    """About a quarter of the effort."""
    if limit.nodes is not None:
        return Limit(nodes=max(1, limit.nodes // 4))
    if limit.depth is not None:
        return Limit(depth=max(1, limit.depth - 3))
    return Limit(movetime_ms=max(1, (limit.movetime_ms or 0) // 4))


#: Guessed searches remembered until they come true.
_KEPT = 2_000
#: Open requests for each engine: one runs, one is at hand, so that no
#: engine waits for the next.
_EACH = 2


class LookAheadPool(SearchDesk, Protocol):
    """Where they are made: the pool."""

    @property
    def slots(self) -> int:
        """How many can run at a time."""


class LookAhead:
    """Stands before the pool; leaving it out switches speculation off. Its own searches own
    themselves.
    """

    desk: LookAheadPool
    """The pool, known only after it was made with this as its listener."""

    def __init__(self, listener: ResultListener, rules: ForecastRules) -> None:
        self._listener = listener
        # Guessed searches that were requested later, and were ready; searches of heads that were
        # not.
        self._hits = self._misses = 0
        self._rules = rules
        # Of each live board.
        self._forecasts: dict[str, MoveForecast] = {}
        # What each of these boards needs most of what is not requested yet, and the boards of
        # which that may have changed: an answer costs nothing for all the others.
        self._first_needs: dict[str, ForecastNeed | None] = {}
        self._changed: set[str] = set()
        # Whole searches of heads under way, with their board, by owner: forecasts begin with what
        # they find.
        self._heads: dict[Hashable, tuple[Search, str]] = {}
        # Asked for and not yet answered, with the boards it is for.
        self._pending: dict[Search, list[str]] = {}
        # Guessed searches that were made, by their hash (whole ones are a kilobyte each), with the
        # board they are for.
        self._made: Recent[int, str] = Recent(_KEPT)

    def figures(self) -> SpeculationFigures:
        """What speculation has gained so far, for people."""
        return SpeculationFigures(self._hits, self._misses)

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        """As the pool's own. A board's new head moves its forecast on (a takeback ends it by
        :meth:`over`: an older ply's head may just be late).
        """
        self._count(search, priority)
        if priority.kind in (SearchKind.CLOSING, SearchKind.FINISHED):
            self._end(priority.board)
        elif priority.kind is SearchKind.HEAD and search.only is None:
            board = priority.board
            self._heads[owner] = (search, board)
            # What is no longer needed gives its engines back before the head would take one.
            forecast = self._forecasts.get(board)
            if forecast is None:
                forecast = MoveForecast(board, search.position, priority.ply, self._rules)
                self._forecasts[board] = forecast
                self._first_needs[board] = None
                self._changed.add(board)
            elif priority.ply > forecast.ply:
                forecast.advance(search.position, priority.ply)
                self._changed.add(board)
                self._tidy()
        boards = self._pending.pop(search, None)
        came_true = boards is not None
        self._changed.update(boards or ())
        self.desk.submit(search, owner, priority)
        if came_true:
            # After it was requested, so that it is not stopped: it is the owner's from now on.
            self.desk.drop(search)
        self._fill()

    def drop(self, owner: Hashable) -> None:
        """As the pool's own."""
        self._heads.pop(owner, None)
        self.desk.drop(owner)

    def known(self, search: Search) -> SearchResult | None:
        """As the pool's own."""
        return self.desk.known(search)

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        """As the listener's own."""
        self._listener.progressed(owner, progress)

    def over(self, board: str) -> None:
        """The board's last position stands no more, or nobody will move there: guess no more."""
        self._end(board)
        self._fill()

    def people_known(self, board: str) -> None:
        """It has become known what people would play in the live position of this board."""
        if board in self._forecasts:
            self._forecasts[board].people_known()
            self._changed.add(board)
            self._fill()

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        """As the listener's own; guesses are not passed on."""
        if isinstance(owner, Search):
            boards = self._pending.pop(search, [])
            if boards and isinstance(result, SearchResult):
                self._made[hash(search)] = boards[0]
        else:
            asked, board = self._heads.get(owner, (None, ""))
            self._listener.searched(owner, search, result)
            boards = [board] if asked == search else []
            if boards:
                self._heads.pop(owner, None)
        self._changed.update(boards)
        for name in boards:
            if name in self._forecasts:
                self._forecasts[name].learn(search, result)
        self._fill()

    def _end(self, board: str) -> None:
        if self._forecasts.pop(board, None) is not None:
            self._first_needs.pop(board, None)
            for made in [made for made, of in self._made.items() if of == board]:
                del self._made[made]
            self._tidy()

    def _tidy(self) -> None:
        """Drop what no game can come to any more."""
        for search, boards in list(self._pending.items()):
            boards[:] = [
                name
                for name in boards
                if name in self._forecasts and self._forecasts[name].concerns(search)
            ]
            if not boards:
                del self._pending[search]
                self.desk.drop(search)

    def _count(self, search: Search, priority: SearchPriority) -> None:
        if self._made.pop(hash(search), None) is not None:
            # What is asked of the scouts of people's moves is no gain and no score.
            self._hits += priority.kind is not SearchKind.SPECULATE
        elif priority.kind is SearchKind.HEAD:
            self._misses += 1

    def _fill(self) -> None:
        """Ask for what is worth most, until the engines have enough at hand."""
        while len(self._pending) < _EACH * self.desk.slots:
            for name in self._changed & self._forecasts.keys():
                self._first_needs[name] = self._find_first(name)
            self._changed.clear()
            name = max(self._first_needs, key=self._worth_of_first, default="")
            need = self._first_needs.get(name)
            if need is None:
                return
            self._changed.add(name)
            search = need.search
            if search in self._pending:
                # Requested for another board since.
                continue
            known = self.desk.known(search)
            if known is not None:
                self._forecasts[name].learn(search, known)
                continue
            self._pending[search] = [name]
            rank = speculative_rank(need.worth)
            ply = len(search.position.moves) + (search.only is not None)
            priority = SearchPriority(SearchKind.SPECULATE, name, ply, rank)
            self.desk.submit(search, search, priority)

    def _worth_of_first(self, name: str) -> float:
        need = self._first_needs[name]
        return 0.0 if need is None else need.worth

    def _find_first(self, name: str) -> ForecastNeed | None:
        """What the board needs most of what is not requested yet."""
        for need in self._forecasts[name].needs():
            boards = self._pending.get(need.search)
            if boards is None:
                return need
            if name not in boards:
                boards.append(name)
        return None


def boards_over(changes: Iterable[Change]) -> Iterator[GameId]:
    """Games whose last position stands no more, or in which nobody will move."""
    for change in changes:
        if isinstance(change, GameMessage) and change.game.result != "*":
            yield change.game.id
        elif isinstance(change, GoneMessage) or (
            isinstance(change, MoveMessage) and change.move is None
        ):
            yield change.game
