from collections.abc import Iterator

import msgspec
import pytest

from live.errors import FeedNotFound
from live.events import GameReport, Headers, Move, Player
from live.feeds.feed import FeedSession, persist
from live.network.retry import FeedTrouble, backoff
from tests.feeds.fakes import DrivenClock, Ledger

GAME = GameReport("", Headers(Player("A"), Player("B")), "8/8/8/8/8/8/8/K1k5 w - - 0 1")
FATAL = FeedNotFound("x", "the source has nothing there (404)", "Check the address")


class Case:
    """A session with a scripted session: each step is raised, reported, or ends the source."""

    def __init__(
        self, *steps: Exception | GameReport | None, game_s: float = 60, waiting: bool = False
    ) -> None:
        self.waiting = waiting
        self.game_s = game_s
        self.clock, self.ledger = DrivenClock(), Ledger()
        self.session = FeedSession("x", self.ledger, self.clock, stale_after_s=300, grace_s=20)
        self._steps = iter(steps)

    async def connect(self) -> None:
        for step in self._steps:
            if isinstance(step, Exception):
                raise step
            if step is None:
                return
            self.clock.time_s += self.game_s
            await self.session.report([step])

    async def run(self) -> None:
        await persist(self.connect, self.session, self.clock, self.waits, waiting=self.waiting)

    def waits(self) -> Iterator[float]:
        return backoff(lambda: 0.5)


async def test_trouble_is_told_in_words_and_tried_again_after_growing_waits() -> None:
    case = Case(*[FeedTrouble("connection to example.org lost")] * 4, None)
    await case.run()
    assert case.clock.slept == [1, 2, 4, 8]
    assert case.ledger.states == ["connecting", *["retrying"] * 4, "finished"]
    assert case.ledger.healths[3].detail == "connection to example.org lost, trying again in 4 s"


async def test_a_sign_of_life_makes_waits_small_again() -> None:
    case = Case(FeedTrouble("a"), FeedTrouble("b"), GAME, FeedTrouble("c"), None)
    await case.run()
    assert case.clock.slept == [1, 2, 1]


async def test_a_source_that_answers_and_hangs_up_at_once_is_asked_more_rarely() -> None:
    ends: list[Exception | GameReport] = [GAME, FeedTrouble("the stream ended")]
    case = Case(*ends * 7, None, game_s=0.1)
    await case.run()
    assert case.clock.slept == [1, 2, 4, 8, 10, 10, 10]


async def test_the_source_may_ask_for_a_longer_wait() -> None:
    case = Case(FeedTrouble("too many requests", wait_s=60), None)
    await case.run()
    assert case.clock.slept == [60]


async def test_fatal_trouble_is_raised_before_the_first_report() -> None:
    case = Case(FeedTrouble("nothing there", fatal=FATAL))
    with pytest.raises(FeedNotFound):
        await case.run()
    assert case.ledger.last.state == "failed"


async def test_fatal_trouble_is_retried_after_the_first_report() -> None:
    case = Case(GAME, FeedTrouble("nothing there", wait_s=30, fatal=FATAL), FATAL, None)
    await case.run()
    assert case.clock.slept == [30, 2]
    assert case.ledger.last.state == "finished"


async def test_a_fault_of_ours_never_escapes(caplog: pytest.LogCaptureFixture) -> None:
    case = Case(ZeroDivisionError("oops"), None)
    await case.run()
    assert "ZeroDivisionError" in case.ledger.healths[1].detail
    assert case.ledger.healths[1].state == "retrying"
    assert "oops" in caplog.text


async def test_the_same_health_is_said_once() -> None:
    case = Case(GAME, GAME, GAME, None)
    await case.run()
    assert case.ledger.states == ["connecting", "live", "finished"]


async def test_games_that_stand_still_for_long_are_stale_and_say_how_long() -> None:
    case = Case()
    begun = msgspec.structs.replace(GAME, moves=(Move("a1a2", "Ka2"),))
    await case.session.report([begun])
    case.clock.time_s += 299
    case.session.alive()
    assert case.ledger.last.state == "live"
    case.clock.time_s += 100
    case.session.alive()
    assert (case.ledger.last.state, case.ledger.last.detail) == ("stale", "nothing new for 7 min")


@pytest.mark.parametrize("lasting", [False, True])
async def test_a_source_that_lasts_says_finished_and_comes_to_life_again(lasting: bool) -> None:
    clock, ledger = DrivenClock(), Ledger()
    session = FeedSession("x", ledger, clock, stale_after_s=300, grace_s=20, lasting=lasting)
    over = msgspec.structs.replace(GAME, result="1-0")
    await session.report([over])
    assert session.soonest(60.0) == 20.0
    clock.time_s += 20
    session.alive()
    assert (session.over, session.resting) == (not lasting, lasting)
    assert ledger.last.state == ("finished" if lasting else "live")
    assert session.soonest(60.0) == 60.0
    await session.report([over, msgspec.structs.replace(GAME, key="next round")])
    assert not session.over and not session.resting
    assert (ledger.last.state, ledger.last.detail) == ("live", "2 games")


async def test_what_is_not_there_yet_is_waited_for_with_the_next_tries_time() -> None:
    """Given up for ever after one request, though it was an hour early (audit, row 1)."""
    case = Case(*[FeedTrouble("nothing there (404)", fatal=FATAL)] * 7, FATAL, None, waiting=True)
    await case.run()
    assert case.clock.slept == [10, 10, 10, 10, 16, 32, 60, 60]
    assert case.ledger.states == ["connecting", *["waiting"] * 5, "finished"]
    assert case.ledger.healths[1].detail == "nothing there (404), trying again in 10 s"


async def test_a_source_that_has_worked_is_never_left_alone_for_long() -> None:
    case = Case(GAME, *[FeedTrouble("nothing there (404)", fatal=FATAL)] * 6, None, waiting=True)
    await case.run()
    assert case.clock.slept == [1, 2, 4, 8, 10, 10]
    assert set(case.ledger.states[2:-1]) == {"retrying"}


async def test_one_that_has_been_away_for_long_is_asked_once_a_minute() -> None:
    case = Case(GAME, *[FeedTrouble("no connection")] * 70, None, waiting=True)
    await case.run()
    assert case.clock.slept[-1] == 60


async def test_pairings_that_have_not_begun_do_not_stand_still() -> None:
    case = Case()
    await case.session.report([GAME])
    case.clock.time_s += 3600
    case.session.alive()
    assert (case.ledger.last.state, case.ledger.last.detail) == ("live", "1 game")
