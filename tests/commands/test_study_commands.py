"""The commands for games that are over: what they print, what they refuse, and with which words."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from live.cli import app
from tests.test_cli import DATA, live_rate

FIGURE_1 = str(DATA / "figure-1.pgn")

MATCH = """[White "Anna"]
[Black "Berta"]
[Result "{}"]

1. e4 e5 {}

[White "Berta"]
[Black "Anna"]
[Result "{}"]

1. d4 d5 {}

"""


def rated_lines(games: int = 80, seed: int = 3) -> bytes:
    """Gains of players whose rating shows in them, as NDJSON."""
    chance = random.Random(seed)
    rows = []
    for number in range(games):
        elo = chance.randrange(1000, 2200)
        gains, score, scores = [], 20, []
        for _ in range(30):
            loss = chance.expovariate(1) * (2600 - elo) / 15
            gains.append(-round(loss) if chance.random() < 0.6 else 0)
            score = max(-900, min(900, score + gains[-1] + chance.randrange(0, 40)))
            scores += [score, score]
        row = {"player": number % 25, "elo": elo, "colour": "white", "gains_cp": gains}
        row |= {"opponent_elo": 1600, "result": "*"}
        rows.append(json.dumps(row | {"evals_cp": scores}))
    return "\n".join(rows).encode()


def told(*arguments: str, cwd: Path) -> Any:
    """The JSON a command prints."""
    done = live_rate(*arguments, "--json", "-", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("calibrate",), ["calibrate", "no file"]),
        (("calibrate", "nothere.pgn"), ["nothere.pgn"]),
        (("calibrate", "nothere.ndjson"), ["nothere.ndjson"]),
        (("calibrate", "--check", "few.ndjson"), ["--model"]),
        (("calibrate", "--check", "few.ndjson", "--model", "no-such"), ["no-such", "blitz"]),
        (("calibrate", "--check", "empty.ndjson", "--model", "blitz"), ["empty.ndjson"]),
        (
            ("calibrate", "--check", "torn.ndjson", "--model", "blitz"),
            ["torn.ndjson, line"],
        ),
        (("calibrate", "--check", "few.ndjson", "--model", "classical"), ["successive"]),
        (
            ("calibrate", "few.ndjson", "--write", "o.json", "--engine-name", "E", "--limit", "x"),
            ["few.ndjson", "50"],
        ),
        (("calibrate", "few.ndjson", "--write", "o.json"), ["few.ndjson", "--engine-name"]),
        (
            ("calibrate", FIGURE_1, "--evals", "pgn", "--write", "o.json"),
            ["figure-1.pgn", "Give NDJSON"],
        ),
        (("calibrate", FIGURE_1, "few.ndjson", "--evals", "pgn"), ["PGN and NDJSON"]),
        (("calibrate", FIGURE_1, "--intrinsic"), ["--intrinsic", "--write"]),
        (
            ("calibrate", "few.ndjson", "--intrinsic", "--write", "o.json"),
            ["few.ndjson", "Give PGN"],
        ),
        (("compare", FIGURE_1, "--evals", "pgn", "--players", "Byrne", "Tal"), ["Tal", "Fischer"]),
        (("compare", FIGURE_1, "--evals", "pgn", "--players", "Byrne", "Donald"), ["same person"]),
        (("match", "3", "4"), ["wins, draws and losses"]),
        (("match", "three.pgn"), ["game 2", "Clara"]),
        (("match", "1", "2", "3", "--elo0", "5"), ["--elo1"]),
        (("match", "1", "2", "3", "--elo0", "5", "--elo1", "5"), ["elo1"]),
        (("rank", "nothere.pgn"), ["nothere.pgn"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_told_says_why_in_one_line(
    arguments: tuple[str, ...], named: list[str], tmp_path: Path
) -> None:
    (tmp_path / "few.ndjson").write_bytes(rated_lines(3))
    (tmp_path / "empty.ndjson").write_bytes(b"\n")
    (tmp_path / "torn.ndjson").write_bytes(rated_lines(1)[:40])
    three = MATCH.format("1-0", "1-0", "1-0", "1-0").replace('Black "Anna"', 'Black "Clara"')
    (tmp_path / "three.pgn").write_text(three)
    done = live_rate(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("live-rate: ")
    for name in named:
        assert name in line
    assert not (tmp_path / "o.json").exists()


@pytest.mark.slow
def test_compare_has_every_predictor_with_interval_or_reason(tmp_path: Path) -> None:
    result = told("compare", FIGURE_1, "--evals", "pgn", "--players", "Fischer", "byrne",
                  cwd=tmp_path)  # fmt: skip
    assert [player["name"] for player in result["players"]] == [
        "Fischer, Robert James", "Byrne, Donald",
    ]  # fmt: skip
    rows = {row["predictor"]: row for row in result["predictions"]}
    # Ferreira 2012, section 4.
    assert rows["Algorithm 1"]["expected_score"] == pytest.approx(0.6550, abs=5e-5)
    assert rows["Algorithm 1"]["difference"] == pytest.approx(112.8, abs=0.05)
    assert rows["Algorithm 1"]["low"] < 0.6550 < rows["Algorithm 1"]["high"]
    assert rows["Algorithm 2"]["difference"] == pytest.approx(112.8, abs=0.05)
    assert rows["Algorithm 4"]["difference"] == pytest.approx(-43.4 + 185.4, abs=0.1)
    for name in ("perceived rating", "conformance, raw", "covariance, tanh", "29-fold convolution"):
        assert rows[name]["expected_score"] is None
        assert rows[name]["missing"]


@pytest.mark.slow
def test_rank_and_calibrate_tell_what_an_unrated_event_lacks(tmp_path: Path) -> None:
    result = told("rank", FIGURE_1, "--evals", "pgn", cwd=tmp_path)
    # Nobody has a place: by name.
    assert [each["name"].split(",")[0] for each in result["players"]] == ["Byrne", "Fischer"]
    for each in result["players"]:
        assert (each["place"], each["algorithm_2"]) == (None, None)
        assert each["missing"]
    assert result["players"][1]["algorithm_2_difference"] == pytest.approx(56.4, abs=0.05)
    measured = told("calibrate", FIGURE_1, "--evals", "pgn", cwd=tmp_path)
    assert measured["engine_rating"] is None
    assert "rated player" in measured["missing"]
    assert measured["table"]["missing"] == "no player is rated"
    differences = [row["difference"] for row in measured["table"]["rows"]]
    assert sorted(differences) == pytest.approx([-185.4, -43.4], abs=0.05)


@pytest.mark.slow
def test_calibrate_learns_and_checks_on_players_it_never_saw(tmp_path: Path) -> None:
    file = tmp_path / "club.ndjson.gz"
    file.write_bytes(gzip.compress(rated_lines(400)))
    learned = told(
        "calibrate", str(file), "--write", "club.json", "--engine-name", "Made up 1",
        "--limit", "depth 9", cwd=tmp_path,
    )  # fmt: skip
    assert (learned["player_games"], learned["players"]) == (400, 25)
    assert (learned["gain"], learned["moves"]) == ("successive", 12_000)
    assert 1000 < learned["engine_rating"] < 3000
    held = json.loads((tmp_path / "club.json").read_text())
    assert (held["name"], held["engine"]) == ("club", "Made up 1")
    found = told("calibrate", "--check", str(file), "--model", "club.json", cwd=tmp_path)
    assert found["after"]["whole"]["n"] == 400 - held["games"]


@pytest.mark.slow
def test_match_counts_games_pairs_and_follows_a_test(tmp_path: Path) -> None:
    pgn = tmp_path / "match.pgn"
    pgn.write_text(MATCH.format("1-0", "1-0", "1/2-1/2", "1/2-1/2") * 10)
    result = told(
        "match", str(pgn), "--first", "anna", "--elo0", "0", "--elo1", "50", cwd=tmp_path
    )  # fmt: skip
    assert result["counts"] == {"wins": 10, "draws": 10, "losses": 0}
    assert result["pairs"]["one_and_half"] == 10
    assert result["statistics"]["score"] == 0.75
    assert result["sprt"]["decision"] in {"H1", "continue"}
    assert len(result["sprt_run"]["states"]) == 10
    turned = told("match", str(pgn), "--first", "Berta", cwd=tmp_path)
    assert turned["counts"] == {"wins": 0, "draws": 10, "losses": 10}
    assert turned["sprt"] is None


@pytest.mark.parametrize("flag", ["--depth", "--nodes", "--movetime", "--engines"])
@pytest.mark.parametrize("value", ["0", "-3", "many"])
def test_a_limit_that_is_none_is_refused_by_its_flag(flag: str, value: str) -> None:
    done = CliRunner().invoke(app, ["rank", "games.pgn", flag, value])
    assert done.exit_code == 2
    assert f"'{flag}'" in done.output
