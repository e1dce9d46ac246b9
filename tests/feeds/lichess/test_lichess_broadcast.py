import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import chain, repeat
from pathlib import Path

import msgspec
import pytest

from live.clock import LoopClock
from live.config import FeedsConfig, LichessConfig
from live.errors import ConfigError, FeedNotFound, FeedUnreadable
from live.events import GameReport
from live.feeds.game_timeline import PlannedIncident
from live.feeds.lichess import tour_is_over
from live.feeds.open_feed import open_feed
from live.rehearse.rehearsal import GOOD, ConnectionFaults
from live.rehearse.web_servers import (
    ROUND_ID,
    TOUR_ID,
    LichessRehearsal,
    ServedReply,
    ServedRequest,
    serving,
)
from tests.feeds.fakes import (
    DATA,
    DrivenClock,
    Ledger,
    conditions,
    decode,
    running,
    substance,
    told_by,
    until,
)

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
CONFIG = FeedsConfig(timeout_s=5.0, lichess=LichessConfig(reconcile_s=300.0))


def upto(game: GameReport, ply: int) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:ply], result="*")


class Case:
    """A lichess round on loopback and a feed that follows it, each with its own driven clock."""

    def __init__(self, *fates: ConnectionFaults, token: str = "") -> None:
        self.clock, self.server_clock = DrivenClock(), DrivenClock()
        self.ledger = Ledger()
        self.round = LichessRehearsal(
            GAMES, clock=self.server_clock, fates=chain(fates, repeat(GOOD)), token=token
        )
        self.config = CONFIG
        self.tour = self.lasting = False

    @asynccontextmanager
    async def following(self, **env: str) -> AsyncIterator[asyncio.Task[None]]:
        async with self.round.serving() as spec:
            if self.tour:
                spec = spec.replace(f"/round/{ROUND_ID}", f"/{TOUR_ID}")
            feed = open_feed(
                spec,
                self.config,
                conditions=conditions(self.config, self.clock),
                env=env,
                lasting=self.lasting,
            )
            async with running(feed, self.ledger) as task:
                yield task

    @property
    def streams(self) -> int:
        """How often the stream was asked for."""
        return sum("/stream/" in request.path for request in self.round.requests)

    async def finish(self, task: asyncio.Task[None]) -> None:
        """All is sent: wait until it is heard, then let the grace period pass."""
        await until(lambda: self.heard or task.done())
        while not task.done():
            await until(lambda: task.done() or self.clock.next_deadline_s is not None)
            if not task.done():
                await self.clock.expire()
                await asyncio.sleep(0)
        await task

    @property
    def heard(self) -> bool:
        final = {told_by(game): game for game in decode(self.round.final_pgn())}
        return self.ledger.games == final

    def check(self) -> None:
        assert self.heard
        assert [substance(game) for game in self.ledger.games.values()] == [
            substance(game) for game in GAMES
        ]
        assert self.ledger.last.state == "finished"


def lengths(ledger: Ledger, board: str) -> list[int]:
    told = (game for report in ledger.reports for game in report.games)
    return [len(game.moves) for game in told if game.headers.round == board]


@pytest.mark.slow
async def test_a_round_is_followed_from_its_first_move_to_its_last_result() -> None:
    case = Case()
    async with case.following() as task:
        await case.round.connected.wait()
        await case.round.play(speed=60)
        await case.finish(task)
    case.check()
    assert case.ledger.states[0] == "connecting"
    assert set(case.ledger.states) == {"connecting", "live", "finished"}
    for game in GAMES:
        told = lengths(case.ledger, game.headers.round)
        assert told == sorted(told) and set(told) == set(range(len(game.moves) + 1))


@pytest.mark.slow
async def test_who_connects_late_gets_the_whole_round_at_once() -> None:
    case = Case()
    await case.round.play(speed=60)
    async with case.following() as task:
        await case.finish(task)
    case.check()


@pytest.mark.slow
async def test_a_corrected_move_is_replaced() -> None:
    case = Case()
    async with case.following() as task:
        await case.round.connected.wait()
        await case.round.play(speed=60, incidents=[PlannedIncident("slip", 1, 20)])
        await case.finish(task)
    case.check()
    board = GAMES[1].headers.round
    told = [g for r in case.ledger.reports for g in r.games if g.headers.round == board]
    twentieth = {game.moves[19].san for game in told if len(game.moves) >= 20}
    assert len(twentieth) == 2


