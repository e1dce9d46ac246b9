"""After a restart arbiters are shown what they were shown, and nothing is raised a second time."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import os
import random
import signal
import sys
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from websockets.asyncio.client import connect

from live.events import (
    Alert,
    AlertMessage,
    Change,
    FeedReport,
    GameReport,
    SnapshotMessage,
)
from live.feeds.game_timeline import PlannedIncident, timeline
from live.feeds.simulated_board_mistakes import MISTAKES, Mistake
from live.publish.access.tokens import new_token
from live.report.incident_report import as_csv
from live.service.desks import ENTRY, alerts_of, log_of
from live.store.journal_reader import JournalReader, RecordedNote
from tests.alerts.games import four_boards
from tests.service.answered_event import FEED, AnsweredEvent, left_behind
from tests.service.running import running

START_S = 1_750_000_000.0
TICK_S = 30.0


class Evening:
    """A hall with a journal whose clock is driven."""

    def __init__(self, path: Path, now_s: float) -> None:
        self.now_s = now_s
        self.hall = AnsweredEvent(path)
        self.hall.arbiter._clock = lambda: self.now_s
        assert self.hall.journal.journal is not None
        self.hall.journal.journal._now_ms = lambda: round(self.now_s * 1000)
        self.raised: list[Alert] = []
        self.hall.listen(self._hear)

    def _hear(self, changes: object) -> None:
        told: list[Change] = list(changes)  # type: ignore[call-overload]
        self.raised += (
            each.alert
            for each in told
            if isinstance(each, AlertMessage) and not each.alert.cleared_s
        )

    def tick(self, now_s: float) -> None:
        self.now_s = now_s
        self.hall.answer_all()
        self.hall.arbiter.tick()

    async def tell(self, game: GameReport) -> None:
        await self.hall.take(FeedReport(FEED, (game,)))

    def flush(self) -> None:
        self.hall.flush()


def acts(evening: Evening, chance: random.Random) -> None:
    """What arbiters do."""
    arbiter, alerts = evening.hall.arbiter, evening.hall.arbiter.alerts()
    if not alerts or chance.random() > 0.25:
        return
    alert, on = chance.choice(list(alerts)), chance.random() < 0.7
    match chance.randrange(7):
        case 0 | 1:
            arbiter.acknowledge(alert.id, f"note {chance.randrange(100)}")
        case 2:
            arbiter.note(alert.id, chance.choice(["looked at", "<b>; =1+1", ""]))
        case 3:
            arbiter.mute_kind(alert.kind, on)
        case 4:
            arbiter.mute_board(alert.game or "", on)
        case 5:
            arbiter.mute(alert.id, on)
        case _:
            arbiter.enter(f"entry {chance.randrange(100)}: draw offer disputed", alert.game)


def log_rows(evening: Evening) -> str:
    """The incident log as it is exported, to the second."""
    return as_csv(evening.hall.arbiter.incidents(), dt.UTC)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
async def test_law_a_restart_at_any_moment_changes_nothing_that_arbiters_are_told(
    seed: int, tmp_path: Path
) -> None:
    """Four boards with many mistakes. Whenever the service is killed, the one that comes after it
    shows the same alerts, and goes on as it would have.
    """
    chance = random.Random(seed)
    games = [msgspec.structs.replace(game, moves=game.moves[:40]) for game in four_boards()]
    kinds: tuple[Literal["slip", "takeback"] | Mistake, ...] = ("slip", "takeback", *MISTAKES)
    wrong = [
        PlannedIncident(chance.choice(kinds), board, chance.randrange(8, 38))
        for board in range(4)
        for _ in range(3)
    ]
    moments = timeline(games, incidents=wrong)
    kill = chance.randrange(len(moments) // 2, len(moments) * 5 // 6)
    path = tmp_path / "journal.sqlite"
    now = Evening(path, START_S)
    with contextlib.ExitStack() as open_journals:
        open_journals.enter_context(now.hall.journal.opened(now.hall.config))
        await now.hall.restore()
        evenings = [now]
        for index, moment in enumerate(moments):
            while now.now_s + TICK_S < START_S + moment.at_s:
                at_s = now.now_s + TICK_S
                for evening in evenings:
                    evening.tick(at_s)
                assert shown(evenings[-1]) == shown(now), f"{at_s - START_S:.0f} s"
                if index < kill:
                    acts(now, chance)
            for evening in evenings:
                evening.tick(START_S + moment.at_s)
                await evening.tell(moment.report)
            assert shown(evenings[-1]) == shown(now), index
            if index == kill:
                now.flush()
                after = Evening(left_behind(path, tmp_path, "killed"), now.now_s)
                open_journals.enter_context(after.hall.journal.opened(after.hall.config))
                await after.hall.restore()
                assert shown(after) == shown(now) and not after.raised
                assert after.hall.arbiter.history() == now.hall.arbiter.history()
                assert log_rows(after) == log_rows(now)
                evenings.append(after)
                before = len(now.raised)
        assert evenings[1].raised == now.raised[before:], "and nothing was said that was not news"
        assert log_rows(evenings[1]) == log_rows(now)
        assert before > 2


def shown(evening: Evening) -> list[Alert]:
    return list(evening.hall.arbiter.alerts())


#: A service in whose terminal an arbiter writes, and which is killed at once.
FIRST_LIFE = """
import asyncio, os, signal, sys
from pathlib import Path
from live.config import load_config
from live.events import FeedReport
from live.feeds.pgn.pgn_decoder import PgnReader
from live.service.event_service import EventService
from live.service.event_journal import EventJournal

