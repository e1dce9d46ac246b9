"""Settings that change while the service runs."""

import asyncio
import contextlib
import logging
from itertools import chain
from pathlib import Path

import msgspec
import pytest
from websockets.asyncio.client import connect

from live import app
from live.commands.read_settings import read_settings
from live.errors import ConfigError
from live.server.server import Publisher
from live.setting_keys import SETTINGS, convert_setting, flatten, nest
from live.settings import Config, ServerConfig
from live.settings_reload import (
    DELAY_KEYS,
    PORT_KEYS,
    SOURCE_KEYS,
    ReloadablePart,
    Reloaded,
    SettingsReloader,
    list_reloadable_parts,
)
from live.sources.source_runner import SourceRunner
from tests.event.answered_event import open_unscored
from tests.server.serving import left_in
from tests.server.world import World
from tests.sources.fakes import DrivenClock, until


def settings(**changes: object) -> Config:
    flags = {key.replace("__", "."): value for key, value in changes.items()}
    return read_settings(None, {}, flags)


# --- what a change means --------------------------------------------------------------


#: Values of many kinds: each setting takes one that is not its own.
SAMPLES = (
    True,
    False,
    7,
    8,
    0.5,
    0.75,
    "x",
    "y",
    "info",
    ["8"],
    ["http://h"],
    ["turn"],
    ["begins"],
    "http://h/",
    "ws://h/",
    "tcp://h",
    "mqtt://h",
    "critical",
    "warning",
    "none",
    "de",
    "depth",
)


def other(key: str, now: object) -> object:
    """A value that the setting can have and has not."""
    kind = msgspec.inspect.type_info(SETTINGS[key])
    choices = kind.types if isinstance(kind, msgspec.inspect.UnionType) else (kind,)
    named = chain.from_iterable(getattr(each, "values", ()) for each in choices)
    for value in (*SAMPLES, *named):
        with contextlib.suppress(ConfigError):
            found = convert_setting(key, key, value)
            if msgspec.to_builtins(found) != now:
                return found
    raise AssertionError(f"no sample fits {key}")


