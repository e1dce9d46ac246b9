"""The page at ``/`` in a real browser, fed by the real server: what it shows, and under
attack.
"""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from live.messages.alerts import Agreement, Alert
from live.messages.figures import GameDetail
from live.messages.from_clients import DeskCommand
from live.messages.from_sources import Player
from live.messages.health import FeedHealth
from live.messages.to_clients import MomentMessage
from live.server.server import Publisher
from live.server.stream_filter import EVERYTHING
from live.settings import ServerConfig
from live.watch.incident_log import IncidentLog
from tests.screens.web.broadcast import LONG_NAMES, Broadcast, on_air, standing_still
from tests.screens.web.chromium import Page, tab
from tests.screens.web.contrast import find_faint_texts
from tests.screens.web.games import HOSTILE, game, hostile_world, moment, plain
from tests.server.serving import token_file
from tests.server.world import World

pytestmark = [pytest.mark.timeout(600)]

AXE = (
    Path(__file__).resolve().parent.parent.parent
    / "data"
    / "vendor"
    / "axe-core"
    / "axe.min.js"
)


async def settled(page: Page, publisher: Publisher) -> None:
    """Wait until the page has drawn everything published so far."""
    publisher.audiences.public.flush()
    seq = publisher.audiences.public.open_stream(EVERYTHING).seq
    await page.until(f"document.querySelector('#main')?.dataset.seq === '{seq}'")


async def go(page: Page, fragment: str, ready: str) -> None:
    """To another view, until something of it is there."""
    await page.run(f"location.hash = {fragment!r}")
    await page.until(f"document.querySelector({ready!r})?.checkVisibility()")


#: The texts that are seen in a part of the page, but for clocks; names whole, however
#: they are cut.
SEEN = """((selector) => [...document.querySelectorAll(`${selector} *`)]
  .filter((node) => node.checkVisibility() && !node.children.length)
  .filter((node) => !node.closest(".clock"))
  .map((node) => node.closest(".name")?.title || node.textContent).filter(Boolean))"""
CURRENT = (
    "document.querySelector('.board-view [aria-current=step]')?.innerText ?? 'Start'"
)
NOW = "document.querySelector('.board-view .now').textContent"
MOVES = "document.querySelectorAll('.board-view .turns .san').length"
#: What of these does not lie within the screen, or is cut: text of each.
OUT_OF_SIGHT = """((selector) => [...document.querySelectorAll(selector)]
.filter((node) => {
  const { top, left, bottom, right } = node.getBoundingClientRect();
  const isInside = bottom <= innerHeight + 1 && right <= innerWidth + 1;
  const seen = top >= 0 && left >= 0 && isInside;
  return !seen || bottom === top || node.scrollWidth > node.clientWidth + 1;
}).map((node) => node.className + ': ' + node.textContent))"""
#: Names that are cut by their boxes.
CUT_NAMES = """[...document.querySelectorAll('.card .name')].filter((node) => {
  const { offsetWidth, offsetHeight } = node.firstChild;
  return offsetWidth > node.clientWidth + 1 || offsetHeight > node.clientHeight + 2;
}).map((node) => node.textContent)"""
#: What can be pressed and is smaller than a fingertip; links within a sentence may be.
SMALL = """[...document.querySelectorAll('a, button, select, input, summary')]
.filter((node) => {
  const { width, height } = node.getBoundingClientRect();
  const inText = node.matches(':is(.headline, .moments li, .note) a, .skip');
  if (inText || !node.checkVisibility()) return false;
  return width < 24 || height < 24;
}).map((node) => node.outerHTML.slice(0, 120))"""


async def fetch_games(publisher: Publisher) -> list[dict[str, Any]]:
    """Games in full, as the HTTP interface tells them."""
    host, port = publisher.address
    async with httpx.AsyncClient(
        base_url=f"http://{host}:{port}", trust_env=False
    ) as client:
        views = (await client.get("/api/v3/games")).json()["games"]
        return [
            (await client.get(f"/api/v3/games/{each['id']}")).json() for each in views
        ]


async def read_views(page: Page, games: list[dict[str, Any]]) -> dict[str, Any]:
    """What every view shows."""
    found = {}
    for place, ready, part in (
        (
            "layout=cards",
            f"document.querySelectorAll('.card').length === {len(games)}",
            ".card",
        ),
        (
            "view=players&sort=name",
            "document.querySelector('#players tbody tr')",
            "#players",
        ),
        *(
            (f"game={each['id']}", f"{MOVES} === {len(each['plies'])}", ".board-view")
            for each in games[:2]
        ),
    ):
        await go(page, place, part)
        await page.until(ready)
        if part == ".board-view":
            await page.until("document.querySelector('.player-line .name').title")
        found[place] = await page.run(f"{SEEN}('{part}')")
    return found


async def same_as_told(page: Page, publisher: Publisher) -> None:
    """Every view shows what a page shows that was just opened, and cards what the
    service says.
    """
    games = await fetch_games(publisher)
    shown = await read_views(page, games)
    async with tab(page.address) as fresh:
        await fresh.open(publisher.url)
        await settled(fresh, publisher)
        assert shown == await read_views(fresh, games)
    for each in games:
        last, (figure, *_) = each["plies"][-1], each["curves"]["white"][-1:] or [None]
        rated = [str(int(figure["perceived"] + 0.5))] if figure else []
        san = last["san"].replace("O-", "O-\u2060")
        move = f"{(last['ply'] + 1) // 2}{'.' if last['ply'] % 2 else '…'}\u00a0{san}"
        assert {move, *rated} <= {
            text.removeprefix("~") for text in shown["layout=cards"]
        }
        assert any(
            text.startswith(each["white"]["name"]) for text in shown["layout=cards"]
        )


