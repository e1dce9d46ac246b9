"""A mistyped name leaves no journal behind; a journal with anything in it stays."""

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from live.games.game import NewGame
from live.journal.arbiter_notes import JournalWatchStore
from live.journal.event_journal import EventJournal
from live.journal.journal import Journal
from live.journal.unused_journal import remove_unused_journal
from live.messages.alerts import Alert
from live.settings import Config
from live.watch.arbiter_notes import ArbiterEntry, Heartbeat
from live.watch.incident_log import SERVICE
from tests.event.arithmetic import game

ALERT = Alert(
    id="a",
    kind="feed",
    severity="warning",
    text="demo fails",
    advice="Look at the cable.",
    feed="demo",
    first_seen_s=1.0,
)


def write_entry(journal: Journal) -> None:
    JournalWatchStore(journal).write_note(ArbiterEntry("Hall is open"))


def acknowledge_alert(journal: Journal) -> None:
    JournalWatchStore(journal).write_note(replace(ALERT, acknowledged_s=2.0))


def note_alert(journal: Journal) -> None:
    JournalWatchStore(journal).write_note(replace(ALERT, note="the switch is off"))


def write_delay(journal: Journal) -> None:
    journal.add_note("delay", b"{}")


def write_game(journal: Journal) -> None:
    journal.add_change(NewGame(game("g1")))


def test_a_journal_without_a_game_is_removed_with_the_files_beside_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "typo.sqlite"
    with Journal(path) as journal:
        store = JournalWatchStore(journal)
        store.write_note(ArbiterEntry("The service started.", by=SERVICE))
        store.write_note(Heartbeat())
        store.write_note(ALERT)
        journal.wait_until_written()
        remove_unused_journal(path)
        assert path.exists(), "it is in use"
    remove_unused_journal(path)
    assert list(tmp_path.iterdir()) == []
    remove_unused_journal(path)


@pytest.mark.parametrize(
    "write", [write_entry, acknowledge_alert, note_alert, write_delay, write_game]
)
def test_what_people_did_and_games_stay(
    write: Callable[[Journal], None], tmp_path: Path
) -> None:
    path = tmp_path / "event.sqlite"
    with Journal(path) as journal:
        write(journal)
    remove_unused_journal(path)
    assert path.exists()


def test_a_file_of_another_program_stays(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no journal")
    remove_unused_journal(path)
    assert path.read_text() == "no journal"


@pytest.mark.parametrize("removes", [True, False])
def test_a_service_removes_it_unless_a_person_named_the_file(
    removes: bool, tmp_path: Path
) -> None:
    path = tmp_path / "event.sqlite"
    with EventJournal(path, removes_unused=removes).opened(Config()):
        assert path.exists()
    assert path.exists() != removes
