"""``calibrate``: one model of perceived ratings from searched games, and what it is worth."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest

from live.config import Config
from live.errors import InputError
from live.ratings.perceived_model import MODELS, MoveReader
from live.studies.calibrate_engine import calibrate, check_model
from live.studies.perceived_learning import judges


def gains(path: Path, sides: int = 160, seed: int = 5) -> Path:
    """Player-games in which the better lose less."""
    rng = np.random.default_rng(seed)
    rows = []
    for player in range(sides):
        elo = int(rng.integers(1200, 2600))
        lost = rng.exponential((3000 - elo) / 40, 30) * (rng.random(30) < 0.6)
        rows.append(
            {
                "player": player,
                "elo": elo,
                "opponent_elo": 1900,
                "colour": "white",
                "result": "1-0",
                "gains_cp": [-int(each) for each in lost],
                "evals_cp": rng.integers(-90, 90, 62).tolist(),
            }
        )
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def learned(file: Path, written: Path) -> bytes:
    asyncio.run(
        calibrate(
            Config(),
            [file],
            evals="engine",
            name=None,
            time_control="blitz",
            written=written,
            engine_name="Made up 1",
            limit="depth 9",
            json=None,
        )
    )
    return written.read_bytes()


def test_games_teach_a_model_that_tells_players_apart(tmp_path: Path) -> None:
    file = gains(tmp_path / "games.ndjson")
    data = learned(file, tmp_path / "club.json")
    model = MODELS.decode(data, "club.json")
    assert (model.name, model.engine, model.limit) == ("club", "Made up 1", "depth 9")
    assert (model.gain, model.time_control) == ("successive", "blitz")
    assert model.players == sum(not judges(str(player)) for player in range(160))
    logit = MoveReader((model,)).models[0].logit()
    at = [float(name == "always") for name in model.circumstances]
    weak, strong = (logit.shares_of(*logit.lines(at), elo) for elo in (1300.0, 2500.0))
    # Losing no more than 10 centipawns.
    assert strong[:3].sum() > weak[:3].sum()
    assert learned(file, tmp_path / "club.json") == data


def test_too_few_games_teach_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="50 are needed"):
        learned(gains(tmp_path / "few.ndjson", 20), tmp_path / "o.json")


def checked(file: Path, model: Path, written: Path) -> dict[str, dict[str, float]]:
    check_model(Config(), file, str(model), json=str(written))
    found: dict[str, dict[str, float]] = json.loads(written.read_text())["after"]
    return found


def test_a_check_of_its_own_file_counts_only_players_it_never_saw(tmp_path: Path) -> None:
    file, model, out = tmp_path / "games.ndjson", tmp_path / "club.json", tmp_path / "out.json"
    learned(gains(file), model)
    found = checked(file, model, out)
    assert set(found) == {"5", "10", "20", "40", "whole"}
    assert found["whole"]["n"] == sum(judges(str(player)) for player in range(160))
    found = checked(gains(tmp_path / "others.ndjson", seed=6), model, out)
    assert found["whole"]["n"] == 160
    assert 0.6 < found["whole"]["usual_holds"] <= 1
    assert found["whole"]["blind_r"] > 0.5


def test_a_check_without_games_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty.ndjson").write_text("\n")
    with pytest.raises(InputError, match="no scored game"):
        check_model(Config(), tmp_path / "empty.ndjson", "blitz", json=None)
