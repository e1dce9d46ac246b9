"""``live-rate rehearse``: which games are played back, and how it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from live.commands.rehearse import rehearse
from live.errors import InputError
from tests.sources.fakes import DATA

_PROGRAM = "from live.cli import main; main()"


async def test_a_round_that_is_not_there_is_not_rehearsed() -> None:
    with pytest.raises(InputError, match="has no round 7"):
        await rehearse(DATA / "four-boards.pgn", round="7")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_sigterm_leaves_no_temporary_folder(tmp_path: Path) -> None:
    file = DATA / "four-boards.pgn"
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, "rehearse", str(file), "--as", "folder"],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        cwd=DATA.parent.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as playing:
        assert playing.stdout is not None
        assert str(tmp_path) in playing.stdout.readline()
        playing.terminate()
        playing.communicate()
    assert playing.returncode == 128 + signal.SIGTERM
    assert not any(tmp_path.iterdir())