#: A line that can be cut: every connection ends, and new ones lead nowhere while it is
#: dead.
LINE = """
  self.dead = false;
  const sockets = [];
  self.WebSocket = class extends WebSocket {
    constructor(url) {
      super(self.dead ? new URL("/nowhere", url) : url);
      sockets.push(this);
    }
  };
  self.cut = () => { self.dead = true; for (const each of sockets) each.close(); };
"""


async def test_it_shows_what_the_service_says_after_takebacks_a_cut_and_a_restart(
    page: Page,
) -> None:
    async with on_air(boards=12, plies=16) as (broadcast, publisher):
        await page.open()
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=LINE)
        await page.visit(publisher.url)
        await settled(page, publisher)
        broadcast.take_back(3, 5)
        broadcast.play(2)
        broadcast.play(3, board=7)
        await settled(page, publisher)
        await same_as_told(page, publisher)
        await page.run("self.cut()")
        await page.until("document.body.classList.contains('stale')")
        broadcast.play(2)
        broadcast.take_back(1, 7)
        broadcast.end(2, "1/2-1/2")
        await page.run("self.dead = false")
        await page.until("!document.body.classList.contains('stale')")
        await settled(page, publisher)
        await same_as_told(page, publisher)
        # It came back with what it held: nothing was sent twice.
        host, port = publisher.address
        async with httpx.AsyncClient(trust_env=False) as client:
            metrics = (await client.get(f"http://{host}:{port}/metrics")).text
        assert "live_rate_resumes_total 1.0" in metrics
        port = publisher.address[1]
    # Another run of the service.
    await page.until("document.body.classList.contains('stale')")
    broadcast.listener = lambda changes: None
    broadcast.play(1)
    broadcast.take_back(5, 2)
    async with Publisher(ServerConfig(port=port), broadcast.state) as publisher:
        broadcast.listener = publisher.audiences.publish
        await page.until("!document.body.classList.contains('stale')")
        broadcast.play(1)
        await settled(page, publisher)
        await same_as_told(page, publisher)
    # Who tried again while the line was cut was sent to where nothing is.
    own = re.compile("ERR_|WebSocket|/nowhere")
    refused = [each for each in page.complaints if not own.search(each)]
    assert refused == []


@pytest.mark.whole
async def test_hostile_text_stays_text(page: Page) -> None:
    world = hostile_world()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open("about:blank")
        # Violations are gathered in the page itself, too.
        await page.call(
            "Page.addScriptToEvaluateOnNewDocument",
            source="self.violations = []; "
            "document.addEventListener('securitypolicyviolation',"
            " (event) => self.violations.push(event.violatedDirective));",
        )
        await page.call("Page.navigate", url=publisher.url + "#layout=cards")
        await settled(page, publisher)
        # Names are cut as names are; whole they are the text of a title.
        names = (
            "[...document.querySelectorAll('.card .name')].map((name) => name.title)"
        )
        for title in await page.run(names):
            assert title.startswith(HOSTILE)
        for selector in ("#event", ".headline .sentence"):
            text = await page.run(f"document.querySelector('{selector}').textContent")
            assert text == HOSTILE
        await go(page, "view=players", "#players .name")
        assert (
            await page.run("document.querySelector('#players tbody a').title")
            == HOSTILE
        )
        await go(page, "game=g1", ".board-view .turns .san")
        assert await page.run("document.querySelector('.watch').hidden")
        await page.run("document.querySelector('.experts').open = true")
        await page.until("document.querySelector('.experts .plot canvas')")
        # Nothing became an element: no picture, and the one script is ours.
        assert await page.run("document.querySelectorAll('img').length") == 0
        assert await page.run("document.scripts.length") == 1
        assert not (await page.run("document.title")).startswith("owned")
        assert await page.run("self.violations") == []
        assert page.complaints == []


@pytest.mark.whole
async def test_one_board_is_stepped_through_and_its_address_says_where(
    page: Page,
) -> None:
    async with on_air(boards=4, plies=20) as (broadcast, publisher):
        await page.open(publisher.url)
        await settled(page, publisher)
        second = (await fetch_games(publisher))[1]["id"]
        # By keyboard from the overview into the second board.
        await page.run("document.querySelector('.card .open').focus()")
        await page.press("Tab")
        await page.press("Enter")
        await page.until("document.querySelector('.board-view .turns li')")
        assert await page.run("location.hash") == f"#game={second}"
        await page.until("document.querySelector('.player-line .clock.running')")
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
        # Whoever looks back is left where they look, and sees no clock run.
        broadcast.play(2)
        await settled(page, publisher)
        assert await page.run(NOW) == before
        assert not await page.run(
            "document.querySelector('.player-line .clock.running')"
        )
        # Those who do not look hear the newest move.
        await page.until(
            "document.querySelector('#spoken').textContent.startsWith('11…')"
        )
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
        await page.until(f"location.hash === '#game={second}&ply=0&flip=1'")
        # The very address, opened anew, shows the same position, and nothing of later
        # plies until somebody goes on.
        address = await page.run("location.href")
        shows = await page.run(f"{SEEN}('.board-body')")
        await page.call("Page.navigate", url="about:blank")
        await page.call("Page.navigate", url=address)
        await page.until(
            "document.querySelectorAll('.big-board [data-piece]').length === 32"
        )
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
        await page.press("Escape")
        await page.until("!document.querySelector('.overview').hidden")
        assert page.complaints == []


