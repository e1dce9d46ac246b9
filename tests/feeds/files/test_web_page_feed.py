import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import msgspec
import pytest

from live.config import FeedsConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.events import GameReport
from live.feeds.charset import what_instead
from live.feeds.game_timeline import PlannedIncident
from live.feeds.open_feed import open_feed
from live.feeds.web_page_feed import without_user
from live.rehearse.web_servers import Answer, PgnUrlRehearsal, ServedReply, ServedRequest
from tests.feeds.fakes import (
    DATA,
    DrivenClock,
    Ledger,
    conditions,
    decode,
    running,
    substance,
    until,
)

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
CONFIG = FeedsConfig(timeout_s=5.0)


def status(code: int, body: bytes = b"", **headers: str) -> Answer:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        await reply.whole(code, body, named)

    return answer


def upto(game: GameReport, ply: int) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:ply], result="*")


class Case:
    def __init__(self, *, weak: bool = False) -> None:
        self.clock, self.ledger = DrivenClock(), Ledger()
        self.site = PgnUrlRehearsal(GAMES, weak=weak)
        for index, game in enumerate(GAMES):
            self.site.show(index, game)

    def begun(self) -> None:
        """Show all games unfinished, so that the feed does not end."""
        for index, game in enumerate(GAMES):
            self.site.show(index, upto(game, 10))

    @asynccontextmanager
    async def following(self) -> AsyncIterator[asyncio.Task[None]]:
        async with self.site.serving() as url:
            feed = open_feed(url, CONFIG, conditions=conditions(CONFIG, self.clock))
            async with running(feed, self.ledger) as task:
                yield task

    async def to_the_end(self) -> None:
        async with self.following() as task, asyncio.timeout(20):
            await task

    def check(self) -> None:
        assert list(self.ledger.games.values()) == decode(self.site.final_pgn())
        assert [substance(game) for game in self.ledger.games.values()] == [
            substance(game) for game in GAMES
        ]
        assert self.ledger.last.state == "finished"


@pytest.mark.parametrize("weak", [False, True])
async def test_a_finished_page_is_read_once_and_asked_about_until_the_grace_is_over(
    weak: bool,
) -> None:
    case = Case(weak=weak)
    await case.to_the_end()
    case.check()
    assert len(case.ledger.reports) == 1
    asked = [request.headers.get("if-none-match", "") for request in case.site.requests]
    assert asked[0] == "" and all(asked[1:])
    assert sum(case.clock.slept) == pytest.approx(CONFIG.finish_after_s)


@pytest.mark.slow
async def test_a_running_page_is_followed_move_by_move() -> None:
    case = Case()
    case.begun()
    async with case.following() as task:
        await until(lambda: len(case.ledger.games) == 4)
        await case.site.play(speed=1e6, incidents=[PlannedIncident("slip", 0, 12)])
        async with asyncio.timeout(20):
            await task
    case.check()


async def test_last_modified_alone_is_enough() -> None:
    case = Case()
    case.begun()
    seen: list[str] = []
    date = "Sat, 21 Nov 2026 12:00:00 GMT"

    async def dated(request: ServedRequest, reply: ServedReply) -> None:
        seen.append(request.headers.get("if-modified-since", ""))
        if seen[-1]:
            await reply.whole(304)
        else:
            await reply.whole(200, case.site.final_pgn(), {"Last-Modified": date})

    case.site.instead.extend([dated] * 5)
    async with case.following():
        await until(lambda: len(seen) == 5)
    assert seen == ["", date, date, date, date]
    assert len(case.ledger.reports) >= 1


@pytest.mark.slow
async def test_a_server_that_always_says_unchanged_is_doubted_now_and_then() -> None:
    case = Case()
    await case.to_the_end()
    # 20 s of grace at 2 s a poll are not enough to get there, so play it on:
    case = Case()
    case.begun()
    async with case.following():
        await until(lambda: len(case.site.requests) > 65)
    plain = [i for i, r in enumerate(case.site.requests) if "if-none-match" not in r.headers]
    assert plain[:3] == [0, 30, 60]


