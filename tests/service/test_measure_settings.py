"""What players' gains are compared with follows the settings, and says where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from live.errors import ConfigError, InputError
from live.ratings.ferreira.algorithm_4 import Algorithm4
from live.ratings.ferreira.engine_distribution import MeasuredDistribution, SpikeAtZero
from live.ratings.perceived.model import load_model
from live.service.measure_settings import engine_distribution

#: The engine that comes with the package, as it calls itself.
ENGINE, LIMIT = load_model("classical-successive").engine, "100000 nodes"


def test_a_measured_engine_is_no_spike_and_shows_players_nearer() -> None:
    assert engine_distribution("spike", ENGINE, LIMIT, "same-search") == SpikeAtZero()
    measured = engine_distribution("measured", ENGINE, LIMIT, "successive")
    assert isinstance(measured, MeasuredDistribution)
    assert sum(moves for _, moves in measured.counts) == 18_984
    gains = [0, -3, 4, -20, -7, 2]
    spike = Algorithm4(gains, gain="successive").expected_score
    other = Algorithm4(gains, engine=measured, gain="successive").expected_score
    assert spike is not None and other is not None and spike < other


@pytest.mark.parametrize(
    "name, engine, limit, gain",
    [
        ("measured", ENGINE, LIMIT, "same-search"),
        ("measured", ENGINE, "200000 nodes", "successive"),
        ("measured", ENGINE, "100000 nodes, 8 lines", "successive"),
        ("measured", ENGINE, "100", "successive"),
        ("measured", "Stockfish 19", LIMIT, "successive"),
    ],
)
def test_what_was_not_counted_is_refused(name: str, engine: str, limit: str, gain: str) -> None:
    with pytest.raises(ConfigError):
        engine_distribution(name, engine, limit, gain)  # type: ignore[arg-type]


def test_a_file_of_a_study_is_read_and_any_other_refused(tmp_path: Path) -> None:
    file = tmp_path / "gains.json"
    file.write_text('{"engine": "Rybka; Hash=16, depth 13", "rows": [[-2, 1], [0, 3]]}')
    found = engine_distribution(str(file), "Rybka", "depth 13", "successive")
    assert found.counts == ((-2, 1), (0, 3))
    with pytest.raises(ConfigError, match="no count"):
        engine_distribution(str(file), "Rybka", "depth 1", "successive")
    for text in ('{"rows": [[0, 1]]}', '{"engine": "x, y", "rows": []}', "[", '{"engine": 1}'):
        file.write_text(text)
        with pytest.raises(InputError, match="holds no count"):
            engine_distribution(str(file), "x", "y", "successive")
