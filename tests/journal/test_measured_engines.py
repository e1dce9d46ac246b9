"""What is known of an engine is kept for the next start, or costs a measurement."""

from pathlib import Path

import msgspec
import pytest

from live.journal import measured_engines
from live.journal.measured_engines import keep_measured_engine, read_measured_engine
from live.ratings.engine_scale import MeasuredEngine, ScoreAgreement, load_reference

LIMIT = "100000 nodes"
SHIPPED = load_reference()
FOUND = MeasuredEngine(agreement=ScoreAgreement(0.85, 0.011, 0.982, 294), nodes=100_000)
STOCKFISH = "Stockfish 15.1; Threads=1; Hash=16; hash cleared"


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "live-rate" / "measured-engines"


def test_a_second_start_knows_of_this_engine_network_limit_and_reference_alone(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_measured_engine(STOCKFISH, LIMIT) is None
    keep_measured_engine(STOCKFISH, LIMIT, FOUND)
    assert read_measured_engine(STOCKFISH, LIMIT) == FOUND
    assert [path.suffix for path in state.iterdir()] == [".json"]
    for engine in (
        STOCKFISH.replace("15.1", "16"),
        f"{STOCKFISH}; EvalFile=other.nnue",
    ):
        assert read_measured_engine(engine, LIMIT) is None
    assert read_measured_engine(STOCKFISH, "20000 nodes") is None
    fewer = msgspec.structs.replace(SHIPPED, positions=SHIPPED.positions[:200])
    monkeypatch.setattr(measured_engines, "load_reference", lambda: fewer)
    assert read_measured_engine(STOCKFISH, LIMIT) is None


def test_a_file_that_cannot_be_read_or_written_costs_a_measurement(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    keep_measured_engine(STOCKFISH, LIMIT, FOUND)
    (file,) = state.iterdir()
    file.write_bytes(b"{")
    assert read_measured_engine(STOCKFISH, LIMIT) is None
    file.unlink()
    state.rmdir()
    state.touch()
    keep_measured_engine(STOCKFISH, LIMIT, FOUND)
    read, written = caplog.messages
    assert "the engine is measured again" in read and "cannot be written" in written
