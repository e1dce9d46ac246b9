"""``live-rate study``, ``human`` and the commands of finished games, as a user runs
them.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.errors import ConfigError, InputError
from tests.studies.small_corpus import SAMPLE, SEARCHED, rated_games
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


def run_for_json(*arguments: str, cwd: Path) -> Any:
    """The JSON a command prints."""
    done = live_rate(*arguments, "--json", "-", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("calibrate", "calibrate|no file"),
        ("calibrate nothere.pgn", "nothere.pgn"),
        ("calibrate nothere.ndjson", "nothere.ndjson"),
        ("calibrate --check few.ndjson", "--model"),
        ("calibrate --check few.ndjson --model no-such", "no-such|blitz"),
        ("calibrate --check empty.ndjson --model blitz", "empty.ndjson"),
        ("calibrate --check torn.ndjson --model blitz", "torn.ndjson, line"),
        (
            "calibrate few.ndjson --write o.json --engine-name E --limit x",
            "few.ndjson|50",
        ),
        ("calibrate few.ndjson --write o.json", "few.ndjson|--engine-name"),
        (
            "calibrate figure-1.pgn --evals pgn --write o.json",
            "figure-1.pgn|Give NDJSON",
        ),
        ("calibrate figure-1.pgn few.ndjson --evals pgn", "PGN and NDJSON"),
        ("calibrate figure-1.pgn --intrinsic", "--intrinsic|--write"),
        ("calibrate few.ndjson --intrinsic --write o.json", "few.ndjson|Give PGN"),
        ("compare figure-1.pgn --evals pgn --players Byrne Tal", "Tal|Fischer"),
        ("compare figure-1.pgn --evals pgn --players Byrne Donald", "same person"),
        ("match 3 4", "wins, draws and losses"),
        ("match three.pgn", "game 2|Clara"),
        ("match 1 2 3 --elo0 5", "--elo1"),
        ("match 1 2 3 --elo0 5 --elo1 5", "elo1"),
        ("human", "Give --check"),
        ("human --check nothere.ndjson", "nothere.ndjson: there is no such file"),
        ("human --check gameless.ndjson", "holds no game"),
        ("human --check torn.ndjson", "torn.ndjson, line 2: is no JSON"),
        ("train-human nothere.ndjson --out o.json", "nothere.ndjson: there is no"),
    ],
)
def test_what_cannot_be_told_says_why_in_one_line(
    arguments: str, named: str, tmp_path: Path
) -> None:
    (tmp_path / "figure-1.pgn").symlink_to(FIGURE_1)
    (tmp_path / "few.ndjson").write_text(rated_games(3))
    (tmp_path / "empty.ndjson").write_bytes(b"\n")
    (tmp_path / "gameless.ndjson").write_bytes(b"{}\n\n")
    (tmp_path / "torn.ndjson").write_text("\n" + rated_games(1)[:40])
    three = MATCH.format("1-0", "1-0", "1-0", "1-0").replace(
        'Black "Anna"', 'Black "Clara"'
    )
    (tmp_path / "three.pgn").write_text(three)
    done = live_rate(*arguments.split(), cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("live-rate: ")
    for name in named.split("|"):
        assert name in line
    assert not (tmp_path / "o.json").exists()


def test_compare_has_every_predictor_with_interval_or_reason(tmp_path: Path) -> None:
    result = run_for_json(
        "compare",
        FIGURE_1,
        "--evals",
        "pgn",
        "--players",
        "Fischer",
        "byrne",
        cwd=tmp_path,
    )
    assert [player["name"] for player in result["players"]] == [
        "Fischer, Robert James",
        "Byrne, Donald",
    ]
    rows = {row["predictor"]: row for row in result["predictions"]}
    # Ferreira 2012, section 4.
    assert rows["Algorithm 1"]["expected_score"] == pytest.approx(0.6550, abs=5e-5)
    assert rows["Algorithm 1"]["difference"] == pytest.approx(112.8, abs=0.05)
    assert rows["Algorithm 1"]["low"] < 0.6550 < rows["Algorithm 1"]["high"]
    assert rows["Algorithm 2"]["difference"] == pytest.approx(112.8, abs=0.05)
    assert rows["Algorithm 4"]["difference"] == pytest.approx(-43.4 + 185.4, abs=0.1)
    for name in (
        "perceived rating",
        "conformance, raw",
        "covariance, tanh",
        "29-fold convolution",
    ):
        assert rows[name]["expected_score"] is None
        assert rows[name]["missing"]


def test_rank_and_calibrate_tell_what_an_unrated_event_lacks(tmp_path: Path) -> None:
    result = run_for_json("rank", FIGURE_1, "--evals", "pgn", cwd=tmp_path)
    # Nobody has a place: by name.
    assert [each["name"].split(",")[0] for each in result["players"]] == [
        "Byrne",
        "Fischer",
    ]
    for each in result["players"]:
        assert (each["place"], each["algorithm_2"]) == (None, None)
        assert each["missing"]
    assert result["players"][1]["algorithm_2_difference"] == pytest.approx(
        56.4, abs=0.05
    )
    measured = run_for_json("calibrate", FIGURE_1, "--evals", "pgn", cwd=tmp_path)
    assert measured["engine_rating"] is None
    assert "rated player" in measured["missing"]
    assert measured["table"]["missing"] == "no player is rated"
    differences = [row["difference"] for row in measured["table"]["rows"]]
    assert sorted(differences) == pytest.approx([-185.4, -43.4], abs=0.05)


def test_calibrate_learns_and_checks_on_players_it_never_saw(tmp_path: Path) -> None:
    file = tmp_path / "club.ndjson.gz"
    file.write_bytes(gzip.compress(rated_games(60, 20).encode()))
    learned = run_for_json(
        "calibrate",
        str(file),
        "--write",
        "club.json",
        "--engine-name",
        "Made up 1",
        "--limit",
        "depth 9",
        cwd=tmp_path,
    )
    assert (learned["player_games"], learned["players"]) == (60, 60)
    assert (learned["gain"], learned["moves"]) == ("same-search", 1200)
    assert 1000 < learned["engine_rating"] < 3000
    held = json.loads((tmp_path / "club.json").read_text())
    assert (held["name"], held["engine"]) == ("club", "Made up 1")
    found = run_for_json(
        "calibrate", "--check", str(file), "--model", "club.json", cwd=tmp_path
    )
    assert found["after"]["whole"]["n"] == 60 - held["games"]


def test_match_counts_games_pairs_and_follows_a_test(tmp_path: Path) -> None:
    pgn = tmp_path / "match.pgn"
    pgn.write_text(MATCH.format("1-0", "1-0", "1/2-1/2", "1/2-1/2") * 10)
    result = run_for_json(
        "match",
        str(pgn),
        "--first",
        "anna",
        "--elo0",
        "0",
        "--elo1",
        "50",
        cwd=tmp_path,
    )
    assert result["counts"] == {"wins": 10, "draws": 10, "losses": 0}
    assert result["pairs"]["one_and_half"] == 10
    assert result["statistics"]["score"] == 0.75
    assert result["sprt"]["decision"] in {"H1", "continue"}
    assert len(result["sprt_run"]["states"]) == 10
    turned = run_for_json("match", str(pgn), "--first", "Berta", cwd=tmp_path)
    assert turned["counts"] == {"wins": 0, "draws": 10, "losses": 10}
    assert turned["sprt"] is None


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--depth", "0"), ("--nodes", "-3"), ("--movetime", "many"), ("--engines", "0")],
)
def test_a_limit_that_is_none_is_refused_by_its_flag(flag: str, value: str) -> None:
    done = CliRunner().invoke(app, ["rank", "games.pgn", flag, value])
    assert done.exit_code == 2
    assert f"'{flag}'" in done.output


def study(*words: str) -> tuple[int, str]:
    """Exit code and standard output; errors of ours come out as they are."""
    done = CliRunner().invoke(app, ["study", *words])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("corpus") / "c.db")
    code, said = study("add", path, str(SEARCHED), "--limit", "100000 nodes")
    assert (code, "13 games, 13 new, 13 with evaluations" in said) == (0, True)
    return path


def test_status_for_people_and_programs(corpus: str) -> None:
    assert (
        "setting 1: given, 100000 nodes: 13 games searched, 0 left"
        in study("status", corpus)[1]
    )
    status = json.loads(study("status", corpus, "--json", "-")[1])
    assert (status["games"], status["settings"][0]["left"]) == (13, 0)


def test_a_file_that_was_cut_ends_with_an_error_and_keeps_what_it_held(
    tmp_path: Path,
) -> None:
    cut = tmp_path / "cut.ndjson.gz"
    cut.write_bytes(SEARCHED.read_bytes()[:9000])
    code, said = study("add", str(tmp_path / "c.db"), str(cut))
    assert code == 1
    assert "not read to its end" in said
    _, said = study("status", str(tmp_path / "c.db"))
    assert "add it again" in said


def test_a_file_that_is_not_there_leaves_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        study(
            "add", str(tmp_path / "c.db"), str(SEARCHED), str(tmp_path / "nothing.pgn")
        )
    assert not (tmp_path / "c.db").exists()


def test_results_need_no_engine_and_a_letter_is_a_name(tmp_path: Path) -> None:
    corpus, file = str(tmp_path / "c.db"), tmp_path / "games.ndjson"
    file.write_text(
        '{"white":"A","black":"b","result":"1-0","moves":["e2e4","e7e5"]}\n'
    )
    assert study("add", corpus, str(file))[0] == 0
    code, said = study("table", corpus, "matches", "--form", "csv")
    assert code == 0 and "A,b,1,1,0,0" in said
    assert (
        study("table", corpus, "alliot-1", "--form", "csv")[1].splitlines()[1]
        == "A,1,0,1"
    )
    with pytest.raises(InputError, match="no evaluation") as raised:
        study("table", corpus, "career")
    assert "study run" in str(raised.value)


def test_tables_and_figures_to_files(corpus: str, tmp_path: Path) -> None:
    assert (
        study("table", corpus, "alliot-1", "--top", "3", "--form", "csv")[1].count("\n")
        == 4
    )
    code, _ = study(
        "table", corpus, "alliot-1", "matches", "--out", str(tmp_path / "tables")
    )
    assert code == 0
    names = sorted(path.name for path in (tmp_path / "tables").iterdir())
    assert names == ["alliot-1.txt", "matches.txt"]
    study("table", corpus, "alliot-conformance", "--out", str(tmp_path / "c.json"))
    assert json.loads((tmp_path / "c.json").read_text())["name"] == "alliot-conformance"
    study("figure", corpus, "career", str(tmp_path / "career.png"))
    assert (tmp_path / "career.png").read_bytes().startswith(b"\x89PNG")


def test_other_settings_are_not_pooled(corpus: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    study("add", other, str(SEARCHED), "--limit", "200 nodes")
    code, said = study("merge", corpus, other)
    assert code == 1
    assert "limit '200 nodes' is not '100000 nodes'" in said
    study("add", other, str(SAMPLE))
    with pytest.raises(InputError, match="several engines or limits"):
        study("table", other, "career")
    assert study("table", other, "career", "--setting", "1")[0] == 0
    with pytest.raises(InputError, match="names no setting"):
        study("table", other, "career", "--setting", "9")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("status", "none.db"), "no such corpus"),
        (("table", "{corpus}", "nonsense"), "is no table"),
        (("table", "{corpus}", "all"), "several tables need a folder"),
        (
            ("table", "{corpus}", "alliot-6", "--player", "A"),
            "chooses nothing in alliot-6",
        ),
        (
            ("table", "{corpus}", "regan", "--by", "year", "--top", "3"),
            "--top: chooses nothing",
        ),
        (("figure", "{corpus}", "alliot-4", "x.png", "--top", "3"), "about all games"),
        (
            ("table", "{corpus}", "career", "--player", ""),
            "--player: nobody is called ''",
        ),
        (
            ("table", "{corpus}", "career", "--event", ""),
            "--event: no event is called ''",
        ),
        (("add", "{tmp}/c.db", ""), "no such file"),
        (("figure", "{corpus}", "nonsense", "x.png"), "is no figure"),
        (("figure", "{corpus}", "career", "x.gif"), "neither .png nor .svg"),
        (("table", "{corpus}", "career", "--event", "London"), "no event is called"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: tuple[str, ...], problem: str, corpus: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=problem) as found:
        study(*(word.format(tmp=tmp_path, corpus=corpus) for word in words))
    assert found.value.exit_code == 2
    assert found.value.remedy


def test_without_polars_its_remedy_is_said_and_help_is_still_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("live.commands.study.find_spec", lambda name: None)
    assert CliRunner().invoke(app, ["study", "add", "--help"]).exit_code == 0
    done = CliRunner().invoke(app, ["study", "status", "c.db"])
    assert isinstance(done.exception, ConfigError)
    assert str(done.exception).endswith("Run: pip install 'live-rate[study]'")
