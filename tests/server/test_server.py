"""The server over real sockets: messages, filters, resume, slow and rude clients,
shutdown.
"""

import asyncio
import contextlib
import json
import socket
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from live.errors import ConfigError, PortInUse
from live.messages.to_clients import Change
from live.server.filtered_reader import snapshot
from live.server.limits import ClientLimits
from live.server.reference_client import ReferenceClient
from live.server.server import Publisher
from live.server.static_files import StaticSite
from live.server.stream_filter import EVERYTHING, StreamFilter
from live.server.subscriber import Subscriber
from live.settings import ServerConfig
from tests.benchmarks.readers import shake
from tests.server.serving import bearer, left_in, live, serve_publisher, token_file
from tests.server.world import GAMES, Clock, World
from tests.sources.fakes import until


async def follow(ws: ClientConnection, client_state: ReferenceClient, seq: int) -> None:
    """Apply messages until number ``seq`` is reached."""
    async with asyncio.timeout(20):
        while client_state.seq is None or client_state.seq < seq:
            client_state.receive(await ws.recv(decode=False))


def position(publisher: Publisher, selected: StreamFilter = EVERYTHING) -> int:
    publisher.audiences.public.flush()
    return publisher.audiences.public.open_stream(selected).seq


async def test_disconnects_lose_and_repeat_nothing() -> None:
    world, random = World(11), Random(11)
    limits = ClientLimits(history_messages=30, handshakes_burst=1e9)
    resumed = fresh = 0
    async with serve_publisher(world, {"limits": limits}) as publisher:
        client_state, query = ReferenceClient(), ""
        for _ in range(80):
            publisher.audiences.publish(world.step())
            if random.random() < 0.3:
                forty = chain.from_iterable(world.step() for _ in range(40))
                publisher.audiences.publish(list(forty))
            async with connect(live(publisher, query), max_queue=None) as ws:
                # The strict client_state refuses a repeated or missing number.
                client_state.receive(await ws.recv(decode=False))
                assert client_state.hello is not None
                resumed += client_state.hello.resumed
                fresh += not client_state.hello.resumed
                if not client_state.hello.resumed:
                    client_state.receive(await ws.recv(decode=False))
                if random.random() < 0.5:
                    publisher.audiences.publish(world.step())
                    await follow(ws, client_state, position(publisher))
                    assert client_state.snapshot() == snapshot(world)
            query = f"?epoch={client_state.hello.epoch}&since={client_state.seq}"
    assert resumed > 24
    assert fresh > 16


async def test_an_unknown_epoch_or_a_number_alone_gets_a_snapshot() -> None:
    world = World(2)
    async with serve_publisher(world) as publisher:
        publisher.audiences.publish(world.appear("g1"))
        for query in (
            "?epoch=other&since=1",
            "?since=1",
            "?epoch=other",
            "?epoch=x&since=99999",
        ):
            async with connect(live(publisher, query)) as ws:
                assert not json.loads(await ws.recv())["resumed"]
                assert json.loads(await ws.recv())["type"] == "snapshot"


async def test_a_client_that_resumes_after_hidden_scores_misses_none_of_them() -> None:
    world = World(2, "g1", plies=1)
    async with serve_publisher(world) as publisher:
        client_state = ReferenceClient()
        async with connect(live(publisher)) as ws:
            await follow(ws, client_state, position(publisher))
        publisher.reconfigure(ServerConfig(port=0, hide_scores=True))
        for _ in range(5):
            publisher.audiences.publish(world.score() + world.move())
        publisher.reconfigure(ServerConfig(port=0))
        assert client_state.hello is not None
        query = f"?epoch={client_state.hello.epoch}&since={client_state.seq}"
        async with connect(live(publisher, query)) as ws:
            client_state.receive(await ws.recv(decode=False))
            assert not client_state.hello.resumed
            client_state.receive(await ws.recv(decode=False))
        assert client_state.snapshot() == snapshot(world)


