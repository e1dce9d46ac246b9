import asyncio
import os
from pathlib import Path

import pytest

from live.errors import FeedUnreadable
from live.feeds.file_feed import StdinFeed, pieces
from tests.feeds.fakes import DATA, Ledger, conditions, decode, running, told_by, until

TEXT = (DATA / "four-boards.pgn").read_bytes()
GAMES = {told_by(game): game for game in decode(TEXT)}


async def write_all(fd: int, text: bytes, size: int) -> None:
    def write() -> None:
        for at in range(0, len(text), size):
            os.write(fd, text[at : at + size])
        os.close(fd)

    await asyncio.to_thread(write)


@pytest.mark.parametrize("size", [7, 1000, 1_000_000])
async def test_a_pipe_gives_its_games_and_ends_the_feed(size: int) -> None:
    reader, writer = os.pipe()
    ledger = Ledger()
    feed = StdinFeed("standard input", conditions(), reader)
    async with asyncio.timeout(20):
        await asyncio.gather(feed.run(ledger), write_all(writer, TEXT, size))
    os.close(reader)
    assert ledger.games == GAMES
    assert ledger.states[-1] == "finished"


async def test_a_plain_file_may_be_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(TEXT)
    fd = os.open(path, os.O_RDONLY)
    ledger = Ledger()
    await StdinFeed("standard input", conditions(), fd).run(ledger)
    os.close(fd)
    assert ledger.games == GAMES


async def test_games_are_reported_while_the_pipe_is_open() -> None:
    reader, writer = os.pipe()
    ledger = Ledger()
    async with running(StdinFeed("standard input", conditions(), reader), ledger):
        os.write(writer, TEXT[: TEXT.index(b"[Event", 10)])
        await until(lambda: len(ledger.games) == 1)
        assert ledger.last.state == "live"
    os.close(writer)
    os.close(reader)


async def test_a_cut_last_game_is_taken_as_far_as_it_goes() -> None:
    reader, writer = os.pipe()
    ledger = Ledger()
    cut = TEXT[: TEXT.rindex(b" 20. ")]
    feed = StdinFeed("standard input", conditions(), reader)
    await asyncio.gather(feed.run(ledger), write_all(writer, cut, 5000))
    os.close(reader)
    assert [len(game.moves) for game in ledger.games.values()][-1] in (37, 38)


async def test_html_is_refused() -> None:
    reader, writer = os.pipe()
    feed = StdinFeed("standard input", conditions(), reader)
    with pytest.raises(FeedUnreadable, match="holds an HTML page"):
        await asyncio.gather(feed.run(Ledger()), write_all(writer, b"<html>Log in", 100))
    os.close(reader)


async def test_a_reader_that_leaves_early_lets_the_thread_go() -> None:
    import threading

    reader, writer = os.pipe()
    before = threading.active_count()
    os.write(writer, b"[Event]")
    async for piece in (stream := pieces(reader)):
        assert piece == b"[Event]"
        break
    await stream.aclose()  # type: ignore[attr-defined]
    await until(lambda: threading.active_count() <= before)
    os.close(writer)
    os.close(reader)
