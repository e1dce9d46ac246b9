"""What 0.3 was told and written: settings, commands, flags. Each still starts, or says
in one line what takes its place.
"""

import logging
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from live.commands.read_settings import build_variable, read_settings
from live.commands.removed_commands import REMOVED_COMMANDS, REMOVED_FLAGS
from live.commands.removed_settings import REMOVED_SETTINGS
from live.errors import UnknownFeed
from live.journal.journal import Journal
from live.journal.journal_file import VERSION, open_connection, read_version
from live.journal.journal_reader import JournalReader
from live.journal.recorded_event import rebuild_event
from live.messages.from_sources import FeedReport
from live.server.analysis import build_analysis
from live.server.public_delay import find_unpublished, restore_delay_s
from live.server.public_view import PublicView
from live.setting_keys import SETTINGS, flatten
from live.settings import Config
from live.sources import demo_feed
from live.sources.source_address import GONE_KINDS, recognise_source
from tests.event.answered_event import FEED, AnsweredEvent, confirm_games
from tests.sources.fakes import upto
from tests.test_cli import live_rate

DATA = Path(__file__).resolve().parent / "data"
OLD_FILE = DATA / "config-0.3.toml"
OLD = dict(flatten(tomllib.loads(OLD_FILE.read_text(encoding="utf-8"))))

#: Every setting that is gone, as somebody had set it.
CHANGED: dict[str, object] = {
    "feeds.delay_rounds": ["7", "8"],
    "feeds.delay_finished": False,
    "plugins.use": ["captures"],
}
#: What 0.4 brought.
NEW = {"engine.start_s"}
#: One word of what each is told, in the order of the file.
SAID = {
    "feeds.delay_rounds": "whole event",
    "feeds.delay_finished": "whole event",
    "plugins.use": "websocket",
}


def toml_of(values: dict[str, object]) -> str:
    """A TOML file of these dotted keys, one by one."""
    lines = list[str]()
    for key, value in values.items():
        written = str(value).lower() if isinstance(value, bool) else repr(value)
        lines.append(f"{key} = {written}\n")
    return "".join(lines)


def test_the_settings_of_0_3_are_those_of_today_and_those_that_are_gone() -> None:
    unknown = set(SETTINGS) - NEW - set(OLD)
    assert not unknown, f"add new settings to NEW: {unknown}"
    assert set(OLD) == set(SETTINGS) - NEW | set(REMOVED_SETTINGS)
    assert set(CHANGED) == set(SAID) == set(REMOVED_SETTINGS)


def test_a_file_of_0_3_that_nobody_changed_is_read_in_silence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert read_settings(OLD_FILE, {}, {}) == Config()
    # Nor do the same settings in the environment say anything.
    env = {build_variable(key): str(OLD[key]) for key in REMOVED_SETTINGS}
    assert read_settings(None, env, {}) == Config()
    env = {build_variable(key): "" for key in REMOVED_SETTINGS if OLD[key] == []}
    assert read_settings(None, env, {}) == Config()
    assert caplog.messages == []


