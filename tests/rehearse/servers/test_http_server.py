import asyncio

import httpx
import pytest

from live.rehearse.web_servers import ServedReply, ServedRequest, serving


async def test_requests_are_read_and_answered_on_one_connection() -> None:
    seen: list[ServedRequest] = []

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        seen.append(request)
        await reply.whole(200, request.path.encode())

    async with serving(answer) as origin, httpx.AsyncClient() as client:
        first = await client.get(origin + "/a%20b?x=1&y=z")
        second = await client.get(origin + "/c", headers={"X-Test": "yes"})
    assert (first.text, second.text) == ("/a b", "/c")
    assert seen[0].query == {"x": "1", "y": "z"}
    assert seen[1].headers["x-test"] == "yes"


async def test_chunks_come_one_by_one_and_end() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.begin(200)
        for chunk in (b"a", b"", b"bc"):
            await reply.chunk(chunk)
        await reply.end()

    async with serving(answer) as origin, httpx.AsyncClient() as client:
        assert (await client.get(origin)).content == b"abc"


async def test_a_drop_breaks_the_answer_off() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.begin(200)
        await reply.chunk(b"half a li")
        reply.drop()

    async with serving(answer) as origin, httpx.AsyncClient() as client:
        with pytest.raises(httpx.TransportError):
            await client.get(origin)


async def test_leaving_breaks_off_connections_that_still_wait() -> None:
    reached = asyncio.Event()

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        reached.set()
        await asyncio.Event().wait()

    async with httpx.AsyncClient() as client:
        async with serving(answer) as origin:
            asking = asyncio.create_task(client.get(origin))
            await reached.wait()
        with pytest.raises(httpx.TransportError):
            await asking


async def test_noise_instead_of_a_request_ends_that_connection_only() -> None:
    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.whole(204)

    async with serving(answer) as origin:
        host, port = origin.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"x" * 200_000)
        async with asyncio.timeout(10):
            with_end = await _to_end(reader)
        writer.close()
        assert with_end == b""
        async with httpx.AsyncClient() as client:
            assert (await client.get(origin)).status_code == 204


async def _to_end(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""
