"""The rehearsal's files, as LiveChess Cloud has them."""

from __future__ import annotations

import httpx
import msgspec

from tests.feeds.fakes import DATA, DrivenClock, decode
from tests.feeds.livechess_cloud_server import UUID, LiveChessCloudRehearsal

(GAME,) = decode((DATA / "four-boards.pgn").read_bytes())[:1]


async def test_clocks_of_a_running_game_have_fractions_and_the_time_they_were_read() -> None:
    """The rehearsal had a time that never changed (audit, row 14)."""
    moves = tuple(msgspec.structs.replace(move, clock_s=5400.5) for move in GAME.moves[:6])
    clock = DrivenClock()
    rehearsal = LiveChessCloudRehearsal([GAME], clock=clock)
    rehearsal.show(0, msgspec.structs.replace(GAME, moves=moves, result="*"))
    async with rehearsal.serving() as spec, httpx.AsyncClient() as client:
        origin = spec.removeprefix("livechess-cloud+").partition("/#")[0]
        times = []
        for now_s in (10.0, 25.0):
            clock.time_s = now_s
            answer = await client.get(f"{origin}/get/{UUID}/round-1/game-1.json")
            board = msgspec.json.decode(answer.content)
            assert board["clock"]["white"] == 5400.5
            assert board["moves"][0] == f"{GAME.moves[0].san} 5400"
            times.append(board["clock"]["time"])
        assert times[1] - times[0] == 15_000
        index = msgspec.json.decode(
            (await client.get(f"{origin}/get/{UUID}/round-1/index.json")).content
        )
        assert "rating" not in str(index)
