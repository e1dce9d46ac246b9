"""Systemd: the unit that ``live-rate systemd-unit`` prints, and sd_notify(3).

The service manager is notified when the service is ready and when it ends. Its watchdog
is notified only while there is progress: if work waits for :data:`PATIENCE_S` and none
is done, the watchdog restarts the service.
"""

import asyncio
import contextlib
import logging
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path

from live.messages.to_clients import Change, HealthMessage
from live.process.clock import ReadClock
from live.process.memory import MALLOC
from live.process.supervision import run_in_background

log = logging.getLogger(__name__)

#: If work waits and none is done for this time, the service counts as hung, seconds.
#: The time is longer than any search should take. A search that reaches a new depth
#: counts as progress, too.
PATIENCE_S = 180.0


def build_unit(command: Sequence[str]) -> str:
    """Return the text of the unit that runs a command; its first word must be an
    absolute path.
    """
    # A program in a user's home folder must at least be readable.
    is_at_home = command[0].split("/")[1] in ("home", "root")
    template = Path(__file__).with_name("live-rate.service")
    return template.read_text(encoding="utf-8").format(
        command=" ".join(map(quote_word, command)),
        home="read-only" if is_at_home else "yes",
        malloc=" ".join(f"{name}={value}" for name, value in MALLOC.items()),
    )


_ESCAPED = str.maketrans(
    {"\\": "\\\\", '"': '\\"', "%": "%%", "$": "$$", "\n": "\\n", "\t": "\\t"}
)


def quote_word(word: str) -> str:
    """Quote a word of a command line (systemd.service(5), "Command lines")."""
    escaped = word.translate(_ESCAPED)
    is_plain = all(char.isalnum() or char in "/.:=_-@,+?&#" for char in word)
    return escaped if word and is_plain else f'"{escaped}"'


class ServiceManager:
    """Notifier of systemd, if ``NOTIFY_SOCKET`` names its socket.

    It receives every change, because changes show progress.

    Args:
        env: the environment.
        pid: id of this process.
        has_work: returns whether work is waiting.
        clock: a monotonic clock.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        pid: int,
        has_work: Callable[[], bool],
        *,
        clock: ReadClock = time.monotonic,
    ) -> None:
        address = env.get("NOTIFY_SOCKET", "")
        # "@" represents the zero byte of Linux's abstract socket names.
        address = f"\0{address[1:]}" if address.startswith("@") else address
        self._address = address if address[:1] in ("/", "\0") else ""
        self.period_s: float | None = None
        """Longest time between two notifications of the watchdog, seconds; None without
        a watchdog for this process.
        """
        timeout_us = env.get("WATCHDOG_USEC", "")
        is_ours = env.get("WATCHDOG_PID", f"{pid}") == f"{pid}"
        if is_ours and timeout_us.isascii() and timeout_us.isdigit():
            self.period_s = int(timeout_us) / 1e6 or None
        self._has_work = has_work
        self._clock = clock
        self._has_progressed = False
        self._since_s = clock()

    def publish(self, changes: Iterable[Change]) -> None:
        """Record progress. Health messages are not progress, because they only describe
        the state.
        """
        if not all(isinstance(change, HealthMessage) for change in changes):
            self._has_progressed = True

    def notify(self, *lines: str) -> None:
        """Send lines to the service manager; if it cannot be reached, only log a
        warning.
        """
        # Windows has no such sockets, and no systemd.
        if not self._address or sys.platform == "win32":
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
                sock.setblocking(False)
                sock.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            log.warning("systemd cannot be notified of %s: %s", lines[0], error)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Notify systemd of the start and the end, and feed its watchdog in between."""
        self.notify("READY=1")
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self.notify, "STOPPING=1")
            if self._address and self.period_s is not None:
                # sd_watchdog_enabled(3) recommends notifying twice within the time
                # allowed.
                feeding = self._feed_watchdog(self.period_s / 3)
                await stack.enter_async_context(run_in_background(feeding, "watchdog"))
            yield

    def is_alive(self) -> bool:
        """Return whether no work is waiting, or some was done within ``PATIENCE_S``."""
        if self._has_progressed or not self._has_work():
            self._since_s = self._clock()
        self._has_progressed = False
        return self._clock() - self._since_s <= PATIENCE_S

    async def _feed_watchdog(self, period_s: float) -> None:
        was_alive = True
        while True:
            is_alive = self.is_alive()
            if is_alive:
                status = "working" if self._has_work() else "all analysed"
                self.notify("WATCHDOG=1", f"STATUS={status}")
            elif was_alive:
                log.error(
                    "work is waiting, but none was finished for %.0f s", PATIENCE_S
                )
                self.notify("STATUS=work is waiting, but none is finished")
            was_alive = is_alive
            await asyncio.sleep(period_s)
