"""Events in, instructions out; the invariants hold after every one."""

from __future__ import annotations

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

from live.engine.search import Limit, Position, Search, SearchFailure, SearchKey
from live.engine.search_queue import (
    MAX_KILLED,
    MAX_KILLS,
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


class Desk:
    """A queue, and engines that end their searches when told to."""

    def __init__(self, engines: int = 1) -> None:
        self.queue: SearchQueue = SearchQueue(engines)
        for engine in range(engines):
            self.queue.up(engine)

    def submit(
        self,
        name: str,
        kind: SearchKind = SearchKind.BACKLOG,
        board: str = "a",
        ply: int = 0,
        **more: int,
    ) -> list[Instruction]:
        priority = SearchPriority(kind, board, ply, more.get("rank", 0))
        owner, now = f"{board}{ply}", more.get("now", 0)
        return self.queue.submit(owner, search(name), key(name), priority, now)

    def run(self, engine: int = 0) -> list[str]:
        """Finish searches one after another; the order in which they were started."""
        order = []
        while (subject := self.queue.subject(engine)) is not None:
            order.append(f"{subject.board}{subject.ply}")
            for instruction in self.queue.finished(engine):
                if isinstance(instruction, AssignSearches):
                    self.queue.assign()
        return order


@pytest.fixture
def desk() -> Desk:
    """A queue with one engine."""
    return Desk()


def test_an_idle_engine_starts_at_once(desk: Desk) -> None:
    assert desk.submit("x") == [start(0, "x")]
    assert desk.submit("y") == []
    assert desk.queue.waiting().total() == 1


def test_kinds_come_in_their_order(desk: Desk) -> None:
    desk.submit("busy", board="z")
    for ply, kind in enumerate(reversed(SearchKind)):
        desk.submit(kind.name, kind, ply=ply)
    assert desk.run() == ["z0", "a4", "a3", "a2", "a1", "a0"]


def test_boards_on_air_come_first_with_all_that_somebody_waits_for(desk: Desk) -> None:
    desk.queue.put_on_air(["air"])
    desk.submit("busy", ply=1)
    kinds = (SearchKind.SPECULATE, SearchKind.FINISHED, SearchKind.BACKLOG, SearchKind.HEAD)
    for ply, kind in enumerate(kinds):
        for board in ("other", "air"):
            desk.submit(f"{board} {kind.name}", kind, board=board, ply=ply)
    first = ["air3", "air2", "air1", "other3", "other2", "other1"]
    # Nobody waits for guesses, on air or not.
    assert desk.run() == ["a1", *first, "other0", "air0"]


def test_backlog_comes_in_ply_order_and_heads_newest_first(desk: Desk) -> None:
    desk.submit("busy", board="z")
    for ply in (4, 2, 3):
        desk.submit(f"b{ply}", SearchKind.BACKLOG, ply=ply)
    for ply in (9, 10):
        desk.submit(f"h{ply}", SearchKind.HEAD, ply=ply)
    assert desk.run() == ["z0", "a10", "a9", "a2", "a3", "a4"]


def test_an_old_head_becomes_backlog(desk: Desk) -> None:
    """The last move's gain needs the position before it; earlier ones can wait for others."""
    desk.submit("busy", board="z")
    for ply in (7, 8, 9):
        desk.submit(f"a{ply}", SearchKind.HEAD, ply=ply)
    desk.submit("b1", SearchKind.HEAD, board="b", ply=1)
    assert desk.run() == ["z0", "a9", "b1", "a8", "a7"]


def test_a_bullet_game_does_not_starve_the_others(desk: Desk) -> None:
    """The board that has waited longest since it was served comes first.

    1. A bullet board moves before every start. 2. Two slow boards move once.
    """
    desk.submit("busy", board="z")
    desk.submit("s", SearchKind.HEAD, board="slow", ply=1)
    desk.submit("t", SearchKind.HEAD, board="tame", ply=1)
    order = []
    for ply in range(1, 9):
        desk.submit(f"bullet{ply}", SearchKind.HEAD, board="bullet", ply=ply)
        for instruction in desk.queue.finished(0):
            if isinstance(instruction, AssignSearches):
                desk.queue.assign()
        subject = desk.queue.subject(0)
        assert subject is not None
        order.append(subject.board)
    assert order[:3] == ["slow", "tame", "bullet"]


def test_backlogs_take_turns(desk: Desk) -> None:
    desk.submit("busy", board="z")
    for board in "ab":
        for ply in range(3):
            desk.submit(f"{board}{ply}", SearchKind.BACKLOG, board=board, ply=ply)
    assert desk.run() == ["z0", "a0", "b0", "a1", "b1", "a2", "b2"]


def test_finished_games_are_taken_whole(desk: Desk) -> None:
    desk.submit("busy", board="z")
    for board in "ab":
        for ply in range(3):
            desk.submit(f"{board}{ply}", SearchKind.FINISHED, board=board, ply=ply)
    assert desk.run() == ["z0", "a0", "a1", "a2", "b0", "b1", "b2"]


def test_heads_take_turns_with_games_that_have_just_ended(desk: Desk) -> None:
    """While heads never end, the last scores under a result would never come."""
    desk.submit("busy", SearchKind.HEAD, board="z")
    for ply in range(3):
        desk.submit(f"h{ply}", SearchKind.HEAD, board="live", ply=2)
        desk.submit(f"c{ply}", SearchKind.CLOSING, board="over", ply=ply)
        desk.submit(f"b{ply}", board="behind", ply=ply)
    order = [served.rstrip("012") for served in desk.run()]
    assert order == ["z", *["over", "live"] * 3, *["behind"] * 3]


def test_nobody_waits_for_a_guess(desk: Desk) -> None:
    desk.submit("busy", board="z")
    desk.submit("guess", SearchKind.SPECULATE, now=1)
    assert desk.queue.oldest_wait_s(8) == 0
    desk.submit("patient", SearchKind.FINISHED, now=5)
    assert desk.queue.oldest_wait_s(8) == 3


def test_speculation_comes_by_rank(desk: Desk) -> None:
    desk.submit("busy", board="z")
    for rank in (3, 1, 2):
        desk.submit(f"s{rank}", SearchKind.SPECULATE, ply=rank, rank=rank)
    desk.submit("s4", SearchKind.SPECULATE, board="b", ply=4, rank=0)
    assert desk.run() == ["z0", "b4", "a1", "a2", "a3"]


def test_equal_searches_are_made_once_and_answered_to_all(desk: Desk) -> None:
    desk.submit("x", board="a")
    desk.submit("x", board="b", kind=SearchKind.FINISHED)
    assert desk.queue.finished(0) == [
        DeliverResult("a0", search("x")),
        DeliverResult("b0", search("x")),
    ]


def test_the_next_search_starts_before_answers_are_told(desk: Desk) -> None:
    desk.submit("x", ply=1)
    desk.submit("y", ply=2)
    assert desk.queue.finished(0) == [start(0, "y"), DeliverResult("a1", search("x"))]


def test_a_head_s_answer_is_told_first_since_its_owner_may_need_one_more(desk: Desk) -> None:
    desk.submit("x", SearchKind.HEAD, ply=5)
    desk.submit("y", ply=2)
    assert desk.queue.finished(0) == [DeliverResult("a5", search("x")), AssignSearches()]
    assert desk.submit("x, move played", SearchKind.HEAD, ply=6) == [start(0, "x, move played")]
    assert desk.queue.assign() == []


def test_a_dropped_search_that_waits_is_forgotten(desk: Desk) -> None:
    desk.submit("x")
    desk.submit("y", ply=2)
    assert desk.queue.drop("a2") == []
    assert desk.run() == ["a0"]


def test_a_running_search_nobody_wants_is_stopped(desk: Desk) -> None:
    desk.submit("x")
    desk.submit("y", ply=2)
    assert desk.queue.drop("a0") == [StopSearch(0)]
    assert desk.queue.finished(0, stopped=True) == [start(0, "y")]


def test_a_search_still_wanted_by_another_goes_on(desk: Desk) -> None:
    desk.submit("x", board="a")
    desk.submit("x", board="b")
    assert desk.queue.drop("a0") == []
    assert desk.queue.finished(0) == [DeliverResult("b0", search("x"))]


def test_a_stopped_search_wanted_again_is_made_again(desk: Desk) -> None:
    desk.submit("x")
    desk.queue.drop("a0")
    assert desk.submit("x") == []
    assert desk.queue.finished(0, stopped=True) == [start(0, "x")]


def test_wanting_again_changes_the_priority_only(desk: Desk) -> None:
    desk.submit("busy", board="z")
    desk.submit("x", ply=1, now=5)
    desk.submit("y", ply=2, now=6)
    desk.submit("y", SearchKind.HEAD, ply=2, now=7)
    assert desk.queue.oldest_wait_s(8) == 3
    desk.submit("x", SearchKind.FINISHED, ply=1, now=7)
    assert desk.queue.oldest_wait_s(8) == 3
    assert desk.queue.waiting() == {SearchKind.HEAD: 1, SearchKind.FINISHED: 1}
    assert desk.run() == ["z0", "a2", "a1"]


def test_a_head_takes_the_engine_off_speculation(desk: Desk) -> None:
    desk.submit("guess", SearchKind.SPECULATE, ply=8)
    assert desk.submit("y", SearchKind.BACKLOG, ply=2) == []
    assert desk.submit("x", SearchKind.HEAD, ply=7) == [StopSearch(0)]
    assert desk.submit("w", SearchKind.HEAD, board="b", ply=7) == []
    assert desk.queue.finished(0, stopped=True) == [start(0, "x")]
    assert desk.run() == ["a7", "b7", "a2", "a8"]


def test_the_guess_that_began_last_is_taken_off() -> None:
    desk = Desk(2)
    desk.submit("first", SearchKind.SPECULATE, ply=1)
    desk.submit("second", SearchKind.SPECULATE, ply=2)
    desk.submit("third", SearchKind.SPECULATE, ply=3)
    assert start(0, "third") in desk.queue.finished(0)
    assert desk.submit("x", SearchKind.HEAD, ply=7) == [StopSearch(0)]


def test_a_guess_that_comes_true_is_not_taken_off(desk: Desk) -> None:
    desk.submit("guess", SearchKind.SPECULATE, ply=8)
    assert desk.submit("guess", SearchKind.HEAD, board="b", ply=8) == []
    assert desk.submit("other", SearchKind.HEAD, board="c", ply=3) == []
    assert desk.queue.drop("b8") == [StopSearch(0)]
    assert desk.queue.finished(0, stopped=True) == [start(0, "other")]


def test_only_as_many_engines_are_taken_as_heads_wait() -> None:
    desk = Desk(3)
    for ply in range(3):
        desk.submit(f"guess{ply}", SearchKind.SPECULATE, ply=ply)
    assert desk.submit("x", SearchKind.HEAD, ply=7) == [StopSearch(2)]
    assert desk.submit("y", SearchKind.HEAD, board="b", ply=7) == [StopSearch(1)]


def test_who_watches_a_head_is_told_of_its_progress(desk: Desk) -> None:
    restricted = Search(Position("x"), only="e2e4")
    desk.submit("x", SearchKind.HEAD, ply=1)
    desk.submit("x", SearchKind.BACKLOG, board="b", ply=1)
    desk.queue.submit("c", restricted, key("x"), SearchPriority(SearchKind.HEAD, "c", 2), 0)
    assert desk.queue.watchers(0) == ["a1"]
    desk.queue.drop("c")


def test_a_lost_engine_s_search_is_made_by_another() -> None:
    desk = Desk(2)
    desk.submit("x")
    desk.submit("y", ply=2)
    assert desk.queue.lost(0, "died") == []
    assert desk.queue.finished(1) == [start(1, "x"), DeliverResult("a2", search("y"))]


def test_a_search_that_kills_three_engines_is_set_aside(desk: Desk) -> None:
    desk.submit("killer")
    desk.submit("y", ply=2)
    for death in range(MAX_KILLS - 1):
        assert desk.queue.lost(0, f"death {death}") == []
        assert desk.queue.up(0) == [start(0, "killer")]
    reason = "given up after 3 engine failures: death 0; death 1; the last"
    failure = SearchFailure(reason)
    assert desk.queue.lost(0, "the last") == [DeliverResult("a0", search("killer"), failure)]
    assert desk.queue.set_aside == 1
    assert desk.queue.up(0) == [start(0, "y")]
    assert desk.submit("killer", ply=3) == [DeliverResult("a3", search("killer"), failure)]


def test_ten_engines_killed_from_outside_are_enough(desk: Desk) -> None:
    desk.submit("large")
    for _ in range(MAX_KILLED - 1):
        assert desk.queue.lost(0, "was killed by SIGKILL", killed=True) == []
        assert desk.queue.up(0) == [start(0, "large")]
    [answer] = desk.queue.lost(0, "was killed by SIGKILL", killed=True)
    failure = SearchFailure("given up after 10 engine failures: was killed by SIGKILL")
    assert answer == DeliverResult("a0", search("large"), failure)


def test_an_engine_lost_while_it_stops_blames_nobody(desk: Desk) -> None:
    desk.submit("x")
    desk.queue.drop("a0")
    for _ in range(MAX_KILLS):
        assert desk.queue.lost(0, "killed") == []
        desk.queue.up(0)
    assert desk.queue.set_aside == 0


def test_a_shell_that_errs_is_told(desk: Desk) -> None:
    desk.submit("x")
    with pytest.raises(RuntimeError, match="engine 0 up while busy"):
        desk.queue.up(0)


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
                    key for engine, key in self.running.items() if engine not in self.stopping
                ]
                self.running[instruction.engine] = instruction.key
            elif isinstance(instruction, StopSearch):
                assert instruction.engine in self.running
                self.stopping.add(instruction.engine)
            elif isinstance(instruction, DeliverResult):
                self.open.remove((instruction.owner, instruction.search))
            else:
                self.obey(self.queue.assign())

    @rule(target=owners, name=NAMES, priority=PRIORITIES)
    def submit(self, name: str, priority: SearchPriority) -> str:
        self.asked += 1
        owner = f"owner {self.asked}"
        self.open.add((owner, search(name)))
        self.obey(self.queue.submit(owner, search(name), key(name), priority, self.asked))
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
            self.obey(self.queue.up(choice))

    @rule(choice=st.integers(0, 2))
    def finish(self, choice: int) -> None:
        if choice in self.running:
            del self.running[choice]
            stopped = choice in self.stopping
            self.stopping.discard(choice)
            self.obey(self.queue.finished(choice, stopped=stopped))

    @rule(choice=st.integers(0, 2))
    def lose(self, choice: int) -> None:
        if choice not in self.down and choice < self.engines:
            self.running.pop(choice, None)
            self.stopping.discard(choice)
            self.down.add(choice)
            self.obey(self.queue.lost(choice, "killed"))

    @rule(boards=st.sets(st.sampled_from("abc")))
    def put_on_air(self, boards: set[str]) -> None:
        self.queue.put_on_air(boards)

    @invariant()
    def holds(self) -> None:
        """No engine is idle while a search waits, and what runs or waits is what is open."""
        if not hasattr(self, "queue"):
            return
        working = {key for at, key in self.running.items() if at not in self.stopping}
        waiting = self.queue.waiting().total()
        assert not waiting or len(self.running) + len(self.down) == self.engines
        assert len({each.position for _, each in self.open}) == len(working) + waiting
        assert {at for at in range(self.engines) if self.queue.subject(at)} == {
            at for at in self.running if at not in self.stopping
        }

    def teardown(self) -> None:
        """In the end every search still wanted is answered."""
        if not hasattr(self, "queue"):
            return
        for engine in list(self.down):
            self.up(engine)
        while self.running:
            self.finish(next(iter(self.running)))
        assert not self.open
        assert self.queue.waiting().total() == 0


AnyShell.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAnyShell = AnyShell.TestCase