async def test_a_server_that_takes_conditions_for_a_bad_request_is_asked_without() -> None:
    case = Case()
    case.begun()

    async def touchy(request: ServedRequest, reply: ServedReply) -> None:
        if "if-none-match" in request.headers:
            await reply.whole(400)
        else:
            await reply.whole(200, case.site.final_pgn(), {"ETag": '"a"'})

    case.site.instead.extend([touchy] * 10)
    async with case.following():
        await until(lambda: not case.site.instead)
    asked = ["if-none-match" in request.headers for request in case.site.requests[:10]]
    assert asked == [False, True, *[False] * 8]
    assert set(case.ledger.states) == {"connecting", "live"}


@pytest.mark.slow
async def test_polls_become_rarer_while_nothing_happens() -> None:
    case = Case()
    case.begun()
    async with case.following():
        await until(lambda: len(case.site.requests) > 200)
    assert case.clock.slept[0] == 2.0
    assert max(case.clock.slept) == 5.0
    assert "stale" in case.ledger.states


async def test_a_finished_page_that_may_hold_the_next_round_is_asked_twice_a_minute() -> None:
    case = Case()
    async with case.site.serving() as url:
        feed = open_feed(url, CONFIG, conditions=conditions(CONFIG, case.clock), lasting=True)
        async with running(feed, case.ledger):
            await until(lambda: case.clock.slept[-10:] == [30.0] * 10)
            assert case.ledger.last.state == "finished"
            case.begun()  # another round under the same address
            await until(lambda: case.ledger.last.state == "live")
            await until(lambda: case.clock.slept[-1] == CONFIG.poll_s)


async def test_too_many_requests_waits_a_minute() -> None:
    case = Case()
    case.site.instead.extend([status(429), status(429, Retry_After="7")])
    await case.to_the_end()
    case.check()
    assert case.clock.slept[:2] == [60.0, 7.0]
    assert case.ledger.states[:3] == ["connecting", "retrying", "retrying"]


@pytest.mark.slow
async def test_a_server_in_trouble_is_tried_again_with_growing_waits() -> None:
    case = Case()
    case.site.instead.extend([status(500), status(502), status(503)])
    await case.to_the_end()
    case.check()
    assert case.clock.slept[:3] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (status(404), FeedNotFound),
        (status(401), FeedUnreadable),
        (status(403), FeedUnreadable),
        (status(200, b"<!DOCTYPE html><title>Log in</title>"), FeedUnreadable),
        (status(200, b"Log in", Content_Type="text/html"), FeedUnreadable),
        (status(200, b"x" * 2000), FeedUnreadable),
    ],
)
async def test_what_no_wait_mends_is_told_at_the_start(
    answer: Answer, error: type[Exception]
) -> None:
    case = Case()
    case.site.instead.append(answer)
    with pytest.raises(error):
        await case.to_the_end()


@pytest.mark.parametrize(
    "answer", [status(404), status(200, b"<html>maintenance</html>"), status(401)]
)
async def test_the_same_later_is_retried(answer: Answer) -> None:
    case = Case()
    page = case.site.final_pgn()
    case.site.instead.extend([status(200, page.replace(b"1-0", b"*")), answer])
    await case.to_the_end()
    case.check()
    assert "retrying" in case.ledger.states


async def test_a_page_that_is_empty_before_the_round_is_waited_for() -> None:
    case = Case()
    case.site.instead.extend([status(200), status(200, b"\n")])
    await case.to_the_end()
    case.check()
    assert case.ledger.healths[1].detail == "no games yet"


async def test_a_body_cut_short_takes_nothing_back() -> None:
    case = Case()
    case.begun()
    page = case.site.final_pgn()
    case.site.instead.extend([status(200, page), status(200, page[:-300]), status(200, page[:10])])
    async with case.following():
        await until(lambda: len(case.site.requests) > 5)
    lengths = [sum(len(g.moves) for g in r.games) for r in case.ledger.reports if r.complete]
    assert lengths == sorted(lengths)


async def test_user_and_password_go_into_the_header_and_nowhere_else() -> None:
    case = Case()
    async with case.site.serving() as url:
        secret = url.replace("http://", "http://anna:p%40ss@")
        feed = open_feed(secret, CONFIG, conditions=conditions(CONFIG, case.clock))
        assert feed.name == url
        async with running(feed, case.ledger) as task, asyncio.timeout(20):
            await task
    first = case.site.requests[0]
    assert first.headers["authorization"] == "Basic YW5uYTpwQHNz"
    assert all("anna" not in health.detail for health in case.ledger.healths)


