import asyncio
import gzip
from collections.abc import AsyncIterator, Iterable

import httpx
import pytest

from live.config import FeedsConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.feeds import http_client
from live.network.retry import FeedTrouble
from live.rehearse.web_servers import Handler, ServedReply, ServedRequest, serving
from tests.feeds.fakes import CONFIG, answering, listening


async def ask(handler: Handler, path: str = "/") -> http_client.HttpBody:
    async with serving(handler) as origin, http_client.client(CONFIG) as client:
        body = await http_client.get(client, "feed", origin + path, max_bytes=1000)
    assert body is not None
    return body


async def trouble_with(url: str) -> FeedTrouble:
    async with http_client.client(CONFIG) as client:
        with pytest.raises(FeedTrouble) as caught:
            await http_client.get(client, "feed", url, max_bytes=1000)
    return caught.value


@pytest.mark.parametrize(
    ("validators", "headers"),
    [
        (http_client.HttpValidators(), {}),
        (http_client.HttpValidators(etag='"a"'), {"If-None-Match": '"a"'}),
        (http_client.HttpValidators(etag='W/"a"'), {"If-None-Match": 'W/"a", "a"'}),
        (
            http_client.HttpValidators(last_modified="Sat, 21 Nov 2026 12:00:00 GMT"),
            {"If-Modified-Since": "Sat, 21 Nov 2026 12:00:00 GMT"},
        ),
    ],
)
def test_what_makes_a_request_conditional(
    validators: http_client.HttpValidators, headers: dict[str, str]
) -> None:
    assert validators.headers() == headers


async def test_a_body_comes_with_its_validators_if_they_can_be_sent_back() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        assert request.headers["user-agent"].startswith("live-rate/")
        assert request.headers["accept-encoding"] == "gzip"
        await reply.whole(200, b"1. e4 *", {"ETag": '"a"', "Content-Type": "text/plain"})

    validators = http_client.HttpValidators('"a"')
    assert await ask(answer) == http_client.HttpBody(b"1. e4 *", "text/plain", validators)
    odd = await ask(answering(200, b"*", ETag='"\xe9"', Last_Modified="S\xe1bado"))
    assert odd.validators.headers() == {}


async def test_redirects_are_followed_but_not_for_ever() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        hops = int(request.path[1:])
        if hops == 0:
            await reply.whole(200, b"there")
        else:
            await reply.whole(302, b"", {"Location": f"/{hops - 1}"})

    assert (await ask(answer, "/5")).body == b"there"
    with pytest.raises(FeedTrouble, match="redirects without end") as caught:
        await ask(answer, "/9999")
    assert isinstance(caught.value.fatal, FeedUnreadable)


async def breaking_off(request: ServedRequest, reply: ServedReply) -> None:
    await reply.begin(200)
    await reply.chunk(b"1. e4")
    reply.drop()


@pytest.mark.parametrize(
    ("answer", "says", "fatal"),
    [
        (
            answering(200, gzip.compress(b"x" * 1_000_000), Content_Encoding="gzip"),
            "larger than 1000 bytes",
            FeedUnreadable,
        ),
        (answering(200, b"x", Content_Encoding="gzip, gzip"), "is compressed as", FeedUnreadable),
        (answering(200, b"x", Content_Encoding="br"), "is compressed as", FeedUnreadable),
        (answering(200, b"x", Content_Encoding="identity, zstd"), "compressed", FeedUnreadable),
        (answering(200, b"no gzip", Content_Encoding="gzip"), "compression is damaged", None),
        (answering(301, Location="file:///etc/passwd"), "none that can be asked", FeedUnreadable),
        (answering(404), "nothing there", FeedNotFound),
        (breaking_off, "broke off", None),
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
        await reply.begin(200)
        while True:
            await reply.chunk(b"x" * 500)
            sent += 500

    with pytest.raises(FeedTrouble, match="larger than 1000 bytes"):
        await ask(endless)
    assert sent < 50_000_000  # what socket buffers hold, not what a server can send


async def test_a_large_chunk_is_inflated_no_further_than_the_limit() -> None:
    bomb = pieces([gzip.compress(b"x" * 60_000_000)], [0])
    response = httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=bomb)
    parts = [part async for part in http_client._inflated(response, 1001)]
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
        event_hooks={"response": [http_client._no_way_in]},
    ) as client:
        if not refused:
            found = await http_client.get(client, "feed", first, max_bytes=1000)
            assert found is not None and found.body == b"there"
            return
        with pytest.raises(FeedTrouble, match="redirects to an address of this machine") as caught:
            await http_client.get(client, "feed", first, max_bytes=1000)
        assert isinstance(caught.value.fatal, FeedUnreadable)


