"""Pages over HTTP, and the feed that polls them."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import chain, pairwise

import httpx
import msgspec
import pytest

from live.errors import FeedNotFound, FeedUnreadable
from live.rehearse.rehearsal import write_pgn
from live.rehearse.web_server import Handler, ServedReply, ServedRequest, serve_http
from live.settings import FeedsConfig
from live.sources import http_client, private_redirects
from live.sources.retry import FeedTrouble
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


async def ask(handler: Handler, path: str = "/") -> http_client.HttpBody:
    async with serve_http(handler) as origin, http_client.open_client(CONFIG) as client:
        body = await http_client.fetch_body(
            client, "feed", origin + path, max_bytes=1000
        )
    assert body is not None
    return body


async def trouble_with(url: str) -> FeedTrouble:
    async with http_client.open_client(CONFIG) as client:
        with pytest.raises(FeedTrouble) as caught:
            await http_client.fetch_body(client, "feed", url, max_bytes=1000)
    return caught.value


OLD = "Sat, 21 Nov 2020 10:11:12 GMT"
NOON = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("given", "sent_back"),
    [
        ({}, {}),
        ({"ETag": '"a"'}, {"If-None-Match": '"a"'}),
        ({"ETag": 'W/"a"'}, {"If-None-Match": 'W/"a", "a"'}),
        (
            {"ETag": '"a"', "Last-Modified": "gestern 12 Uhr, ä"},
            {"If-None-Match": '"a"'},
        ),
        ({"Last-Modified": "Sat, 21 Nov 2026"}, {}),
        ({"Last-Modified": OLD}, {"If-Modified-Since": OLD}),
    ],
)
def test_validators_are_those_that_can_be_sent_back(
    given: dict[str, str], sent_back: dict[str, str]
) -> None:
    assert http_client.read_validators(given, NOON) == sent_back


async def test_a_body_comes_with_its_type_and_validators() -> None:
    answer = answer_with(200, b"1. e4 *", Content_Type="text/plain", ETag='"a"')
    found = http_client.HttpBody(b"1. e4 *", "text/plain", {"If-None-Match": '"a"'})
    assert await ask(answer) == found


def written(ago_s: float) -> str:
    return format_datetime(NOON - timedelta(seconds=ago_s), usegmt=True)


@pytest.mark.parametrize("tag", ["", '"5f2-2a"', 'W/"5f2-2a"'])
@pytest.mark.parametrize(
    ("ago_s", "counts"), [(-5, False), (0, False), (1, False), (2, True)]
)
def test_what_may_have_changed_again_within_its_second_is_not_asked_for_by_its_time(
    tag: str, ago_s: int, counts: bool
) -> None:
    """The server's own date decides, whatever the local clock shows."""
    headers = {
        "Last-Modified": written(ago_s),
        "Date": written(0),
        **({"ETag": tag} if tag else {}),
    }
    for now in (NOON, NOON + timedelta(hours=3)):
        found = http_client.read_validators(headers, now)
        assert bool(found) is counts
        assert not counts or found["If-Modified-Since"] == written(ago_s)
    # Without the server's date, the local date is used.
    del headers["Date"]
    assert bool(http_client.read_validators(headers, NOON)) is counts


@pytest.mark.parametrize(
    "text", ["", "0", "-1", "Sat, 99 Nov 2026 25:61:61 GMT", "x" * 1000]
)
def test_a_date_that_is_none_is_nothing_to_compare(text: str) -> None:
    headers = {"Last-Modified": text, "ETag": '"a"', "Date": text}
    assert http_client.read_validators(headers, NOON) == {"If-None-Match": '"a"'}


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


async def test_redirects_are_followed_but_not_for_ever() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        hops = int(request.path[1:])
        if hops == 0:
            await reply.send_whole(200, b"there")
        else:
            # The body of a redirect never comes, so the client must not wait for it.
            head = f"Location: /{hops - 1}\r\nContent-Length: 9\r\n\r\n"
            reply.writer.write(f"HTTP/1.1 302 Found\r\n{head}".encode())
            await reply.writer.wait_closed()

    assert (await ask(answer, "/5")).body == b"there"
    with pytest.raises(FeedTrouble, match="redirects endlessly") as caught:
        await ask(answer, "/9999")
    assert isinstance(caught.value.fatal, FeedUnreadable)


async def breaking_off(request: ServedRequest, reply: ServedReply) -> None:
    await reply.begin_chunks()
    await reply.send_chunk(b"1. e4")
    reply.writer.transport.abort()


