"""Redirects from a public source to this network."""

import asyncio

import httpx
import pytest

from live.errors import FeedUnreadable
from live.rehearse.web_server import Handler, ServedReply, ServedRequest, serve_http
from live.sources import http_client, private_redirects
from live.sources.retry import FeedTrouble
from tests.sources.fakes import (
    CONFIG,
)


async def fetch(handler: Handler) -> None:
    async with serve_http(handler) as origin, http_client.open_client(CONFIG) as client:
        await http_client.fetch_body(client, "feed", origin)


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
        await fetch(answer)
    assert asked == ["/"]
    monkeypatch.setattr(
        private_redirects, "getproxies", lambda: {"http": "http://localhost:80"}
    )
    with pytest.raises(FeedTrouble, match="redirects endlessly"):
        await fetch(answer)
