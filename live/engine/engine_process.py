"""One running engine process, as a thin asyncio layer over a UCI conversation.

An :class:`EngineProcess` owns the process, its pipes and the deadlines of the handshake
and of each search (under node and depth limits the deadline follows from the speed
measured so far). Any fault is an :class:`live.errors.EngineFault`: the whole process
group is killed, and the pool starts another engine.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import cast

from live.engine.engine_programs import EngineCommand
from live.engine.search import Limit, SearchProgress
from live.engine.search_key import SearchKey
from live.engine.searcher import (
    EngineTimeouts,
    OnProgress,
    Searcher,
    retrieve_exception,
)
from live.engine.uci import (
    EngineIdentity,
    Event,
    UciConversation,
    UciSettings,
)
from live.errors import EngineFault, EngineKilled, NotAnEngine
from live.process.child_processes import build_group_options, kill_group, kill_marked

log = logging.getLogger(__name__)


#: Delay in seconds after which a late deadline shows that this process itself was
#: suspended.
OVERSLEPT_S = 5.0
#: Environment variable that identifies the engine to which a child process belongs.
MARK = "LIVE_RATE_ENGINE"
_LAUNCH = str(Path(__file__).with_name("engine_launcher.py"))
#: Exit codes of SIGKILL and SIGTERM, which a program does not send to itself.
_FROM_OUTSIDE = (-9, -15)
#: Environment variables that an engine inherits: enough to find its libraries and
#: files, and nothing that changes the output of Node or Python.
_INHERITED = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
#: Number of bytes kept from the end of standard error, for the error message when the
#: engine dies.
_STDERR_KEPT = 2_000
#: Maximum number of characters shown from each output's last lines.
_WORDS_SHOWN = 300
#: Number of bytes of an engine's output read in one turn of the event loop, which takes
#: a few milliseconds. An engine can print tens of thousands of lines per search.
_PIECE_BYTES = 8_192


def build_launch_command(
    argv: tuple[str, ...], nice: int, memory_mb: int
) -> tuple[str, ...]:
    """Return the command that starts ``argv`` with this niceness and memory limit.

    The engine dies with this process.
    """
    if sys.platform == "win32":
        # On Windows the engine sees the end of its standard input, which every UCI
        # engine treats as "quit".
        return argv
    return (
        sys.executable,
        "-I",
        "-S",
        _LAUNCH,
        str(os.getpid()),
        str(nice),
        str(memory_mb),
        *argv,
    )


def build_environment(mark: str = "") -> dict[str, str]:
    """Return the environment of an engine; its child processes inherit ``mark``."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return inherited | {"NO_COLOR": "1", "NODE_NO_WARNINGS": "1", MARK: mark}


def describe_exit(code: int | None, words: str) -> str:
    """Return how a process ended, followed by ``words``, the last lines that it
    printed.
    """
    how = f"exited with code {code}"
    if code is not None and code < 0:
        signal_names = {
            known_signal.value: known_signal.name for known_signal in signal.Signals
        }
        how = f"was killed by {signal_names.get(-code, f'signal {-code}')}"
    return f"{how}: {words}" if words else how


def quote_last_lines(*outputs: Iterable[str]) -> str:
    """Return the last lines of each output, quoted and limited in length; empty if
    there are none.
    """
    quotes = []
    for lines in outputs:
        last_lines: list[str] = []
        for line in reversed([" ".join(line.split()) for line in lines]):
            if last_lines and sum(map(len, last_lines)) + len(line) > _WORDS_SHOWN:
                break
            if line:
                last_lines.append(line[:_WORDS_SHOWN])
        if last_lines:
            quotes.append(repr(" / ".join(reversed(last_lines))))
    return ", ".join(quotes)