async def live(pgn, journal):
    config = load_config(None, {}, {"engine.nodes": 1, "engine.engines": 1})
    hall = EventService(config, EventJournal(journal))
    async with hall.with_engine(feeds=[str(pgn)]):
        games = tuple(PgnReader().read(pgn.read_bytes(), closed=True))
        await hall.take(FeedReport(str(pgn), games, complete=True))
        (alert,) = hall.arbiter.alerts()
        hall.arbiter.acknowledge(alert.id, "phoned the operator")
        assert hall.journal.journal.flush()
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(live(*map(Path, sys.argv[1:])))
"""


@pytest.mark.slow
@pytest.mark.whole
async def test_what_an_arbiter_wrote_is_shown_again_by_a_service_that_was_killed(
    tmp_path: Path,
) -> None:
    pgn, journal = tmp_path / "games.pgn", tmp_path / "journal.sqlite"
    pgn.write_text('[White "A"]\n[Black "B"]\n[Result "*"]\n\n1. e4 e5 2. Qh9 *\n')
    secret, entry = new_token("arbiter", os.urandom, arbiter=True)
    (tmp_path / "tokens.toml").write_text(entry)
    (tmp_path / "config.toml").write_text(
        "[server]\nport = 0\ntokens_file = 'tokens.toml'\n[engine]\nnodes = 1\nengines = 1\n"
    )
    first = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FIRST_LIFE, str(pgn), str(journal)),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert await first.wait() == -signal.SIGKILL
    told = recorded(journal)
    assert {alert.id for alert in told} == {told[0].id}
    assert (told[0].note, told[0].acknowledged_s) == ("", None)
    assert told[-1].note == "phoned the operator" and told[-1].acknowledged_s is not None
    for _ in range(2):
        async with running(
            "--feed", str(pgn), "--headless", "--journal", str(journal), cwd=tmp_path
        ) as service:
            url = f"ws://{await service.address()}/v2/live?token={secret}"
            async with connect(url, max_size=None) as socket:
                await socket.recv()
                snapshot = msgspec.json.decode(await socket.recv(), type=SnapshotMessage)
                assert snapshot.alerts == (told[-1],)
                # The source has told its game again, and a tick has gone by.
                await service.says("restored")
                async for text in socket:
                    if b'"alert"' in (data := text if isinstance(text, bytes) else text.encode()):
                        raise AssertionError(data)
                    if b'"type":"health"' in data and b'"live"' in data:
                        break
                await asyncio.sleep(1.2)  # the desk looks once a second
            assert await service.ends(signal.SIGKILL) == -signal.SIGKILL
        assert "alert raised" not in service.said
    assert recorded(journal) == told, "and it is not in the journal a second time"


def recorded(journal: Path) -> list[Alert]:
    with JournalReader.open(journal) as reader:
        return alerts_of(reader.notes())


def test_a_damaged_record_of_the_log_is_left_out_and_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    good = RecordedNote(1, 1000, 1, "", ENTRY, b'{"text":"first"}')
    bad = RecordedNote(2, 2000, 1, "", ENTRY, b"{")
    assert [each.text for each in log_of([good, bad]).incidents()] == ["first"]
    assert "record 2 of the incident log cannot be read" in caplog.text
