"""The whole way in over real sockets: tokens in three ways, origins, names, TLS,
withdrawal.
"""

import asyncio
import json
import logging
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from live.errors import ConfigError
from live.messages.health import EngineHealth, EngineState, FeedHealth
from live.server.http_values import HttpRequest, HttpResponse
from live.server.limits import ClientLimits
from live.server.server import Publisher
from live.server.tokens import GRACE_LOOKS, create_token
from live.settings import ServerConfig
from live.watch.incident_log import IncidentLog
from tests.server.serving import (
    bearer,
    left_in,
    live,
    open_client,
    raw,
    serve_publisher,
)
from tests.server.world import Clock, World, answer_without_waiting
from tests.sources.fakes import until

SCREEN, SCREEN_ENTRY = create_token(
    "screen", lambda size: b"s" * size, events=("Open A",)
)
ARBITER, ARBITER_ENTRY = create_token("arbiter", lambda size: b"a" * size, arbiter=True)


@pytest.fixture
def world() -> World:
    made = World(3, "g1", "g2", plies=1)
    for game, event in (("g1", "Open A"), ("g2", "Open B")):
        made.set(game, event=event)
        made.set_ply(game, 1, score_cp=77, best="b1a3", final=True)
    made.engine_health = EngineHealth(
        (EngineState(0, "searching", 1.0, "the secret ply"),)
    )
    return made


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens.toml"
    path.write_text(SCREEN_ENTRY + ARBITER_ENTRY, encoding="utf-8")
    return path


class Guarded(NamedTuple):
    """A service that asks for tokens, and whoever asks it."""

    publisher: Publisher
    client: httpx.AsyncClient
    world: World
    tokens: Path


@asynccontextmanager
async def serve_guarded(
    world: World, tokens: Path, parts: Any = None, **settings: Any
) -> AsyncIterator[Guarded]:
    async with (
        serve_publisher(world, parts, tokens_file=str(tokens), **settings) as publisher,
        open_client(publisher) as client,
    ):
        yield Guarded(publisher, client, world, tokens)


@pytest.fixture
async def guarded(world: World, tokens: Path) -> AsyncIterator[Guarded]:
    async with serve_guarded(world, tokens) as made:
        yield made


SERVED = ("games", "games/g1", "players", "health")
DATA = (*(f"/api/v3/{name}" for name in SERVED), "/metrics", "/nothing")


@pytest.mark.parametrize("path", DATA)
async def test_without_a_token_nobody_learns_what_there_is(
    guarded: Guarded, path: str
) -> None:
    for headers in ({}, bearer("wrong"), {"Authorization": "Basic YTpi"}):
        told = await guarded.client.get(path, headers=headers)
        assert told.status_code == 401
        assert told.headers["www-authenticate"].startswith("Bearer")
        assert "g1" not in told.text and "Open" not in told.text
    assert (
        await guarded.client.get(path, params={"token": "wrong"})
    ).status_code == 401
    right = (403,) if path == "/metrics" else (200, 404)
    assert (
        await guarded.client.get(path, headers=bearer(ARBITER))
    ).status_code in right
    assert (
        await guarded.client.get(path, params={"token": ARBITER})
    ).status_code in right


async def test_without_a_token_one_still_learns_whether_the_service_is_well(
    guarded: Guarded,
) -> None:
    for path in ("/healthz", "/readyz"):
        assert (await guarded.client.get(path)).json() == {
            "status": "ok",
            "ready": True,
        }
        assert (
            "feeds" in (await guarded.client.get(path, headers=bearer(SCREEN))).json()
        )
    assert (await guarded.client.get("/asyncapi.json")).status_code == 200


async def test_a_token_shows_its_event_and_no_other(guarded: Guarded) -> None:
    told = await guarded.client.get("/api/v3/games", headers=bearer(SCREEN))
    assert [game["id"] for game in told.json()["games"]] == ["g1"]
    assert (
        await guarded.client.get("/api/v3/games/g2", headers=bearer(SCREEN))
    ).status_code == 404
    both = await guarded.client.get("/api/v3/games", headers=bearer(ARBITER))
    assert len(both.json()["games"]) == 2
    for query in ("", "?event=Open+B", "?game=g2"):
        url = live(guarded.publisher, query)
        async with connect(url, additional_headers=bearer(SCREEN)) as ws:
            await ws.recv()
            seen = [game["id"] for game in json.loads(await ws.recv())["games"]]
            assert seen == ([] if query else ["g1"])


