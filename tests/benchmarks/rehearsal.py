"""A whole event to thousands of subscribers: nothing missing, and how soon a move
reaches all.

    python -m tests.benchmarks.rehearsal [SUBSCRIBERS [BOARDS [SPEED [SECONDS]]]]

Boards are played back SPEED times as fast as they were played, as PGN bytes through the
decoder, the plan, the ledger with an engine that knows every answer at once, the
ratings and the publisher. Three eighths of the subscribers take everything, half take
one player's board, an eighth one event. The latency of a move runs from before its
bytes are read to the moment the last subscriber that selects it has read its frame, in
another process, on one clock. As in the service, collections of garbage leave what was
there at the start alone.

Accounted for: all subscribers with the same filter got the same bytes, to the checksum,
and one of each filter, its messages applied one by one, holds the last number and the
final snapshot.
"""

# ruff: noqa: T201 - its output is what it is for
import asyncio
import base64
import json
import statistics
import time
from collections import defaultdict
from itertools import chain
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from live.engine.requests import RequestId, Urgency
from live.engine.search import Search, SearchResult
from live.messages.from_sources import FeedReport
from live.messages.to_clients import SnapshotMessage
from live.process.clock import LoopClock
from live.process.memory import freeze_startup_objects
from live.rehearse.rehearsal import write_pgn
from live.server.filtered_reader import snapshot
from live.server.limits import ClientLimits
from live.server.reference_client import ReferenceClient
from live.server.server import Publisher
from live.server.stream_filter import parse_filter
from live.settings import ServerConfig
from live.sources.game_timeline import GameMoment, plan_timeline
from live.sources.pgn_decoder import PgnReader
from tests.benchmarks.drills import boards, numbers
from tests.benchmarks.readers import Readers
from tests.event.answered_event import AnsweredEvent
from tests.event.arithmetic import answer
from tests.server.serving import messages


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
            self.answers.on_result(request_id, search, result)


def queries(count: int, games: int) -> list[str]:
    """Mixed filters."""

    def events(n: int) -> str:
        return ("", f"?event=Event%20{n // 4 % 4}", "", "")[n % 4]

    players = (f"?player=White%20{n % games}" for n in range(count))
    pairs = zip(map(events, range(count)), players, strict=True)
    return list(chain.from_iterable(pairs))[:count]


async def _rehearse(
    moments: list[GameMoment], known: dict[Search, SearchResult]
) -> None:
    """Every search is made once, before anything is measured."""
    service = InstantEvent(known)
    last = {moment.game: moment.report for moment in moments}
    for report in last.values():
        await service.take(FeedReport("rehearsal", (report,)))
    await service.settled()


async def run(wanted: int, count: int, speed: float, seconds: float) -> None:
    games = boards(count)
    every = list(plan_timeline(games, speed=speed))
    # The middle of the event, when all play.
    begin_s = every[0].at_s + (every[-1].at_s - every[0].at_s) * 0.1
    before = {m.game: m for m in every if m.at_s < begin_s}
    moments = [m for m in every if begin_s <= m.at_s < begin_s + seconds]
    known: dict[Search, SearchResult] = {}
    await _rehearse(moments, known)
    texts = [write_pgn(moment.report).encode() for moment in moments]
    service = InstantEvent(known)
    # All come at once, and none answers pings. Heartbeats are left out for whoever is
    # behind, and would differ.
    limits = ClientLimits(handshakes_burst=1e6, silent_after_s=1e6, heartbeat_s=1e6)
    async with Publisher(
        ServerConfig(port=0), service.state, limits=limits
    ) as publisher:
        service.bus.subscribe(publisher.audiences.publish)
        for moment in before.values():
            await service.take(FeedReport("rehearsal", (moment.report,)))
        await service.settled()
        asked = queries(wanted, count)
        readers = Readers(publisher.address[1], asked, len(asked))
        await readers.ready()
        freeze_startup_objects()
        clock, sent = LoopClock(), dict[str, int]()
        start_s, cpu_s = clock.now(), time.process_time()
        for moment, text in zip(moments, texts, strict=True):
            wait_s = start_s + moment.at_s - begin_s - clock.now()
            await asyncio.sleep(max(0.0, wait_s))
            at_ns = time.monotonic_ns()
            (report,) = PgnReader().read_text(text, closed=True)
            report = msgspec.structs.replace(report, key=moment.report.key)
            await service.take(FeedReport("rehearsal", (report,)))
            (game,) = [
                v.id for v in service.state.games() if v.board == moment.game + 1
            ]
            sent.setdefault(f"{game} {len(report.moves)}", at_ns)
        cpu_s, took_s = time.process_time() - cpu_s, clock.now() - start_s
        await service.settled()
        await asyncio.sleep(1)
        publisher.audiences.public.flush()
        finals = {
            query: publisher.audiences.public.open_stream(
                parse_filter(parse_qsl(query[1:]))
            ).seq
            for query in set(asked)
        }
        snapshots = {
            q: snapshot(service.state, parse_filter(parse_qsl(q[1:])))
            for q in set(asked)
        }
        told = await readers.result()
    deliveries = count_delivered(told, finals, snapshots)
    print(
        f"{wanted} subscribers, {len(set(asked))} filters, {count} boards, "
        f"speed {speed:g}"
    )
    print(
        f"moves {len(sent)} in {took_s:.0f} s; messages delivered "
        f"{deliveries}, none missing"
    )
    print(f"server {100 * cpu_s / took_s:.0f} % of one processor")
    read = {
        name: told["last"][name] - at
        for name, at in sent.items()
        if name in told["last"]
    }
    assert len(read) > 0.98 * len(sent), (len(read), len(sent))
    latencies = sorted(each / 1e6 for each in read.values())
    cuts = statistics.quantiles(latencies, n=100)
    print(
        "feed byte to the last subscriber's frame: "
        f"median {cuts[49]:.1f} ms, 99th {cuts[98]:.1f} ms, "
        f"largest {latencies[-1]:.1f} ms"
    )


def count_delivered(
    told: dict[str, Any], finals: dict[str, int], snapshots: dict[str, SnapshotMessage]
) -> int:
    """Messages delivered; fails where one is missing, changed, or twice."""
    got: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for query, size, checksum in told["readers"]:
        got[query].append((size, checksum))
    deliveries = 0
    for query, same in got.items():
        assert len(set(same)) == 1, (
            f"subscribers of {query!r} got different bytes: {set(same)}"
        )
        told_all = messages(base64.b64decode(told["whole"][query]))
        client_state, seqs = ReferenceClient(), []
        for message in told_all:
            head = json.loads(message)
            if head["type"] not in ("heartbeat", "hello"):
                seqs.append(head["seq"])
            client_state.receive(message)
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs))), query
        assert seqs[-1] == finals[query], query
        assert client_state.snapshot() == snapshots[query], query
        deliveries += (len(told_all) - 2) * len(same)
    return deliveries


def main() -> None:
    asyncio.run(run(*numbers(2000, 56, 60, 60)))


if __name__ == "__main__":
    main()
