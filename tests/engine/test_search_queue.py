"""Events in, instructions out; the invariants hold after every one."""

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from live.engine.search import Limit, Position, Search, SearchFailure
from live.engine.search_key import SearchKey
from live.engine.search_queue import (
    MAX_DEATHS,
    MAX_OUTSIDE_KILLS,
    AssignSearches,
    DeliverResult,
    Instruction,
    SearchKind,
    SearchPriority,
    SearchQueue,
    StartSearch,
    StopSearch,
)


def search(name: str) -> Search:
    return Search(Position(name))


def key(name: str) -> SearchKey:
    return SearchKey(name, (), Limit(nodes=1))


def start(engine: int, name: str) -> StartSearch:
    return StartSearch(engine, key(name))


KINDS = {kind.name[0].lower(): kind for kind in SearchKind}


class Desk:
    """A queue, and engines that end their searches when told to."""

    def __init__(self, engines: int = 1) -> None:
        self.queue = SearchQueue(engines)
        for engine in range(engines):
            self.queue.on_engine_ready(engine)

    def submit(
        self, request: str, name: str = "", now: float = 0.0
    ) -> list[Instruction]:
        """``h:a9``: the head of board a at ply 9 (``c:``, ``b:``, ``f:`` the other
        kinds), its search called like that or by ``name``; ``s:a9/2``: speculation of
        rank 2.
        """
        kind, owner = request.split(":")
        owner, _, rank = owner.partition("/")
        priority = SearchPriority(KINDS[kind], owner[0], int(owner[1:]), int(rank or 0))
        name = name or owner
        return self.queue.submit(owner, search(name), key(name), priority, now)

    def run(self, engine: int = 0) -> str:
        """Finish searches one after another; the order in which they were started."""
        order = []
        while (subject := self.queue.find_running_priority(engine)) is not None:
            order.append(f"{subject.board}{subject.ply}")
            for instruction in self.queue.on_search_finished(engine):
                if isinstance(instruction, AssignSearches):
                    self.queue.assign_searches()
        return " ".join(order)


@pytest.fixture
def desk() -> Desk:
    """A queue with one engine."""
    return Desk()


@pytest.mark.parametrize(
    ("requests", "served"),
    [
        # Kinds in their order.
        ("b:z0 s:a0 f:a1 b:a2 c:a3 h:a4", "z0 a4 a3 a2 a1 a0"),
        # All that somebody waits for of a board on air; nobody waits for guesses.
        ("b:z0 s:o0 s:x0 f:o1 f:x1 b:o2 b:x2 h:o3 h:x3", "z0 x3 x2 x1 o3 o2 o1 o0 x0"),
        # Within a board: heads newest first, backlog by ply.
        ("b:z0 b:a4 b:a2 b:a3 h:a9 h:a10", "z0 a10 a9 a2 a3 a4"),
        # An old head becomes backlog. The last move's gain needs the position before
        # it.
        ("b:z0 h:a7 h:a8 h:a9 h:b1", "z0 a9 b1 a8 a7"),
        # Backlogs take turns.
        ("b:z0 b:a0 b:a1 b:a2 b:b0 b:b1 b:b2", "z0 a0 b0 a1 b1 a2 b2"),
        # Finished games are taken whole.
        ("b:z0 f:a0 f:b0 f:a1 f:b1 f:a2 f:b2", "z0 a0 a1 a2 b0 b1 b2"),
        # Speculation by rank, whichever board it is of.
        ("b:z0 s:a3/3 s:a1/1 s:a2/2 s:b4/0", "z0 b4 a1 a2 a3"),
        # While heads never end, the last scores under a result would never come.
        ("h:z0 h:a2 h:b2 h:d2 c:o0 c:o1 b:e0", "z0 o0 a2 o1 b2 d2 e0"),
    ],
)
def test_what_is_searched_next(desk: Desk, requests: str, served: str) -> None:
    """The first of the requests is what the engine has at once."""
    desk.queue.put_on_air("x")
    for request in requests.split():
        desk.submit(request)
    assert desk.run() == served


@pytest.mark.parametrize("boards", ["a", "abc"])
def test_gains_come_where_moves_come_faster_than_searches(
    desk: Desk, boards: str
) -> None:
    """A gain needs the positions before and after a move; a move comes with every
    search.
    """
    searched: dict[str, set[int]] = {board: set() for board in boards}
    for ply in range(1, 61):
        for board in boards:
            desk.submit(f"h:{board}{ply}")
            for older in set(range(1, ply - 1)) - searched[board]:
                desk.submit(f"b:{board}{older}")
        subject = desk.queue.find_running_priority(0)
        assert subject is not None
        searched[subject.board].add(subject.ply)
        desk.queue.on_search_finished(0)
        desk.queue.assign_searches()
    for plies in searched.values():
        gains = [ply for ply in plies if ply - 1 in plies]
        assert len(gains) >= 60 // len(boards) // 3
        assert max(gains) > 60 - 3 * len(boards) - 2


