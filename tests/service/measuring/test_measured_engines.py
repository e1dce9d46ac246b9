from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest

from live.ratings.engine_scale import MeasuredEngine, ScoreAgreement, load_reference
from live.service.measuring.measured_engines import MeasuredEngines

REFERENCE = load_reference()
FOUND = MeasuredEngine(agreement=ScoreAgreement(0.85, 0.011, 0.982, 294), nodes=100_000)
ENGINE, LIMIT = "Stockfish 15.1; Threads=1; Hash=16; hash cleared", "100000 nodes"


def test_a_second_start_knows_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert MeasuredEngines(REFERENCE, folder).get(ENGINE, LIMIT) is None
    MeasuredEngines(REFERENCE, folder).put(ENGINE, LIMIT, FOUND)
    again = MeasuredEngines(REFERENCE, folder)
    assert again.get(ENGINE, LIMIT) == FOUND
    assert [path.suffix for path in folder.iterdir()] == [".json"]


@pytest.mark.parametrize(
    ("engine", "limit"),
    [
        (ENGINE.replace("15.1", "16"), LIMIT),
        (ENGINE.replace("Hash=16", "Hash=16; EvalFile=other.nnue"), LIMIT),
        (ENGINE, "20000 nodes"),
    ],
)
def test_another_engine_network_or_limit_is_measured_by_itself(
    tmp_path: Path, engine: str, limit: str
) -> None:
    MeasuredEngines(REFERENCE, tmp_path).put(ENGINE, LIMIT, FOUND)
    assert MeasuredEngines(REFERENCE, tmp_path).get(engine, limit) is None


def test_other_reference_positions_count_anew(tmp_path: Path) -> None:
    MeasuredEngines(REFERENCE, tmp_path).put(ENGINE, LIMIT, FOUND)
    fewer = msgspec.structs.replace(REFERENCE, positions=REFERENCE.positions[:200])
    assert MeasuredEngines(fewer, tmp_path).get(ENGINE, LIMIT) is None


def test_a_file_that_cannot_be_read_costs_a_measurement(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    held = MeasuredEngines(REFERENCE, tmp_path)
    held.put(ENGINE, LIMIT, FOUND)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"{")
    with caplog.at_level(logging.WARNING):
        assert held.get(ENGINE, LIMIT) is None
    assert "the engine is measured again" in caplog.text


def test_a_folder_that_takes_nothing_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    held = MeasuredEngines(REFERENCE, tmp_path / "file")
    with caplog.at_level(logging.WARNING):
        held.put(ENGINE, LIMIT, FOUND)
    assert "cannot be written" in caplog.text