async def test_takebacks_are_not_told_by_this_source() -> None:
    case = Case()
    async with case.following() as task:
        await case.round.connected.wait()
        await case.round.play(speed=60, incidents=[PlannedIncident("takeback", 1, 20)])
        await case.finish(task)
    case.check()
    told = lengths(case.ledger, GAMES[1].headers.round)
    assert told == sorted(told)


@pytest.mark.slow
@pytest.mark.parametrize("size", [3, 64])
async def test_bytes_cut_anywhere_change_nothing(size: int) -> None:
    case = Case(ConnectionFaults(cuts=(size,)))
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.following() as task:
        await case.finish(task)
    case.check()


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 1, 200, 700, 1500, 2500, 5000])
async def test_a_drop_in_mid_line_is_healed_by_the_next_connection(after: int) -> None:
    case = Case(ConnectionFaults(drop_after=after, cuts=(97,)))
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.following() as task:
        await case.finish(task)
    case.check()
    assert case.clock.slept == [1.0]
    lost = next(health for health in case.ledger.healths if health.state == "retrying")
    assert lost.detail.endswith("trying again in 1 s")
    for game in GAMES:  # the half that was lost was never taken for a whole game
        assert set(lengths(case.ledger, game.headers.round)) == {len(game.moves)}


@pytest.mark.slow
async def test_a_game_sent_twice_is_the_same_game() -> None:
    case = Case(ConnectionFaults(repeat=True))
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.following() as task:
        await case.finish(task)
    case.check()


@pytest.mark.slow
async def test_too_many_requests_waits_as_long_as_lichess_asks() -> None:
    case = Case(ConnectionFaults(refuse=429), ConnectionFaults(refuse=429, retry_after_s=5))
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.following() as task:
        await case.finish(task)
    case.check()
    assert case.clock.slept == [60.0, 5.0]


@pytest.mark.slow
async def test_keep_alives_keep_the_connection_and_spoil_no_game() -> None:
    case = Case()
    async with case.following() as task:
        await case.round.connected.wait()
        case.round.show(0, upto(GAMES[0], 10))
        await until(lambda: len(case.ledger.games) == 1)
        signs = 0
        for _ in range(3):
            await case.server_clock.expire()  # a minute of silence: one space
            signs += 1
        await case.round.play(speed=60)
        await case.finish(task)
    case.check()
    assert signs == 3
    assert case.streams == 1


@pytest.mark.slow
async def test_silence_beyond_the_keep_alive_is_a_lost_connection() -> None:
    case = Case(ConnectionFaults(stall_after=700))
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.following() as task:
        await until(lambda: case.ledger.states == ["connecting", "live"])
        while "retrying" not in case.ledger.states:
            # A deadline that bytes still on their way came before is not the one that is meant.
            await case.clock.expire()
            await asyncio.sleep(0)
        assert case.clock.now() >= 1000 + 2 * CONFIG.lichess.keep_alive_s
        await case.finish(task)
    case.check()
    detail = next(h.detail for h in case.ledger.healths if h.state == "retrying")
    assert detail == "not a sign of life for 2 min, trying again in 1 s"


@pytest.mark.slow
async def test_a_round_that_has_not_begun_is_waited_for() -> None:
    case = Case()
    async with case.following() as task:
        await case.round.connected.wait()
        await until(lambda: case.ledger.last.detail == "no games yet")
        await case.server_clock.expire()
        assert not task.done()
        await case.round.play(speed=60)
        await case.finish(task)
    case.check()


async def test_a_round_is_not_over_while_a_game_is_unfinished() -> None:
    case = Case()
    async with case.following() as task:
        await case.round.connected.wait()
        for index, game in enumerate(GAMES):
            case.round.show(index, game if index else upto(game, 30))
        await until(lambda: len(case.ledger.games) == 4)
        await until(lambda: case.clock.next_deadline_s is not None)
        assert case.clock.next_deadline_s == pytest.approx(2 * 60 + 5)
        assert not task.done()
        case.round.show(0, GAMES[0])
        await case.finish(task)
    case.check()


