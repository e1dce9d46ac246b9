"""Every HTTP route over a real socket, and rude requests of all kinds.

What answers say to caches on the way, and their form by gzip.

Tables over the whole state.

What takes a while is made once for all who ask, and bounded.

The exposition, read back by Prometheus' own parser.
"""

import asyncio
import gzip
import io
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import chess.pgn
import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live.messages.figures import CurvePoint, GameDetail, GameView, PlyView
from live.messages.health import EngineHealth, EngineState, FeedHealth, QueueLengths
from live.server import routes
from live.server.authentication import Guest
from live.server.connection import HttpConnection
from live.server.http_values import HttpRequest, HttpResponse, read_target
from live.server.limits import ClientLimits
from live.server.made_files import ExportFailed, SingleFlight
from live.server.metrics import MetricCounts, Metrics
from live.server.origins import OriginPolicy
from live.server.routes import HttpRoutes
from live.server.server import Publisher
from live.server.service_routes import assess_health
from live.server.static_files import STUDY_TYPES, StaticSite
from live.server.visibility import Visibility, redact
from live.settings import ServerConfig
from tests.server.serving import (
    bearer,
    build_routes,
    open_client,
    raw,
    serve_publisher,
    token_file,
)
from tests.server.world import NAMES, Clock, World, answer_without_waiting
from tests.sources.fakes import until


@pytest.fixture
def world() -> World:
    made = World(3, "g1", "g3.pgn", "g 4/ü")
    for _ in range(9):
        made.standing()
    return made


@pytest.fixture
def site(tmp_path: Path) -> StaticSite:
    root = tmp_path / "overlay"
    (root / "vendor").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html>hello")
    (root / "overlay.html").write_text("<!doctype html>over")
    (root / "app.js").write_text("let x = 1;")
    (root / "vendor" / "chart.css").write_text("a{}")
    (root / ".secret.js").write_text("no")
    (root / "notes.py").write_text("no")
    (tmp_path / "outside.js").write_text("no")
    (root / "link.js").symlink_to(tmp_path / "outside.js")
    return StaticSite(root)


class Served(NamedTuple):
    """A running service, and whoever asks it."""

    publisher: Publisher
    client: httpx.AsyncClient
    world: World


@asynccontextmanager
async def serve_world(
    world: World, site: StaticSite, **parts: Any
) -> AsyncIterator[Served]:
    async with (
        serve_publisher(world, {"site": site, **parts}) as publisher,
        open_client(publisher) as client,
    ):
        yield Served(publisher, client, world)


@pytest.fixture
async def served(world: World, site: StaticSite) -> AsyncIterator[Served]:
    async with serve_world(world, site) as made:
        yield made


async def test_games_and_one_game(served: Served) -> None:
    told = await served.client.get("/api/v3/games")
    assert told.status_code == 200
    assert told.headers["content-type"] == "application/json"
    games = msgspec.json.decode(told.content, type=dict[str, list[GameView]])["games"]
    assert {game.id for game in games} == set(served.world.held)
    assert "plies" not in told.json()["games"][0]
    for game, detail in served.world.held.items():
        one = await served.client.get(f"/api/v3/games/{quote(game, safe='')}")
        seen = redact(detail, Visibility.PUBLIC)
        assert msgspec.json.decode(one.content, type=GameDetail) == seen
    told = await served.client.get("/api/v3/games", params={"game": "g1"})
    assert [game["id"] for game in told.json()["games"]] == ["g1"]
    assert (
        await served.client.get("/api/v3/games", params={"detail": "x"})
    ).status_code == 400


async def test_an_answer_has_every_field_that_its_type_has(served: Served) -> None:
    listed = (await served.client.get("/api/v3/games")).json()["games"]
    assert all(set(GameView.__struct_fields__) == set(each) for each in listed)
    whole = (await served.client.get("/api/v3/games/g1")).json()
    assert set(GameDetail.__struct_fields__) == set(whole)
    assert all(set(PlyView.__struct_fields__) == set(ply) for ply in whole["plies"])
    points = whole["curves"]["white"] + whole["curves"]["black"]
    assert all(set(CurvePoint.__struct_fields__) == set(point) for point in points)