async def test_only_an_arbiter_sees_what_is_for_arbiters(
    world: World, tokens: Path
) -> None:
    async with serve_guarded(world, tokens, public=True) as (publisher, client, *_):
        for headers, told in (
            (bearer(ARBITER), True),
            (bearer(SCREEN), False),
            ({}, False),
        ):
            async with connect(live(publisher), additional_headers=headers) as ws:
                await ws.recv()
                assert ("the secret ply" in str(await ws.recv())) == told
                publisher.audiences.publish(world.health())
                world.engine_health = EngineHealth(
                    (EngineState(0, "idle", 1.0, "the secret ply"),)
                )
            for path in ("/api/v3/health", "/healthz", "/readyz"):
                answer = await client.get(path, headers=headers)
                assert ("the secret ply" in answer.text) == told


async def test_a_venue_gets_neither_scores_nor_what_follows_from_them(
    world: World, tokens: Path
) -> None:
    async with serve_guarded(world, tokens, public=True, hide_scores=True) as (
        publisher,
        client,
        *_,
    ):
        for headers, told in (
            ({}, False),
            (bearer(SCREEN), False),
            (bearer(ARBITER), True),
        ):
            pgn = (await client.get("/api/v3/games/g1.pgn", headers=headers)).text
            assert ("[%eval" in pgn) == told
            assert "[%clk 0:01:00]" in pgn
            game = await client.get("/api/v3/games/g1", headers=headers)
            assert ("b1a3" in game.text) == told
            async with connect(
                live(publisher, "?game=g1"), additional_headers=headers
            ) as ws:
                assert (json.loads(await ws.recv())["engine"]["rating"] == 2850) == told
                assert ("b1a3" in str(await ws.recv())) == told


@pytest.mark.parametrize("confined", [True, False])
async def test_a_token_may_come_as_the_first_message(
    world: World, tokens: Path, confined: bool
) -> None:
    async with (
        serve_publisher(world, tokens_file=str(tokens)) as publisher,
        connect(live(publisher)) as ws,
    ):
        await ws.send(
            json.dumps({"type": "token", "token": SCREEN if confined else ARBITER})
        )
        assert json.loads(await ws.recv())["type"] == "hello"
        snapshot = json.loads(await ws.recv())
        assert [game["id"] for game in snapshot["games"]] == (
            ["g1"] if confined else ["g1", "g2"]
        )
        assert ("the secret ply" in str(snapshot)) is not confined
        publisher.audiences.publish(world.move("g1"))
        assert json.loads(await ws.recv())["type"] == "move"
        await (await ws.ping())


@pytest.mark.parametrize(
    "first", ['{"type":"token","token":"wrong"}', "hello", b"binary", "x" * 5000, None]
)
async def test_whoever_says_nothing_valid_first_is_closed_and_gets_nothing(
    world: World, tokens: Path, first: str | bytes | None
) -> None:
    clock = Clock()
    async with serve_publisher(
        world, {"clock": clock}, tokens_file=str(tokens)
    ) as publisher:
        async with connect(live(publisher)) as ws:
            if first is None:
                clock.now_s += 10.1
                publisher.sweep_connections_and_streams()
            else:
                await ws.send(first)
            assert await left_in(ws) == ([], 1009 if first == "x" * 5000 else 4101)
        assert publisher.tally.subscribers == 0


async def test_a_wrong_token_in_header_or_query_is_refused_at_the_handshake(
    guarded: Guarded,
) -> None:
    for query, headers in (
        ("?token=wrong", {}),
        ("", bearer("wrong")),
        ("?token=", {}),
    ):
        with pytest.raises(InvalidStatus) as refused:
            await connect(live(guarded.publisher, query), additional_headers=headers)
        assert refused.value.response.status_code == 401
    async with connect(live(guarded.publisher, f"?token={SCREEN}")) as ws:
        assert json.loads(await ws.recv())["type"] == "hello"


