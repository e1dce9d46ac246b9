"""Finished games: what is written when somebody stops the analysis."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from live.config import load_config
from live.jobs.offline import analyze

DATA = Path(__file__).parent.parent / "data"


async def test_ctrl_c_writes_what_is_known_and_says_that_it_is_partial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load_config(None, {}, {"engine.nodes": 10**9, "engine.engines": 1})
    written, annotated = tmp_path / "all.json", tmp_path / "games.pgn"
    # Ctrl-C comes as soon as the work has begun to wait for engines.
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
    before = signal.getsignal(signal.SIGINT)
    try:
        code = await analyze(
            config, [DATA / "figure-1.pgn"], evals="engine", json=str(written), pgn=annotated
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert code == 130
    found = json.loads(written.read_bytes())
    assert found["partial"] is True
    game = found["games"][0]
    assert game["plies_played"] == len(game["plies"]) > 0
    # Nothing is claimed of what was not searched.
    assert game["methods"]["white"]["accuracy"] is None
    assert "not scored" in game["methods"]["white"]["missing"]["accuracy"]
    assert "Fischer" in annotated.read_text()
    assert "Stopped: " in capsys.readouterr().err
