"""The source against a loopback server that speaks as FICS does."""

import asyncio

import msgspec
import pytest

from live.config import FeedsConfig
from live.errors import FeedNotFound, FeedUnreadable, UnknownFeed
from live.feeds.game_timeline import PlannedIncident
from live.feeds.open_feed import open_feed
from live.rehearse.servers.fics_server import FicsRehearsal, handle
from tests.feeds.fakes import (
    DATA,
    DrivenClock,
    Ledger,
    conditions,
    decode,
    listening,
    running,
    until,
)

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
CONFIG = FeedsConfig(timeout_s=5.0)
WANTED = {
    (handle(game.headers.white.name), game.headers.white.elo): (
        [(move.uci, move.clock_s) for move in game.moves],
        game.result,
    )
    for game in GAMES
}


def told(ledger: Ledger) -> dict[object, object]:
    latest = {game.key: game for report in ledger.reports for game in report.games}
    return {
        (game.headers.white.name, game.headers.white.elo): (
            [(move.uci, move.clock_s) for move in game.moves],
            game.result,
        )
        for game in latest.values()
    }


@pytest.mark.slow
async def test_games_are_observed_to_their_end() -> None:
    server, ledger, clock = FicsRehearsal(GAMES, clock=DrivenClock()), Ledger(), DrivenClock()
    for index, game in enumerate(GAMES):
        await server.show(index, msgspec.structs.replace(game, moves=(), result="*"))
    async with server.serving() as spec:
        feed = open_feed(spec, CONFIG, conditions=conditions(CONFIG, clock))
        async with running(feed, ledger) as task:
            await until(lambda: server.observed == len(GAMES))
            incidents = [PlannedIncident("slip", 0, 9), PlannedIncident("takeback", 1, 8)]
            await server.play(speed=100, incidents=incidents)
            await until(lambda: told(ledger) == WANTED)
            await clock.expire()
            await until(task.done)
    assert ledger.last.state == "finished"
    assert server.commands[:3] == ["set style 12", "set seek 0", "set shout 0"]


async def test_a_game_met_late_and_a_lost_connection() -> None:
    server, ledger = FicsRehearsal(GAMES), Ledger()
    game = GAMES[0]

    def moves() -> int:
        latest = {each.key: each for report in ledger.reports for each in report.games}
        found = [each for each in latest.values() if each.headers.board == 1]
        return len(found[0].moves) if found else -1

    await server.show(0, msgspec.structs.replace(game, moves=game.moves[:9], result="*"))
    async with server.serving() as spec:
        feed = open_feed(spec, CONFIG, conditions=conditions())
        async with running(feed, ledger):
            await until(lambda: moves() == 9)
            assert "moves 1" in server.commands
            server.drop()
            await server.show(0, msgspec.structs.replace(game, moves=game.moves[:15], result="*"))
            await until(lambda: "retrying" in ledger.states)
            await until(lambda: moves() == 15)
    detail = next(health.detail for health in ledger.healths if health.state == "retrying")
    assert detail == "connection to the server lost, trying again in 1 s"


async def test_no_such_game() -> None:
    server = FicsRehearsal(GAMES)
    async with server.serving() as spec:
        other = spec.rpartition("/")[0] + "/999"
        with pytest.raises(FeedNotFound, match="no such game"):
            await open_feed(other, CONFIG, conditions=conditions()).run(Ledger())


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        (b"x" * 20_000, "sends no lines"),
        (b"password: ", "refuses user or password"),
    ],
)
async def test_what_is_no_chess_server_or_lets_nobody_in(sent: bytes, problem: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await writer.drain()
        if await reader.readline():
            writer.write(b"\n\r**** Invalid password! ****\n\r")
            await writer.drain()
        await reader.read()

    async with listening(answer) as port:
        feed = open_feed(f"telnet://me:x@127.0.0.1:{port}/1", CONFIG, conditions=conditions())
        with pytest.raises(FeedUnreadable, match=problem):
            await feed.run(Ledger())


async def test_a_server_that_says_nothing() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    ledger, clock = Ledger(), DrivenClock()
    async with listening(silent) as port:
        spec = f"fics+tcp://127.0.0.1:{port}/1"
        async with running(open_feed(spec, CONFIG, conditions=conditions(CONFIG, clock)), ledger):
            # The first deadline may be that of a connection about to be made.
            while "retrying" not in ledger.states:
                await clock.expire()
    assert ledger.healths[1].detail.startswith("the server ")


@pytest.mark.parametrize("spec", ["telnet:///1", "telnet://host/a;b", "fics+http://host/1"])
def test_what_is_no_address(spec: str) -> None:
    with pytest.raises(UnknownFeed, match="no chess server's address"):
        open_feed(spec, CONFIG)
