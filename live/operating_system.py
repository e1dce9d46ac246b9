"""Where Linux, macOS and Windows differ: processes, clocks, memory, console.

Each branch names the documented behaviour that it rests on. We run Linux; what is here for the
others is type-checked and tried against fakes of what their documentation promises.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any


def own_group(nice: int = 0) -> dict[str, Any]:
    """What :class:`subprocess.Popen` is given so that Ctrl-C in our console does not reach a child.

    POSIX: a session of its own. Windows ignores that; a new process group gets no Ctrl-C there
    (CreateProcess, CREATE_NEW_PROCESS_GROUP), and has a priority class in place of niceness.
    """
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.CREATE_NEW_PROCESS_GROUP
        if nice > 0:
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS
        return {"creationflags": flags}
    return {"start_new_session": True}


def kill_group(pid: int) -> None:
    """Kill a process that leads its group, and the group: it may have children of its own, and
    they may outlive it.

    Windows knows no such group: there the process alone is killed (os.kill: any signal but the
    console's two is TerminateProcess), and engines have no children.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


def kill_marked(variable: str) -> None:
    """Kill every process whose environment holds this ``NAME=value``: children that left the group
    of their parent (Linux, proc(5); elsewhere nobody can say whose they are).
    """
    if sys.platform != "linux":
        return
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if variable.encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of GlobalMemoryStatusEx; its first field is its own size."""

    _fields_ = (
        ("length", ctypes.c_ulong),
        ("load", ctypes.c_ulong),
        ("total", ctypes.c_ulonglong),
        ("rest", ctypes.c_ulonglong * 6),
    )
    total: int


def memory_bytes() -> int | None:
    """Physical memory, where the system shows it.

    Windows has no sysconf; GlobalMemoryStatusEx answers nonzero where it filled the structure in.
    """
    if sys.platform == "win32":
        status = _MemoryStatus(ctypes.sizeof(_MemoryStatus))
        filled = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return status.total if filled else None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def give_back_memory() -> None:
    """Give what was freed within the heap back to the system: glibc alone keeps it otherwise
    (malloc_trim(3)). Some milliseconds.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


def processors() -> int:
    """Processors this process may run on; macOS and Windows name only how many there are."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def awake_s() -> float:
    """Seconds on a clock that stands still while the machine sleeps.

    Python's monotonic clock does on Linux (CLOCK_MONOTONIC) and macOS (mach_absolute_time), but not
    on Windows, where QueryUnbiasedInterruptTime does; it counts 100 ns.
    """
    if sys.platform == "win32":
        ticks = ctypes.c_ulonglong()
        if ctypes.windll.kernel32.QueryUnbiasedInterruptTime(ctypes.byref(ticks)):
            return ticks.value / 1e7
    return time.monotonic()


def elapsed_s() -> float:
    """Seconds on a clock that goes on while the machine sleeps, and that nobody can set.

    Linux: CLOCK_BOOTTIME. macOS: CLOCK_MONOTONIC "will continue to increment while the system is
    asleep" (clock_gettime(3)). Windows: Python's monotonic clock, which counts sleep.
    """
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


class InputWait:
    """Waits until a file descriptor can be read, or until another one ends."""

    def __init__(self, fd: int, stop: int) -> None:
        self._stop = stop
        if sys.platform != "win32":
            self._poll = select.poll()
            for each in (fd, stop):
                self._poll.register(each, select.POLLIN | select.POLLHUP)

    def ready(self) -> bool:
        """Whether to read on. Blocks until there is something, or the end was asked for.

        Windows waits for sockets alone (select: "file objects on Windows are not acceptable"):
        there the read itself blocks, in a thread that ends with the program.
        """
        if sys.platform == "win32":
            return True
        return all(each != self._stop for each, _ in self._poll.poll())
