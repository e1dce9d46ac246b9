"""The service as a whole: what ends it, and what does not."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from live import app
from live.config import Config, load_config
from live.errors import ConfigError, FeedNotFound
from live.feeds.demo.demo_feed import DemoFeed
from live.feeds.feed import FeedSink


def settings(**changes: object) -> Config:
    quick = {"engine.nodes": 100, "server.port": 0, "feeds.demo.speed": 1e6}
    return load_config(None, {}, {**quick, "feeds.finish_after_s": 0.2, **changes})


@contextlib.asynccontextmanager
async def nothing_there() -> AsyncIterator[str]:
    """A server that answers 404 to everything."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(
                b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/games.pgn"


@pytest.mark.slow
async def test_a_feed_that_cannot_be_followed_costs_the_others_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with nothing_there() as url:
        code = await app.follow(settings(), ["demo", url], headless=True, once=True)
    told = capsys.readouterr().out
    assert f"{url} failed" in told
    assert "6 games" in told
    assert code == FeedNotFound.exit_code, "who waits for the end learns that something was missing"


@pytest.mark.slow
async def test_the_service_ends_where_nothing_at_all_can_be_followed() -> None:
    """With ``once``; else what is not there yet is waited for."""
    async with nothing_there() as url:
        with pytest.raises(BaseExceptionGroup) as caught:
            await app.follow(settings(), [url], headless=True, once=True)
    assert caught.group_contains(FeedNotFound)


@pytest.mark.slow
async def test_a_fault_of_ours_in_a_feed_is_mended_by_a_new_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    runs: list[int] = []
    proper = DemoFeed.run

    async def run(self: Any, sink: FeedSink) -> None:
        runs.append(1)
        if len(runs) == 1:
            raise KeyError("a fault of ours")
        await proper(self, sink)

    monkeypatch.setattr(DemoFeed, "run", run)
    assert await app.follow(settings(), ["demo"], headless=True, once=True) == 0
    assert len(runs) == 2
    assert "fault in our own code (KeyError)" in capsys.readouterr().out


def test_a_named_corpus_must_be_there(tmp_path: Path) -> None:
    assert app.study_files(settings().study) is None
    corpus = tmp_path / "c.db"
    with pytest.raises(ConfigError, match="no such corpus") as found:
        app.study_files(settings(**{"study.corpus": str(corpus)}).study)
    assert "live-rate study add" in found.value.remedy
    corpus.touch()
    files = app.study_files(settings(**{"study.corpus": str(corpus)}).study)
    assert files is not None and (files.corpus, files.setting) == (corpus.resolve(), None)
