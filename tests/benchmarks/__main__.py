"""Every benchmark in turn: ``python -m tests.benchmarks [NAME …]``, from the project's folder.

Each runs in a process of its own, on the bundled games, with sizes that show that it works. What
the manual quotes (``operation``) was measured with the sizes that each names in its own docstring,
by ``python -m tests.benchmarks.NAME``.
"""

import subprocess
import sys
import time
from collections.abc import Sequence

OPEN = "tests/data/lichess-open-2025.pgn"

#: What each is given here. Those that need games which are not bundled are not among them
#: (``perceived``, ``error_forecast``, ``faulty_round``, ``golden``).
BENCHMARKS: dict[str, tuple[str, ...]] = {
    "engine_pre_emption": ("100",),
    "engine_ahead": (OPEN, "--longest", "60"),
    "fan_out": (),
    "bad_clients": (),
    "rehearsal": ("500", "14", "60", "60"),
    "restart": (),
    "kill_drill": ("10", "14"),
    "memory": ("--minutes", "3"),
}


def main(names: Sequence[str]) -> int:
    """Run them in turn; 1 where any failed."""
    failed = []
    for name in names or BENCHMARKS:
        words = [f"tests.benchmarks.{name}", *BENCHMARKS[name]]
        sys.stdout.write(f"\n== {' '.join(words)}\n")
        sys.stdout.flush()
        began_s = time.monotonic()
        if subprocess.run([sys.executable, "-m", *words], check=False).returncode:
            failed.append(name)
        sys.stdout.write(f"   ({time.monotonic() - began_s:.0f} s)\n")
    sys.stdout.write(f"failed: {', '.join(failed) or 'none'}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
