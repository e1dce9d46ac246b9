"""A service that starts again shows what it showed, searches nothing twice, and goes
on.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from live.event.game_change import EventChange
from live.journal.event_journal import JournalPlace, find_journal_place
from live.journal.journal_reader import JournalReader
from live.journal.journal_writer import Record
from live.journal.recorded_event import rebuild_event
from live.messages.figures import GameDetail
from live.messages.from_sources import FeedReport, GameReport
from live.messages.health import FeedHealth
from live.messages.to_clients import Change, MoveMessage
from live.server.analysis import Analysis, build_analysis
from live.settings import JournalConfig
from live.sources import demo_feed
from tests.benchmarks import drills, kill_drill
from tests.event.answered_event import (
    FEED,
    AnsweredEvent,
    confirm_games,
    left_behind,
    open_service,
    report_and_settle,
    settings,
)
from tests.event.arithmetic import line
from tests.games.short_reports import change_headers, make_game
from tests.journal.test_journal import alter_file
from tests.sources.fakes import upto


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


async def test_a_restart_shows_everything_again_and_goes_on_where_the_source_is(
    path: Path, tmp_path: Path
) -> None:
    one, two = (upto(game, 16) for game in demo_feed.read_demo_games()[:2])
    async with open_service(settings(), path) as service:
        assert service.journal.summary == f"kept in {path}"
        before = await report_and_settle(service, one, upto(two, 11))
        searches = service.pool.report_health().searches
    async with open_service(settings(), path) as service:
        again = build_analysis(service.state)
        assert [game.restored for game in again.games] == [True, True]
        assert confirm_games(again) == before
        assert service.state.is_analysed and service.pool.report_health().searches == 0
        assert service.journal.restored == 2
        assert service.journal.summary == f"2 games restored from {path}"
        restarted = await report_and_settle(service, one, two)
        searches += service.pool.report_health().searches
        assert not any(game.restored for game in restarted.games)
    async with open_service(settings(), tmp_path / "another.sqlite") as service:
        assert restarted == await report_and_settle(service, one, two)
        assert searches == service.pool.report_health().searches


async def test_another_limit_shows_the_games_and_searches_them_anew(
    path: Path, tmp_path: Path
) -> None:
    game = upto(demo_feed.read_demo_games()[0], 4)
    async with open_service(settings(), path) as service:
        await report_and_settle(service, game)
    async with open_service(settings(**{"engine.nodes": 600}), path) as service:
        (view,) = service.state.games()
        assert (view.plies_played, view.plies_scored) == (4, 0)
        again = await report_and_settle(service, game)
    async with open_service(
        settings(**{"engine.nodes": 600}), tmp_path / "another"
    ) as service:
        assert again == await report_and_settle(service, game)


async def test_a_journal_that_cannot_be_used_is_shown_and_done_without(
    path: Path,
) -> None:
    async with AnsweredEvent(path).started() as first:
        second = AnsweredEvent(path)
        async with second.started():
            shown: list[FeedHealth] = []
            for _ in range(2):
                second.journal.report_and_save(shown.append)
            assert [(health.feed, health.state, health.part) for health in shown] == [
                ("journal", "failed", True)
            ]
            assert "in use by another live-rate" in shown[0].detail
            assert second.journal.summary == "", "nothing is kept there by this one"
            for service in (first, second):
                await service.take(FeedReport(FEED, games_of(4)))
                service.answer_all()
            assert build_analysis(first.state) == build_analysis(second.state)


def test_each_set_of_sources_has_its_own_file_and_passing_ones_have_none() -> None:
    config, none = JournalConfig(), JournalPlace()
    one = find_journal_place(config, ["https://lichess.org/broadcast/a", "games.pgn"])
    turned = ["games.pgn", "https://lichess.org/broadcast/a"]
    assert one == find_journal_place(config, turned)
    assert one.path is not None and not one.is_named
    assert one.path.name.startswith("games-pgn-https-lichess-org-broadcast-a-")
    assert one != find_journal_place(config, ["games.pgn"])
    assert find_journal_place(config, ["demo"]) == none
    assert find_journal_place(config, ["standard input", "demo"]) == none
    assert find_journal_place(config, ["demo", "games.pgn"]) != none
    assert find_journal_place(config, ["games.pgn"], once=True) == none
    named = find_journal_place(JournalConfig(file="here.sqlite"), ["demo"], once=True)
    assert named == JournalPlace(Path("here.sqlite"), is_named=True)
    off = JournalConfig(enabled=False, file="x")
    assert find_journal_place(off, ["games.pgn"]) == none


async def test_a_game_of_two_sources_is_one_again_after_a_restart(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    game = demo_feed.read_demo_games()[0]
    feeds = [FEED, "cloud"]

    async with open_service(settings(), path, feeds) as service:
        # Each is shown for itself and kept, before the moves prove that they are one.
        other = change_headers(game, event="Another name", round="")
        for feed, named in ((FEED, game), ("cloud", other)):
            await report_and_settle(service, upto(named, 6), feed=feed)
        assert len(list(service.state.games())) == 2
        service.journal._write_due_snapshots(float("inf"), all_of_them=True)
        await report_and_settle(service, upto(other, 26), feed="cloud")
        await report_and_settle(service, upto(game, 24))
        before = build_analysis(service.state)
        (view,) = before.games
        assert view.also == ("cloud",) and view.plies_played == 26
    async with open_service(settings(), path, feeds) as service:
        assert confirm_games(build_analysis(service.state)) == before
        assert service.pool.report_health().searches == 0
        assert [len(each.moves) for each in service.state.list_source_games()] == [
            24,
            26,
        ], "each has its own"
        await report_and_settle(service, upto(game, 24))
        assert build_analysis(service.state) == before, (
            "confirmed by one of them, which is behind"
        )
        assert "missed" not in caplog.text, "its alerts come back, too"
    # What nobody follows stays in the file.
    async with open_service(settings(), path, ["others.pgn"]) as service:
        assert list(service.state.games()) == []
    # Only one of the sources is followed: the game is its own, with all it held.
    async with open_service(settings(), path, [FEED]) as service:
        (view,) = build_analysis(service.state).games
        assert view.also == () and view.dispute == ""


PAIRS = ("Anna Adams-Boris Berg", "Clara Coy-Dora Dahl")
MOVES = line(*range(3, 43))


def report(pair: str, plies: int, result: str) -> GameReport:
    game = make_game(pair, event="Open")
    return msgspec.structs.replace(game, moves=MOVES[:plies], result=result)


DAMAGE = "UPDATE games SET rest = ?, sum = ? WHERE game = (SELECT min(game) FROM games)"


#: Two games as their source has them.
BOTH = FeedReport(
    FEED,
    tuple(upto(game, 24) for game in demo_feed.read_demo_games()[:2]),
    complete=True,
)


async def make(path: Path) -> Analysis:
    """A journal in which both games are kept whole; gives what was shown."""
    hall = AnsweredEvent(path)
    with hall.journal.opened(hall.config):
        await hall.restore()
        await hall.take(BOTH)
        hall.answer_all()
        return confirm_games(build_analysis(hall.state))


async def test_a_game_that_moves_on_is_kept_again_only_after_a_while(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hall, kept = AnsweredEvent(path), list[str]()
    with hall.journal.opened(hall.config):
        await hall.restore()

        def keep(game: str, *_: object) -> bool:
            kept.append(game)
            return True

        monkeypatch.setattr(hall.journal.journal, "store_game_snapshot", keep)
        for plies in (4, 6, 8):
            await hall.take(FeedReport(FEED, (report("A-B", plies, "*"),)))
            hall.answer_all()
            hall.journal.report_and_save(lambda health: None)
        assert len(kept) == 1


def damage(data: bytearray, seed: int, page: int = 4096) -> None:
    """Bytes changed, a stretch zeroed, pages of SQLite's exchanged, or the end
    cut off.
    """
    chance = random.Random(seed)
    way = chance.choice(("changed",) * 3 + ("zeroed", "zeroed", "exchanged", "cut"))
    match way:
        case "changed":
            for _ in range(chance.randint(1, 40)):
                data[chance.randrange(100, len(data))] ^= chance.randint(1, 255)
        case "zeroed":
            length = chance.choice((16, 512, page))
            start = chance.randrange(100, len(data) - length)
            data[start : start + length] = bytes(length)
        case "exchanged":
            one, other = (
                page * chance.randrange(1, len(data) // page) for _ in range(2)
            )
            first, second = data[one : one + page], data[other : other + page]
            data[one : one + page], data[other : other + page] = second, first
        case _:
            del data[chance.randrange(len(data) // 4, len(data)) :]


def content(game: GameDetail) -> tuple[object, ...]:
    """What must be there again. What the field of players says of a move goes by when
    it was scored.
    """
    white = [(at.ply, at.n, at.gain_cp) for at in game.curves.white]
    black = [(at.ply, at.n, at.gain_cp) for at in game.curves.black]
    return game.plies, [white, black]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Analysis, bytes]:
    """What was shown of two games, and the journal of it."""
    path = tmp_path_factory.mktemp("stored") / "journal.sqlite"
    return asyncio.run(make(path)), path.read_bytes()


def write_file(path: Path, data: bytes | bytearray) -> None:
    path.write_bytes(data)


@pytest.mark.parametrize("seed", [2, 4, 8, 11, 13, 20, 24])
async def test_damaged_journals_empty_no_board_whose_source_is_there(
    seed: int, path: Path, stored: tuple[Analysis, bytes]
) -> None:
    """Its source gives every game again, and each is what it was, also at a second
    start; what was damaged is said. The seeds are such as damage something that is
    read, in each of the ways.
    """
    before, whole = stored
    data = bytearray(whole)
    damage(data, seed)
    write_file(path, data)
    for start in range(2):
        hall, shown = AnsweredEvent(path), list[FeedHealth]()
        with hall.journal.opened(hall.config):
            await hall.restore()
            for _ in range(2):
                await hall.take(BOTH)
                hall.answer_all()
                hall.journal.report_and_save(shown.append)
                hall.answer_all()
            now = {game.id: content(game) for game in build_analysis(hall.state).games}
        assert now == {game.id: content(game) for game in before.games}
        assert any(each.detail for each in shown) or start == 1


@pytest.mark.parametrize(
    ("content", "checksum"),
    # Without a checksum it is as if it had been kept like this.
    [(b"x", b"-"), (b"", None), (b"x", None), ("text", None), (7, None)],
)
async def test_what_cannot_be_read_as_kept_is_made_anew(
    path: Path,
    stored: tuple[Analysis, bytes],
    caplog: pytest.LogCaptureFixture,
    content: object,
    checksum: bytes | None,
) -> None:
    before, whole = stored
    write_file(path, whole)
    alter_file(path, DAMAGE, content, checksum)
    shown: list[FeedHealth] = []
    async with AnsweredEvent(path).started() as hall:
        hall.answer_all()
        assert confirm_games(build_analysis(hall.state)).games == before.games
        hall.journal.report_and_save(shown.append)
        assert "1 game cannot be read as stored" in shown[-1].detail
        assert shown[-1].detail in caplog.text
        # It was kept anew: nothing is wrong any more.
        hall.journal.report_and_save(shown.append)
        assert not hall.journal.problem
    states = [(each.feed, each.state) for each in shown]
    assert states == [("journal", "retrying"), ("journal", "live")]
    async with AnsweredEvent(path).started() as again:
        again.journal.report_and_save(shown.append)
    assert len(shown) == 2, "and nothing more"


@pytest.mark.whole
@pytest.mark.timeout(300)
async def test_a_service_killed_again_and_again_loses_and_repeats_nothing(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    require_program("tee")
    games = [
        msgspec.structs.replace(game, moves=game.moves[:24], result="1/2-1/2")
        for game in drills.boards(4)
    ]
    outcome = await kill_drill.drill(
        games, tmp_path, kills=4, seed=7, nodes=5000, patience_s=120
    )
    log = (tmp_path / "service.log").read_text(errors="replace")
    assert outcome.good, f"{outcome}\n{log[-2000:]}"
    assert outcome.distinct > 100


def boards_of(hall: AnsweredEvent) -> list[str]:
    return [view.white.name for view in hall.state.games()]


def games_of(plies: int, result: str = "*") -> tuple[GameReport, ...]:
    return tuple(report(pair, plies, result) for pair in PAIRS)


async def test_a_removed_board_stays_away_and_can_be_brought_back(
    path: Path, tmp_path: Path
) -> None:
    async with AnsweredEvent(path).started() as hall:
        await hall.take(FeedReport(FEED, games_of(10, "1-0"), complete=True))
        hall.answer_all()
        ghost = next(
            view.id for view in hall.state.games() if view.white.name == "Anna Adams"
        )
        hall.arbiter.remove_board(hall.state, ghost)
        assert boards_of(hall) == ["Clara Coy"]
        assert {player.name for player in hall.state.players()} == {
            "Clara Coy",
            "Dora Dahl",
        }
        await hall.take(
            FeedReport(FEED, games_of(12, "1-0"), complete=True)
        )  # its source goes on
        assert boards_of(hall) == ["Clara Coy"]
        (entry,) = hall.arbiter.incidents()
        assert (
            entry.text == "Board removed: Anna Adams – Boris Berg"
            and entry.game == ghost
        )
        hall.flush()
        with JournalReader.open(path) as reader:
            assert len(list(rebuild_event(reader, path).state.games())) == 1, (
                "nor in a report"
            )
        copy = left_behind(path, tmp_path, "killed")

    async with AnsweredEvent(copy).started() as after:
        assert boards_of(after) == ["Clara Coy"]
        await after.take(FeedReport(FEED, games_of(14, "1-0"), complete=True))
        assert boards_of(after) == ["Clara Coy"]
        assert after.arbiter.bring_back_board(after.state) == "Anna Adams – Boris Berg"
        assert sorted(boards_of(after)) == ["Anna Adams", "Clara Coy"]
        back = after.state.game(ghost)
        assert back is not None and back.plies_played == 14
        assert [each.text for each in after.arbiter.incidents()] == [
            "Board removed: Anna Adams – Boris Berg",
            "Board brought back: Anna Adams – Boris Berg",
        ]
        assert after.arbiter.bring_back_board(after.state) == ""
        after.flush()
        third = left_behind(copy, tmp_path, "third")

    async with AnsweredEvent(third).started() as again:
        assert sorted(boards_of(again)) == ["Anna Adams", "Clara Coy"]


async def test_a_step_on_which_a_follower_fails_is_in_the_journal(
    tmp_path: Path,
) -> None:
    path = tmp_path / "journal.sqlite"
    game = demo_feed.read_demo_games()[0]
    faults = list[Exception]()
    heard = list[Change]()

    def fail(changes: Sequence[EventChange]) -> None:
        if faults:
            raise faults.pop()

    async with AnsweredEvent(path).started() as service:
        service.bus.follow(fail)
        service.bus.subscribe(heard.extend)
        await service.take(FeedReport(FEED, (upto(game, 10),)))
        heard.clear()
        faults.append(RuntimeError("a fault of ours"))
        with pytest.raises(RuntimeError):
            await service.take(FeedReport(FEED, (upto(game, 12),)))
        assert MoveMessage in map(type, heard)
        await service.take(FeedReport(FEED, (upto(game, 14),)))
        service.flush()
        copy = left_behind(path, tmp_path, "killed")
    async with AnsweredEvent(copy).started() as restarted:
        assert [view.plies_played for view in restarted.state.games()] == [14]


async def test_a_step_and_its_alert_are_written_together(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = demo_feed.read_demo_games()[0]
    groups = list[list[str]]()
    async with AnsweredEvent(path).started() as service:
        await service.take(FeedReport(FEED, (upto(game, 10),)))
        writer = service.journal.journal._writer
        assert writer is not None
        add_records = writer.add_records

        def note_and_add(records: Sequence[Record]) -> None:
            groups.append([write.__name__ for write, _ in records])
            add_records(records)

        monkeypatch.setattr(writer, "add_records", note_and_add)
        await service.take(FeedReport(FEED, (upto(game, 6),)))
        (alert,) = service.arbiter.alerts()
        assert alert.kind == "takeback"
    assert ["write_note", "write_change"] in groups