async def test_a_game_as_pgn_even_when_its_id_ends_so(served: Served) -> None:
    for name in ("g1.pgn", "g3.pgn.pgn"):
        told = await served.client.get(f"/api/v3/games/{name}")
        assert told.headers["content-type"] == "application/x-chess-pgn; charset=utf-8"
        game = chess.pgn.read_game(io.StringIO(told.text))
        assert game is not None
        assert not game.errors
    assert (await served.client.get("/api/v3/games/g3.pgn")).json()["id"] == "g3.pgn"


@pytest.mark.parametrize(
    ("feeds", "engines", "status", "ready"),
    [
        (("live",), ("idle",), "ok", True),
        (("live", "retrying"), ("searching",), "degraded", True),
        (("connecting",), ("idle",), "degraded", False),
        (("live",), ("starting",), "degraded", False),
        (("finished",), (), "ok", True),
        ((), (), "ok", True),
    ],
)
def test_healthy_and_ready(
    feeds: tuple[Any, ...], engines: tuple[Any, ...], status: str, ready: bool
) -> None:
    world = World(1)
    # A service is well while a producer's program is shut, but not while a part of its
    # own is.
    shut = FeedHealth("director", "retrying", "OBS cannot be reached", part=True)
    world.feed_health = (*(FeedHealth("f", each) for each in feeds), shut)
    world.engine_health = EngineHealth(tuple(EngineState(0, each) for each in engines))
    answer = assess_health(world, 0)
    assert (answer.status, answer.ready) == (status, ready)
    world.feed_health += (
        FeedHealth("journal", "failed", "the disk is full", part=True),
    )
    assert assess_health(world, 0).status == "degraded"


async def test_who_is_not_ready_says_so(served: Served) -> None:
    well, connecting = FeedHealth("f", "live"), FeedHealth("f", "connecting")
    for feed, status in ((well, 200), (connecting, 503)):
        served.world.feed_health = (feed,)
        assert (await served.client.get("/healthz")).status_code == 200
        assert (await served.client.get("/readyz")).status_code == status


async def test_pages_and_their_types_and_every_answer_is_strict_about_content(
    served: Served,
) -> None:
    for path, content_type, text in (
        ("/", "text/html", "hello"),
        ("/overlay", "text/html", "over"),
        ("/static/app.js", "text/javascript", "let x"),
        ("/static/vendor/chart.css", "text/css", "a{}"),
        ("/api/v3/games", "application/json", "g1"),
        ("/nothing", "application/problem+json", "there is nothing at"),
    ):
        told = await served.client.get(path)
        assert told.headers["content-type"].startswith(content_type)
        assert text in told.text
        assert told.headers["x-content-type-options"] == "nosniff"
        policy = told.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "access-control-allow-origin" not in told.headers


@pytest.mark.parametrize(
    "target",
    [
        "/static/../outside.js",
        "/static/..%2foutside.js",
        "/static/%2fetc/passwd",
        "/static/link.js",
        "/static/.secret.js",
        "/static/notes.py",
        "/static/vendor",
        "/static/app.js%00.html",
        "/index.html",
        "//127.0.0.1/",
        "/api/v3/games/unknown",
    ],
)
async def test_what_is_not_there_is_404_in_json(served: Served, target: str) -> None:
    request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    head, _, body = (await raw(served.publisher, request.encode())).partition(
        b"\r\n\r\n"
    )
    assert head.startswith(b"HTTP/1.1 404 ")
    assert json.loads(body)["status"] == 404
    assert body != b"no"


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "BREW"])
async def test_other_methods_are_refused(served: Served, method: str) -> None:
    told = await served.client.request(method, "/api/v3/games")
    assert (told.status_code, told.headers["allow"]) == (405, "GET, HEAD")
    assert (await served.client.get("/api/v3/games")).status_code == 200


async def test_head_says_the_same_without_a_body(served: Served) -> None:
    for path in ("/", "/api/v3/games", "/nothing"):
        get, head = await served.client.get(path), await served.client.head(path)
        assert head.status_code == get.status_code
        assert head.content == b""
        assert head.headers["content-length"] == get.headers["content-length"]


