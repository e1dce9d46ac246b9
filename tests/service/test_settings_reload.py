"""Settings that change while the service runs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from pathlib import Path

import msgspec
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live import app
from live.config import SETTINGS, Config, ServerConfig, load_config
from live.errors import ConfigError
from live.publish.server import Publisher
from live.service.process import HangupSignals
from live.service.settings_reload import (
    DELAY_KEYS,
    LOOK_S,
    PORT_KEYS,
    SOURCE_KEYS,
    ReloadablePart,
    SettingsDifference,
    SettingsReloader,
    diff,
    in_force,
)
from live.service.source_runner import SourceRunner, settings_of
from live.settings import checked, flat, nested
from live.store.journal import Journal
from tests.feeds.fakes import DrivenClock, until
from tests.publish.world import World


def settings(**changes: object) -> Config:
    return load_config(None, {}, {key.replace("__", "."): value for key, value in changes.items()})


LIVE = PORT_KEYS | SOURCE_KEYS | DELAY_KEYS | {"log.level"}

# --- what a change means --------------------------------------------------------------------------


def test_what_can_be_taken_over_is_told_from_what_needs_a_new_start() -> None:
    new = settings(log__level="info", engine__nodes=5000, feeds__delay_s=60, server__port=1)
    assert diff(Config(), new, LIVE) == SettingsDifference(
        ("feeds.delay_s", "log.level"), ("server.port", "engine.nodes")
    )
    assert str(diff(Config(), new, LIVE)) == (
        "taken over: feeds.delay_s, log.level; from the next start on: server.port, engine.nodes"
        " (start live-rate anew to have it count)"
    )
    assert diff(new, new, LIVE) == SettingsDifference((), ())


def test_what_needs_a_new_start_is_not_in_force() -> None:
    old, new = Config(), settings(log__level="info", engine__nodes=5000)
    now = in_force(old, new, diff(old, new, LIVE))
    assert now.log.level == "info" and now.engine.nodes == old.engine.nodes
    assert diff(now, new, LIVE).restart == ("engine.nodes",), "and it is not forgotten either"


#: Values of many kinds: each setting takes one that is not its own.
SAMPLES = (
    *(True, False, 7, 8, 0.5, 0.75, "x", "y", "info", ["8"], ["http://h"], ["turn"], ["begins"]),
    *("http://h/", "ws://h/", "tcp://h", "mqtt://h", "critical", "warning", "none", "de", "depth"),
)


def other(key: str, now: object) -> object:
    """A value that the setting can have and has not."""
    kind = msgspec.inspect.type_info(SETTINGS[key])
    choices = kind.types if isinstance(kind, msgspec.inspect.UnionType) else (kind,)
    named = [value for each in choices for value in getattr(each, "values", ())]
    for value in (*SAMPLES, *named):
        with contextlib.suppress(ConfigError):
            found = checked(key, key, value, SETTINGS)
            if msgspec.to_builtins(found) != now:
                return found
    raise AssertionError(f"no sample fits {key}")


@pytest.mark.parametrize("key", SETTINGS)
def test_what_is_said_to_be_taken_over_is_taken_over(
    key: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The parts of the running service, each key by itself: what they hold afterwards is the new
    setting, or a new start is said to be needed.
    """
    (pgn := tmp_path / "games.pgn").write_text("")
    old = Config()
    values = dict(flat(msgspec.to_builtins(old), SETTINGS))
    values[key] = other(key, values[key])
    new = msgspec.convert(nested(values), Config)
    publisher, sources = Publisher(old.server, World(1)), SourceRunner([str(pgn)], old.feeds)
    log = logging.getLogger("live").level
    again = app.StartAgain(lambda: new, None, HangupSignals())
    reloader = app._reloader(old, again, sources, publisher, Journal())
    try:
        difference = reloader.reload()
    finally:
        logging.getLogger().setLevel(logging.WARNING)
        logging.getLogger("live").setLevel(log)
    assert difference is not None
    assert (key in difference.applied) != (key in difference.restart)
    taken = f"taken over: {key}" in caplog.text
    assert taken == (key in difference.applied)
    section, _, name = key.partition(".")
    if not taken:
        assert "from the next start on" in caplog.text
        assert publisher._config == old.server
        kinds = ("demo", "-", "x.pgn", "https://lichess.org/broadcast/a/b/cccccccc", "mqtt://h/t")
        feeds = sources.config
        assert all(settings_of(spec, feeds) == settings_of(spec, old.feeds) for spec in kinds)
    elif section == "server":
        assert getattr(publisher._config, name) == values[key]
    elif key in DELAY_KEYS:
        public = publisher.public
        held = (public.delay_s, public._delayed.rounds, public._delayed.finished)
        assert held == (new.feeds.delay_s, new.feeds.delay_rounds, new.feeds.delay_finished)
    elif section == "feeds":
        assert sources.config == new.feeds
        assert key not in ("feeds.rating_list", "feeds.pairing_list"), "read at the start alone"
    else:
        assert key == "log.level"


