"""``live-rate study`` as a user runs it: what it prints, what it refuses, and its exit codes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.errors import InputError
from tests.studies.small_corpus import SAMPLE, SEARCHED


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
    _, said = study("status", corpus)
    assert said.startswith("13 games of ")
    assert "setting 1: given, 100000 nodes: 13 games searched, 0 left" in said
    _, said = study("status", corpus, "--json", "-")
    status = json.loads(said)
    assert status["games"] == 13
    assert status["settings"][0]["left"] == 0


def test_a_file_that_was_cut_ends_with_an_error_and_keeps_what_it_held(tmp_path: Path) -> None:
    cut = tmp_path / "cut.ndjson.gz"
    cut.write_bytes(SEARCHED.read_bytes()[:9000])
    code, said = study("add", str(tmp_path / "c.db"), str(cut))
    assert code == 1
    assert "not read to its end" in said
    _, said = study("status", str(tmp_path / "c.db"))
    assert "add it again" in said


def test_a_file_that_is_not_there_leaves_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        study("add", str(tmp_path / "c.db"), str(SEARCHED), str(tmp_path / "nothing.pgn"))
    assert not (tmp_path / "c.db").exists()


def test_a_file_of_nothing_but_damage_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "bad.ndjson"
    file.write_text('{"white":1,"black":2,"result":"1-0","moves":["e2e5"]}\n')
    assert study("add", str(tmp_path / "c.db"), str(file))[0] == 1


def test_results_need_no_engine_and_a_letter_is_a_name(tmp_path: Path) -> None:
    corpus, file = str(tmp_path / "c.db"), tmp_path / "games.ndjson"
    file.write_text('{"white":"A","black":"b","result":"1-0","moves":["e2e4"]}\n')
    assert study("add", corpus, str(file))[0] == 0
    code, said = study("table", corpus, "matches", "--form", "csv")
    assert code == 0 and "A,b,1,1,0,0" in said
    assert study("table", corpus, "alliot-1", "--form", "csv")[1].splitlines()[1] == "A,1,0,1"
    with pytest.raises(InputError, match="no evaluation"):
        study("table", corpus, "career")


def test_tables_and_figures_to_files(corpus: str, tmp_path: Path) -> None:
    assert study("table", corpus, "alliot-1", "--top", "3", "--form", "csv")[1].count("\n") == 4
    code, _ = study("table", corpus, "alliot-1", "matches", "--out", str(tmp_path / "tables"))
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "alliot-1.txt",
        "matches.txt",
    ]
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


def test_alliot_and_moves(corpus: str, tmp_path: Path) -> None:
    assert study("alliot", corpus, str(tmp_path / "a.pgn"))[0] == 0
    code, said = study("add", str(tmp_path / "back.db"), str(tmp_path / "a.pgn"))
    assert (code, "13 games, 13 new, 13 with evaluations" in said) == (0, True)
    assert "1 files" in study("moves", corpus)[1]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("status", "none.db"), "no such corpus"),
        (("add", "{tmp}/c.db", "none.pgn"), "none.pgn"),
        (("table", "{corpus}", "nonsense"), "is no table"),
        (("table", "{corpus}", "all"), "several tables need a folder"),
        (
            ("table", "{corpus}", "alliot-6", "--player", "A"),
            "chooses nothing in alliot-6",
        ),
        (("table", "{corpus}", "regan", "--by", "year", "--top", "3"), "--top: chooses nothing"),
        (("figure", "{corpus}", "alliot-4", "x.png", "--top", "3"), "about all games"),
        (("table", "{corpus}", "career", "--player", ""), "--player: nobody is called ''"),
        (("table", "{corpus}", "career", "--event", ""), "--event: no event is called ''"),
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


def test_a_corpus_without_evaluations_says_what_to_do(tmp_path: Path) -> None:
    row = json.loads(gzip.decompress(SEARCHED.read_bytes()).splitlines()[0])
    bare = tmp_path / "bare.ndjson"
    bare.write_text(json.dumps({"white": "A B", "black": "C D", "moves": row["moves"]}))
    study("add", str(tmp_path / "c.db"), str(bare))
    with pytest.raises(InputError, match="study run"):
        study("table", str(tmp_path / "c.db"), "career")
