"""A journal that is damaged empties no board, and says that it is."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

import pytest

from live.events import FeedHealth
from live.publish.export.analysis_json import analysis
from tests.benchmarks.service.damaged_journals import drill, make
from tests.service.test_event_journal_law import ArithmeticHall, confirmed

GAME = "UPDATE games SET details = ? WHERE game = (SELECT min(game) FROM games)"


async def test_damaged_journals_empty_no_board_whose_source_is_there(tmp_path: Path) -> None:
    """The seeds are among those that emptied boards of version 0.2."""
    found = await drill(tmp_path, (1, 8, 12, 18, 20), games=3)
    assert len(found) == 5
    for seed, way, once, again in found:
        assert (once.emptied, again.emptied) == ((), ()), (seed, way)
        assert once.problem, (seed, way)


@pytest.mark.parametrize(
    "details",
    [None, b"", b"x", zlib.compress(b"\xc1"), "text", 7],
    ids=["none", "empty", "not packed", "no details", "text", "number"],
)
async def test_details_that_cannot_be_read_count_as_none_and_are_made_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, details: object
) -> None:
    path = tmp_path / "journal.sqlite"
    before = await make(path, games=2)
    with sqlite3.connect(path) as connection:
        assert connection.execute(GAME, (details,)).rowcount == 1
    connection.close()
    shown: list[FeedHealth] = []
    hall = ArithmeticHall(path)
    with hall.journal.opened(hall.config):
        await hall.restore()
        hall.answer_all()
        assert confirmed(analysis(hall.state)).games == before.games
        hall.journal.look_after(hall.state, shown.append)
        assert "1 game cannot be read as kept" in shown[-1].detail
        assert shown[-1].detail in caplog.text
        # It was kept anew: nothing is wrong any more.
        hall.journal.look_after(hall.state, shown.append)
        assert not hall.journal.problem
    assert [(each.feed, each.state) for each in shown] == [
        ("journal", "retrying"),
        ("journal", "live"),
    ]
    await said_nothing(ArithmeticHall(path))


async def said_nothing(hall: ArithmeticHall) -> None:
    shown: list[FeedHealth] = []
    with hall.journal.opened(hall.config):
        await hall.restore()
        hall.journal.look_after(hall.state, shown.append)
    assert shown == []


async def test_what_becomes_unreadable_while_it_runs_is_made_anew_too(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    before = await make(path, games=2)
    shown: list[FeedHealth] = []
    hall = ArithmeticHall(path)
    with hall.journal.opened(hall.config):
        await hall.restore()
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE games SET details = x'00'")
        connection.close()
        # As when so much has changed since that nothing is at hand.
        hall.state.ledger._details.clear()
        analysis(hall.state)
        hall.journal.look_after(hall.state, shown.append)
        hall.answer_all()
        assert "2 games cannot be read as kept" in shown[-1].detail
        now = confirmed(analysis(hall.state)).games
        assert [game.plies for game in now] == [game.plies for game in before.games]


async def test_a_record_that_is_damaged_is_said_as_long_as_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    await make(path, games=1)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE changes SET at_ms = at_ms + 1 WHERE n = 1")
    connection.close()
    for _ in range(2):
        shown: list[FeedHealth] = []
        hall = ArithmeticHall(path)
        with hall.journal.opened(hall.config):
            await hall.restore()
            hall.journal.look_after(hall.state, shown.append)
        assert "changes 1 damaged, and left out" in shown[-1].detail


async def test_what_cannot_be_kept_is_not_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn"
    path.write_text('[Event "Open"]\n')
    hall = ArithmeticHall(path)
    with hall.journal.opened(hall.config):
        await hall.restore()
        assert hall.journal.summary == ""
        assert "nothing is kept over a restart" in hall.journal.problem
