"""Feeds from a file, a folder and standard input, and a source that delivers texts one
by one.
"""

import asyncio
import functools
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.errors import FeedNotFound, FeedUnreadable
from live.messages.from_sources import GameReport, Player
from live.rehearse.rehearsal import write_pgn
from live.settings import FeedsConfig
from live.sources import file_feed, folder_scan, http_client
from live.sources.file_feed import FileFeed, FolderFeed
from live.sources.pgn_decoder import PgnLimits, PgnReader
from live.sources.source_address import recognise_source
from live.sources.stdin_feed import StdinFeed, read_pieces
from tests.sources.damaged_json import Shown
from tests.sources.fakes import (
    DATA,
    GAMES,
    Followed,
    Ledger,
    decode,
    follow_source,
    identify_game,
    run_feed,
    substance,
    until,
)

TEXT = (DATA / "four-boards.pgn").read_bytes()
SPLIT = TEXT.index(b"[Event", 10)
#: The same games during play: the last game has no result and not all its moves.
RUNNING = (
    TEXT[: TEXT.rindex(b" 20. ")].replace(b"1-0", b"*").replace(b"0-1", b"*") + b" *\n"
)
ALL = sum(len(game.moves) for game in GAMES)
SOME = sum(len(game.moves) for game in decode(RUNNING))
KNOWN = {identify_game(game): game for game in GAMES}
POLLED = FeedsConfig(poll_s=2.0)


def put(path: Path, text: bytes) -> None:
    path.write_bytes(text)


class Watched:
    """A watcher that reports a change when the test asks for it."""

    def __init__(self) -> None:
        self.changed: asyncio.Event | None = None

    async def __call__(self, path: Path, changed: asyncio.Event) -> None:
        self.changed = changed
        await asyncio.Event().wait()


class OneFile:
    """A followed file whose changes the test reports."""

    def __init__(self, path: Path, seen: Followed, watch: Watched) -> None:
        self.path, self.seen, self._watch = path, seen, watch

    def tell(self) -> None:
        assert self._watch.changed is not None
        self._watch.changed.set()

    def touch(self, text: bytes) -> None:
        """Write the file in place and report the change."""
        self.path.write_bytes(text)
        self.tell()

    async def read(self) -> None:
        """Wait until the feed has read the reported change and waits again."""
        changed = self._watch.changed
        assert changed is not None
        await until(lambda: not changed.is_set())
        await self.seen.wait_for_pause()


@asynccontextmanager
async def file(
    path: Path, text: bytes = RUNNING, config: FeedsConfig = POLLED
) -> AsyncIterator[tuple[OneFile, Followed]]:
    put(path, text)
    watch = Watched()
    feed = functools.partial(FileFeed, str(path), path, watch=watch)
    async with follow_source(feed, config) as seen:
        yield OneFile(path, seen, watch), seen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "games.pgn"


async def test_a_growing_file_is_followed_to_its_end_and_given_its_grace_period(
    path: Path,
) -> None:
    async with file(path) as (written, seen):
        await seen.wait_for_moves(SOME)
        written.touch(TEXT)
        await seen.wait_for_moves(ALL)
        start_s = seen.clock.now()
        assert not seen.done
        await seen.end()
    assert seen.ledger.games == KNOWN
    assert seen.states[-1] == "finished"
    assert seen.clock.now() - start_s == pytest.approx(FeedsConfig().finish_after_s)


FIRST, OTHERS = RUNNING[:SPLIT], RUNNING[SPLIT:]
LESS = ": kept: its source now shows less of this game"
UNREADABLE = [
    (FIRST.replace(b"1. ", b"1. ??x", 1) + OTHERS, "board 9: unreadable move 1."),
    (
        FIRST.replace(b"[Site", b'[FEN "8/8"]\n[Site', 1) + OTHERS,
        "board 9: the FEN header cannot",
    ),
    (RUNNING[:-60], LESS),
    (b"", LESS),
]


