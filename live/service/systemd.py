"""What systemd and a run have to do with each other: the unit that ``live-rate systemd-unit``
prints, and notices that the service is ready, does its work, and ends (sd_notify(3)).

The watchdog is fed only while there is progress: work that waits while nothing comes of it for
:data:`PATIENCE_S` is a service that only looks alive, and is restarted.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

from live.events import Change, HealthMessage
from live.service.supervision import alongside

#: How glibc is to hold memory: an arena for each thread keeps freed memory apart; two are enough.
MALLOC = {"MALLOC_ARENA_MAX": "2"}

_UNIT = """\
# Save as /etc/systemd/system/live-rate.service, then: systemctl enable --now live-rate
[Unit]
Description=Perceived chess ratings, live
Documentation=man:systemd.exec(5)
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
NotifyAccess=main
ExecStart={command}
# Settings are read again: systemctl reload live-rate
ExecReload=/bin/kill -HUP $MAINPID
# Fed only while searches bring results: a service that hangs is restarted.
WatchdogSec=60
Restart=on-failure
RestartSec=2
# The first signal says goodbye to everybody and ends within a few seconds.
KillMode=mixed
TimeoutStopSec=20

# A user of its own, who owns /var/lib/live-rate and nothing else.
DynamicUser=yes
StateDirectory=live-rate
CacheDirectory=live-rate
WorkingDirectory=%S/live-rate
Environment=HOME=%S/live-rate XDG_CACHE_HOME=%C/live-rate XDG_DATA_HOME=%S/live-rate
UMask=0077
# glibc keeps an arena for each thread; two are enough, and keep freed memory together.
Environment={malloc}
# Tokens and passwords stay readable by root alone; name them in the settings as
# /run/credentials/live-rate.service/tokens
#LoadCredential=tokens:/etc/live-rate/tokens.toml
LimitNOFILE=65536
# Engines and their hash tables included: whatever takes more must not take the machine down.
MemoryMax=75%

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome={home}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
# Not MemoryDenyWriteExecute: the embedded engine runs in Node, which compiles as it goes.

[Install]
WantedBy=multi-user.target
"""


def unit(command: Sequence[str]) -> str:
    """The unit that runs this command; its first word is an absolute path."""
    # A program in somebody's home must at least be readable.
    at_home = command[0].split("/")[1] in ("home", "root")
    return _UNIT.format(
        command=" ".join(map(quoted, command)),
        home="read-only" if at_home else "yes",
        malloc=" ".join(f"{name}={value}" for name, value in MALLOC.items()),
    )


def quoted(word: str) -> str:
    """One word of a command line in a unit (systemd.service(5), "Command lines")."""
    escaped = "".join(
        {"\\": "\\\\", '"': '\\"', "%": "%%", "$": "$$", "\n": "\\n", "\t": "\\t"}.get(char, char)
        for char in word
    )
    plain = word and all(char.isalnum() or char in "/.:=_-@,+?&#" for char in word)
    return escaped if plain else f'"{escaped}"'


log = logging.getLogger(__name__)

#: For work that waits, without anything coming of it. Longer than any search should take; a search
#: that deepens counts as progress, too.
PATIENCE_S = 180.0


class WorkProgress:
    """Whether something comes of the work that waits. Pure."""

    def __init__(self, now_s: float, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._done = 0
        self._since_s = now_s

    def made(self, now_s: float, waiting: bool, done: int) -> bool:
        """Whether all is well: nothing waits, or ``done`` has grown within the patience."""
        if not waiting or done != self._done:
            self._since_s = now_s
            self._done = done
        return now_s - self._since_s <= self._patience_s


class SystemdNotifier:
    """Datagrams to the service manager."""

    def __init__(self, address: str) -> None:
        # "@" stands for the zero byte of Linux' abstract names.
        self._address = "\0" + address[1:] if address.startswith("@") else address

    @classmethod
    def found(cls, env: Mapping[str, str]) -> SystemdNotifier | None:
        """The one that ``NOTIFY_SOCKET`` names; null where nobody listens."""
        address = env.get("NOTIFY_SOCKET", "")
        return cls(address) if address.startswith(("/", "@")) else None

    def send(self, *lines: str) -> None:
        """Notify it. If the manager cannot be reached, work goes on."""
        if sys.platform == "win32":
            return  # no such sockets, and no systemd
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
                sock.setblocking(False)
                sock.sendto("\n".join(lines).encode(), self._address)
        except OSError as error:
            log.warning("systemd cannot be notified of %s: %s", lines[0], error)


def watchdog_s(env: Mapping[str, str], pid: int) -> float | None:
    """How often the watchdog wants to be fed, seconds; null where it does not, or not by us."""
    text = env.get("WATCHDOG_USEC", "")
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        return None
    if env.get("WATCHDOG_PID", str(pid)) != str(pid):
        return None
    return int(text) / 1e6


class WatchdogPulse:
    """Counts what comes of the work. Give it every change."""

    def __init__(self) -> None:
        self.changes = 0

    def publish(self, changes: Iterable[Change]) -> None:
        """Health says how work stands, so it is no work itself."""
        self.changes += sum(not isinstance(change, HealthMessage) for change in changes)


@contextlib.asynccontextmanager
async def supervised(
    env: Mapping[str, str],
    pid: int,
    waiting: Callable[[], bool],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[WatchdogPulse]:
    """Ready from now on, stopping at the end; the watchdog is fed meanwhile."""
    pulse = WatchdogPulse()
    notifier = SystemdNotifier.found(env)
    if notifier is None:
        yield pulse
        return
    notifier.send("READY=1")
    feeding: contextlib.AbstractAsyncContextManager[None] = contextlib.nullcontext()
    if (period_s := watchdog_s(env, pid)) is not None:
        # Twice within the time allowed, as sd_watchdog_enabled(3) recommends, and some to spare.
        feeding = alongside(_feed(notifier, pulse, waiting, clock, period_s / 3), "watchdog")
    try:
        async with feeding:
            yield pulse
    finally:
        notifier.send("STOPPING=1")


async def _feed(
    notifier: SystemdNotifier,
    pulse: WatchdogPulse,
    waiting: Callable[[], bool],
    clock: Callable[[], float],
    period_s: float,
) -> None:
    progress = WorkProgress(clock())
    well = True
    while True:
        made = progress.made(clock(), waiting(), pulse.changes)
        if made:
            notifier.send("WATCHDOG=1", "STATUS=working" if waiting() else "STATUS=all analysed")
        elif well:
            log.error("work waits and nothing has come of it for %.0f s", PATIENCE_S)
            notifier.send("STATUS=work waits and nothing comes of it")
        well = made
        await asyncio.sleep(period_s)
