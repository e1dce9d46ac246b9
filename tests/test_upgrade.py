"""What 0.3 was told and written: settings, commands, flags. Each still starts, or says
in one line what takes its place.
"""

import logging
import tomllib
from pathlib import Path

import pytest

from live.commands.command_options import GONE_COMMANDS, GONE_FLAGS
from live.config import GONE, SETTINGS, Config, flat, load_config, variable
from live.errors import UnknownFeed
from live.feeds.source_address import GONE_KINDS, recognise
from tests.test_cli import live_rate

DATA = Path(__file__).resolve().parent / "data"
OLD_FILE = DATA / "config-0.3.toml"
OLD = dict(flat(tomllib.loads(OLD_FILE.read_text(encoding="utf-8"))))

#: Every setting that is gone, as somebody had set it.
CHANGED: dict[str, object] = {
    "feeds.delay_rounds": ["7", "8"],
    "feeds.delay_finished": False,
    "plugins.use": ["captures"],
}
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
    assert set(OLD) == set(SETTINGS) | set(GONE)
    assert set(CHANGED) == set(SAID) == set(GONE)


def test_a_file_of_0_3_that_nobody_changed_is_read_in_silence(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert load_config(OLD_FILE, {}, {}) == Config()
    # Nor do the same settings in the environment say anything.
    env = {variable(key): str(OLD[key]) for key in GONE}
    assert load_config(None, env, {}) == Config()
    env = {variable(key): "" for key in GONE if OLD[key] == []}
    assert load_config(None, env, {}) == Config()
    assert caplog.messages == []


def test_a_table_that_is_gone_may_be_empty(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "config.toml"
    tables = {key.rpartition(".")[0] for key in GONE}
    path.write_text("".join(f"[{table}]\n" for table in sorted(tables)))
    assert load_config(path, {}, {}) == Config()
    assert caplog.messages == []


@pytest.mark.parametrize("where", ["file", "environment"])
def test_a_setting_that_is_gone_and_was_set_is_said_once(
    where: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(toml_of(OLD | CHANGED))
    env = {variable(key): str(value).lower() for key, value in CHANGED.items()}
    caplog.set_level(logging.INFO)
    if where == "file":
        assert load_config(path, {}, {}) == Config()
    else:
        assert load_config(None, env, {}) == Config()
    said = "\n".join(caplog.messages)
    for key, word in SAID.items():
        name = key if where == "file" else variable(key)
        [line] = [line for line in caplog.messages if name in line]
        assert word in line and "gone since 0.4. " in line
    assert len(caplog.messages) == len({gone.instead for gone in GONE.values()}), said
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
    done = live_rate("--feed", "nothere.pgn", "--once", "--config", str(path), cwd=tmp_path)
    *warnings, error = done.stderr.splitlines()
    assert error.startswith("live-rate: nothere.pgn: ")
    assert all("gone since 0.4" in line for line in warnings)
    assert len(warnings) == len({gone.instead for gone in GONE.values()})


@pytest.mark.parametrize("command", GONE_COMMANDS)
@pytest.mark.parametrize("given", [[], ["event.sqlite", "--speed", "2"], ["--help"]])
def test_a_command_that_is_gone_says_what_takes_its_place(command: str, given: list[str]) -> None:
    done = live_rate(command, *given)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line == f"live-rate: {command}: is gone since 0.4. {GONE_COMMANDS[command]}"
    assert f" {command} " not in live_rate("--help").stdout


@pytest.mark.parametrize("kind", GONE_KINDS)
def test_a_kind_of_source_that_is_gone_says_what_takes_its_place(kind: str) -> None:
    with pytest.raises(UnknownFeed, match="that is gone since") as error:
        recognise(f"{kind}+name:https://user:secret@example.org/?token=secret")
    assert "secret" not in str(error.value)
    assert GONE_KINDS[kind] in str(error.value)


@pytest.mark.parametrize(
    ("command", "flag"), [(of, flag) for of, flags in GONE_FLAGS.items() for flag in flags]
)
def test_a_flag_that_is_gone_says_what_takes_its_place(command: str, flag: str) -> None:
    given = {"follow": ["--feed", "demo"], "watch": ["watch", "ws://127.0.0.1:1"]}[command]
    done = live_rate(*given, f"--{flag}")
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line == f"live-rate: --{flag}: is gone since 0.4. {GONE_FLAGS[command][flag]}"
    assert f"--{flag}" not in live_rate(*given[:-1], "--help").stdout
