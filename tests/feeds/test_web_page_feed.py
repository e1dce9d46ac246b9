import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from live.config import FeedsConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.feeds.game_timeline import PlannedIncident
from live.feeds.web_page_feed import without_user
from live.rehearse.web_servers import Answer, PgnUrlRehearsal, ServedReply, ServedRequest
from tests.feeds.fakes import (
    CONFIG,
    GAMES,
    Followed,
    answering,
    decode,
    following,
    substance,
    until,
    upto,
)


class Case:
    """A page of PGN and a feed that polls it."""

    def __init__(self, *instead: Answer, weak: bool = False, plies: int | None = None) -> None:
        """``instead``: answered at first. With ``plies`` all games go on, so it does not end."""
        self.site = PgnUrlRehearsal(GAMES, weak=weak)
        self.show(plies)
        self.site.instead.extend(instead)

    def show(self, plies: int | None) -> None:
        for index, game in enumerate(GAMES):
            self.site.show(index, game if plies is None else upto(game, plies))

    @property
    def page(self) -> bytes:
        return self.site.final_pgn()

    @asynccontextmanager
    async def following(
        self, spell: Callable[[str], str] = str, *, lasting: bool = False
    ) -> AsyncIterator[Followed]:
        config = FeedsConfig(timeout_s=5.0, max_bytes=30_000)
        async with (
            self.site.serving() as url,
            following(spell(url), config, lasting=lasting) as seen,
        ):
            yield seen

    async def to_the_end(self) -> Followed:
        async with self.following() as seen, asyncio.timeout(20):
            assert seen.task is not None
            await seen.task
        assert seen.games == decode(self.page)
        assert [substance(game) for game in seen.games] == [substance(game) for game in GAMES]
        assert seen.states[-1] == "finished"
        return seen

    def asked(self, header: str) -> list[str]:
        return [request.headers.get(header, "") for request in self.site.requests]


@pytest.mark.parametrize("weak", [False, True])
async def test_a_finished_page_is_read_once_and_asked_about_until_the_grace_is_over(
    weak: bool,
) -> None:
    case = Case(weak=weak)
    seen = await case.to_the_end()
    assert len(seen.ledger.reports) == 1
    first, *later = case.asked("if-none-match")
    assert first == "" and all(later)
    assert sum(seen.clock.slept) == pytest.approx(CONFIG.finish_after_s)


@pytest.mark.slow
async def test_a_running_page_is_followed_move_by_move() -> None:
    case = Case(plies=10)
    async with case.following() as seen:
        await seen.held(4)
        await case.site.play(speed=1e6, incidents=[PlannedIncident("slip", 0, 12)])
        await until(lambda: seen.done)
    assert seen.games == decode(case.page)


async def test_last_modified_alone_is_enough() -> None:
    case = Case(plies=10)
    date = "Sat, 21 Nov 2026 12:00:00 GMT"
    case.site.instead.extend([answering(200, case.page, Last_Modified=date), *[answering(304)] * 4])
    async with case.following() as seen:
        await until(lambda: not case.site.instead)
    assert case.asked("if-modified-since")[:5] == ["", date, date, date, date]
    assert seen.ledger.reports


@pytest.mark.slow
async def test_polls_become_rarer_and_what_is_said_to_be_unchanged_is_read_now_and_then() -> None:
    case = Case(plies=10)
    async with case.following() as seen:
        await until(lambda: len(case.site.requests) > 200)
    assert (seen.clock.slept[0], max(seen.clock.slept)) == (2.0, 5.0)
    assert "stale" in seen.states
    plain = [poll for poll, tag in enumerate(case.asked("if-none-match")) if not tag]
    assert plain[:3] == [0, 30, 60]


async def test_a_server_that_takes_conditions_for_a_bad_request_is_asked_without() -> None:
    case = Case(plies=10)

    async def touchy(request: ServedRequest, reply: ServedReply) -> None:
        if "if-none-match" in request.headers:
            await reply.whole(400)
        else:
            await reply.whole(200, case.page, {"ETag": '"a"'})

    case.site.instead.extend([touchy] * 10)
    async with case.following() as seen:
        await until(lambda: not case.site.instead)
    assert [bool(tag) for tag in case.asked("if-none-match")[:10]] == [False, True, *[False] * 8]
    assert set(seen.states) == {"connecting", "live"}


async def test_a_finished_page_that_may_hold_the_next_round_is_asked_twice_a_minute() -> None:
    case = Case()
    async with case.following(lasting=True) as seen:
        await until(lambda: seen.clock.slept[-10:] == [30.0] * 10)
        assert seen.states[-1] == "finished"
        case.show(10)  # another round under the same address
        await until(lambda: seen.states[-1] == "live")
        await until(lambda: seen.clock.slept[-1] == CONFIG.poll_s)