@pytest.mark.parametrize(("text", "words"), UNREADABLE)
@pytest.mark.parametrize("restarted", [False, True])
async def test_a_text_that_cannot_be_read_takes_no_move_back_and_is_said(
    path: Path, text: bytes, words: str, restarted: bool
) -> None:
    """The texts are like those in reports of public tests: moves that cannot be read,
    or missing games.
    """
    shown, ledger = Shown(), Ledger()
    async with file(path) as (written, seen):
        await seen.wait_for_moves(SOME)
        shown.take(seen.ledger.reports)
        if not restarted:
            seen.ledger.reports.clear()
            written.touch(text)
            await until(lambda: words in seen.detail)
            shown.take(seen.ledger.reports)
    shown.restart()
    ledger.before = tuple(shown.reports)
    put(path, text)
    watch = Watched()
    feed = functools.partial(FileFeed, str(path), path, watch=watch)
    async with follow_source(feed, POLLED, ledger=ledger) as seen:
        await until(lambda: words in seen.detail)
        shown.take(ledger.reports)
        assert sum(len(game.moves) for game in shown.index) == SOME
        ledger.reports.clear()
        put(path, TEXT)
        while sum(seen.plies.values()) != ALL:
            await seen.wait_for_pause()
            await seen.clock.expire()
        shown.take(ledger.reports)
    assert len(shown.index) == 4
    assert {game.problem for game in shown.index} == {None}


async def test_a_page_in_the_place_of_a_file_leaves_its_boards(path: Path) -> None:
    async with file(path) as (written, seen):
        await seen.wait_for_moves(SOME)
        written.touch(b"<html>login</html>")
        await until(lambda: seen.states[-1] == "retrying")
        assert seen.detail.startswith(
            "the source sends an HTML page (perhaps a login page)"
        )
        assert len(seen.ledger.reports) == 1


async def test_a_watcher_that_fails_leaves_polling(path: Path) -> None:
    async def broken(path: Path, changed: asyncio.Event) -> None:
        raise OSError(28, "inotify watch limit reached")

    put(path, RUNNING)
    async with follow_source(
        functools.partial(FileFeed, "x", path, watch=broken)
    ) as seen:
        await seen.wait_for_moves(SOME)
        put(path, TEXT)
        await seen.clock.expire()
        await seen.wait_for_moves(ALL)


async def test_a_watcher_that_cannot_be_imported_leaves_polling(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    put(path, RUNNING)
    async with follow_source(functools.partial(FileFeed, "x", path)) as seen:
        await seen.wait_for_moves(SOME)
        await until(lambda: "cannot be watched" in caplog.text)
        put(path, TEXT)
        await seen.clock.expire()
        await seen.wait_for_moves(ALL)


async def test_a_change_that_leaves_time_and_size_as_they_were_is_seen(
    path: Path,
) -> None:
    """On a drive whose clock has a resolution of two seconds, a second change within
    them is not visible in the time.
    """
    async with file(path) as (_, seen):
        await seen.wait_for_moves(SOME)
        stat = os.stat(path)
        text = RUNNING.replace(b"Nf3", b"Nh3", 1)
        put(path, text)
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        wanted = [substance(game) for game in decode(text)]
        await seen.clock.expire()
        await until(lambda: [substance(game) for game in seen.games] == wanted)


async def test_truncating_and_rewriting_takes_nothing_back_and_what_stays_gone_is_gone(
    path: Path,
) -> None:
    async with file(path, TEXT) as (written, seen):
        await seen.wait_for_moves(ALL)
        for part in (b"", TEXT[:200], TEXT[:SPLIT], TEXT[: SPLIT + 900], TEXT):
            written.touch(part)
            await written.read()
            assert sum(seen.plies.values()) == ALL
        written.touch(TEXT[:SPLIT])
        await until(lambda: "3 finished boards are missing" in seen.detail)
        begun_s = seen.clock.now()
        while len(seen.games) == 4:  # for a minute, with a poll every two seconds
            await seen.clock.expire()
        assert seen.clock.now() - begun_s >= 58
    assert seen.ledger.reports[-1].complete


async def test_a_file_that_is_empty_vanishes_or_turns_into_something_else_is_waited_for(
    path: Path,
) -> None:
    async with file(path, b"") as (written, seen):
        await until(lambda: seen.states == ["connecting", "live"])
        assert seen.detail == "no games yet"
        written.touch(RUNNING)
        await seen.wait_for_moves(SOME)
        os.remove(path)
        written.tell()
        await until(lambda: seen.states[-1] == "retrying" and "gone" in seen.detail)
        written.touch(RUNNING)
        await until(lambda: seen.states[-1] == "live")
        written.touch(b"<html>server maintenance</html>")
        await until(lambda: any("sends an HTML" in detail for detail in seen.details))
        written.touch(TEXT)
        await seen.wait_for_moves(ALL)
        assert not seen.done


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (None, FeedNotFound, "there is no such file"),
        (b"<html>no</html>", FeedUnreadable, "holds an HTML"),
        (TEXT, FeedUnreadable, "larger than 1000 bytes"),
    ],
)
async def test_what_cannot_be_followed_is_told_at_the_start(
    path: Path,
    text: bytes | None,
    error: type[Exception],
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_client, "MAX_BYTES", 1000)
    if text is not None:
        put(path, text)
    feed = functools.partial(FileFeed, str(path), path, watch=Watched())
    with pytest.raises(error, match=says):
        await Followed(feed, POLLED).run()
    with pytest.raises(FeedUnreadable, match="cannot be read"):
        folder = functools.partial(FileFeed, "folder", path.parent, watch=Watched())
        await Followed(folder, POLLED).run()