async def test_what_the_client_holds_is_not_sent_again(served: Served) -> None:
    for path in (
        "/api/v3/games",
        "/api/v3/games/g1",
        "/api/v3/games/g1.pgn",
        "/static/app.js",
    ):
        first = await served.client.get(path)
        tag = first.headers["etag"]
        for held in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = await served.client.get(path, headers={"If-None-Match": held})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == tag
        again = await served.client.get(path, headers={"If-None-Match": '"other"'})
        assert again.status_code == 200
    tag = (await served.client.get("/api/v3/games/g1")).headers["etag"]
    served.world.move("g1")
    changed = await served.client.get(
        "/api/v3/games/g1", headers={"If-None-Match": tag}
    )
    assert changed.status_code == 200


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", 400),
        (b"GET http://evil/ HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET /?a=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400),
        (
            (
                b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: "
                b"1\r\nContent-Length: 2\r\n\r\n"
            ),
            400,
        ),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: what\r\n\r\n", 501),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"X-A: b\r\n" * 3000, 431),
        (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
            + b"\x00" * 40
            + b"\r\n\r\n",
            400,
        ),
        (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n"
            + b"x" * 20_000,
            413,
        ),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (
            b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
            421,
        ),
    ],
)
async def test_what_is_no_request_is_refused_in_json(
    served: Served, request_bytes: bytes, status: int
) -> None:
    answer = await raw(served.publisher, request_bytes)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert json.loads(body)["status"] == status
    assert (await served.client.get("/healthz")).status_code == 200


async def test_whoever_sends_a_thousand_requests_waits_for_the_others(
    served: Served,
) -> None:
    one = b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
    reader, writer = await asyncio.open_connection(*served.publisher.address)
    writer.write(one * 1000)
    writer.write_eof()
    # Another served.client's whole request, connection included, takes a few turns of
    # the loop.
    other = await raw(
        served.publisher, b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n"
    )
    assert other.startswith(b"HTTP/1.1 200 ")
    (busy,) = served.publisher.clients.connections
    assert isinstance(busy, HttpConnection)
    assert busy._waits or busy._making, "the thousand were answered first"
    async with asyncio.timeout(60):
        answer = await reader.read()
    assert answer.count(b"HTTP/1.1 404 ") == 1000
    writer.close()
    await writer.wait_closed()


async def test_whoever_asks_much_and_reads_nothing_is_bounded_and_cut_off(
    world: World, site: StaticSite
) -> None:
    clock = Clock()
    for _ in range(3000):
        world.move("g1")
    limits = ClientLimits(write_bytes=65_536)
    async with serve_world(world, site, limits=limits, clock=clock) as (
        publisher,
        client,
        _,
    ):
        _, writer = await asyncio.open_connection(*publisher.address, limit=1)
        request = b"GET /api/v3/games/g1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        writer.write(request * 200)
        size = len((await client.get("/api/v3/games/g1")).content)

        def waits(each: Any) -> int:
            return int(each.transport.get_write_buffer_size())

        await until(
            lambda: any(waits(each) > 65_536 for each in publisher.clients.connections)
        )
        busy = max(publisher.clients.connections, key=waits)
        assert waits(busy) < 65_536 + size + 1000
        assert (await client.get("/healthz")).status_code == 200
        clock.now_s += 10.1
        publisher.sweep_connections_and_streams()
        await until(lambda: busy not in publisher.clients.connections)
        writer.transport.abort()


async def test_whoever_does_not_finish_a_request_is_sent_away(
    world: World, site: StaticSite
) -> None:
    clock = Clock()
    async with serve_world(world, site, clock=clock) as (publisher, *_):
        said = asyncio.ensure_future(raw(publisher, b"GET / HTTP/1.1\r\nHost: loc"))
        await until(lambda: bool(publisher.clients.connections))
        await asyncio.sleep(0)
        clock.now_s += 10.1
        publisher.sweep_connections_and_streams()
        assert (await said).startswith(b"HTTP/1.1 408 ")


async def test_there_is_room_for_so_many_connections(
    world: World, site: StaticSite
) -> None:
    async with serve_world(world, site, limits=ClientLimits(connections=1)) as (
        publisher,
        client,
        _,
    ):
        assert (await client.get("/healthz")).status_code == 200
        assert (await raw(publisher, b"")).startswith(b"HTTP/1.1 503 ")
        assert (await client.get("/healthz")).status_code == 200


async def test_the_websocket_path_says_what_it_wants(served: Served) -> None:
    told = await served.client.get("/v3/live")
    assert told.status_code == 426
    assert told.headers["upgrade"] == "websocket"
    assert (await served.client.post("/v3/live")).status_code == 405