@pytest.mark.parametrize(
    ("query", "limits", "status"),
    [
        ("?detail=nonsense", {}, 400),
        ("?since=-1&epoch=e", {}, 400),
        ("?game=g2", {"filters": 1}, 503),
        ("", {"handshakes_per_s": 1, "handshakes_burst": 1}, 429),
    ],
)
async def test_who_asks_too_much_is_refused_before_the_handshake(
    query: str, limits: dict[str, Any], status: int
) -> None:
    world, clock = World(0, "g1", "g2"), Clock()
    parts = {"limits": ClientLimits(**limits), "clock": clock}
    async with (
        serve_publisher(world, parts) as publisher,
        connect(live(publisher, "?game=g1")) as ws,
    ):
        with pytest.raises(InvalidStatus) as refused:
            await connect(live(publisher, query))
        answer = refused.value.response
        assert (answer.status_code, json.loads(answer.body)["status"]) == (
            status,
            status,
        )
        # Those who were there go on, and who may come again is told when.
        assert (answer.headers.get("Retry-After") == "5") == (status != 400)
        publisher.audiences.publish(world.move("g1"))
        assert json.loads(await ws.recv())["type"] == "hello"
        clock.now_s += 1
        await (await connect(live(publisher))).close()


async def test_of_those_behind_a_proxy_each_visitor_has_limits_of_its_own() -> None:
    """One that comes too fast, or too often, keeps nobody else out."""
    limits = ClientLimits(handshakes_per_address_burst=3, connections_per_address=2)

    def by_way_of_a_proxy(visitor: str) -> Any:
        named = {"X-Forwarded-For": f"198.51.100.7, {visitor}"}
        return connect(live(publisher), additional_headers=named)

    async def refusal(visitor: str) -> int:
        with pytest.raises(InvalidStatus) as refused:
            await by_way_of_a_proxy(visitor)
        return refused.value.response.status_code

    parts = {"limits": limits, "clock": Clock()}
    async with (
        serve_publisher(World(0, "g1"), parts) as publisher,
        contextlib.AsyncExitStack() as held,
    ):
        for _ in range(2):
            await held.enter_async_context(by_way_of_a_proxy("203.0.113.1"))
        assert [await refusal("203.0.113.1") for _ in range(2)] == [503, 429]
        for visitor in ("203.0.113.2", "2001:db8::1"):
            async with by_way_of_a_proxy(visitor) as other:
                assert json.loads(await other.recv())["type"] == "hello"
        # Whoever is on this machine itself has no such limit.
        for _ in range(9):
            await held.enter_async_context(connect(live(publisher)))


async def test_an_address_that_cannot_be_listened_on_says_why() -> None:
    async with serve_publisher(World(), {"site": StaticSite()}) as publisher:
        host, port = publisher.address
        for config, error, said in (
            (
                ServerConfig(host=host, port=port),
                PortInUse,
                rf"127\.0\.0\.1:{port}: another live-rate .*ws://127.*--port",
            ),
            (ServerConfig(host="192.0.2.1", port=0), ConfigError, "192.0.2.1"),
        ):
            with pytest.raises(error, match=said):
                async with Publisher(config, World()):
                    pass


async def refuse_port(host: str, **settings: Any) -> str:
    """What a live-rate says whose port another live-rate with this address has."""
    parts = {"site": StaticSite()}
    async with serve_publisher(World(), parts, host=host, **settings) as publisher:
        config = ServerConfig(host=host, port=publisher.address[1], **settings)
        with pytest.raises(PortInUse) as refused:
            async with Publisher(config, World()):
                pass
    return str(refused.value)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="needs IPv6")
async def test_a_live_rate_that_has_the_port_on_ipv6_is_recognised() -> None:
    said = await refuse_port("::1")
    assert "another live-rate listens" in said and "watch ws://[::1]:" in said


async def test_a_live_rate_that_has_the_port_on_all_addresses_is_recognised() -> None:
    said = await refuse_port("0.0.0.0", public=True)
    assert "another live-rate listens" in said and "watch ws://127.0.0.1:" in said