def test_a_move_taken_back_keeps_no_turn(desk: Desk) -> None:
    for request in ("h:a7", "h:a8", "h:a9"):
        desk.submit(request)
    assert desk.run() == "a7 a9 a8"
    for request in ("b:z0", "h:a3", "h:a4", "h:a5"):
        desk.submit(request)
    assert desk.run() == "z0 a5 a4 a3"


def test_nobody_waits_for_a_guess_and_asking_again_changes_the_priority_only(
    desk: Desk,
) -> None:
    assert desk.submit("b:z0") == [start(0, "z0")]
    desk.submit("s:a9", now=1)
    assert desk.queue.measure_oldest_wait_s(8) == 0
    desk.submit("b:a1", now=5)
    desk.submit("b:a2", now=6)
    desk.submit("h:a2", now=7)
    desk.submit("f:a1", now=7)
    assert desk.queue.measure_oldest_wait_s(8) == 3
    kinds = (SearchKind.HEAD, SearchKind.FINISHED, SearchKind.SPECULATE)
    assert desk.queue.count_waiting() == dict.fromkeys(kinds, 1)
    assert desk.run() == "z0 a2 a1 a9"


def test_the_next_search_starts_before_answers_are_told_unless_a_head_needs_one_more(
    desk: Desk,
) -> None:
    desk.submit("b:a1")
    desk.submit("b:a2")
    assert desk.queue.on_search_finished(0) == [
        start(0, "a2"),
        DeliverResult("a1", search("a1")),
    ]
    desk.submit("h:a5")
    desk.submit("b:a3")
    desk.queue.on_search_finished(0)
    assert desk.queue.on_search_finished(0) == [
        DeliverResult("a5", search("a5")),
        AssignSearches(),
    ]
    assert desk.submit("h:a6", "a5, move played") == [start(0, "a5, move played")]
    assert desk.queue.assign_searches() == []


def test_a_head_takes_the_engine_off_speculation(desk: Desk) -> None:
    desk.submit("s:a8")
    assert desk.submit("b:a2") == []
    assert desk.submit("h:a7") == [StopSearch(0)]
    assert desk.submit("h:b7") == []
    assert desk.queue.on_search_finished(0, stopped=True) == [start(0, "a7")]
    assert desk.run() == "a7 b7 a2 a8"


def test_heads_take_only_as_many_engines_as_they_need_latest_guesses_first() -> None:
    desk = Desk(3)
    for ply in range(4):
        desk.submit(f"s:a{ply}")
    assert start(0, "a3") in desk.queue.on_search_finished(0)
    assert desk.submit("h:a7") == [StopSearch(0)]
    assert desk.submit("h:b7") == [StopSearch(2)]


def test_a_guess_that_comes_true_is_not_taken_off(desk: Desk) -> None:
    desk.submit("s:a8", "guess")
    assert desk.submit("h:b8", "guess") == []
    assert desk.submit("h:c3") == []
    assert desk.queue.drop("b8") == [StopSearch(0)]
    assert desk.queue.on_search_finished(0, stopped=True) == [start(0, "c3")]


def test_who_watches_a_head_is_told_of_its_progress(desk: Desk) -> None:
    restricted = Search(Position("x"), only="e2e4")
    desk.submit("h:a1", "x")
    desk.submit("b:b1", "x")
    desk.queue.submit(
        "c", restricted, key("x"), SearchPriority(SearchKind.HEAD, "c", 2), 0
    )
    assert desk.queue.list_progress_owners(0) == ["a1"]


@pytest.mark.parametrize(
    ("deaths", "killed", "why"),
    [
        (
            MAX_DEATHS,
            False,
            "given up after 3 engine failures: death 0; death 1; death 2",
        ),
        (MAX_OUTSIDE_KILLS, True, "given up after 10 engine failures: death 9"),
    ],
)
def test_a_search_that_kills_too_many_engines_is_set_aside(
    desk: Desk, deaths: int, killed: bool, why: str
) -> None:
    desk.submit("b:a0", "killer")
    desk.submit("b:a2")
    for death in range(deaths - 1):
        assert desk.queue.on_engine_lost(0, f"death {death}", killed=killed) == []
        assert desk.queue.on_engine_ready(0) == [start(0, "killer")]
    answer = DeliverResult("a0", search("killer"), SearchFailure(why))
    assert desk.queue.on_engine_lost(0, f"death {deaths - 1}", killed=killed) == [
        answer
    ]
    assert desk.queue.set_aside == 1
    assert desk.queue.on_engine_ready(0) == [start(0, "a2")]
    assert desk.submit("b:a3", "killer") == [
        msgspec.structs.replace(answer, owner="a3")
    ]


