"""One engine process that stays alive: the thin asyncio shell around a UCI conversation.

It owns the process, its pipes and the deadlines: for the handshake, and for each search (under
node and depth limits the bound follows from the speed seen so far). Whatever goes wrong is an
:class:`live.errors.EngineFault`, the whole process group is killed, and the pool starts another.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from typing import Final, cast

import msgspec

from live.engine.engine_discovery import EngineCommand
from live.engine.process.child_process import (
    MARK,
    StartDeadline,
    death,
    environment,
    fault_of,
    launched,
    look_at,
    no_uci,
)
from live.engine.process.engine_timeouts import EnginePace, EngineTimeouts
from live.engine.process.uci_conversation import (
    EngineReady,
    SearchFinished,
    UciConversation,
    UciSettings,
)
from live.engine.process.uci_info import SearchDeepened
from live.engine.search import Limit, SearchProgress
from live.engine.search_key import SearchKey
from live.errors import EngineFault
from live.operating_system import kill_group, kill_marked, own_group, resident_bytes

_STDERR_KEPT: Final = 2_000  # bytes, for the message when it dies


class EngineProcess(asyncio.SubprocessProtocol):
    """A running engine. Make one with :meth:`start`; one search at a time.

    ``on_lost`` is called once, when the process ends or is given up, with the reason, unless
    :meth:`close` was called before.
    """

    def __init__(self, settings: UciSettings, patience: EngineTimeouts, subject: str) -> None:
        self.name = ""
        self.options: tuple[str, ...] = ()
        self.chess960 = False
        self.on_lost: Callable[[EngineFault], None] | None = None
        self._subject = subject
        self._mark = secrets.token_hex(8)
        self._patience = patience
        self.pace = EnginePace(patience)
        self._conversation = UciConversation(settings)
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport | None = None
        self._stderr = b""
        # Why it can be used no more, if so; set once, here alone.
        self.lost: EngineFault | None = None
        self._closing = False
        self._exited = self._loop.create_future()
        self._greeted: asyncio.Future[EngineReady] = self._loop.create_future()
        self._greeted.add_done_callback(look_at)
        self._outcome: asyncio.Future[SearchFinished] | None = None
        self._on_progress: Callable[[SearchProgress], None] | None = None
        self._deadline: StartDeadline | None = None
        self._memory_limit = (self._patience.memory_mb + settings.hash_mb) << 20
        self._weighing: asyncio.TimerHandle | None = None
        self._limit = Limit()  # of the running search
        self._began = 0.0

    @classmethod
    async def start(
        cls,
        command: EngineCommand,
        settings: UciSettings,
        *,
        nice: int = 0,
        patience: EngineTimeouts | None = None,
    ) -> EngineProcess:
        """Start the program and shake hands.

        Raises:
            NotAnEngine: it does not run, or does not speak UCI.
        """
        subject = command.argv[-1]
        self = cls(settings, patience or EngineTimeouts(), subject)
        argv = launched(command.argv, nice)
        try:
            await self._loop.subprocess_exec(
                lambda: self, *argv, env=environment(self._mark), **own_group(nice)
            )
        except OSError as error:
            raise no_uci(subject, f"cannot be started ({error.strerror})") from None
        try:
            async with asyncio.timeout(self._patience.handshake_s):
                ready = await self._greeted
        except (TimeoutError, EngineFault) as error:
            await self._abandon()
            silent = f"was not ready within {self._patience.handshake_s:g} s"
            problem = error.problem if isinstance(error, EngineFault) else silent
            raise no_uci(subject, problem) from None
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
    def searching(self) -> bool:
        return self._outcome is not None

    def begin(
        self, search_key: SearchKey, on_progress: Callable[[SearchProgress], None] | None = None
    ) -> None:
        """Start a search at once; await :meth:`outcome` for its end.

        ``on_progress`` is called with every exact score of a new depth.
        """
        if self._outcome is not None:
            raise RuntimeError("one search at a time")
        self._outcome = self._loop.create_future()
        self._outcome.add_done_callback(look_at)
        if self.lost is not None:
            self._outcome.set_exception(self.lost)
            return
        self._on_progress = on_progress
        self._limit = search_key.limit
        self._began = self._loop.time()
        self._conversation.begin(search_key)
        self._flush()
        self._arm(self.pace.longest_s(search_key.limit), "hung: no answer")

    async def outcome(self) -> SearchFinished:
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

    def tidy(self) -> None:
        """Use the engine's leisure to prepare it for the next search."""
        if self.lost is None:
            self._conversation.tidy()
            self._flush()

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
        if self.lost is None and not self._exited.done():
            self._conversation.quit()
            self._flush()
            if self._stdin is not None:
                self._stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._patience.quit_s):
                    await asyncio.shield(self._exited)
        await self._abandon()

    def kill(self, problem: str) -> None:
        """Give it up now."""
        self.give_up(EngineFault(self.name or self._subject, problem))

    # What the pipes report (asyncio.SubprocessProtocol).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        self._conversation.greet()
        self._flush()
        self._deadline = StartDeadline(self._loop, self._patience.uciok_s, self._await_uciok)
        self._weigh()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self._stderr = (self._stderr + data)[-_STDERR_KEPT:]
        if fd != 1 or self.lost is not None:
            return
        try:
            events = self._conversation.receive(data)
        except Exception as error:  # broad: what it says may end it alone; logged, and shown
            self.give_up(fault_of(error, self._subject))
            return
        self._flush()
        for event in events:
            if isinstance(event, SearchDeepened):
                if self._on_progress is not None:
                    self._on_progress(event.progress)
            elif isinstance(event, SearchFinished):
                self._finish(event)
            elif not self._greeted.done():
                self._greeted.set_result(event)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1 and not self._closing:
            # No more answers can come. A moment for it to exit by itself and so say why.
            self._loop.call_later(0.2, self._cut_off)

    def _cut_off(self) -> None:
        if not self._exited.done():
            kill_group(self.pid)

    def process_exited(self) -> None:
        """The process is gone. Its children may hold the pipes open, and go too."""
        kill_group(self.pid)
        kill_marked(f"{MARK}={self._mark}")
        assert self._transport is not None
        # A child that left the group keeps the pipes for ever: then they are closed on our side.
        self._loop.call_later(1.0, self._transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """It has exited and all pipes are read to their end: standard error is complete."""
        assert self._transport is not None
        code = self._transport.get_returncode()
        self.give_up(death(self.name or self._subject, code, self._stderr))
        if not self._exited.done():
            self._exited.set_result(None)

    def _finish(self, event: SearchFinished) -> None:
        self._disarm()
        if not event.stopped:
            self.pace.took(self._limit, self._loop.time() - self._began, event.result)
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_result(event)

    def _await_uciok(self) -> None:
        if self._conversation.greeting:
            self.kill(f"did not answer 'uci' within {self._patience.uciok_s:g} s")

    def _weigh(self) -> None:
        """Look every second whether it grows without end (where /proc exists)."""
        resident = resident_bytes(self.pid)
        if resident is None:
            return
        if resident > self._memory_limit:
            self.kill(f"grew to {resident >> 20} MB")
        else:
            self._weighing = self._loop.call_later(1.0, self._weigh)

    def _arm(self, seconds: float, problem: str) -> None:
        self._disarm()
        late = f"{problem} within {seconds:.3g} s"
        self._deadline = StartDeadline(self._loop, seconds, lambda: self.kill(late))

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _flush(self) -> None:
        data = self._conversation.to_send()
        if data and self._stdin is not None and not self._stdin.is_closing():
            self._stdin.write(data)

    def give_up(self, fault: EngineFault) -> None:
        """The one place where the engine becomes unusable."""
        if self.lost is not None:
            return
        self.lost = fault
        self._disarm()
        if self._weighing is not None:
            self._weighing.cancel()
        kill_group(self.pid)
        if not self._greeted.done():
            self._greeted.set_exception(fault)
        if self._outcome is not None and not self._outcome.done():
            self._outcome.set_exception(fault)
        if self.on_lost is not None and not self._closing:
            self.on_lost(fault)

    async def _abandon(self) -> None:
        """Kill what is left and wait until the kernel says it is gone."""
        self.give_up(EngineFault(self.name or self._subject, "closed"))
        if self._transport is None:
            return
        with contextlib.suppress(TimeoutError):
            # Only a process stuck inside the kernel outlives this.
            async with asyncio.timeout(self._patience.stop_s):
                await asyncio.shield(self._exited)
        self._transport.close()


class EngineIdentity(msgspec.Struct, frozen=True):
    """What a result depends on besides the search."""

    name: str
    """``id name``."""
    options: tuple[str, ...]

    @classmethod
    def of(cls, process: EngineProcess, settings: UciSettings) -> EngineIdentity:
        """Of a running engine set up like this."""
        modes = ["hash cleared" if settings.reproducible else "hash kept"]
        if settings.adaptive:
            modes.append("adaptive")
        return cls(process.name, (*process.options, *modes))

    def __str__(self) -> str:
        """One text, for cache keys, clusters and export."""
        return "; ".join((self.name, *self.options))