def test_scores_that_a_broker_holds_are_not_hidden_by_a_change() -> None:
    """Readers of the broker would go on seeing them while the operator believes otherwise."""
    told = settings(mqtt__publish="mqtt://broker")
    hidden = settings(mqtt__publish="mqtt://broker", server__hide_scores=True)
    assert diff(told, hidden, LIVE).restart == ("server.hide_scores",)


# --- reading again --------------------------------------------------------------------------------


class Watched:
    """A configuration file, and a part that takes it over."""

    def __init__(self, path: Path, refuse: bool = False) -> None:
        self.path = path
        self.taken: list[Config] = []
        self.refuse = refuse
        self.clock = DrivenClock()
        path.write_text("")
        part = ReloadablePart(SOURCE_KEYS, self._check, self.taken.append)
        self.reloader = SettingsReloader(self._load, path, Config(), [part], clock=self.clock)

    def _load(self) -> Config:
        return load_config(self.path, {}, {})

    def _check(self, config: Config) -> None:
        if self.refuse:
            raise ConfigError("feeds.x", "cannot be used")


def test_a_change_is_taken_over_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(tmp_path / "config.toml")
    watched.path.write_text("[feeds]\npoll_s = 7.0\n[engine]\nnodes = 5000\n")
    watched.reloader.reload()
    assert [config.feeds.poll_s for config in watched.taken] == [7.0]
    assert watched.reloader.now.feeds.poll_s == 7.0
    assert "taken over: feeds.poll_s; from the next start on: engine.nodes" in caplog.text
    caplog.clear()
    watched.reloader.reload()
    assert not caplog.text and len(watched.taken) == 1, "said once, done once"


