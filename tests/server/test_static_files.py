"""Pages from a folder: pressed for those who take it, tagged, and no other file served.

The manual and ``/docs`` as they are served: to everybody, packed, under the site's
policy.

The static site: its files alone, and in a real browser with a real broker and no
service.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import AsyncExitStack
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from live.cli import app
from live.errors import ConfigError
from live.server.authentication import Guest
from live.server.broker import BrokerPublisher
from live.server.http_caching import can_take_gzip
from live.server.http_values import HttpRequest, HttpResponse
from live.server.public_view import PublicView
from live.server.site_stream import SiteStream
from live.server.static_files import (
    POLICY,
    STUDY_TYPES,
    StaticSite,
    find_manual_page,
    open_study_files,
)
from live.server.static_site import write_site
from live.server.visibility import Visibility
from live.settings import MqttConfig
from tests.screens.web.broadcast import Broadcast
from tests.screens.web.chromium import Page, browsing
from tests.server.mosquitto import ANYBODY, free_port, run_broker
from tests.server.serving import (
    build_routes,
    files_at,
    open_client,
    serve_publisher,
    token_file,
)
from tests.server.world import World, answer_without_waiting


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip, deflate, br, zstd", True),
        ("br;q=1.0, GZIP;q=0.8", True),
        ("*", True),
        ("", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
    ],
)
def test_gzip_is_sent_to_those_who_take_it(accepted: str, takes: bool) -> None:
    assert can_take_gzip(accepted) is takes


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    script = tmp_path / "app.js"
    site = StaticSite(tmp_path)
    for text in ("let x = 1;\n" * 200, "let x = 2; // another\n" * 200):
        script.write_text(text)
        found = site.find_page("/static/app.js")
        assert found is not None and found.body == text.encode()


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert StaticSite(tmp_path / "none").list_files() == []


def answer_request(
    path: str,
    site: StaticSite,
    guest: Guest = Guest(),  # noqa: B008 - frozen
    **more: Any,
) -> HttpResponse:
    request = HttpRequest("GET", path, (), {"accept-encoding": "gzip"})
    return answer_without_waiting(
        build_routes(World(1), site, **more).answer(request, guest)
    )


def test_what_is_small_or_packed_already_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "small.js").write_text("let x = 1;")
    (tmp_path / "picture.png").write_bytes(bytes(5000))
    for name in ("small.js", "picture.png"):
        answer = answer_request(f"/static/{name}", StaticSite(tmp_path))
        assert "Content-Encoding" not in dict(answer.headers)


STUDY_LINK = re.compile(r'href="(study/[^"]*)"')


async def test_studies_are_shown_to_whoever_may_see_scores(tmp_path: Path) -> None:
    """No header can be sent by a link or a picture: they lead on with the token."""
    folder = tmp_path / "figures"
    folder.mkdir()
    for name in ("a&b.csv", "career.svg", "x.html", ".hidden.csv"):
        (folder / name).write_text(name)
    (tmp_path / "secret.csv").write_text("")
    secret, tokens = token_file(tmp_path)
    parts = {"study": StaticSite(folder, STUDY_TYPES)}
    async with (
        serve_publisher(World(), parts, tokens_file=tokens) as publisher,
        open_client(publisher) as client,
    ):
        assert (await client.get("study")).status_code == 401
        page = await client.get("study", params={"token": secret})
        links = [unescape(each) for each in STUDY_LINK.findall(page.text)]
        assert len(links) == 2 and "a&amp;b.csv" in page.text
        table, figure = [await client.get(link) for link in links]
        assert (table.text, table.headers["content-type"]) == (
            "a&b.csv",
            "text/csv; charset=utf-8",
        )
        assert "style-src" in figure.headers["content-security-policy"]
        assert "style-src" not in table.headers["content-security-policy"]
        for name in (
            "career.svg",
            "none.csv",
            "x.html",
            ".hidden.csv",
            "%2e%2e%2fsecret.csv",
        ):
            bare = await client.get(f"study/{name}")
            given = await client.get(f"study/{name}", params={"token": secret})
            assert (bare.status_code, given.status_code == 200) == (
                401,
                name == "career.svg",
            )


@pytest.mark.parametrize(
    ("hidden", "said"), [(False, "set [study] folder"), (True, "hidden")]
)
def test_why_there_are_no_studies(hidden: bool, said: str, tmp_path: Path) -> None:
    study = StaticSite(tmp_path, STUDY_TYPES) if hidden else None
    guest = Guest(visibility=Visibility.VENUE if hidden else Visibility.PUBLIC)
    for path in ("/study", "/study/a.csv"):
        answer = answer_request(path, StaticSite(), guest, study=study)
        assert answer.status == 404 and said in answer.body.decode()


@pytest.mark.parametrize(
    "path",
    [
        "/manual",
        "/manual/none",
        "/manual/../cli",
        "/manual/html.py",
        "/manual/arbiter.md",
    ],
)
def test_nothing_else_is_there(path: str) -> None:
    assert find_manual_page(path) is None


async def test_they_are_for_everybody_also_where_a_token_is_needed(
    tmp_path: Path,
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text("")
    async with (
        serve_publisher(World(), tokens_file=str(tokens)) as publisher,
        open_client(publisher) as client,
    ):
        assert (await client.get("api/v3/games")).status_code == 401
        for path in ("docs", "manual/", "manual/glossary"):
            answer = await client.get(path)
            assert answer.status_code == 200
            assert answer.headers["content-encoding"] == "gzip"
            assert answer.headers["content-security-policy"] == POLICY
            again = await client.get(
                path, headers={"If-None-Match": answer.headers["etag"]}
            )
            assert again.status_code == 304
        # Links between the pages count from the folder.
        bare = await client.get("manual")
        assert (bare.status_code, bare.headers["location"]) == (308, "manual/")
        assert (await client.get("manual", follow_redirects=True)).status_code == 200
        assert (await client.get("manual/none")).status_code == 401


def test_every_file_that_pages_name_is_there(tmp_path: Path) -> None:
    written = write_site(tmp_path, "wss://broker.example:9001/mqtt", "open/2026")
    names = {path.relative_to(tmp_path).as_posix() for path in written}
    assert {"index.html", "overlay.html", "static/app.js", "manual/index.html"} <= names
    assert "static/vendor/mqtt/mqtt.esm.js" in names
    assert not [name for name in names if "builder" in name]
    missing = []
    for path in written:
        if path.suffix not in (".html", ".js", ".css"):
            continue
        text = path.read_text(encoding="utf-8")
        own = "vendor" not in path.parts
        imports = (
            re.findall(r'(?:from|import\()\s*"(\.[^"]+\.js)"', text) if own else []
        )
        links = (
            re.findall(r'(?:href|src)="([^"#:?]+)[#"]', text)
            if path.suffix == ".html"
            else []
        )
        drawn = (
            re.findall(r'url\("([^"#]+)"', text)
            if own and path.suffix == ".css"
            else []
        )
        for link in [*imports, *links, *drawn]:
            target = path.parent / link
            if not (target.is_file() or (target / "index.html").is_file()):
                missing.append((path.relative_to(tmp_path).as_posix(), link))
    assert missing == []


def test_letters_are_kept_by_browsers_for_a_day() -> None:
    told = answer_request("/static/font/inter-latin.woff2", StaticSite())
    headers = dict(told.headers)
    assert headers["Content-Type"] == "font/woff2" and told.body[:4] == b"wOF2"
    assert headers["Cache-Control"] == "public, max-age=86400"
    assert StaticSite().find_page("/static/font/LICENSE.txt") is not None
    # What resvg alone reads is no file of the page.
    assert StaticSite().find_page("/static/font/inter-bold.ttf") is None


def test_pages_name_the_broker_and_may_reach_nothing_else(tmp_path: Path) -> None:
    write_site(tmp_path, "wss://broker.example:9001/mqtt?a=1&b=2", 'p"/x')
    for name in ("index.html", "overlay.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert (
            'content="wss://broker.example:9001/mqtt?a=1&amp;b=2" '
            'data-prefix="p&quot;/x"'
        ) in text
        assert "connect-src 'self' wss://broker.example:9001;" in text


@pytest.mark.parametrize("broker", ["mqtt://b:1883", "ws://", "wss://user:secret@b/"])
def test_an_address_that_no_page_can_open_is_refused(
    tmp_path: Path, broker: str
) -> None:
    with pytest.raises(ConfigError, match="not an address that a page can open"):
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


class Service:
    """What a running service does for a broker, and no more."""

    def __init__(self, broadcast: Broadcast, port: int, epoch: str) -> None:
        public = PublicView(broadcast.state)
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
        run_broker(require_program("mosquitto"), tmp_path, more=more) as broker,
        browsing(require_program("chromium"), tmp_path / "profiles") as page,
        AsyncExitStack() as stack,
    ):
        url = stack.enter_context(files_at(tmp_path / "out"))
        service = Service(broadcast, broker.port, "first")
        await page.open(f"{url}index.html", 1280, 720)
        await page.until(f"{CONNECTION} === 'live'")
        await moves_shown(page, broadcast)
        broadcast.play(1, board=3)
        await moves_shown(page, broadcast)

        # What is shown stays, and is said to be of before.
        await service.stop()
        await page.until(f"{CONNECTION}.startsWith('the service is offline; as of')")
        await moves_shown(page, broadcast)

        # Whoever comes now is shown the same, from what is retained.
        await page.visit(f"{url}index.html?again")
        await page.until(f"{CONNECTION}.startsWith('the service is offline')")
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
        # What a site cannot show it refuses.
        await page.visit(f"{url}overlay.html?layout=standings&player=Somebody")
        await page.until("document.getElementById('stage')?.hidden")
        assert "Somebody" in await page.run(
            "document.getElementById('status').textContent"
        )
        await service.stop()
        refused = [each for each in page.complaints if "ERR_CONNECTION" not in each]
        assert [each for each in refused if "WebSocket" not in each] == []


def test_a_named_folder_of_studies_must_be_there(tmp_path: Path) -> None:
    assert open_study_files("") is None
    folder = tmp_path / "figures"
    with pytest.raises(ConfigError, match="no such folder"):
        open_study_files(str(folder))
    folder.mkdir()
    (folder / "career.svg").touch()
    files = open_study_files(str(folder))
    assert files is not None and files.list_files() == ["career.svg"]
