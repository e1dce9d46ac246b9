"""What a killed service left on the disk is what it held, up to some moment before the kill."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import deque
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.config import load_config
from live.engine.process.engine_process import EngineIdentity
from live.engine.search import Search, SearchResult
from live.events import FeedReport, GameReport
from live.games.game import Game
from live.ledger.game_evaluations import RequestId
from live.ledger.outgoing_messages import Urgency
from live.publish.export.analysis_json import Analysis, analysis
from live.service.event_journal import EventJournal
from live.service.event_service import EventService
from tests.games.told import told
from tests.ledger.arithmetic import answer, line

FEED = "test"
PAIRS = ("Anna Adams-Boris Berg", "Clara Coy-Dora Dahl")
MOVES = line(*range(3, 43))


class Arithmetic:
    """A room whose every answer is known, as after a restart with all results in the journal."""

    identity = EngineIdentity("arithmetic", ())

    def known(self, search: Search) -> SearchResult:
        return answer(search)


class ArithmeticHall(EventService):
    """Answers at once what is asked."""

    def __init__(self, path: Path) -> None:
        super().__init__(load_config(None, {}, {}), EventJournal(path))
        self._asked: deque[tuple[Search, RequestId]] = deque()
        self.open_ledger("arithmetic", "1 look")

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        if not self.journal.answers(search, request_id):
            self._asked.append((search, request_id))

    def drop(self, request_id: RequestId) -> None:
        pass

    async def restore(self) -> None:
        await self.bring_back(Arithmetic(), "1 look", [FEED])

    def answer_all(self) -> None:
        while self._asked:
            search, request_id = self._asked.popleft()
            self.state.searched(request_id, answer(search))


def confirmed(whole: Analysis) -> Analysis:
    games = tuple(msgspec.structs.replace(game, restored=False) for game in whole.games)
    return msgspec.structs.replace(whole, games=games)


async def restored(path: Path) -> tuple[list[Game], Analysis]:
    """What another process finds."""
    service = ArithmeticHall(path)
    with service.journal.opened(service.config):
        await service.restore()
        service.answer_all()
        return list(service.state.held()), confirmed(analysis(service.state))


def left_behind(path: Path, folder: Path, name: str) -> Path:
    """The files as a kill at this moment leaves them."""
    copy = folder / f"{name}.sqlite"
    # The log first: it is folded into the file, never the other way round.
    for suffix in ("-wal", ""):
        if (source := path.with_name(path.name + suffix)).exists():
            shutil.copy(source, copy.with_name(copy.name + suffix))
    return copy


reports = st.lists(
    st.tuples(st.sampled_from(PAIRS), st.integers(0, 20), st.sampled_from(["*", "*", "1-0"])),
    max_size=2,
    unique_by=lambda each: each[0],
)


@pytest.mark.slow
@given(st.data())
@settings(deadline=None, max_examples=12)
def test_law_what_a_kill_leaves_is_what_was_held(data: st.DataObject) -> None:
    async def scenario(folder: Path) -> None:
        path = folder / "journal.sqlite"
        service = ArithmeticHall(path)
        with service.journal.opened(service.config):
            await service.restore()
            journal = service.journal.journal
            assert journal is not None
            moments: list[list[Game]] = [[]]
            for number in range(data.draw(st.integers(1, 6))):
                games = tuple(report(*each) for each in data.draw(reports))
                for step in service.state.plan(FeedReport(FEED, games, complete=True)):
                    service.state.apply(step)
                    service.journal.applied(step)
                    moments.append(list(service.state.held()))
                if data.draw(st.booleans()):
                    service.answer_all()
                if data.draw(st.booleans()):
                    service.journal.look_after(service.state, service.state.feed_health)
                if data.draw(st.booleans()):
                    # Between two commits: some moment that was, not a mixture.
                    games_then, _ = await restored(left_behind(path, folder, f"early{number}"))
                    assert games_then in moments
                assert journal.flush()
                service.answer_all()
                games_now, whole = await restored(left_behind(path, folder, f"late{number}"))
                assert games_now == list(service.state.held())
                assert whole == confirmed(analysis(service.state))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


def report(pair: str, plies: int, result: str) -> GameReport:
    game = told(pair, event="Open")
    return msgspec.structs.replace(game, moves=MOVES[:plies], result=result)


def test_games_come_back_in_the_order_they_appeared(tmp_path: Path) -> None:
    first, second = PAIRS[:2]

    async def scenario() -> None:
        path = tmp_path / "journal.sqlite"
        service = ArithmeticHall(path)
        with service.journal.opened(service.config):
            await service.restore()
            journal = service.journal.journal
            assert journal is not None
            # The second game is kept whole; of the first there are steps alone.
            for lengths in ((7, 18), (14, 0)):
                games = (report(first, lengths[0], "*"), report(second, lengths[1], "*"))
                for step in service.state.plan(FeedReport(FEED, games, complete=True)):
                    service.state.apply(step)
                    service.journal.applied(step)
                service.journal.look_after(service.state, service.state.feed_health)
                assert journal.flush()
                service.answer_all()
            games_now, _ = await restored(left_behind(path, tmp_path, "late"))
            assert games_now == list(service.state.held())

    asyncio.run(scenario())