@pytest.mark.parametrize(
    ("answers", "slept"),
    [
        ([answering(429), answering(429, Retry_After="7")], [60.0, 7.0]),
        ([answering(500), answering(502), answering(503)], [1.0, 2.0, 4.0]),
    ],
)
async def test_a_server_in_trouble_is_tried_again_after_the_wait_it_asks_for_or_ours(
    answers: list[Answer], slept: list[float]
) -> None:
    seen = await Case(*answers).to_the_end()
    assert seen.clock.slept[: len(slept)] == slept
    assert seen.states[:3] == ["connecting", "retrying", "retrying"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (answering(404), FeedNotFound),
        (answering(401), FeedUnreadable),
        (answering(403), FeedUnreadable),
        (answering(200, b"<!DOCTYPE html><title>Log in</title>"), FeedUnreadable),
        (answering(200, b"Log in", Content_Type="text/html"), FeedUnreadable),
        (answering(200, b"x" * 40_000), FeedUnreadable),
    ],
)
async def test_what_no_wait_mends_is_told_at_the_start_and_retried_later(
    answer: Answer, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await Case(answer).to_the_end()
    case = Case()
    case.site.instead.extend([answering(200, case.page.replace(b"1-0", b"*")), *[answer] * 4])
    seen = await case.to_the_end()
    assert "retrying" in seen.states
    assert max(seen.clock.slept) <= 10, "one bad answer costs seconds (audit, row 10)"


async def test_a_page_that_is_empty_before_the_round_is_waited_for() -> None:
    seen = await Case(answering(200), answering(200, b"\n")).to_the_end()
    assert seen.details[1] == "no games yet"


async def test_a_body_cut_short_takes_nothing_back() -> None:
    case = Case(plies=10)
    case.site.instead.extend(
        answering(200, part) for part in (case.page, case.page[:-300], case.page[:10])
    )
    async with case.following() as seen:
        await until(lambda: len(case.site.requests) > 5)
    lengths = [sum(len(g.moves) for g in r.games) for r in seen.ledger.reports if r.complete]
    assert lengths == sorted(lengths)


async def test_user_and_password_go_into_the_header_and_nowhere_else() -> None:
    assert without_user("http://a:b%3A@h:1/p?q#f") == ("http://h:1/p?q", ("a", "b:"))
    assert without_user("http://h/p") == ("http://h/p", None)
    case = Case()
    async with case.following(lambda url: url.replace("//", "//anna:p%40ss@")) as seen:
        await until(lambda: seen.done)
    assert case.asked("authorization")[0] == "Basic YW5uYTpwQHNz"
    assert "anna" not in seen.feed.name + str(seen.details)


@pytest.mark.slow
async def test_an_unreachable_host_is_waited_for() -> None:
    case = Case()
    async with case.site.serving() as url:
        port = int(url.split(":")[2].split("/")[0])
    async with following(url) as seen:
        await until(lambda: seen.states.count("retrying") > 2)
        async with case.site.serving(port=port):
            await until(lambda: seen.done)
    assert seen.games == decode(case.page)
    assert "cannot reach 127.0.0.1" in seen.details[1]


@pytest.mark.parametrize("dated", [False, True])
async def test_old_copies_between_new_ones_take_no_move_back(dated: bool) -> None:
    """Two caches that alternate: 30 takebacks in 75 s (audit, row 9)."""
    case, answers = Case(plies=10), []
    for ply in range(10, 20):
        case.site.show(0, upto(GAMES[0], ply))
        date = {"Last_Modified": f"Sun, 22 Nov 2026 15:{ply}:00 GMT"} if dated else {}
        answers.append(answering(200, case.page, **date))
    copies = [copy for old, new in pairwise(range(10)) for copy in (new, old)]
    case.site.instead.extend(answers[copy] for copy in [0, *copies])
    async with case.following() as seen:
        await until(lambda: not case.site.instead and len(seen.ledger.reports) >= 10)
    plies = [len(report.games[0].moves) for report in seen.ledger.reports]
    assert plies == sorted(plies) and plies[:10] == list(range(10, 20))
    assert not any(game.problem for report in seen.ledger.reports for game in report.games)
    assert any("from a cache" in detail for detail in seen.details)


@pytest.mark.slow
async def test_a_page_that_goes_back_for_good_is_believed() -> None:
    case = Case(plies=10)
    for ply in (10, 11, 10):  # the last move is taken back
        case.site.show(0, upto(GAMES[0], ply))
        case.site.instead.append(answering(200, case.page))
    async with case.following() as seen:
        await until(lambda: len(seen.ledger.reports) == 3)
    assert [len(report.games[0].moves) for report in seen.ledger.reports] == [10, 11, 10]


@pytest.mark.slow
async def test_a_page_that_is_not_there_yet_is_waited_for() -> None:
    """An hour before the start: nothing there, a page of HTML, no access (audit, row 1)."""
    html = answering(200, b"<!DOCTYPE html><html>starts at 15:00</html>")
    case = Case(*[answering(404), html, answering(403), answering(503)] * 2)
    async with case.following(lasting=True) as seen:
        await until(lambda: "finished" in seen.states)
    assert seen.states[1:5] == ["waiting"] * 4
    assert "the source has nothing there (404), trying again in 10 s" in seen.details
    assert any("an HTML page" in each and "address of the PGN" in each for each in seen.details)
    assert all(10 <= wait_s <= 60 for wait_s in seen.clock.slept[:8])