#: In how many columns of the curves a light core lies between dark rims, and in how
#: many a dark line goes from top to bottom.
DRAWN = """(() => {
  const canvas = document.querySelector(".curves-chart canvas");
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const dark = (x, y) => {
    const at = 4 * (y * width + x);
    return (1 - data[at] / 255) * data[at + 3];
  };
  let [hollow, lines] = [0, 0];
  for (let x = 60; x < width - 60; x += 1) {
    const found = Array.from({ length: height - 60 }, (_, at) => dark(x, at + 20));
    if (found.filter((each) => each > 120).length > 0.95 * found.length) lines += 1;
    if (found.some((rim, y) => rim > 120 && Math.min(found[y + 1], found[y + 2]) < 60
      && Math.max(found[y + 2], found[y + 3]) > 120)) hollow += 1;
  }
  return [hollow, lines];
})()"""


@pytest.mark.whole
async def test_whites_curve_is_hollow_and_a_line_shows_where_the_board_stands(
    page: Page,
) -> None:
    async with on_air(boards=1, plies=60) as (_, publisher):
        await page.open(f"{publisher.url}#game=board1&ply=41", 1400, 900)
        await page.until("document.querySelector('.curves-chart canvas')")
        await page.until(f"{DRAWN}[0] > 150")
        await page.until(f"{DRAWN}[1] === 1")


@pytest.mark.whole
async def test_files_hold_what_is_seen(page: Page) -> None:
    async with on_air(boards=3, plies=12) as (_, publisher):
        await page.open(publisher.url + "#q=board+2")
        await settled(page, publisher)
        games = await fetch_games(publisher)
        # What a page hands over is caught on its way to the disk.
        await page.run(
            "URL.createObjectURL = (blob) => { self.saved = blob.text(); return '#'; };"
            " self.save = async (label, view) => {"
            " self.saved = null;"
            " const made = [...document.querySelectorAll(`.${view} "
            ".take-along button`)];"
            " made.find((each) => each.textContent === label).click();"
            " while (self.saved === null) await new Promise(requestAnimationFrame);"
            " return self.saved; }"
        )
        overview = {
            label: await page.run(f"self.save('{label}', 'overview')")
            for label in ("JSON", "PGN")
        }
        # What messages leave out is written.
        (whole,) = msgspec.json.decode(overview["JSON"])
        assert whole == plain(msgspec.convert(games[1], GameDetail))
        assert overview["PGN"].count("[White ") == 1
        assert games[1]["white"]["name"] in overview["PGN"]
        await go(page, f"game={games[0]['id']}", ".board-view .turns li")
        assert (await page.run("self.save('Image', 'board-view')"))[1:4] == "PNG"
        assert [each for each in page.complaints if "blob" not in each] == []


@pytest.mark.whole
async def test_it_is_accessible_on_every_screen(page: Page) -> None:
    async with on_air(boards=8, plies=30) as (broadcast, publisher):
        broadcast.end(2, "1-0")
        await page.open(publisher.url)
        await settled(page, publisher)
        name = (await fetch_games(publisher))[0]["id"]
        turned = moment(name, 7, "It turned.", at_s=1.0)
        less = moment(name, 7, "A little.", at_s=2.0)
        less = msgspec.structs.replace(less, id="n", weight=0.2)
        publisher.audiences.publish(
            [MomentMessage(name, each) for each in (turned, less)]
        )
        # Moments are open from the start. The weightiest is the headline, and stands
        # there alone.
        await page.until("document.querySelector('.moments li')?.checkVisibility()")
        assert await page.run("document.querySelectorAll('.moments li').length") == 1
        said = await page.run("document.querySelector('.headline').innerText")
        assert " ".join(said.split()) == "Round 4 · 2 May 2026 · live It turned."
        assert "ply=7" in await page.run("document.querySelector('.headline a').hash")
        assert (
            await page.run("document.querySelector('#event').textContent")
            == "Harbour Open"
        )
        await page.call("Runtime.evaluate", expression=AXE.read_text(encoding="utf-8"))
        found = []
        for width, height, scheme in ((1440, 900, "dark"), (390, 844, "light")):
            await page.emulate(width, height, scheme=scheme)
            for fragment, ready in (
                ("layout=cards&q=board+1", ".card"),
                ("layout=table", ".dense .card"),
                (f"game={name}&ply=7", ".board-view .turns li"),
                ("view=players", "#players tbody tr"),
                ("view=health", ".health-view tbody tr"),
                ("player=fide-9000000", ".player-view .card"),
            ):
                await go(page, fragment, ready)
                serious = await page.run(
                    "axe.run({ resultTypes: "
                    "['violations'] }).then(({ violations }) => violations"
                    ".filter(({ id }) => id !== 'page-has-heading-one')"
                    ".map(({ id, nodes }) => [id, nodes.map(({ html }) => html)[0]]))"
                )
                found += [(scheme, fragment, *each) for each in serious]
                found += [
                    (scheme, fragment, "small", each) for each in await page.run(SMALL)
                ]
            # Charts take their new size a frame later.
            await page.until("document.documentElement.scrollWidth <= innerWidth")
        assert found == [], "\n".join(map(str, found))
        # A board is two screens of a phone at most.
        await go(page, f"game={name}", ".curves-chart canvas")
        await page.until("document.documentElement.scrollHeight <= 2 * innerHeight")
        await page.run("document.querySelector('#meaning').click()")
        serious = await page.run(
            "axe.run('dialog', { resultTypes: ['violations'] })"
            ".then(({ violations }) => violations.map(({ id }) => id))"
        )
        assert serious == []
        assert page.complaints == []