async def test_now_and_then_the_export_heals_what_the_stream_does_not_tell() -> None:
    case = Case()
    case.config = FeedsConfig(timeout_s=5.0, lichess=LichessConfig(reconcile_s=50.0))
    async with case.following():
        await case.round.connected.wait()
        case.round.show(0, upto(GAMES[0], 20))
        case.round.show(1, upto(GAMES[1], 20))
        await until(lambda: len(case.ledger.games) == 2)
        await case.round.heard()
        case.round.keep_back(0, upto(GAMES[0], 18))  # a takeback, and not a word of it
        case.round.forget(1)  # a game deleted
        await case.clock.expire()
        await until(lambda: len(case.ledger.games) == 1)
    (game,) = case.ledger.games.values()
    assert len(game.moves) == 18
    assert case.clock.now() == 1050


async def test_in_a_tournament_too_the_export_of_each_round_heals() -> None:
    case = Case()
    case.tour, case.round.tour_over = True, False
    case.config = FeedsConfig(timeout_s=5.0, lichess=LichessConfig(reconcile_s=50.0))
    async with case.following():
        await case.round.connected.wait()
        case.round.show(0, upto(GAMES[0], 20))
        await until(lambda: len(case.ledger.games) == 1)
        await case.round.heard()
        case.round.keep_back(0, upto(GAMES[0], 18))  # a takeback, and not a word of it
        await case.clock.expire()
        await until(lambda: [len(g.moves) for g in case.ledger.games.values()] == [18])
        # Once a round's games are over and compared, it is left alone.
        case.round.show(0, GAMES[0])
        await until(lambda: [g.result for g in case.ledger.games.values()] == [GAMES[0].result])
        for _ in range(4):
            asked = len(case.round.requests)
            await case.server_clock.expire()  # a keep-alive
            await case.clock.expire()
            await until(lambda: case.clock.next_deadline_s is not None)
        assert case.streams == 1
    exports = [r for r in case.round.requests[asked:] if r.path.endswith(f"{ROUND_ID}.pgn")]
    assert exports == []


@pytest.mark.slow
async def test_boards_that_a_stalled_connection_kept_are_not_forgotten_at_the_end() -> None:
    """All games known are over, and silent: yet the round has another."""
    case = Case(ConnectionFaults(stall_after=5500))
    for index, game in enumerate(GAMES):
        case.round.show(index, game if index < 3 else upto(game, 20))
    async with case.following() as task:
        await until(lambda: case.round.stalled)
        await until(lambda: len(case.ledger.games) == 2)
        while len(case.ledger.games) == 2:  # a last chunk may still come and put the end off
            await case.clock.expire()
            await until(lambda: case.clock.next_deadline_s is not None)
        assert len(case.ledger.games) == 4
        assert not task.done()
        case.round.show(3, GAMES[3])
        await case.clock.expire()  # the stalled connection is given up
        await case.finish(task)
    case.check()


@pytest.mark.slow
async def test_without_an_export_a_sign_of_life_after_the_grace_period_ends_the_round() -> None:
    case = Case()
    case.round.export = False
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.following() as task:
        await until(lambda: case.heard)
        await until(lambda: case.clock.next_deadline_s == 20.0)
        await case.clock.expire()
        await until(lambda: case.clock.next_deadline_s == 105.0)
        await case.server_clock.expire()
        async with asyncio.timeout(20):
            await task
    case.check()


@pytest.mark.slow
async def test_without_an_export_silence_is_no_end() -> None:
    case = Case(ConnectionFaults(stall_after=100_000_000))
    case.round.export = False
    case.server_clock.deadline = LoopClock().deadline  # type: ignore[method-assign]
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.following() as task:
        await until(lambda: case.heard)
        for wait_s in (20.0, 105.0):
            await until(lambda w=wait_s: case.clock.next_deadline_s == w)  # type: ignore[misc]
            await case.clock.expire()
        await until(lambda: "retrying" in case.ledger.states)
        assert not task.done()


async def test_a_tournament_is_followed_from_round_to_round() -> None:
    case = Case()
    case.tour, case.round.tour_over = True, False
    for index, game in enumerate(GAMES[:2]):
        case.round.show(index, game)
    async with case.following() as task:
        await until(lambda: len(case.ledger.games) == 2)
        await until(lambda: case.clock.next_deadline_s == 20.0)
        await case.clock.expire()  # all results are in, but there are rounds to come
        await until(lambda: case.clock.next_deadline_s == 105.0)
        assert not task.done()
        for index, game in enumerate(GAMES):  # the next round
            case.round.show(index, game)
        case.round.tour_over = True
        await case.finish(task)
    case.check()