def test_a_password_is_taken_out_of_the_url() -> None:
    assert without_user("http://a:b%3A@h:1/p?q#f") == ("http://h:1/p?q", ("a", "b:"))
    assert without_user("http://h/p") == ("http://h/p", None)


@pytest.mark.slow
async def test_an_unreachable_host_is_waited_for() -> None:
    case = Case()
    async with case.site.serving() as url:
        port = int(url.split(":")[2].split("/")[0])
    feed = open_feed(url, CONFIG, conditions=conditions(CONFIG, case.clock))
    async with running(feed, case.ledger) as task:
        await until(lambda: case.ledger.states.count("retrying") > 2)
        async with case.site.serving(port=port), asyncio.timeout(20):
            await task
    case.check()
    assert "cannot reach 127.0.0.1" in case.ledger.healths[1].detail


def modified(body: bytes, minute: int) -> Answer:
    return status(200, body, Last_Modified=f"Sun, 22 Nov 2026 15:{minute:02}:00 GMT")


@pytest.mark.parametrize("dated", [False, True])
async def test_old_copies_between_new_ones_take_no_move_back(dated: bool) -> None:
    """Two caches that alternate: 30 takebacks in 75 s (audit, row 9)."""
    case = Case()
    pages = []
    for ply in range(10, 20):
        case.site.show(0, upto(GAMES[0], ply))
        pages.append(case.site.final_pgn())
    answers = [copy for old, new in pairwise(range(10)) for copy in (new, old)]
    answer = modified if dated else lambda body, minute: status(200, body)
    case.site.instead.extend(answer(pages[copy], copy) for copy in [0, *answers])
    async with case.following():
        await until(lambda: not case.site.instead)
        await until(lambda: len(case.ledger.reports) >= 10)
    plies = [len(report.games[0].moves) for report in case.ledger.reports]
    assert plies == sorted(plies) and plies[:10] == list(range(10, 20))
    assert not any(game.problem for report in case.ledger.reports for game in report.games)
    assert any("from a cache" in health.detail for health in case.ledger.healths)


@pytest.mark.slow
async def test_a_page_that_goes_back_for_good_is_believed() -> None:
    case = Case()
    case.begun()
    before = case.site.final_pgn()
    case.site.show(0, upto(GAMES[0], 11))
    case.site.instead.extend([status(200, before), status(200, case.site.final_pgn())])
    case.site.show(0, upto(GAMES[0], 10))  # the last move is taken back
    async with case.following():
        await until(lambda: len(case.ledger.reports) == 3)
    assert [len(report.games[0].moves) for report in case.ledger.reports] == [10, 11, 10]


@pytest.mark.slow
async def test_one_bad_answer_costs_seconds() -> None:
    """One 404 meant 30 s of blindness (audit, row 10)."""
    case = Case()
    page = case.site.final_pgn().replace(b"1-0", b"*")
    bad = [status(404), status(200, b"<html>busy</html>"), status(403), status(404)] * 2
    case.site.instead.extend([status(200, page), *bad])
    case.clock.slept.clear()
    await case.to_the_end()
    assert max(case.clock.slept) <= 10


@pytest.mark.slow
async def test_a_page_that_is_not_there_yet_is_waited_for() -> None:
    """An hour before the start: nothing there, a page of HTML, no access (audit, row 1)."""
    case = Case()
    html = b"<!DOCTYPE html><html>starts at 15:00</html>"
    case.site.instead.extend([status(404), status(200, html), status(403), status(503)] * 2)
    async with case.site.serving() as url:
        feed = open_feed(url, CONFIG, conditions=conditions(CONFIG, case.clock), lasting=True)
        async with running(feed, case.ledger):
            await until(lambda: "finished" in case.ledger.states)
    assert case.ledger.states[1:5] == ["waiting"] * 4
    details = [health.detail for health in case.ledger.healths]
    assert "the source has nothing there (404), trying again in 10 s" in details
    assert any("an HTML page" in detail and "address of the PGN" in detail for detail in details)
    assert all(10 <= wait_s <= 60 for wait_s in case.clock.slept[:8])


def test_known_pages_without_games_name_what_to_follow_instead() -> None:
    assert "lichess broadcast" in what_instead("https://www.chess.com/events/2026-candidates")
    assert "no moves" in what_instead("https://s2.chess-results.com/tnr1.aspx")
    assert "PGN itself" in what_instead("https://example.org/chess.com/games")