#: Words of a card: whatever holds a letter, a move too.
WORDS = """[...document.querySelectorAll('.card')]
  .map((card) => card.innerText.split(/\\s+/u))
  .map((words) => words.filter((word) => /\\p{L}/u.test(word)))
  .filter((words) => words.length > 12)"""
#: What need not be read: controls that are off, and what only screen readers say.
EXEMPT = ":disabled, .big-board, .over-board, .hidden, .skip"


@pytest.mark.whole
async def test_cards_say_it_in_few_words_and_a_phone_shows_three(page: Page) -> None:
    async with on_air(boards=10, plies=44) as (broadcast, publisher):
        broadcast.end(2, "1-0")
        await page.open(publisher.url, 390, 844)
        await settled(page, publisher)
        name = (await fetch_games(publisher))[0]["id"]
        text = "Rozenbergs (2540) falls from 87 % to 33 % with 11. Ka1. Best was a4."
        publisher.audiences.publish(
            [MomentMessage(name, moment(name, 7, text, at_s=1.0))]
        )
        await page.until("document.querySelector('.headline a').checkVisibility()")
        assert await page.run(WORDS) == []
        box = "document.querySelectorAll('.card')[%d].getBoundingClientRect()"
        assert await page.run(f"{box % 0}.top") <= 260
        assert await page.run(f"{box % 2}.bottom") <= 844
        # The winner is told from the loser without a colour.
        weight = (
            'getComputedStyle(document.querySelector(\'[data-points="%s"] '
            ".name')).fontWeight"
        )
        assert (
            await page.run(weight % 1) == "800" and await page.run(weight % 0) == "500"
        )
        points = (
            "[...document.querySelectorAll('.over .points-box')].map((n) => "
            "n.textContent)"
        )
        assert await page.run(points) == ["0", "1"]
        # What is unusual says by how much, with a sign, and nothing else does.
        signs = """[...document.querySelectorAll('.card .side')].map((side) => {
          const distance = side.querySelector('.distance').textContent;
          return [side.dataset.how, distance[0] ?? ""].join();
        })"""
        found = set(await page.run(signs))
        assert (
            found <= {"below,\u25bc", "above,\u25b2", "within,", ","} and len(found) > 1
        )
        for scheme in ("dark", "light"):
            await page.emulate(1400, 900, scheme=scheme)
            for fragment, ready in (
                ("layout=cards", ".card"),
                (f"game={name}", ".board-view .turns li"),
                ("view=players", "#players tbody tr"),
            ):
                await go(page, fragment, ready)
                faint = await page.run(find_faint_texts("body", EXEMPT))
                assert faint == [], (scheme, fragment)
        # The first screen of a board has its curves; the score's moves stand below the
        # curves'.
        for width, height in ((1400, 900), (1024, 768), (390, 844)):
            await page.resize(width, height)
            await go(page, f"game={name}", ".curves-chart canvas")
            plot = "document.querySelector('.%s-chart .u-over').getBoundingClientRect()"
            await page.until(f"{plot % 'curves'}.right < innerWidth")
            await page.until(f"{plot % 'curves'}.bottom <= innerHeight")
            await page.until(f"{plot % 'curves'}.left === {plot % 'score'}.left")
            await page.until(f"{plot % 'curves'}.right === {plot % 'score'}.right")
        assert page.complaints == []


@pytest.mark.whole
async def test_the_page_speaks_the_language_that_its_address_names(page: Page) -> None:
    async with on_air(boards=2, plies=20) as (_, publisher):
        for code, name, piece, sources in (
            ("de", "Bretter", "S", "Quellen"),
            ("ru", "Доски", "К", "Источники"),
            ("en", "Boards", "N", "Sources"),
        ):
            await page.open(f"{publisher.url}?lang={code}", 390, 844)
            await page.until("document.querySelector('.card')")
            assert await page.run("document.documentElement.lang") == code
            assert await page.run("document.querySelector('nav a').textContent") == name
            # Nothing is wider than the screen, however long its words.
            await page.until("document.documentElement.scrollWidth <= innerWidth")
            await go(page, "game=board1", ".board-view .turns li")
            assert f"{piece}f3" in await page.run(
                "document.querySelector('.turns').innerText"
            )
            await page.until("document.documentElement.scrollWidth <= innerWidth")
            await go(page, "view=health", ".health-view td")
            assert (
                await page.run("document.querySelector('.health-view h2').textContent")
                == sources
            )
            await page.until("document.documentElement.scrollWidth <= innerWidth")
            assert page.complaints == []