@pytest.mark.parametrize("text", ["[feeds\n", "[feeds]\npoll_s = -1\n", "[feeds]\nnonsense = 1\n"])
def test_a_broken_file_changes_nothing_and_is_told_in_one_line(
    text: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(tmp_path / "config.toml")
    watched.path.write_text(text)
    assert watched.reloader.reload() is None
    assert watched.reloader.now == Config() and not watched.taken
    (record,) = caplog.records
    assert str(watched.path) in record.getMessage()
    assert record.getMessage().endswith("the settings stay as they were")
    assert "\n" not in record.getMessage()


def test_who_mends_a_mistake_is_told_that_all_is_well(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(tmp_path / "config.toml")
    watched.path.write_text("[feeds\n")
    watched.reloader.reload()
    watched.path.write_text("[engine]\nnodes = 100000\n")
    caplog.clear()
    watched.reloader.reload()
    watched.reloader.reload()
    assert caplog.messages == ["settings: nothing has changed"]


def test_nothing_is_changed_where_a_part_refuses(tmp_path: Path) -> None:
    watched = Watched(tmp_path / "config.toml", refuse=True)
    watched.path.write_text("[feeds]\npoll_s = 7.0\n[log]\nlevel = 'info'\n")
    assert watched.reloader.reload() is None
    assert watched.reloader.now == Config()


async def test_the_file_is_looked_at_and_a_signal_asks(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watched = Watched(tmp_path / "config.toml")
    task = asyncio.create_task(watched.reloader.run())
    await watched.clock.expire()
    assert not watched.taken
    watched.path.write_text("[feeds]\npoll_s = 7.0\n")
    assert watched.clock.next_deadline_s == LOOK_S
    await watched.clock.expire()
    await until(lambda: len(watched.taken) == 1)
    os.utime(watched.path, (0, 0))
    watched.path.unlink()  # an editor replaces it: for a moment there is none
    await watched.clock.expire()
    assert watched.reloader.now.feeds.poll_s == 7.0
    watched.path.write_text("[feeds]\npoll_s = 8.0\n")
    watched.reloader.ask()
    await until(lambda: len(watched.taken) == 2)
    caplog.clear()
    watched.reloader.ask()
    await until(lambda: bool(caplog.messages))
    assert caplog.messages == ["settings: nothing has changed"], "who asks is answered"
    task.cancel()


# --- the parts ------------------------------------------------------------------------------------


async def test_scores_hidden_by_a_change_are_hidden_from_those_who_read_already() -> None:
    async with Publisher(ServerConfig(port=0), World(1)) as publisher:
        url = publisher.url.replace("http", "ws") + "v2/live"
        async with connect(url, max_size=None) as reader:
            assert b'"sight"' in (await reader.recv(decode=False))
            publisher.reconfigure(ServerConfig(port=0, hide_scores=True))
            with pytest.raises(ConnectionClosed) as closed:
                while True:
                    await reader.recv()
            assert closed.value.rcvd is not None and closed.value.rcvd.code == 1001
        async with connect(url, max_size=None) as reader:
            hello = msgspec.json.decode(await reader.recv(decode=False))
            assert hello["engine"]["rating_source"] == "withheld"


async def test_origins_and_bounds_can_change() -> None:
    async with Publisher(ServerConfig(port=0), World(1)) as publisher:
        url = publisher.url.replace("http", "ws") + "v2/live"
        with pytest.raises(Exception, match="403"):
            await connect(url, origin="https://example.org", max_size=None)  # type: ignore[arg-type]
        publisher.reconfigure(ServerConfig(port=0, origins=("https://example.org",)))
        async with connect(url, origin="https://example.org", max_size=None):  # type: ignore[arg-type]
            publisher.reconfigure(ServerConfig(port=0, max_connections=1))
            with pytest.raises(Exception, match="503"):
                await connect(url)


@pytest.mark.slow
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
        return load_config(file, {}, {})

    def told(words: str) -> bool:
        shown.append(capsys.readouterr().out)
        return words in "".join(shown)

    def logged(words: str) -> bool:
        return words in caplog.text

    before, hangups = signal.getsignal(signal.SIGHUP), HangupSignals()
    hangups.hear()
    again = app.StartAgain(load, file, hangups)
    service = asyncio.create_task(
        app.follow(load(), [str(pgn)], headless=True, once=False, again=again)
    )
    try:
        await until(lambda: told("played 1.e4"), 60)
        file.write_text(base + "[feeds]\nsettle_s = 0.5\n[engine.x]\n")
        await until(lambda: logged("the settings stay as they were"), 60)
        file.write_text(base.replace("100", "200") + "[feeds]\nsettle_s = 0.5\n")
        os.kill(os.getpid(), signal.SIGHUP)
        new = "taken over: feeds.settle_s; from the next start on: engine.nodes"
        await until(lambda: logged(new), 60)
        pgn.write_text('[White "A"]\n[Black "B"]\n[Result "*"]\n\n1. e4 e5 *\n')
        await until(lambda: told("played 1...e5"), 60)
        assert "".join(shown).count("board appears") == 1, "games stay"
    finally:
        service.cancel()
        await asyncio.wait([service])
        signal.signal(signal.SIGHUP, before)