@pytest.mark.parametrize(
    ("body", "over"),
    [
        (b'{"rounds": [{"finishedAt": 1}, {"finished": true}]}', True),
        (b'{"rounds": [{"finishedAt": 1}, {"ongoing": true}]}', False),
        (b'{"rounds": []}', False),
        (b"{}", False),
        (b"<html>", False),
        (b'{"rounds": 3}', False),
    ],
)
def test_a_tournament_is_over_when_all_its_rounds_are(body: bytes, over: bool) -> None:
    assert tour_is_over(body) is over


async def test_no_such_round() -> None:
    case = Case()
    async with case.round.serving() as spec:
        feed = open_feed(spec.replace(ROUND_ID, "Nowhere1"), CONFIG, conditions=conditions())
        with pytest.raises(FeedNotFound, match=r"nothing there \(404\)"):
            await feed.run(case.ledger)
    assert case.ledger.last.state == "failed"


async def test_html_instead_of_the_stream() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.whole(200, b"<!DOCTYPE html>", {"Content-Type": "text/html"})

    async with serving(answer) as origin:
        spec = f"lichess+{origin}/broadcast/-/-/{ROUND_ID}"
        with pytest.raises(FeedUnreadable, match="an HTML page"):
            await open_feed(spec, CONFIG, conditions=conditions()).run(Ledger())


@pytest.mark.slow
async def test_a_token_is_sent_to_the_configured_lichess_only(tmp_path: Path) -> None:
    case = Case(token="lip_secret")
    async with case.round.serving() as spec:
        origin = spec.removeprefix("lichess+").partition("/broadcast")[0]
        file = tmp_path / "token"
        file.write_text("lip_secret\n")
        trusted = FeedsConfig(lichess=LichessConfig(base_url=origin, token_file=str(file)))
        page = "https://lichess.org/broadcast/a/b/" + ROUND_ID
        for index, game in enumerate(GAMES):
            case.round.show(index, game)
        feed = open_feed(page, trusted, conditions=conditions(trusted, case.clock), env={})
        async with running(feed, case.ledger) as task:
            await case.finish(task)
        case.check()
        # The same server, but not the configured one: no token, so no access.
        stranger = open_feed(
            spec, CONFIG, conditions=conditions(), env={"LICHESS_TOKEN": "lip_secret"}
        )
        with pytest.raises(FeedUnreadable, match=r"refuses access \(401\)"):
            await stranger.run(Ledger())
    assert "authorization" not in case.round.requests[-1].headers


@pytest.mark.parametrize("token", ["lip secret", "lip_§"])
def test_a_token_that_is_none_is_refused_without_showing_it(token: str) -> None:
    page = "https://lichess.org/broadcast/a/b/" + ROUND_ID
    with pytest.raises(ConfigError) as caught:
        open_feed(page, FeedsConfig(), env={"LICHESS_TOKEN": token})
    assert token not in str(caught.value)


async def later(case: Case, holds: Callable[[], bool]) -> float:
    """Seconds that pass until it holds, keep-alives and all."""
    begun_s = case.clock.now()
    while not holds():
        assert case.clock.now() - begun_s < 86_400
        await until(lambda: holds() or case.clock.next_deadline_s is not None)
        if not holds():
            await case.clock.expire()
            await asyncio.sleep(0.01)  # an answer is on its way
    return case.clock.now() - begun_s


@pytest.mark.slow
async def test_a_result_corrected_hours_after_the_end_is_seen_and_a_game_added_then() -> None:
    """A round was left 20 s after its last result (audit, row 2)."""
    case = Case()
    case.lasting = True
    for index, game in enumerate(GAMES[:3]):
        case.round.show(index, game)
    async with case.following() as task:
        await until(lambda: len(case.ledger.games) == 3)
        await later(case, lambda: case.ledger.last.state == "finished")
        case.clock.time_s += 3600
        corrected = msgspec.structs.replace(GAMES[0], result="0-0")
        case.round.keep_back(0, corrected)
        case.round.keep_back(3, upto(GAMES[3], 20))
        waited_s = await later(case, lambda: len(case.ledger.games) == 4)
        assert waited_s <= 1900
        assert "0-0" in [game.result for game in case.ledger.games.values()]
        assert not task.done()