async def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "round-1" / "games.pgn"
    async with follow_source(str(path), POLLED, lasting=True) as seen:
        await until(lambda: seen.states == ["connecting", "waiting"])
        assert seen.detail == "no such file yet, checked every 2 s"
        path.parent.mkdir()
        put(path, TEXT)
        await seen.clock.expire()
        await seen.wait_for_moves(ALL)


async def test_a_guessed_charset_is_said_once_in_the_health_and_a_named_one_is_not(
    tmp_path: Path,
) -> None:
    pgn = '[White "Παπαδόπουλος, Γιάννης"]\n[Black "B"]\n\n1. e4 *\n'
    for number in (1, 2):
        put(
            tmp_path / f"{number}.pgn",
            pgn.replace('"B"', f'"B{number}"').encode("cp1253"),
        )
    async with follow_source(str(tmp_path), POLLED) as seen:
        await until(lambda: len(seen.games) == 2)
        await until(lambda: seen.detail.count("charset guessed: cp1253") == 1)
        assert {game.headers.white.name for game in seen.games} == {
            "Παπαδόπουλος, Γιάννης"
        }
    named = msgspec.structs.replace(POLLED, charset="iso8859-7")
    async with follow_source(str(tmp_path), named) as seen:
        await until(lambda: len(seen.games) == 2)
        assert "guessed" not in seen.detail


async def test_health_counts_games_beyond_the_bound_and_doubled_ones(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with file(path, RUNNING + b"\n" + RUNNING[:SPLIT]) as (_, seen):
        await until(lambda: "1 in it twice, counted once" in seen.detail)
        assert len(seen.games) == len(GAMES) and sum(seen.plies.values()) == SOME
    bounded = functools.partial(PgnReader, limits=PgnLimits(games=3))
    monkeypatch.setattr("live.sources.pgn_text.PgnReader", bounded)
    async with file(path) as (_, seen):
        await until(lambda: "1 more left out" in seen.detail)
        assert seen.detail.startswith("3 games") and len(seen.games) == 3


# --- folders --------------------------------------------------------------------------


WANTED = {identify_game(game): substance(game) for game in GAMES}


def change_game(game: GameReport, **changes: Any) -> GameReport:
    return msgspec.structs.replace(game, **changes)


class Folder:
    """A followed folder whose watcher reports nothing: only polls find changes."""

    def __init__(self, root: Path, before: list[GameReport] | None = None) -> None:
        ledger = Ledger()
        ledger.before = tuple(before or ())
        feed = functools.partial(FolderFeed, str(root), root, watch=Watched())
        self.root, self.seen = root, Followed(feed, FeedsConfig(), ledger=ledger)
        self.clock, self.reports = self.seen.clock, ledger.reports

    @asynccontextmanager
    async def follow_source(self) -> AsyncIterator[None]:
        """Follow the folder while the block is active, which begins after the first
        report.
        """
        async with run_feed(self.seen.feed, self.seen.ledger) as self.seen.task:
            await until(lambda: bool(self.seen.ledger.healths[1:]))
            yield

    def write(self, name: str, *games: GameReport) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(map(write_pgn, games)))
        return path

    def halve(self, name: str, game: GameReport, plies: int) -> None:
        """Write the game's file as if it were half written."""
        path = self.write(name, change_game(game, moves=game.moves[:plies]))
        path.write_text(path.read_text().removesuffix("*\n"))

    async def look(self, times: int = 1) -> None:
        """Let polls take place, and wait until each is finished."""
        for _ in range(times):
            await self.clock.expire()
            await self.seen.wait_for_pause()

    @property
    def games(self) -> dict[tuple[str, ...], tuple[object, ...]]:
        return {
            board: substance(game) for board, game in self.seen.ledger.games.items()
        }

    def holds(self, *games: GameReport) -> bool:
        return self.games == {identify_game(game): substance(game) for game in games}


