"""Memory: how much there is, garbage collection, and giving back what was freed.

Each branch names the documented behaviour of its system. We run Linux; the others are
type-checked and tested with fakes of what their documentation promises.
"""

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Iterator

#: How glibc is to hold memory: an arena for each thread keeps freed memory apart; two
#: are enough. Large blocks (snapshots, messages) go back to the system: left to itself,
#: glibc soon takes them from the heap, which then grows by its holes as long as the
#: service runs.
MALLOC = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "32768",
    "MALLOC_TRIM_THRESHOLD_": "131072",
}


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of GlobalMemoryStatusEx; its first field is its own size."""

    _fields_ = (
        ("length", ctypes.c_ulong),
        ("load", ctypes.c_ulong),
        ("total", ctypes.c_ulonglong),
        ("rest", ctypes.c_ulonglong * 6),
    )
    total: int


def read_memory_bytes() -> int | None:
    """Return the physical memory in bytes; None where the system does not show it.

    Windows has no sysconf; GlobalMemoryStatusEx returns nonzero if it filled the
    structure.
    """
    if sys.platform == "win32":
        status = _MemoryStatus(ctypes.sizeof(_MemoryStatus))
        is_filled = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return status.total if is_filled else None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return None


def release_free_memory() -> None:
    """Give freed memory of the heap back to the system; takes some milliseconds.

    Only glibc keeps it otherwise (malloc_trim(3)).
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def pause_collection() -> Iterator[None]:
    """Collect no garbage in the block, for work whose objects all stay.

    It takes half the time then.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def freeze_startup_objects() -> None:
    """Exclude the objects of the start from garbage collection to keep pauses short."""
    gc.collect()
    gc.freeze()
    # CPython's next full collection waits until there are new objects for a quarter of
    # those the last one found. This one finds none, so frozen objects do not delay it.
    gc.collect()
