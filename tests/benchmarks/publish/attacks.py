"""What a good client feels while the service is attacked, and what memory the attack costs.

    python -m tests.benchmarks.publish.attacks [ATTACK …] [--seconds N] [--json FILE]

The attacks are those that an audit of version 0.2 found to work: bodies in one-byte chunks (h1),
small websocket frames after and before a token (h2a, h2b), TLS handshakes that never end (h4), a
filter of nothing on each of 512 websockets (m1), a source that answers in one-byte chunks (m3), 300
boards with the same moves (m8). Each runs against a service of its own, in its own process and on
loopback alone, for ``--seconds``; the good client asks for ``/healthz``, each time on a connection
of its own. Memory is the service's largest resident size (VmHWM), its engines left out.
"""

# ruff: noqa: T201 - its output is what it is for
# ruff: noqa: ASYNC220 - nothing is under way yet when a process is started
from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from tests.benchmarks.publish.drain import HANDSHAKE

SECONDS = 15.0
ATTACKERS = 20
#: Of TLS: connections begun, within the bound of files.
UNFINISHED = 5_000
FILTERS = 512
BOARDS = 300
#: What an attacker that does not read may send at most, bytes a connection.
MOST_BYTES = 50_000_000
CHUNK = b"1\r\na\r\n" * 20_000

Attack = Callable[[int, float], Coroutine[Any, Any, None]]


