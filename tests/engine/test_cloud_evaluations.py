"""lichess cloud evaluations, asked of a server on this machine that answers as lichess does."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator

import pytest

from live.engine.cloud_evaluations import SOURCE, CloudEvaluations, told
from live.engine.search import Position, Search, SearchFailure, SearchProgress
from live.engine.search_queue import SearchKind, SearchPriority
from live.events import Score
from tests.engine.conftest import START, Desk

#: As lichess answers, for the Ruy Lopez; its scores are White's, whoever is to move.
RUY_LOPEZ = (
    b'{"fen":"r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",'
    b'"knodes":106325,"depth":40,"pvs":[{"moves":"g8f6 e1g1 f6e4 f1e1 e4d6","cp":29}]}'
)
NOT_FOUND = b'{"error":"No cloud evaluation available for that position"}'


class Lichess:
    """Answers one request after the other as told; remembers what was asked."""

    def __init__(self, *answers: tuple[int, bytes]) -> None:
        self.answers = list(answers)
        self.asked: list[bytes] = []
        self.heard = asyncio.Event()
        # Answers wait for it.
        self.hold = asyncio.Event()
        self.hold.set()

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                self.asked.append(head.split(b"\r\n", 1)[0])
                self.heard.set()
                await self.hold.wait()
                status, body = self.answers.pop(0)
                writer.write(
                    b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n%b" % (status, len(body), body)
                )
                await writer.drain()
        writer.close()


class Clock:
    """Time that only counts."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._news = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._news.set()
        await asyncio.sleep(0)  # others' turn

    async def rested(self, rests: int = 1) -> None:
        """Wait until it slept so often."""
        async with asyncio.timeout(30):
            while len(self.slept) < rests:
                self._news.clear()
                await self._news.wait()


def head(ply: int = 0) -> SearchPriority:
    return SearchPriority(SearchKind.HEAD, "a", ply)


@contextlib.asynccontextmanager
async def asking(lichess: Lichess, desk: Desk, clock: Clock) -> AsyncIterator[CloudEvaluations]:
    server = await asyncio.start_server(lichess.talk, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    cloud = CloudEvaluations(
        desk, f"http://127.0.0.1:{port}/", sleep=clock.sleep, random=random.Random(1).random
    )
    cloud.desk = desk
    task = asyncio.create_task(cloud.run())
    try:
        yield cloud
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        server.close()


RUY = Search(Position(START, ("e2e4", "e7e5", "g1f3", "b8c6", "f1b5")))


async def test_a_live_position_is_looked_up_and_shown_until_the_engine_is_done() -> None:
    desk, clock, lichess = Desk(), Clock(), Lichess((200, RUY_LOPEZ))
    async with asking(lichess, desk, clock) as cloud:
        cloud.submit(RUY, "ruy", head(5))
        assert [search for search, _ in desk.requested] == [RUY]
        await clock.rested()
        assert lichess.asked == [
            b"GET /api/cloud-eval?fen=r1bqkbnr%2Fpppp1ppp%2F2n5%2F1B2p3%2F4P3%2F5N2%2FPPPP1PPP"
            b"%2FRNBQK2R+b+KQkq+-+3+1 HTTP/1.1"
        ]
        assert desk.progress == [("ruy", SearchProgress(Score(29), 40, "lichess cloud"))]
        # Shallower ones of our own engine would take the better one away.
        cloud.progressed("ruy", SearchProgress(Score(12), 8))
        assert len(desk.progress) == 1
        cloud.searched("ruy", RUY, SearchFailure("for the test"))
        assert desk.order == ["ruy"]
        assert clock.slept == [1.0]


async def test_what_nobody_evaluated_changes_nothing_and_is_not_asked_twice() -> None:
    desk, clock, lichess = Desk(), Clock(), Lichess((404, NOT_FOUND), (200, RUY_LOPEZ))
    async with asking(lichess, desk, clock) as cloud:
        cloud.submit(RUY, "one", head())
        await clock.rested()
        cloud.progressed("one", SearchProgress(Score(12), 8))
        assert desk.progress == [("one", SearchProgress(Score(12), 8))]
        cloud.submit(RUY, "again", head())
        cloud.submit(Search(Position(START)), "other", head())
        await clock.rested(2)
        assert len(lichess.asked) == 2


async def test_an_answer_that_comes_too_late_is_not_told() -> None:
    desk, clock, lichess = Desk(), Clock(), Lichess((200, RUY_LOPEZ))
    lichess.hold.clear()
    async with asking(lichess, desk, clock) as cloud:
        cloud.submit(RUY, "ruy", head())
        await asyncio.wait_for(lichess.heard.wait(), 30)
        cloud.drop("ruy")
        lichess.hold.set()
        await clock.rested()
        assert desk.progress == []
        assert desk.dropped == ["ruy"]


async def test_too_many_requests_cost_a_minute_and_other_trouble_more_each_time() -> None:
    desk, clock, lichess = (
        Desk(),
        Clock(),
        Lichess((429, b""), (500, b""), (200, b"<html>"), (200, RUY_LOPEZ)),
    )
    async with asking(lichess, desk, clock) as cloud:
        for ply in range(4):
            search = Search(Position(START, ("e2e4", "e7e5", "g1f3", "b8c6")[:ply]))
            cloud.submit(search, ply, head(ply))
        await clock.rested(4)
    assert clock.slept[0] == 60.0
    assert 1.0 <= clock.slept[1] <= 3.0
    assert 1.0 <= clock.slept[2] <= 5.0
    assert clock.slept[3] == 1.0
    # The newest first.
    assert [b"w" in line.split(b"+")[1] for line in lichess.asked] == [False, True, False, True]


async def test_what_is_no_live_position_is_not_looked_up() -> None:
    desk, clock, lichess = Desk(), Clock(), Lichess((404, NOT_FOUND))
    async with asking(lichess, desk, clock) as cloud:
        cloud.submit(RUY, "backlog", SearchPriority(SearchKind.BACKLOG, "a", 5))
        cloud.submit(Search(RUY.position, only="g8f6"), "played", head(6))
        cloud.submit(Search(Position(START, (), chess960=True)), "960", head())
        cloud.submit(Search(Position(START)), "head", head())
        await clock.rested()
    assert len(lichess.asked) == 1
    assert len(desk.requested) == 4


@pytest.mark.parametrize(
    ("body", "progress"),
    [
        (
            b'{"depth":99,"pvs":[{"moves":"h5f7","mate":1}]}',
            SearchProgress(Score(3900, 1), 99, SOURCE),
        ),
        (
            b'{"depth":50,"pvs":[{"moves":"a2a1q","mate":-7}]}',
            SearchProgress(Score(-3900, -7), 50, SOURCE),
        ),
        (
            b'{"depth":50,"pvs":[{"moves":"a2a1q","cp":-7120}]}',
            SearchProgress(Score(-3900), 50, SOURCE),
        ),
        (b'{"depth":50,"pvs":[]}', None),
        (b'{"depth":50,"pvs":[{"moves":"e2e4"}]}', None),
    ],
)
def test_scores_are_ours(body: bytes, progress: SearchProgress | None) -> None:
    assert told(body) == progress


@pytest.mark.parametrize("body", [b"", b"[]", b'{"pvs":[{"cp":1}]}', b'{"depth":"x","pvs":[]}'])
def test_what_is_no_answer_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError):
        told(body)
