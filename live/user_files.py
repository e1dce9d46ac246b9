"""Files that people name: a settings file, a list, a folder of games.

Such a path may lead to anything: a pipe that nobody writes, a device, a drive that does not answer.
An open or a read may then wait for ever. So anything but a regular file is refused, and a running
service reads on threads that nobody waits for when it ends.
"""

import asyncio
import contextlib
import errno
import os
import re
import stat
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_SURROGATE = re.compile("[\ud800-\udfff]")

#: An open that never waits and takes no terminal over; Windows knows neither.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FLAGS |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegularFile(OSError):
    """There is something of that name, and it is no regular file; ``strerror`` says what it is."""


def check_regular(path: Path | str, found: os.stat_result) -> None:
    """Raise NotRegularFile unless what was ``found`` at a path is a regular file."""
    if not stat.S_ISREG(found.st_mode):
        what = next((name for fits, name in _KINDS if fits(found.st_mode)), "something else")
        raise NotRegularFile(errno.EINVAL, f"{what}, not a file", str(path))


def read_regular(path: Path | str, most_bytes: int = -1) -> bytes:
    """A file's bytes, of a larger one the first ``most_bytes``.

    Raises:
        OSError: it cannot be read; NotRegularFile where it is no regular file.
    """
    # Opening alone does something to a device.
    check_regular(path, os.stat(path))
    with open(os.open(path, _FLAGS), "rb") as file:
        # It may have been replaced since.
        check_regular(path, os.fstat(file.fileno()))
        return file.read(most_bytes)


def in_print(text: str) -> str:
    r"""A name from the system as text that any encoding of Unicode takes. A byte that is no UTF-8,
    which Python holds as a lone surrogate, is written ``\xff``.
    """
    return _SURROGATE.sub(_spell, text)


def _spell(surrogate: re.Match[str]) -> str:
    code = ord(surrogate[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


async def on_own_thread(work: Callable[..., T], *arguments: object) -> T:
    """Do work that may block on a thread of its own. Where it never ends, it keeps neither the loop
    nor the program from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            settle = partial(done.set_result, work(*arguments))
        except BaseException as error:
            settle = partial(done.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: done.done() or settle())

    threading.Thread(target=run, name="files", daemon=True).start()
    return await done