@pytest.mark.parametrize("key", SETTINGS)
def test_what_is_said_to_be_taken_over_is_taken_over(
    key: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The parts of the running service, each key by itself: what they hold afterwards
    is the new setting, or a new start is said to be needed.
    """
    (pgn := tmp_path / "games.pgn").write_text("")
    old = Config()
    values = dict(flatten(msgspec.to_builtins(old)))
    values[key] = other(key, values[key])
    new = msgspec.convert(nest(values), Config)
    publisher, sources = (
        Publisher(old.server, World(1)),
        SourceRunner([str(pgn)], old.feeds),
    )
    served: list[ServerConfig] = []
    monkeypatch.setattr(publisher, "reconfigure", served.append)
    log = logging.getLogger("live").level
    service = open_unscored()
    parts = list_reloadable_parts(sources, publisher, service.journal.journal)
    reloader = SettingsReloader(
        lambda: new, pgn, old, parts, record=service.arbiter.record
    )
    try:
        difference = reloader.reload(reloader.read())
    finally:
        logging.getLogger().setLevel(logging.WARNING)
        logging.getLogger("live").setLevel(log)
    assert difference is not None
    assert (key in difference.applied) != (key in difference.restart)
    taken = f"applied: {key}" in caplog.text
    assert taken == (key in difference.applied)
    logged = [each.text for each in service.arbiter.incidents()]
    assert [key in text for text in logged] == ([True] if taken else [])
    section, _, name = key.partition(".")
    if not taken:
        assert "at the next start" in caplog.text
        assert not served
        assert sources.config == old.feeds
    elif section == "server":
        assert [getattr(each, name) for each in served] == [values[key]]
    elif key in DELAY_KEYS:
        assert publisher.public.delay_s == new.feeds.delay_s
    elif section == "feeds":
        assert sources.config == new.feeds
        assert key not in ("feeds.rating_list", "feeds.pairing_list"), (
            "read at the start alone"
        )
    else:
        assert key == "log.level"


def test_scores_that_a_broker_holds_are_not_hidden_by_a_change() -> None:
    """Readers of the broker would go on seeing them while the operator believes
    otherwise.
    """
    told = settings(mqtt__publish="mqtt://broker")
    hidden = settings(mqtt__publish="mqtt://broker", server__hide_scores=True)
    part = ReloadablePart(PORT_KEYS, lambda new: pytest.fail("taken over"))
    reloader = SettingsReloader(lambda: hidden, Path(), told, [part], record=print)
    found = reloader.reload(reloader.read())
    assert found is not None and found.restart == ("server.hide_scores",)


# --- reading again --------------------------------------------------------------------


class Watched:
    """A configuration file, and a part that takes it over."""

    def __init__(self, path: Path, refuse: bool = False) -> None:
        self.path = path
        self.taken: list[Config] = []
        self.refuse = refuse
        self.clock = DrivenClock()
        path.write_text("")
        part = ReloadablePart(SOURCE_KEYS, self.taken.append, self._check)
        self.reloader = SettingsReloader(
            self._load, path, Config(), [part], record=print, clock=self.clock
        )

    def reload(self) -> Reloaded | None:
        return self.reloader.reload(self.reloader.read())

    def _load(self) -> Config:
        return read_settings(self.path, {}, {})

    def _check(self, config: Config) -> None:
        if self.refuse:
            raise ConfigError("feeds.x", "cannot be used")


def test_a_change_is_taken_over_and_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(tmp_path / "config.toml")
    watched.path.write_text("[feeds]\npoll_s = 7.0\n[engine]\nnodes = 5000\n")
    watched.reload()
    assert [config.feeds.poll_s for config in watched.taken] == [7.0]
    assert watched.reloader.now.feeds.poll_s == 7.0
    assert "applied: feeds.poll_s; at the next start: engine.nodes" in caplog.text
    watched.reload()
    assert len(watched.taken) == 1, "done once"


@pytest.mark.parametrize(
    "text", ["[feeds\n", "[feeds]\npoll_s = -1\n", "[feeds]\nnonsense = 1\n"]
)
def test_a_broken_file_changes_nothing_and_both_it_and_its_mending_are_logged(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(tmp_path / "config.toml")
    watched.path.write_text(text)
    assert watched.reload() is None
    assert watched.reloader.now == Config() and not watched.taken
    (record,) = caplog.records
    assert str(watched.path) in record.getMessage()
    assert record.getMessage().endswith("the settings stay unchanged")
    assert "\n" not in record.getMessage()
    caplog.clear()
    watched.path.write_text("[engine]\nnodes = 100000\n")
    watched.reload()
    assert caplog.messages == ["settings: nothing has changed"]


def test_nothing_is_changed_where_a_part_refuses(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "config.toml", refuse=True)
    watched.path.write_text("[feeds]\npoll_s = 7.0\n[log]\nlevel = 'info'\n")
    assert watched.reload() is None
    assert watched.reloader.now == Config()


async def test_the_file_is_looked_at_and_one_that_is_gone_changes_nothing(
    tmp_path: Path,
) -> None:
    watched = Watched(tmp_path / "config.toml")

    async def look() -> None:
        before = len(watched.clock.slept)
        await until(lambda: len(watched.clock.slept) > before + 2)

    task = asyncio.create_task(watched.reloader.run())
    await look()
    assert not watched.taken
    watched.path.write_text("[feeds]\npoll_s = 7.0\n")
    await look()
    watched.path.unlink()  # an editor replaces it: for a moment there is none
    await look()
    assert [each.feeds.poll_s for each in watched.taken] == [7.0]
    watched.path.write_text("[feeds]\npoll_s = 8.0\n")
    await look()
    assert [each.feeds.poll_s for each in watched.taken] == [7.0, 8.0]
    task.cancel()


# --- the parts ------------------------------------------------------------------------


async def test_scores_hidden_by_a_change_are_in_no_message_from_then_on() -> None:
    async with Publisher(ServerConfig(port=0), World(1)) as publisher:
        url = publisher.url.replace("http", "ws") + "v3/live"
        async with connect(url, max_size=None) as reader:
            assert b'"sight"' in (await reader.recv(decode=False))
            publisher.reconfigure(ServerConfig(port=0, hide_scores=True))
            assert (await left_in(reader))[1] == 1001
        async with connect(url, max_size=None) as reader:
            hello = msgspec.json.decode(await reader.recv(decode=False))
            assert hello["engine"]["rating_source"] == "withheld"


async def test_origins_and_bounds_can_change() -> None:
    async with Publisher(ServerConfig(port=0), World(1)) as publisher:
        url = publisher.url.replace("http", "ws") + "v3/live"
        with pytest.raises(Exception, match="403"):
            await connect(url, origin="https://example.org", max_size=None)  # type: ignore[arg-type]
        publisher.reconfigure(ServerConfig(port=0, origins=("https://example.org",)))
        async with connect(url, origin="https://example.org", max_size=None):  # type: ignore[arg-type]
            publisher.reconfigure(ServerConfig(port=0, max_connections=1))
            with pytest.raises(Exception, match="503"):
                await connect(url)


async def test_a_running_service_reads_its_file_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The whole service: a feed gets its new settings, games stay, and it is told."""
    caplog.set_level(logging.WARNING)
    pgn = tmp_path / "games.pgn"
    pgn.write_text('[White "A"]\n[Black "B"]\n[Result "*"]\n\n1. e4 *\n')
    file = tmp_path / "config.toml"
    base = "[engine]\nnodes = 100\n[server]\nport = 0\n[journal]\nenabled = false\n"
    file.write_text(base)
    shown: list[str] = []

    def load() -> Config:
        return read_settings(file, {}, {})

    def has_printed(words: str) -> bool:
        shown.append(capsys.readouterr().out)
        return words in "".join(shown)

    def has_logged(words: str) -> bool:
        return words in caplog.text

    service = asyncio.create_task(
        app.follow(load(), [str(pgn)], headless=True, once=False, load=load, path=file)
    )
    try:
        await until(lambda: has_printed("played 1.e4"), 60)
        file.write_text(base + "[feeds]\npoll_s = 0.5\n[engine.x]\n")
        await until(lambda: has_logged("the settings stay unchanged"), 60)
        file.write_text(base.replace("100", "200") + "[feeds]\npoll_s = 0.5\n")
        new = "applied: feeds.poll_s; at the next start: engine.nodes"
        await until(lambda: has_logged(new), 60)
        pgn.write_text('[White "A"]\n[Black "B"]\n[Result "*"]\n\n1. e4 e5 *\n')
        await until(lambda: has_printed("played 1...e5"), 60)
        assert "".join(shown).count("board appears") == 1, "games stay"
    finally:
        service.cancel()
        await asyncio.wait([service])
