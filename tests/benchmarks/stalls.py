"""How long hostile or large sources hold up everybody else: the longest turn of the
event loop, and what a good client feels, who opens a new connection for ``/healthz``
every 40 ms.

    python -m tests.benchmarks.stalls [--package FOLDER] [--only renames,shuffle]
                                      [--seconds 40] [--where]

The service is the command line's in a process of its own, each attack by itself with a
source made here. ``--package`` takes the service from another checkout, so that two
versions are compared. ``--where`` tells where the loop was in the longest turn of all,
the start included. A turn is what the loop does between two looks at its sockets: its
length on the clock, where other programs count too, and in processor time of the loop's
own thread. On a quiet machine none should be longer than 50 ms.
"""

# ruff: noqa: T201 - its output is what it is for
import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import signal
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import chess

from live.rehearse.web_server import ServedReply, ServedRequest, serve_http
from tests.benchmarks.drills import free_port, until

PROBE_S = 0.04
#: Shorter turns are nothing to look at, seconds.
LONG_S = 0.02
BOARDS, STILL = 200, 1_500
SHUFFLE = 1_200
LINES = 997

#: Comes before the command line: notes how long each turn of the main thread's loop
#: was.
_WATCHED = """
import json, selectors, sys, threading, time
from collections import Counter
file, long_s, where = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "1"
main, began, turns = threading.get_ident(), [0.0, 0.0], []
found, longest_s, longest = Counter(), 0.0, []
kind = type(selectors.DefaultSelector())
select = kind.select
def watched(self, timeout=None):
    if threading.get_ident() != main:
        return select(self, timeout)
    global found, longest_s, longest
    wall, own = time.perf_counter() - began[0], time.thread_time() - began[1]
    if began[0] and wall >= long_s:
        turns.append((time.time(), wall, own))
        if own > longest_s:
            longest_s, longest = own, found.most_common(12)
    found = Counter()
    began[0] = 0.0
    ready = select(self, timeout)
    began[:] = time.perf_counter(), time.thread_time()
    return ready
kind.select = watched
def look():
    while True:
        time.sleep(0.005)
        if began[0] and time.perf_counter() - began[0] > long_s:
            frame, names = sys._current_frames().get(main), []
            while frame is not None and len(names) < 4:
                path = frame.f_code.co_filename
                if "/live/" in path:
                    names.append(f"{path.split('/live/')[-1]}:{frame.f_code.co_name}")
                frame = frame.f_back
            found[" < ".join(names)] += 1
def keep():
    while True:
        time.sleep(0.5)
        with open(file, "w") as out:
            json.dump([list(turns), longest], out)
for each in (keep, *((look,) if where else ())):
    threading.Thread(target=each, daemon=True).start()
sys.argv = ["live-rate", *sys.argv[4:]]
from live.cli import main as command
command()
"""


class Attack(NamedTuple):
    """A source that may hold others up."""

    name: str
    about: str
    source: Callable[[Path], contextlib.AbstractAsyncContextManager[str]]
    """Serves it; gives what to follow."""


# --- the sources ----------------------------------------------------------------------


def random_lines(count: int, plies: int) -> list[str]:
    """Games that nobody would play, each another one."""
    found = []
    for seed in range(count):
        chance, board, words = random.Random(seed), chess.Board(), list[str]()
        while len(words) < plies and not board.is_game_over():
            move = chance.choice(list(board.legal_moves))
            words.append(board.san(move))
            board.push(move)
        found.append(" ".join(words))
    return found


def game(white: str, black: str, board: int, line: str) -> str:
    tags = {
        "Event": "Drill",
        "Round": "1",
        "Board": board,
        "White": white,
        "Black": black,
    }
    head = "".join(f'[{name} "{value}"]\n' for name, value in tags.items())
    return f'{head}[WhiteElo "2200"]\n[BlackElo "2200"]\n\n{line} *\n\n'


@asynccontextmanager
async def pages(page: Callable[[int], bytes]) -> AsyncIterator[str]:
    """A PGN at an address, by how often it was asked for."""
    asked = itertools.count()

    async def answer(request: ServedRequest, reply: ServedReply) -> None:
        await reply.send_whole(
            200, page(next(asked)), {"Content-Type": "application/x-chess-pgn"}
        )

    async with serve_http(answer) as origin:
        yield f"{origin}/games.pgn"


@asynccontextmanager
async def renames(folder: Path) -> AsyncIterator[str]:
    lines = random_lines(LINES, 12)

    def page(asked: int) -> bytes:
        texts = []
        for board in range(BOARDS):
            line = lines[(asked * BOARDS + board) % LINES]
            texts.append(
                game(
                    f"White {asked} {board}", f"Black {asked} {board}", board + 1, line
                )
            )
        return "".join(texts).encode()

    async with pages(page) as address:
        yield address


