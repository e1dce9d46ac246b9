"""The static site: its files alone, and in a real browser with a real broker and no service."""

from __future__ import annotations

import asyncio
import functools
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.config import MqttConfig
from live.errors import ConfigError
from live.publish.broker import BrokerPublisher, SiteStream
from live.publish.public_state import PublicState
from live.publish.static_files import write_site
from tests.publish.mosquitto import ANYBODY, free_port, running
from tests.web.broadcast import Broadcast
from tests.web.chromium import Page, browsing


def test_every_file_that_pages_name_is_there(tmp_path: Path) -> None:
    written = write_site(tmp_path, "wss://broker.example:9001/mqtt", "open/2026")
    names = {path.relative_to(tmp_path).as_posix() for path in written}
    assert {"index.html", "overlay.html", "static/app.js", "manual/index.html"} <= names
    assert "static/vendor/mqtt/mqtt.esm.js" in names
    assert not [name for name in names if "builder" in name]
    missing = []
    for path in written:
        if path.suffix not in (".html", ".js"):
            continue
        text = path.read_text(encoding="utf-8")
        own = "vendor" not in path.parts
        imports = re.findall(r'(?:from|import\()\s*"(\.[^"]+\.js)"', text) if own else []
        links = re.findall(r'(?:href|src)="([^"#:?]+)[#"]', text) if path.suffix == ".html" else []
        for link in [*imports, *links]:
            target = path.parent / link
            if not (target.is_file() or (target / "index.html").is_file()):
                missing.append((path.relative_to(tmp_path).as_posix(), link))
    assert missing == []


def test_pages_name_the_broker_and_may_reach_nothing_else(tmp_path: Path) -> None:
    write_site(tmp_path, "wss://broker.example:9001/mqtt?a=1&b=2", 'p"/x')
    for name in ("index.html", "overlay.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert (
            'content="wss://broker.example:9001/mqtt?a=1&amp;b=2" data-prefix="p&quot;/x"' in text
        )
        assert "connect-src 'self' wss://broker.example:9001;" in text


