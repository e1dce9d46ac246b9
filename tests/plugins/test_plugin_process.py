"""Which plugins there are; and one in a process of its own: what it answers, and every way in
which it can fail.
"""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from live.errors import ConfigError
from live.events import FeedHealth
from live.plugins import plugin_process
from live.plugins.plugin_process import (
    MOST_FAILURES,
    InstalledPlugin,
    PluginFailure,
    PluginProcess,
    installed_plugins,
    used_plugins,
)
from tests.engine.machines import dies
from tests.plugins.conftest import PluginFolder

#: Exports are asked with one argument and answer bytes, which says most with least.
EXPORT = """
    import os, sys, time
    class Plugin:
        media_type = "text/plain"
        calls = 0
        def export(self, event):
            self.calls += 1
            {body}
"""


class Asked(PluginProcess):
    """A plugin and what was reported of it."""

    def __init__(self, plugin: InstalledPlugin, call_s: float) -> None:
        self.reports: list[FeedHealth] = []
        super().__init__(plugin, self.reports.append, call_s=call_s)

    async def once(self) -> bytes:
        info = {"name": "", "limit": "", "rating": 0, "rating_source": ""}
        lists: dict[str, object] = {"games": [], "players": [], "feeds": []}
        event = {"type": "snapshot", "engine": info, "engines": {}, **lists}
        return await self.ask((event,), bytes)

    async def failure(self) -> str:
        with pytest.raises(PluginFailure) as caught:
            await self.once()
        return str(caught.value)

    async def texts(self) -> list[str | None]:
        return [text async for text in self.values("somewhere")]


Ask = Callable[..., Asked]


@pytest.fixture
async def asked(plugins: PluginFolder) -> AsyncIterator[Ask]:
    """``asked(body)``: a plugin whose method has this body."""
    made: list[Asked] = []

    def ask(body: str, code: str = EXPORT, kind: str = "exports", call_s: float = 60.0) -> Asked:
        plugin = plugins.add("tried", kind, code.replace("{body}", body))
        made.append(Asked(plugin, call_s))
        return made[-1]

    yield ask
    for each in made:
        await each.close()


async def test_it_answers_and_keeps_what_it_likes(asked: Ask) -> None:
    made = asked("return str(self.calls).encode()")
    assert [await made.once(), await made.once()] == [b"1", b"2"]
    assert made.about == "text/plain"
    assert made.reports == []


async def test_what_it_prints_is_logged_and_nothing_else(
    asked: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    body = "print('hello'); os.write(1, b'x\\n' * 5000); print(sys.stdin.read()); return b'ok'"
    made = asked(body)
    assert await made.once() == b"ok"
    await made.close()
    lines = [each.message for each in caplog.records if "tried" in each.message]
    assert len(lines) <= plugin_process.PRINTED_LINES + 1
    assert lines[-1].endswith("prints more than is logged")


async def test_what_it_raises_costs_one_answer(asked: Ask) -> None:
    body = "return b'ok' if self.calls != 1 else sys.exit('secret')"
    made = asked(body)
    assert await made.failure() == "raised SystemExit"
    # Of the same process: it has counted on.
    assert await made.once() == b"ok"
    part, why = "plugin tried (exports)", "raised SystemExit; tried again with the next change"
    assert [each.state for each in made.reports] == ["retrying", "live"]
    assert made.reports[0] == FeedHealth(part, "retrying", why, part=True)


async def test_one_that_hangs_is_ended_and_started_again(plugins: PluginFolder, asked: Ask) -> None:
    body = "time.sleep(3600 if os.path.exists(__file__ + '.hang') else 0); return b'ok'"
    made = asked(body, call_s=0.5)
    hang = plugins.folder / "tried.py.hang"
    hang.touch()
    assert await made.failure() == "gave no answer in time, and was ended"
    hang.unlink()
    made._call_s = 60.0
    assert await made.once() == b"ok"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("os._exit(3)", "its process ended"),
        ("return 'text'", "raised TypeError"),
        ("return bytes(1 << 32)", "raised MemoryError"),
        ("return b'x' * 200_000", "said more than 0 MB at once"),
    ],
)
async def test_other_faults(
    asked: Ask, monkeypatch: pytest.MonkeyPatch, body: str, said: str
) -> None:
    monkeypatch.setattr(plugin_process, "MOST_BYTES", 100_000)
    made = asked(body)
    assert await made.failure() == said


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ImportError('no such thing')", "raised ImportError"),
        ("class Plugin:\n    media_type = 'text/plain'", "raised TypeError"),
        ("Plugin = None", "raised TypeError"),
        # No header holds these media types.
        *(
            (EXPORT.replace('"text/plain"', f'"{text}"'), "gave what it should not")
            for text in ("text/plain\\r\\nSet-Cookie: x", "text/plain\\n", "téxt", "")
        ),
    ],
)
async def test_what_cannot_be_loaded(asked: Ask, code: str, said: str) -> None:
    made = asked("pass", code=code)
    with pytest.raises(PluginFailure, match=said):
        await made.load()


