"""The MQTT source against a real broker."""

from __future__ import annotations

import asyncio
import gc
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import aiomqtt
import msgspec
import pytest

from live.config import FeedsConfig, MqttFeedConfig
from live.errors import ConfigError, FeedUnreadable
from live.events import GameReport
from live.feeds.mqtt_feed import stable_id
from live.feeds.open_feed import open_feed
from live.feeds.source_probe import probe
from live.manual.pages import manual_page
from live.rehearse.mqtt_publisher import told_json
from live.rehearse.rehearsal import pgn_text
from tests.feeds.brokers import Broker
from tests.feeds.fakes import (
    DATA,
    DrivenClock,
    Ledger,
    conditions,
    decode,
    listening,
    running,
    substance,
    until,
)

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
CONFIG = FeedsConfig(timeout_s=5.0)


@pytest.fixture
def mosquitto(require_program: Callable[[str], str]) -> str:
    return require_program("mosquitto")


def cut(game: GameReport, plies: int) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:plies], result="*")


async def publish(broker: Broker, *messages: tuple[str, bytes], retain: bool = True) -> None:
    async with aiomqtt.Client("127.0.0.1", broker.port) as client:
        for topic, payload in messages:
            await client.publish(topic, payload, qos=1, retain=retain)


def moves(ledger: Ledger) -> dict[str, int]:
    return {game.headers.white.name: len(game.moves) for game in ledger.games.values()}


async def test_retained_games_are_there_at_once_and_followed_to_their_end(
    mosquitto: str, tmp_path: Path
) -> None:
    ledger, clock = Ledger(), DrivenClock()
    async with Broker(mosquitto, tmp_path) as broker:
        first, second, third = GAMES[:3]
        await publish(
            broker,
            ("open/1/1", told_json(cut(first, 9))),
            ("open/1/2", pgn_text(cut(second, 8)).encode()),
            ("open/1/2/deep", told_json(cut(third, 3))),
            ("other/1", told_json(GAMES[3])),
        )
        feed = open_feed(f"{broker.address}/open/#", CONFIG, conditions=conditions(CONFIG, clock))
        async with running(feed, ledger) as task:
            await until(lambda: sorted(moves(ledger).values()) == [3, 8, 9])
            for game, topic in ((first, "1"), (third, "2/deep")):
                for plies in range(4, len(game.moves), 7):
                    await publish(broker, (f"open/1/{topic}", told_json(cut(game, plies))))
                await publish(broker, (f"open/1/{topic}", told_json(game)))
            await publish(broker, ("open/1/2", pgn_text(second).encode()))
            wanted = sorted(map(str, map(substance, GAMES[:3])))
            await until(lambda: sorted(map(str, map(substance, ledger.games.values()))) == wanted)
            await clock.expire()
            await until(task.done)
    assert ledger.last.state == "finished"


async def test_repeats_and_messages_that_come_late_change_nothing_in_the_end(
    mosquitto: str, tmp_path: Path
) -> None:
    ledger, game = Ledger(), GAMES[0]
    async with Broker(mosquitto, tmp_path) as broker:
        feed = open_feed(f"{broker.address}/+/1", CONFIG, conditions=conditions(CONFIG))
        async with running(feed, ledger):
            await until(lambda: "live" in ledger.states)
            for plies in (1, 1, 2, 3, 2, 3, 3, 4):
                await publish(broker, ("a/1", told_json(cut(game, plies))))
            await until(lambda: list(moves(ledger).values()) == [4])
    assert len(ledger.games) == 1


async def test_a_broker_that_is_killed_and_comes_back(mosquitto: str, tmp_path: Path) -> None:
    ledger, game = Ledger(), GAMES[0]
    broker = Broker(mosquitto, tmp_path)
    async with broker:
        feed = open_feed(f"{broker.address}/a/#", CONFIG, conditions=conditions(CONFIG))
        async with running(feed, ledger) as task:
            await until(lambda: "live" in ledger.states)
            await publish(broker, ("a/1", told_json(cut(game, 5))))
            await until(lambda: list(moves(ledger).values()) == [5])
            await broker.kill()
            await until(lambda: ledger.last.state == "retrying")
            assert "broker" in ledger.last.detail and "trying again in" in ledger.last.detail
            await broker.start()
            await publish(broker, ("a/1", told_json(cut(game, 9))))
            await until(lambda: list(moves(ledger).values()) == [9])
            assert ledger.last.state == "live" and not task.done()


async def test_what_came_while_we_were_away_is_not_lost(mosquitto: str, tmp_path: Path) -> None:
    """The broker keeps the session: messages of QoS 1 that nobody retained come after all."""
    ledger, game = Ledger(), GAMES[0]
    async with Broker(mosquitto, tmp_path) as broker:
        spec = f"{broker.address}/a/#"
        async with running(open_feed(spec, CONFIG, conditions=conditions(CONFIG)), ledger):
            await until(lambda: "live" in ledger.states)
        await publish(broker, ("a/1", told_json(cut(game, 7))), retain=False)
        async with running(open_feed(spec, CONFIG, conditions=conditions(CONFIG)), ledger):
            await until(lambda: list(moves(ledger).values()) == [7])


