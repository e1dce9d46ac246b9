"""Requests over HTTP: validators, limits and troubles."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from live.errors import FeedNotFound, FeedUnreadable
from live.rehearse.web_server import Handler, ServedReply, ServedRequest, serve_http
from live.settings import FeedsConfig
from live.sources import http_client
from live.sources.retry import FeedTrouble
from tests.sources.fakes import (
    CONFIG,
    answer_with,
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
