"""A whole event to thousands of subscribers: nothing missing, and how soon a move reaches all.

    python -m tests.benchmarks.service.rehearsal [SUBSCRIBERS [BOARDS [SPEED [SECONDS]]]]

Boards are played back SPEED times as fast as they were played, as PGN bytes through the decoder,
the plan, the ledger with an engine that knows every answer at once, the ratings and the publisher.
A quarter of the subscribers take everything, half take one player's board, an eighth one event, an
eighth moves alone. The latency of a move runs from before its bytes are read to the moment the last
subscriber that selects it has read its frame, in another process, on one clock.

Accounted for: all subscribers with the same filter got the same bytes, to the checksum, and one of
each filter, its messages applied one by one, holds the last number and the final snapshot.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import base64
import json
import re
import selectors
import statistics
import subprocess
import sys
import time
import zlib
from pathlib import Path
from urllib.parse import parse_qsl

import chess
import msgspec

from live.clock import LoopClock
from live.config import ServerConfig
from live.engine.search import Search, SearchResult
from live.events import FeedReport, GameReport, SnapshotMessage
from live.feeds.game_timeline import GameMoment, timeline
from live.feeds.pgn_decoder import PgnReader
from live.ledger.game_evaluations import RequestId, Urgency
from live.publish.access import ClientLimits
from live.publish.published_state import ClientState, snapshot
from live.publish.server import Publisher
from live.publish.visibility import parse
from live.rehearse.rehearsal import pgn_text
from tests.benchmarks.service.drills import numbers, shake
from tests.ledger.arithmetic import answer
from tests.service.answered_event import AnsweredEvent

DATA = Path(__file__).resolve().parent.parent.parent / "data"
SOURCES = ("lichess-open-2025.pgn", "four-boards.pgn", "otb-2024-25.pgn")
MOVE = re.compile(rb'"type":"move","game":"([^"]{1,80})","ply":(\d{1,4})')


# --- the subscribers, in another process ----------------------------------------------------------


class Reader:
    """One subscriber: what it got since the handshake, and all of it for one of each filter."""

    def __init__(self, port: int, query: str, whole: bool) -> None:
        self.query = query
        self.kept: bytearray | None = bytearray() if whole else None
        self.bytes = self.checksum = 0
        self.sock = shake(port, f"/v2/live{query}")
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.sock.recv(65536)
        assert b" 101 " in head.split(b"\r\n", 1)[0], head
        self.take(head.split(b"\r\n\r\n", 1)[1])
        self.sock.setblocking(False)

    def take(self, data: bytes) -> None:
        self.bytes += len(data)
        self.checksum = zlib.crc32(data, self.checksum)
        if self.kept is not None:
            self.kept += data


def subscribers(port: int, queries: list[str]) -> None:
    """Reads until its input ends; then prints what came, and when each move was read last."""
    ready = selectors.DefaultSelector()
    seen: set[str] = set()
    readers = []
    for query in queries:
        reader = Reader(port, query, query not in seen)
        seen.add(query)
        readers.append(reader)
        ready.register(reader.sock, selectors.EVENT_READ, reader)
        for key, _ in ready.select(0):  # their snapshots are long
            key.data.take(key.data.sock.recv(1 << 18))
    ready.register(sys.stdin, selectors.EVENT_READ)
    print("ready", flush=True)
    last: dict[str, tuple[int, int]] = {}
    going, quiet_s = True, 0.0
    while going or time.monotonic() - quiet_s < 3:
        for key, _ in ready.select(0.5):
            if key.data is None:
                going = False
                ready.unregister(sys.stdin)
                quiet_s = time.monotonic()
                continue
            data = key.data.sock.recv(1 << 18)
            now = time.monotonic_ns()
            assert data, "a subscriber was closed"
            quiet_s = time.monotonic()
            key.data.take(data)
            for game, ply in MOVE.findall(data):
                name = f"{game.decode()} {int(ply)}"
                last[name] = (now, last.get(name, (0, 0))[1] + 1)
    result = {
        "readers": [(each.query, each.bytes, each.checksum) for each in readers],
        "kept": {
            each.query: base64.b64encode(each.kept).decode()
            for each in readers
            if each.kept is not None
        },
        "last": last,
    }
    sys.stdout.write(json.dumps(result) + "\n")
    sys.stdout.flush()


# --- the service ----------------------------------------------------------------------------------


class InstantEvent(AnsweredEvent):
    """An event whose engine has looked every answer up before."""

    def __init__(self, known: dict[Search, SearchResult]) -> None:
        super().__init__(None, lambda search: known.get(search) or answer(search))
        self._known = known

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        if not self.asked:
            asyncio.get_running_loop().call_soon(self._answer)
        super().submit(search, request_id, urgency)

    def _answer(self) -> None:
        waiting = list(self.asked)
        self.asked.clear()
        for search, request_id in waiting:
            result = self._known[search] = self.engine(search)
            self.searched(request_id, search, result)


def boards(count: int) -> list[GameReport]:
    """Real games, as often as needed, each time of other players."""
    found = [
        game
        for source in SOURCES
        for game in PgnReader().read((DATA / source).read_bytes(), closed=True)
        if len(game.moves) > 20 and game.start_fen == chess.STARTING_FEN
    ]
    made = []
    for board in range(count):
        game = found[board % len(found)]
        headers = msgspec.structs.replace(
            game.headers,
            event=f"Event {board % 4}",
            round="1",
            board=board + 1,
            white=msgspec.structs.replace(game.headers.white, name=f"White {board}", fide_id=None),
            black=msgspec.structs.replace(game.headers.black, name=f"Black {board}", fide_id=None),
        )
        made.append(msgspec.structs.replace(game, key=f"board{board}", headers=headers))
    return made


def queries(count: int, games: int) -> list[str]:
    """Mixed filters."""
    made = []
    for n in range(count):
        if n % 2:
            made.append(f"?player=White%20{n // 2 % games}")
        else:
            everything, moves = "", "?type=move"
            one = f"?event=Event%20{n // 8 % 4}"
            made.append((everything, one, moves, everything)[n // 2 % 4])
    return made


def payloads(frames: bytes) -> list[bytes]:
    """Messages out of unmasked frames, fragments joined, pings left out."""
    found: list[bytes] = []
    at = 0
    while at < len(frames):
        first, length = frames[at], frames[at + 1]
        at += 2
        if length >= 126:
            size = 2 if length == 126 else 8
            length = int.from_bytes(frames[at : at + size], "big")
            at += size
        piece = frames[at : at + length]
        at += length
        if first & 0xF == 1:
            found.append(piece)
        elif first & 0xF == 0:
            found[-1] += piece
    assert at == len(frames)
    return found


async def _rehearse(moments: list[GameMoment], known: dict[Search, SearchResult]) -> None:
    """Every search is made once, before anything is measured."""
    service = InstantEvent(known)
    last = {moment.game: moment.report for moment in moments}
    for report in last.values():
        await service.take(FeedReport("rehearsal", (report,)))
    await service.settled()


async def run(wanted: int, count: int, speed: float, seconds: float) -> None:
    games = boards(count)
    every = list(timeline(games, speed=speed))
    # The middle of the event, when all play.
    begin_s = every[0].at_s + (every[-1].at_s - every[0].at_s) * 0.1
    before = {m.game: m for m in every if m.at_s < begin_s}
    moments = [m for m in every if begin_s <= m.at_s < begin_s + seconds]
    known: dict[Search, SearchResult] = {}
    await _rehearse(moments, known)
    texts = [pgn_text(moment.report).encode() for moment in moments]
    service = InstantEvent(known)
    # All come at once, and none answers pings. Heartbeats are left out for whoever is behind, and
    # would differ.
    limits = ClientLimits(handshakes_burst=1e6, silent_after_s=1e6, heartbeat_s=1e6)
    async with Publisher(ServerConfig(port=0), service.state, limits=limits) as publisher:
        service.listen(publisher.publish)
        for moment in before.values():
            await service.take(FeedReport("rehearsal", (moment.report,)))
        await service.settled()
        asked = queries(wanted, count)
        command = [sys.executable, "-m", "tests.benchmarks.service.rehearsal", "--subscribers"]
        readers = subprocess.Popen(  # noqa: ASYNC220 - it only starts here
            [*command, str(publisher.address[1]), json.dumps(asked)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        loop = asyncio.get_running_loop()
        assert readers.stdout is not None
        assert readers.stdin is not None
        assert await loop.run_in_executor(None, readers.stdout.readline) == b"ready\n"
        clock, sent = LoopClock(), dict[str, int]()
        start_s, cpu_s = clock.now(), time.process_time()
        for moment, text in zip(moments, texts, strict=True):
            wait_s = start_s + moment.at_s - begin_s - clock.now()
            await asyncio.sleep(max(0.0, wait_s))
            at_ns = time.monotonic_ns()
            (report,) = PgnReader().read(text, closed=True)
            report = msgspec.structs.replace(report, key=moment.report.key)
            await service.take(FeedReport("rehearsal", (report,)))
            (game,) = [v.id for v in service.state.games() if v.board == moment.game + 1]
            sent.setdefault(f"{game} {len(report.moves)}", at_ns)
        cpu_s, took_s = time.process_time() - cpu_s, clock.now() - start_s
        await service.settled()
        await asyncio.sleep(1)
        publisher.broadcaster.flush()
        finals = {
            query: publisher.broadcaster.stream(parse(parse_qsl(query[1:]))).seq
            for query in set(asked)
        }
        snapshots = {q: snapshot(service.state, parse(parse_qsl(q[1:]))) for q in set(asked)}
        readers.stdin.close()
        line = await loop.run_in_executor(None, readers.stdout.readline)
        readers.wait()
    told = json.loads(line)
    deliveries = accounted(told, finals, snapshots)
    latencies = sorted(
        (told["last"][name][0] - at) / 1e6 for name, at in sent.items() if name in told["last"]
    )
    assert len(latencies) > 0.98 * len(sent), (len(latencies), len(sent))
    cuts = statistics.quantiles(latencies, n=100)
    print(f"{wanted} subscribers, {len(set(asked))} filters, {count} boards, speed {speed:g}")
    print(f"moves {len(sent)} in {took_s:.0f} s; messages delivered {deliveries}, none missing")
    print(f"server {100 * cpu_s / took_s:.0f} % of one processor")
    print(
        "feed byte to the last subscriber's frame: "
        f"median {cuts[49]:.1f} ms, 99th {cuts[98]:.1f} ms, largest {latencies[-1]:.1f} ms"
    )


def accounted(
    told: dict[str, object],
    finals: dict[str, int],
    snapshots: dict[str, SnapshotMessage],
) -> int:
    """Messages delivered; fails where one is missing, changed, or twice."""
    got: dict[str, set[tuple[int, int]]] = {}
    number: dict[str, int] = {}
    readers = told["readers"]
    kept = told["kept"]
    assert isinstance(readers, list)
    assert isinstance(kept, dict)
    for query, size, checksum in readers:
        got.setdefault(query, set()).add((size, checksum))
        number[query] = number.get(query, 0) + 1
    deliveries = 0
    for query, same in got.items():
        assert len(same) == 1, f"subscribers of {query!r} got different bytes: {same}"
        messages = payloads(base64.b64decode(kept[query]))
        client_state, seqs = ClientState(), []
        for message in messages:
            head = json.loads(message)
            if head["type"] not in ("heartbeat", "hello"):
                seqs.append(head["seq"])
            if "type=" not in query:
                client_state.receive(message)
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), query
        assert seqs[-1] == finals[query], query
        if "type=" not in query:
            assert client_state.snapshot() == snapshots[query], query
        deliveries += (len(messages) - 2) * number[query]
    return deliveries


def main() -> None:
    asyncio.run(run(*numbers(2000, 56, 60, 60)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--subscribers"]:
        subscribers(int(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        main()
