"""A whole day on one service, rehearsed fast over four kinds of sources at once:
``python -m tests.benchmarks.service.tournament_day [HURRY [SEED]]``.

The service starts an hour early. Two rounds of real games are played over a lichess broadcast,
LiveChess Cloud, a PGN page and a folder, HURRY times as fast as the clock (40 by default). SEED (1
by default) chooses which games are played and when something happens. On the way: nothing is there
yet, a page of HTML; a late board; files uploaded in pieces; a token that expires and is renewed;
results corrected after the end of round 1; round 2 at the same addresses.

Accounted for: the end state is that of an analysis of the final PGN (players, moves, clocks,
results, scores, both curves), no board was lost on the way, and no alert was raised but those that
the day gives reason for.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import asyncio
import contextlib
import random
import re
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from live.alerts.finding import move_number
from live.clock import LoopClock
from live.config import FeedsConfig, LichessConfig
from live.events import (
    AlertMessage,
    Change,
    FeedHealth,
    FeedName,
    FeedReport,
    GameDetail,
    GameReport,
    GoneMessage,
    Player,
)
from live.feeds.feed_session import FeedConditions
from live.feeds.game_timeline import timeline
from live.feeds.open_feed import open_feed
from live.feeds.pgn.pgn_decoder import PgnReader
from live.games.game import Game
from live.publish.published_state import snapshot
from live.rehearse.pgn_text import pgn_text
from live.rehearse.servers.http_server import ServedReply, ServedRequest
from live.rehearse.servers.lichess_broadcast_server import ROUND_ID, LichessRehearsal
from live.rehearse.servers.pgn_server import PATH, PgnUrlRehearsal
from tests.benchmarks.service.rehearsal import InstantHall, boards
from tests.feeds.dgt.livechess_cloud_server import UUID, LiveChessCloudRehearsal

START_S = 1_790_000_000.0
#: How much faster than their clocks the games are played, in the day's own time.
SPEED = 12.0
GAMES = 3
#: What the day gives reason for: the first board's results that are corrected, sources that are not
#: there an hour before the start, and a token that has expired, with which lichess hangs up.
EXPECTED = re.compile(
    r"result-corrected \S+ Board 1: the result \S+ is now|feed.*not there yet"
    r"|feed.*broadcast.*(?:refuses access \(401\)|broke off in mid-answer)"
)
#: As the clock runs here, a busy machine would miss lichess' own minute.
KEEP_ALIVE_S = 20.0


class DayClock(LoopClock):
    """The day's time, which runs ``hurry`` times as fast."""

    def __init__(self, hurry: float) -> None:
        self._hurry = hurry
        self._begun_s = super().now()

    def now(self) -> float:
        return (super().now() - self._begun_s) * self._hurry

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds / self._hurry)

    def deadline(self, seconds: float | None) -> contextlib.AbstractAsyncContextManager[object]:
        return super().deadline(None if seconds is None else seconds / self._hurry)


class Service:
    """One service with an engine that knows every answer, and what it said during the day."""

    def __init__(self, clock: DayClock) -> None:
        self.hall = InstantHall({})
        self.hall.arbiter._clock = lambda: START_S + clock.now()
        self.alerts: dict[str, None] = {}
        self.gone: list[str] = []
        self.states: dict[str, list[str]] = {}
        self.hall.listen(self._heard)

    def _heard(self, changes: Iterable[Change]) -> None:
        for change in changes:
            if isinstance(change, AlertMessage):
                alert = change.alert
                self.alerts[f"{alert.kind} {alert.game or ''}: {alert.text}"] = None
            elif isinstance(change, GoneMessage):
                self.gone.append(change.game)

    async def report(self, report: FeedReport) -> None:
        await self.hall.take(report)

    async def rated(self) -> None:
        """What is rated when is no matter here."""

    def known(self, feed: FeedName) -> Sequence[GameReport]:
        return ()

    def health(self, health: FeedHealth) -> None:
        self.states.setdefault(health.feed, []).append(f"{health.state}: {health.detail}")
        self.hall.health(health)

    def details(self) -> dict[tuple[object, ...], object]:
        return {_who(game): _what(game) for game in snapshot(self.hall.state).games}