async def test_a_live_rate_that_has_the_port_with_tls_is_recognised(
    certificate: tuple[str, str],
) -> None:
    certificate_file, key_file = certificate
    said = await refuse_port(
        "127.0.0.1", certificate_file=certificate_file, key_file=key_file
    )
    assert "another live-rate listens" in said and "watch wss://127.0.0.1:" in said


async def test_a_port_of_another_program_is_not_called_a_live_rate() -> None:
    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.readline()
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhello")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(PortInUse, match=r"not answer as live-rate.*End it.*--port"):
            async with Publisher(ServerConfig(host="127.0.0.1", port=port), World()):
                pass


def readers(publisher: Publisher) -> set[Subscriber]:
    """Those who get everything."""
    found = publisher.audiences.public.open_stream(EVERYTHING).readers
    return {each for each in found if isinstance(each, Subscriber)}


def behind(publisher: Publisher, reader: Subscriber) -> int:
    """How many messages were kept from it."""
    return 0 if reader.is_ready else position(publisher) - (reader.cursor or 0)


def take_twenty_steps(world: World) -> list[Change]:
    """Take twenty random steps, a move after each."""
    changes: list[Change] = []
    for _ in range(20):
        changes += world.step() + world.move()
    return changes


def open_stalled(publisher: Publisher, headers: str = "") -> socket.socket:
    """A client that shakes hands over a plain socket and then never reads."""
    return shake(publisher.address[1], room=4096, more=headers)


def has_ipv6() -> bool:
    addresses = Path("/proc/net/if_inet6")
    return addresses.is_file() and "0" * 31 + "1 " in addresses.read_text()


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no ::1")
async def test_an_ipv6_address_is_listened_on_too() -> None:
    async with (
        serve_publisher(World(2), host="::1") as publisher,
        connect(live(publisher)) as ws,
    ):
        assert json.loads(await ws.recv())["type"] == "hello"


async def test_a_client_that_never_reads_is_bounded_skipped_and_closed() -> None:
    world, clock = World(4), Clock()
    limits = ClientLimits(write_bytes=65_536, slow_after_s=10, closing_s=3)
    async with (
        serve_publisher(world, {"limits": limits, "clock": clock}) as publisher,
        connect(live(publisher)) as good,
    ):
        client_state = ReferenceClient()
        with open_stalled(publisher) as bad:
            await until(lambda: publisher.tally.subscribers == 2)
            (slow,) = (
                each
                for each in readers(publisher)
                if each.transport.get_extra_info("peername") == bad.getsockname()
            )
            largest = 0
            for _ in range(3000):
                publisher.audiences.publish(take_twenty_steps(world))
                largest = max(largest, slow.transport.get_write_buffer_size())
                await follow(good, client_state, position(publisher))
                if behind(publisher, slow):
                    break
            assert behind(publisher, slow)
            assert 65_536 < largest < 65_536 + 200_000
            publisher.audiences.publish(world.step())
            assert slow.transport.get_write_buffer_size() <= largest
            clock.now_s += 9.9
            publisher.sweep_connections_and_streams()
            assert publisher.tally.subscribers == 2
            clock.now_s += 0.2
            publisher.sweep_connections_and_streams()
            assert publisher.tally.subscribers == 1
            clock.now_s += 3.1
            publisher.sweep_connections_and_streams()
            await until(lambda: slow not in publisher.clients.connections)
        publisher.audiences.publish(world.step())
        await follow(good, client_state, position(publisher))
        assert client_state.snapshot() == snapshot(world)