#: What is no word of the page: names of keys, formats and of what is followed.
KEY_NAMES = {"Home", "End", "Enter", "Esc"}
PROPER_NAMES = {"live", "rate", "Harbour", "Open", "Stockfish", "lite", "hall", "gate"}
NOT_OURS = {"nodes"} | KEY_NAMES | PROPER_NAMES


ENGLISH = re.compile(r"(?<!\w)[A-Za-z][a-z]{2,}(?!\w)")


async def english(page: Page) -> set[str]:
    """What a screen reader says with English words: names, descriptions and values."""
    tree = await page.call("Accessibility.getFullAXTree")
    texts: set[str] = set()
    for node in tree["nodes"]:
        for part in ("name", "description", "value"):
            texts.add(str(node.get(part, {}).get("value", "")))
    return {text for text in texts if set(ENGLISH.findall(text)) - NOT_OURS}


@pytest.mark.whole
async def test_nothing_of_the_page_stays_english(page: Page, tmp_path: Path) -> None:
    secret, tokens = token_file(tmp_path, arbiter=True)
    broadcast = Broadcast(4, ("Грищенков, Александр", "Новак, Ян", "Орлова, Мара"))
    broadcast.play(30)
    broadcast.end(2, "1-0")
    world = standing_still(broadcast)
    name, other = list(world.held)[:2]
    world.feed_health = (FeedHealth("hall", "retrying"), FeedHealth("gate", "waiting"))
    world.held[other] = msgspec.structs.replace(
        world.held[other], restored=True, also=("gate",), url="https://x.example/"
    )
    world.told["m"] = moment(name, 7, "Перелом.", at_s=1.0)
    about: dict[str, Any] = {
        "game": name,
        "first_seen_s": 1.0,
        "text": "Часы",
        "advice": "Часы",
    }
    agreement = Agreement(40, 0.8, 0.5, 3.2, 56, 0.03, "402.")
    world.raised["a"] = Alert(
        id="a", kind="agreement", severity="look", agreement=agreement, **about
    )
    log = IncidentLog()
    log.add_entry("Свет погас.", 1.0)
    config = ServerConfig(port=0, public=True, tokens_file=tokens)
    found = set()
    async with Publisher(config, world, incidents=log.incidents) as publisher:
        for query in ("", f"&token={secret}"):
            await page.open()
            await page.visit(f"{publisher.url}?lang=ru{query}")
            await settled(page, publisher)
            for fragment, ready in (
                ("layout=cards", ".card"),
                ("layout=table", ".dense .card"),
                ("q=никто", ".overview > .note"),
                (f"game={name}", ".board-view .turns li"),
                (f"game={other}&ply=7", ".board-view .turns li"),
                ("game=9", ".board-view > .note"),
                ("view=players", "#players tbody tr"),
                ("player=fide-9000000", ".player-view .card"),
                ("player=никто", ".player-view > .note"),
                ("view=health", ".health-view tbody tr"),
                *((("view=arbiter", ".incidents td"),) if query else ()),
            ):
                await go(page, fragment, ready)
                await page.run(
                    "document.querySelectorAll('details').forEach((each) => "
                    "(each.open = true))"
                )
                # Whom somebody follows is marked.
                await page.run(
                    "document.querySelector('.star[aria-pressed=false]')?.click()"
                )
                found |= await english(page)
        for button in ("#meaning", "#keys"):
            await page.run(f"document.querySelector({button!r}).click()")
            found |= await english(page)
    world.held.clear()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open(f"{publisher.url}?lang=ru")
        await page.until("document.querySelector('.empty-state')?.checkVisibility()")
        found |= await english(page)
    assert found == set(), "\n".join(found)


@pytest.mark.whole
async def test_figures_count_where_people_like_motion_and_jump_elsewhere(
    page: Page,
) -> None:
    async with on_air(boards=1, plies=2) as (_, publisher):
        await page.open(publisher.url)
        count = """(async () => {
          const { countTo } = await import("/static/drawing/motion.js");
          const node = document.createElement("b");
          node.textContent = "2400";
          document.body.append(node);
          const seen = new Set();
          new MutationObserver(() => seen.add(node.textContent))
            .observe(node, { childList: true, characterData: true, subtree: true });
          countTo(node, "2500");
          while (node.textContent !== "2500") await new Promise(requestAnimationFrame);
          await new Promise(requestAnimationFrame);
          return [...seen];
        })()"""
        assert await page.run(count) == ["2500"]
        await page.emulate(800, 600, motion="no-preference")
        seen = await page.run(count)
        assert len(seen) > 1 and seen == sorted(seen) and seen[-1] == "2500"


@pytest.mark.whole
async def test_before_the_first_game_it_says_what_is_followed_and_how_that_does(
    page: Page,
) -> None:
    world = World(15)
    world.held.clear()
    world.feed_health = (
        FeedHealth("https://hall.example/round", "retrying", "again in 8 s"),
    )
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open(publisher.url)
        await page.until("document.querySelector('.empty-state')?.checkVisibility()")
        said = await page.run("document.querySelector('.empty-state').innerText")
        # Where its sources are is nothing for the public.
        assert "No game yet" in said and "lost, trying again" in said
        assert "hall.example" not in said and "again in 8 s" not in said
        # It is said once.
        assert not await page.run("document.querySelector('#health').checkVisibility()")
        sign = "document.querySelector('.empty-state li i').dataset.state"
        assert await page.run(sign) == "retrying"
        assert not await page.run(
            "document.querySelector('.toolbar').checkVisibility()"
        )
        manifest = await page.run(
            "fetch(document.querySelector('link[rel=manifest]').href).then((each) => "
            "each.json())"
        )
        assert manifest["name"] == "live-rate"
        assert page.complaints == []