@pytest.mark.parametrize(
    ("answer", "says", "fatal"),
    [
        (
            answer_with(200, gzip.compress(b"x" * 1_000_000), Content_Encoding="gzip"),
            "more than 1000 bytes",
            FeedUnreadable,
        ),
        (
            answer_with(200, b"x", Content_Encoding="gzip, gzip"),
            "answers compressed as",
            FeedUnreadable,
        ),
        (
            answer_with(200, b"x", Content_Encoding="identity, zstd"),
            "compressed",
            FeedUnreadable,
        ),
        (
            answer_with(200, b"no gzip", Content_Encoding="gzip"),
            "compression is damaged",
            None,
        ),
        (
            answer_with(301, Location="file:///etc/passwd"),
            "not an http or https address",
            FeedUnreadable,
        ),
        (answer_with(404), "nothing there", FeedNotFound),
        (breaking_off, "stopped in mid-answer", None),
    ],
)
async def test_answers_that_are_trouble(
    answer: Handler, says: str, fatal: type[Exception] | None
) -> None:
    with pytest.raises(FeedTrouble, match=says) as caught:
        await ask(answer)
    assert type(caught.value.fatal) is (fatal or type(None))


async def test_no_more_than_the_limit_is_read() -> None:
    sent = 0

    async def endless(request: ServedRequest, reply: ServedReply) -> None:
        nonlocal sent
        await reply.begin_chunks()
        while True:
            await reply.send_chunk(b"x" * 500)
            sent += 500

    with pytest.raises(FeedTrouble, match="more than 1000 bytes"):
        await ask(endless)
    assert sent < 50_000_000  # limited by socket buffers, not by the server


async def test_a_large_chunk_is_inflated_no_further_than_the_limit() -> None:
    bomb = pieces([gzip.compress(b"x" * 6_000_000)], [0])
    response = httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=bomb)
    parts = [part async for part in http_client._inflate_body(response, 1001)]
    assert sum(map(len, parts)) <= 1001 + 1