@pytest.mark.slow
async def test_a_look_at_the_source_does_not_disturb_who_follows_it(
    mosquitto: str, tmp_path: Path
) -> None:
    ledger = Ledger()
    async with Broker(mosquitto, tmp_path) as broker:
        spec = f"{broker.address}/a/#"
        async with running(open_feed(spec, CONFIG, conditions=conditions(CONFIG)), ledger):
            await until(lambda: "live" in ledger.states)
            await publish(broker, ("a/1", told_json(cut(GAMES[0], 5))))
            (finding,) = await probe([spec], CONFIG, within_s=20)
            assert [game.plies for game in finding.games] == [5]
            await publish(broker, ("a/1", told_json(cut(GAMES[0], 6))))
            await until(lambda: list(moves(ledger).values()) == [6])
    assert "retrying" not in ledger.states


async def test_no_broker_there_yet(mosquitto: str, tmp_path: Path) -> None:
    ledger, broker = Ledger(), Broker(mosquitto, tmp_path)
    feed = open_feed(f"{broker.address}/a/#", CONFIG, conditions=conditions(CONFIG))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running(feed, ledger))
        await until(lambda: ledger.last.state == "retrying" if ledger.healths else False)
        assert ledger.last.detail.startswith("cannot reach the broker (Connection refused)")
        await stack.enter_async_context(broker)
        await publish(broker, ("a/1", told_json(GAMES[0])))
        await until(lambda: len(ledger.games) == 1)


def password_file(folder: Path, *users: tuple[str, str]) -> Path:
    path = folder / "passwords"
    path.touch(mode=0o600)
    for user, password in users:
        subprocess.run(["mosquitto_passwd", "-b", path, user, password], check=True)
    return path


async def test_user_and_password_from_a_file(
    mosquitto: str, tmp_path: Path, require_program: Callable[[str, str], str]
) -> None:
    require_program("mosquitto_passwd", "mosquitto")
    passwords = password_file(tmp_path, ("arbiter", "right"))
    (tmp_path / "mine").write_text("right\n")
    config = FeedsConfig(mqtt=MqttFeedConfig(password_file=str(tmp_path / "mine")))
    ledger = Ledger()
    async with Broker(mosquitto, tmp_path, [f"password_file {passwords}"]) as broker:
        spec = f"mqtt://arbiter@127.0.0.1:{broker.port}/a/#"
        async with running(open_feed(spec, config, conditions=conditions(config)), ledger):
            await until(lambda: "live" in ledger.states)
        assert "arbiter" not in str(ledger.healths)


async def test_a_wrong_password_is_a_clear_health_line(
    mosquitto: str, tmp_path: Path, require_program: Callable[[str, str], str]
) -> None:
    require_program("mosquitto_passwd", "mosquitto")
    passwords = password_file(tmp_path, ("arbiter", "right"))
    async with Broker(mosquitto, tmp_path, [f"password_file {passwords}"]) as broker:
        for user in ("arbiter:wrong@", ""):
            ledger = Ledger()
            feed = open_feed(
                f"mqtt://{user}127.0.0.1:{broker.port}/a/#", CONFIG, conditions=conditions(CONFIG)
            )
            with pytest.raises(FeedUnreadable, match="password_file"):
                await feed.run(ledger)
            assert ledger.last.state == "failed"
            assert ledger.last.detail == "the broker refuses access"
            assert "wrong" not in str(ledger.healths) + feed.name


