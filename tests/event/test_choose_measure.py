"""Which models and gains an engine, a limit and the settings lead to."""

from pathlib import Path

import pytest

from live.errors import ConfigError, InputError
from live.event.choose_measure import (
    advise_on_models,
    select_engine_gains,
    select_models,
)
from live.ratings.engine_scale import load_reference
from live.ratings.ferreira import SPIKE_AT_ZERO, score_moves
from live.ratings.model_choice import MODELS

SHIPPED = load_reference()

#: The engine that comes with the package, as it calls itself.
ENGINE, LIMIT = MODELS.load("classical-successive").engine, "100000 nodes"


def test_a_measured_engine_is_no_spike_and_shows_players_nearer() -> None:
    assert select_engine_gains("spike", ENGINE, LIMIT, "same-search") == SPIKE_AT_ZERO
    measured = select_engine_gains("measured", ENGINE, LIMIT, "successive")
    assert sum(moves for _, moves in measured.counts) == 18_984
    gains = [0, -3, 4, -20, -7, 2]
    spike, other = (
        score_moves(gains, each).total / each.scale
        for each in (SPIKE_AT_ZERO, measured)
    )
    assert spike < other


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
def test_what_was_not_counted_is_refused(
    name: str, engine: str, limit: str, gain: str
) -> None:
    with pytest.raises(ConfigError):
        select_engine_gains(name, engine, limit, gain)  # type: ignore[arg-type]


def test_a_file_of_a_study_is_read_and_any_other_refused(tmp_path: Path) -> None:
    file = tmp_path / "gains.json"
    file.write_text('{"engine": "Rybka; Hash=16, depth 13", "rows": [[-2, 1], [0, 3]]}')
    found = select_engine_gains(str(file), "Rybka", "depth 13", "successive")
    assert found.counts == ((-2, 1), (0, 3))
    with pytest.raises(ConfigError, match="no count"):
        select_engine_gains(str(file), "Rybka", "depth 1", "successive")
    for text in (
        '{"rows": [[0, 1]]}',
        '{"engine": "x, y", "rows": []}',
        "[",
        '{"engine": 1}',
    ):
        file.write_text(text)
        with pytest.raises(InputError, match="no count"):
            select_engine_gains(str(file), "x", "y", "successive")


@pytest.mark.parametrize(
    ("name", "engine", "limit", "measured"),
    [
        ("auto", SHIPPED.engine, SHIPPED.limit, True),
        ("auto", SHIPPED.engine, "20000 nodes", False),
        ("auto", "Scoring 1", SHIPPED.limit, False),
        ("none", "Scoring 1", SHIPPED.limit, True),
    ],
)
def test_which_engines_need_measuring(
    name: str, engine: str, limit: str, measured: bool
) -> None:
    models = select_models(name, engine, limit, "same-search")
    assert models.measured == measured
    assert ("are divided by" in models.note) != measured
    assert (advise_on_models(models) == "") == (engine == SHIPPED.engine and measured)
    assert ("it is measured once" in advise_on_models(models)) != measured