@pytest.mark.parametrize(
    ("first", "then", "refused"),
    [
        ("http://93.184.215.14/", "http://127.0.0.1/", True),
        ("http://93.184.215.14/", "http://169.254.169.254/latest", True),
        ("http://93.184.215.14/", "http://[::1]:8765/", True),
        ("http://93.184.215.14/", "http://inside.example/", True),
        ("http://93.184.215.14/", "http://93.184.215.15/", False),
        ("http://192.168.1.4/", "http://192.168.1.5/", False),
        ("http://127.0.0.1/", "http://127.0.0.1:81/", False),
    ],
)
async def test_a_stranger_may_not_redirect_to_what_only_this_machine_reaches(
    first: str, then: str, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(host: str, port: object) -> list[tuple[object, ...]]:
        assert host == "inside.example"
        return [(2, 1, 6, "", ("10.0.0.7", 0))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)

    def answer(request: httpx.Request) -> httpx.Response:
        if str(request.url) == first:
            return httpx.Response(302, headers={"Location": then})
        return httpx.Response(200, content=b"there")

    async with httpx.AsyncClient(
        transport=httpx.MockTransport(answer),
        follow_redirects=True,
        event_hooks={"response": [private_redirects.reject_private_redirect]},
    ) as client:
        if not refused:
            found = await http_client.fetch_body(client, "feed", first, max_bytes=1000)
            assert found is not None and found.body == b"there"
            return
        with pytest.raises(
            FeedTrouble, match="redirects to an address of this machine"
        ) as caught:
            await http_client.fetch_body(client, "feed", first, max_bytes=1000)
        assert isinstance(caught.value.fatal, FeedUnreadable)


async def test_a_stream_whose_answer_never_begins_is_given_up() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.writer.wait_closed()

    async with (
        serve_http(answer) as origin,
        http_client.open_client(FeedsConfig(timeout_s=0.01)) as client,
    ):
        with pytest.raises(FeedTrouble, match=r"127\.0\.0\.1 does not answer"):
            async with (
                asyncio.timeout(20),
                http_client.open_request(client, "feed", origin, endless=True),
            ):
                pass


async def test_addresses_that_are_invalid_or_silent_or_speak_no_http() -> None:
    assert (
        "not an http or https address"
        in (await trouble_with("http://example.org/\x01.pgn")).reason
    )
    async with serve_http(answer_with(200)) as origin:
        pass  # after the block, nothing listens on the port
    unreached = await trouble_with(origin)
    assert unreached.fatal is None and unreached.reason.startswith(
        "cannot reach 127.0.0.1"
    )

    async def ftp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 ftp.example.org ready\r\n")
        writer.close()

    async with await asyncio.start_server(ftp, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert (
            "does not speak HTTP"
            in (await trouble_with(f"http://127.0.0.1:{port}/")).reason
        )


def test_every_error_of_httpx_has_words_of_ours() -> None:
    """Only exceptions that name no cause may get the general message."""
    request = httpx.Request("GET", "http://example.org/?token=hunter2")
    classes: list[type[Exception]] = [httpx.InvalidURL]
    todo: list[type[Exception]] = [httpx.HTTPError]
    while todo:
        todo += (kind := todo.pop()).__subclasses__()
        classes.append(kind)
    vague = []
    for kind in classes:
        error: Exception
        if kind is httpx.HTTPStatusError:
            error = httpx.HTTPStatusError(
                "x", request=request, response=httpx.Response(500)
            )
        else:
            error = kind("http://example.org/?token=hunter2")
        trouble = http_client.translate_error("feed", error, "example.org")
        assert "hunter2" not in trouble.reason and "hunter2" not in str(trouble.fatal)
        if "the request failed" in trouble.reason:
            vague.append(kind)
    assert set(vague) == {httpx.HTTPError, httpx.HTTPStatusError, httpx.RequestError}


async def pieces(parts: Iterable[bytes], handed: list[int]) -> AsyncIterator[bytes]:
    """Yield the pieces without waiting; count them in ``handed``."""
    for part in parts:
        handed[0] += 1
        yield part


@pytest.mark.parametrize("gzipped", [False, True])
async def test_of_a_body_in_tiny_pieces_few_are_taken_in_a_turn(gzipped: bool) -> None:
    handed, body = [0], bytes(range(256)) * 4
    sent = gzip.compress(body) if gzipped else body
    headers = {"Content-Encoding": "gzip"} if gzipped else {}
    content = pieces((sent[at : at + 1] for at in range(len(sent))), handed)
    response = httpx.Response(200, headers=headers, content=content)
    reading = asyncio.create_task(http_client._read_body(response, "feed", 100_000))
    before, most = 0, 0
    while not reading.done():
        await asyncio.sleep(0)
        most, before = max(most, handed[0] - before), handed[0]
    assert await reading == body
    assert most <= http_client.PIECES_A_TURN + 1


async def test_a_body_in_many_tiny_pieces_is_given_up_and_a_long_one_is_not() -> None:
    handed = [0]
    response = httpx.Response(200, content=pieces([b"x"] * 50_000, handed))
    with pytest.raises(FeedTrouble, match=r"in pieces of 1\.0 bytes"):
        await http_client._read_body(response, "feed", 100_000)
    assert handed[0] <= http_client.PIECES + 1
    lines = httpx.Response(200, content=pieces([b"x" * 40] * 10_000, handed))
    assert len(await http_client._read_body(lines, "feed", 1_000_000)) == 400_000


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("::ffff:10.0.0.7", False),
        ("::ffff:100.64.0.1", False),
        ("::1", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("::ffff:8.8.8.8", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
    ],
)
async def test_an_address_that_is_not_global_is_of_this_network(
    address: str, public: bool
) -> None:
    assert await private_redirects._is_private_host(f"[{address}]") is not public


async def test_a_name_that_later_resolves_to_an_inner_address_leads_nowhere() -> None:
    class Connected(httpx.ByteStream):
        peer: tuple[str, int] | None = ("93.184.215.14", 80)

        def get_extra_info(self, name: str) -> tuple[str, int] | None:
            return self.peer

        async def aclose(self) -> None:
            self.peer = None  # like a closed socket

    stream, there = Connected(b""), {"Location": "http://127.0.0.1/inside"}
    found = httpx.Response(
        302, headers=there, extensions={"network_stream": stream}, stream=stream
    )
    found.request = httpx.Request("GET", "http://localhost/")
    with pytest.raises(private_redirects.InwardRedirect):
        await private_redirects.reject_private_redirect(found)


async def test_a_name_that_is_another_address_when_it_is_connected_to_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def looked_up_as_public(host: str) -> bool:
        return False

    monkeypatch.setattr(private_redirects, "_is_private_host", looked_up_as_public)
    asked: list[str] = []

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        asked.append(request.path)
        port = request.headers["host"].rpartition(":")[2]
        await reply.send_whole(
            302, b"", {"Location": f"http://localhost:{port}/inside"}
        )

    with pytest.raises(FeedTrouble, match="redirects to an address of this machine"):
        await ask(answer)
    assert asked == ["/"]
    monkeypatch.setattr(
        private_redirects, "getproxies", lambda: {"http": "http://localhost:80"}
    )
    with pytest.raises(FeedTrouble, match="redirects endlessly"):
        await ask(answer)


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