async def opened(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", port)


async def drained(reader: asyncio.StreamReader) -> None:
    with contextlib.suppress(OSError):
        while await reader.read(65_536):
            pass


class Handshakes:
    """As many as one address may make: 50 at once, then 5 a second."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()
        self._made = 0

    async def next(self) -> None:
        self._made += 1
        due_s = self._began_s + max(0, self._made - 50) / 5
        await asyncio.sleep(max(0.0, due_s - time.monotonic()))


async def flood(
    port: int,
    first: bytes,
    again: bytes,
    end_s: float,
    *,
    reads: bool,
    pace: Handshakes | None = None,
) -> None:
    """Send the same over and over, on a new connection whenever one ends."""
    while time.monotonic() < end_s:
        reading = None
        if pace is not None:
            await pace.next()
        try:
            reader, writer = await opened(port)
            reading = asyncio.create_task(drained(reader)) if reads else None
            writer.write(first)
            sent = 0
            while time.monotonic() < end_s and sent < MOST_BYTES and not writer.is_closing():
                writer.write(again)
                sent += len(again)
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + 5):
                    await writer.drain()
                if reading is not None and reading.done():
                    break
            writer.transport.abort()
        except (OSError, TimeoutError):
            pass
        if reading is not None:
            reading.cancel()
        await asyncio.sleep(0.02)


def handshake(port: int, path: str) -> bytes:
    return HANDSHAKE.format(path=path, host="127.0.0.1", port=port).encode()


async def h1(port: int, end_s: float) -> None:
    first = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    floods = (flood(port, first, CHUNK, end_s, reads=False) for _ in range(ATTACKERS))
    await asyncio.gather(*floods)


async def h2a(port: int, end_s: float) -> None:
    pace = Handshakes()
    first, pongs = handshake(port, "/v2/live"), b"\x8a\x80\0\0\0\0" * 20_000
    await asyncio.gather(
        *(flood(port, first, pongs, end_s, reads=True, pace=pace) for _ in range(ATTACKERS))
    )


async def h2b(port: int, end_s: float) -> None:
    pace = Handshakes()
    ping = b"\x89\xfd\0\0\0\0" + b"x" * 125
    first = handshake(port, "/v2/live?auth=message")
    await asyncio.gather(
        *(flood(port, first, ping * 1_000, end_s, reads=False, pace=pace) for _ in range(ATTACKERS))
    )


async def h4(port: int, end_s: float) -> None:
    held = []
    try:
        for number in range(UNFINISHED):
            if time.monotonic() > end_s:
                break
            sock = socket.socket()
            held.append(sock)
            sock.setblocking(False)
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(5):
                    loop = asyncio.get_running_loop()
                    await loop.sock_connect(sock, ("127.0.0.1", port))
                    await loop.sock_sendall(sock, b"\x16\x03\x01")
            if number % 50 == 0:
                await asyncio.sleep(0)
        await asyncio.sleep(max(0.0, end_s - time.monotonic()))
    finally:
        for sock in held:
            sock.close()


async def m1(port: int, end_s: float) -> None:
    held = []
    for number in range(FILTERS):
        if time.monotonic() > end_s:
            break
        reader, writer = await opened(port)
        writer.write(handshake(port, f"/v2/live?game=zz{number}"))
        held.append((writer, asyncio.create_task(drained(reader))))
        await asyncio.sleep(0.005)  # 200 a second, which is the bound of all together
    refused = 0
    for path in ("/v2/live", "/v2/live?board=1"):
        reader, writer = await opened(port)
        writer.write(handshake(port, path))
        refused += b" 101 " not in await reader.readline()
        writer.transport.abort()
    print(f"m1: of the page and a filter of a board, {refused} of 2 refused", file=sys.stderr)
    await asyncio.sleep(max(0.0, end_s - time.monotonic()))
    for writer, task in held:
        task.cancel()
        writer.transport.abort()


async def nothing(port: int, end_s: float) -> None:
    """The source attacks."""
    await asyncio.sleep(max(0.0, end_s - time.monotonic()))


ATTACKS: dict[str, Attack] = {
    "rest": nothing,
    "h1": h1,
    "h2a": h2a,
    "h2b": h2b,
    "h4": h4,
    "m1": m1,
    "m3": nothing,
    "m8": nothing,
}


async def tiny_chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A source whose every byte is a chunk."""
    with contextlib.suppress(OSError):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(MOST_BYTES // len(CHUNK)):
            writer.write(CHUNK)
            await writer.drain()
    writer.close()


def boards(count: int) -> str:
    moves = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O"
    return "".join(
        f'[Event "Many"]\n[Round "1.{number}"]\n[White "White {number}"]\n'
        f'[Black "Black {number}"]\n[WhiteElo "{2000 + number % 500}"]\n[Result "*"]\n\n'
        f"{moves} *\n\n"
        for number in range(count)
    )


def certificate(folder: Path) -> Path:
    path = folder / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
    command += ["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-out", str(folder / "c.pem"), "-keyout", str(folder / "k.pem")]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    path.write_text((folder / "c.pem").read_text() + (folder / "k.pem").read_text())
    return path


@contextlib.asynccontextmanager
async def service(folder: Path, feed: str, settings: str) -> AsyncIterator[tuple[int, int, Path]]:
    """Its process id, port and log; ended with the block."""
    config = folder / "config.toml"
    config.write_text(f"[server]\nport = 0\n{settings}\n[engine]\nengines = 1\nnodes = 500\n")
    log = folder / "log"
    program = "from live.cli import main; main()"
    argv = [sys.executable, "-c", program, "--headless", "--config", str(config), "--feed", feed]
    with log.open("wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=out, start_new_session=True)
    try:
        port = 0
        for _ in range(600):
            found = re.search(r"https?://127\.0\.0\.1:(\d+)/", log.read_text(errors="replace"))
            if found:
                port = int(found[1])
                break
            if process.poll() is not None:
                break
            await asyncio.sleep(0.1)
        if not port:
            raise SystemExit(f"the service did not start: {log.read_text(errors='replace')}")
        yield process.pid, port, log
    finally:
        process.terminate()
        try:
            await asyncio.to_thread(process.wait, 15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def largest_mb(pid: int) -> float:
    found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


async def good(port: int, tls: bool, end_s: float) -> tuple[list[float], int]:
    """Seconds that each request took, connecting included, and how many failed."""
    context = ssl.create_default_context() if tls else None
    if context is not None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    took: list[float] = []
    failed = 0
    while time.monotonic() < end_s:
        began_s = time.monotonic()
        try:
            async with asyncio.timeout(30):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
                writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                failed += b" 200 " not in await reader.readline()
                writer.transport.abort()
        except (OSError, TimeoutError):
            failed += 1
        took.append(time.monotonic() - began_s)
        await asyncio.sleep(0.02)
    return took, failed


async def attacked(name: str, seconds: float) -> dict[str, object]:
    """One attack, and what came of it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        games = folder / "games.pgn"
        games.write_text(boards(BOARDS if name == "m8" else 8))
        settings = f'certificate_file = "{certificate(folder)}"' if name == "h4" else ""
        source = await asyncio.start_server(tiny_chunks, "127.0.0.1", 0)
        feed = str(games)
        if name == "m3":
            feed = f"http://127.0.0.1:{source.sockets[0].getsockname()[1]}/games.pgn"
        async with service(folder, feed, settings) as (pid, port, log):
            end_s = time.monotonic() + seconds
            # In a process of its own: an attacker at full speed must not hold up the good client.
            argv = [sys.executable, "-m", "tests.benchmarks.publish.attacks", "--attack", name]
            attacker = subprocess.Popen([*argv, "--port", str(port), "--seconds", str(seconds)])
            try:
                took, failed = await good(port, name == "h4", end_s)
            finally:
                attacker.terminate()
                attacker.wait()
            memory_mb = largest_mb(pid)
            lines = log.read_text(errors="replace").count("\n")
        source.close()
    cuts = statistics.quantiles(took, n=100, method="inclusive") if len(took) > 1 else took * 99
    return {
        "attack": name,
        "requests": len(took),
        "failed": failed,
        "p50_ms": round(cuts[49] * 1000, 1),
        "p99_ms": round(cuts[98] * 1000, 1),
        "largest_mb": round(memory_mb),
        "log_lines": lines,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What attacks cost a good client.")
    parser.add_argument("attacks", nargs="*", choices=[*ATTACKS, []], help="default: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each attack")
    parser.add_argument("--json", default="", help="write the figures to this file; - prints them")
    parser.add_argument("--attack", default="", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.attack:
        asyncio.run(ATTACKS[given.attack](given.port, time.monotonic() + given.seconds))
        return
    found = []
    print(f"{'attack':<8}{'median':>11}{'99th':>11}{'failed':>14}{'memory':>10}{'log':>9}")
    for name in given.attacks or ATTACKS:
        each = asyncio.run(attacked(name, given.seconds))
        found.append(each)
        failed = f"{each['failed']} of {each['requests']}"
        print(
            f"{name:<8}{each['p50_ms']:>8} ms{each['p99_ms']:>8} ms{failed:>14}"
            f"{each['largest_mb']:>7} MB{each['log_lines']:>9}",
            flush=True,
        )
    text = json.dumps(found, indent=1)
    if given.json == "-":
        print(text)
    elif given.json:
        Path(given.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
