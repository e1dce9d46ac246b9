"""The manual's four examples, installed by pip and running in the real service."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect

from live.manual.pages import manual_page
from tests.publish.serving import bearer, token_file
from tests.service.running import running

EXAMPLES = Path(__file__).parent.parent / "data" / "plugins"
PACKAGES = ("scoresheets", "time_trouble", "captures", "results_csv")
BEFORE = "Ann Archer - Bob Baker: e4 {[%clk 0:03:00]} d5 {[%clk 0:04:00]} "
SHORT = BEFORE + "exd5 {[%clk 0:00:40]}\n"
LONG = BEFORE + "exd5 {[%clk 1:00:00]}\n"


@pytest.mark.parametrize("name", PACKAGES)
def test_the_manual_shows_the_examples_as_they_are(name: str) -> None:
    shown = manual_page("plugins").text
    assert f"```python\n{(EXAMPLES / name / f'{name}.py').read_text(encoding='utf-8')}```" in shown
    assert "```toml\n" + (EXAMPLES / "captures/pyproject.toml").read_text() + "```" in shown


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site-packages")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    paths = [str(EXAMPLES / name) for name in PACKAGES]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "--target", str(folder), *paths],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


async def test_all_four_run_live(installed: Path, tmp_path: Path) -> None:
    games = tmp_path / "games.txt"
    games.write_text(SHORT, encoding="utf-8")
    secret, _ = token_file(tmp_path, arbiter=True)
    (tmp_path / "config.toml").write_text(
        '[plugins]\nuse = ["scoresheets", "time-trouble", "captures", "results-csv"]\n'
        '[server]\nport = 0\ntokens_file = "tokens.toml"\npublic = true\n'
        "[engine]\nnodes = 100\nspeculate = false\n"
        "[journal]\nenabled = false\n[human]\nenabled = false\n",
        encoding="utf-8",
    )
    feed = f"plugin+scoresheets:{games}"
    async with running("--feed", feed, "--headless", cwd=tmp_path, packages=installed) as service:
        address = await service.address()
        url = f"ws://{address}/v2/live"
        async with connect(url, additional_headers=bearer(secret)) as stream:
            told = Told(stream)
            alert = await told.until(lambda each: each.get("alert"))
            assert alert["text"] == "time-trouble: Ann Archer has 40 s for 38 moves"
            assert (alert["kind"], alert["color"], alert["ply"]) == ("plugin", "white", 3)
            figure = await told.until(lambda each: _figures(each, "Ann Archer"))
            assert [figure[0][each] for each in ("name", "value", "note")] == [
                *("captures", 50.0, "2 moves")
            ]
            games.write_text(LONG, encoding="utf-8")
            over = await told.until(lambda each: (each.get("alert") or {}).get("cleared_s"))
            assert over
        async with httpx.AsyncClient(base_url=f"http://{address}") as http:
            assert (await http.get("/api/v1/exports")).json() == {"exports": ["results-csv"]}
            table = await http.get("/api/v1/exports/results-csv")
            assert table.headers["content-type"] == "text/csv; charset=utf-8"
            assert table.text.splitlines()[1].endswith("Ann Archer,Bob Baker,*")
            players = (await http.get("/api/v1/players")).json()["players"]
            assert _figures({"player": players[0]}, "Ann Archer")[0]["name"] == "captures"


def _figures(message: dict[str, Any], name: str) -> Any:
    players = [message["player"]] if "player" in message else message.get("players", [])
    return next((each["plugins"] for each in players if each["name"] == name), None)


class Told:
    """What the service says, message by message; a snapshot's alerts are messages too."""

    def __init__(self, stream: ClientConnection) -> None:
        self._stream = stream

    async def until(self, wanted: Callable[[dict[str, Any]], Any]) -> Any:
        while True:
            message = msgspec.json.decode(await self._stream.recv())
            for each in [message, *({"alert": one} for one in message.get("alerts", ()))]:
                if found := wanted(each):
                    return found