@pytest.mark.parametrize(("missed", "snapshots"), [(1, 1), (600, 2)])
async def test_a_slow_client_gets_what_it_missed_or_one_fresh_snapshot(
    missed: int, snapshots: int
) -> None:
    world, clock = World(4), Clock()
    limits = ClientLimits(write_bytes=65_536)
    async with (
        serve_publisher(world, {"limits": limits, "clock": clock}) as publisher,
        connect(live(publisher), max_queue=1, max_size=None) as ws,
    ):
        client_state = ReferenceClient()
        (slow,) = readers(publisher)
        while behind(publisher, slow) < missed:
            publisher.audiences.publish(take_twenty_steps(world))
            if slow.is_ready:
                await asyncio.sleep(0)
        kinds: list[str] = []
        async with asyncio.timeout(20):
            while client_state.seq is None or client_state.seq < position(publisher):
                text = await ws.recv(decode=False)
                kinds.append(json.loads(text)["type"])
                client_state.receive(text)
        assert kinds.count("snapshot") == snapshots
        assert client_state.snapshot() == snapshot(world)
        publisher.audiences.publish(world.move())
        await follow(ws, client_state, position(publisher))
        assert client_state.snapshot() == snapshot(world)


async def test_a_large_snapshot_is_written_piece_by_piece_and_nothing_is_lost() -> None:
    world, clock = World(4, *GAMES, plies=1500), Clock()
    limits = ClientLimits(write_bytes=32_768, piece_bytes=8_192)
    async with (
        serve_publisher(world, {"limits": limits, "clock": clock}) as publisher,
        connect(live(publisher), max_size=None, max_queue=1) as ws,
    ):
        client_state = ReferenceClient()
        (reader,) = readers(publisher)
        assert reader.transport.get_write_buffer_size() < 32_768 + 2 * 8_192
        publisher.audiences.publish(world.move("g1"))
        publisher.audiences.publish(world.move("g2"))
        await follow(ws, client_state, position(publisher))
        assert client_state.snapshot() == snapshot(world)


async def test_a_silent_client_is_closed_and_one_that_answers_pings_is_not() -> None:
    world, clock = World(), Clock()
    async with (
        serve_publisher(world, {"clock": clock}) as publisher,
        connect(live(publisher)) as ws,
    ):
        with open_stalled(publisher):
            await until(lambda: publisher.tally.subscribers == 2)
            heard = {each: each._heard_s for each in readers(publisher)}
            clock.now_s += 40
            publisher.audiences.public.send_heartbeat()
            kinds = [json.loads(await ws.recv())["type"] for _ in range(3)]
            assert kinds == ["hello", "snapshot", "heartbeat"]
            await until(lambda: any(each._heard_s > at for each, at in heard.items()))
            clock.now_s += 6
            publisher.sweep_connections_and_streams()
            assert publisher.tally.subscribers == 1
            await ws.ping()


async def test_at_the_end_everything_is_sent_and_goodbye_said() -> None:
    world = World(9)
    async with serve_publisher(world) as publisher:
        ws = await connect(live(publisher))
        publisher.audiences.publish(world.appear("g1"))
    said, code = await left_in(ws)
    assert [json.loads(each)["type"] for each in said] == ["hello", "snapshot", "game"]
    assert code == 1001


async def test_the_end_does_not_wait_for_those_who_do_not_read() -> None:
    async with serve_publisher(
        World(), {"limits": ClientLimits(closing_s=0.05)}
    ) as publisher:
        bad = open_stalled(publisher)
        await until(lambda: publisher.tally.subscribers == 1)
    bad.close()
    assert not publisher.clients.connections


@pytest.mark.parametrize(
    "scenario",
    [
        test_a_client_that_never_reads_is_bounded_skipped_and_closed,
        test_a_large_snapshot_is_written_piece_by_piece_and_nothing_is_lost,
        test_a_silent_client_is_closed_and_one_that_answers_pings_is_not,
        test_at_the_end_everything_is_sent_and_goodbye_said,
    ],
)
def test_all_this_holds_on_uvloop_too(
    scenario: Callable[[], Coroutine[Any, Any, None]],
) -> None:
    uvloop = pytest.importorskip(
        "uvloop", reason="uvloop does not exist for this system"
    )
    uvloop.run(scenario())


