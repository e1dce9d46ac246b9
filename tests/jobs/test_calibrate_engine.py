"""What ``calibrate --losses`` learns from: which gain, and whether people are asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.config import Config
from live.errors import ConfigError
from live.human.players import Asked
from live.jobs import calibrate_engine
from live.ratings.strength.loss_model import shipped_loss_models

MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7", "f1e1"]
SEARCHED = {
    "white": 1,
    "black": 2,
    "white_elo": 2000,
    "black_elo": 2100,
    "result": "1-0",
    "moves": MOVES,
    "start_cp": 20,
    "cp": [20] * len(MOVES),
    "best": [None] * len(MOVES),
    "played": [10] * len(MOVES),
    "stability": [5.0] * len(MOVES),
    "jump": [9] * len(MOVES),
}
GAINS = {
    "player": 3,
    "elo": 1900,
    "opponent_elo": 2000,
    "colour": "white",
    "result": "1-0",
    "gains_cp": [-5, -7],
    "evals_cp": [10, 3, 3],
}


class Anybody:
    """Plays every move as often, whatever the rating."""

    identity = "anybody"
    by_elo = True

    def shares(self, asked: Sequence[Asked]) -> list[dict[str, float]]:
        return [{move.uci(): 0.02 for move in each.board.legal_moves} for each in asked]


def missing(path: Path | None) -> Any:
    raise ConfigError("human", "onnxruntime is not installed", "Install it")


def learned(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *games: dict[str, Any],
    opened: Callable[[Path | None], Any] = lambda path: Anybody(),
    network: str = "",
) -> dict[str, Any]:
    """What the fit is given of these games, a file each."""
    given: dict[str, Any] = {}

    def learn(games: Any, **about: Any) -> Any:
        given.update(about, games=games)
        return shipped_loss_models()[0]

    monkeypatch.setattr(calibrate_engine, "learn_losses", learn)
    monkeypatch.setattr(calibrate_engine, "open_network", opened)
    files = []
    for number, each in enumerate(games):
        files.append(tmp_path / f"{number}.ndjson")
        files[-1].write_text(json.dumps(each))
    calibrate_engine.calibrate_losses(
        msgspec.convert({"human": {"network": network}}, Config),
        files,
        name=None,
        time_control="classical",
        written=tmp_path / "out.json",
        engine_name="Rybka",
        limit="depth 13",
    )
    return given


def test_people_are_asked_about_games_with_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = learned(tmp_path, monkeypatch, SEARCHED)
    assert (given["gain"], given["network"]) == ("same-search", "anybody")
    (game,) = given["games"]
    assert [len(side.human) for side in game.sides] == [len(side.turns) for side in game.sides]


@pytest.mark.parametrize("games", [(SEARCHED, GAINS), (GAINS, SEARCHED)])
def test_one_kind_of_gain_is_learned_from_and_nobody_is_asked_in_vain(
    games: tuple[dict[str, Any], ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file of gains no moves are known."""
    given = learned(tmp_path, monkeypatch, *games)
    assert (given["gain"], given["network"]) == ("successive", "")
    gains = {turn.gain_cp for game in given["games"] for side in game.sides for turn in side.turns}
    assert gains == {0, -5, -7}


def test_without_the_network_losses_alone_are_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert learned(tmp_path, monkeypatch, SEARCHED, opened=missing)["network"] == ""
    assert "onnxruntime is not installed" in capsys.readouterr().err
    with pytest.raises(ConfigError):
        learned(tmp_path, monkeypatch, SEARCHED, opened=missing, network="mine.onnx")