def _who(game: GameDetail) -> tuple[object, ...]:
    return (game.white.name, game.black.name, game.round.partition(".")[0])


def _what(game: GameDetail) -> object:
    """All that must be equal: what was played, and every figure that follows from it."""
    moves = [(ply.uci, ply.clock_s) for ply in game.plies]
    return (game.result, moves, game.curves, game.problem)


def _played(game: Game | GameReport) -> tuple[object, ...]:
    """What a source has of a game, cheap to compare."""
    headers = game.headers
    clocks = tuple(move.clock_s for move in game.moves)
    return (headers.white.name, headers.black.name, game.result, clocks)


def games_of(source: int, round_number: int, seed: int) -> list[GameReport]:
    """Real games of players who play in this source alone."""
    choice = boards(24 * GAMES)
    random.Random(seed).shuffle(choice)
    found = choice[(2 * source + round_number - 1) * GAMES :][:GAMES]
    made = []
    for number, game in enumerate(found, start=1):
        name = "ABCD"[source] + str(number)
        headers = msgspec.structs.replace(
            game.headers,
            event=f"Open {source}",
            round=f"{round_number}.{number}",
            board=number,
            white=Player(f"White {name}"),
            black=Player(f"Black {name}"),
            url="",
        )
        moves = tuple(msgspec.structs.replace(move, spent_s=None, eval=None) for move in game.moves)
        made.append(
            msgspec.structs.replace(
                game, key="", headers=headers, moves=moves, start_eval=None, problem=None
            )
        )
    return made


