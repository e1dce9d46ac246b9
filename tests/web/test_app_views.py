"""The page at ``/`` on a phone, on a wall and in forced colours; rounds and followed players."""

from __future__ import annotations

import pytest

from live.config import ServerConfig
from live.events import Player
from live.publish.server import Publisher
from tests.publish.world import World
from tests.web.broadcast import on_air
from tests.web.chromium import Page
from tests.web.games import game

pytestmark = [pytest.mark.slow, pytest.mark.whole, pytest.mark.timeout(600)]

#: What of these does not lie within the screen, or is cut: text of each.
OUT_OF_SIGHT = """((selector) => [...document.querySelectorAll(selector)].filter((node) => {
  const { top, left, bottom, right } = node.getBoundingClientRect();
  const seen = top >= 0 && left >= 0 && bottom <= innerHeight + 1 && right <= innerWidth + 1;
  return !seen || bottom === top || node.scrollWidth > node.clientWidth + 1;
}).map((node) => node.className + ': ' + node.textContent))"""
#: Names that are cut by their boxes.
CUT_NAMES = """[...document.querySelectorAll('.card .name')].filter((node) => {
  const { offsetWidth, offsetHeight } = node.firstChild;
  return offsetWidth > node.clientWidth + 1 || offsetHeight > node.clientHeight + 2;
}).map((node) => node.textContent)"""
#: What figures are called on cards in two lines.
BROKEN = """[...document.querySelectorAll('.card .figure-name')].filter((node) =>
  node.offsetHeight > 2 * parseFloat(getComputedStyle(node).fontSize)
).map((node) => node.textContent)"""
#: What size observers watch, as ``watched``.
WATCHED = """
  globalThis.watched = new Set();
  globalThis.ResizeObserver = class extends ResizeObserver {
    observe(node) { watched.add(node); super.observe(node); }
    unobserve(node) { watched.delete(node); super.unobserve(node); }
  };
"""
#: Names that no list of players holds, in several scripts, one of 33 letters, one word of 40,
#: two brothers.
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


async def test_figures_are_in_sight_on_a_phone_and_on_a_wall(page: Page) -> None:
    async with on_air(boards=20, names=NAMES, plies=30) as (broadcast, publisher):
        first = next(iter(broadcast.state.games())).id
        await page.open(f"{publisher.url}#game={first}", 390, 844)
        line = ".player-line .figures :is(.rating, .interval)"
        await page.until(f"document.querySelector('{line}')?.textContent")
        for width, height in ((390, 844), (320, 568)):
            await page.resize(width, height)
            assert await page.run(f"{OUT_OF_SIGHT}('{line}')") == []
            board = "document.querySelector('.big-board').getBoundingClientRect()"
            assert await page.run(f"{board}.bottom <= innerHeight && {board}.right <= innerWidth")
            assert await page.run(f"document.querySelectorAll('{line}').length") == 4
            # Charts take their new size a frame later.
            await page.until("document.documentElement.scrollWidth <= innerWidth")

        # Names give way to what is beside them as the sport cuts them, also in a window that is
        # made larger or smaller; brothers stay two.
        await page.run("location.hash = 'layout=cards'")
        await page.until("document.querySelectorAll('.card').length === 20")
        for width, height in ((1920, 1080), (390, 844), (768, 1024)):
            await page.resize(width, height)
            await page.until(
                f"!!document.querySelector('.card')?.offsetParent && !{CUT_NAMES}.length"
            )
            shown = await page.run(
                "[...new Set([...document.querySelectorAll('.card .name')].map((node) =>"
                " node.textContent))].filter((name) => name.startsWith('Fior')).length"
            )
            assert shown == 2
        # A figure that rests on few moves is smaller than one that says something.
        assert await page.run(
            "[...document.querySelectorAll('.card .side')].every((side) => {"
            " const size = (early) => side.classList.toggle('early', early) === early &&"
            " parseFloat(getComputedStyle(side.querySelector('.rating')).fontSize);"
            " return size(true) < size(false); })"
        )
        # A clock that runs is bolder: each takes its turn.
        await page.resize(1400, 1000)
        broadcast.listener = publisher.publish
        for color in ("black", "white"):
            broadcast.play(1)
            running = f".card .side.{color} .clock.running"
            await page.until(f"document.querySelectorAll('{running}').length > 10")
            await page.until(f"!{CUT_NAMES}.length")
        # What a figure is and rests on has one line.
        for width in (1400, 390):
            await page.resize(width, 900)
            assert await page.run(BROKEN) == []

        # A wall of 20 boards is two pages of ten.
        await page.resize(3840, 2160)
        await page.visit(f"{publisher.url}?view=wall")
        await page.until("document.querySelectorAll('.wall-cell .interval').length === 20")
        assert await page.run("document.querySelector('.wall-head .page').textContent") in (
            "page 1 of 2",
            "page 2 of 2",
        )
        for width, height in ((3840, 2160), (1080, 1920)):
            await page.resize(width, height)
            await page.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            words = ":is(.rating, .interval, .figure-name, .name, .clock, .score)"
            assert await page.run(f"{OUT_OF_SIGHT}('.wall-cell {words}')") == []
            rating = "document.querySelector('.wall-cell .rating')"
            letters = f"parseFloat(getComputedStyle({rating}).fontSize)"
            assert await page.run(f"{letters} / Math.min(innerWidth, innerHeight)") > 0.03
        assert await page.run("document.querySelector('.top').offsetParent") is None
        await page.press("Escape")
        await page.until("document.querySelector('.overview .card')?.offsetParent")
        note = "document.querySelector('.token-entry')"
        assert await page.run(f"{note}.hidden")
        await page.visit(f"{publisher.url}?token=none")
        await page.until(f"{note}?.innerText.startsWith('This service knows no tokens')")
        assert page.complaints == []


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
            name, round=round, board=board, result=result, white=white, date=f"2026.05.0{round[0]}"
        )
    cards = "document.querySelectorAll('.overview .card .open')"
    shown = f"[...{cards}].map((each) => each.hash.slice(6)).join()"
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open(publisher.url)
        await page.until(f"{shown} === 'b1,b2'")
        picker = "document.querySelector('.round-picker')"
        assert await page.run(f"[...{picker}.options].map((each) => each.textContent)") == [
            "Newest: Round 2 \u00b7 2 May 2026 \u00b7 live",
            "Round 2 \u00b7 2 May 2026 \u00b7 live",
            "Round 1 \u00b7 1 May 2026 \u00b7 over",
            "All rounds",
        ]
        await page.run(f"{picker}.selectedIndex = 2; {picker}.dispatchEvent(new Event('change'))")
        await page.until(f"{shown} === 'a1,a2'")
        await page.until("location.hash.includes('round=1')")
        # Esc leads from a board back to the round that it was opened from, and so does the link.
        await page.run("location.hash = 'game=a1'")
        await page.until("document.querySelector('.board-head .back')?.offsetParent")
        assert "round=1" in await page.run("document.querySelector('.board-head .back').hash")
        await page.press("Escape")
        await page.until(f"{shown} === 'a1,a2' && location.hash.includes('round=1')")

        # Who is followed comes first, also after the page was loaded anew, and has a link.
        await page.run("location.hash = 'game=b2'")
        star = "document.querySelector('.player-line.white .star')"
        await page.until(f"{star}?.offsetParent")
        await page.run(f"{star}.click()")
        await page.until(f"{star}.getAttribute('aria-pressed') === 'true'")
        await page.run("location.hash = ''")
        await page.until(f"{shown} === 'b2,b1'")
        await page.call("Page.reload")
        await page.until(f"document.querySelector('.card') && {shown} === 'b2,b1'")
        await page.run("location.hash = 'player=fide-77'")
        await page.until("document.querySelectorAll('.player-view .card').length === 2")
        assert (
            await page.run("document.querySelector('.player-name .name').textContent") == "Anna Ek"
        )

        share = ".player-view .take-along"
        await page.run(f"document.querySelector('{share} summary').click()")
        copied = f"[...document.querySelectorAll('{share} button')].filter((each) => !each.hidden)"
        await page.until(f"{copied}.length === 2")
        assert await page.run(f"{copied}.map((each) => each.textContent)") == [
            "Copy link",
            "Copy link to followed \u2605",
        ]
        await page.run("location.hash = 'follow=fide-77,bea-lund'")
        await page.until(f"{shown} === 'b1,b2' && !location.hash.includes('follow')")

        # Forced colours: what is White's and what Black's can still be told apart.
        await page.emulate(1280, 900, forced=True)
        await page.run("location.hash = 'game=b2'")
        await page.until("document.querySelector('.curves-chart canvas')")
        for what in (".player-line{} .piece", ".rating-panel{} .rating"):
            colours = [
                await page.run(
                    "(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle("
                    f"document.querySelector('{what.format(side)}')))"
                )
                for side in (".white", ".black")
            ]
            assert colours[0] != colours[1], what
        assert page.complaints == []


