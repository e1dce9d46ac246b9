"""Plugins seen from the service: which are installed, which of them the settings name, the process
of each, its time limits, and what becomes of its faults. Shell.

Loss policy service → plugin: none is kept; who asks gets an answer or :class:`PluginFailure`. A
process that hangs, ends or says too much is killed, and started again by the next call.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import sys
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Iterable,
    Iterator,
    Sequence,
)
from importlib.metadata import entry_points
from typing import Annotated, TypeVar

import msgspec

from live.clock import LOOP_CLOCK, Clock
from live.errors import ConfigError
from live.events import FeedState, HealthReport, Value, part_health
from live.feeds.retry import system_words
from live.operating_system import kill_group, kill_marked, own_group
from live.plugins.interface import GROUPS, PluginGroup
from live.plugins.plugin_host import PluginReply

log = logging.getLogger(__name__)

#: One call may last so long, and the start with the plugin's imports, seconds.
CALL_S = 5.0
START_S = 30.0
#: Between two calls of one plugin, seconds: what it is given and gives keeps no loop busy.
PAUSE_S = 0.1
#: Failures in a row after which a plugin is switched off until the next start of the service.
MOST_FAILURES = 5
#: The longest answer, bytes.
MOST_BYTES = 32_000_000
#: Alerts that one board may have of one plugin.
MOST_ALERTS = 20
#: Of what one process prints so much is logged, lines of so many bytes.
PRINTED_LINES = 100
_PRINTED_BYTES = 500
_ENDED = "its process ended"
#: Variable of the environment that says whose child a process is.
_MARK = "LIVE_RATE_PLUGIN"

#: As HTTP can send it (RFC 9110, section 5.5).
MediaType = Annotated[str, msgspec.Meta(pattern=r"\A[!-~][ -~]{0,99}\Z")]

Answer = TypeVar("Answer")


_LIST_THEM = "live-rate plugins lists those that are installed"


class InstalledPlugin(Value, order=True):
    """One entry point of one of our groups."""

    group: PluginGroup
    name: str
    target: str
    """Where it lies, ``module:object``."""
    package: str
    """The package that brings it, and its version."""

    @property
    def kind(self) -> str:
        """``feeds``, ``alerts``, ``methods`` or ``exports``."""
        return self.group.partition(".")[2]


def installed_plugins() -> list[InstalledPlugin]:
    """Every plugin of this environment; none of them is imported."""
    found = {
        InstalledPlugin(
            group,
            point.name,
            point.value,
            f"{point.dist.name} {point.dist.version}" if point.dist else "",
        )
        for group in GROUPS
        for point in entry_points(group=group)
    }
    return sorted(found)


def used_plugins(
    names: Sequence[str], installed: Iterable[InstalledPlugin]
) -> list[InstalledPlugin]:
    """The plugins that ``[plugins] use`` names: all groups in which a name stands.

    Raises:
        ConfigError: one is not installed, or two packages have one of this name.
    """
    used: list[InstalledPlugin] = []
    for name in dict.fromkeys(names):
        found = [each for each in installed if each.name == name]
        if not found:
            raise ConfigError("plugins.use", f"no plugin {name} is installed", _LIST_THEM)
        if len({each.group for each in found}) < len(found):
            packages = ", ".join(dict.fromkeys(each.package for each in found))
            why = f"{name} is in several packages: {packages}"
            raise ConfigError("plugins.use", why, "Uninstall all but one")
        used += found
    return used


class PluginFailure(Exception):
    """Why a plugin gave no answer: short, in lower case, without a full stop."""


class PluginProcess:
    """One plugin. Calls wait for one another."""

    def __init__(
        self,
        plugin: InstalledPlugin,
        report: HealthReport = lambda health: None,
        *,
        clock: Clock = LOOP_CLOCK,
        call_s: float = CALL_S,
    ) -> None:
        """``report`` is called when it gets into trouble and when that is over."""
        self.plugin = plugin
        self.failures = 0
        """In a row."""
        self.about: str | None = None
        """What it said of itself when it was loaded: the media type of an export."""
        self._report = report
        self._clock = clock
        self._call_s = call_s
        self._process: asyncio.subprocess.Process | None = None
        self._printing: asyncio.Task[None] | None = None
        self._mark = secrets.token_hex(8)
        self._turn = asyncio.Lock()

    @property
    def part(self) -> str:
        """What it is called where parts of the service are listed."""
        return f"plugin {self.plugin.name} ({self.plugin.kind})"

    @property
    def off(self) -> bool:
        """It has failed too often."""
        return self.failures >= MOST_FAILURES

    async def ask(self, arguments: tuple[object, ...], answer: type[Answer]) -> Answer:
        """One call of the plugin.

        Raises:
            PluginFailure: it gave none in time, raised, gave something else, or is switched off.
        """
        async with self._turn:
            if self.off:
                raise PluginFailure("switched off")
            with self._counted():
                async with self._alive() as process, self._clock.deadline(self._call_s):
                    await _send(process, arguments)
                    reply = await _reply(process)
                return msgspec.json.decode(self._checked(reply).value, type=answer)

    async def load(self) -> None:
        """Start it, to see whether it can be loaded. Raises PluginFailure."""
        async with self._turn:
            with self._counted():
                async with self._alive():
                    pass

    async def values(self, address: str) -> AsyncGenerator[str | None, None]:
        """What a feed plugin gives, to its end; None whenever it was silent for ``call_s``.

        Raises:
            PluginFailure: it raised, gave something else, or its process ended.
        """
        async with self._turn, contextlib.AsyncExitStack() as stack:
            with _explained():
                process = await stack.enter_async_context(self._alive())
            asked = False
            while True:
                with _explained():
                    if not asked:
                        await _send(process, (address,))
                    reply = await self._awaited(process)
                    if reply is not None and reply.over:
                        return
                    text = None if reply is None else msgspec.json.decode(reply.value, type=str)
                asked = text is None
                yield text
                if not asked:
                    # One that has another text at once, for ever, would keep the loop busy.
                    await self._clock.sleep(PAUSE_S)

    async def _awaited(self, process: asyncio.subprocess.Process) -> PluginReply | None:
        """Its next answer; None where there is none for so long as a call may last."""
        try:
            async with self._clock.deadline(self._call_s):
                return self._checked(await _reply(process))
        except TimeoutError:
            # What it started may hold the pipe open, so that reading comes to no end.
            if process.returncode is not None:
                raise PluginFailure(_ENDED) from None
            return None

    async def close(self) -> None:
        """End its process, and what that has started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            kill_group(process.pid)
        kill_marked(f"{_MARK}={self._mark}")
        assert process.stdin is not None and process.stdout is not None
        assert self._printing is not None
        process.stdin.close()
        with contextlib.suppress(TimeoutError):
            # To their end, so that the pipes are closed. Children that went away hold them open
            # where nobody can say whose they are, and Python waits for the pipes, too.
            async with self._clock.deadline(1.0):
                await process.stdout.read()
                await asyncio.wait([self._printing])
                await process.wait()
        self._printing.cancel()
        await asyncio.wait([self._printing])

    @contextlib.asynccontextmanager
    async def _alive(self) -> AsyncIterator[asyncio.subprocess.Process]:
        """Its process, loaded; killed unless the block ends well, for a late answer would be taken
        for that to another call.
        """
        try:
            if self._process is None:
                self._process = await self._started()
                async with self._clock.deadline(START_S):
                    reply = self._checked(await _reply(self._process))
                self.about = msgspec.json.decode(reply.value, type=MediaType | None)
            yield self._process
        except BaseException:
            await self.close()
            raise

    async def _started(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            # Without the folder that it is started in, which may hold anything.
            *(sys.executable, "-P", "-m", "live.plugins.plugin_host"),
            *(self.plugin.group, self.plugin.name),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=MOST_BYTES,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), _MARK: self._mark},
            **own_group(),
        )
        self._printing = asyncio.create_task(self._printed(process), name=f"{self.part} prints")
        return process

    async def _printed(self, process: asyncio.subprocess.Process) -> None:
        """Log what it prints, as far as that is bearable, and take the rest away."""
        assert process.stderr is not None
        lines = 0
        while piece := await process.stderr.read(65_536):
            for line in piece.splitlines()[: PRINTED_LINES - lines]:
                lines += 1
                log.info("%s: %r", self.part, line[:_PRINTED_BYTES].decode("utf-8", "replace"))
                if lines == PRINTED_LINES:
                    log.warning("%s prints more than is logged", self.part)

    def _checked(self, reply: PluginReply) -> PluginReply:
        if reply.error:
            # Its text may say anything, so it is for the log alone.
            log.info("%s raised %s: %r", self.part, reply.error, reply.detail)
            raise PluginFailure(f"raised {reply.error}")
        return reply

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """Count failures, and report when they begin and end."""
        try:
            with _explained():
                yield
        except PluginFailure as failure:
            self.failures += 1
            then = "tried again with the next change"
            if self.off:
                then = f"switched off after {self.failures} failures in a row"
            log.log(logging.ERROR if self.off else logging.WARNING, "%s %s", self.part, failure)
            state: FeedState = "failed" if self.off else "retrying"
            self._report(part_health(self.part, state, f"{failure}; {then}"))
            raise
        if self.failures:
            self.failures = 0
            self._report(part_health(self.part, "live"))


async def _send(process: asyncio.subprocess.Process, arguments: tuple[object, ...]) -> None:
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(arguments) + b"\n")
    await process.stdin.drain()


async def _reply(process: asyncio.subprocess.Process) -> PluginReply:
    assert process.stdout is not None
    line = await process.stdout.readline()
    if not line.endswith(b"\n"):
        raise PluginFailure(_ENDED)
    return msgspec.json.decode(line, type=PluginReply)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Whatever goes wrong with a plugin as :class:`PluginFailure`."""
    try:
        yield
    except TimeoutError:
        raise PluginFailure("gave no answer in time, and was ended") from None
    except OSError as error:
        raise PluginFailure(f"{_ENDED} ({system_words(error)})") from error
    except msgspec.MsgspecError as error:
        raise PluginFailure(f"gave what it should not: {error}") from error
    except ValueError as error:  # of StreamReader.readline
        raise PluginFailure(f"said more than {MOST_BYTES // 10**6} MB at once") from error
