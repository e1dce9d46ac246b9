import asyncio
import functools
import os
from pathlib import Path

import pytest

from live.config import FeedsConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.feeds.file_feed import FileFeed, watch_folder
from live.feeds.open_feed import open_feed
from live.feeds.pgn_decoder import PgnLimits, PgnReader
from tests.feeds.fakes import (
    DATA,
    DrivenClock,
    Ledger,
    conditions,
    decode,
    running,
    substance,
    told_by,
    until,
)

TEXT = (DATA / "four-boards.pgn").read_bytes()
GAMES = {told_by(game): game for game in decode(TEXT)}
SPLIT = TEXT.index(b"[Event", 10)
#: The same games while they are played: the last has neither result nor all its moves.
RUNNING = TEXT[: TEXT.rindex(b" 20. ")].replace(b"1-0", b"*").replace(b"0-1", b"*") + b" *\n"


class Case:
    """A file feed whose watcher is the test."""

    def __init__(self, path: Path, config: FeedsConfig | None = None) -> None:
        self.path, self.clock, self.ledger = path, DrivenClock(), Ledger()
        self._changed: asyncio.Event | None = None
        self.feed = FileFeed(
            str(path), path, conditions(config or FeedsConfig(poll_s=2.0), self.clock), self._watch
        )

    async def _watch(self, path: Path, changed: asyncio.Event) -> None:
        self._changed = changed
        await asyncio.Event().wait()

    def touch(self, text: bytes) -> None:
        """Write in place, and let the system tell."""
        self.path.write_bytes(text)
        self.tell()

    def tell(self) -> None:
        assert self._changed is not None
        self._changed.set()

    async def read(self) -> None:
        """Wait until the feed has read what was told and waits again."""
        changed = self._changed
        assert changed is not None
        await until(lambda: not changed.is_set() and self.clock.next_deadline_s is not None)

    async def moves(self, count: int) -> None:
        await until(lambda: sum(len(g.moves) for g in self.ledger.games.values()) == count)

    @property
    def total(self) -> int:
        return sum(len(game.moves) for game in self.ledger.games.values())


ALL = sum(len(game.moves) for game in GAMES.values())
SOME = sum(len(game.moves) for game in decode(RUNNING))


@pytest.fixture
def case(tmp_path: Path) -> Case:
    path = tmp_path / "games.pgn"
    path.write_bytes(RUNNING)
    return Case(path)


async def test_a_growing_file_is_followed_to_its_end(case: Case) -> None:
    async with running(case.feed, case.ledger) as task:
        await case.moves(SOME)
        case.touch(TEXT)
        await case.moves(ALL)
        assert not task.done()
        while not task.done():
            await until(lambda: task.done() or case.clock.next_deadline_s is not None)
            if not task.done():
                await case.clock.expire()
    assert case.ledger.games == GAMES
    assert case.ledger.last.state == "finished"


async def test_a_finished_file_is_given_its_grace_period(case: Case) -> None:
    case.path.write_bytes(TEXT)
    start_s = case.clock.now()
    async with running(case.feed, case.ledger) as task:
        while not task.done():
            await until(lambda: task.done() or case.clock.next_deadline_s is not None)
            if not task.done():
                await case.clock.expire()
    assert case.clock.now() - start_s == pytest.approx(FeedsConfig().finish_after_s)


@pytest.mark.slow
async def test_without_a_watcher_the_file_is_looked_at_every_poll(case: Case) -> None:
    async with running(case.feed, case.ledger):
        await case.moves(SOME)
        case.path.write_bytes(TEXT)  # nobody tells
        await case.clock.expire()
        await case.moves(ALL)
    assert case.clock.now() == 1002.0


async def test_a_watcher_that_fails_leaves_polling(tmp_path: Path) -> None:
    async def broken(path: Path, changed: asyncio.Event) -> None:
        raise OSError(28, "inotify watch limit reached")

    path = tmp_path / "games.pgn"
    path.write_bytes(RUNNING)
    clock, ledger = DrivenClock(), Ledger()
    async with running(FileFeed("x", path, conditions(clock=clock), broken), ledger):
        await until(lambda: bool(ledger.games))
        path.write_bytes(TEXT)
        await clock.expire()
        await until(lambda: ledger.games == GAMES)


