"""What drills share: real games, ``live-rate`` in a process of its own to be killed,
who follows it and asks it, what it should have come to, and how values differ.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import chain
from pathlib import Path
from typing import Any

import chess
import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidHandshake, WebSocketException

from live.commands.read_settings import read_settings
from live.messages.from_sources import FeedReport, GameReport
from live.messages.to_clients import HelloMessage, Message, SnapshotMessage
from live.server.filtered_reader import snapshot
from live.server.reference_client import OutOfStep, ReferenceClient
from live.sources.pgn_decoder import PgnReader
from tests.event.answered_event import open_service
from tests.games.short_reports import change_headers
from tests.server.mosquitto import free_port as free_port
from tests.server.serving import bearer

DATA = Path(__file__).parent.parent / "data"
SOURCES = ("lichess-open-2025.pgn", "four-boards.pgn", "otb-2024-25.pgn")


def numbers(*defaults: float) -> list[int]:
    """Those of the command line, and the defaults of those that are not given."""
    given = [int(word) for word in sys.argv[1:]]
    return [*given, *map(int, defaults[len(given) :])]


def resident_mb(pid: int | str = "self", field: str = "VmRSS") -> float:
    """Memory of a process, MB: now, or its peak (``VmHWM``). 0 of one that has ended.

    The peak of :mod:`resource` begins with that of the process that started this one.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    _, _, figure = status.partition(f"{field}:")
    return int(figure.split()[0]) / 1024 if figure else 0.0


def toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """A file of settings."""
    lines = []
    for table, values in tables.items():
        lines += [
            f"[{table}]",
            *(f"{key} = {json.dumps(each)}" for key, each in values.items()),
        ]
    return "\n".join(lines)


def boards(count: int) -> list[GameReport]:
    """Real games, as often as needed, each time of other players."""
    texts = ((DATA / source).read_bytes() for source in SOURCES)
    games = (PgnReader().read_text(text, closed=True) for text in texts)
    found = [
        game
        for game in chain.from_iterable(games)
        if len(game.moves) > 20 and game.start_fen == chess.STARTING_FEN
    ]
    made = []
    for board in range(count):
        game = msgspec.structs.replace(found[board % len(found)], key=f"board{board}")
        white, black = (
            msgspec.structs.replace(player, name=f"{side} {board}", fide_id=None)
            for side, player in (
                ("White", game.headers.white),
                ("Black", game.headers.black),
            )
        )
        about = {"event": f"Event {board % 4}", "round": "1", "board": board + 1}
        made.append(change_headers(game, white=white, black=black, **about))
    return made


class DrilledService:
    """One service over all its lives, in a folder; what it says is in ``log``."""

    def __init__(
        self, folder: Path, *words: str, env: Mapping[str, str] | None = None
    ) -> None:
        """``words`` of the command line; ``env`` comes to the environment."""
        self.folder = folder
        self.log = folder / "service.log"
        self.words = words
        self._env = {**os.environ, "OMP_NUM_THREADS": "1", **(env or {})}
        self.process: asyncio.subprocess.Process | None = None

    async def run(self, *words: str, **streams: Any) -> asyncio.subprocess.Process:
        """``live-rate`` with these words, in its folder."""
        python = (sys.executable, "-c", "from live.cli import main; main()")
        return await asyncio.create_subprocess_exec(
            *python, *words, cwd=self.folder, env=self._env, **streams
        )

    async def start(self, **streams: Any) -> None:
        """A new life."""
        with self.log.open("ab") as log:
            self.process = await self.run(
                *self.words, **{"stdout": log, "stderr": log, **streams}
            )

    async def end(self, number: signal.Signals) -> None:
        """Send the signal, and wait for the end."""
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)
        async with asyncio.timeout(60):
            await self.process.wait()

    async def kill(self) -> None:
        """The end of it, without warning."""
        await self.end(signal.SIGKILL)


class Follower:
    """A websocket that comes back after each end, and applies what it is sent."""

    def __init__(self, port: int, token: str = "", *, resumes: bool = False) -> None:
        """``resumes``: comes back with what it holds, and not for a snapshot."""
        self._address = f"ws://127.0.0.1:{port}/v3/live"
        self._headers = bearer(token) if token else {}
        self._resumes = resumes
        self.state = ReferenceClient()
        self.here = asyncio.Event()
        """Set while it holds what this life of the service has told it."""
        self.out_of_step = 0

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            hello, seq, query = self.state.hello, self.state.seq, ""
            if self._resumes and hello is not None and seq is not None:
                query = f"?epoch={hello.epoch}&since={seq}"
            else:
                self.state = ReferenceClient()
            with contextlib.suppress(OSError, WebSocketException, InvalidHandshake):
                async with connect(
                    self._address + query,
                    additional_headers=self._headers,
                    compression=None,
                    max_size=None,
                ) as socket:
                    async for text in socket:
                        try:
                            message = self.state.receive(text)
                        except OutOfStep as error:
                            self.lost(error)
                            break
                        if not isinstance(message, HelloMessage):
                            self.here.set()
                        self.take(message)
            self.here.clear()
            await asyncio.sleep(0.05)

    def take(self, message: Message) -> None:
        """What it was sent, for those who look closer; the state has taken it."""

    def lost(self, error: OutOfStep) -> None:
        """A message could not follow from what it held."""
        self.out_of_step += 1
        self.state = ReferenceClient()


async def get(port: int, path: str, token: str = "") -> tuple[int, bytes]:
    """Status and body of an answer; 0 where there is none."""
    headers = bearer(token) if token else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)

    def ask() -> tuple[int, bytes]:
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, b""
        except OSError:
            return 0, b""

    return await asyncio.to_thread(ask)


async def until(holds: Callable[[], bool], patience_s: float) -> bool:
    """Wait until it holds, as long as there is patience; whether it does."""
    deadline_s = time.monotonic() + patience_s
    while True:
        if holds():
            return True
        if time.monotonic() > deadline_s:
            return False
        await asyncio.sleep(0.2)


@contextlib.asynccontextmanager
async def run_tasks(
    *parts: Awaitable[None],
) -> AsyncIterator[Sequence[asyncio.Future[None]]]:
    """Tasks that run as long as the block does."""
    tasks = [asyncio.ensure_future(part) for part in parts]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end


async def run_undisturbed(
    games: Sequence[GameReport], settings: Mapping[str, object]
) -> SnapshotMessage:
    """What one run without any trouble makes of the games, once it knows the engine."""
    async with open_service(read_settings(None, {}, settings)) as event:
        await event.take(FeedReport("file", tuple(games), complete=True))
        await event.settled()
        await event.measuring.run()
        return snapshot(event.state)


def differences(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """Where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differences(one.get(key), other.get(key), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{place}[{number}]")
    elif one != other:
        yield f"{place}: {str(one)[:200]} / {str(other)[:200]}"
