"""The games that a source keeps, the health that it reports, and the times at which it
retries.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import islice
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import FeedNotFound, FeedUnreadable
from live.messages.from_sources import GameReport, Headers, Move, Player
from live.process.backoff import CAP_S, format_duration, generate_backoff_s
from live.settings import FeedsConfig
from live.sources import game_identity
from live.sources.feed import Feed
from live.sources.feed_session import FeedSession
from live.sources.game_identity import (
    REPEATED_PLIES,
    drop_repeated_games,
    identify_games,
)
from live.sources.retry import (
    PATIENCE_S,
    TOO_MANY_S,
    FeedTrouble,
    read_capped_retry_after_s,
    translate_status,
)
from tests.sources.fakes import DrivenClock, Ledger, conditions

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
E4 = Move("e2e4", "e4")
LOST = FeedTrouble("connection lost")
FATAL = FeedNotFound("x", "the source has nothing there (404)", "Check the address")
GONE = FeedTrouble("nothing there (404)", fatal=FATAL)


def game(white: str = "A", key: str = "", **more: Any) -> GameReport:
    return msgspec.structs.replace(
        GameReport(key, Headers(Player(white), Player("B")), START), **more
    )


GAME, OVER = game(), game(result="1-0")


class Case(Feed):
    """A source that performs given steps: each raises an error, reports a game, or ends
    the source.
    """

    def __init__(
        self,
        *steps: Exception | GameReport | None,
        game_s: float = 60,
        lasting: bool = False,
    ) -> None:
        self.clock, self.ledger = DrivenClock(), Ledger()
        under = replace(conditions(FeedsConfig(), self.clock), lasting=lasting)
        super().__init__("x", under)
        self.session = FeedSession("x", self.ledger, under)
        self._steps, self._game_s = iter(steps), game_s

    async def _follow_source(self, session: FeedSession) -> None:
        for step in self._steps:
            if isinstance(step, Exception):
                raise step
            if step is None:
                return
            self.clock.time_s += self._game_s
            await session.report([step])

    @property
    def health(self) -> tuple[str, str]:
        return self.ledger.last.state, self.ledger.last.detail


@pytest.mark.parametrize(
    ("steps", "waiting", "slept", "states"),
    [
        ([LOST] * 4, False, [1, 2, 4, 8], "retrying " * 4),
        # A report resets the waits, and no later error is fatal.
        ([LOST, LOST, GAME, LOST], False, [1, 2, 1], "retrying retrying live retrying"),
        ([GAME, GONE, FATAL], False, [1, 2], "live retrying retrying"),
        ([FeedTrouble("too many requests", wait_s=60)], False, [60], "retrying"),
        ([GAME, GAME, GAME], False, [], "live"),
        # A source that does not exist yet is retried after waits of 10 to 60 s.
        ([GONE] * 7 + [FATAL], True, [10, 10, 10, 10, 16, 32, 60, 60], "waiting " * 5),
        # A source that has worked before is retried after at most 10 s.
        ([GAME] + [GONE] * 6, True, [1, 2, 4, 8, 10, 10], "live" + " retrying" * 5),
    ],
)
async def test_a_source_is_asked_again_after_growing_waits(
    steps: list[Exception | GameReport], waiting: bool, slept: list[float], states: str
) -> None:
    case = Case(*steps, None, lasting=waiting)
    await case.run(case.ledger)
    assert case.clock.slept == slept
    assert case.ledger.states == ["connecting", *states.split(), "finished"]
    for health in case.ledger.healths:
        if health.state in ("retrying", "waiting"):
            assert ", trying again in " in health.detail


async def test_a_source_that_hangs_up_or_was_long_away_is_asked_rarely() -> None:
    answers: list[Exception | GameReport] = [GAME, LOST]
    case = Case(*answers * 7, None, game_s=0.1)
    await case.run(case.ledger)
    assert case.clock.slept == [1, 2, 4, 8, 10, 10, 10]
    case = Case(GAME, *[LOST] * 70, None, lasting=True)
    await case.run(case.ledger)
    assert case.clock.slept[-1] == 60


async def test_a_fault_of_ours_never_escapes(caplog: pytest.LogCaptureFixture) -> None:
    case = Case(ZeroDivisionError("oops"), None)
    await case.run(case.ledger)
    assert "ZeroDivisionError" in case.ledger.healths[1].detail
    assert case.ledger.healths[1].state == "retrying"
    assert "oops" in caplog.text


async def test_games_that_stand_still_for_long_are_stale_and_pairings_are_not() -> None:
    for held, health in (
        (game(moves=(E4,)), ("stale", "nothing new for 7 min")),
        (GAME, ("live", "1 game")),
    ):
        case = Case()
        await case.session.report([held])
        for seconds, expected in ((299, ("live", "1 game")), (100, health)):
            case.clock.time_s += seconds
            case.session.record_source_answer()
            assert case.health == expected


@pytest.mark.parametrize("lasting", [False, True])
async def test_a_source_that_lasts_says_finished_and_comes_to_life_again(
    lasting: bool,
) -> None:
    case = Case(lasting=lasting)
    session = case.session
    await session.report([OVER])
    assert session.earliest_wait_s(60.0) == 20.0
    case.clock.time_s += 20
    session.record_source_answer()
    assert (session.is_over, session.is_idle) == (not lasting, lasting)
    assert case.health[0] == ("finished" if lasting else "live")
    assert session.earliest_wait_s(60.0) == 60.0
    await session.report([OVER, game(key="next round")])
    assert not session.is_over and not session.is_idle
    assert case.health == ("live", "2 games")


def test_identities_go_by_key_else_by_headers_and_order() -> None:
    assert len(set(identify_games([game(), game(), game("C")]))) == 3
    assert identify_games([game("A", "k")]) == identify_games([game("Renamed", "k")])


async def test_a_session_knows_change_and_end() -> None:
    case, over = Case(), game("C", result="1-0")
    session = case.session
    for at_s, games, changed_s, ends_s in (
        (1, [game("A"), over], 1, None),
        (2, [game("A")], 1, None),
        (3, [game("A", moves=(E4,))], 3, None),
        (4, [game("A", result="1-0")], 4, 20),
        (5, [game("D")], 5, None),
    ):
        case.clock.time_s = at_s
        await session.report(games)
        assert (session.changed_s, session.ends_in_s()) == (changed_s, ends_s)
    case.clock.time_s = 6
    await session.report([over], complete=True)  # games not in it are removed
    assert (session.changed_s, session.ends_in_s(), session.games_text) == (
        6,
        20,
        "1 game",
    )
    await session.report(
        [game("K", "key"), game("K", "key", moves=(E4,))]
    )  # the same game, with one more move
    assert session.games_text == "2 games"


def test_games_that_share_an_address_have_no_key_of_their_own() -> None:
    """Games with the same address must not be merged into one."""
    shared = drop_repeated_games(
        [game("A", "Round001"), game("C", "Round001"), game("D", "Game0001")]
    )
    assert [each.key for each in shared] == ["", "", "Game0001"]


def test_a_game_that_stands_twice_is_the_longer_one() -> None:
    """A game that is in the source twice must count once."""
    moves = tuple(Move(f"a{rank}a{rank + 1}", "a") for rank in range(1, 8)) * 2
    longer, shorter = (
        game(moves=moves, result="1-0"),
        game(moves=moves[:REPEATED_PLIES]),
    )
    assert drop_repeated_games([shorter, game("C"), longer]) == (longer, game("C"))
    other = msgspec.structs.replace(
        longer, headers=Headers(Player("A"), Player("B"), round="2")
    )
    few = game(moves=moves[:4])  # so few moves can be the next game
    for second in (other, few):
        assert drop_repeated_games([longer, second]) == (longer, second)


def test_of_very_many_games_of_one_head_each_is_compared_with_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[object] = []
    monkeypatch.setattr(
        game_identity, "_is_repeated", lambda *both: compared.append(both)
    )
    assert len(drop_repeated_games([game(moves=(E4,))] * 400)) == 400
    assert len(compared) < 400 * game_identity.ALIKE


# Times at which a source is tried again.

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@given(st.floats(0, 1, exclude_max=True))
def test_waits_are_capped_and_grow_after_a_random_first_one(chance: float) -> None:
    waits = list(islice(generate_backoff_s(lambda: chance), 12))
    assert waits[0] == chance * 2
    assert waits[1:] == sorted(waits[1:])
    assert waits[1:6] == [2, 4, 8, 16, 32]
    assert max(waits) == CAP_S


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        (" 5 ", 5.0),
        ("0", 0.0),
        ("999999", PATIENCE_S),
        ("9" * 5000, PATIENCE_S),
        ("soon", None),
        ("", None),
        ("²", None),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(days=1), usegmt=True), 0.0),
        ("Sat, 21 Nov 2026 12:00:30", 30.0),
        ("Sat, 99 Nov 2026 12:00:30 GMT", None),
    ],
)
def test_retry_after_in_all_its_forms(value: str | None, seconds: float | None) -> None:
    assert read_capped_retry_after_s(value, NOW) == seconds


@pytest.mark.parametrize(
    ("statuses", "fatal"),
    [
        ((404, 410), FeedNotFound),
        ((401, 403, 400, 302), FeedUnreadable),
        ((408, 425, 429, 500, 502, 503, 504), type(None)),  # temporary errors
    ],
)
def test_what_looks_permanent_is_fatal_where_nobody_waits(
    statuses: tuple[int, ...], fatal: type[Exception | None]
) -> None:
    for status in statuses:
        trouble = translate_status("feed", status, None, NOW)
        assert trouble is not None and trouble.status == status
        assert type(trouble.fatal) is fatal and str(status) in trouble.reason
        # The session chooses the wait itself, so that a source that does not exist yet
        # is retried soon.
        assert trouble.wait_s == (TOO_MANY_S if status == 429 else 0)


def test_a_server_is_given_the_time_it_asks_for_and_answers_are_read() -> None:
    for status in (429, 503):
        trouble = translate_status("feed", status, "7", NOW)
        assert trouble is not None and trouble.wait_s == 7
    assert not any(
        translate_status("feed", status, None, NOW) for status in (200, 204, 206, 304)
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "1 s"), (4.4, "4 s"), (89, "89 s"), (360, "6 min"), (7200, "2 h")],
)
def test_times_as_people_say_them(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words