def test_numbers_count_as_numbers(tmp_path: Path) -> None:
    names = [
        "r/game-9.pgn",
        "r/game-10.pgn",
        "r/games.pgn",
        "round-2/b.pgn",
        "round-10/x.PGN",
    ]
    for name in reversed(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list(folder_scan.scan_folder(tmp_path)) == [
        tmp_path / name for name in names
    ]


async def test_files_in_folders_are_one_event_and_end_together(tmp_path: Path) -> None:
    case = Folder(tmp_path)
    async with case.follow_source():
        await case.look()  # the feed waits while the folder is empty
        case.write("round-1/games.pgn", *GAMES[:2])
        case.write("round-2/game-1.pgn", GAMES[2])
        await case.look()
        assert len(case.games) == 3
        case.write("round-2/game-2.pgn", GAMES[3])
        (tmp_path / "round-2" / "index.json").write_text("{}")
        await case.seen.end()
    assert case.games == WANTED
    assert case.seen.states[-1] == "finished"


async def test_a_combined_file_is_left_out_and_named_and_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A side event, an Armageddon and an adjourned game have files of their own."""
    caplog.set_level("INFO")
    case = Folder(tmp_path)
    armageddon = change_game(GAMES[0], moves=GAMES[1].moves[:16])
    wanted = {
        "game-1.pgn": GAMES[0],
        "game-2.pgn": GAMES[1],
        "game-1b.pgn": armageddon,
        "side-960.pgn": GAMES[2],
        "adjourned-24.pgn": GAMES[3],
    }
    for name, game in wanted.items():
        case.write(name, game)
    case.write("games.pgn", *GAMES[:2])
    async with case.follow_source():
        reported, detail = case.reports[-1].games, case.seen.detail
    assert sorted(map(substance, reported), key=repr) == sorted(
        map(substance, wanted.values()), key=repr
    )
    assert "left out: games.pgn, its games are also in single files" in detail
    assert "side" not in detail and "games.pgn: left out" in caplog.text


async def test_of_a_combined_file_what_no_single_file_holds_is_read(
    tmp_path: Path,
) -> None:
    case = Folder(tmp_path)
    case.write("game-1.pgn", GAMES[0])
    case.write("games.pgn", *GAMES[:2])
    named = msgspec.structs.replace(GAMES[0].headers, white=Player("Other"))
    case.write(
        "all.pgn", change_game(GAMES[0], headers=named)
    )  # an accent was corrected there first
    async with case.follow_source():
        assert case.holds(*GAMES[:2])
        assert (
            "games.pgn, 1 of its 2 games are also in single files" in case.seen.detail
        )


async def test_copies_of_a_file_give_no_second_boards_and_are_named(
    tmp_path: Path,
) -> None:
    case, copy = Folder(tmp_path), "games (HALL-PC's conflicted copy 2026-03-01).pgn"
    case.write("games.pgn", *GAMES[:2])
    case.write(copy, *GAMES[:2])
    case.write(
        "games - Copy.pgn", change_game(GAMES[0], moves=GAMES[0].moves[:12], result="*")
    )
    async with case.follow_source():
        assert case.holds(*GAMES[:2])
        assert case.seen.detail == (
            f"2 games; left out: {copy}, its games are also in games.pgn, "
            "games - Copy.pgn, its games are also in games.pgn"
        )
        # Play continues in only one of the files.
        case.write(copy, GAMES[0], GAMES[1], GAMES[2])
        await case.look(2)
        assert case.holds(*GAMES[:3])


async def test_a_replaced_file_takes_nothing_back_and_a_deleted_one_its_games(
    tmp_path: Path,
) -> None:
    case = Folder(tmp_path)
    path = case.write("a.pgn", GAMES[0])
    case.write("b.pgn", GAMES[1])
    async with case.follow_source():
        put(path, b"")
        await case.look()
        assert len(case.games) == 2
        changed = path.with_suffix(".tmp")
        changed.write_text(write_pgn(GAMES[0]))
        os.replace(changed, path)
        await case.look()
        path.unlink()
        gone_s = case.clock.now()
        while len(case.games) == 2:
            await case.look()
        assert case.clock.now() - gone_s >= 60
        assert case.reports[-1].complete
        # A file that comes back half written is not trusted.
        whole = write_pgn(GAMES[0])
        path.write_text(whole[: len(whole) // 2])
        while len(case.games) == 1:
            await case.look()
        assert case.games == {board: WANTED[board] for board in case.games}


async def test_a_bad_file_costs_no_other_and_one_that_its_writer_holds_is_read_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On Windows a file that another program has locked cannot be opened. When the lock
    ends, neither time nor size changes.
    """
    case, locked, read = Folder(tmp_path), True, file_feed.read_bounded
    case.write("game-1.pgn", GAMES[0])
    case.write("game-2.pgn", GAMES[1])
    (tmp_path / "b.pgn").write_bytes(b"<html>no")
    (tmp_path / "c.pgn").symlink_to(tmp_path / "nowhere")

    def opened(path: Path, max_bytes: int) -> bytes:
        if locked and path.name == "game-2.pgn":
            raise PermissionError(13, "Permission denied")
        return read(path, max_bytes)

    monkeypatch.setattr(file_feed, "read_bounded", opened)
    async with case.follow_source():
        assert len(case.games) == 1
        await case.look(3)
        locked = False
        await case.look()
        assert len(case.games) == 2
    assert caplog.text.count("game-2.pgn: left out: Permission denied") == 1
    assert "b.pgn: left out: the source sends an HTML page" in caplog.text


def odd_files(root: Path) -> Iterator[tuple[str, str]]:
    """Create things with the name of a PGN file that are no files; yield the name and
    kind of each.
    """
    os.mkfifo(root / "b.pgn")
    yield "b.pgn", "a pipe"
    (root / "c.pgn").mkdir()
    yield "c.pgn", "a folder"
    (root / "d.pgn").symlink_to("/dev/zero")
    yield "d.pgn", "a device"
    (root / "e.pgn").symlink_to(root / "b.pgn")
    yield "e.pgn", "a pipe"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "s.pgn"))
    yield "s.pgn", "a socket"


