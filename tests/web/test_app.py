"""The page at ``/`` in a real browser, fed by the real server: what it shows, and under attack."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from live.config import ServerConfig
from live.events import (
    Agreement,
    Alert,
    Curves,
    MomentMessage,
    Player,
)
from live.publish.access import new_token
from live.publish.server import Publisher
from live.publish.visibility import EVERYTHING
from tests.publish.world import World
from tests.web.broadcast import Broadcast, on_air
from tests.web.chromium import Page, tab
from tests.web.games import HOSTILE as HOSTILE
from tests.web.games import game, hostile_world, moment, ply, point
from tests.web.line import line_to

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

AXE = Path(__file__).resolve().parent.parent / "data" / "vendor" / "axe-core" / "axe.min.js"


async def settled(page: Page, publisher: Publisher) -> None:
    """Wait until the page has drawn everything published so far."""
    publisher.broadcaster.flush()
    seq = publisher.broadcaster.stream(EVERYTHING).seq
    await page.until(f"document.querySelector('#main')?.dataset.seq === '{seq}'")


#: The texts that are seen in a part of the page, but for clocks; names whole, however they are cut.
SEEN = """((selector) => [...document.querySelectorAll(`${selector} *`)].filter((node) =>
  node.checkVisibility() && !node.children.length && !node.closest(".clock")
).map((node) => node.closest(".name")?.title || node.textContent).filter(Boolean))"""
CURRENT = "document.querySelector('.board-view [aria-current=step]')?.innerText ?? 'Start'"
NOW = "document.querySelector('.board-view .now').textContent"
MOVES = "document.querySelectorAll('.board-view .turns .san').length"


async def told(publisher: Publisher) -> list[dict[str, Any]]:
    """Games in full, as the HTTP interface tells them."""
    host, port = publisher.address
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", trust_env=False) as client:
        views = (await client.get("/api/v1/games")).json()["games"]
        return [(await client.get(f"/api/v1/games/{each['id']}")).json() for each in views]


async def seen(page: Page, games: list[dict[str, Any]]) -> dict[str, Any]:
    """What every view shows."""
    found = {}
    for place, ready, part in (
        ("layout=cards", f"document.querySelectorAll('.card').length === {len(games)}", ".card"),
        ("layout=table", "document.querySelector('.boards-table tbody tr')", ".boards-table"),
        ("view=players&sort=name", "document.querySelector('#players tbody tr')", "#players"),
        *(
            (f"game={each['id']}", f"{MOVES} === {len(each['plies'])}", ".board-view")
            for each in games[:2]
        ),
    ):
        await page.run(f"location.hash = '{place}'")
        await page.until(f"document.querySelector('{part}')?.checkVisibility() && {ready}")
        if part == ".board-view":
            await page.until("document.querySelector('.board-view .rating-panel .name').title")
        found[place] = await page.run(f"{SEEN}('{part}')")
    return found


async def same_as_told(page: Page, publisher: Publisher) -> None:
    """Every view shows what a page shows that was just opened, and cards what the service says."""
    games = await told(publisher)
    shown = await seen(page, games)
    async with tab(page.address) as fresh:
        await fresh.open(publisher.url)
        await settled(fresh, publisher)
        assert shown == await seen(fresh, games)
    for each in games:
        last, (figure, *_) = each["plies"][-1], each["curves"]["white"][-1:] or [None]
        rated = [str(int(figure["perceived"] + 0.5))] if figure else []
        move = f"{(last['ply'] + 1) // 2}{'.' if last['ply'] % 2 else '…'}\u00a0{last['san']}"
        assert {move, *rated} <= set(shown["layout=cards"])
        assert any(text.startswith(each["white"]["name"]) for text in shown["layout=cards"])


async def test_it_shows_what_the_service_says_after_takebacks_a_cut_and_a_restart(
    page: Page,
) -> None:
    async with on_air(plies=16) as (broadcast, publisher):
        port = publisher.address[1]
        async with line_to(port) as line:
            await page.open(line.url)
            await settled(page, publisher)
            broadcast.take_back(3, 5)
            broadcast.play(2)
            broadcast.play(3, board=7)
            await settled(page, publisher)
            await same_as_told(page, publisher)
            line.cut()
            await page.until("document.body.classList.contains('stale')")
            broadcast.play(2)
            broadcast.take_back(1, 7)
            broadcast.end(2, "1/2-1/2")
            line.mend()
            await page.until("!document.body.classList.contains('stale')")
            await settled(page, publisher)
            await same_as_told(page, publisher)
            # It came back with what it held: nothing was sent twice.
            host, port = publisher.address
            async with httpx.AsyncClient(trust_env=False) as client:
                metrics = (await client.get(f"http://{host}:{port}/metrics")).text
            assert "live_rate_resumes_total 1.0" in metrics
    # From here the page speaks to another run of the service, at another address.
    broadcast.listener = lambda changes: None
    broadcast.play(2)
    async with Publisher(ServerConfig(port=0), broadcast.state) as publisher:
        await page.call("Page.navigate", url=publisher.url)
        await settled(page, publisher)
        port = publisher.address[1]
    await page.until("document.body.classList.contains('stale')")
    broadcast.play(1)
    broadcast.take_back(5, 2)
    async with Publisher(ServerConfig(port=port), broadcast.state) as publisher:
        broadcast.listener = publisher.publish
        await page.until("!document.body.classList.contains('stale')")
        broadcast.play(1)
        await settled(page, publisher)
        await same_as_told(page, publisher)
    refused = [each for each in page.complaints if "ERR_" not in each and "WebSocket" not in each]
    assert refused == []


@pytest.mark.whole
async def test_clocks_run_between_messages_on_cards_in_the_table_and_at_the_board(
    page: Page,
) -> None:
    async with on_air(boards=2, plies=20) as (_, publisher):
        await page.open(publisher.url)
        await settled(page, publisher)
        first, _ = await told(publisher)
        views = {
            "layout=cards": ".card .clock.running",
            "layout=table": ".boards-table .clocks",
            f"game={first['id']}": ".player-line .clock.running",
        }
        for place, selector in views.items():
            await page.run(f"location.hash = '{place}'")
            shown_text = f"document.querySelector('{selector}')?.textContent"
            await page.until(f"{shown_text}?.includes(':')")
            before = await page.run(shown_text)
            await page.until(f"{shown_text} !== {before!r}")
            assert await page.run(shown_text) < before
        # Looking back at an earlier position, its clocks stand.
        await page.run(f"location.hash = 'game={first['id']}&ply=4'")
        await page.until("document.querySelectorAll('.player-line .clock.running').length === 0")
        assert page.complaints == []


@pytest.mark.whole
async def test_any_change_is_shown(page: Page) -> None:
    world = World(11)
    for _ in range(30):
        world.step()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open(publisher.url + "#layout=cards&round=all")
        await settled(page, publisher)
        async with tab(page.address) as fresh:
            for _ in range(6):
                for _ in range(50):
                    publisher.publish(world.step())
                await fresh.open(publisher.url + "#layout=cards&round=all")
                await settled(page, publisher)
                await settled(fresh, publisher)
                assert await page.run(f"{SEEN}('.card')") == await fresh.run(f"{SEEN}('.card')")
        assert page.complaints == []


@pytest.mark.whole
async def test_hostile_text_stays_text(page: Page) -> None:
    world = hostile_world()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open("about:blank")
        # Violations are gathered in the page itself, too.
        await page.call(
            "Page.addScriptToEvaluateOnNewDocument",
            source="self.violations = []; document.addEventListener('securitypolicyviolation',"
            " (event) => self.violations.push(event.violatedDirective));",
        )
        await page.call("Page.navigate", url=publisher.url + "#layout=cards")
        await settled(page, publisher)
        # Names are cut as names are; whole they are the text of a title.
        names = "[...document.querySelectorAll('.card .name')].map((name) => name.title)"
        for title in await page.run(names):
            assert title.startswith(HOSTILE)
        assert await page.run("document.querySelector('#event').textContent") == HOSTILE
        await page.run("location.hash = 'layout=table'")
        await page.until("document.querySelector('.boards-table .name')")
        assert await page.run("document.querySelector('.boards-table .name').title") == HOSTILE
        await page.run("location.hash = 'view=players'")
        await page.until("document.querySelector('#players .name')")
        assert await page.run("document.querySelector('#players tbody a').title") == HOSTILE
        await page.run("location.hash = 'game=g1'")
        await page.until("document.querySelector('.board-view .turns .san')")
        assert await page.run("document.querySelector('.watch').hidden")
        for chart in range(await page.run("document.querySelectorAll('.behind').length")):
            await page.run(f"document.querySelectorAll('.behind')[{chart}].open = true")
        await page.until("document.querySelectorAll('.behind table').length > 0")
        # The picture that is shared, too: the browser reads it as one well-formed drawing.
        drawn = await page.run(
            """(async () => {
              const { shareSvg } = await import("/static/page/share.js");
              const { pieceMarkup, svgAddress } = await import("/static/page/board_card.js");
              const game = await (await fetch("/api/v1/games/g1")).json();
              const svg = shareSvg(game, 2, { name: "<x>", limit: "&" }, await pieceMarkup());
              const image = new Image();
              image.src = svgAddress(svg);
              await image.decode();
              return [image.naturalWidth, image.naturalHeight];
            })()"""
        )
        assert drawn == [1200, 630]
        # Nothing became an element: no picture, and the one script is ours.
        assert await page.run("document.querySelectorAll('img').length") == 0
        assert await page.run("document.scripts.length") == 1
        assert not (await page.run("document.title")).startswith("owned")
        assert await page.run("self.violations") == []
        assert page.complaints == []


@pytest.mark.whole
async def test_one_board_is_stepped_through_and_its_address_says_where(page: Page) -> None:
    async with on_air(boards=4, plies=20) as (broadcast, publisher):
        await page.open(publisher.url)
        await settled(page, publisher)
        first, second = [each["id"] for each in await told(publisher)][:2]
        # By keyboard from the overview into the second board.
        await page.run("document.querySelector('.card .open').focus()")
        await page.press("ArrowRight")
        await page.press("Enter")
        await page.until("document.querySelector('.board-view .turns li')")
        assert await page.run("location.hash") == f"#game={second}"
        for key, current in (
            ("ArrowLeft", "10. "),
            ("Home", "Start"),
            ("ArrowRight", "1. "),
            ("End", ""),
            ("ArrowLeft", "10. "),
        ):
            await page.press(key)
            said = (await page.run(CURRENT)).replace("\u00a0", " ")
            assert said.startswith(current), key
        await page.until(f"location.hash === '#game={second}&ply=19'")
        before = await page.run(NOW)
        # Whoever looks back is left where they look.
        broadcast.play(2)
        await settled(page, publisher)
        assert await page.run(NOW) == before
        # A click into the chart of scores leads to that move, and the board follows.
        box = await page.run(
            "(() => { const over = document.querySelector('.score-chart .u-over');"
            " over.scrollIntoView({ block: 'center' });"
            " const { x, y, width, height } = over.getBoundingClientRect();"
            " return [x, y, width, height]; })()"
        )
        await page.click(box[0] + 1, box[1] + box[3] / 2)
        await page.until(f"location.hash === '#game={second}&ply=0'")
        assert await page.run(CURRENT) == "Start"
        placement = "document.querySelectorAll('.big-board [data-piece]').length"
        assert await page.run(placement) == 32
        await page.press("f")
        await page.press("c")
        await page.until(f"location.hash === '#game={second}&figure=algorithm4&ply=0&flip=1'")
        title = await page.run("document.querySelector('.curves-chart figcaption').textContent")
        assert title.startswith("Move by move")
        # The very address, opened anew, shows the same position, and nothing of later plies until
        # somebody goes on.
        address = await page.run("location.href")
        shows = await page.run(f"{SEEN}('.board-body')")
        await page.call("Page.navigate", url="about:blank")
        await page.call("Page.navigate", url=address)
        await page.until("document.querySelectorAll('.big-board [data-piece]').length === 32")
        turns = "document.querySelectorAll('.board-view .turns li').length"
        assert await page.run(turns) == 0
        await page.press("ArrowRight")
        await page.until("location.hash.includes('ply=1')")
        assert await page.run(turns) == 1
        await page.press("End")
        await page.until(f"!location.hash.includes('ply=') && {turns} > 9")
        await page.press("Home")
        await page.until("location.hash.includes('ply=0')")
        assert await page.run(f"{SEEN}('.board-body')") == shows
        await page.press("[")
        await page.until(f"location.hash.startsWith('#game={first}')")
        await page.press("Escape")
        await page.until("!document.querySelector('.overview').hidden")
        # And back, as browsers go back.
        await page.run("history.back()")
        await page.until("!document.querySelector('.board-view').hidden")
        assert page.complaints == []


@pytest.mark.whole
async def test_files_hold_what_is_seen(page: Page) -> None:
    async with on_air(boards=3, plies=12) as (_, publisher):
        await page.open(publisher.url + "#q=board+2")
        await settled(page, publisher)
        games = await told(publisher)
        # What a page hands over is caught on its way to the disk.
        await page.run(
            "self.saved = [];"
            " URL.createObjectURL = (blob) => { self.saved.push(blob); return '#'; }"
        )
        await page.run("location.hash = 'q=board+2'")

        async def save(label: str, view: str) -> str:
            before = await page.run("self.saved.length")
            await page.run(
                f"[...document.querySelectorAll('{view} .take-along button')]"
                f".find((button) => button.textContent === '{label}').click()"
            )
            await page.until(f"self.saved.length > {before}")
            return str(await page.run("self.saved.at(-1).text()"))

        held = msgspec.json.decode(await save("JSON", ".overview"))
        assert held == [games[1]]
        assert (await save("CSV", ".overview")).count("\r\n") == 2
        pgn = await save("PGN", ".overview")
        assert pgn.count("[White ") == 1
        assert games[1]["white"]["name"] in pgn
        await page.run(f"location.hash = 'game={games[0]['id']}'")
        await page.until("document.querySelector('.board-view .turns li')")
        assert (await save("CSV", ".board-view")).count("\r\n") == 13
        await save("Image", ".board-view")
        head = await page.run(
            "self.saved.at(-1).arrayBuffer()"
            ".then((bytes) => [...new Uint8Array(bytes.slice(0, 4))])"
        )
        assert bytes(head) == b"\x89PNG"
        assert await page.run("self.saved.at(-1).size") > 10_000
        assert [each for each in page.complaints if "blob" not in each] == []


@pytest.mark.whole
async def test_it_draws_curves_and_survives_a_restart(page: Page) -> None:
    world = World(13)
    curve = (point(1, 1, 2210.0),)
    world.held["g1"] = game(
        white=Player("Anna"), plies=(ply(1, 31, 0),), curves=Curves(white=curve)
    )
    async with Publisher(ServerConfig(port=0), world) as publisher:
        port = publisher.address[1]
        await page.open(publisher.url + "#game=g1")
        await page.until("document.querySelectorAll('.pieces [data-piece]').length === 32")
        await page.until("document.querySelector('.pieces [data-square=e4]')")
        await page.until("document.querySelector('.curves-chart canvas')")
        label = "document.querySelector('.curves-chart .plot').getAttribute('aria-label')"
        assert "Anna: playing like 2210" in await page.run(label)
        assert page.complaints == []
    await page.until("document.querySelector('#connection').dataset.state !== 'live'")
    await page.until("document.body.classList.contains('stale')")
    other = World(14)
    other.appear("g2")
    async with Publisher(ServerConfig(port=port), other):
        await page.until("document.querySelector('#connection').dataset.state === 'live'")
        await page.until("!document.body.classList.contains('stale')")
        await page.until("!document.querySelector('.board-view > .note').hidden")


@pytest.mark.whole
async def test_it_is_accessible(page: Page) -> None:
    broadcast = Broadcast()
    broadcast.play(30)
    broadcast.end(2, "1-0")
    async with Publisher(ServerConfig(port=0), broadcast.state) as publisher:
        await page.open(publisher.url)
        await settled(page, publisher)
        name = (await told(publisher))[0]["id"]
        turn = moment(name, 7, "It turned.", at_s=1.0)
        publisher.publish([MomentMessage(name, turn)])
        await page.until("document.querySelector('.moments')?.offsetParent")
        await page.run("document.querySelector('.moments').open = true")
        await page.call("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
        found = []
        for width, height, scheme in ((1440, 900, "dark"), (390, 844, "light")):
            await page.emulate(width, height, scheme=scheme)
            for fragment, ready in (
                ("layout=cards&q=board+1", ".card"),
                ("layout=table", ".boards-table tbody tr"),
                (f"game={name}&ply=7", ".board-view .turns li"),
                ("view=players&cols=", "#players tbody tr"),
                ("view=health", ".health-view tbody tr"),
                ("player=fide-9000000", ".player-view .card"),
                ("view=wall", ".wall-cell"),
            ):
                await page.run(f"location.hash = '{fragment}'")
                await page.until(f"document.querySelector('{ready}')?.offsetParent")
                serious = await page.run(
                    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations"
                    ".filter(({ id }) => id !== 'page-has-heading-one')"
                    ".map(({ id, nodes }) => [id, nodes.map(({ html }) => html)[0]]))"
                )
                found += [(scheme, fragment, *each) for each in serious]
            overflow = await page.run("document.documentElement.scrollWidth > innerWidth")
            assert not overflow
        assert found == [], "\n".join(map(str, found))
        await page.run("document.querySelector('#meaning').click()")
        serious = await page.run(
            "axe.run('dialog', { resultTypes: ['violations'] })"
            ".then(({ violations }) => violations.map(({ id }) => id))"
        )
        assert serious == []
        assert page.complaints == []


@pytest.mark.whole
async def test_screening_figures_are_for_arbiters_alone(page: Page, tmp_path: Path) -> None:
    secret, entry = new_token("arbiter", secrets.token_bytes, arbiter=True)
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(entry)
    tokens.chmod(0o600)
    world = World(15)
    world.held["g1"] = game()
    world.raised["a"] = Alert(
        id="a",
        kind="agreement",
        severity="look",
        text="Anna agrees often",
        advice="look closer",
        game="g1",
        first_seen_s=1.0,
        agreement=Agreement(40, 0.8, 0.5, 3.2, 56, 0.03, "402 honest player-games."),
    )
    config = ServerConfig(port=0, public=True, tokens_file=str(tokens))
    async with Publisher(config, world) as publisher:
        for query, sees in (("", False), (f"?token={secret}", True)):
            await page.open("about:blank") if not query else await page.visit("about:blank")
            await page.visit(f"{publisher.url}{query}#view=arbiter")
            await page.until("document.querySelector('#main')?.dataset.seq")
            await page.until(f"document.querySelectorAll('.alerts li').length === {int(sees)}")
            tab = "document.querySelector('nav a[data-view=arbiter]').hidden"
            assert await page.run(tab) is not sees
            text = await page.run("document.body.innerText")
            assert ("Anna agrees often" in text) is sees
            assert ("It accuses nobody" in text) is sees
            assert ("Nothing is in the log yet" in text) is sees
            await page.run("location.hash = ''")
            await page.until("document.querySelector('.card')?.offsetParent")
            assert await page.run("document.querySelectorAll('.card.alerting').length") == sees
        assert "token" not in await page.run(
            """import("/static/page/page_address.js").then(({ shareAddress, HOME }) =>
                 shareAddress(location.href, HOME))"""
        )
        assert page.complaints == []
