import asyncio
import os
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from live.config import FeedsConfig
from live.errors import FeedNotFound, FeedUnreadable
from live.events import GameReport, Player
from live.feeds import file_feed, folder_feed
from live.feeds.folder_feed import FolderFeed
from live.rehearse.rehearsal import pgn_text
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

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
WANTED = {told_by(game): substance(game) for game in GAMES}


def test_numbers_count_as_numbers(tmp_path: Path) -> None:
    names = ["r/game-9.pgn", "r/game-10.pgn", "r/games.pgn", "round-2/b.pgn", "round-10/x.PGN"]
    for name in reversed(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert list(folder_feed.scan(tmp_path)) == [tmp_path / name for name in names]


class Case:
    def __init__(self, root: Path) -> None:
        self.root, self.clock, self.ledger = root, DrivenClock(), Ledger()
        self.feed = FolderFeed(str(root), root, conditions(clock=self.clock), self._watch)

    async def _watch(self, path: Path, changed: asyncio.Event) -> None:
        await asyncio.Event().wait()

    def write(self, name: str, *indexes: int) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(pgn_text(GAMES[index]) for index in indexes))
        return path

    async def look(self) -> None:
        """Let a poll pass, and the look after it end."""
        await self.clock.expire()
        await until(lambda: self.clock.next_deadline_s is not None)

    @property
    def games(self) -> dict[tuple[str, ...], tuple[object, ...]]:
        return {board: substance(game) for board, game in self.ledger.games.items()}


