"""Memory: its size, garbage collection, and the release of freed memory.

Each branch names the documented behaviour of its operating system. The project runs on
Linux; the branches for others are only type-checked, and tested with fakes of the
documented behaviour.
"""

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Iterator

#: Settings of glibc's allocator. With one arena per thread, threads could not reuse
#: memory freed by others; two arenas are enough. Large blocks (snapshots, messages) are
#: to be returned to the operating system at once: by default glibc soon allocates them
#: from the heap, which fragments and grows as long as the service runs.
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
    """Return the physical memory in bytes; None if the operating system does not show
    it.

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
    """Return freed memory of the heap to the operating system; takes some milliseconds.

    Only glibc keeps freed memory (malloc_trim(3)); elsewhere nothing is done.
    """
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


@contextlib.contextmanager
def pause_collection() -> Iterator[None]:
    """Suspend garbage collection while the block runs, for work whose objects are all
    kept.

    Such work then takes half the time.
    """
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def freeze_startup_objects() -> None:
    """Exclude all present objects from garbage collection, to keep its pauses short."""
    gc.collect()
    gc.freeze()
    # CPython starts a full collection when the number of new objects is a quarter of
    # the number of objects that the last one found. This collection finds none, so the
    # frozen objects do not delay the next one.
    gc.collect()
