"""The rehearsal's bytes, against what lichess documents of its own."""

from __future__ import annotations

import asyncio
from itertools import chain, repeat

import httpx
import msgspec
import pytest

from live.config import FeedsConfig
from live.events import Score
from live.feeds.open_feed import open_feed
from live.rehearse.rehearsal import GOOD, ConnectionFaults
from live.rehearse.web_servers import (
    PATH,
    ROUND_ID,
    LichessRehearsal,
    PgnUrlRehearsal,
)
from tests.feeds.fakes import (
    DATA,
    DrivenClock,
    Ledger,
    conditions,
    decode,
    running,
    substance,
    until,
)

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
STREAM = f"/api/stream/broadcast/round/{ROUND_ID}.pgn"


class Listener:
    """A client that keeps every byte."""

    def __init__(self, rehearsal: LichessRehearsal) -> None:
        self.rehearsal = rehearsal
        self.text = b""

    async def listen(self, origin: str) -> None:
        async with httpx.AsyncClient() as client, client.stream("GET", origin + STREAM) as answer:
            assert answer.headers["content-type"] == "application/x-chess-pgn"
            async for chunk in answer.aiter_bytes():
                self.text += chunk


async def test_a_burst_then_whole_games_two_blank_lines_and_a_space_for_silence() -> None:
    clock = DrivenClock()
    rehearsal = LichessRehearsal(GAMES, clock=clock)
    begun = msgspec.structs.replace(GAMES[0], moves=GAMES[0].moves[:2], result="*")
    rehearsal.show(0, msgspec.structs.replace(begun, moves=()))
    rehearsal.show(1, GAMES[1])
    listener = Listener(rehearsal)
    async with rehearsal.serving() as spec:
        origin = spec.removeprefix("lichess+").partition("/broadcast")[0]
        task = asyncio.create_task(listener.listen(origin))
        await until(lambda: listener.text.count(b"\n\n\n") == 2)
        assert b"\n\n *\n\n\n[Event" in listener.text
        burst = len(listener.text)
        await until(lambda: clock.next_deadline_s is not None)
        assert clock.next_deadline_s == 60.0
        await clock.expire()
        await until(lambda: len(listener.text) == burst + 1)
        assert listener.text[burst:] == b" "
        rehearsal.show(0, begun)
        await until(lambda: listener.text.endswith(b"\n\n\n"))
        resent = listener.text[burst + 1 :].decode()
        assert resent.startswith('[Event "') and resent.count("[Event") == 1
        assert resent.splitlines()[-3].startswith("1. ")
        assert resent.endswith(" *\n\n\n")
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_slow_listener_gets_the_latest_of_each_game() -> None:
    """What nobody could read in between is not kept: memory stays bounded."""
    rehearsal = LichessRehearsal(GAMES, fates=chain([ConnectionFaults(cuts=(50,))], repeat(GOOD)))
    ledger, clock = Ledger(), DrivenClock()
    async with rehearsal.serving() as spec:
        feed = open_feed(spec, FeedsConfig(), conditions=conditions(clock=clock), env={})
        async with running(feed, ledger):
            await rehearsal.connected.wait()
            for ply in range(40):  # no waiting in between
                rehearsal.show(0, msgspec.structs.replace(GAMES[0], moves=GAMES[0].moves[:ply]))
            rehearsal.show(0, GAMES[0])
            await until(lambda: len(next(iter(ledger.games.values()), GAMES[0]).moves) > 0)
            await until(
                lambda: [substance(g) for g in ledger.games.values()] == [substance(GAMES[0])]
            )
    assert len(ledger.reports) < 40


def test_a_round_is_written_as_lichess_writes_it() -> None:
    """The rehearsal had no broadcast tags, and evaluations during play (audit, row 14)."""
    rehearsal = LichessRehearsal(GAMES)
    scored = tuple(msgspec.structs.replace(move, eval=Score(20)) for move in GAMES[0].moves)
    rehearsal.show(0, msgspec.structs.replace(GAMES[0], moves=scored, result="*"))
    running = rehearsal.final_pgn()
    for tag in ("BroadcastName", "BroadcastURL", "UTCDate", "GameURL"):
        assert f'[{tag} "'.encode() in running
    assert b"%clk" in running and b"%eval" not in running
    rehearsal.show(0, msgspec.structs.replace(GAMES[0], moves=scored, result="1-0"))
    assert b"%eval" in rehearsal.final_pgn()


async def test_the_page_has_an_etag_and_is_not_sent_twice() -> None:
    site = PgnUrlRehearsal(GAMES)
    site.show(0, GAMES[0])
    async with site.serving() as url, httpx.AsyncClient() as client:
        assert url.endswith(PATH)
        first = await client.get(url)
        tag = first.headers["etag"]
        again = await client.get(url, headers={"If-None-Match": tag})
        weak = await client.get(url, headers={"If-None-Match": f"W/{tag}"})
        assert (first.status_code, again.status_code, weak.status_code) == (200, 304, 304)
        assert again.content == b""
        site.show(0, msgspec.structs.replace(GAMES[0], result="1/2-1/2"))
        changed = await client.get(url, headers={"If-None-Match": tag})
        assert changed.status_code == 200 and changed.headers["etag"] != tag
        assert (await client.get(url + "x")).status_code == 404