class EngineProcess(Searcher, asyncio.SubprocessProtocol):
    """A running engine process, created by :meth:`start`."""

    def __init__(
        self, settings: UciSettings, patience: EngineTimeouts, subject: str
    ) -> None:
        super().__init__(patience)
        self.identity = EngineIdentity("", ())
        # Name in error messages: first the program's, then the engine's own.
        self._subject = subject
        self._mark = secrets.token_hex(8)
        self._settings = settings
        # These attributes exist only once the pipes are open.
        self._conversation: UciConversation
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: asyncio.WriteTransport
        self._stdout: asyncio.ReadTransport
        # True if the engine was given up because it took too long to start.
        self._late = False
        self._stderr = b""
        # Output that was received but not read yet.
        self._unread = b""
        self._exited = self._loop.create_future()
        self._greeted: asyncio.Future[EngineIdentity] = self._loop.create_future()
        self._greeted.add_done_callback(retrieve_exception)
        self._closing = False
        self._on_progress: OnProgress | None = None
        self._deadline: asyncio.TimerHandle | None = None
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
        """Start the program and complete the handshake.

        If the program is killed from outside meanwhile, start it once more.

        Raises:
            NotAnEngine: the program does not run, or does not speak UCI.
        """
        patience = patience or EngineTimeouts()
        try:
            return await cls._start_once(command, settings, nice, patience)
        except EngineKilled:
            log.warning(
                "%s was killed while it started; it is started again", command.argv[-1]
            )
        try:
            return await cls._start_once(command, settings, nice, patience)
        except EngineKilled as error:
            raise NotAnEngine(
                error.subject,
                error.problem,
                "Give the machine more memory,"
                " or name another engine with --engine PATH",
            ) from None

    @classmethod
    async def _start_once(
        cls,
        command: EngineCommand,
        settings: UciSettings,
        nice: int,
        patience: EngineTimeouts,
    ) -> EngineProcess:
        """Start the program once. Raises NotAnEngine, or EngineKilled if the program
        was killed from outside.
        """
        subject = command.argv[-1]
        self = cls(settings, patience, subject)
        memory_mb = patience.memory_mb + settings.hash_mb + 64 * settings.threads
        try:
            await self._loop.subprocess_exec(
                lambda: self,
                *build_launch_command(command.argv, nice, memory_mb),
                env=build_environment(self._mark),
                cwd=command.folder,
                **build_group_options(nice),
            )
            self.identity = await self._greeted
        except BaseException as error:
            await self._kill_and_wait()
            match error:
                case EngineKilled(problem=problem):
                    raise EngineKilled(
                        subject, self._describe_failed_start(problem)
                    ) from None
                case EngineFault(problem=problem):
                    pass
                case OSError():
                    problem = f"cannot be started ({error.strerror})"
                case _:
                    raise
            raise NotAnEngine(
                subject, self._describe_failed_start(problem), self._remedy
            ) from None
        self._subject = self.identity.name
        return self

    def _describe_failed_start(self, problem: str) -> str:
        """Return the reason why a program that did not become ready cannot be used."""
        if self._late:
            return problem
        speaks_uci = self._transport is not None and not self._conversation.is_greeting
        return (
            f"cannot be used: {problem}"
            if speaks_uci
            else f"is not a UCI engine: {problem}"
        )

    @property
    def _remedy(self) -> str:
        advice = "name another with --engine PATH"
        if self._late:
            return f"Give it longer with [engine] start_s, or {advice}"
        return f"{advice[0].upper()}{advice[1:]}"

    @property
    def pid(self) -> int:
        """Return the process id of the engine, which is also the id of its process
        group.
        """
        assert self._transport is not None
        return self._transport.get_pid()

    def _send_search(
        self, search_key: SearchKey, on_progress: OnProgress | None
    ) -> None:
        self._on_progress = on_progress
        self._limit = search_key.limit
        self._began = self._loop.time()
        self._conversation.begin_search(search_key)
        self._set_deadline(
            self.pace.compute_deadline_s(search_key.limit), "hung: no answer"
        )

    def prepare_next_search(self) -> None:
        if self.lost is None:
            self._conversation.clear_hash()

    def stop_search(self) -> None:
        if self.is_searching:
            self._conversation.stop_search()
            self._set_deadline(self._patience.stop_s, "hung: did not stop")

    async def close(self) -> None:
        """End the process: ask it to quit, then kill its group. Never raises."""
        self.on_lost = None
        self._closing = True
        self._cancel_deadline()
        if self.lost is None and not self._exited.done():
            self._send_bytes(b"quit\n")
            self._stdin.close()
            await asyncio.wait([self._exited], timeout=self._patience.quit_s)
        await self._kill_and_wait()

    def kill(self, problem: str) -> None:
        """Give up the engine now; ``problem`` is the reason."""
        self.give_up(EngineFault(self._subject, problem))

    # Callbacks of the pipes (asyncio.SubprocessProtocol).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin = cast(
            asyncio.WriteTransport, self._transport.get_pipe_transport(0)
        )
        self._stdout = cast(
            asyncio.ReadTransport, self._transport.get_pipe_transport(1)
        )
        self._conversation = UciConversation(self._settings, self._send_bytes)
        self._set_deadline(self._patience.handshake_s, "was not ready")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self._stderr = (self._stderr + data)[-_STDERR_KEPT:]
            return
        is_reading = bool(self._unread)
        self._unread += data
        if not is_reading:
            self._read_piece()

    def _read_piece(self) -> None:
        """Read one piece of the output. The next one is read after other tasks have
        run.
        """
        if self.lost is not None or self._closing:
            self._unread = b""
            if not self._stdout.is_closing():
                # asyncio reports the end of the process only after all its output was
                # read.
                self._stdout.resume_reading()
            return
        piece = self._unread[:_PIECE_BYTES]
        self._unread = self._unread[_PIECE_BYTES:]
        self._receive_data(piece)
        if self._unread:
            self._stdout.pause_reading()
            self._loop.call_soon(self._read_piece)
        elif not self._stdout.is_closing():
            self._stdout.resume_reading()

    def _receive_data(self, data: bytes) -> None:
        try:
            for event in self._conversation.receive(data):
                self._handle_event(event)
        except EngineFault as fault:
            self.give_up(fault)
        except Exception as error:
            # Every exception is caught, because strange output must end only this
            # engine.
            log.exception("%s: its output cannot be read", self._subject)
            self.kill(f"its output cannot be read ({type(error).__name__})")

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, SearchProgress):
            if self._on_progress is not None:
                self._on_progress(event)
            return
        self._cancel_deadline()
        if isinstance(event, EngineIdentity):
            self._greeted.set_result(event)
            return
        if not event.stopped:
            self.pace.record_search(
                self._limit, self._loop.time() - self._began, event.result
            )
        self._set_outcome(event)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            # No more answers can come. The engine gets a moment to exit by itself,
            # because its exit code can show the reason.
            self._loop.call_later(0.2, self._kill_if_running)

    def _kill_if_running(self) -> None:
        if not self._exited.done():
            kill_group(self.pid)

    def process_exited(self) -> None:
        """Kill the children of an exited process: they can keep its pipes open."""
        kill_group(self.pid)
        kill_marked(f"{MARK}={self._mark}")
        assert self._transport is not None
        # A child that left the group would keep the pipes open for ever, so they are
        # closed on our side.
        self._loop.call_later(1.0, self._transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Read the last output of an engine that has exited, and give the engine up."""
        assert self._transport is not None
        if self.lost is None and not self._closing:
            rest = self._unread
            self._unread = b""
            self._receive_data(rest)
        code = self._transport.get_returncode()
        kind = EngineKilled if code in _FROM_OUTSIDE else EngineFault
        self.give_up(kind(self._subject, describe_exit(code, self._quote_last_lines())))
        if not self._exited.done():
            self._exited.set_result(None)

    def _quote_last_lines(self) -> str:
        """Return the last lines of standard error, and the last lines of standard
        output that are not UCI.
        """
        stderr = self._stderr.decode("utf-8", "replace").splitlines()
        return quote_last_lines(stderr, self._conversation.aside)

    def _set_deadline(self, seconds: float, problem: str) -> None:
        """Kill the engine after ``seconds``, with ``problem`` as the reason, unless
        :meth:`_cancel_deadline` is called before.
        """
        self._cancel_deadline()
        due_s = self._loop.time() + seconds
        self._deadline = self._loop.call_at(
            due_s, self._on_deadline, due_s, seconds, problem
        )

    def _on_deadline(self, due_s: float, seconds: float, problem: str) -> None:
        # A deadline is noticed far too late if the clock continues while the machine
        # sleeps (macOS, Windows), and after this process was stopped (SIGSTOP). The
        # engine was asleep as well, so it gets the whole time again.
        if self._loop.time() - due_s > OVERSLEPT_S:
            self._set_deadline(seconds, problem)
        elif not self._greeted.done():
            self._late = True
            command = "uci" if self._conversation.is_greeting else "isready"
            words = self._quote_last_lines()
            remark = f"; it said {words}" if words else ""
            within = f"within {seconds:.3g} s of its start"
            self.kill(f"did not answer '{command}' {within}{remark}")
        else:
            self.kill(f"{problem} within {seconds:.3g} s")

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _send_bytes(self, data: bytes) -> None:
        if not self._stdin.is_closing():
            self._stdin.write(data)

    def _end_engine(self, fault: EngineFault) -> None:
        self._cancel_deadline()
        if self._transport is not None:
            kill_group(self.pid)
        if not self._greeted.done():
            self._greeted.set_exception(fault)

    async def _kill_and_wait(self) -> None:
        """Kill the engine, and wait at most ``stop_s`` for its exit. Only a process
        that is stuck inside the kernel survives this.
        """
        self.kill("closed")
        if self._transport is not None:
            await asyncio.wait([self._exited], timeout=self._patience.stop_s)
            self._transport.close()


#: A middlegame position with most pieces on the board.
_MIDDLEGAME = "r2q1rk1/pb1n1ppp/1p2pn2/2bp4/3P4/2NBPN2/PP3PPP/R1BQ1RK1 w - - 0 12"


async def measure_speed(
    command: EngineCommand,
    settings: UciSettings,
    *,
    patience: EngineTimeouts | None = None,
    seconds: float = 1.0,
) -> tuple[EngineIdentity, float]:
    """Start the engine and let it search for ``seconds``; return its identity, and its
    speed in thousands of nodes per second.

    Raises:
        NotAnEngine: the program does not speak UCI.
        EngineFault: the engine failed during the search.
    """
    process = await EngineProcess.start(command, settings, patience=patience)
    try:
        limit = Limit(movetime_ms=round(seconds * 1000))
        result = (await process.begin_search(SearchKey(_MIDDLEGAME, (), limit))).result
    finally:
        await process.close()
    return process.identity, result.nodes / max(1, result.time_ms)
