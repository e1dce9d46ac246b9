"""The process of one plugin: ``python -m live.plugins.plugin_host GROUP NAME``. Shell.

Reads the arguments of one call as a line of JSON, and writes what the plugin answers as another; a
feed is called once, and each line asks for its next text. The first answer says that the plugin is
loaded. Whatever the plugin prints goes to standard error.
"""

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import entry_points
from typing import Any, BinaryIO

import msgspec

from live.events import GameDetail, PlayerView, SnapshotMessage
from live.operating_system import kill_group, limit_memory

#: The method of each kind, and what it is called with.
_CALLS: dict[str, tuple[str, Any]] = {
    "live_rate.feeds": ("follow", tuple[str]),
    "live_rate.alerts": ("alerts", tuple[GameDetail]),
    "live_rate.methods": ("figure", tuple[PlayerView, tuple[GameDetail, ...]]),
    "live_rate.exports": ("export", tuple[SnapshotMessage]),
}
_OVER = object()
#: A plugin that wants more gets a MemoryError; the service keeps what it needs.
MOST_MEMORY_BYTES = 2 << 30


class PluginReply(msgspec.Struct, omit_defaults=True):
    """One line of a plugin's process."""

    value: msgspec.Raw = msgspec.Raw(b"null")
    error: str = ""
    """The type of what the plugin raised."""
    detail: str = ""
    """Its text, for the log."""
    over: bool = False
    """A feed has no more texts."""


class PluginHost:
    """One plugin and how it is called."""

    def __init__(self, group: str, name: str) -> None:
        self._group, self._name = group, name
        self._method, self._arguments = _CALLS[group]
        self._plugin: Any = None
        self._texts: Iterator[object] | None = None

    def load(self) -> object:
        """Import it; gives what the service has to know of it.

        Raises:
            Exception: whatever the plugin raises, or that it is not what its group demands.
        """
        points = entry_points(group=self._group, name=self._name)
        (point,) = {each.value: each for each in points}.values()
        found = point.load()
        self._plugin = found() if isinstance(found, type) else found
        if not callable(getattr(self._plugin, self._method, None)):
            raise TypeError(f"{point.value} has no method {self._method}")
        return str(self._plugin.media_type) if self._group == "live_rate.exports" else None

    def answer(self, line: bytes) -> PluginReply:
        """What the plugin answers to one call; of a feed, the next text."""
        arguments = msgspec.json.decode(line, type=self._arguments)
        call = getattr(self._plugin, self._method)
        if self._group == "live_rate.feeds":
            if self._texts is None:
                self._texts = iter(call(*arguments))
            text = next(self._texts, _OVER)
            return PluginReply(over=True) if text is _OVER else _value(text)
        result = call(*arguments)
        if self._group == "live_rate.alerts":
            return _value(list(result))
        if self._group == "live_rate.exports" and not isinstance(result, bytes):
            raise TypeError(f"export() gave {type(result).__name__}, not bytes")
        return _value((result,) if self._group == "live_rate.methods" else result)


def serve(host: PluginHost, lines: Iterable[bytes], answers: BinaryIO) -> None:
    """Load the plugin, then answer every line. Returns where it cannot be loaded."""
    if not _write(answers, lambda: _value(host.load())):
        return
    for line in lines:
        _write(answers, partial(host.answer, line))


def _write(answers: BinaryIO, reply: Callable[[], PluginReply]) -> bool:
    """Whether the plugin got through without raising."""
    good = True
    try:
        found = reply()
    except BaseException as error:
        # Broad: it is somebody else's code, and sys.exit() is no reason to be silent.
        found, good = PluginReply(error=type(error).__name__, detail=str(error)[:500]), False
    answers.write(msgspec.json.encode(found) + b"\n")
    answers.flush()
    return good


def _value(value: object) -> PluginReply:
    return PluginReply(value=msgspec.Raw(msgspec.json.encode(value)))


def _lines(requests: BinaryIO) -> Iterator[bytes]:
    """Every line of ``requests``. With their end, which is the service's, the process ends and what
    it has started, from the first moment on and whatever the plugin is doing.
    """
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        with contextlib.suppress(OSError):
            for line in requests:
                waiting.put(line)
        kill_group(os.getpid())
        os._exit(0)

    threading.Thread(target=read, name="requests", daemon=True).start()
    return iter(waiting.get, None)


def main() -> None:
    """Keep our own pipes from the plugin, and the machine's memory, then serve it."""
    limit_memory(MOST_MEMORY_BYTES)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    serve(PluginHost(*sys.argv[1:3]), _lines(requests), answers)


if __name__ == "__main__":
    main()
