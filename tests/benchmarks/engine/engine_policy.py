"""What searching ahead could be worth: ``python -m tests.benchmarks.engine.engine_policy``.

The queue and speculation themselves, in a time of their own: six classical boards of an open
(``tests/data/six-boards.json.gz``: thinking times, moves, and what the engine found and a scout
told in every position) against engines that take as long as they are said to. No engine runs, a
line of the table takes seconds, and the same comes out every time, so policies can be compared.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import json
import random
import statistics
import sys
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from pathlib import Path

import chess
import msgspec

from live.engine.ahead.look_ahead import LookAhead
from live.engine.ahead.move_forecast import (
    WITH_PEOPLE,
    ForecastPolicy,
    scout_limit,
    speculative_rank,
)
from live.engine.queue.search_priority import SearchKind, SearchPriority
from live.engine.queue.search_queue import (
    DeliverResult,
    Instruction,
    SearchQueue,
    StartSearch,
    StopSearch,
)
from live.engine.search import (
    Limit,
    Line,
    Position,
    Search,
    SearchFailure,
    SearchProgress,
    SearchResult,
)
from live.events import Score
from live.human.players import answers, open_network
from live.human.question import HumanQuestion

People = Callable[[tuple[str, ...]], Mapping[str, float]]
"""How many people play each move after these."""

BOARDS = Path(__file__).parents[2] / "data" / "six-boards.json.gz"
LIMIT = Limit(nodes=100_000)
#: What a search costs beyond its nodes, seconds; and how long an engine takes to stop.
OVERHEAD_S, STOP_S = 0.012, 0.002


class Found(msgspec.Struct, frozen=True):
    """What the engine found in a position: its choice, its depth, and a scout's lines (moves and
    centipawns, mover's side).
    """

    best: str
    depth: int
    lines: tuple[tuple[str, int], ...]


class Board(msgspec.Struct, frozen=True):
    """One game, and what was found in each of its positions; None where it was over."""

    thinking_s: tuple[float, ...]
    moves: tuple[str, ...]
    positions: tuple[Found | None, ...]


class Wish(msgspec.Struct, frozen=True):
    """Who wants a search: a board, of the position after a ply or of the move of that ply."""

    board: int
    kind: str
    ply: int


class Book:
    """The answers. Positions no game came to get invented ones of the same shape."""

    def __init__(self, boards: list[Board]) -> None:
        self._found = {
            board.moves[:ply]: found
            for board in boards
            for ply, found in enumerate(board.positions)
        }
        self._shapes = [f.lines for f in self._found.values() if f is not None and f.lines]
        self._stands: dict[tuple[str, ...], chess.Board] = {}

    def result(self, search: Search) -> SearchResult | SearchFailure:
        moves = search.position.moves
        if search.only is not None:
            return SearchResult(Score(0), search.only, 12, nodes=100_000)
        found = self._found[moves] if moves in self._found else self._invented(moves)
        if found is None:
            return SearchFailure("the game is over")
        sign = 1 if len(moves) % 2 == 0 else -1
        lines = tuple(Line(move, Score(sign * cp), 9) for move, cp in found.lines)
        nodes = (search.limit or LIMIT).nodes or 0
        if search.lines == 1:
            return SearchResult(Score(0), found.best, found.depth, nodes=nodes)
        return SearchResult(Score(0), found.best, 9, nodes=nodes, lines=lines[: search.lines])

    def _invented(self, moves: tuple[str, ...]) -> Found | None:
        legal = [move.uci() for move in self._stand(moves).legal_moves]
        if not legal:
            return None
        rng = random.Random(" ".join(moves[-4:]))
        rng.shuffle(legal)
        shape = rng.choice(self._shapes)
        return Found(legal[0], 12, tuple((a, cp) for a, (_, cp) in zip(legal, shape, strict=False)))

    def _stand(self, moves: tuple[str, ...]) -> chess.Board:
        stand = self._stands.get(moves)
        if stand is None:
            stand = chess.Board()
            if moves:
                stand = self._stand(moves[:-1]).copy(stack=False)
                stand.push_uci(moves[-1])
            self._stands[moves] = stand
        return stand


class Hall:
    """Boards, ledger and room in one: a desk, and the listener of whoever searches ahead."""

    def __init__(
        self,
        boards: list[Board],
        engines: int,
        knodes_per_s: float,
        speed: float,
        people: People | None = None,
    ) -> None:
        # What people would play, known of every position as soon as it is on the board.
        self._people = people
        self.slots = engines
        self.searches = 0
        self.gain_s: list[float] = []
        self.score_s: list[float] = []
        self.ahead: LookAhead | None = None
        self._boards = boards
        self._book = Book(boards)
        self._knodes_per_s = knodes_per_s
        self._rng = random.Random(1)
        self._queue: SearchQueue[Search] = SearchQueue(engines)
        self._cache: dict[Search, SearchResult] = {}
        # What each engine searches, and which of its runs counts.
        self._running: list[tuple[int, Search | None]] = [(0, None)] * engines
        self._now = 0.0
        # Events of one moment come in the order in which they were told.
        self._told = 0
        self._events: list[tuple[float, int, str, int, int]] = []
        self._deliveries: deque[tuple[Hashable, Search, SearchResult | SearchFailure] | None] = (
            deque()
        )
        self._ply = [0] * len(boards)
        self._asked: set[Wish] = set()
        self._answers: dict[Wish, SearchResult] = {}
        # When a move came whose gain (or score) is not known yet.
        self._open: dict[Wish, float] = {}
        for index, board in enumerate(boards):
            at_s = 0.0
            self._at(0.0, "move", index, 0)
            for ply, pause_s in enumerate(board.thinking_s, start=1):
                at_s += pause_s / speed
                self._at(at_s, "move", index, ply)

    def play(self) -> None:
        for engine in range(self.slots):
            self._obey(self._queue.up(engine))
        while self._events:
            self._now, _, what, index, number = heapq.heappop(self._events)
            if what == "move":
                self._move(index, number)
            elif number == self._running[index][0]:
                self._end(index)
            self._report()

    def _at(self, at_s: float, what: str, index: int, number: int) -> None:
        self._told += 1
        heapq.heappush(self._events, (at_s, self._told, what, index, number))

    # The ledger.

    def _move(self, index: int, ply: int) -> None:
        self._ply[index] = ply
        if ply:
            self._open[Wish(index, "gain", ply)] = self._now
            self._open[Wish(index, "score", ply)] = self._now
        self._review(index, ply)
        self._settle(index)
        if self.ahead is not None and self._people is not None:
            self.ahead.people_known(str(index))

    def _review(self, index: int, ply: int) -> None:
        board = self._boards[index]
        if not 0 <= ply <= self._ply[index]:
            return
        start = chess.STARTING_FEN
        if board.positions[ply] is not None:
            whole = Search(Position(start, board.moves[:ply]))
            self._ask(Wish(index, "position", ply), whole)
        before = self._answers.get(Wish(index, "position", ply - 1))
        if ply and before is not None and not self._free(index, ply):
            played = Search(Position(start, board.moves[: ply - 1]), only=board.moves[ply - 1])
            self._ask(Wish(index, "played", ply), played)

    def _ask(self, wish: Wish, search: Search) -> None:
        if wish not in self._asked:
            self._asked.add(wish)
            desk = self.ahead or self
            desk.submit(search, wish, SearchPriority(SearchKind.HEAD, str(wish.board), wish.ply))

    def _free(self, index: int, ply: int) -> bool:
        """Whether the gain needs no search of its own: the first choice, or the game's end."""
        board = self._boards[index]
        before = self._answers[Wish(index, "position", ply - 1)]
        return before.best == board.moves[ply - 1] or board.positions[ply] is None

    def _settle(self, index: int) -> None:
        for wish, since in [each for each in self._open.items() if each[0].board == index]:
            before = Wish(index, "position", wish.ply - 1) in self._answers
            here = Wish(index, "position", wish.ply) in self._answers
            over = self._boards[index].positions[wish.ply] is None
            played = Wish(index, "played", wish.ply) in self._answers
            if wish.kind == "score" and (here or over):
                self.score_s.append(self._now - since)
            elif wish.kind == "gain" and before and (played or self._free(index, wish.ply)):
                self.gain_s.append(self._now - since)
            else:
                continue
            del self._open[wish]

    def searched(
        self, owner: Hashable, search: Search, result: SearchResult | SearchFailure
    ) -> None:
        assert isinstance(owner, Wish)
        assert isinstance(result, SearchResult)
        self._answers[owner] = result
        if owner.kind == "replies":
            return
        if self._people is not None and owner.kind == "position":
            self._ask_replies(owner)
        self._review(owner.board, owner.ply)
        self._review(owner.board, owner.ply + 1)
        self._settle(owner.board)

    def _ask_replies(self, owner: Wish) -> None:
        """As the ledger, which wants to know what the moves that people choose would lose."""
        moves = self._boards[owner.board].moves[: owner.ply]
        scout = Search(
            Position(chess.STARTING_FEN, moves),
            lines=ForecastPolicy().replies,
            limit=scout_limit(LIMIT),
        )
        wish = Wish(owner.board, "replies", owner.ply)
        rank = speculative_rank(ForecastPolicy().scout)
        priority = SearchPriority(SearchKind.SPECULATE, str(owner.board), owner.ply, rank)
        (self.ahead or self).submit(scout, wish, priority)

    def likely(self, board: str, position: Position) -> Mapping[str, float]:
        """What people would play, in positions that the game has come to."""
        reached = self._boards[int(board)].moves[: self._ply[int(board)]]
        if self._people is None or position.moves != reached[: len(position.moves)]:
            return {}
        return self._people(position.moves)

    def progressed(self, owner: Hashable, progress: SearchProgress) -> None:
        pass

    # The room.

    def known(self, search: Search) -> SearchResult | None:
        return self._cache.get(search)

    def submit(self, search: Search, owner: Hashable, priority: SearchPriority) -> None:
        known: SearchResult | SearchFailure | None = self._cache.get(search)
        if known is None and search.only is None:
            found = self._book.result(search)
            known = found if isinstance(found, SearchFailure) else None
        if known is not None:
            self._deliveries.append((owner, search, known))
        else:
            self._obey(self._queue.submit(owner, search, search, priority, self._now))

    def drop(self, owner: Hashable) -> None:
        self._deliveries = deque(
            each for each in self._deliveries if each is None or each[0] != owner
        )
        self._obey(self._queue.drop(owner))

    def _end(self, engine: int) -> None:
        search = self._running[engine][1]
        if search is None:
            self._obey(self._queue.finished(engine, stopped=True))
            return
        result = self._book.result(search)
        assert isinstance(result, SearchResult)
        self._cache[search] = result
        self.searches += 1
        self._obey(self._queue.finished(engine), result)

    def _obey(
        self, instructions: list[Instruction[Search]], result: SearchResult | None = None
    ) -> None:
        for instruction in instructions:
            if isinstance(instruction, DeliverResult):
                told = instruction.failure or result
                assert told is not None
                self._deliveries.append((instruction.owner, instruction.search, told))
            elif isinstance(instruction, (StartSearch, StopSearch)):
                run = self._running[instruction.engine][0] + 1
                takes_s = STOP_S
                search = None
                if isinstance(instruction, StartSearch):
                    search = instruction.key
                    knodes = ((search.limit or LIMIT).nodes or 0) / 1000
                    takes_s = OVERHEAD_S + knodes / self._knodes_per_s * self._rng.uniform(0.8, 1.2)
                self._running[instruction.engine] = (run, search)
                self._at(self._now + takes_s, "end", instruction.engine, run)
            else:
                self._deliveries.append(None)

    def _report(self) -> None:
        while self._deliveries:
            reply = self._deliveries.popleft()
            if reply is None:
                self._obey(self._queue.assign())
            else:
                (self.ahead or self).searched(*reply)