@pytest.mark.parametrize(
    "broker", ["mqtt://b:1883", "https://b", "b:9001", "ws://", "wss://user:secret@b/"]
)
def test_an_address_that_no_page_can_open_is_refused(tmp_path: Path, broker: str) -> None:
    with pytest.raises(ConfigError, match="no address that a page can open"):
        write_site(tmp_path, broker, "p")
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_how_much_it_wrote(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    words = ["site", str(tmp_path / "out"), "--broker", "ws://127.0.0.1:9001"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert re.search(r"\d+ files, \d\.\d MB, in ", done.output)
    refused = CliRunner().invoke(app, ["site", str(tmp_path / "file"), *words[2:]])
    assert "cannot be written" in str(refused.exception)


@contextmanager
def files_at(folder: Path) -> Iterator[str]:
    """A plain file server that knows nothing of us."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    handler = functools.partial(Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Service:
    """What a running service does for a broker, and no more."""

    def __init__(self, broadcast: Broadcast, port: int, epoch: str) -> None:
        public = PublicState(broadcast.state)
        stream = SiteStream(
            public, epoch=epoch, clock=asyncio.get_running_loop().time, heartbeat_s=1.0
        )
        config = MqttConfig(publish=f"mqtt://127.0.0.1:{port}", prefix="t", site=True)
        broker = BrokerPublisher(config, public, chance=lambda: 0.0, stream=stream)
        public.listen(broker.publish)
        broadcast.listener = public.publish
        self._task = asyncio.create_task(broker.run())

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})


CONNECTION = "(document.getElementById('connection')?.textContent ?? '')"


async def moves_shown(page: Page, broadcast: Broadcast) -> None:
    """The page shows the last move of board 3."""
    (view,) = [each for each in broadcast.state.games() if each.board == 3]
    game = broadcast.state.game(view.id)
    assert game is not None
    last = game.plies[-1].san
    await page.until(f"document.querySelector('main').textContent.includes({last!r})")


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.whole
async def test_the_site_lives_from_the_broker_while_the_service_comes_and_goes(
    require_program: Callable[[str], str], tmp_path: Path
) -> None:
    web = free_port()
    more = f"{ANYBODY}listener {web} 127.0.0.1\nprotocol websockets\n"
    write_site(tmp_path / "out", f"ws://127.0.0.1:{web}", "t")
    broadcast = Broadcast(4)
    broadcast.play(20)
    async with (
        running(require_program("mosquitto"), tmp_path, more=more) as broker,
        browsing(require_program("chromium"), tmp_path / "profiles") as page,
    ):
        service = Service(broadcast, broker.port, "first")
        with files_at(tmp_path / "out") as url:
            await page.open(f"{url}index.html", 1280, 720)
            await page.until(f"{CONNECTION} === 'live'")
            await moves_shown(page, broadcast)
            broadcast.play(1, board=3)
            await moves_shown(page, broadcast)

            # What is shown stays, and is said to be of before.
            await service.stop()
            await page.until(f"{CONNECTION}.startsWith('the service is away; shown as of')")
            await moves_shown(page, broadcast)

            # Whoever comes now is shown the same, from what is retained.
            await page.visit(f"{url}index.html?again")
            await page.until(f"{CONNECTION}.startsWith('the service is away')")
            await moves_shown(page, broadcast)

            broadcast.listener = lambda changes: None
            broadcast.play(2, board=3)
            service = Service(broadcast, broker.port, "second")
            await page.until(f"{CONNECTION} === 'live'")
            await moves_shown(page, broadcast)

            # A broker that restarts has forgotten everything.
            broker.kill()
            await page.until(f"{CONNECTION} !== 'live'")
            broadcast.play(1, board=3)
            await broker.start()
            await page.until(f"{CONNECTION} === 'live'")
            await moves_shown(page, broadcast)

            await page.visit(f"{url}overlay.html?layout=grid")
            await page.until("document.querySelectorAll('.cell').length === 4")
        await service.stop()
        refused = [each for each in page.complaints if "ERR_CONNECTION" not in each]
        assert [each for each in refused if "WebSocket" not in each] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.whole
async def test_what_a_static_page_cannot_show_it_refuses_and_shows_nobody_else(
    require_program: Callable[[str], str], tmp_path: Path
) -> None:
    web = free_port()
    more = f"{ANYBODY}listener {web} 127.0.0.1\nprotocol websockets\n"
    write_site(tmp_path / "out", f"ws://127.0.0.1:{web}", "t")
    broadcast = Broadcast(4)
    broadcast.play(20)
    (view,) = [each for each in broadcast.state.games() if each.board == 3]
    async with (
        running(require_program("mosquitto"), tmp_path, more=more) as broker,
        browsing(require_program("chromium"), tmp_path / "profiles") as page,
    ):
        service = Service(broadcast, broker.port, "first")
        with files_at(tmp_path / "out") as url:
            asked = quote(view.black.name)
            await page.open(f"{url}overlay.html?layout=player&player={asked}", 1280, 720)
            shown = "document.querySelector('.layout-player:not([hidden]) .player.black')"
            await page.until(f"{shown} !== null && !{shown}.hidden")
            status = "document.getElementById('status')?.textContent"
            for query, said in (
                ("layout=player&player=Nobody,%20At%20All", "Not there yet: Nobody, At All"),
                ("layout=board&board=77", "Not there yet: 77"),
                ("layout=standings&player=Nobody", "Not understood: Nobody"),
            ):
                await page.visit(f"{url}overlay.html?{query}")
                await page.until(f"{status} === {said!r}")
                seen = "document.getElementById('stage')"
                await page.until(
                    f"{seen}.hidden || {seen}.firstElementChild?.hidden"
                    f" || {seen}.innerText.trim() === ''"
                )
            await page.visit(f"{url}index.html#game={quote(view.id)}")
            share = "[...document.querySelectorAll('.take-along button')].map(b => b.textContent)"
            await page.until(f"{share}.includes('CSV')")
            await page.until(f"!{share}.includes('PGN')")
        await service.stop()