async def test_a_stream_whose_answer_never_begins_is_given_up() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.gone()

    async with serving(answer) as origin, http_client.client(FeedsConfig(timeout_s=0.01)) as client:
        with pytest.raises(FeedTrouble, match=r"127\.0\.0\.1 does not answer"):
            async with (
                asyncio.timeout(20),
                http_client.request(client, "feed", origin, endless=True),
            ):
                pass


async def test_addresses_that_are_none_that_nobody_answers_at_and_that_speak_no_http() -> None:
    assert "none that can be asked" in (await trouble_with("http://example.org/\x01.pgn")).reason
    async with serving(answering(200)) as origin:
        pass  # the port is free again: nobody listens there
    unreached = await trouble_with(origin)
    assert unreached.fatal is None and unreached.reason.startswith("cannot reach 127.0.0.1")

    async def ftp(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"220 ftp.example.org ready\r\n")
        await writer.drain()

    async with listening(ftp) as port:
        assert "does not speak HTTP" in (await trouble_with(f"http://127.0.0.1:{port}/")).reason


def test_every_error_of_httpx_has_words_of_ours() -> None:
    """No exception class falls through to the last case but those that name no cause."""
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
            error = httpx.HTTPStatusError("x", request=request, response=httpx.Response(500))
        else:
            error = kind("http://example.org/?token=hunter2")
        trouble = http_client.trouble_of("feed", error, "example.org")
        assert "hunter2" not in trouble.reason and "hunter2" not in str(trouble.fatal)
        if "the request failed" in trouble.reason:
            vague.append(kind)
    assert set(vague) == {httpx.HTTPError, httpx.HTTPStatusError, httpx.RequestError}


async def pieces(parts: Iterable[bytes], handed: list[int]) -> AsyncIterator[bytes]:
    """All there at once; ``handed`` counts."""
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
    reading = asyncio.create_task(http_client._body(response, "feed", 100_000))
    before, most = 0, 0
    while not reading.done():
        await asyncio.sleep(0)
        most, before = max(most, handed[0] - before), handed[0]
    assert await reading == body
    assert most <= http_client.PIECES_A_TURN + 1


async def test_a_body_of_very_many_tiny_pieces_is_given_up_and_a_long_one_in_lines_is_not() -> None:
    handed = [0]
    response = httpx.Response(200, content=pieces([b"x"] * 50_000, handed))
    with pytest.raises(FeedTrouble, match=r"in pieces of 1\.0 bytes"):
        await http_client._body(response, "feed", 100_000)
    assert handed[0] <= http_client.PIECES + 1
    lines = httpx.Response(200, content=pieces([b"x" * 40] * 10_000, handed))
    assert len(await http_client._body(lines, "feed", 1_000_000)) == 400_000


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("64:ff9b::7f00:1", False),
        ("64:ff9b:1::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2002:c0a8:104::1", False),
        ("::ffff:10.0.0.7", False),
        ("64:ff9b::808:808", True),
        ("2002:808:808::1", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
    ],
)
async def test_an_address_that_stands_for_another_is_judged_by_that(
    address: str, public: bool
) -> None:
    assert await http_client._inner(f"[{address}]") is not public


async def test_a_name_that_is_another_address_when_it_is_connected_to_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def looked_up_as_public(host: str) -> bool:
        return False

    monkeypatch.setattr(http_client, "_inner", looked_up_as_public)
    asked: list[str] = []

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        asked.append(request.path)
        port = request.headers["host"].rpartition(":")[2]
        await reply.whole(302, b"", {"Location": f"http://localhost:{port}/inside"})

    with pytest.raises(FeedTrouble, match="redirects to an address of this machine"):
        await ask(answer)
    assert asked == ["/"]
    monkeypatch.setattr(http_client, "_proxies", lambda: {"localhost"})
    with pytest.raises(FeedTrouble, match="redirects without end"):
        await ask(answer)
