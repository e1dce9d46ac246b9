"""ruff and mypy have nothing to say, so that one command proves it all."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.timeout(
    900
)  # mypy's first run reads numpy and scipy; later ones take seconds
@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--no-cache", "live", "tests"],
        ["ruff", "format", "--check", "--no-cache", "live", "tests"],
        ["mypy"],
        *(
            ["mypy", "--platform", each, "--cache-dir", f".mypy_cache/{each}", "live"]
            for each in ("win32", "darwin")
        ),
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_it_has_nothing_to_say(command: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