async def test_a_withdrawn_token_ends_what_it_began(world: World, tokens: Path) -> None:
    said: list[FeedHealth] = []
    async with (
        serve_guarded(world, tokens, {"report": said.append}) as guarded,
        connect(live(guarded.publisher, f"?token={SCREEN}")) as screen,
        connect(live(guarded.publisher, f"?token={ARBITER}")) as arbiter,
    ):
        await screen.recv(), await screen.recv()
        await arbiter.recv(), await arbiter.recv()
        guarded.tokens.write_text(ARBITER_ENTRY, encoding="utf-8")
        await guarded.publisher.reload_tokens()
        assert await left_in(screen) == ([], 4101)
        guarded.publisher.audiences.publish(world.move("g1"))
        assert json.loads(await arbiter.recv())["type"] == "move"
        left = await guarded.client.get("/api/v3/games", headers=bearer(SCREEN))
        assert left.status_code == 401
        # A file that is gone withdraws all its tokens, after a while, and that is said.
        guarded.tokens.unlink()
        for _ in range(GRACE_LOOKS + 1):
            await guarded.publisher.reload_tokens()
        await arbiter.wait_closed()
        assert [(each.feed, each.state) for each in said] == [
            ("tokens file", "failed")
        ] * 2


async def test_no_token_is_logged(
    world: World, tokens: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with serve_guarded(world, tokens) as (publisher, client, *_):
        await client.get("/api/v3/games", headers=bearer(SCREEN))
        world.held, held = None, world.held  # type: ignore[assignment]
        assert (
            await client.get("/api/v3/games", params={"token": SCREEN})
        ).status_code == 500
        world.held = held
        assert (
            await client.get("/api/v3/games", params={"token": SCREEN})
        ).status_code == 200
        async with connect(live(publisher), logger=logging.Logger("client")) as ws:
            # Said again, as by a page that knows no better.
            for _ in range(2):
                await ws.send(json.dumps({"type": "token", "token": SCREEN}))
                await ws.recv()
            await (await ws.ping())
    ours = [record for record in caplog.records if not record.name.startswith("http")]
    said = [f"{record.getMessage()} {record.exc_text}" for record in ours]
    assert said
    assert not [each for each in said if SCREEN[:8] in each or SCREEN[-8:] in each]


async def test_listed_origins_may_connect_and_read(world: World) -> None:
    ours: Any = "https://example.org"
    async with (
        serve_publisher(world, origins=(ours,)) as publisher,
        open_client(publisher) as client,
    ):
        async with connect(live(publisher), origin=ours) as ws:
            assert json.loads(await ws.recv())["type"] == "hello"
        told = await client.get("/api/v3/games", headers={"Origin": ours})
        assert told.headers["access-control-allow-origin"] == ours
        assert "Origin" in told.headers["vary"].split(", ")
        asked = {"Origin": ours, "Access-Control-Request-Method": "GET"}
        preflight = await client.options("/api/v3/games", headers=asked)
        assert preflight.status_code == 204
        assert "Authorization" in preflight.headers["access-control-allow-headers"]
        for other in ("https://evil.example", "null", ""):
            told = await client.get("/api/v3/games", headers={"Origin": other})
            assert "access-control-allow-origin" not in told.headers
            assert (
                await client.options("/", headers={"Origin": other})
            ).status_code == 405


async def test_another_address_is_served_with_permission_and_a_warning(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ConfigError, match="--public"):
        async with serve_publisher(world, host="0.0.0.0"):
            pass
    async with serve_publisher(world, host="0.0.0.0", public=True) as publisher:
        assert "anyone who can reach 0.0.0.0" in caplog.text
        async with open_client(publisher) as client:
            assert (await client.get("/healthz")).status_code == 200


@pytest.fixture
def encrypted(certificate: tuple[str, str]) -> dict[str, str]:
    """Settings of a certificate."""
    return dict(zip(("certificate_file", "key_file"), certificate, strict=True))


@pytest.fixture
def trusts(encrypted: dict[str, str]) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=encrypted["certificate_file"])


async def test_tls_from_certificate_files(
    world: World, encrypted: dict[str, str], trusts: ssl.SSLContext
) -> None:
    async with serve_publisher(world, **encrypted) as publisher:
        assert publisher.url.startswith("https://127.0.0.1:")
        async with open_client(publisher, verify=trusts) as client:
            assert (await client.get("/api/v3/games")).status_code == 200
        async with connect(live(publisher), ssl=trusts) as ws:
            assert json.loads(await ws.recv())["type"] == "hello"
            assert json.loads(await ws.recv())["type"] == "snapshot"
            publisher.audiences.publish(world.move("g1"))
            assert json.loads(await ws.recv())["type"] == "move"
        for rubbish in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01nonsense"):
            assert b"HTTP" not in await raw(publisher, rubbish)