@asynccontextmanager
async def still(folder: Path) -> AsyncIterator[str]:
    lines = random_lines(STILL, 30)
    file = folder / "still.pgn"
    texts = (
        game(f"White {at}", f"Black {at}", at + 1, line)
        for at, line in enumerate(lines)
    )
    file.write_text("".join(texts))
    yield str(file)


@asynccontextmanager
async def shuffle(folder: Path) -> AsyncIterator[str]:
    line = " ".join(
        itertools.islice(itertools.cycle(("Nf3", "Nf6", "Ng1", "Ng8")), SHUFFLE)
    )
    file = folder / "shuffle.pgn"
    file.write_text(game("White", "Black", 1, line))
    yield str(file)


@asynccontextmanager
async def broker(payloads: list[bytes]) -> AsyncIterator[str]:
    """As much of a broker as it takes to send these messages to a subscriber, one a
    second.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whoever looked on has gone.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            version = 4
            while True:
                kind, body = await mqtt_packet(reader)
                if kind == 1:
                    version = body[6]
                    writer.write(b"\x20\x03\0\0\0" if version == 5 else b"\x20\x02\0\0")
                elif kind == 8:
                    writer.write(
                        b"\x90" + (b"\x04" if version == 5 else b"\x03") + body[:2]
                    )
                    writer.write(b"\0\0" if version == 5 else b"\0")
                    for payload in payloads:
                        await asyncio.sleep(1)
                        topic = b"\0\x0ahall/drill" + (b"\0" if version == 5 else b"")
                        writer.write(
                            b"\x30" + mqtt_length(len(topic) + len(payload)) + topic
                        )
                        writer.write(payload)
                        await writer.drain()
                elif kind == 12:
                    writer.write(b"\xd0\0")
                elif kind == 14:
                    return

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"mqtt://127.0.0.1:{server.sockets[0].getsockname()[1]}/hall/#"


async def mqtt_packet(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Kind and body of the next one."""
    first, length, shift = (await reader.readexactly(1))[0], 0, 0
    while True:
        byte = (await reader.readexactly(1))[0]
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return first >> 4, await reader.readexactly(length)


def mqtt_length(size: int) -> bytes:
    """As MQTT writes it."""
    found = bytearray()
    while True:
        size, byte = divmod(size, 128)
        found.append(byte | (0x80 if size else 0))
        if not size:
            return bytes(found)


@asynccontextmanager
async def large_message(folder: Path) -> AsyncIterator[str]:
    async with broker([b"p" * 60_000_000, b" " * 60_000_000]) as address:
        yield address


@asynccontextmanager
async def many_moves(folder: Path) -> AsyncIterator[str]:
    moves = list(
        itertools.islice(itertools.cycle(("g1f3", "g8f6", "f3g1", "f6g8")), 250_000)
    )
    whole = json.dumps({"white": "A", "black": "B", "moves": moves}).encode()
    # A text takes a third of the bytes, and fits into what one message may have.
    text = json.dumps(
        {"white": "C", "black": "D", "moves": " ".join(moves)[:1_000_000]}
    ).encode()
    async with broker([whole, text]) as address:
        yield address


@asynccontextmanager
async def bombs(folder: Path) -> AsyncIterator[str]:
    """LiveChess that sends messages of 1 MB without a pause, deflated to 1 kB where it
    may.
    """
    text = b'{"response":"feed","id":1,"param":{"' + b" " * 1_000_000 + b'":1}}'
    deflate = zlib.compressobj(9, wbits=-15)
    packed = deflate.compress(text) + deflate.flush(zlib.Z_SYNC_FLUSH)
    packed = packed.removesuffix(b"\0\0\xff\xff")

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            fields = dict(
                line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
            )
            named = {name.lower(): value for name, value in fields.items()}
            if "sec-websocket-key" not in named:
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                writer.close()
                return
            from websockets.utils import accept_key

            takes = "permessage-deflate" in named.get("sec-websocket-extensions", "")
            writer.write(
                (
                    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                    b"Connection: Upgrade\r\n"
                )
                + (
                    "Sec-WebSocket-Accept: "
                    f"{accept_key(named['sec-websocket-key'])}\r\n"
                ).encode()
                + (
                    b"Sec-WebSocket-Extensions: permessage-deflate\r\n"
                    if takes
                    else b""
                )
                + b"\r\n"
            )
            payload, first = (packed, 0xC1) if takes else (text, 0x81)
            size = len(payload)
            length = (
                b"\x7e" + size.to_bytes(2)
                if size < 65_536
                else b"\x7f" + size.to_bytes(8)
            )
            while True:
                writer.write(bytes([first]) + length + payload)
                await writer.drain()
                await asyncio.sleep(0)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/api/v1.0"