class Day:
    def __init__(self, hurry: float, folder: Path, seed: int) -> None:
        self.clock = DayClock(hurry)
        self.chance = random.Random(seed)
        self.folder = folder / "live"
        self.token = folder / "token"
        self.token.write_text("lip_old")
        self.rounds = {(s, n): games_of(s, n, seed) for s in range(4) for n in (1, 2)}
        second = LichessRehearsal(
            self.rounds[0, 2], clock=self.clock, round_id="Rehears2", keep_alive_s=KEEP_ALIVE_S
        )
        second.started = False
        self.second = second
        self.lichess = LichessRehearsal(
            self.rounds[0, 1],
            clock=self.clock,
            token="lip_old",
            following=second,
            keep_alive_s=KEEP_ALIVE_S,
        )
        self.lichess.started = False
        self.cloud = LiveChessCloudRehearsal(self.rounds[1, 1], clock=self.clock)
        self.cloud.there = False
        self.page = PgnUrlRehearsal([], clock=self.clock)
        self.page_there: Callable[[], bytes | None] = lambda: None
        self.files: dict[int, bytes] = {}
        self.final: dict[tuple[int, int, int], GameReport] = {}
        self.late = False

    # --- the sources ------------------------------------------------------------------------------

    async def _page(self, request: ServedRequest, reply: ServedReply) -> None:
        body = self.page_there()
        html = b"<!DOCTYPE html><html>Round 1 starts at 15:00</html>"
        if body is None:
            await reply.whole(404 if self.clock.now() < 1800 else 200, html)
        else:
            await reply.whole(200, body, {"Content-Type": "application/x-chess-pgn"})

    @contextlib.asynccontextmanager
    async def served(self) -> AsyncIterator[list[str]]:
        self.page.answer = self._page  # type: ignore[method-assign]
        async with (
            self.lichess.serving() as lichess,
            self.cloud.serving() as cloud,
            self.page.serving() as page,
        ):
            self.origin = lichess.removeprefix("lichess+").partition("/broadcast")[0]
            yield [
                f"https://lichess.org/broadcast/a/b/{ROUND_ID}",
                cloud.rpartition("/")[0],  # without a round: whichever is played
                page,
                str(self.folder),
            ]

    def text_of(self, source: int) -> bytes:
        """The PGN of a source as it stands, all boards of the round that is played."""
        number = max((key[1] for key in self.final if key[0] == source), default=1)
        shown = [self.final.get((source, number, index)) for index in range(GAMES)]
        return b"\n".join(pgn_text(game).encode() for game in shown if game is not None)

    def show(self, source: int, number: int, index: int, game: GameReport) -> None:
        if source == 2 and number == 1 and index == GAMES - 1 and not self.late:
            return  # the late board
        self.final[source, number, index] = game
        if source == 0:
            (self.lichess if number == 1 else self.second).show(index, game)
        elif source == 1:
            self.cloud.correct(number, index, game)
        elif source == 3:
            folder = self.folder / f"round-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "games.pgn").write_bytes(self.text_of(3))

    # --- the day ----------------------------------------------------------------------------------

    async def until(self, at_s: float) -> None:
        await self.clock.sleep(max(0.0, at_s - self.clock.now()))

    def about(self, at_s: float) -> float:
        return at_s + self.chance.uniform(-25, 25)

    async def play(
        self, number: int, begin_s: float, happen: dict[float, Callable[[], None]]
    ) -> float:
        """One round over all sources; what else happens, by the seconds after its beginning."""
        moments: list[tuple[float, Callable[[], None]]] = list(happen.items())
        for source in range(4):
            for moment in timeline(self.rounds[source, number], speed=SPEED):
                shown = (source, number, moment.game, moment.report)
                moments.append((moment.at_s, lambda shown=shown: self.show(*shown)))  # type: ignore[misc]
        for at_s, act in sorted(moments, key=lambda each: each[0]):
            await self.until(begin_s + at_s)
            act()
        return self.clock.now()

    def upload(self, source: int) -> None:
        """The file of a source is uploaded anew, and takes five seconds."""

        async def pieces() -> None:
            for share in (0.0, 0.3, 0.7):
                text = self.text_of(source)
                part = text[: int(len(text) * share)]
                if source == 2:
                    self.page_there = lambda part=part: part  # type: ignore[misc]
                else:
                    number = max(key[1] for key in self.final if key[0] == 3)
                    (self.folder / f"round-{number}" / "games.pgn").write_bytes(part)
                await self.clock.sleep(2)
            self.page_there = lambda: self.text_of(2)
            number = max(key[1] for key in self.final if key[0] == 3)
            (self.folder / f"round-{number}" / "games.pgn").write_bytes(self.text_of(3))

        self.uploading = asyncio.get_running_loop().create_task(pieces())

    def expire(self) -> None:
        self.lichess.token = "lip_new"
        self.lichess.hang_up()

    def renew(self) -> None:
        self.token.write_text("lip_new")

    def late_board(self) -> None:
        self.late = True
        self.show(
            2,
            1,
            GAMES - 1,
            msgspec.structs.replace(self.rounds[2, 1][GAMES - 1], moves=(), result="*"),
        )

    def correct(self) -> None:
        for source in range(4):
            game = self.final[source, 1, 0]
            other = "1/2-1/2" if game.result != "1/2-1/2" else "1-0"
            changed = msgspec.structs.replace(game, result=other)
            if source == 0:
                self.final[0, 1, 0] = changed
                self.lichess.keep_back(0, changed)
            else:
                self.show(source, 1, 0, changed)

    def odd_ends(self) -> list[str]:
        """What games give reason for, some by a corrected result: the loser made the last move."""
        return [
            f"{game.result} after {move_number(len(game.moves))} {game.moves[-1].san}, with the"
            for game in [*chain.from_iterable(self.rounds.values()), *self.final.values()]
            if game.result == ("0-1" if len(game.moves) % 2 else "1-0")
        ]

    async def script(self) -> None:
        await self.until(3000)
        self.cloud.there = True
        self.folder.mkdir(parents=True)
        await self.until(3600)
        self.lichess.start()
        self.page_there = lambda: self.text_of(2)
        end_s = await self.play(
            1,
            3600,
            {
                self.about(60): self.late_board,
                self.about(120): lambda: self.upload(2),
                self.about(180): lambda: self.upload(3),
                self.about(240): self.expire,
                self.about(300): self.renew,
            },
        )
        print(f"round 1 over at {end_s:.0f} s")
        await self.until(end_s + 900)
        self.correct()
        await self.until(end_s + 3600)
        begin_s = self.clock.now()
        self.cloud.next_round(self.rounds[1, 2])
        self.second.started = True
        end_s = await self.play(2, begin_s, {self.about(100): lambda: self.upload(2)})
        print(f"round 2 over at {end_s:.0f} s")

    def final_reports(self, names: list[str]) -> list[FeedReport]:
        """What an analysis reads: the PGN of all games as they stand at the end."""
        reports = []
        for source, name in enumerate(names):
            text = b"\n".join(
                pgn_text(game).encode()
                for key, game in sorted(self.final.items())
                if key[0] == source
            )
            reports.append(FeedReport(name, tuple(PgnReader().read(text, closed=True)), True))
        return reports