def test_an_engine_lost_while_it_stops_blames_nobody(desk: Desk) -> None:
    desk.submit("b:a0")
    desk.queue.drop("a0")
    for _ in range(MAX_DEATHS):
        assert desk.queue.on_engine_lost(0, "killed") == []
        desk.queue.on_engine_ready(0)
    assert desk.queue.set_aside == 0


NAMES = st.sampled_from([f"p{n}" for n in range(8)])
PRIORITIES = st.builds(
    SearchPriority,
    st.sampled_from(SearchKind),
    st.sampled_from("abc"),
    st.integers(0, 12),
    st.integers(0, 2),
)


class AnyShell(RuleBasedStateMachine):
    """Whatever happens in whatever order: no search is lost, none answered twice."""

    owners: Bundle[str] = Bundle("owners")

    @initialize(engines=st.integers(1, 3))
    def begin(self, engines: int) -> None:
        self.engines = engines
        self.queue = SearchQueue(engines)
        self.running: dict[int, SearchKey] = {}
        self.stopping: set[int] = set()
        self.down = set(range(engines))
        self.open: set[tuple[object, Search]] = set()
        self.asked = 0

    def obey(self, instructions: list[Instruction]) -> None:
        for instruction in instructions:
            if isinstance(instruction, StartSearch):
                assert instruction.engine not in self.running
                assert instruction.engine not in self.down
                assert instruction.key not in [
                    key
                    for engine, key in self.running.items()
                    if engine not in self.stopping
                ]
                self.running[instruction.engine] = instruction.key
            elif isinstance(instruction, StopSearch):
                assert instruction.engine in self.running
                self.stopping.add(instruction.engine)
            elif isinstance(instruction, DeliverResult):
                self.open.remove((instruction.owner, instruction.search))
            else:
                self.obey(self.queue.assign_searches())

    @rule(target=owners, name=NAMES, priority=PRIORITIES)
    def submit(self, name: str, priority: SearchPriority) -> str:
        self.asked += 1
        owner = f"owner {self.asked}"
        self.open.add((owner, search(name)))
        self.obey(
            self.queue.submit(owner, search(name), key(name), priority, self.asked)
        )
        return owner

    @rule(owner=owners, name=NAMES, priority=PRIORITIES)
    def want_more(self, owner: str, name: str, priority: SearchPriority) -> None:
        self.open.add((owner, search(name)))
        self.obey(self.queue.submit(owner, search(name), key(name), priority, 0.0))

    @rule(owner=consumes(owners))
    def drop(self, owner: str) -> None:
        self.open = {asked for asked in self.open if asked[0] != owner}
        self.obey(self.queue.drop(owner))

    @rule(choice=st.integers(0, 2))
    def up(self, choice: int) -> None:
        if choice in self.down:
            self.down.remove(choice)
            self.obey(self.queue.on_engine_ready(choice))

    @rule(choice=st.integers(0, 2))
    def finish(self, choice: int) -> None:
        if choice in self.running:
            del self.running[choice]
            stopped = choice in self.stopping
            self.stopping.discard(choice)
            self.obey(self.queue.on_search_finished(choice, stopped=stopped))

    @rule(choice=st.integers(0, 2))
    def lose(self, choice: int) -> None:
        if choice not in self.down and choice < self.engines:
            self.running.pop(choice, None)
            self.stopping.discard(choice)
            self.down.add(choice)
            self.obey(self.queue.on_engine_lost(choice, "killed"))

    @rule(boards=st.sets(st.sampled_from("abc")))
    def put_on_air(self, boards: set[str]) -> None:
        self.queue.put_on_air(boards)

    @invariant()
    def holds(self) -> None:
        """No engine is idle while a search waits, and what runs or waits is what is
        open.
        """
        if not hasattr(self, "queue"):
            return
        working = {key for at, key in self.running.items() if at not in self.stopping}
        waiting = self.queue.count_waiting().total()
        assert not waiting or len(self.running) + len(self.down) == self.engines
        assert len({each.position for _, each in self.open}) == len(working) + waiting
        assert {
            at for at in range(self.engines) if self.queue.find_running_priority(at)
        } == {at for at in self.running if at not in self.stopping}

    def teardown(self) -> None:
        """In the end every search still wanted is answered."""
        if not hasattr(self, "queue"):
            return
        for engine in list(self.down):
            self.up(engine)
        while self.running:
            self.finish(next(iter(self.running)))
        assert not self.open
        assert self.queue.count_waiting().total() == 0


AnyShell.TestCase.settings = settings(
    max_examples=40, stateful_step_count=40, deadline=None
)
TestAnyShell = AnyShell.TestCase