ATTACKS = (
    Attack("bombs", "F3: LiveChess floods with messages of 1 MB", bombs),
    Attack("renames", f"F4: {BOARDS} boards renamed at each poll", renames),
    Attack("still", f"F4: {STILL} boards that stand still", still),
    Attack("large", "F5: MQTT messages of 60 MB", large_message),
    Attack("moves", "F6: 250,000 moves in one message", many_moves),
    Attack("shuffle", f"F7: {SHUFFLE} plies of Nf3 Nf6 Ng1 Ng8", shuffle),
)


# --- the drill ------------------------------------------------------------------------


def probe(port: int, seconds: float) -> None:
    """A good client, in a process of its own; prints how long each answer took, or
    null.
    """
    took: list[float | None] = []
    until_s = time.monotonic() + seconds
    while (began := time.monotonic()) < until_s:
        try:
            urllib.request.urlopen(
                f"http://127.0.0.1:{port}/healthz", timeout=20
            ).read()
            took.append(1000 * (time.monotonic() - began))
        except OSError:
            took.append(None)
        time.sleep(max(0.0, PROBE_S - (time.monotonic() - began)))
    print(json.dumps(took))


class Found(NamedTuple):
    """What one attack did."""

    longest_ms: float
    longest_own_ms: float
    answers_ms: list[float]
    failed: int
    end_s: float
    where: list[tuple[str, int]]


def listens(port: int) -> bool:
    """Whether anybody can connect."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", port), timeout=1),
    ):
        return True
    return False


async def output_of(*words: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.benchmarks.stalls",
        *words,
        stdout=asyncio.subprocess.PIPE,
    )
    return (await process.communicate())[0]


async def run(attack: Attack, package: Path, seconds: float, where: bool) -> Found:
    """One service under one attack."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = folder / "drill.toml"
        settings.write_text(
            "[feeds]\npoll_s = 1.0\n[engine]\nengines = 1\nnodes = 300\n"
        )
        notes, port = folder / "turns.json", free_port()
        async with attack.source(folder) as address:
            words = (
                "--config",
                str(settings),
                "--headless",
                "--no-journal",
                "--port",
                str(port),
            )
            with (folder / "log").open("wb") as log:
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-c",
                    _WATCHED,
                    str(notes),
                    str(LONG_S),
                    str(int(where)),
                    *words,
                    "--feed",
                    address,
                    cwd=folder,
                    env=os.environ | {"PYTHONPATH": str(package)},
                    stdout=log,
                    stderr=log,
                )
            try:
                if not await until(
                    lambda: listens(port) or process.returncode is not None, 120
                ):
                    sys.exit((folder / "log").read_text()[-2000:])
                began_s = time.time()
                took = json.loads(await output_of("probe", str(port), str(seconds)))
                if process.returncode is not None:
                    sys.exit((folder / "log").read_text()[-2000:])
                turns, places = json.loads(notes.read_text())
                ends_s = time.monotonic()
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(30):
                        await process.wait()
                end_s = time.monotonic() - ends_s
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
    during = [(wall, own) for at, wall, own in turns if at >= began_s]
    answers = [each for each in took if each is not None]
    return Found(
        1000 * max((wall for wall, _ in during), default=0.0),
        1000 * max((own for _, own in during), default=0.0),
        answers,
        len(took) - len(answers),
        end_s,
        [(each, count) for each, count in places],
    )


def table(found: dict[str, Found]) -> Iterator[str]:
    """A row for each attack."""
    heads = (
        "turn ms",
        "own ms",
        "p50 ms",
        "p99 ms",
        "max ms",
        "answers",
        "failed",
        "end s",
    )
    yield f"{'':44}" + "".join(f"{head:>9}" for head in heads)
    for name, each in found.items():
        sorted_ms = sorted(each.answers_ms) or [float("nan")]
        p99 = sorted_ms[min(len(sorted_ms) - 1, int(0.99 * len(sorted_ms)))]
        values = (
            each.longest_ms,
            each.longest_own_ms,
            statistics.median(sorted_ms),
            p99,
            sorted_ms[-1],
            len(each.answers_ms),
            each.failed,
        )
        row = "".join(f"{value:9.0f}" for value in values)
        yield f"{name:44}{row}{each.end_s:9.1f}"


async def drill(package: Path, only: list[str], seconds: float, where: bool) -> None:
    found: dict[str, Found] = {}
    for attack in ATTACKS:
        if not only or attack.name in only:
            found[attack.about] = each = await run(attack, package, seconds, where)
            print(f"{attack.name}: longest turn {each.longest_ms:.0f} ms", flush=True)
            for place, count in each.where:
                print(f"    {5 * count:6} ms  {place}")
    print("\n".join(table(found)))


def main() -> None:
    if sys.argv[1:2] == ["probe"]:
        probe(int(sys.argv[2]), float(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path, default=Path(__file__).parents[2])
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--where", action="store_true")
    given = parser.parse_args()
    only = [word for word in given.only.split(",") if word]
    asyncio.run(drill(given.package.resolve(), only, given.seconds, given.where))


if __name__ == "__main__":
    main()
