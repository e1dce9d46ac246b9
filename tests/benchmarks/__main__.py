"""Every benchmark in turn: ``python -m tests.benchmarks [NAME …]``, from the project's folder.

Each runs in a process of its own, on the bundled games, with sizes that show that it works. What
the manual quotes (``operation``) was measured with the sizes that each names in its own docstring,
by ``python -m tests.benchmarks.FOLDER.NAME``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

OPEN = "tests/data/lichess-open-2025.pgn"

#: What each is given here. Those that need games which are not bundled are not among them
#: (``perceived``, ``alerts``, ``error_forecast``, ``faulty_round``, ``golden``).
BENCHMARKS: dict[str, tuple[str, ...]] = {
    "engine_pre_emption": ("100",),
    "engine_ahead": (OPEN, "--longest", "60"),
    "fan_out": (),
    "bad_clients": (),
    "rehearsal": ("500", "14", "60", "60"),
    "page": (),
    "restart": (),
    "kill_drill": ("10", "14"),
    "soak": ("--minutes", "3"),
}


def command(name: str) -> list[str]:
    """How a benchmark is run here."""
    return [sys.executable, "-m", module_of(name), *BENCHMARKS[name]]


def module_of(name: str) -> str:
    """``tests.benchmarks.engine.engine_ahead`` for ``engine_ahead``: each lies in one folder."""
    (path,) = Path(__file__).parent.rglob(f"{name}.py")
    return ".".join(path.relative_to(Path(__file__).parents[2]).with_suffix("").parts)


def main(names: Sequence[str]) -> int:
    """Run them in turn; the worst of their exit codes."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        sys.stderr.write(
            f"no such benchmark: {', '.join(unknown)}; one of {', '.join(BENCHMARKS)}\n"
        )
        return 2
    failed = []
    for name in names or BENCHMARKS:
        sys.stdout.write(f"\n== {' '.join(command(name)[2:])}\n")
        sys.stdout.flush()
        began_s = time.monotonic()
        if subprocess.run(command(name), check=False).returncode:
            failed.append(name)
        sys.stdout.write(f"   ({time.monotonic() - began_s:.0f} s)\n")
    if failed:
        sys.stdout.write(f"\nfailed: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
