"""Reading of files that the user names: a settings file, a list, a folder of games.

Such a path can lead to anything: a pipe without a writer, a device, a drive that does
not answer. To open or read it can take for ever. So only regular files are read, and a
running service reads on threads that need not finish before it ends.
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

from live.errors import ConfigError

T = TypeVar("T")

_SURROGATE = re.compile("[\ud800-\udfff]")

#: Flags to open a file without waiting and without acquiring a terminal; Windows has
#: neither flag.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_FLAGS |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

#: Maximum number of times that a file is read while it keeps changing; the last text is
#: used.
MAX_READS = 5

_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegularFile(OSError):
    """The path does not lead to a regular file; ``strerror`` says what it leads to."""


def check_regular(path: Path | str, status: os.stat_result) -> None:
    """Raise NotRegularFile if a path does not lead to a regular file.

    ``status`` is the status of the path, as ``os.stat`` returns it.
    """
    if not stat.S_ISREG(status.st_mode):
        kinds = (name for is_kind, name in _KINDS if is_kind(status.st_mode))
        kind = next(kinds, "something else")
        raise NotRegularFile(errno.EINVAL, f"{kind}, not a file", str(path))


def read_regular(path: Path | str, most_bytes: int = -1) -> bytes:
    """Return a file's bytes, or the first ``most_bytes`` of a larger file.

    A file that changes while it is read is read again: otherwise the beginning of the
    old text could be followed by the end of the new one.

    Raises:
        OSError: the file cannot be read; NotRegularFile if it is not a regular file.
    """
    # Checked before opening: even to open a device can change something.
    check_regular(path, os.stat(path))
    for _ in range(MAX_READS):
        with open(os.open(path, _FLAGS), "rb") as file:
            before = os.fstat(file.fileno())
            # Checked again: the file might have been replaced since.
            check_regular(path, before)
            content = file.read(most_bytes)
            after = os.fstat(file.fileno())
        if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
            break
    return content


def read_text(subject: str, path: Path, remedy: str) -> str:
    """Return the text of a file.

    Raises:
        ConfigError: the file cannot be read, or is not UTF-8; the error is about
            ``subject``.
    """
    try:
        return read_regular(path).decode()
    except UnicodeDecodeError:
        raise ConfigError(subject, "is not UTF-8 text", "Save it as UTF-8") from None
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise ConfigError(subject, problem, remedy) from None


def read_file_of_setting(setting: str, path: str) -> str:
    """Return the text of the file that a setting names; ``~`` is the home folder.

    Raises:
        ConfigError: the file cannot be read, or is not UTF-8.
    """
    return read_text(f"{setting} {path}", Path(path).expanduser(), "Correct the path")


def escape_surrogates(text: str) -> str:
    r"""Return a file name as text that every Unicode encoding can represent.

    A byte that is not UTF-8, which Python stores as a lone surrogate, becomes ``\xff``.
    """
    return _SURROGATE.sub(_escape_surrogate, text)


def _escape_surrogate(surrogate: re.Match[str]) -> str:
    code = ord(surrogate[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


async def on_own_thread(work: Callable[..., T], *arguments: object) -> T:
    """Run ``work``, which can block, on a separate thread; return its result.

    Work that never ends blocks neither the event loop nor the end of the program.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            settle = partial(result.set_result, work(*arguments))
        except BaseException as error:
            settle = partial(result.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(lambda: result.done() or settle())

    threading.Thread(target=run, name="files", daemon=True).start()
    return await result
