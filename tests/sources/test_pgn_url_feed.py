"""The source that polls a PGN at a URL."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import chain, pairwise

import msgspec
import pytest

from live.errors import FeedNotFound, FeedUnreadable
from live.rehearse.rehearsal import write_pgn
from live.rehearse.web_server import Handler, ServedReply, ServedRequest, serve_http
from live.settings import FeedsConfig
from tests.sources.fakes import (
    CONFIG,
    GAMES,
    Followed,
    PgnPage,
    answer_with,
    decode,
    follow_source,
    substance,
    until,
    upto,
)


class Case:
    """A page of PGN, and a feed that polls it."""

    def __init__(
        self, *instead: Handler, weak: bool = False, plies: int | None = None
    ) -> None:
        """Create the page. Handlers in ``instead`` answer the first requests. If
        ``plies`` is given, all games stop there without a result, so the feed does not
        end.
        """
        self.site = PgnPage(GAMES, weak=weak)
        self.show(plies)
        self.site.instead.extend(instead)

    def show(self, plies: int | None) -> None:
        for index, game in enumerate(GAMES):
            self.site.show_report(index, game if plies is None else upto(game, plies))

    @property
    def page(self) -> bytes:
        return self.site.join_games()

    @asynccontextmanager
    async def follow_source(
        self, spell: Callable[[str], str] = str, *, lasting: bool = False
    ) -> AsyncIterator[Followed]:
        config = FeedsConfig(timeout_s=5.0)
        async with (
            self.site.serve() as url,
            follow_source(spell(url), config, lasting=lasting) as seen,
        ):
            yield seen

    async def to_the_end(self) -> Followed:
        async with self.follow_source() as seen, asyncio.timeout(20):
            assert seen.task is not None
            await seen.task
        assert seen.games == decode(self.page)
        assert [substance(game) for game in seen.games] == [
            substance(game) for game in GAMES
        ]
        assert seen.states[-1] == "finished"
        return seen

    def list_header_values(self, header: str) -> list[str]:
        return [request.headers.get(header, "") for request in self.site.requests]


@pytest.mark.parametrize("weak", [False, True])
async def test_a_finished_page_is_read_once_and_asked_about_until_the_grace_is_over(
    weak: bool,
) -> None:
    case = Case(weak=weak)
    seen = await case.to_the_end()
    assert len(seen.ledger.reports) == 1
    first, *later = case.list_header_values("if-none-match")
    assert first == "" and all(later)
    assert sum(seen.clock.slept) == pytest.approx(CONFIG.finish_after_s)


async def test_polls_become_rarer_and_an_unchanged_page_is_still_read() -> None:
    case = Case(plies=10)
    async with case.follow_source() as seen:
        await until(lambda: len(case.site.requests) > 130)
    assert (seen.clock.slept[0], max(seen.clock.slept)) == (2.0, 5.0)
    assert "stale" in seen.states
    plain = [
        poll
        for poll, tag in enumerate(case.list_header_values("if-none-match"))
        if not tag
    ]
    assert plain[:3] == [0, 30, 60]


async def test_a_server_that_refuses_conditional_requests_is_asked_without() -> None:
    case = Case(plies=10)

    async def touchy(request: ServedRequest, reply: ServedReply) -> None:
        if "if-none-match" in request.headers:
            await reply.send_whole(400)
        else:
            await reply.send_whole(200, case.page, {"ETag": '"a"'})

    case.site.instead.extend([touchy] * 10)
    async with case.follow_source() as seen:
        await until(lambda: not case.site.instead)
    assert [bool(tag) for tag in case.list_header_values("if-none-match")[:10]] == [
        False,
        True,
        *[False] * 8,
    ]
    assert set(seen.states) == {"connecting", "live"}


async def test_a_finished_page_that_may_bring_a_round_is_asked_twice_a_minute() -> None:
    case = Case()
    async with case.follow_source(lasting=True) as seen:
        await until(lambda: seen.clock.slept[-10:] == [30.0] * 10)
        assert seen.states[-1] == "finished"
        case.show(10)  # a new round at the same address
        await until(lambda: seen.states[-1] == "live")
        await until(lambda: seen.clock.slept[-1] == CONFIG.poll_s)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (answer_with(404), FeedNotFound),
        (answer_with(200, b"<!DOCTYPE html><title>Log in</title>"), FeedUnreadable),
        (answer_with(200, b"Log in", Content_Type="text/html"), FeedUnreadable),
    ],
)
async def test_what_no_wait_mends_is_told_at_the_start_and_retried_later(
    answer: Handler, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await Case(answer).to_the_end()
    case = Case()
    case.site.instead.extend(
        [answer_with(200, case.page.replace(b"1-0", b"*")), *[answer] * 4]
    )
    seen = await case.to_the_end()
    assert "retrying" in seen.states
    assert max(seen.clock.slept) <= 10, "one bad answer costs seconds (audit, row 10)"


async def test_a_page_that_is_empty_before_the_round_is_waited_for() -> None:
    seen = await Case(answer_with(200), answer_with(200, b"\n")).to_the_end()
    assert seen.details[1] == "no games yet"


async def test_user_and_password_go_into_the_header_and_nowhere_else() -> None:
    case = Case()
    async with case.follow_source(
        lambda url: url.replace("//", "//anna:p%40ss@")
    ) as seen:
        await until(lambda: seen.done)
    assert case.list_header_values("authorization")[0] == "Basic YW5uYTpwQHNz"
    assert "anna" not in seen.feed.name + str(seen.details)


async def test_old_copies_between_new_ones_take_no_move_back() -> None:
    """Two caches alternate, one of which is older."""
    case, answers = Case(plies=10), []
    for ply in range(10, 20):
        case.site.show_report(0, upto(GAMES[0], ply))
        answers.append(answer_with(200, case.page))
    copies = [0]
    for old, new in pairwise(range(10)):
        copies += [new, old]
    case.site.instead.extend(answers[copy] for copy in copies)
    async with case.follow_source() as seen:
        await until(lambda: not case.site.instead and len(seen.ledger.reports) >= 10)
    plies = [len(report.games[0].moves) for report in seen.ledger.reports]
    assert plies == sorted(plies) and plies[:10] == list(range(10, 20))
    games = chain.from_iterable(report.games for report in seen.ledger.reports)
    assert not any(game.problem for game in games)


OLD = "Sat, 21 Nov 2020 10:11:12 GMT"


async def test_two_writes_within_a_second_are_both_seen() -> None:
    """A plain web server, as in halls, sends times in whole seconds and no tags."""
    asked: list[str | None] = []
    written = [
        write_pgn(upto(GAMES[0], 8)).encode(),
        write_pgn(msgspec.structs.replace(upto(GAMES[0], 9), result="1-0")).encode(),
    ]

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        asked.append(request.headers.get("if-modified-since"))
        if asked[-1] == OLD:
            await reply.send_whole(304, b"", {})
            return
        # Only in this answer is the second of the change not over yet.
        date = OLD if len(written) == 2 else "Sat, 21 Nov 2020 10:11:30 GMT"
        text = written.pop(0) if len(written) > 1 else written[0]
        await reply.send_whole(200, text, {"Last-Modified": OLD, "Date": date})

    async with (
        serve_http(answer) as origin,
        follow_source(f"{origin}/games.pgn", CONFIG) as seen,
    ):
        await seen.wait_for_moves(9)
        assert seen.games[0].result == "1-0" and asked[:2] == [None, None]
        await until(lambda: OLD in asked)
