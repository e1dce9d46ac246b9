"""One engine process that stays alive: the thin asyncio shell around a UCI conversation.

It owns the process, its pipes and the deadlines. Every wait for the engine has one: for the
handshake, and for each search (also under node and depth limits, where the bound follows from
the speed seen so far). Whatever goes wrong is an :class:`live.errors.EngineFault`, the whole
process group is killed, and this object is done: the room makes another.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from live.engine.discovery import EngineCommand
from live.engine.question import Question
from live.engine.search import Limit, Progress
from live.engine.uci import Conversation, Deepened, Finished, Ready, Settings
from live.errors import EngineFault, NotAnEngine

_LAUNCH: Final = str(Path(__file__).with_name("launch.py"))
#: What an engine inherits of our environment: enough to find its libraries and files, nothing
#: that changes what Node or Python print.
_INHERITED: Final = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: Bytes of standard error kept for the message when it dies.
_STDERR_KEPT: Final = 2_000


class Patience(msgspec.Struct, frozen=True):
    """How long an engine may take, in seconds, before it counts as hung."""

    handshake_s: float = 30.0
    """From start to the first ``readyok``: a cold disk, a big network, a busy machine."""
    floor_s: float = 10.0
    """The least any search may take."""
    slack: float = 20.0
    """How many times longer than expected a search may take: the machine may be busy."""
    unknown_depth_s: float = 120.0
    """A search to a depth nobody has timed yet."""
    stop_s: float = 5.0
    """From ``stop`` to ``bestmove``; measured: 1 ms."""
    quit_s: float = 0.5
    """From ``quit`` to the end of the process, before it is killed."""
    memory_mb: int = 2048
    """Resident memory an engine may grow to beyond its hash."""


class EngineProcess:
    """A running engine. Make one with :meth:`start`; one search at a time.

    ``on_lost`` is called once, when the process ends or is given up, with the reason, unless
    :meth:`close` was called before.
    """

    def __init__(self, settings: Settings, patience: Patience, subject: str) -> None:
        self.name = ""
        self.options: tuple[str, ...] = ()
        self.chess960 = False
        self.knodes_per_s: float | None = None
        self.on_lost: Callable[[EngineFault], None] | None = None
        self._subject = subject
        self._patience = patience
        self._conversation = Conversation(settings)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._stderr = b""
        # Why it can be used no more; set once.
        self._lost: EngineFault | None = None
        self._closing = False
        self._exited = self._loop.create_future()
        self._greeted: asyncio.Future[Ready] = self._loop.create_future()
        self._greeted.add_done_callback(_look_at)
        self._outcome: asyncio.Future[Finished] | None = None
        self._on_progress: Callable[[Progress], None] | None = None
        self._deadline: asyncio.TimerHandle | None = None
        # Slowest search seen under each depth limit, seconds.
        self._slowest: dict[Limit, float] = {}
        self._memory_limit = (self._patience.memory_mb + settings.hash_mb) << 20
        self._weighing: asyncio.TimerHandle | None = None
        self._began = 0.0
        self._limit = Limit()

    @classmethod
    async def start(
        cls,
        command: EngineCommand,
        settings: Settings,
        *,
        nice: int = 0,
        patience: Patience | None = None,
    ) -> EngineProcess:
        """Start the program and shake hands.

        Raises:
            NotAnEngine: it does not run, or does not speak UCI.
        """
        subject = command.argv[-1]
        self = cls(settings, patience or Patience(), subject)
        argv = command.argv
        if os.name == "posix":
            argv = (sys.executable, "-I", "-S", _LAUNCH, str(os.getpid()), str(nice), *argv)
        try:
            await self._loop.subprocess_exec(
                lambda: _Pipes(self), *argv, env=_environment(), start_new_session=True
            )
        except OSError as error:
            raise _not_an_engine(subject, f"cannot be started ({error.strerror})") from None
        try:
            async with asyncio.timeout(self._patience.handshake_s):
                ready = await self._greeted
        except TimeoutError:
            problem = f"did not answer 'uci' within {self._patience.handshake_s:g} s"
            await self._abandon()
            raise _not_an_engine(subject, problem) from None
        except EngineFault as fault:
            await self._abandon()
            raise _not_an_engine(subject, fault.problem) from None
        except BaseException:
            await self._abandon()
            raise
        self.name = ready.name
        self.options = ready.options
        self.chess960 = ready.chess960
        return self

    @property
    def pid(self) -> int:
        """The engine's own process id, which is its group's too."""
        assert self._transport is not None
        return self._transport.get_pid()

    @property
    def lost(self) -> EngineFault | None:
        """Why it can be used no more, if so."""
        return self._lost

    @property
    def searching(self) -> bool:
        return self._outcome is not None

    def begin(
        self, question: Question, on_progress: Callable[[Progress], None] | None = None
    ) -> None:
        """Start a search at once; await :meth:`outcome` for its end.

        ``on_progress`` is called with every exact score of a new depth.
        """
        if self._outcome is not None:
            raise RuntimeError("one search at a time")
        self._outcome = self._loop.create_future()
        self._outcome.add_done_callback(_look_at)
        if self._lost is not None:
            self._outcome.set_exception(self._lost)
            return
        self._on_progress = on_progress
        self._limit = question.limit
        self._began = self._loop.time()
        try:
            self._conversation.begin(question)
        except EngineFault as fault:
            self._lose(fault)
            return
        self._flush()
        self._arm(self._patience_for(question.limit), "hung: no answer")

    async def outcome(self) -> Finished:
        """The end of the search begun last.

        Raises:
            EngineFault: the engine died, hung or lied; it is killed already.
        """
        assert self._outcome is not None
        try:
            return await self._outcome
        finally:
            self._outcome = None
            self._disarm()

    def stop(self) -> None:
        """Have the running search end now; its outcome then says ``stopped``."""
        if self._outcome is not None and not self._outcome.done():
            self._conversation.stop()
            self._flush()
            self._arm(self._patience.stop_s, "hung: did not stop")

    async def close(self) -> None:
        """End the process: politely, then by killing its group. Never raises."""
        self._closing = True
        self._disarm()
        if self._lost is None and not self._exited.done():
            self._conversation.quit()
            self._flush()
            if self._stdin is not None:
                self._stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._patience.quit_s):
                    await asyncio.shield(self._exited)
        await self._abandon()

    def kill(self, problem: str) -> None:
        """Give the engine up now, because of ``problem``."""
        self._lose(EngineFault(self.name or self._subject, problem))

    # What the pipes tell.

    def _connected(self, transport: asyncio.SubprocessTransport) -> None:
        self._transport = transport
        self._stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
        self._conversation.greet()
        self._flush()
        self._weigh()

    def _printed(self, data: bytes) -> None:
        if self._lost is not None:
            return
        try:
            events = self._conversation.receive(data)
        except EngineFault as fault:
            self._lose(fault)
            return
        self._flush()
        for event in events:
            if isinstance(event, Deepened):
                if self._on_progress is not None:
                    self._on_progress(event.progress)
            elif isinstance(event, Finished):
                self._finish(event)
            elif not self._greeted.done():
                self._greeted.set_result(event)

    def _complained(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-_STDERR_KEPT:]

    def _leader_ended(self) -> None:
        """The process is gone. Its children may hold the pipes open, and go too."""
        self._kill_group()
        assert self._transport is not None
        # A child that left the group keeps the pipes for ever: then they are closed on our side.
        self._loop.call_later(1.0, self._transport.close)

    def _ended(self) -> None:
        assert self._transport is not None
        code = self._transport.get_returncode()
        self._lose(EngineFault(self.name or self._subject, _death(code, self._stderr)))
        if not self._exited.done():
            self._exited.set_result(None)

    def _finish(self, event: Finished) -> None:
        self._disarm()
        took_s = self._loop.time() - self._began
        if not event.stopped:
            slowest = self._slowest.get(self._limit, 0.0)
            self._slowest[self._limit] = max(slowest, took_s)
        if event.result.nodes > 1000 and took_s > 0.005:
            speed = event.result.nodes / took_s / 1000
            old = self.knodes_per_s
            self.knodes_per_s = speed if old is None else old + 0.1 * (speed - old)
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(event)

    def _patience_for(self, limit: Limit) -> float:
        patience = self._patience
        if limit.movetime_ms is not None:
            return limit.movetime_ms / 1000 + patience.floor_s
        slowest = self._slowest.get(limit)
        if slowest is not None:
            expected = slowest
        elif limit.nodes is not None:
            # 50 knodes/s is a tenth of the slowest engine measured.
            expected = limit.nodes / 1000 / (self.knodes_per_s or 50.0)
        else:
            expected = patience.unknown_depth_s / patience.slack
        if limit.depth is not None:
            # One position takes a hundred times as long as another to the same depth.
            return max(patience.unknown_depth_s, expected * patience.slack)
        return max(patience.floor_s, expected * patience.slack)

    def _weigh(self) -> None:
        """Look every second whether it grows without end (where /proc tells)."""
        resident = resident_bytes(self.pid)
        if resident is None:
            return
        if resident > self._memory_limit:
            self.kill(f"grew to {resident >> 20} MB")
        else:
            self._weighing = self._loop.call_later(1.0, self._weigh)

    def _arm(self, seconds: float, problem: str) -> None:
        self._disarm()
        self._deadline = self._loop.call_later(
            seconds, lambda: self.kill(f"{problem} within {seconds:.3g} s")
        )

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _flush(self) -> None:
        data = self._conversation.to_send()
        if data and self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(data)

    def _lose(self, fault: EngineFault) -> None:
        """The one place where the engine becomes unusable."""
        if self._lost is not None:
            return
        self._lost = fault
        self._disarm()
        if self._weighing is not None:
            self._weighing.cancel()
        self._kill_group()
        if not self._greeted.done():
            self._greeted.set_exception(fault)
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(fault)
        if self.on_lost is not None and not self._closing:
            self.on_lost(fault)

    def _kill_group(self) -> None:
        if os.name == "posix":
            # The group outlives its leader when the engine has children of its own.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        elif self._transport is not None:
            with contextlib.suppress(ProcessLookupError):
                self._transport.kill()

    async def _abandon(self) -> None:
        """Kill what is left and wait until the kernel says it is gone."""
        self._lose(EngineFault(self.name or self._subject, "closed"))
        if self._transport is None:
            return
        await asyncio.shield(self._exited)
        self._transport.close()


class _Pipes(asyncio.SubprocessProtocol):
    """Hands what the pipes say to the process."""

    def __init__(self, process: EngineProcess) -> None:
        self._process = process

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._process._connected(cast(asyncio.SubprocessTransport, transport))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._process._printed(data)
        else:
            self._process._complained(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1 and not self._process._closing:
            # No more answers can come, whether or not the process lives on.
            self._process._loop.call_soon(self._process._kill_group)

    def process_exited(self) -> None:
        self._process._leader_ended()

    def connection_lost(self, exc: Exception | None) -> None:
        # Called after the process has exited and all three pipes are read to their end, so
        # standard error is complete.
        self._process._ended()


def _look_at(future: asyncio.Future[Any]) -> None:
    """Take the exception out, so that asyncio does not warn when nobody awaits it."""
    if not future.cancelled():
        future.exception()


def resident_bytes(pid: int) -> int | None:
    """Resident memory of a process (Linux), else None."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return kept | {"NO_COLOR": "1", "NODE_NO_WARNINGS": "1"}


def _death(code: int | None, stderr: bytes) -> str:
    if code is not None and code < 0:
        try:
            how = f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            how = f"was killed by signal {-code}"
    else:
        how = f"exited with code {code}"
    lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    return f"{how}: {lines[-1].strip()[:200]!r}" if lines else how


def _not_an_engine(subject: str, problem: str) -> NotAnEngine:
    return NotAnEngine(subject, f"is no UCI engine: {problem}", "Name another with --engine PATH")
