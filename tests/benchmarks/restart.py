"""From the start to the first correct snapshot, with a thousand games in the journal.

    python -m tests.benchmarks.restart [GAMES [PLIES]]

Makes a journal of GAMES (1000) finished games of about PLIES (80) plies over nine
rounds, scored by an engine made of arithmetic and kept whole, in one process. Then a
second process opens it as the service does, and tells how long it took until the games
stood again and until the first snapshot was encoded, its processor time, the longest
that the event loop was kept from other work, and its peak memory; the snapshot must be
that of before. Aims: 1.5 s, 180 MB, and for 56 games a snapshot of 300 kB as it is
sent.
"""

# ruff: noqa: T201 - its output is what it is for
import asyncio
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from live.engine.search import Search
from live.messages.from_sources import FeedReport, GameReport
from live.messages.to_clients import SnapshotMessage
from live.server.filtered_reader import snapshot
from live.server.stream_filter import EVERYTHING
from live.server.streams import StreamHub
from tests.benchmarks.drills import boards, numbers, resident_mb
from tests.event.answered_event import FEED, AnsweredEvent
from tests.event.arithmetic import answer
from tests.games.short_reports import change_headers

PLAYERS = 222


def _games(count: int, plies: int) -> list[GameReport]:
    """Real games, cut or as they are, each pairing another one of an open of nine
    rounds.
    """
    made = []
    for number, game in enumerate(boards(count)):
        turn, board = divmod(number, PLAYERS // 2)
        white, black = 2 * board, (2 * board + 1 + 2 * turn) % PLAYERS
        result = game.result if game.result != "*" else "1/2-1/2"
        cut = msgspec.structs.replace(game, moves=game.moves[:plies], result=result)
        one, other = (
            msgspec.structs.replace(player, name=f"Player {number:04}")
            for player, number in (
                (game.headers.white, white),
                (game.headers.black, black),
            )
        )
        place = {"round": f"{turn + 1}.{board + 1}", "board": board + 1}
        made.append(change_headers(cut, event="Open", white=one, black=other, **place))
    return made


def _event(path: Path) -> AnsweredEvent:
    return AnsweredEvent(path, answer, **{"engine.nodes": 1000})


def nothing_known(search: Search) -> None:
    """Nothing is known but what the journal has."""


def _digest(hall: AnsweredEvent) -> str:
    whole = snapshot(hall.state)
    games = tuple(msgspec.structs.replace(game, restored=False) for game in whole.games)
    data = msgspec.json.encode((games, whole.players, whole.engine))
    return f"{len(data) / 1e6:.0f} MB {hashlib.sha256(data).hexdigest()[:16]}"


async def fill(path: Path, count: int, plies: int) -> str:
    """Make the journal; gives what its snapshot is."""
    hall = _event(path)
    with hall.journal.opened(hall.config):
        await hall.restore(nothing_known)
        for number, game in enumerate(_games(count, plies)):
            await hall.take(FeedReport(FEED, (game,)))
            hall.answer_all()
            if number % 50 == 49:
                print(f"\r{number + 1} games", end="", file=sys.stderr, flush=True)
                await asyncio.to_thread(hall.flush)
        print(file=sys.stderr)
        while hall.journal._dirty:
            hall.journal.report_and_save(hall.inbox.health)
        return _digest(hall)


async def restart(path: Path) -> dict[str, Any]:
    """Open it as the service does."""
    began_s, began_cpu_s = time.monotonic(), time.process_time()
    hall = _event(path)
    with hall.journal.opened(hall.config):
        longest_s = 0.0
        done = asyncio.Event()

        async def feel() -> None:
            nonlocal longest_s
            while not done.is_set():
                before_s = time.monotonic()
                await asyncio.sleep(0)
                longest_s = max(longest_s, time.monotonic() - before_s)

        feeling = asyncio.create_task(feel())
        await asyncio.sleep(0)  # it begins now
        await hall.restore(nothing_known)
        restored_s = time.monotonic()
        hub = StreamHub(hall.state, epoch="", clock=time.monotonic)
        first = hub.snapshot(hub.open_stream(EVERYTHING))
        shown_s, shown_cpu_s = time.monotonic(), time.process_time()
        done.set()
        await feeling
        first.pack()
        found = {
            "games": hall.journal.restored,
            "restored_s": restored_s - began_s,
            "snapshot_s": shown_s - restored_s,
            "snapshot_mb": len(first.body) / 1e6,
            "deflated_kb": len(first.packed or b"") / 1e3,
            "longest_block_s": longest_s,
            "cpu_s": shown_cpu_s - began_cpu_s,
            "peak_mb": resident_mb(field="VmHWM"),
        }
        games = msgspec.json.decode(first.body, type=SnapshotMessage).games
        assert games == snapshot(hall.state).games
        return {**found, "digest": _digest(hall)}


def main() -> int:
    if sys.argv[1:2] == ["--restart"]:
        print(json.dumps(asyncio.run(restart(Path(sys.argv[2])))))
        return 0
    count, plies = numbers(1000, 80)
    with tempfile.TemporaryDirectory(prefix="restart-") as name:
        path = Path(name) / "journal.sqlite"
        digest = asyncio.run(fill(path, count, plies))
        print(f"{count} games, journal {path.stat().st_size / 1e6:.0f} MB")
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.restart", "--restart", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
    found = json.loads(done.stdout)
    equal = found.pop("digest") == digest
    for what, value in found.items():
        print(
            f"{what:16} {value:.3f}"
            if isinstance(value, float)
            else f"{what:16} {value}"
        )
    total_s = found["restored_s"] + found["snapshot_s"]
    print(f"first correct snapshot after {total_s:.2f} s (aim 1.5 s), equal: {equal}")
    print(f"peak memory {found['peak_mb']:.0f} MB (aim 180 MB)")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