@pytest.mark.slow
async def test_the_address_of_a_round_leads_on_to_the_next_one() -> None:
    case = Case()
    following = LichessRehearsal(GAMES, clock=case.server_clock, round_id="Rehears2")
    following.started = False
    case.round = LichessRehearsal(GAMES, clock=case.server_clock, following=following)
    case.lasting = True
    case.round.show(0, GAMES[0])
    async with case.following():
        await until(lambda: len(case.ledger.games) == 1)
        await later(case, lambda: case.ledger.last.state == "finished")
        following.show(1, upto(GAMES[1], 10))
        following.start()
        waited_s = await later(case, lambda: len(case.ledger.games) == 2)
        assert waited_s <= 120
        # The round before is still looked at.
        case.round.keep_back(0, msgspec.structs.replace(GAMES[0], result="0-0"))
        await later(case, lambda: "0-0" in [game.result for game in case.ledger.games.values()])
    assert not any(report.complete for report in case.ledger.reports[2:])


async def test_a_takeback_is_seen_within_20_seconds_at_the_price_of_a_short_list() -> None:
    """The stream does not report it; it took 300 s (audit, row 12)."""
    case = Case()
    case.config = FeedsConfig(timeout_s=5.0)
    async with case.following():
        await case.round.connected.wait()
        case.round.show(0, upto(GAMES[0], 20))
        await until(lambda: len(case.ledger.games) == 1)
        await later(case, lambda: len(case.round.requests) >= 5)
        case.round.keep_back(0, upto(GAMES[0], 18))

        def seen() -> bool:
            return [len(game.moves) for game in case.ledger.games.values()] == [18]

        assert await later(case, seen) <= 20
    exports = [r for r in case.round.requests if r.path == f"/api/broadcast/round/{ROUND_ID}.pgn"]
    assert len(exports) == 2  # the first look, and this


async def test_without_a_token_it_is_said_where_to_put_one_and_a_new_one_is_used(
    tmp_path: Path,
) -> None:
    """Fatal, and named neither the variable nor the setting (audit, row 5)."""
    case = Case(token="lip_new")
    case.lasting = True
    file = tmp_path / "token"
    file.write_text("lip_old\n")
    for index, game in enumerate(GAMES):
        case.round.show(index, game)
    async with case.round.serving() as spec:
        origin = spec.removeprefix("lichess+").partition("/broadcast")[0]
        case.config = FeedsConfig(lichess=LichessConfig(base_url=origin, token_file=str(file)))
        page = f"https://lichess.org/broadcast/a/b/{ROUND_ID}.pgn"
        feed = open_feed(
            page, case.config, conditions=conditions(case.config, case.clock), lasting=True
        )
        async with running(feed, case.ledger):
            await until(lambda: "waiting" in case.ledger.states)
            for word in ("401", "expired", "study:read", "LICHESS_TOKEN", "token_file"):
                assert word in case.ledger.last.detail
            file.write_text("lip_new\n")
            await until(lambda: len(case.ledger.games) == 4)


async def test_a_stream_that_lags_behind_the_export_takes_no_move_back() -> None:
    case = Case()
    async with case.following():
        await case.round.connected.wait()
        case.round.show(0, upto(GAMES[0], 20))
        await until(lambda: len(case.ledger.games) == 1)
        case.round.show(0, upto(GAMES[0], 18))  # sent before, and under way for longer
        case.round.show(1, upto(GAMES[1], 10))
        await until(lambda: len(case.ledger.games) == 2)
    assert lengths(case.ledger, GAMES[0].headers.round) == [20]


async def test_a_stream_that_lags_behind_the_export_withdraws_no_result() -> None:
    case = Case()
    ended = msgspec.structs.replace(upto(GAMES[0], 20), result="1-0")
    async with case.following():
        await case.round.connected.wait()
        case.round.show(0, ended)
        await until(lambda: len(case.ledger.games) == 1)
        case.round.show(0, upto(GAMES[0], 20))  # sent before, and under way for longer
        case.round.show(1, upto(GAMES[1], 10))
        await until(lambda: len(case.ledger.games) == 2)
        assert sorted(game.result for game in case.ledger.games.values()) == ["*", "1-0"]
        # Withdrawn indeed: the next comparison shows it.
        await later(case, lambda: all(game.result == "*" for game in case.ledger.games.values()))