async def run(hurry: float, seed: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        day = Day(hurry, Path(folder), seed)
        service = Service(day.clock)
        async with day.served() as specs:
            config = FeedsConfig(
                lichess=LichessConfig(base_url=day.origin, token_file=str(day.token))
            )
            conditions = FeedConditions(config, day.clock)
            feeds = [
                open_feed(spec, config, conditions=conditions, lasting=True, env={})
                for spec in specs
            ]
            tasks = [asyncio.create_task(feed.run(service), name=feed.name) for feed in feeds]

            async def tick() -> None:
                while True:
                    await day.clock.sleep(5)
                    service.hall.arbiter.tick()

            tasks.append(asyncio.create_task(tick(), name="ticks"))
            await day.script()
            final = day.final_reports([feed.name for feed in feeds])
            played = {_played(game) for report in final for game in report.games}
            for _ in range(300):  # half an hour of the day at the most
                if {_played(game) for game in service.hall.state.held()} == played:
                    break
                await day.clock.sleep(6)
            await service.hall.settled()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        held = service.details()
    # The day is over: its hurried clock would run on while this keeps the sources from being heard.
    analysis = Service(day.clock)
    for report in final:
        await analysis.report(report)
    await analysis.hall.settled()
    wanted = analysis.details()
    for feed, states in service.states.items():
        seen = list(dict.fromkeys(state.partition(":")[0] for state in states))
        print(f"{feed}: {' > '.join(seen)}")
    different = [who for who in wanted.keys() | held.keys() if wanted.get(who) != held.get(who)]
    untrue = [text for text in service.alerts if not EXPECTED.match(text)]
    untrue = [text for text in untrue if not any(end in text for end in day.odd_ends())]
    print(f"{len(held)} games held, {len(wanted)} in the analysis, {len(different)} different")
    for who in different[:10]:
        print(f"  {who}: held {str(held.get(who))[:150]}, wanted {str(wanted.get(who))[:150]}")
    print(f"boards that went away: {len(service.gone)}; alerts: {len(service.alerts)}")
    for text in service.alerts:
        print(f"  {text}")
    print(f"alerts without a reason: {len(untrue)}")
    assert UUID in specs[1]
    assert specs[2].endswith(PATH)
    return 1 if different or untrue or service.gone else 0


if __name__ == "__main__":
    hurry, seed = [*sys.argv[1:], *("40", "1")[len(sys.argv) - 1 :]]
    sys.exit(asyncio.run(run(float(hurry), int(seed))))