@pytest.mark.parametrize("former", ["/v1/live", "/v2/live"])
async def test_former_protocols_are_sent_off_with_one_sentence(
    served: Served, former: str
) -> None:
    told = await served.client.get(former)
    assert told.status_code == 410
    said = told.json()["detail"]
    assert "protocol 3, at /v3/live" in said and "reload the page" in said
    async with connect(
        served.publisher.url.replace("http", "ws") + former[1:]
    ) as websocket:
        with pytest.raises(ConnectionClosed):
            await websocket.recv()
    assert (websocket.close_code, websocket.close_reason) == (4102, said)


async def test_former_addresses_name_the_new_one(served: Served) -> None:
    for former in ("v1", "v2"):
        told = await served.client.get(f"/api/{former}/games/g1")
        assert told.status_code == 410
        assert "/api/v3/games/g1" in told.json()["detail"]
    assert (await served.client.get("/api/v9/games")).status_code == 404


def fill_paths() -> list[str]:
    """The path of every route, with a game that is there and with one that is not."""
    ids = ("g1", "nobody")
    paths: list[str] = []
    for entry in routes.ROUTES:
        paths += [re.sub(r"{\w+}", name, entry.path) for name in ids]
    gone = [f"/api/v3{end}" for end in ("", "/boards", "/moments.rss")]
    return [*dict.fromkeys(paths), *gone, "/api/v3/games/g1/gains", "/nothing"]


async def test_every_address_in_an_error_exists(served: Served) -> None:
    for path in fill_paths():
        for version in ("v3", "v1", "v2"):
            told = await served.client.get(path.replace("v3", version))
            if told.headers["content-type"] != "application/problem+json":
                continue
            detail = told.json()["detail"].replace(f"nothing at {path}", "")
            for named in re.findall(r"/[\w/.-]+", detail):
                found = await served.client.get(named)
                assert found.status_code != 404, detail


async def test_moments_of_the_games_asked_for(world: World, site: StaticSite) -> None:
    world.move("g1")
    told = world.moment()[0]
    while told.game != "g1":  # type: ignore[union-attr]
        told = world.moment()[0]
    async with serve_world(world, site) as (_, client, _):
        answer = (await client.get("/api/v3/moments?game=g1")).json()
        assert {each["game"] for each in answer["moments"]} == {"g1"}
        assert set(answer["moments"][0]["text"]) == {"en", "de", "fr", "es", "it", "ru"}
        assert (await client.get("/api/v3/moments?game=")).status_code == 400


