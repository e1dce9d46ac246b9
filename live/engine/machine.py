"""How many engines a machine can carry."""

from __future__ import annotations

import math
import os
from pathlib import Path


def engines_for_machine(threads: int = 1) -> int:
    """How many engines of so many threads: one a core, less one for every eight cores, which
    the rest of the service needs. A container's CPU quota counts like cores.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = float(len(os.sched_getaffinity(0)))
    else:
        cores = float(os.cpu_count() or 1)
    quota = _quota(Path("/sys/fs/cgroup/cpu.max"))
    usable = math.floor(cores if quota is None else min(cores, max(1.0, quota)))
    return max(1, (usable - usable // 8) // threads)


def _quota(file: Path) -> float | None:
    """Cores a container may use (cgroup v2 ``cpu.max``: quota and period in µs, or ``max``)."""
    try:
        quota, period = file.read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
