"""A real Mosquitto holds the state: from the start, after it was killed, and after we
were.

What a broker should hold: always the state, whatever happened and however little was
told.

What the site's stream sends, and when. What readers make of it is in
``tests/screens/web/test_stream.py``.
"""

import asyncio
import contextlib
import gzip
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiomqtt
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live import __version__ as VERSION
from live.errors import ConfigError
from live.manual.pages import read_page
from live.messages.health import FeedHealth
from live.messages.to_clients import GoneMessage
from live.process import backoff
from live.server import broker as broker_publisher
from live.server.authentication import public_filter
from live.server.broker import MEND_S, BrokerPublisher
from live.server.retained_messages import RetainedMessages, encode_level
from live.server.site_stream import CHANGES, SINCE, SNAPSHOT, SiteStream
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility
from live.settings import MqttConfig
from tests.server.mosquitto import (
    ANYBODY,
    Mosquitto,
    free_port,
    full,
    run_broker,
    users,
)
from tests.server.world import Clock, World
from tests.sources.fakes import until

SITE = "test/rate/3/site"
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
async def broker(
    require_program: Callable[[str], str], tmp_path: Path
) -> AsyncIterator[Mosquitto]:
    async with run_broker(require_program("mosquitto"), tmp_path) as made:
        yield made


def config(broker: Mosquitto) -> MqttConfig:
    return MqttConfig(publish=f"mqtt://127.0.0.1:{broker.port}", prefix="test/rate")


def wanted(world: World, state: str = "online") -> dict[str, bytes]:
    """What the broker should hold."""
    status = {"type": "status", "state": state, "version": VERSION, "protocol": 3}
    told = json.dumps(status, separators=(",", ":")).encode()
    return {
        **RetainedMessages(world, "test/rate").take(10_000),
        "test/rate/3/status": told,
    }


@contextlib.asynccontextmanager
async def telling(
    broker: Mosquitto,
    world: World,
    tell: Callable[[FeedHealth], None] = lambda _: None,
    stream: SiteStream | None = None,
    settings: MqttConfig | None = None,
) -> AsyncIterator[BrokerPublisher]:
    settings = settings or config(broker)
    made = BrokerPublisher(
        settings, world, chance=lambda: 0.0, report=tell, stream=stream
    )
    task = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()


async def test_the_broker_holds_the_state_and_follows_it(broker: Mosquitto) -> None:
    world = full(1)
    told: list[FeedHealth] = []
    async with telling(broker, world, told.append) as ours:
        await broker.comes_to_hold(wanted(world))
        for _ in range(100):
            ours.publish(world.step())
            await asyncio.sleep(0)
        await broker.comes_to_hold(wanted(world))
    assert await broker.read_retained() == wanted(world, "offline"), (
        "who leaves in order says so"
    )
    assert "retrying" not in [health.state for health in told]


async def test_a_killed_broker_is_told_again(
    broker: Mosquitto, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "BASE_S", 0.05)
    world = full(2)
    async with telling(broker, world) as ours:
        await broker.comes_to_hold(wanted(world))
        broker.kill()
        for _ in range(100):
            ours.publish(world.step())
        await until(lambda: not ours.connected)
        await broker.start()
        await broker.comes_to_hold(wanted(world))
    assert f"broker 127.0.0.1:{broker.port}" in caplog.text
    assert "trying again" in caplog.text


KILLED = """
import asyncio
from live.settings import MqttConfig
from live.server.broker import BrokerPublisher
from tests.server.mosquitto import full
config = MqttConfig(publish="mqtt://127.0.0.1:%d", prefix="test/rate")
asyncio.run(BrokerPublisher(config, full(5)).run())
"""


async def test_when_we_are_killed_the_will_says_so_and_the_next_run_mends_all(
    broker: Mosquitto,
) -> None:
    process = subprocess.Popen(  # noqa: ASYNC220 - it only starts here
        [sys.executable, "-c", KILLED % broker.port], cwd=ROOT
    )
    try:
        await broker.comes_to_hold(wanted(full(5)))
    finally:
        process.kill()
        process.wait()
    await broker.comes_to_hold(wanted(full(5), "offline"))
    others = {"somebody/else": b"theirs", "test/rates": b"theirs too"}
    async with broker.client() as client:
        for topic, payload in others.items():
            await client.publish(topic, payload, qos=1, retain=True)
    world = World(4, "g1")
    assert wanted(full(5)).keys() - wanted(world).keys()
    async with telling(broker, world):
        await broker.comes_to_hold({**wanted(world), **others})