@pytest.mark.whole
async def test_players_and_health_say_what_is_withheld(page: Page) -> None:
    def main(view: str) -> str:
        return f"document.querySelector('.{view}-view')?.innerText"

    async with on_air(boards=2, plies=20, hide_scores=True) as (_, publisher):
        await page.open(f"{publisher.url}#view=players")
        await page.until(f"{main('players')}.includes('withheld here')")
        said = await page.run(main("players"))
        assert not [
            wrong for wrong in ("Nothing here yet", "Better than") if wrong in said
        ]
        await go(page, "#view=health", ".health-view tbody")
        cells = "[...document.querySelectorAll('tbody td')].map((td) => td.innerText)"
        await page.until(f"{cells}.includes('not shown here')")
        assert "0" not in await page.run(cells)
        assert page.complaints == []


@pytest.mark.whole
async def test_screening_figures_are_for_arbiters_alone(
    page: Page, tmp_path: Path
) -> None:
    secret, tokens = token_file(tmp_path, arbiter=True)
    world = World(15)
    world.held["g1"] = game()
    agreement = Agreement(40, 0.8, 0.5, 3.2, 56, 0.03, "402 honest player-games.")
    about: dict[str, Any] = {"game": "g1", "first_seen_s": 1.0, "agreement": agreement}
    world.raised["a"] = Alert(
        id="a",
        kind="agreement",
        severity="look",
        text="Anna agrees",
        advice="look",
        **about,
    )
    config = ServerConfig(port=0, public=True, tokens_file=tokens)
    asked = asyncio.Queue[tuple[DeskCommand, str]]()

    def desk(command: DeskCommand, by: str) -> None:
        asked.put_nowait((command, by))

    log = IncidentLog()
    log.add_entry(f"Source http://127.0.0.1:8470/{'broadcast' * 9} is followed.", 1.0)
    log.add_entry("The lights went out.", 2.0)

    async with Publisher(
        config, world, desk=desk, incidents=log.incidents
    ) as publisher:
        for query, sees in (("", False), (f"?token={secret}", True)):
            await page.open()
            await page.visit(f"{publisher.url}{query}#view=arbiter")
            await page.until("document.querySelector('#main')?.dataset.seq")
            await page.until(
                f"document.querySelectorAll('.alerts li').length === {int(sees)}"
            )
            tab = "document.querySelector('nav a[data-view=arbiter]').hidden"
            assert await page.run(tab) is not sees
            if sees:
                await page.until("document.querySelector('.incidents td')")
            text = await page.run("document.body.innerText")
            for said in ("Anna agrees", "It accuses nobody", "is followed"):
                assert (said in text) is sees
            await go(page, "", ".card")
            assert (
                await page.run("document.querySelectorAll('.card.alerting').length")
                == sees
            )
        # On a phone, too, all of an alert is in its place, however long its words.
        await page.emulate(340, 844)
        await page.visit(f"{publisher.url}?lang=ru&token={secret}#view=arbiter")
        await page.until("document.querySelector('.alerts .desk')?.checkVisibility()")
        right = "document.querySelector('%s').getBoundingClientRect().right"
        assert await page.run(right % ".alerts li") <= await page.run(
            right % ".arbiter-view"
        )
        await page.visit(f"{publisher.url}?token={secret}#view=arbiter")
        await page.until("document.querySelector('.incidents td')")
        # What is signed: from the beginning, with a head; on the screen the newest
        # comes first.
        shown = """(() => { dispatchEvent(new Event("%s"));
          const printed = ".incidents td:first-child, .incident-log .printed";
          return [...document.querySelectorAll(printed)]
            .map((each) => each.textContent).join("|"); })()"""
        head, *numbers, blanks = (await page.run(shown % "beforeprint")).split("|")
        assert "Open" in head and re.search(r"as of .*(GMT|UTC|[A-Z]{3,4})", head)
        assert head.endswith("Incidents: 2, open: 0")
        assert numbers == ["1", "2"] and "Hall: ___" in blanks
        assert (await page.run(shown % "afterprint")).split("|")[1:3] == ["2", "1"]
        # The same desk as the terminal's: an arbiter acts here too.
        await go(page, "view=arbiter", ".alerts .desk")
        for button, words, command in (
            ("Acknowledge", None, DeskCommand("acknowledge", "a")),
            ("This board", None, DeskCommand("mute-board", "g1")),
            ("Note", "phoned", DeskCommand("note", "a", "phoned")),
            ("Write", "disputed", DeskCommand("enter", text="disputed")),
        ):
            await page.run(
                f"""[...document.querySelectorAll('.arbiter-view button')]
                  .filter((each) => each.textContent === '{button}')
                  .forEach((each) => {{
                    if (each.form) each.form.elements[0].value = '{words}';
                    each.click(); }})"""
            )
            assert await asyncio.wait_for(asked.get(), 60) == (command, "arbiter")
        assert "token" not in await page.run(
            """import("/static/page/page_address.js").then(({ shareAddress, HOME }) =>
                 shareAddress(location.href, HOME))"""
        )
        await page.visit(f"{publisher.url}overlays?token={secret}")
        await page.until(
            "self.delayed?.textContent.includes('arb') && "
            "!address.value.includes('token')"
        )
        assert page.complaints == []