def test_a_table_that_is_gone_may_be_empty(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "config.toml"
    tables = {key.rpartition(".")[0] for key in REMOVED_SETTINGS}
    path.write_text("".join(f"[{table}]\n" for table in sorted(tables)))
    assert read_settings(path, {}, {}) == Config()
    assert caplog.messages == []


@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_setting_that_is_gone_and_was_set_is_said_once(
    where: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(toml_of(OLD | CHANGED))
    env = {build_variable(key): str(value).lower() for key, value in CHANGED.items()}
    caplog.set_level(logging.INFO)
    if where == "file":
        assert read_settings(path, {}, {}) == Config()
    else:
        assert read_settings(None, env, {}) == Config()
    said = "\n".join(caplog.messages)
    for key, word in SAID.items():
        name = key if where == "file" else build_variable(key)
        [line] = [line for line in caplog.messages if name in line]
        assert word in line and "removed in 0.4. " in line
    assert len(caplog.messages) == len(
        {gone.instead for gone in REMOVED_SETTINGS.values()}
    ), said
    assert all("\n" not in line for line in caplog.messages)


def test_a_setting_that_never_was_is_still_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[plugins]\nuses = []\n")
    done = live_rate("--feed", "demo", "--config", str(path))
    assert done.returncode == 2
    assert "plugins.uses: there is no such setting" in done.stderr


def test_it_is_on_the_screen_before_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(toml_of(CHANGED))
    done = live_rate(
        "--feed", "nothere.pgn", "--once", "--config", str(path), cwd=tmp_path
    )
    *warnings, error = done.stderr.splitlines()
    assert error.startswith("live-rate: nothere.pgn: ")
    assert all("removed in 0.4" in line for line in warnings)
    assert len(warnings) == len({gone.instead for gone in REMOVED_SETTINGS.values()})


@pytest.mark.parametrize("command", REMOVED_COMMANDS)
@pytest.mark.parametrize("given", [[], ["event.sqlite", "--speed", "2"], ["--help"]])
def test_a_command_that_is_gone_says_what_takes_its_place(
    command: str, given: list[str]
) -> None:
    done = live_rate(command, *given)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert (
        line == f"live-rate: {command}: was removed in 0.4. {REMOVED_COMMANDS[command]}"
    )
    assert f" {command} " not in live_rate("--help").stdout


@pytest.mark.parametrize("kind", GONE_KINDS)
def test_a_kind_of_source_that_is_gone_says_what_takes_its_place(kind: str) -> None:
    with pytest.raises(UnknownFeed, match="that was removed in") as error:
        recognise_source(f"{kind}+name:https://user:secret@example.org/?token=secret")
    assert "secret" not in str(error.value)
    assert GONE_KINDS[kind] in str(error.value)


def list_gone_flags() -> Iterator[tuple[str, str]]:
    for command, flags in REMOVED_FLAGS.items():
        for flag in flags:
            yield command, flag


@pytest.mark.parametrize(("command", "flag"), list(list_gone_flags()))
def test_a_flag_that_is_gone_says_what_takes_its_place(command: str, flag: str) -> None:
    given = {"follow": ["--feed", "demo"], "watch": ["watch", "ws://127.0.0.1:1"]}[
        command
    ]
    done = live_rate(*given, f"--{flag}")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert (
        line
        == f"live-rate: --{flag}: was removed in 0.4. {REMOVED_FLAGS[command][flag]}"
    )
    assert f"--{flag}" not in live_rate(*given[:-1], "--help").stdout


# --- journals -------------------------------------------------------------------------


@pytest.fixture(params=["0.2", "0.3"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A journal as that version left it: tests/data/README.md says what is in it."""
    return Path(shutil.copy(DATA / f"journal-{request.param}.sqlite", tmp_path))


#: Plies played and scored, result, and what is wrong with each game.
GAMES = [(20, 20, "1-0", None), (6, 6, "*", "illegal move Qh9"), (14, 14, "*", None)]


def list_standing_games(hall: AnsweredEvent) -> list[tuple[int, int, str, str | None]]:
    games = build_analysis(hall.state).games
    return [
        (each.plies_played, each.plies_scored, each.result, each.problem)
        for each in games
    ]


async def test_a_journal_of_before_opens_with_its_games_notes_delay_and_alerts(
    journal: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = []
    for _ in range(2):
        async with AnsweredEvent(journal).started() as hall:
            hall.answer_all()
            assert list_standing_games(hall) == GAMES
            assert hall.journal.problem == "" and hall.journal.journal.damage == ()
            alerts = {alert.kind: alert for alert in hall.arbiter.alerts()}
            illegal = alerts["illegal-move"]
            assert illegal.note.startswith("phoned the hall")
            assert illegal.acknowledged_s is not None
            texts = [each.changes[0].text for each in hall.arbiter.incidents()]
            assert "draw offer disputed" in texts
            plugin = [
                each for each in hall.arbiter.incidents() if each.kind == "plugin"
            ]
            assert len(plugin) == 1 and "20 s for 9 moves" in plugin[0].text
            assert restore_delay_s(0.0, hall.journal.journal) == 900.0
            seen.append(confirm_games(build_analysis(hall.state)))
    assert seen[0] == seen[1]
    assert [
        record.levelname for record in caplog.records if record.levelname == "ERROR"
    ] == []
    with open_connection(journal) as connection:
        assert read_version(connection) == VERSION
    connection.close()


async def test_what_a_plugin_found_is_over_once_its_board_is_heard_of(
    journal: Path,
) -> None:
    async with AnsweredEvent(journal).started() as hall:
        hall.answer_all()
        _, _, third = demo_feed.read_demo_games()[:3]
        await hall.take(FeedReport(FEED, (upto(third, 16),)))
        hall.answer_all()
        assert "plugin" not in {alert.kind for alert in hall.arbiter.alerts()}
        [ended] = [each for each in hall.arbiter.incidents() if each.kind == "plugin"]
        assert ended.changes[-1].what == "over"


async def test_under_the_delay_of_before_nothing_is_early(journal: Path) -> None:
    """The journal ends seconds after its last move, so all of it has to wait."""
    async with AnsweredEvent(journal).started() as hall:
        hall.answer_all()
        kept = hall.journal.journal
        delay_s = restore_delay_s(0.0, kept)
        now = [1000.0]
        public = PublicView(
            hall.state,
            delay_s=delay_s,
            unshown=find_unpublished(kept, hall.state, delay_s),
            clock=lambda: now[0],
        )
        for passed_s, plies in ((0.0, []), (880.0, []), (900.0, [20, 6, 14])):
            now[0] = 1000.0 + passed_s
            public.release_due()
            assert [game.plies_played for game in public.games()] == plies


def test_a_report_reads_a_journal_of_before_as_it_is(journal: Path) -> None:
    before = journal.read_bytes()
    with JournalReader.open(journal) as reader:
        games = build_analysis(rebuild_event(reader, journal).state).games
        assert [game.plies_played for game in games] == [20, 6, 14]
        assert [note.kind for note in reader.read_notes()].count("alert") == 4
    assert journal.read_bytes() == before


def test_what_is_written_now_is_not_called_missing_by_the_version_before(
    journal: Path,
) -> None:
    """It refuses the file in one line: its counts of records are not kept any more."""
    with Journal(journal) as opened:
        opened.add_note("entry", b'{"text":"later"}')
        assert opened.wait_until_written()
    with open_connection(journal) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] > 5
    connection.close()