async def test_files_in_folders_are_one_event_and_end_together(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.write("round-1/games.pgn", 0, 1)
    case.write("round-2/game-1.pgn", 2)
    async with running(case.feed, case.ledger) as task:
        await until(lambda: len(case.ledger.games) == 3)
        case.write("round-2/game-2.pgn", 3)
        (tmp_path / "round-2" / "index.json").write_text("{}")
        while not task.done():
            await until(lambda: task.done() or case.clock.next_deadline_s is not None)
            if not task.done():
                await case.clock.expire()
    assert case.games == WANTED
    assert case.ledger.last.state == "finished"


async def test_a_combined_file_is_left_out_and_named_and_no_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A side event, an Armageddon and an adjourned game lie beside the single games."""
    caplog.set_level("INFO")
    case = Case(tmp_path)
    case.write("game-1.pgn", 0)
    case.write("game-2.pgn", 1)
    case.write("games.pgn", 0, 1)
    armageddon = msgspec.structs.replace(GAMES[0], moves=GAMES[1].moves[:16])
    (tmp_path / "game-1b.pgn").write_text(pgn_text(armageddon))
    case.write("side-960.pgn", 2)
    case.write("adjourned-24.pgn", 3)
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.reports) == 1)
        reported = case.ledger.reports[-1].games
        detail = case.ledger.last.detail
    wanted = [GAMES[3], GAMES[0], armageddon, GAMES[1], GAMES[2]]
    assert sorted(map(substance, reported), key=repr) == sorted(map(substance, wanted), key=repr)
    assert "left out: games.pgn, its games being in single files" in detail
    assert "side" not in detail and "games.pgn: left out" in caplog.text


async def test_of_a_combined_file_what_no_single_file_holds_is_read(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.write("game-1.pgn", 0)
    case.write("games.pgn", 0, 1)
    renamed = msgspec.structs.replace(
        GAMES[0], headers=msgspec.structs.replace(GAMES[0].headers, white=Player("Other"))
    )
    (tmp_path / "all.pgn").write_text(pgn_text(renamed))  # an accent was put right there first
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.reports) == 1)
    assert sorted(map(substance, case.ledger.reports[-1].games), key=repr) == sorted(
        map(substance, GAMES[:2]), key=repr
    )
    assert "games.pgn, 1 of its 2 games being in single files" in case.ledger.last.detail


async def test_a_file_away_for_long_that_comes_back_half_written_is_doubted(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.write("a.pgn", 0)
    path = case.write("b.pgn", 1)
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.games) == 2)
        path.unlink()
        while len(case.ledger.games) == 2:
            await case.clock.expire()
        whole = pgn_text(GAMES[1])
        path.write_text(whole[: len(whole) // 2])
        while len(case.ledger.games) == 1:
            await case.look()
    back = case.ledger.games[told_by(GAMES[1])]
    assert len(back.moves) == len(GAMES[1].moves)


async def test_a_file_that_is_replaced_takes_nothing_back(tmp_path: Path) -> None:
    case = Case(tmp_path)
    path = case.write("game-1.pgn", 0)
    case.write("game-2.pgn", 1)
    counts = []
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.games) == 2)
        path.write_bytes(b"")
        await case.look()
        counts.append(len(case.ledger.games))
        changed = path.with_suffix(".tmp")
        changed.write_text(pgn_text(GAMES[0]))
        os.replace(changed, path)
        await case.look()
        counts.append(len(case.ledger.games))
    assert counts == [2, 2]


async def test_a_file_that_is_gone_for_good_takes_its_games_with_it(tmp_path: Path) -> None:
    case = Case(tmp_path)
    path = case.write("a.pgn", 0)
    case.write("b.pgn", 1)
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.games) == 2)
        path.unlink()
        await case.look()
        assert len(case.ledger.games) == 2
        while len(case.ledger.games) == 2:  # a minute, a look every two seconds
            await case.clock.expire()
        assert case.clock.time_s >= 1060
    assert case.ledger.reports[-1].complete


async def test_a_bad_file_costs_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    case = Case(tmp_path)
    case.write("a.pgn", 0)
    (tmp_path / "b.pgn").write_bytes(b"<html>no")
    (tmp_path / "c.pgn").symlink_to(tmp_path / "nowhere")
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.games) == 1)
    assert "b.pgn: left out: the source sends an HTML page" in caplog.text


async def test_a_file_that_its_writer_holds_for_a_moment_is_read_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Windows refuses to open what another has locked; nothing about the file changes after it."""
    case, held = Case(tmp_path), True
    case.write("game-1.pgn", 0)
    case.write("game-2.pgn", 1)

    def locked(path: Path, max_bytes: int) -> bytes:
        if held and path.name == "game-2.pgn":
            raise PermissionError(13, "Permission denied")
        return file_feed.read(path, max_bytes)

    monkeypatch.setattr(folder_feed, "read", locked)
    async with running(case.feed, case.ledger):
        await until(lambda: len(case.ledger.games) == 1)
        for _ in range(3):
            await case.look()
        held = False
        await case.look()
        await until(lambda: len(case.ledger.games) == 2)
    assert caplog.text.count("game-2.pgn: left out: Permission denied") == 1


async def test_an_empty_folder_is_waited_for(tmp_path: Path) -> None:
    case = Case(tmp_path)
    async with running(case.feed, case.ledger):
        await until(lambda: case.ledger.states == ["connecting", "live"])
        case.write("round-1/games.pgn", 0)
        await case.look()
        assert len(case.ledger.games) == 1


async def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FeedNotFound):
        await Case(tmp_path / "none").feed.run(Ledger())


async def test_a_folder_of_far_too_many_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_feed, "MAX_FILES", 3)
    case = Case(tmp_path)
    for index in range(4):
        case.write(f"{index}.pgn", 0)
    with pytest.raises(FeedUnreadable, match="more than 3 PGN files"):
        await case.feed.run(Ledger())


async def test_the_real_watcher_tells_of_new_files_in_new_folders(tmp_path: Path) -> None:
    ledger = Ledger()
    # Polls that never come: what is seen, the system told.
    feed = FolderFeed(str(tmp_path), tmp_path, conditions(FeedsConfig(poll_s=1e9)))
    case = Case(tmp_path)
    case.write("first.pgn", 0)
    async with running(feed, ledger):
        await until(lambda: len(ledger.games) == 1)
        attempt = 0
        while len(ledger.games) < 2:  # the watch begins somewhat after the feed does
            attempt += 1
            case.write(f"round-{attempt}/games.pgn", 1)
            assert attempt < 20
            with suppress(TimeoutError):
                await until(lambda: len(ledger.games) == 2, within_s=1)