async def test_anything_but_a_file_is_left_out_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    case = Folder(tmp_path)
    case.write("games.pgn", *GAMES)
    odd = list(odd_files(Path()))
    async with case.follow_source():
        assert case.games == WANTED
        for name, what in odd:
            assert f"{name} ({what}, not a file)" in case.seen.detail
        # This file is replaced by a pipe between the scan and the reading.
        (tmp_path / "games.pgn").unlink()
        os.mkfifo(tmp_path / "games.pgn")
        await case.look(3)
        assert case.games == WANTED
        (tmp_path / "games.pgn").unlink()
        case.write("games.pgn", *GAMES)
        await case.look()
        assert "games.pgn" not in case.seen.detail
    assert caplog.text.count("b.pgn: left out") == 1


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replace_pipe(path: Path) -> None:
    path.unlink()
    put(path, TEXT)


async def test_a_followed_file_that_becomes_a_pipe_is_waited_for(path: Path) -> None:
    async with file(path, TEXT) as (written, seen):
        await seen.wait_for_moves(ALL)
        make_pipe(path)
        written.tell()
        await until(lambda: "cannot be read (a pipe, not a file)" in seen.detail)
        assert seen.states[-1] == "retrying" and seen.ledger.games == KNOWN
        replace_pipe(path)
        await until(lambda: seen.states[-1] in ("live", "finished"))