def shipped_people() -> People:
    """What players rated 2200 would play, by the network that comes with the package."""
    network = open_network()

    @cache
    def people(moves: tuple[str, ...]) -> Mapping[str, float]:
        board = chess.Board()
        for uci in moves[:-2]:
            board.push_uci(uci)
        question = HumanQuestion(board.fen(), moves[-2:], (2200,), "otb")
        return {
            uci: many / 1000 for uci, many in answers(network, [question])[0].per_mille[0].items()
        }

    return people


def line(name: str, service: Hall) -> None:
    """Play and print what came of it."""
    service.play()
    ready = sum(each < 0.005 for each in service.gain_s) / len(service.gain_s)
    scored = sum(each < 0.005 for each in service.score_s) / len(service.score_s)
    times = sorted(service.gain_s)
    sys.stdout.write(
        f"{name:<34}{ready:>11.1%}{scored:>13.1%}{statistics.median(times) * 1000:>11.0f}"
        f"{times[int(0.99 * len(times))] * 1000:>9.0f}{service.searches:>10}\n"
    )
    sys.stdout.flush()


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--speed", type=float, default=30.0)
    parser.add_argument("--engines", type=int, default=2)
    parser.add_argument("--knps", type=float, default=520.0, help="knodes/s of each engine")
    parser.add_argument("--human", action="store_true", help="with what people would play, too")
    parser.add_argument("--policies", action="store_true", help="other policies too")
    arguments = parser.parse_args()
    with gzip.open(BOARDS) as file:
        boards = msgspec.convert(json.load(file)["boards"], list[Board])
    sys.stdout.write(
        f"{len(boards)} boards at {arguments.speed:g} times, {arguments.engines} engines of "
        f"{arguments.knps:g} knodes/s, {LIMIT}\n{'':<34}{'gain ready':>11}{'score ready':>13}"
        f"{'median ms':>11}{'99 % ms':>9}{'searches':>10}\n"
    )
    policies: dict[str, ForecastPolicy | None] = {"without": None, "ahead": ForecastPolicy()}
    if arguments.policies:
        for field, value in (
            ("plies", 1),
            ("fade", 0.1),
            ("fade", 0.6),
            ("replies", 6),
            ("scout", 0.5),
            ("gain", 0.7),
            ("gain", 2.0),
            ("least", 0.02),
        ):
            policies[f"ahead, {field} = {value}"] = msgspec.structs.replace(
                ForecastPolicy(), **{field: value}
            )
    for name, policy in policies.items():
        service = Hall(boards, arguments.engines, arguments.knps, arguments.speed)
        if policy is not None:
            service.ahead = LookAhead(service, LIMIT, policy=policy)
            service.ahead.desk = service
        line(name, service)
    if arguments.human:
        people = shipped_people()
        for name, policy in (("same policy", ForecastPolicy()), ("gains first", WITH_PEOPLE)):
            service = Hall(boards, arguments.engines, arguments.knps, arguments.speed, people)
            service.ahead = LookAhead(service, LIMIT, likely=service.likely, policy=policy)
            service.ahead.desk = service
            line(f"ahead, with people, {name}", service)
    for faster in (2, 4, 10):
        service = Hall(boards, arguments.engines, arguments.knps * faster, arguments.speed)
        service.ahead = LookAhead(service, LIMIT)
        service.ahead.desk = service
        line(f"ahead, engines {faster} times as fast", service)
    sys.stdout.write("aim: 90 % of gains, 67 % of scores, median under 50 ms\n")


if __name__ == "__main__":
    main()
