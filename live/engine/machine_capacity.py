"""How many engines a machine can carry, and how large."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from live.errors import ConfigError
from live.operating_system import memory_bytes, processors

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


def check_load(engines: int, threads: int, hash_mb: int) -> None:
    """Refuse what this machine cannot carry; raises ConfigError as the two below."""
    check_engines(engines, threads)
    check_hash(hash_mb, engines)


def check_engines(engines: int, threads: int, *, cores: int | None = None) -> None:
    """Refuse so many engines that the machine would answer nobody any more, us included.

    Raises:
        ConfigError: over four times as many threads as processors, and over sixteen.
    """
    available = processors() if cores is None else cores
    most = max(16, 4 * available)
    if engines * threads > most:
        raise ConfigError(
            "engine.engines",
            f"{engines} engines with threads = {threads} are too many for this machine's processors"
            f" ({available})",
            f"Set it to {most // threads or 1} or less, or to 0 for what suits this machine",
        )


def check_hash(hash_mb: int, engines: int, *, memory_mb: int | None = None) -> None:
    """Refuse hash tables that would drive the machine into swapping. They are not made smaller
    on our own account, because a score depends on their size.

    Raises:
        ConfigError: all engines' hash together is over half of the memory.
    """
    if memory_mb is None and (installed := memory_bytes()) is not None:
        memory_mb = installed >> 20
    memory = memory_mb
    if memory is not None and hash_mb * engines > memory // 2:
        raise ConfigError(
            "engine.hash_mb",
            f"{engines} engines of {hash_mb} MB need over half of this machine's {memory} MB",
            f"Set it to {max(1, memory // 2 // engines)} or less, or run fewer engines",
        )


def _quota(file: Path) -> float | None:
    """Cores a container may use."""
    try:
        quota, period = file.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