async def test_a_drive_that_does_not_answer_is_said_and_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, read = threading.Event(), file_feed.read_bounded

    def late(path: Path, max_bytes: int) -> bytes:
        answers.wait(60)
        return read(path, max_bytes)

    monkeypatch.setattr(file_feed, "SLOW_S", 0.01)
    monkeypatch.setattr(file_feed, "read_bounded", late)
    async with file(path, TEXT) as (_, seen):
        await until(lambda: "its drive has not answered" in seen.detail)
        assert seen.states[-1] == "retrying"
        answers.set()
        await seen.wait_for_moves(ALL)
        assert seen.states[-1] == "live"


def test_a_read_that_hangs_does_not_keep_the_service_from_ending(path: Path) -> None:
    put(path, TEXT)
    hanging = (
        "import sys, threading; from live.cli import main; "
        "from live.sources import file_feed\n"
        "def read(*arguments):\n"
        "    print('reads', flush=True); threading.Event().wait()\n"
        "file_feed.read_bounded = read\n"
        "main()"
    )
    arguments = ("--headless", "--no-journal", "--port", "0", "--feed", str(path))
    command = (sys.executable, "-c", hanging, *arguments)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as service:
        assert service.stdout is not None
        try:
            assert any(line == b"reads\n" for line in service.stdout)
            service.terminate()
            assert service.wait(60) == 0
        finally:
            service.kill()


async def test_a_name_that_is_no_text_is_printable_wherever_it_is_said(
    tmp_path: Path,
) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xfe"))
    os.mkdir(root)
    case = Folder(root)
    case.write(os.fsdecode(b"\xff.pgn"), *GAMES)
    os.mkfifo(root / os.fsdecode(b"\xfd.pgn"))
    case.write("game-1.pgn", GAMES[0])
    async with case.follow_source():
        assert case.games == WANTED
        said = case.seen.detail
        assert (
            r"\xff.pgn, 1 of its 4 games" in said
            and r"\xfd.pgn (a pipe, not a file)" in said
        )
        msgspec.json.encode([each.detail for each in case.seen.ledger.healths])
    address = recognise_source(str(root), lichess_url="https://lichess.org")
    assert address.name.endswith(r"\xfe") and Path(address.target) == root


async def test_no_folder_and_one_of_far_too_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FeedNotFound):
        await Folder(tmp_path / "none").seen.run()
    monkeypatch.setattr(folder_scan, "MAX_FILES", 3)
    case = Folder(tmp_path)
    for index in range(4):
        case.write(f"{index}.pgn", GAMES[0])
    with pytest.raises(FeedUnreadable, match="more than 3 PGN files"):
        await case.seen.run()


@pytest.mark.parametrize("what", ["a file replaced", "a file written", "a new folder"])
async def test_the_real_watcher_tells_of_changes(tmp_path: Path, what: str) -> None:
    case, path = Folder(tmp_path), tmp_path / "first.pgn"
    case.write("first.pgn", GAMES[0])
    spec = str(tmp_path if what == "a new folder" else path)
    # Polls are too rare to find the change, so only the watcher can report it.
    async with follow_source(spec, FeedsConfig(poll_s=1e9)) as seen:
        await seen.wait_for_games(1)
        for attempt in range(20):  # the watcher starts a little later than the feed
            if what == "a file written":
                case.write("first.pgn", *GAMES[:2])
            else:
                new = case.write(f"round-{attempt}/games.pgn", *GAMES[:2])
                if what == "a file replaced":
                    os.replace(new, path)
            with suppress(TimeoutError):
                await until(lambda: len(seen.games) >= 2, within_s=1)
                break
        assert len(seen.games) >= 2


def list_unfinished(*games: GameReport) -> list[GameReport]:
    """Return the games without results, as PGN files have unfinished games."""
    return decode(
        "\n".join(write_pgn(change_game(game, result="*")) for game in games).encode()
    )


async def test_what_a_former_run_knew_is_doubted_when_it_is_missing_or_shorter(
    tmp_path: Path,
) -> None:
    known = list_unfinished(*GAMES[:3])
    case = Folder(tmp_path, known)
    case.write("game-1.pgn", known[0])
    case.halve("game-2.pgn", known[1], 30)
    async with case.follow_source():
        assert case.holds(*known)
        case.write("game-2.pgn", known[1])
        case.write("game-3.pgn", known[2])
        await case.look(3)
        assert case.holds(*known)
        # All games have now been read again, so a missing move is a takeback.
        less = change_game(known[2], moves=known[2].moves[:-1])
        case.write("game-3.pgn", less)
        await case.look(3)
        assert case.games[identify_game(less)] == substance(less)