async def test_a_view_that_could_not_be_loaded_is_tried_again(page: Page) -> None:
    async with on_air(boards=2, plies=4) as (_, publisher):
        await page.open(publisher.url)
        await page.until("document.querySelectorAll('.card').length === 2")
        await page.call("Network.enable")
        await page.call("Network.setBlockedURLs", urls=["*wall_view.js*"])
        await page.press("w")
        said = "document.querySelector('#toast').textContent"
        await page.until(f"{said}.startsWith('This view could not be loaded')")
        await page.call("Network.setBlockedURLs", urls=[])
        with pytest.raises(AssertionError, match="navigated"):
            await page.run("new Promise(() => {})")  # until the page is opened anew
        await page.until("document.querySelectorAll('.wall-cell').length === 2")
        # A key that has nothing to do here is left to the browser.
        left = "new KeyboardEvent('keydown', {key: '/', bubbles: true, cancelable: true})"
        assert await page.run(f"document.body.dispatchEvent({left})")
        await page.press("Escape")
        await page.until("document.querySelector('.overview .card')?.offsetParent")
        assert not await page.run(f"document.body.dispatchEvent({left})")


async def test_few_boards_fill_a_large_screen(page: Page) -> None:
    async with on_air(boards=8, plies=30) as (_, publisher):
        await page.open("about:blank", 3840, 2160)
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCHED)
        await page.visit(publisher.url)
        await page.until("document.querySelectorAll('.card .rating').length === 16")
        bottom = "document.querySelector('#boards').getBoundingClientRect().bottom / innerHeight"
        await page.until(f"{bottom} > 0.75")
        assert await page.run(bottom) <= 1
        await page.resize(1280, 900)
        await page.until("document.querySelector('#boards').style.zoom === '1'")
        assert not await page.run("document.documentElement.scrollWidth > innerWidth")
        # Lines of names are watched for their size while they are there, and no longer.
        lines = "[...watched].filter((node) => node.matches('.who'))"
        await page.until(f"{lines}.length === 16")
        await page.run("location.hash = 'layout=table'")
        await page.until(f"!document.querySelector('.card') && {lines}.length === 0")
