"""A broker that dies is an exception for whoever uses it, and nothing else."""

from __future__ import annotations

import asyncio
import gc
import select
from collections.abc import Callable
from pathlib import Path

import aiomqtt
import pytest

from live.feeds.mqtt_client import MqttClient
from tests.publish.mosquitto import Mosquitto, running


@pytest.fixture
async def told_to_the_loop() -> list[str]:
    told: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: told.append(str(context)))
    return told


async def killed_while_writing(broker: Mosquitto) -> None:
    """Something is to be written in the very turn of the loop in which the end is read."""
    async with MqttClient("127.0.0.1", broker.port, timeout=0.1) as client:
        broker.kill()
        connection = client._client.socket()
        assert connection is not None and select.select([connection], [], [], 20)[0]
        await asyncio.sleep(0)
        await client.publish("a", b"1", qos=1)


@pytest.mark.slow
async def test_a_broker_that_dies_leaves_nothing_to_the_event_loop(
    require_program: Callable[[str], str],
    tmp_path: Path,
    told_to_the_loop: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with running(require_program("mosquitto"), tmp_path) as broker:
        with pytest.raises(aiomqtt.MqttError):
            await killed_while_writing(broker)
    await asyncio.sleep(0)
    gc.collect()
    await asyncio.sleep(0)
    assert told_to_the_loop == []
    assert caplog.records == []


async def test_a_cancellation_at_the_moment_of_the_answer_is_heard() -> None:
    """The library's own wait forgets it on Python 3.11, and a feed went on for ever."""
    client = MqttClient("127.0.0.1", 1)
    answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(client._wait_for(answer, 5))
    await asyncio.sleep(0)
    answer.set_result(None)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_answer_that_does_not_come_is_told() -> None:
    client = MqttClient("127.0.0.1", 1)
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    with pytest.raises(aiomqtt.MqttError, match="timed out"):
        await client._wait_for(never, 0.0)