@pytest.mark.parametrize(
    ("token", "elsewhere", "heard"),
    [
        ("", False, True),
        ("", True, False),
        ("screen", True, False),
        ("producer", True, True),
    ],
)
async def test_overlays_of_this_machine_and_producers_say_what_is_on_air(
    tmp_path: Path, token: str, elsewhere: bool, heard: bool
) -> None:
    secret, tokens = token_file(tmp_path, "studio", producer=token == "producer")
    headers = bearer(secret) if token else {}
    if elsewhere:
        headers["X-Forwarded-For"] = "192.0.2.7"
    on_air: asyncio.Queue[frozenset[str]] = asyncio.Queue()
    config = ServerConfig(port=0, tokens_file=tokens, public=True)
    async with Publisher(config, World(), on_air=on_air.put_nowait) as publisher:
        async with connect(live(publisher), additional_headers=headers) as ws:
            await ws.send('{"type":"air","games":["g1"]}')
            await ws.send("anything else")
            # A pong comes after what was sent before the ping.
            await (await ws.ping())
            assert [on_air.get_nowait()] == [{"g1"}] if heard else on_air.empty()
        if heard:
            async with asyncio.timeout(60):
                assert await on_air.get() == frozenset()


async def test_a_connection_whose_deadline_fails_does_not_lift_those_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        serve_publisher(World(1)) as publisher,
        connect(live(publisher)) as first,
        connect(live(publisher)) as other,
    ):
        await until(lambda: publisher.tally.subscribers == 2)

        def fail(self: Subscriber, now_s: float) -> None:
            raise OSError(107, "Transport endpoint is not connected")

        monkeypatch.setattr(Subscriber, "enforce_deadlines", fail)
        publisher.sweep_connections_and_streams()
        for each in (first, other):
            await each.wait_closed()


async def test_filters_that_match_nothing_yet_lock_nobody_out_and_begin_later() -> None:
    world = World(1, "g1")
    async with (
        serve_publisher(world, {"limits": ClientLimits(filters=2)}) as publisher,
        AsyncExitStack() as stack,
    ):
        quiet = [
            await stack.enter_async_context(connect(live(publisher, f"?game=zz{each}")))
            for each in range(6)
        ]
        states = [ReferenceClient() for _ in quiet]
        for ws, state in zip(quiet, states, strict=True):
            await follow(ws, state, 1)
        for query in ("", "?game=g1", "?board=99"):
            async with connect(live(publisher, query)) as ws:
                assert json.loads(await ws.recv())["type"] == "hello"
        publisher.audiences.publish(world.appear("zz3"))
        publisher.audiences.publish(world.move("zz3"))
        selected = StreamFilter(games=frozenset({"zz3"}))
        await follow(quiet[3], states[3], position(publisher, selected))
        assert states[3].snapshot() == snapshot(world, selected)
        assert [game.id for game in states[3].games()] == ["zz3"]


async def test_one_address_has_so_many_filters_and_no_more() -> None:
    world = World(1, "g1", "g2", "g3.pgn")
    # Also behind a proxy on this machine, whatever the client itself said before that.
    one, other = ({"X-Forwarded-For": f"10.0.0.{n}, 192.0.2.{n}"} for n in (7, 8))
    async with (
        serve_publisher(
            world, {"limits": ClientLimits(filters_per_address=2)}
        ) as publisher,
        connect(live(publisher, "?game=g1"), additional_headers=one),
        connect(live(publisher, "?game=g2"), additional_headers=one),
    ):
        await until(lambda: publisher.tally.subscribers == 2)
        with pytest.raises(InvalidStatus) as refused:
            more = {"X-Forwarded-For": "10.0.0.9, 192.0.2.7"}
            await connect(live(publisher, "?game=g3.pgn"), additional_headers=more)
        assert refused.value.response.status_code == 503
        # It costs no stream, whose place others may need.
        streams = publisher.audiences.public.hub.streams
        assert [stream.is_narrow for stream in streams].count(True) == 2
        for query, headers in (("?game=g1", one), ("", one), ("?game=g3.pgn", other)):
            async with connect(
                live(publisher, query), additional_headers=headers
            ) as ws:
                assert json.loads(await ws.recv())["type"] == "hello"