def _going(*games: GameReport) -> list[GameReport]:
    """As files have games that are not over."""
    return [
        one
        for game in games
        for one in decode(pgn_text(msgspec.structs.replace(game, result="*")).encode())
    ]


async def test_what_a_former_run_knew_is_doubted_when_it_is_missing_or_shorter(
    tmp_path: Path,
) -> None:
    case = Case(tmp_path)
    going = _going(*GAMES[:3])
    assert len({told_by(game) for game in going}) == 3
    case.ledger.before = tuple(going)
    whole, half = (pgn_text(game) for game in going[:2])
    (tmp_path / "game-1.pgn").write_text(whole)
    (tmp_path / "game-2.pgn").write_text(half[: len(half) * 2 // 3])
    async with running(case.feed, case.ledger):
        await until(lambda: bool(case.ledger.reports))
        assert case.games == {told_by(game): substance(game) for game in going}
        (tmp_path / "game-2.pgn").write_text(half)
        (tmp_path / "game-3.pgn").write_text(pgn_text(going[2]))
        for _ in range(3):
            await case.look()
        assert case.games == {told_by(game): substance(game) for game in going}
        # From then on a takeback is one.
        less = msgspec.structs.replace(going[2], moves=going[2].moves[:-1])
        (tmp_path / "game-3.pgn").write_text(pgn_text(less))
        for _ in range(3):
            await case.look()
        assert case.games[told_by(less)] == substance(less)


async def test_what_a_former_run_knew_is_gone_where_it_stays_away(tmp_path: Path) -> None:
    case = Case(tmp_path)
    case.ledger.before = tuple(_going(*GAMES[:2]))
    case.write("game-1.pgn", 0)
    began_s = case.clock.now()
    async with running(case.feed, case.ledger):
        await until(lambda: bool(case.ledger.reports))
        while told_by(GAMES[1]) in case.games:
            await case.look()
        assert case.clock.now() - began_s >= FeedsConfig().lost_after_s


async def test_a_single_file_that_comes_back_half_written_takes_no_move_back(
    tmp_path: Path,
) -> None:
    case = Case(tmp_path)
    (game,) = _going(GAMES[0])
    early = msgspec.structs.replace(game, moves=game.moves[:30])
    half = msgspec.structs.replace(game, moves=game.moves[:20])
    (tmp_path / "games.pgn").write_text(pgn_text(early))
    (tmp_path / "game-1.pgn").write_text(pgn_text(early))
    async with running(case.feed, case.ledger):
        await until(lambda: bool(case.ledger.reports))
        (tmp_path / "game-1.pgn").unlink()
        (tmp_path / "games.pgn").write_text(pgn_text(game))
        while case.games != {told_by(game): substance(game)}:
            await case.look()
        case.clock.time_s += 2 * FeedsConfig().lost_after_s
        for _ in range(5):
            await case.look()
        (tmp_path / "game-1.pgn").write_text(pgn_text(half).removesuffix("*\n"))
        before = len(case.ledger.reports)
        for _ in range(3):
            await case.look()
        said = {len(one.moves) for each in case.ledger.reports[before:] for one in each.games}
        assert said <= {len(game.moves)}


async def test_a_single_file_that_was_half_written_from_the_first_takes_no_move_back(
    tmp_path: Path,
) -> None:
    case = Case(tmp_path)
    (game,) = _going(GAMES[0])
    half = msgspec.structs.replace(game, moves=game.moves[:20])
    (tmp_path / "games.pgn").write_text(pgn_text(game))
    async with running(case.feed, case.ledger):
        await until(lambda: bool(case.ledger.reports))
        (tmp_path / "game-1.pgn").write_text(pgn_text(half).removesuffix("*\n"))
        for _ in range(3):
            await case.look()
        assert all(len(one.moves) == len(game.moves) for one in case.ledger.reports[-1].games)
        assert len(case.ledger.reports[-1].games) == 1