async def test_an_atomic_replacement_is_seen(case: Case) -> None:
    async with running(case.feed, case.ledger):
        await case.moves(SOME)
        other = case.path.with_suffix(".tmp")
        other.write_bytes(TEXT)
        os.replace(other, case.path)
        case.tell()
        await case.moves(ALL)
    assert case.ledger.games == GAMES


async def test_a_change_that_leaves_time_and_size_as_they_were_is_seen(case: Case) -> None:
    """A drive whose clock ticks every two seconds tells nothing of the second change in one."""
    async with running(case.feed, case.ledger):
        await case.moves(SOME)
        stat = case.path.stat()
        text = RUNNING.replace(b"Nf3", b"Nh3", 1)
        assert text != RUNNING
        case.path.write_bytes(text)
        os.utime(case.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        wanted = [substance(game) for game in decode(text)]
        await case.clock.expire()
        await until(lambda: [substance(g) for g in case.ledger.games.values()] == wanted)


async def test_truncating_and_rewriting_takes_nothing_back(case: Case) -> None:
    case.path.write_bytes(TEXT)
    totals = []
    async with running(case.feed, case.ledger):
        await case.moves(ALL)
        for part in (b"", TEXT[:200], TEXT[:SPLIT], TEXT[: SPLIT + 900], TEXT):
            case.touch(part)
            await case.read()
            totals.append(case.total)
        await until(lambda: case.ledger.reports[-1].complete)
    assert set(totals) == {ALL}


async def test_what_stays_gone_is_gone(case: Case) -> None:
    case.path.write_bytes(TEXT)
    async with running(case.feed, case.ledger):
        await case.moves(ALL)
        case.touch(TEXT[:SPLIT])
        await until(lambda: "3 boards are missing" in case.ledger.last.detail)
        while len(case.ledger.games) == 4:  # a minute, a look every two seconds
            await case.clock.expire()
        assert case.clock.time_s >= 1060
    assert case.ledger.reports[-1].complete


async def test_a_half_written_move_is_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(b'[White "A"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. B')
    case = Case(path)
    async with running(case.feed, case.ledger):
        await case.moves(6)
        case.touch(
            b'[White "A"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O *\n'
        )
        await case.moves(9)
    assert [m.san for m in next(iter(case.ledger.games.values())).moves][-1] == "O-O"


async def test_an_empty_file_is_waited_for(case: Case) -> None:
    case.path.write_bytes(b"")
    async with running(case.feed, case.ledger):
        await until(lambda: case.ledger.states == ["connecting", "live"])
        assert case.ledger.last.detail == "no games yet"
        case.touch(TEXT)
        await case.moves(ALL)


async def test_a_file_that_vanishes_is_waited_for(case: Case) -> None:
    async with running(case.feed, case.ledger) as task:
        await case.moves(SOME)
        case.path.unlink()
        case.tell()
        await until(lambda: case.ledger.last.state == "retrying")
        assert "gone" in case.ledger.last.detail
        case.touch(TEXT)
        await case.moves(ALL)
        await until(lambda: case.ledger.last.state == "live")
        assert not task.done()


async def test_no_file_is_told_at_the_start(tmp_path: Path) -> None:
    case = Case(tmp_path / "none.pgn")
    with pytest.raises(FeedNotFound, match="there is no such file"):
        await case.feed.run(case.ledger)


@pytest.mark.parametrize("text", [b"<html>no</html>", b"\x7fELF\x00", b"Dear reader"])
async def test_what_is_not_pgn_is_told_at_the_start(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(text)
    with pytest.raises(FeedUnreadable, match="holds "):
        await Case(path).feed.run(Ledger())


async def test_a_file_that_turns_into_something_else_is_retried(case: Case) -> None:
    async with running(case.feed, case.ledger):
        await case.moves(SOME)
        case.touch(b"<html>server maintenance</html>")
        await until(lambda: "retrying" in case.ledger.states)
        assert "HTML" in next(h.detail for h in case.ledger.healths if h.state == "retrying")
        case.touch(TEXT)
        await case.moves(ALL)


async def test_a_file_too_large_is_told(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_bytes(TEXT)
    with pytest.raises(FeedUnreadable, match="larger than 1000 bytes"):
        await Case(path, FeedsConfig(max_bytes=1000)).feed.run(Ledger())


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FeedUnreadable, match="cannot be read"):
        await Case(tmp_path).feed.run(Ledger())


@pytest.mark.slow
async def test_the_system_tells_of_writes_and_replacements(tmp_path: Path) -> None:
    """The real watcher on a real folder."""
    path = tmp_path / "games.pgn"
    path.write_bytes(b"")
    changed = asyncio.Event()
    task = asyncio.create_task(watch_folder(path, changed))

    async def write_until_seen(text: bytes, replace: bool) -> None:
        # The watch begins somewhat after the task does, so the first writes may be missed.
        changed.clear()
        async with asyncio.timeout(20):
            while not changed.is_set():
                if replace:
                    other = tmp_path / "other"
                    other.write_bytes(text)
                    os.replace(other, path)
                else:
                    path.write_bytes(text)
                try:
                    async with asyncio.timeout(0.2):
                        await changed.wait()
                except TimeoutError:
                    pass

    await write_until_seen(b"a", replace=False)
    await write_until_seen(b"b", replace=True)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "round-1" / "games.pgn"
    ledger, clock = Ledger(), DrivenClock()
    feed = open_feed(str(path), FeedsConfig(), conditions=conditions(None, clock), lasting=True)
    async with running(feed, ledger):
        await until(lambda: ledger.states == ["connecting", "waiting"])
        assert ledger.last.detail == "no such file yet, looked for every 2 s"
        path.parent.mkdir()
        path.write_bytes(TEXT)
        await clock.expire()
        await until(lambda: bool(ledger.games))


async def test_games_beyond_the_bound_are_counted_in_the_health_of_the_source(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded = functools.partial(PgnReader, limits=PgnLimits(games=3))
    monkeypatch.setattr("live.feeds.pgn_snapshots.PgnReader", bounded)
    case = Case(case.path)
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.games) == 3)
        await until(lambda: "1 more left out" in case.ledger.last.detail)
        assert case.ledger.last.detail.startswith("3 games")


async def test_a_game_that_stands_twice_in_a_file_is_counted_once_and_that_is_said(
    case: Case,
) -> None:
    case.path.write_bytes(RUNNING + b"\n" + RUNNING[:SPLIT])
    async with running(case.feed, case.ledger):
        await case.moves(SOME)
        await until(lambda: "1 in it twice, counted once" in case.ledger.last.detail)
        assert len(case.ledger.games) == len(GAMES)


@pytest.mark.parametrize("forfeit", ["0-0", "+/-", "-:+", "+:-", "1-0F"])
async def test_names_corrected_before_a_forfeit_double_no_board(case: Case, forfeit: str) -> None:
    """Colours put right on one board, an accent on another, and the last one was not played."""
    text = TEXT + f'\n[Event "e"]\n[White "X"]\n[Black "Y"]\n[Result "{forfeit}"]\n\n'.encode()
    text += forfeit.encode() + b"\n"
    case.path.write_bytes(text)
    white, black = decode(TEXT)[1].headers.white.name, decode(TEXT)[1].headers.black.name
    swapped = text.replace(f'White "{white}"'.encode(), b'White "_"')
    swapped = swapped.replace(f'Black "{black}"'.encode(), f'Black "{white}"'.encode())
    swapped = swapped.replace(b'White "_"', f'White "{black}"'.encode())
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.reports) == 1)
        case.touch(swapped)
        await until(lambda: len(case.ledger.reports) == 2)
    assert [len(report.games) for report in case.ledger.reports] == [5, 5]
    assert all(game.problem is None for game in case.ledger.reports[-1].games)


async def test_a_file_cut_in_a_clock_takes_no_move_back(tmp_path: Path) -> None:
    path = tmp_path / "one.pgn"
    head = b'[White "A"]\n[Black "B"]\n[Result "*"]\n\n1. e4 {[%clk 1:30:00]} e5 {[%clk 1:0'
    text = head + b"0:00]} 2. Nf3 {[%clk 1:29:00]} Nc6 {[%clk 0:59:00]} *\n"
    path.write_bytes(text)
    case = Case(path)
    async with running(case.feed, case.ledger):
        await case.moves(4)
        case.touch(head)
        await case.read()
        assert case.total == 4
        case.touch(text.replace(b" *", b" 3. Bb5 *"))
        await case.moves(5)
