"""An event played back from its journal ends as it ended, having shown what was shown."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from pathlib import Path

import msgspec
import pytest

from live.config import load_config
from live.events import AlertMessage, Change, FeedReport, MoveMessage, ScoreMessage
from live.feeds.demo import demo_feed
from live.jobs.recorded_event import RecordedEvent, config_of, play, run_at
from live.publish.export.analysis_json import analysis
from live.service.event_journal import EventJournal
from live.service.event_service import EventService
from live.store.journal_file import sum_of
from live.store.journal_reader import JournalReader
from tests.service.running import running

FEED = "games.pgn"


@pytest.mark.slow
async def test_hours_before_the_last_answers_are_not_waited_out(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    told = msgspec.structs.replace(
        demo_feed.games()[0], moves=demo_feed.games()[0].moves[:2], result="*"
    )
    hall = EventService(load_config(None, {}, {"engine.nodes": 500}), EventJournal(path))
    async with hall.with_engine(live=False, feeds=[FEED]):
        await hall.take(FeedReport(FEED, (told,), complete=True))
        await hall.settled()
        before = analysis(hall.state)
    connection = sqlite3.connect(path)
    for key, result, at_ms in connection.execute(
        "SELECT key, result, at_ms FROM results"
    ).fetchall():
        later_ms = at_ms + 8 * 3600 * 1000
        connection.execute(
            "UPDATE results SET at_ms = ?, sum = ? WHERE key = ?",
            (later_ms, sum_of(key, result, later_ms), key),
        )
    connection.commit()
    connection.close()
    with JournalReader.open(path) as reader:
        run = run_at(reader, path, None)
        recorded = RecordedEvent(reader, run, config_of(run, path))
        async with asyncio.timeout(10):
            await play(recorded, reader, speed=1e3)  # eight hours would take 29 s
        assert analysis(recorded.state) == before


@pytest.mark.slow
async def test_a_replay_shows_moves_and_scores_in_their_order_and_ends_alike(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite"
    game = demo_feed.games()[0]
    hall = EventService(load_config(None, {}, {"engine.nodes": 500}), EventJournal(path))
    async with hall.with_engine(live=False, feeds=[FEED]):
        for plies in (*range(2, 13), 9, 14):
            told = msgspec.structs.replace(game, moves=game.moves[:plies], result="*")
            await hall.take(FeedReport(FEED, (told,), complete=True))
            await hall.settled()
        before = analysis(hall.state)
    shown: list[Change] = []
    with JournalReader.open(path) as reader:
        run = run_at(reader, path, None)
        recorded = RecordedEvent(reader, run, config_of(run, path))
        recorded.listen(shown.extend)
        async with asyncio.timeout(60):
            await play(recorded, reader, speed=1e5)
        assert analysis(recorded.state) == before
    moves = [change.ply for change in shown if isinstance(change, MoveMessage)]
    assert moves == [*range(1, 13), 10, *range(10, 15)]
    first_score = next(i for i, change in enumerate(shown) if isinstance(change, ScoreMessage))
    assert any(isinstance(change, MoveMessage) for change in shown[first_score:])
    assert recorded.state.feeds()[0].state == "finished"


@pytest.mark.slow
async def test_a_replay_tells_the_alerts_of_then_as_they_were_told(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    game = msgspec.structs.replace(
        demo_feed.games()[0],
        moves=demo_feed.games()[0].moves[:2],
        result="*",
        problem="illegal move Qh9",
    )
    hall = EventService(load_config(None, {}, {"engine.nodes": 10}), EventJournal(path))
    told: list[Change] = []
    hall.listen(told.extend)
    async with hall.with_engine(live=False, feeds=[FEED]):
        await hall.take(FeedReport(FEED, (game,), complete=True))
        await hall.settled()
        (alert,) = hall.arbiter.alerts()
        hall.arbiter.acknowledge(alert.id, "phoned")
        await hall.take(
            FeedReport(FEED, (msgspec.structs.replace(game, problem=None),), complete=True)
        )
    with JournalReader.open(path) as reader:
        run = run_at(reader, path, None)
        recorded = RecordedEvent(reader, run, config_of(run, path))
        again: list[Change] = []
        recorded.listen(again.extend)
        async with asyncio.timeout(20):
            await play(recorded, reader, speed=1e3)
    alerts = [change for change in told if isinstance(change, AlertMessage)]
    # What is only worded anew is not kept.
    raised, _, *answered = alerts
    assert answered
    assert [change for change in again if isinstance(change, AlertMessage)] == [
        raised,
        *answered,
    ]


@pytest.mark.slow
async def test_others_read_along_only_where_that_was_said(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    hall = EventService(load_config(None, {}, {"engine.nodes": 10}), EventJournal(path))
    async with hall.with_engine(live=False, feeds=[FEED]):
        told = msgspec.structs.replace(demo_feed.games()[0], moves=demo_feed.games()[0].moves[:1])
        await hall.take(FeedReport(FEED, (told,), complete=True))
    given = ("replay", str(path), "--host", "0.0.0.0", "--port", "0")
    async with running(*given, cwd=tmp_path) as refused:
        assert await refused.ends() == 2
    assert refused.said.strip() == (
        "live-rate: --host 0.0.0.0: everybody who reaches this address could read along. "
        "Say --public"
    )
    async with running(*given, "--public", cwd=tmp_path) as playing:
        await playing.says("replays")
        assert await playing.ends(signal.SIGINT) == 0, playing.said