async def test_a_takeback_in_a_file_waits_for_no_other_file(tmp_path: Path) -> None:
    """Two boards take back at once, while a third file is half written and a fourth is
    missing.
    """
    games = list_unfinished(*GAMES)
    case = Folder(tmp_path)
    for number, game in enumerate(games, 1):
        case.write(f"game-{number}.pgn", game)
    async with case.follow_source():
        less = [change_game(game, moves=game.moves[:-1]) for game in games[:2]]
        for number, game in enumerate(less, 1):
            case.write(f"game-{number}.pgn", game)
        case.halve("game-3.pgn", games[2], 20)
        (tmp_path / "game-4.pgn").unlink()
        (tmp_path / "game-5.pgn").write_text('[White "X"]\n[Black "Y"]\n\n1. a3 *\n')
        await case.look()
        assert len(case.games) == 5
        for game in [*less, *games[2:]]:
            assert case.games[identify_game(game)] == substance(game)


async def test_a_single_file_that_is_half_written_from_the_first_takes_no_move_back(
    tmp_path: Path,
) -> None:
    case = Folder(tmp_path)
    (game,) = list_unfinished(GAMES[0])
    case.write("games.pgn", game)
    async with case.follow_source():
        before = len(case.reports)
        case.halve("game-1.pgn", game, 20)
        await case.look(3)
        later = chain.from_iterable(report.games for report in case.reports[before:])
        assert {len(one.moves) for one in later} <= {len(game.moves)}
        assert len(case.reports[-1].games) == 1


# --- standard input and texts ---------------------------------------------------------


@asynccontextmanager
async def open_pipe() -> AsyncIterator[tuple[Followed, int]]:
    """Yield a feed of standard input that does not run yet, and the end of the pipe to
    write to.
    """
    reader, writer = os.pipe()
    yield (
        Followed(
            functools.partial(StdinFeed, recognise_source("-"), fd=reader),
            FeedsConfig(),
        ),
        writer,
    )
    os.close(reader)


async def write_all(fd: int, text: bytes, size: int) -> None:
    def write() -> None:
        for at in range(0, len(text), size):
            os.write(fd, text[at : at + size])
        os.close(fd)

    await asyncio.to_thread(write)


@pytest.mark.parametrize("size", [7, 1000, 1_000_000])
async def test_a_pipe_gives_its_games_and_ends_the_feed(size: int) -> None:
    async with open_pipe() as (seen, writer):
        await asyncio.gather(seen.run(), write_all(writer, TEXT, size))
    assert seen.ledger.games == KNOWN
    assert seen.states[-1] == "finished"


async def test_a_plain_file_may_be_standard_input_and_a_cut_last_game_counts(
    path: Path,
) -> None:
    put(path, TEXT[: TEXT.rindex(b" 20. ")])
    fd = os.open(path, os.O_RDONLY)
    seen = Followed(
        functools.partial(StdinFeed, recognise_source("-"), fd=fd), FeedsConfig()
    )
    await seen.run()
    os.close(fd)
    assert [len(game.moves) for game in seen.games][-1] in (37, 38)


async def test_games_are_reported_while_the_pipe_is_open() -> None:
    async with open_pipe() as (seen, writer), run_feed(seen.feed, seen.ledger):
        os.write(writer, TEXT[:SPLIT])
        await seen.wait_for_games(1)
        assert seen.states[-1] == "live"
        os.close(writer)


async def test_html_is_refused() -> None:
    async with open_pipe() as (seen, writer):
        with pytest.raises(FeedUnreadable, match="holds an HTML page"):
            await asyncio.gather(seen.run(), write_all(writer, b"<html>Log in", 100))


async def test_a_reader_that_leaves_early_lets_the_thread_go() -> None:
    reader, writer = os.pipe()
    before = threading.active_count()
    os.write(writer, b"[Event]")
    async for piece in (stream := read_pieces(reader)):
        assert piece == b"[Event]"
        break
    await stream.aclose()  # type: ignore[attr-defined]
    await until(lambda: threading.active_count() <= before)
    os.close(writer)
    os.close(reader)