#: Names that no list of players holds, in several scripts, one of 33 letters, one word
#: of 40, two brothers.
NAMES = (
    "Nepomukov, Ignatius Alexandrovich",
    "Bartholdy-Featherstone, Max",
    "سلمان الفرزدقي",
    "Грищенков, Александр",
    "Li Wu",
    "Wolkenschlegelsteinhausenbergerdorfwalde",
    "Fiorelli, Fabian",
    "Fiorelli, Federico",
)


@pytest.mark.whole
async def test_figures_are_in_sight_on_a_phone_and_names_are_not_cut(
    page: Page,
) -> None:
    async with on_air(boards=20, names=NAMES, plies=30) as (broadcast, publisher):
        first = next(iter(broadcast.state.games())).id
        await page.open(f"{publisher.url}#game={first}", 390, 844)
        line = ".player-line .figures :is(.rating, .interval)"
        await page.until(f"document.querySelector('{line}')?.textContent")
        for width, height in ((390, 844), (320, 640)):
            await page.resize(width, height)
            assert await page.run(f"{OUT_OF_SIGHT}('{line}')") == []
            board = "document.querySelector('.big-board').getBoundingClientRect()"
            assert await page.run(
                f"{board}.bottom <= innerHeight && {board}.right <= innerWidth"
            )
            assert await page.run(f"document.querySelectorAll('{line}').length") == 4
            await page.until("document.documentElement.scrollWidth <= innerWidth")

        # Names give way to what is beside them as the sport cuts them, also in a window
        # that is made larger or smaller; brothers stay two.
        await go(page, "layout=cards", ".card")
        for width, height in ((1920, 1080), (390, 844), (768, 1024)):
            await page.resize(width, height)
            await page.until(f"!{CUT_NAMES}.length")
            shown = await page.run(
                "[...document.querySelectorAll('.card .name')].map((node) => "
                "node.textContent)"
            )
            brothers = {name[10:12] for name in shown if name.startswith("Fiorelli")}
            assert brothers == {"Fa", "Fe"}
        await go(page, "layout=cards", ".card")
        # A wall is the overlay of all boards.
        await page.visit(f"{publisher.url}?view=wall")
        with pytest.raises(AssertionError, match="navigated"):
            await page.run("new Promise(() => {})")  # until the page gives way to it
        await page.until(
            "document.querySelectorAll('.layout-grid .cell').length === 12"
        )
        ground = "getComputedStyle(document.body).backgroundColor"
        assert await page.run(ground) == "rgb(15, 20, 26)"
        assert page.complaints == []


#: Letters of names on cards that are smaller than can be read, pixels.
TINY_NAMES = """[...document.querySelectorAll('.card .name .family')]
  .map((node) => parseFloat(getComputedStyle(node).fontSize))
  .filter((size) => size < 10.5)"""


@pytest.mark.whole
async def test_long_names_and_many_boards_keep_one_row_of_keys_and_all_curves(
    page: Page, tmp_path: Path
) -> None:
    broadcast = Broadcast(28, LONG_NAMES)
    broadcast.play(30)
    world = standing_still(broadcast, extreme=True)
    first = next(iter(world.held.values()))
    world.raised["a"] = Alert(
        id="a",
        kind="flag",
        severity="alarm",
        game=first.id,
        text="Flag",
        advice="Look.",
        first_seen_s=1.0,
    )
    secret, tokens = token_file(tmp_path, arbiter=True)
    config = ServerConfig(port=0, public=True, tokens_file=tokens)
    row = "document.querySelector('.top nav').offsetHeight"
    async with Publisher(config, world) as publisher:
        for language in ("en", "de", "fr", "es", "it", "ru"):
            await page.open()
            await page.visit(f"{publisher.url}?token={secret}&lang={language}")
            await page.until(
                "document.querySelectorAll('.dense .card .spark').length === 28"
            )
            assert (
                await page.run("document.querySelector('#alerts').textContent")
                == "!!\xa01"
            )
            for width, height in ((1400, 900), (1024, 768), (390, 844)):
                await page.resize(width, height)
                await page.until("document.documentElement.scrollWidth <= innerWidth")
                assert await page.run(row) < 40, (language, width)
                # No tab lies below what is beside the tabs.
                end = (
                    "document.querySelector('nav "
                    "a:last-child').getBoundingClientRect().right"
                )
                beside = (
                    "document.querySelector('#meaning').getBoundingClientRect().left"
                )
                assert await page.run(f"{end} <= {beside}"), (language, width)
                if width > 1000:
                    high = "document.querySelector('.top').offsetHeight"
                    assert await page.run(high) < 44, (language, width)
                await page.until(f"!{TINY_NAMES}.length && !{CUT_NAMES}.length")
                spark = (
                    "document.querySelector('.card "
                    ".spark').getBoundingClientRect().width"
                )
                assert await page.run(spark) > 50
            # The table of players has all that counts in sight on a phone.
            await go(page, "view=players", "#players tbody tr")
            scroll = "document.querySelector('.players-view .scroll')"
            assert await page.run(f"{scroll}.scrollWidth <= {scroll}.clientWidth"), (
                language
            )
        assert page.complaints == []