async def test_a_message_that_is_no_game_costs_no_other(
    mosquitto: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = Ledger()
    async with Broker(mosquitto, tmp_path) as broker:
        feed = open_feed(f"{broker.address}/#", CONFIG, conditions=conditions(CONFIG))
        async with running(feed, ledger):
            await until(lambda: "live" in ledger.states)
            await publish(broker, ("a/temperature", b'{"celsius": 21}'))
            await until(lambda: "holds JSON without moves or fen" in ledger.last.detail)
            await publish(broker, ("a/camera", b"\x89PNG\r\n\x1a\n" + bytes(100)))
            await publish(broker, ("a/1", told_json(GAMES[0])))
            await until(lambda: len(ledger.games) == 1)
    assert ledger.last.state == "live" and ledger.last.detail == "1 game"
    assert "'a/camera' holds a picture" in caplog.text


async def test_an_unfinished_game_taken_from_the_broker_is_gone(
    mosquitto: str, tmp_path: Path
) -> None:
    ledger = Ledger()
    async with Broker(mosquitto, tmp_path) as broker:
        await publish(
            broker,
            ("a/1", told_json(GAMES[0])),
            ("a/2", told_json(cut(GAMES[1], 4))),
            ("a/3", told_json(cut(GAMES[2], 4))),
        )
        feed = open_feed(f"{broker.address}/a/#", CONFIG, conditions=conditions(CONFIG))
        async with running(feed, ledger):
            await until(lambda: len(ledger.games) == 3)
            await publish(broker, ("a/1", b""), ("a/2", b""))
            await until(lambda: len(ledger.games) == 2)
    assert [game.result for game in ledger.games.values()].count("*") == 1


async def test_an_old_broker_is_spoken_to_in_mqtt_3() -> None:
    """A broker that knows MQTT 3.1.1 only says so, and is asked again in that."""
    greetings: list[bytes] = []

    async def old(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        greeting = await reader.read(1000)
        greetings.append(greeting)
        version = greeting[greeting.index(b"MQTT") + 4]
        writer.write(b"\x20\x02\x00\x01" if version == 5 else b"\x20\x02\x00\x00")
        await writer.drain()
        await reader.read(1000)

    ledger = Ledger()
    async with listening(old) as port:
        feed = open_feed(f"mqtt://127.0.0.1:{port}/a", CONFIG, conditions=conditions(CONFIG))
        async with running(feed, ledger):
            await until(lambda: len(greetings) >= 2)
    assert "the broker speaks MQTT 3.1.1 only" in ledger.healths[1].detail
    clean_session = 0b10
    flags = greetings[1][greetings[1].index(b"MQTT") + 5]
    assert not flags & clean_session


def test_our_name_at_the_broker_is_stable_and_differs_by_source() -> None:
    assert stable_id("mqtt://a/b") == stable_id("mqtt://a/b") != stable_id("mqtt://a/c")
    assert len(stable_id("mqtt://a/b")) <= 23  # what MQTT 3.1.1, section 3.1.3.1 promises


@pytest.mark.parametrize("key", ["password_file", "ca_file"])
def test_a_file_that_is_not_there_is_told_at_once(key: str) -> None:
    config = FeedsConfig(mqtt=MqttFeedConfig(**{key: "/nonexistent/x"}))
    with pytest.raises(ConfigError, match=f"feeds.mqtt.{key} /nonexistent/x: cannot be read"):
        open_feed("mqtts://broker.example/a", config)


@pytest.fixture
def certificate(tmp_path: Path, require_program: Callable[[str], str]) -> tuple[Path, Path]:
    """A certificate for this machine that signs itself, and its key."""
    openssl = require_program("openssl")
    certificate, key = tmp_path / "broker.pem", tmp_path / "broker.key"
    names = ["-subj", "/CN=broker", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    subprocess.run(
        [openssl, "req", "-x509", *kind, "-keyout", key, "-out", certificate, *names],
        check=True,
        capture_output=True,
    )
    return certificate, key


async def test_tls_with_a_certificate_of_ones_own(
    mosquitto: str, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    lines = [f"certfile {certificate[0]}", f"keyfile {certificate[1]}"]
    config = FeedsConfig(mqtt=MqttFeedConfig(ca_file=str(certificate[0])))
    async with Broker(mosquitto, tmp_path, lines) as broker:
        spec = broker.address.replace("mqtt:", "mqtts:") + "/a/#"
        ledger = Ledger()
        async with running(open_feed(spec, config, conditions=conditions(config)), ledger):
            await until(lambda: "live" in ledger.states)


# The MQTT library leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
async def test_a_certificate_that_nobody_vouches_for(
    mosquitto: str, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    lines = [f"certfile {certificate[0]}", f"keyfile {certificate[1]}"]
    stranger = Ledger()
    async with Broker(mosquitto, tmp_path, lines) as broker:
        spec = broker.address.replace("mqtt:", "mqtts:") + "/a/#"
        async with running(open_feed(spec, CONFIG, conditions=conditions(CONFIG)), stranger):
            await until(lambda: "retrying" in stranger.states)
    assert "certificate is not accepted (self-signed" in stranger.last.detail
    assert "feeds.mqtt.ca_file" in stranger.last.detail
    gc.collect()


@pytest.mark.slow
async def test_both_publishers_of_the_manual_make_a_board_appear(
    mosquitto: str, tmp_path: Path, require_program: Callable[[str, str], str]
) -> None:
    require_program("mosquitto_pub", "mosquitto-clients")
    text = manual_page("sources").text
    (by_hand,) = re.findall(r"^mosquitto_pub .*$", text, re.MULTILINE)
    (program,) = re.findall(r"^```python\n(import asyncio, json\n.*?)^```", text, re.M | re.S)
    ledger = Ledger()
    async with Broker(mosquitto, tmp_path) as broker:
        feed = open_feed(f"{broker.address}/hall/#", CONFIG, conditions=conditions(CONFIG))
        async with running(feed, ledger):
            await until(lambda: "live" in ledger.states)
            shell = by_hand.replace("-h localhost", f"-h 127.0.0.1 -p {broker.port}")
            code = program.replace('"localhost"', f'"127.0.0.1", {broker.port}')
            for command in (["sh", "-c", shell], [sys.executable, "-c", code]):
                await asyncio.to_thread(subprocess.run, command, check=True)
            await until(lambda: len(ledger.games) == 2)
    boards = {game.headers.board: game for game in ledger.games.values()}
    assert [move.san for move in boards[1].moves] == ["e4", "e5", "Nf3"]
    assert boards[1].headers.event == "hall/round-1"
    assert [(move.san, move.clock_s) for move in boards[2].moves] == [("d4", 5395), ("Nf6", 5388)]
    assert boards[2].headers.white.title == "WGM"
