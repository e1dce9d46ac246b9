"""The process of one plugin: ``python -m live.plugins.plugin_host GROUP NAME``. Shell.

Reads the arguments of one call as a line of JSON, and writes what the plugin answers as another.
The first answer says that the plugin is loaded. Whatever the plugin prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from importlib.metadata import entry_points
from typing import Any, BinaryIO, Final

import msgspec

from live.events import GameDetail, PlayerView, SnapshotMessage

#: What each kind is called with.
_ARGUMENTS: Final[dict[str, Any]] = {
    "live_rate.feeds": tuple[str],
    "live_rate.alerts": tuple[GameDetail],
    "live_rate.methods": tuple[PlayerView, tuple[GameDetail, ...]],
    "live_rate.exports": tuple[SnapshotMessage],
}
_CALLED: Final = {
    "live_rate.feeds": "follow",
    "live_rate.alerts": "alerts",
    "live_rate.methods": "figure",
    "live_rate.exports": "export",
}


class PluginReply(msgspec.Struct, omit_defaults=True):
    """One line of a plugin's process."""

    value: msgspec.Raw = msgspec.Raw(b"null")
    error: str = ""
    """The type of what the plugin raised."""
    detail: str = ""
    """Its text, for the log."""
    over: bool = False
    """No more values come for this call of a feed."""


class PluginHost:
    """One plugin and how it is called."""

    def __init__(self, group: str, name: str) -> None:
        self._group, self._name = group, name
        self._plugin: Any = None

    def load(self) -> object:
        """Import it; gives what the service has to know of it.

        Raises:
            Exception: whatever the plugin raises, or that it is not what its group demands.
        """
        (point,) = {each.value: each for each in self._points()}.values()
        found = point.load()
        self._plugin = found() if isinstance(found, type) else found
        if not callable(getattr(self._plugin, _CALLED[self._group], None)):
            raise TypeError(f"{point.value} has no method {_CALLED[self._group]}")
        return str(self._plugin.media_type) if self._group == "live_rate.exports" else None

    def _points(self) -> Iterable[Any]:
        return entry_points(group=self._group, name=self._name)

    def answers(self, line: bytes) -> Iterator[PluginReply]:
        """What the plugin answers to one call; a feed's answers come one by one."""
        arguments = msgspec.json.decode(line, type=_ARGUMENTS[self._group])
        result = getattr(self._plugin, _CALLED[self._group])(*arguments)
        if self._group == "live_rate.feeds":
            for text in result:
                yield _value(text)
            yield PluginReply(over=True)
        elif self._group == "live_rate.alerts":
            yield _value(list(result))
        elif self._group == "live_rate.exports" and not isinstance(result, bytes):
            raise TypeError(f"export() gave {type(result).__name__}, not bytes")
        elif self._group == "live_rate.methods":
            yield _value((result,))
        else:
            yield _value(result)


def serve(host: PluginHost, lines: Iterable[bytes], answers: BinaryIO) -> None:
    """Load the plugin, then answer every line. Returns where it cannot be loaded."""
    if not _write(answers, (_value(host.load()) for _ in (0,))):
        return
    for line in lines:
        _write(answers, host.answers(line))


def _write(answers: BinaryIO, replies: Iterable[PluginReply]) -> bool:
    """Whether the plugin got through without raising."""
    good = True
    source = iter(replies)
    while True:
        try:
            reply = next(source, None)
        except BaseException as error:
            # Broad: it is somebody else's code, and sys.exit() is no reason to be silent.
            reply, good = PluginReply(error=type(error).__name__, detail=str(error)[:500]), False
        if reply is None:
            return good
        answers.write(msgspec.json.encode(reply) + b"\n")
        answers.flush()
        if not good:
            return False


def _value(value: object) -> PluginReply:
    return PluginReply(value=msgspec.Raw(msgspec.json.encode(value)))


def _lines(requests: BinaryIO) -> Iterator[bytes]:
    """Every line of ``requests``; the process ends with them, whatever the plugin is doing."""
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        with contextlib.suppress(OSError):
            for line in requests:
                waiting.put(line)
        os._exit(0)

    threading.Thread(target=read, name="requests", daemon=True).start()
    while True:
        yield waiting.get()


def main() -> None:
    """Keep our own pipes from the plugin, then serve it."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    serve(PluginHost(*sys.argv[1:3]), _lines(requests), answers)


if __name__ == "__main__":
    main()