@pytest.mark.whole
async def test_a_round_is_picked_and_players_are_followed(page: Page) -> None:
    world = World(15)
    anna, bea = Player("Anna Ek", elo=2100, fide_id=77), Player("Bea Lund", elo=2000)
    for name, round, board, result, white in (
        ("a1", "1.1", 1, "1-0", bea),
        ("a2", "1.2", 2, "0-1", anna),
        ("b1", "2.1", 1, "*", bea),
        ("b2", "2.2", 2, "*", anna),
    ):
        world.held[name] = game(
            name,
            round=round,
            board=board,
            result=result,
            white=white,
            date=f"2026.05.0{round[0]}",
        )
    cards = "document.querySelectorAll('.overview .card .open')"
    shown = f"[...{cards}].map((each) => each.hash.slice(6)).join()"
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open(publisher.url)
        await page.until(f"{shown} === 'b1,b2'")
        picker = "document.querySelector('.round-picker')"
        assert await page.run(
            f"[...{picker}.options].map((each) => each.textContent)"
        ) == [
            "Newest: Round 2",
            "Round 2 \u00b7 2 May 2026 \u00b7 live",
            "Round 1 \u00b7 1 May 2026 \u00b7 over",
            "All rounds",
        ]
        await page.run(
            f"{picker}.selectedIndex = 2; {picker}.dispatchEvent(new Event('change'))"
        )
        await page.until(f"{shown} === 'a1,a2'")
        # What is picked can be read, also on a phone; few boards are large.
        wide = f"""((picker) => {{
          const said = document.body.appendChild(document.createElement("span"));
          said.style.font = getComputedStyle(picker).font;
          said.textContent = picker.selectedOptions[0].textContent;
          const width = said.offsetWidth;
          said.remove();
          return picker.clientWidth > width;
        }})({picker})"""
        for width, least in ((390, 300), (1400, 600)):
            await page.resize(width, 844)
            await page.until(wide)
            assert await page.run("document.querySelector('.card').offsetWidth") > least
        await page.until("document.querySelector('.card .mini').width > 190")
        await page.until("location.hash.includes('round=1')")
        # Esc leads from a board back to the round that it was opened from, and so does
        # the link.
        await go(page, "game=a1", ".board-head .back")
        assert "round=1" in await page.run(
            "document.querySelector('.board-head .back').hash"
        )
        await page.press("Escape")
        await page.until(f"{shown} === 'a1,a2' && location.hash.includes('round=1')")

        # Who is followed comes first, also after the page was loaded anew, and has a
        # link.
        star = ".player-line.white .star"
        await go(page, "game=b2", star)
        await page.run(f"document.querySelector('{star}').click()")
        await page.until(
            f"document.querySelector('{star}').matches('[aria-pressed=true]')"
        )
        await page.run("location.hash = ''")
        await page.until(f"{shown} === 'b2,b1'")
        await page.call("Page.reload")
        await page.until(f"document.querySelector('.card') && {shown} === 'b2,b1'")
        await page.run("location.hash = 'player=fide-77'")
        await page.until("document.querySelectorAll('.player-view .card').length === 2")
        name = "document.querySelector('.player-name .name').textContent"
        assert await page.run(name) == "Anna Ek"
        await page.run("location.hash = 'follow=fide-77,bea-lund'")
        await page.until(f"{shown} === 'b1,b2' && !location.hash.includes('follow')")

        assert page.complaints == []


@pytest.mark.whole
async def test_what_an_address_names_and_is_not_there_is_said(page: Page) -> None:
    shown = """[...document.querySelectorAll('main a, main button')]
      .filter((node) => node.checkVisibility()).map((node) => node.textContent)"""
    async with on_air(boards=2, plies=4) as (_, publisher):
        await page.open(f"{publisher.url}#game=nobody")
        await page.until("document.querySelector('.board-view .note')?.innerText")
        note = await page.run("document.querySelector('.board-view .note').innerText")
        assert note.startswith("Not here: nobody.")
        # Nothing else leads away: the only way is back to the boards.
        assert await page.run(shown) == ["\u2190 Boards"]
        await page.run("document.querySelector('.back').click()")
        await page.until("document.querySelectorAll('.card').length === 2")

        await page.open(f"{publisher.url}?game=nobody")
        title = "document.querySelector('.empty-state h2')?.innerText"
        await page.until(f"{title} === 'Not there yet: nobody'")
        assert await page.run(shown) == ["Health", "All boards"]
        all_boards = "document.querySelector('.empty-state a:last-child').href"
        assert await page.run(all_boards) == publisher.url


@pytest.mark.whole
async def test_a_view_that_could_not_be_loaded_is_tried_again(page: Page) -> None:
    async with on_air(boards=2, plies=4) as (_, publisher):
        await page.open(publisher.url)
        await page.until("document.querySelectorAll('.card').length === 2")
        await page.call("Network.enable")
        await page.call("Network.setBlockedURLs", urls=["*board_view.js*"])
        await page.run("location.hash = document.querySelector('.card .open').hash")
        said = "document.querySelector('#toast').textContent"
        await page.until(f"{said}.startsWith('This view could not be loaded')")
        await page.call("Network.setBlockedURLs", urls=[])
        with pytest.raises(AssertionError, match="navigated"):
            await page.run("new Promise(() => {})")  # until the page is opened anew
        await page.until("document.querySelector('.board-view .turns li')")
