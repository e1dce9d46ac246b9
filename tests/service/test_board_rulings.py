"""A board that the arbiter removes is nowhere any more, over restarts, until it is brought back."""

from __future__ import annotations

from pathlib import Path

from live.events import FeedReport, GameReport
from live.jobs.recorded_event import rebuilt
from live.store.journal_reader import JournalReader
from tests.service.test_event_journal_law import (
    FEED,
    PAIRS,
    ArithmeticHall,
    left_behind,
    report,
)


def boards(hall: ArithmeticHall) -> list[str]:
    return [view.white.name for view in hall.state.games()]


def games(plies: int, result: str = "*") -> tuple[GameReport, ...]:
    return tuple(report(pair, plies, result) for pair in PAIRS)


async def test_a_removed_board_stays_away_and_can_be_brought_back(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    hall = ArithmeticHall(path)
    with hall.journal.opened(hall.config):
        await hall.restore()
        await hall.take(FeedReport(FEED, games(10, "1-0"), complete=True))
        hall.answer_all()
        ghost = next(view.id for view in hall.state.games() if view.white.name == "Anna Adams")
        hall.remove_board(ghost)
        assert boards(hall) == ["Clara Coy"]
        assert {player.name for player in hall.state.players()} == {"Clara Coy", "Dora Dahl"}
        await hall.take(FeedReport(FEED, games(12, "1-0"), complete=True))  # its source goes on
        assert boards(hall) == ["Clara Coy"]
        (entry,) = hall.arbiter.incidents()
        assert entry.text == "Board removed: Anna Adams – Boris Berg" and entry.game == ghost
        assert hall.journal.journal is not None and hall.journal.journal.flush()
        copy = left_behind(path, tmp_path, "killed")

    after = ArithmeticHall(copy)
    with after.journal.opened(after.config):
        await after.restore()
        assert boards(after) == ["Clara Coy"]
        await after.take(FeedReport(FEED, games(14, "1-0"), complete=True))
        assert boards(after) == ["Clara Coy"]
        assert after.bring_back_board() == "Anna Adams – Boris Berg"
        assert sorted(boards(after)) == ["Anna Adams", "Clara Coy"]
        back = after.state.game(ghost)
        assert back is not None and back.plies_played == 14
        assert [each.text for each in after.arbiter.incidents()] == [
            "Board removed: Anna Adams – Boris Berg",
            "Board brought back: Anna Adams – Boris Berg",
        ]
        assert after.bring_back_board() == ""
        assert after.journal.journal is not None and after.journal.journal.flush()
        third = left_behind(copy, tmp_path, "third")

    again = ArithmeticHall(third)
    with again.journal.opened(again.config):
        await again.restore()
        assert sorted(boards(again)) == ["Anna Adams", "Clara Coy"]


async def test_a_report_of_the_journal_leaves_out_what_was_removed(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    hall = ArithmeticHall(path)
    with hall.journal.opened(hall.config):
        await hall.restore()
        await hall.take(FeedReport(FEED, games(10), complete=True))
        hall.remove_board(next(iter(hall.state.games())).id)
        assert hall.journal.journal is not None and hall.journal.journal.flush()
        with JournalReader.open(path) as reader:
            assert len(list(rebuilt(reader, path).state.games())) == 1
