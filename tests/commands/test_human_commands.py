"""``live-rate human`` and ``live-rate train-human``, as somebody types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.test_cli import live_rate

GAME = {
    "m": "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f6e4 d2d4 b7b5 a4b3 d7d5",
    "w": 2100,
    "b": 1850,
    "kind": "otb",
    "wid": 1,
    "bid": 2,
}


@pytest.mark.slow
def test_nothing_to_check_is_said(tmp_path: Path) -> None:
    done = live_rate("human", cwd=tmp_path)
    assert done.returncode == 2
    assert "Give --check" in done.stderr


@pytest.mark.slow
def test_a_missing_file_and_one_without_games_are_named(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    done = live_rate("human", "--check", "none.ndjson", cwd=tmp_path)
    assert done.returncode == 2
    assert "none.ndjson: there is no such file" in done.stderr
    (tmp_path / "empty.ndjson").write_text("{}\n")
    done = live_rate("human", "--check", "empty.ndjson", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds no game" in done.stderr


@pytest.mark.slow
def test_the_figures_of_games(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "games.ndjson").write_text(json.dumps(GAME) + "\n")
    done = live_rate("human", "--check", "games.ndjson", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["positions"] == 6
    assert figures["nll"] > 0
    assert figures["wrong_elo_nll"] > 0
    assert [band["elo"] for band in figures["by_elo"]] == [1800, 2000]
    assert sum(line["positions"] for line in figures["reliability"]) > 100


@pytest.mark.slow
def test_learning_refuses_files_that_are_not_there(tmp_path: Path) -> None:
    done = live_rate("train-human", "none.ndjson", "--out", "network.onnx", cwd=tmp_path)
    assert done.returncode == 2
    assert "none.ndjson: there is no such file" in done.stderr