async def test_it_is_switched_off_after_failures_in_a_row(asked: Ask) -> None:
    made = asked("raise ValueError")
    for _ in range(MOST_FAILURES):
        assert await made.failure() == "raised ValueError"
    assert made.off
    assert await made.failure() == "switched off"
    assert made.reports[-1].state == "failed"
    assert made.reports[-1].detail == "raised ValueError; switched off after 5 failures in a row"
    assert len(made.reports) == MOST_FAILURES


async def test_who_gives_up_waiting_gets_no_others_answer(asked: Ask) -> None:
    made = asked("time.sleep(0.2); return str(os.getpid()).encode()")
    first = await made.once()
    waiting = asyncio.ensure_future(made.once())
    await asyncio.sleep(0)  # lets it ask
    waiting.cancel()
    await asyncio.wait([waiting])
    # The answer to the call that was given up would be of the same process.
    assert await made.once() != first


FEED = """
    class Plugin:
        def follow(self, address):
            yield address
            {body}
"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("yield 'more'", ""),
        ("raise OSError", "raised OSError"),
        ("yield 5", "gave what it should not"),
        # Its child holds the pipe.
        ("import os, time; os.fork() and os._exit(3); time.sleep(60)", "its process ended"),
    ],
)
async def test_a_feed_gives_texts_to_its_end_or_fails(asked: Ask, body: str, said: str) -> None:
    call_s = 0.2 if "fork" in body else 60.0
    made = asked(body, code=FEED, kind="feeds", call_s=call_s)
    if not said:
        assert await made.texts() == ["somewhere", "more"]
        return
    with pytest.raises(PluginFailure, match=said):
        await made.texts()


async def test_a_silent_feed_lets_others_look_at_it(asked: Ask) -> None:
    body = "__import__('time').sleep(3600)"
    made = asked(body, code=FEED, kind="feeds", call_s=0.05)
    values = made.values("somewhere")
    async with contextlib.aclosing(values):
        while await anext(values) is None:
            pass  # it is starting
        assert await anext(values) is None


def _await_environment(pid: int) -> None:
    """Linux lets a parent go on before the new program has its environment, with our mark."""
    while not Path(f"/proc/{pid}/environ").read_bytes():
        os.sched_yield()


async def test_what_a_plugin_starts_ends_with_it(asked: Ask) -> None:
    # It has our pipes, and is in no group of ours.
    code = "import time; time.sleep(60)"
    started = f"subprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)"
    body = f"import subprocess; return str({started}.pid).encode()"
    made = asked(body)
    child = int(await made.once())
    _await_environment(child)
    await made.close()
    assert dies(child)


async def test_a_feed_is_asked_for_its_next_text_when_there_is_time(
    plugins: PluginFolder, asked: Ask
) -> None:
    body = """
            for number in range(1000):
                open(__file__ + ".count", "w").write(str(number))
                yield "more"
    """
    made = asked(body, code=FEED, kind="feeds")
    async with contextlib.aclosing(made.values("somewhere")) as values:
        assert [await anext(values), await anext(values)] == ["somewhere", "more"]
    assert (plugins.folder / "tried.py.count").read_text(encoding="ascii") == "0"


async def test_one_that_is_still_loading_ends_with_the_service(plugins: PluginFolder) -> None:
    plugin = plugins.add(
        "tried", "exports", "print('here', flush=True)\nimport time; time.sleep(60)"
    )
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "live.plugins.plugin_host", plugin.group, plugin.name),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        start_new_session=True,
    )
    assert process.stdin is not None and process.stderr is not None
    assert await process.stderr.readline() == b"here\n"
    process.stdin.close()
    async with asyncio.timeout(30):
        await process.wait()


def test_plugins_are_found_and_not_imported(plugins: PluginFolder) -> None:
    found = plugins.add("loud", "alerts", "raise SystemExit('imported')")
    assert found == InstalledPlugin("live_rate.alerts", "loud", "loud:Plugin", "loud 1.0")
    assert found.kind == "alerts"
    assert found in installed_plugins()


def test_the_settings_name_what_is_used() -> None:
    both = [
        InstalledPlugin("live_rate.alerts", "clocks", "a:P", "one 1.0"),
        InstalledPlugin("live_rate.methods", "clocks", "b:P", "one 1.0"),
    ]
    twin = InstalledPlugin("live_rate.alerts", "clocks", "c:P", "two 2.0")
    other = InstalledPlugin("live_rate.feeds", "other", "c:P", "two 1.0")
    assert used_plugins([], [*both, other]) == []
    assert used_plugins(["clocks", "clocks"], [*both, other]) == both
    with pytest.raises(ConfigError, match=r"plugins\.use: no plugin nothing is installed\. live-"):
        used_plugins(["nothing"], [])
    with pytest.raises(ConfigError, match=r"clocks is in several packages: one 1\.0, two 2\.0\. U"):
        used_plugins(["clocks"], [*both, twin])
