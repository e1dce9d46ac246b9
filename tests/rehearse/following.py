"""A rehearsal over any protocol, followed to its end, and what each protocol must
carry.
"""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import get_args

from live.messages.from_sources import FeedReport, GameReport
from live.rehearse.rehearsal import Protocols, Rehearsal
from live.settings import FeedsConfig
from live.sources.open_feed import open_feed
from tests.rehearse.faults import (
    BAD_CONNECTIONS,
    BAD_REQUESTS,
    BAD_SHARE,
    FaultyFolder,
    FaultyLichess,
    FaultyPage,
    MishapRehearsal,
    fates,
    incidents,
    mishaps,
)
from tests.server.mosquitto import run_broker
from tests.sources.fakes import (
    DrivenClock,
    Ledger,
    conditions,
    run_feed,
    substance,
    until,
)
from tests.sources.hall_sources import DgtBoardRehearsal, MqttRehearsal
from tests.sources.livechess_cloud_server import LiveChessCloudRehearsal

#: Answers of servers on this machine come at once, except where a fault stalls them on
#: purpose.
FAULTY = FeedsConfig(timeout_s=0.5)
HEALTHY = FeedsConfig(timeout_s=10)
#: What ``rehearse --as`` knows, and the sources that only these tests play.
FOLLOWED: tuple[str, ...] = (
    *get_args(Protocols),
    "dgt-board",
    "mqtt",
    "livechess-cloud",
)


class PacedClock(DrivenClock):
    """A clock of the rehearsal that lets the other side see what happened meanwhile."""

    pause_s = 0.001


def carry_games(
    protocol: str, games: Iterable[GameReport], *, faulty: bool = False
) -> list[str]:
    """What the protocol tells of games, in an order of its own.

    Two protocols tell only the newest clock, so with faults some clocks are never told:
    there only the moves count.
    """
    found: list[object] = []
    for game in games:
        told = game.headers
        sides = (told.white, told.black)
        moves = [(m.uci, None if faulty else m.clock_s) for m in game.moves]
        match protocol:
            case "livechess-cloud":  # no ratings
                clocks = [(m.uci, m.clock_s) for m in game.moves]
                names = [(p.name, p.title, p.fide_id) for p in sides]
                found.append((names, game.result, clocks))
            case "dgt-board":  # neither players nor results
                found.append(moves)
            case _:
                found.append(substance(game))
    return sorted(map(str, found))


class Newest(Ledger):
    """Keeps each game as it was told last, by its key where it has one, and no more:
    what is kept of thousands of reports is swept through again and again by the
    collector of garbage.
    """

    def __init__(self) -> None:
        super().__init__()
        self.latest: dict[object, GameReport] = {}

    async def report(self, report: FeedReport) -> None:
        if report.complete:
            self.latest.clear()
        for game in report.games:
            told = game.headers
            self.latest[game.key or (told.round, told.white.name, told.black.name)] = (
                game
            )


@asynccontextmanager
async def _rehearsal(
    protocol: str, games: list[GameReport], seed: int | None
) -> AsyncIterator[Rehearsal]:
    clock = PacedClock()
    made: Rehearsal
    async with AsyncExitStack() as stack:
        match protocol:
            case "dgt-board":
                made = DgtBoardRehearsal(games, clock=clock)
            case "mqtt":
                program = (
                    shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin")
                    or ""
                )
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                broker = await stack.enter_async_context(
                    run_broker(program, Path(folder))
                )
                made = MqttRehearsal(games, broker, clock=clock)
            case "folder":
                made = FaultyFolder(games, clock=clock)
            case "livechess-cloud":
                bad = fates(seed, BAD_REQUESTS, share=BAD_SHARE)
                made = LiveChessCloudRehearsal(games, clock=clock, fates=bad)
            case "lichess":
                made = FaultyLichess(
                    games, clock=clock, fates=fates(seed, BAD_CONNECTIONS)
                )
            case _:
                made = page = FaultyPage(games, clock=clock)
                page.fates = fates(seed, BAD_REQUESTS, share=BAD_SHARE, half=True)
        if isinstance(made, MishapRehearsal):
            made.mishaps = mishaps(seed)
        yield made


async def follow_rehearsal(
    protocol: str,
    games: list[GameReport],
    seed: int | None = None,
    within_s: float = 40,
) -> Newest:
    """Play games back as fast as they can be told; returns when all has been heard.

    Raises TimeoutError when it never is.
    """
    faulty = seed is not None
    ledger, clock = Newest(), DrivenClock()
    wanted = carry_games(protocol, games, faulty=faulty)

    plies = sum(len(game.moves) for game in games)

    def heard() -> bool:
        held = list(ledger.latest.values())
        if sum(len(game.moves) for game in held) != plies:  # the cheap question first
            return False
        return carry_games(protocol, held, faulty=faulty) == wanted

    async with (
        _rehearsal(protocol, games, seed) as rehearsal,
        rehearsal.serve() as spec,
    ):
        config = FAULTY if faulty else HEALTHY
        feed = open_feed(spec, config, conditions=conditions(config, clock))
        async with run_feed(feed, ledger):
            if isinstance(
                rehearsal, DgtBoardRehearsal
            ):  # it cannot tell what was before
                await until(lambda: rehearsal.boards_ready == len(games))
            await rehearsal.play_games(speed=100, incidents=incidents(seed, games))
            for _ in range(round(within_s)):
                try:
                    await until(heard, within_s=1)
                except TimeoutError:  # a stalled connection: only silence tells
                    if clock.next_deadline_s is not None:
                        await clock.expire()
                else:
                    return ledger
            await until(heard, within_s=1)
    return ledger