class Drawing:
    """Draws pictures when it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.let = asyncio.Event()
        self.asked = asyncio.Event()
        self.fault: Exception | None = None
        self.drawn: list[str] = []
        draws(monkeypatch, self.draw)

    async def draw(self, svg: str) -> bytes:
        self.drawn.append(svg)
        self.asked.set()
        await self.let.wait()
        if self.fault is not None:
            raise self.fault
        return b"PNG!"


PICTURE = "/api/v3/games/g1.png"


async def test_a_picture_is_waited_for_and_the_next_request_after_it(
    world: World, site: StaticSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = Drawing(monkeypatch)
    async with serve_world(world, site) as (publisher, client, _):
        lines = f"GET {PICTURE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        last = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        answers = asyncio.ensure_future(raw(publisher, lines + last))
        await drawing.asked.wait()
        # Nobody else waits for it.
        assert (await client.get("/healthz")).status_code == 200
        drawing.let.set()
        told = await answers
        assert told.count(b"HTTP/1.1 200") == 2
        assert told.index(b"PNG!") < told.index(b'"status"')
        found = await client.get(PICTURE, headers={"Origin": "http://localhost"})
        assert (found.content, found.headers["content-type"]) == (b"PNG!", "image/png")
        again = {"If-None-Match": found.headers["etag"]}
        assert (await client.get(PICTURE, headers=again)).status_code == 304
        head = await client.head(PICTURE)
        assert (head.headers["content-length"], head.content) == ("4", b"")
        assert drawing.drawn == ["g1"]


@pytest.mark.parametrize(
    ("fault", "status", "said"),
    [
        (
            ExportFailed("the picture could not be made"),
            503,
            "g1: the picture could not be",
        ),
        (KeyError("a fault of ours"), 500, "the answer failed"),
    ],
)
async def test_a_picture_that_fails(
    world: World,
    site: StaticSite,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    status: int,
    said: str,
) -> None:
    drawing = Drawing(monkeypatch)
    drawing.fault = fault
    drawing.let.set()
    async with serve_world(world, site) as (_, client, _):
        answer = await client.get(PICTURE)
        assert answer.status_code == status
        assert answer.json()["detail"].startswith(said)


async def test_who_ends_its_side_is_answered_and_who_goes_away_leaves_it_to_the_others(
    world: World, site: StaticSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = Drawing(monkeypatch)
    ask = "GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with serve_world(world, site) as (publisher, client, _):
        _, breaking = await asyncio.open_connection(*publisher.address)
        breaking.write(ask.format(PICTURE).encode())
        await drawing.asked.wait()
        ends = (ask.format("/healthz") + ask.format(PICTURE)).encode()
        found = asyncio.ensure_future(raw(publisher, ends, ends=True))
        breaking.transport.abort()
        await client.get("/healthz")
        drawing.let.set()
        assert (await found).count(b"HTTP/1.1 200 ") == 2
        assert drawing.drawn == ["g1"]


def draws(
    monkeypatch: pytest.MonkeyPatch, drawn: Callable[[str], Awaitable[bytes]]
) -> None:
    """Pictures are made so; the drawing is the id of the game."""
    monkeypatch.setattr("live.server.pictures.render_png", drawn)
    monkeypatch.setattr("live.server.game_routes.draw_board", lambda game: game.id)
    monkeypatch.setattr("live.server.game_routes.can_render_png", lambda: True)


async def test_pictures_are_drawn_one_after_the_other(
    world: World, site: StaticSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing, most, let = 0, 0, asyncio.Event()

    async def drawn(svg: str) -> bytes:
        nonlocal drawing, most
        drawing += 1
        most = max(most, drawing)
        await let.wait()
        drawing -= 1
        return svg.encode()

    draws(monkeypatch, drawn)
    async with serve_world(world, site) as (_, client, _):
        games = [game.id for game in world.games()] * 3
        wanted = [
            asyncio.ensure_future(client.get(f"/api/v3/games/{game}.png"))
            for game in games
        ]
        for _ in wanted:  # they all come to their turn meanwhile
            await client.get("/healthz")
        let.set()
        assert [(await each).text for each in wanted] == games
        assert (most, len(games) > 3) == (1, True)


async def test_a_board_is_shared_with_its_picture(
    world: World, site: StaticSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drawn(svg: str) -> bytes:
        return svg.encode()

    draws(monkeypatch, drawn)
    async with serve_world(world, site) as (publisher, client, _):
        found = await client.get("/api/v3/games/g1.png")
        assert (found.content, found.headers["content-type"]) == (b"g1", "image/png")
        assert (await client.get("/api/v3/games/none.png")).status_code == 404
        page = await client.get(
            "/share?game=g1", headers={"X-Forwarded-Proto": "https"}
        )
        host = client.base_url.netloc.decode()
        assert f"https://{host}/api/v3/games/g1.png" in page.text
        publisher.reconfigure(ServerConfig(port=0, hide_scores=True))
        hidden = await client.get("/api/v3/games/g1.png")
        assert (hidden.status_code, "scores are hidden" in hidden.text) == (404, True)
        assert "og:image" not in (await client.get("/share?game=g1")).text
    monkeypatch.setattr("live.server.game_routes.can_render_png", lambda: False)
    async with serve_world(world, site) as (_, client, _):
        assert "live-rate[picture]" in (await client.get("/api/v3/games/g1.png")).text
        assert "og:image" not in (await client.get("/share?game=g1")).text


async def test_those_listed_may_frame_pages() -> None:
    config = ServerConfig(port=0, frames=("https://club.example",))
    async with (
        Publisher(config, World(1)) as publisher,
        open_client(publisher) as client,
    ):
        policy = (await client.get("overlay")).headers["content-security-policy"]
        assert policy.endswith("frame-ancestors 'self' https://club.example")
        publisher.reconfigure(msgspec.structs.replace(config, frames=()))
        policy = (await client.get("overlay")).headers["content-security-policy"]
        assert policy.endswith("frame-ancestors 'self'")


async def test_settings_that_are_refused_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(policy: OriginPolicy, config: ServerConfig) -> None:
        raise ValueError("refused")

    config = ServerConfig(port=0, frames=("https://club.example",))
    async with (
        Publisher(config, World(1)) as publisher,
        open_client(publisher) as client,
    ):
        monkeypatch.setattr(OriginPolicy, "__init__", refuse)
        with pytest.raises(ValueError, match="refused"):
            publisher.reconfigure(msgspec.structs.replace(config, frames=()))
        policy = (await client.get("overlay")).headers["content-security-policy"]
        assert policy.endswith("frame-ancestors 'self' https://club.example")


ROUTES = build_routes(World(1), StaticSite())


@pytest.mark.parametrize(
    ("address", "has_logo"),
    [
        ("/?logo=https://club.example/a.png", True),
        ("/overlay?layout=bar&logo=https://club.example/a.png", True),
        ("/overlay?sponsor=https://club.example/a.png", True),
        ("/", False),
        ("/?lang=de&logos=1", False),
        ("/overlay?layout=bar", False),
        ("/overlays?logo=https://club.example/a.png", False),
        ("/manual/?logo=https://club.example/a.png", False),
    ],
)
def test_pictures_from_elsewhere_only_where_the_address_names_one(
    address: str, has_logo: bool
) -> None:
    request = HttpRequest("GET", *read_target(address), {})
    answer = answer_without_waiting(ROUTES.answer(request, Guest()))
    policy = dict(answer.headers)["Content-Security-Policy"]
    assert ("img-src https: 'self'" in policy) == has_logo


async def test_answers_come_by_gzip_to_those_who_take_it(served: Served) -> None:
    plain = await served.client.get(
        "/api/v3/players", headers={"Accept-Encoding": "identity"}
    )
    packed = await served.client.get(
        "/api/v3/players", headers={"Accept-Encoding": "gzip"}
    )
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2
    # Two forms, two tags; a cache keeps them apart.
    assert packed.headers["etag"] != plain.headers["etag"]
    assert "Accept-Encoding" in plain.headers["vary"]
    held = {"Accept-Encoding": "identity", "If-None-Match": plain.headers["etag"]}
    again = await served.client.get("/api/v3/players", headers=held)
    assert (again.status_code, again.headers["etag"]) == (304, plain.headers["etag"])


def answer_request(routes: HttpRoutes, path: str, accept: str = "gzip") -> HttpResponse:
    return answer_without_waiting(
        routes.answer(
            HttpRequest("GET", path, (), {"accept-encoding": accept}), Guest()
        )
    )


def test_an_answer_that_has_not_changed_is_packed_once(
    world: World, site: StaticSite
) -> None:
    routes, path = build_routes(world, site), "/api/v3/games/g1"
    while len(answer_request(routes, path, "").body) < 2_000:
        world.move("g1")
    one = answer_request(routes, path)
    assert ("Content-Encoding", "gzip") in one.headers
    assert answer_request(routes, path).body is one.body
    world.move("g1")
    assert gzip.decompress(answer_request(routes, path).body) != gzip.decompress(
        one.body
    )


async def test_a_large_drawing_is_packed_quickly(world: World, tmp_path: Path) -> None:
    drawing = (
        b"<svg>" + b"".join(b"%d %d " % (n, n * n) for n in range(60_000)) + b"</svg>"
    )
    (tmp_path / "all.svg").write_bytes(drawing)
    study = StaticSite(tmp_path, STUDY_TYPES)
    routes = build_routes(world, study, study=study)
    request = HttpRequest("GET", "/study/all.svg", (), {"accept-encoding": "gzip"})
    answer = await routes.answer(request, Guest())
    assert answer.body == gzip.compress(drawing, compresslevel=1, mtime=0)


async def test_caches_may_keep_for_a_moment_what_everybody_gets(served: Served) -> None:
    for path, for_s in (("/api/v3/games", 1), ("/api/v3/games/g1.pgn", 1), ("/", 10)):
        told = await served.client.get(path)
        assert told.headers["cache-control"] == f"public, max-age=0, s-maxage={for_s}"
        again = await served.client.get(
            path, headers={"If-None-Match": told.headers["etag"]}
        )
        assert again.headers["cache-control"] == told.headers["cache-control"]
    for path in ("/healthz", "/asyncapi.json"):
        assert (await served.client.get(path)).headers["cache-control"] == "no-cache"
    assert (await served.client.get("/metrics")).headers["cache-control"] == "no-store"
    # What fails now may work in a moment.
    assert (await served.client.get("/api/v3/games/none")).headers[
        "cache-control"
    ] == "no-store"


async def test_no_cache_keeps_what_a_token_shows(
    world: World, site: StaticSite, tmp_path: Path
) -> None:
    token, tokens = token_file(tmp_path, arbiter=True)
    async with (
        serve_publisher(
            world, {"site": site}, tokens_file=tokens, public=True
        ) as publisher,
        open_client(publisher) as client,
    ):
        told = await client.get("api/v3/games", headers=bearer(token))
        assert told.headers["cache-control"] == "no-cache"
        public = await client.get("api/v3/games")
        assert public.headers["cache-control"].startswith("public")
        assert "Authorization" in public.headers["vary"]


async def test_requests_at_one_time_share_one_answer_and_few_are_made_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("live.server.made_files.MAX_FILES", 2)
    clock, let, made_of = Clock(), asyncio.Event(), list[str]()
    shared = SingleFlight[bytes](clock)

    async def ask_and_count(name: str) -> int:
        """How many were made by the time that this was asked for."""

        async def make() -> bytes:
            made_of.append(name)
            await let.wait()
            return b"made"

        await shared.get(name, make)
        return len(made_of)

    first, second = (asyncio.ensure_future(ask_and_count("file")) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()  # who goes away takes nothing from the others
    let.set()
    assert await second == 1
    clock.now_s += 4.9
    assert await ask_and_count("file") == 1
    assert await ask_and_count("other") == 2
    clock.now_s += 0.2
    assert await ask_and_count("file") == 3
    let.clear()
    waiting = [asyncio.ensure_future(ask_and_count(name)) for name in "ab"]
    await asyncio.sleep(0)
    with pytest.raises(ExportFailed, match="too many"):
        await ask_and_count("c")
    let.set()
    assert await asyncio.gather(*waiting) == [5, 5]
    assert await ask_and_count("c") == 6


def samples(world: World, tally: MetricCounts) -> dict[str, float]:
    text = Metrics(world, tally).format_text().decode()
    found = {}
    for family in text_string_to_metric_families(text):
        for each in family.samples:
            found[" ".join([each.name, *each.labels.values()])] = each.value
    return found


def test_what_is_counted_is_told() -> None:
    world, tally = World(1, "g1", "g2", plies=1), MetricCounts()
    world.feed_health = (
        FeedHealth("a", "live"),
        FeedHealth("b", "live"),
        FeedHealth("c", "stale"),
    )
    world.engine_health = EngineHealth(
        (EngineState(0, "idle", knodes_per_s=512.5), EngineState(1, "failed")),
        queued=7,
        oldest_wait_s=1.5,
        searches=9,
        cache_hits=5,
        waiting=QueueLengths(head=2, backlog=5, speculate=30),
    )
    tally.subscribers, tally.deliveries, tally.skips = 3, 40, 2
    tally.snapshots["joined"] += 5
    tally.closes["slow"] += 1
    told = samples(world, tally)
    expected = {
        "subscribers": 3,
        "deliveries_total": 40,
        "skips_total": 2,
        "snapshots_total joined": 5,
        "closes_total slow": 1,
        "games": 2,
        "plies": 2,
        "plies_scored": 0,
        "feeds live": 2,
        "feeds stale": 1,
        "engines failed": 1,
        "queue": 7,
        "queue_oldest_seconds": 1.5,
        "searches_total": 9,
        "cache_hits_total": 5,
        "waiting head": 2,
        "waiting backlog": 5,
        "waiting speculate": 30,
        "engine_nodes_per_second 0": 512_500,
    }
    assert {name: told[f"live_rate_{name}"] for name in expected} == expected
    assert "live_rate_engine_nodes_per_second 1" not in told


def test_nobody_is_named_and_the_series_stay_few() -> None:
    world = World(1)
    before = len(samples(world, MetricCounts()))
    for _ in range(300):
        world.step()
    world.appear("g1")
    world.set("g1", event="A secret event")
    text = Metrics(world, MetricCounts()).format_text().decode()
    assert all(name not in text for name in NAMES if name)
    assert "secret" not in text
    assert len(samples(world, MetricCounts())) <= before + 2