@pytest.mark.parametrize(
    "broken", ["no file", "no certificate", "key alone", "key of another"]
)
async def test_a_certificate_that_cannot_be_used_is_refused(
    world: World, encrypted: dict[str, str], broken: str, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing", encoding="utf-8")
    settings: dict[str, dict[str, str]] = {
        "no file": {"certificate_file": str(tmp_path / "none.pem")},
        "no certificate": {"certificate_file": str(empty)},
        "key alone": {"key_file": encrypted["key_file"]},
        "key of another": {**encrypted, "key_file": str(empty)},
    }
    with pytest.raises(ConfigError, match=r"server\.certificate_file"):
        async with serve_publisher(world, **settings[broken]):
            pass


async def test_the_incident_log_is_for_arbiters(world: World, tokens: Path) -> None:
    log = IncidentLog()
    log.add_entry("draw offer disputed", 1.0, "g1")
    log.add_entry("lights out", 2.0)
    config = ServerConfig(port=0, tokens_file=str(tokens), public=True)
    publisher = Publisher(config, world, clock=Clock(), incidents=log.incidents)
    asked = HttpRequest("GET", "/api/v3/incidents", (), {"host": "127.0.0.1"})

    def answer_request(
        headers: dict[str, str], *query: tuple[str, str]
    ) -> HttpResponse:
        request = msgspec.structs.replace(
            asked, query=query, headers={**asked.headers, **headers}
        )
        return answer_without_waiting(publisher.clients.answer(request))

    assert (
        answer_request({}).status
        == answer_request({"authorization": f"Bearer {SCREEN}"}).status
        == 403
    )
    arbiter = {"authorization": f"Bearer {ARBITER}"}
    texts = [
        each["text"]
        for each in msgspec.json.decode(answer_request(arbiter).body)["incidents"]
    ]
    assert texts == ["draw offer disputed", "lights out"]
    (found,) = msgspec.json.decode(answer_request(arbiter, ("words", "DISPUTED")).body)[
        "incidents"
    ]
    assert found["game"] == "g1" and found["board"]


async def half_shaken(publisher: Publisher, count: int) -> list[socket.socket]:
    """Connections that begin TLS and never end it, each once the loop has
    looked at it.
    """
    loop, made = asyncio.get_running_loop(), []
    for _ in range(count):
        sock = socket.socket()
        sock.setblocking(False)
        await loop.sock_connect(sock, publisher.address)
        await loop.sock_sendall(sock, b"\x16\x03\x01")
        made.append(sock)
    return made


def still_open(held: list[socket.socket]) -> int:
    kept = 0
    for sock in held:
        try:
            sock.recv(1)
        except BlockingIOError:
            kept += 1
        except ConnectionError:
            pass
    return kept


@pytest.mark.parametrize("behind", [False, True], ids=["this machine", "elsewhere"])
async def test_unfinished_tls_handshakes_are_bounded_and_count_by_address(
    world: World,
    encrypted: dict[str, str],
    trusts: ssl.SSLContext,
    behind: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = ClientLimits(encrypting=9, connections_per_address=5)
    async with (
        serve_publisher(world, {"limits": limits}, **encrypted) as publisher,
        open_client(publisher, verify=trusts) as client,
    ):
        if behind:
            monkeypatch.setattr("live.server.limits.is_loopback", lambda address: False)
        held = await half_shaken(publisher, 30)
        bound = 5 if behind else 9
        await until(lambda: still_open(held) <= bound)
        assert still_open(held) == bound
        if not behind:
            # The oldest gives way to a newcomer, who is served; those after it stay.
            assert (
                await client.get("/healthz", headers={"Connection": "close"})
            ).is_success
            await until(lambda: still_open(held) == 8)
        for sock in held:
            sock.close()
        # What is over is counted no longer.
        await until(lambda: not publisher.clients.rates.connections)
        monkeypatch.undo()  # hosts are checked by the same rule
        assert (await client.get("/healthz")).is_success


async def test_the_end_does_not_wait_for_tls_handshakes(
    world: World, encrypted: dict[str, str]
) -> None:
    limits = ClientLimits(encrypting_s=1000.0, request_s=1000.0)
    async with asyncio.timeout(20):
        async with serve_publisher(world, {"limits": limits}, **encrypted) as publisher:
            held = await half_shaken(publisher, 3)
        await until(lambda: not still_open(held))
    for sock in held:
        sock.close()