async def test_user_and_password_are_used(
    require_program: Callable[..., str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    more = users(require_program, tmp_path, "live", "geheim")
    async with run_broker(require_program("mosquitto"), tmp_path, more=more) as broker:
        settings = MqttConfig(
            publish=f"mqtt://live@127.0.0.1:{broker.port}",
            password_file=str(tmp_path / "password"),
        )
        for password in ("geheim", "falsch"):
            (tmp_path / "password").write_text(f"{password}\n", encoding="utf-8")
            told: list[FeedHealth] = []
            async with telling(broker, World(8), told.append, settings=settings):
                await until(lambda told=told: bool(told))  # type: ignore[misc]
            assert told[0].state == ("live" if password == "geheim" else "retrying")
    assert "Not authorized" in caplog.text
    assert "geheim" not in caplog.text
    assert "falsch" not in caplog.text


def test_files_that_cannot_be_used_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = str(tmp_path / "none")
    with pytest.raises(ConfigError, match=r"mqtt\.password_file"):
        BrokerPublisher(MqttConfig(publish="mqtt://h", password_file=none), World())
    with pytest.raises(ConfigError, match=r"mqtt\.ca_file"):
        BrokerPublisher(MqttConfig(publish="mqtts://h", ca_file=none), World())
    monkeypatch.setenv("HOME", str(tmp_path))
    for text in ("nothing", "", "\ufeff# F\u0151tan\u00fas\u00edtv\u00e1ny"):
        (tmp_path / "ca.pem").write_text(text)
        with pytest.raises(ConfigError, match=r"~/ca\.pem: holds no certificate"):
            BrokerPublisher(
                MqttConfig(publish="mqtts://h", ca_file="~/ca.pem"), World()
            )


async def test_a_browser_reads_from_the_broker_as_the_manual_says_and_writes_nothing(
    require_program: Callable[[str], str], tmp_path: Path
) -> None:
    """Its settings as they are printed, but for ports, prefix and the place of the
    list.
    """
    text = read_page("programs").text
    settings, rights = (
        text.split(f"```{kind}\n")[1].split("```")[0] for kind in ("conf", "acl")
    )
    acl = tmp_path / "viewers.acl"
    acl.write_text(rights.replace("live-rate", "test/rate"), encoding="utf-8")
    acl.chmod(0o600)
    plain, web = free_port(), free_port()
    more = settings.replace("listener 1883", f"listener {plain}")
    more = more.replace("listener 9001", f"listener {web} 127.0.0.1")
    more = more.replace("/etc/mosquitto/viewers.acl", str(acl))
    # That it has to come first is Mosquitto's rule.
    every, more = more.split("\n", 1)
    async with run_broker(
        require_program("mosquitto"), tmp_path, more=f"{ANYBODY}{more}", first=every
    ) as broker:
        world = full(9)
        async with telling(broker, world):
            await broker.comes_to_hold(wanted(world))
            page = aiomqtt.Client(
                "127.0.0.1",
                web,
                transport="websockets",
                protocol=aiomqtt.ProtocolVersion.V5,
            )
            boards = {t: p for t, p in wanted(world).items() if t.endswith("/game")}
            forged = next(iter(boards))
            async with page, asyncio.timeout(20):
                with contextlib.suppress(aiomqtt.MqttError):
                    await page.publish(forged, b"forged", qos=1, retain=True)
                await page.subscribe("test/rate/3/+/+/game", qos=1)
                async for message in page.messages:
                    assert boards.pop(str(message.topic)) == message.payload
                    if not boards:
                        break
            assert (await broker.read_retained())[forged] != b"forged"


async def test_what_another_forges_is_mended(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name, a snapshot, the status, and a board that there is not."""
    assert MEND_S <= 4.0, "within 5 s, the way there and back included"
    monkeypatch.setattr(broker_publisher, "MEND_S", 0.05)
    world = World(10, "g1")
    stream = SiteStream(world, epoch="e", clock=lambda: 0.0)
    async with telling(broker, world, stream=stream):
        async with asyncio.timeout(20):
            while "test/rate/3/site/snapshot" not in await broker.read_retained():
                await broker.news()
        (name,) = (topic for topic in wanted(world) if topic.endswith("/game"))
        status = "test/rate/3/status"
        forged = [name, status, "test/rate/3/x/9/game", "test/rate/3/site/snapshot"]
        async with broker.client() as client:
            for topic in forged:
                await client.publish(topic, b"forged", qos=1, retain=True)
        async with asyncio.timeout(20):
            held: dict[str, bytes] = {}
            while (
                b"forged" in held.values() or not wanted(world).items() <= held.items()
            ):
                await broker.news()
                held = await broker.read_retained()
        assert held.keys() == {*wanted(world), f"{SITE}/snapshot", f"{SITE}/since"}
        epoch = json.loads(held[f"{SITE}/since"])["epoch"]
        assert epoch != "e", "readers that took in a forged change throw it away"


async def test_what_a_stranger_writes_costs_no_more_than_its_undoing(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection and the stream's epoch stay, and nothing else is sent anew."""
    monkeypatch.setattr(broker_publisher, "MEND_S", 0.05)
    monkeypatch.setattr(broker_publisher, "ALONE_S", 0.1)
    world, told = full(10), list[FeedHealth]()
    stream = SiteStream(world, epoch="e", clock=lambda: 0.0)
    ours, theirs = "test/rate/3/engine", "test/rate/3/x/9/game"
    async with telling(broker, world, told.append, stream), broker.client() as client:
        async with asyncio.timeout(20):
            while (
                not (held := await broker.read_retained()).keys()
                >= wanted(world).keys()
            ):
                await broker.news()
        await client.subscribe("test/rate/#", qos=1)
        for topic in (ours, theirs):
            await client.publish(topic, b"forged", qos=1, retain=True)
        seen: list[tuple[str, Any]] = []
        async with asyncio.timeout(20):
            async for message in client.messages:
                if not message.retain:
                    seen.append((str(message.topic), message.payload))
                if len(seen) == 4:
                    break
        undone = {(ours, held[ours]), (theirs, b"")}
        assert {*seen} == {(ours, b"forged"), (theirs, b"forged")} | undone
        await until(lambda: told[-1].state == "live")
        assert {each.state for each in told if each.detail} == {"retrying"}
        assert await broker.read_retained() == held


async def test_two_services_on_one_prefix_both_say_so(broker: Mosquitto) -> None:
    told: dict[str, list[str]] = {"first": [], "second": []}

    def teller(name: str) -> Callable[[FeedHealth], None]:
        return lambda health: told[name].append(health.detail)

    first, second = full(6), full(7)
    async with telling(broker, first, teller("first")) as one:
        await broker.comes_to_hold(wanted(first))
        async with telling(broker, second, teller("second")):
            await until(
                lambda: any("another mqtt.prefix" in each for each in told["first"])
            )
            for _ in range(20):
                one.publish(first.step())
            await until(
                lambda: any("another mqtt.prefix" in each for each in told["second"])
            )
    assert any(
        "also publishes below test/rate/3/, and" in each for each in told["first"]
    )


class Held:
    """A broker that believes everything."""

    def __init__(self) -> None:
        self.topics: dict[str, bytes] = {}

    def tell(self, batch: dict[str, bytes]) -> None:
        for topic, payload in batch.items():
            if payload:
                self.topics[topic] = payload
            else:
                del self.topics[topic]


def test_topics_of_a_board_and_a_player() -> None:
    world = World(1, "g1", plies=1)
    world.set("g1", event="Open A/B+#", board=12)
    world.set_ply("g1", 1, score_cp=33)
    world.point()
    world.standing()
    held = RetainedMessages(world, "live-rate").take(10_000)
    base = "live-rate/3/Open A%2FB%2B%23/12"
    (player,) = world.standings
    color = "white" if world.held["g1"].curves.white else "black"
    assert set(held) == {
        "live-rate/3/engine",
        "live-rate/3/health",
        f"live-rate/3/players/{encode_level(player)}",
        f"{base}/game",
        f"{base}/move",
        f"{base}/{color}",
    }
    assert json.loads(held[f"{base}/game"])["game"]["id"] == "g1"
    assert json.loads(held[f"{base}/move"])["move"]["score_cp"] == 33
    assert json.loads(held[f"{base}/{color}"])["type"] == "point"


@given(
    seed=st.integers(0, 100_000),
    most=st.integers(1, 30),
    sight=st.sampled_from(Visibility),
)
def test_the_broker_always_comes_to_hold_the_state(
    seed: int, most: int, sight: Visibility
) -> None:
    """Told in small batches, sometimes not for a long time, sometimes lost and come
    back.
    """
    world = World(seed)
    selected = StreamFilter(visibility=sight)
    retained, broker, lost = RetainedMessages(world, "p", selected), Held(), False
    for _ in range(40):
        changes = world.step()
        retained.mark_changed([*changes, *changes])
        if world.random.random() < 0.5:
            batch = retained.take(most)
            # Nothing is told twice on one connection.
            assert lost or not batch.items() & broker.topics.items()
            broker.tell(batch)
        if world.random.random() < 0.05:
            # Another connection; the broker may have lost everything, and may hold
            # something else.
            lost = True
            if world.random.random() < 0.5:
                broker.topics.clear()
            broker.topics["p/3/gone/1/game"] = b"old"
            retained.forget()
            for topic in broker.topics:
                retained.note_topic(topic)
    while batch := retained.take(most):
        assert len(batch) <= most
        broker.tell(batch)
    assert broker.topics == RetainedMessages(world, "p", selected).take(10_000)


def test_a_board_goes_on_with_the_next_round_and_back() -> None:
    world = World(1, "g1", "g2")
    for game, round_ in (("g1", "1.1"), ("g2", "2.1")):
        world.set(game, event="Open A", round=round_, board=1)
    retained = RetainedMessages(world, "p")
    assert json.loads(retained.take(100)["p/3/Open A/1/game"])["game"]["id"] == "g2"
    del world.held["g2"]
    retained.mark_changed([GoneMessage("g2")])
    told = retained.take(100)
    assert set(told) == {"p/3/Open A/1/game"}
    assert json.loads(told["p/3/Open A/1/game"])["game"]["id"] == "g1"
    world.set("g1", board=2)
    retained.mark_changed([world.view("g1")])
    told = retained.take(100)
    assert told["p/3/Open A/1/game"] == b""
    assert json.loads(told["p/3/Open A/2/game"])["game"]["board"] == 2
    # Without a board it is at its id, without an event at "-".
    world.set("g1", event="", board=None)
    retained.mark_changed([world.view("g1")])
    assert "p/3/-/g1/game" in retained.take(100)


@pytest.mark.parametrize("streams", [True, False])
def test_what_a_former_run_left_of_the_sites_stream_is_cleared_where_there_is_none(
    streams: bool,
) -> None:
    world = World(1)
    stream = SiteStream(world, epoch="e", clock=lambda: 0.0) if streams else None
    config = MqttConfig(publish="mqtt://127.0.0.1", prefix="p")
    retained = BrokerPublisher(config, world, stream=stream)._retained
    retained.take(100)
    left = [f"p/3/{topic}" for topic in (SNAPSHOT, SINCE)]
    for topic in (*left, "p/3/status", "p/3/old/topic"):
        retained.note_topic(topic)
    cleared = [*([] if streams else left), "p/3/old/topic"]
    assert retained.take(100) == dict.fromkeys(cleared, b"")


@given(one=st.text(), other=st.text())
def test_levels_are_fit_for_topics_and_tell_names_apart(one: str, other: str) -> None:
    for name in (one, other):
        made = encode_level(name)
        assert made
        assert not set(made) & set("/+#\0")
        assert made.isprintable()
        made.encode("utf-8")
        assert len(made) <= 200
    assert (encode_level(one) == encode_level(other)) == (one == other)


@pytest.mark.parametrize(
    ("name", "topic"),
    [
        ("", "-"),
        ("-", "%2D"),
        ("a/b", "a%2Fb"),
        ("München", "München"),
        ("\0\n", "%00%0A"),
        ("\ud800", "%ED%A0%80"),
    ],
)
def test_levels(name: str, topic: str) -> None:
    assert encode_level(name) == topic
    long = [encode_level(f"{name}{'/' * 500}{end}") for end in "ab"]
    assert len({*long, topic}) == 3 and max(map(len, long)) < 150


def test_nothing_piles_up_while_the_broker_is_slow_or_away() -> None:
    world, clock = World(3, "g1"), Clock()
    stream = SiteStream(world, epoch="e", clock=clock)
    stream.forget()
    for _ in range(500):
        stream.publish(world.step() + world.move())
    assert stream._waiting == []
    assert [each.topic for each in stream.take()] == [SNAPSHOT, SINCE, CHANGES]
    clock.now_s += 5
    for _ in range(8000):
        stream.publish(world.step() + world.move())
        if stream._jumped:
            break
    assert stream._jumped
    assert stream._waiting == []


def test_a_heartbeat_says_that_nothing_is_missing() -> None:
    clock = Clock()
    stream = SiteStream(World(3), epoch="e", clock=clock)
    stream.take()
    clock.now_s += 14
    assert stream.take() == []
    clock.now_s += 2
    (beat,) = stream.take()
    assert (beat.topic, beat.retain) == (CHANGES, False)
    assert msgspec.json.decode(beat.payload)["messages"] == [
        {"seq": 1, "type": "heartbeat"}
    ]
    assert stream.take() == []


def test_hidden_scores_are_in_no_message() -> None:
    world, clock = World(7), Clock()
    stream = SiteStream(world, public_filter(hide_scores=True), epoch="e", clock=clock)
    messages = stream.take()
    for _ in range(300):
        stream.publish(world.step())
        clock.now_s += 0.5
        messages += stream.take()
    assert len(messages) > 20
    for each in messages:
        text = gzip.decompress(each.payload) if each.topic == SNAPSHOT else each.payload
        for said in (
            b'"score_cp":1',
            b'"score_cp":-',
            b'"type":"point"',
            b'"type":"standing"',
        ):
            assert said not in text
        assert b'"type":"alert"' not in text
