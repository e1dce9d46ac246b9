"""Overlays and their builder in a real browser, fed by the real server and the real
ledger.
"""

import asyncio
import contextlib
import itertools
import json
import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from live.catalogue import BY_ID, rank_players, read
from live.messages.figures import CurvePoint, GameDetail, PlayerView, PlyView
from live.messages.health import FeedHealth, FeedState
from live.messages.to_clients import MomentMessage, MoveMessage
from live.server.server import Publisher
from live.settings import ServerConfig
from tests.screens.web.broadcast import LONG_NAMES, Broadcast, on_air, standing_still
from tests.screens.web.chromium import Page, tab
from tests.screens.web.contrast import find_faint_texts
from tests.screens.web.games import HOSTILE, hostile_world, moment
from tests.server.serving import token_file

pytestmark = [pytest.mark.whole, pytest.mark.timeout(600)]

#: Each layout in the size that the builder gives it.
SIZES = {
    "board": (1920, 1080),
    "bar": (1920, 208),
    "curves": (1280, 720),
    "grid": (1920, 1080),
    "ticker": (1920, 116),
    "standings": (1280, 840),
    "table": (1104, 800),
    "player": (1104, 300),
    "duel": (1104, 620),
    "moment&sample=moment": (1104, 350),
}
DRAWN = "document.querySelector('#stage')?.dataset.seq"
STATUS = "document.querySelector('#status')"
#: The texts that are seen at a selector.
SHOWN = """((selector) => [...document.querySelectorAll(selector)]
  .filter((node) => node.checkVisibility()).map((node) => node.textContent))"""


async def show(page: Page, publisher: Publisher, query: str) -> None:
    await page.visit(f"{publisher.url}overlay?{query}")
    await page.until(
        f"document.readyState === 'complete' && location.search && {DRAWN}"
    )


def texts(selector: str) -> str:
    return (
        f"[...document.querySelectorAll({selector!r})].map((node) => node.textContent)"
    )


def titles(selector: str) -> str:
    """Names are cut where there is no room; whole they stand in the tooltip."""
    return f"[...document.querySelectorAll({selector!r})].map((node) => node.title)"


def written(view: CurvePoint | PlayerView) -> tuple[str, str]:
    """A figure and its band, as they must be shown."""
    found = read(BY_ID["perceived"], view)
    assert found.value is not None and found.low is not None and found.high is not None
    value, low, high = (int(elo + 0.5) for elo in (found.value, found.low, found.high))
    return str(value), f"{low}–{high}"


def board(broadcast: Broadcast, number: int) -> GameDetail:
    (view,) = [each for each in broadcast.state.games() if each.board == number]
    game = broadcast.state.game(view.id)
    assert game is not None
    return game


async def test_every_layout_shows_what_the_service_holds(page: Page) -> None:
    async with on_air(boards=14, plies=40) as (broadcast, publisher):
        await page.open("about:blank", 1280, 720)
        for layout in ("board", "bar", "curves"):
            await show(page, publisher, f"layout={layout}&board=7")
            broadcast.play(1, board=7)
            game = board(broadcast, 7)
            for color in ("white", "black"):
                player, at = getattr(game, color), f".player.{color}"
                value, band = written(getattr(game.curves, color)[-1])
                figure = f"document.querySelector('{at} .main .value').textContent"
                await page.until(f"{figure} === '{value}'")
                assert await page.run(titles(f"{at} .name")) == [player.name]
                said = await page.run(
                    texts(f"{at} :is(.title, .flag, .main .interval)")
                )
                # No line breaks at the dash; where there is little room it is not
                # there.
                usual = f"usual for {player.elo}: {band}".replace("–", "\u2060–\u2060")
                usual = usual if layout == "board" else ""
                assert said == [player.federation, player.title or "", usual]
        await page.until("document.querySelector('.curves canvas')")

        games = [board(broadcast, number) for number in range(1, 13)]
        await show(page, publisher, "layout=grid&boards=12&page=600")
        names, values = [], []
        for game in games:
            names += [game.black.name, game.white.name]
            black, white = game.curves.black[-1], game.curves.white[-1]
            values += [written(black)[0], written(white)[0]]
        assert await page.run(titles(".cell .name")) == names
        assert await page.run(texts(".cell .main .value")) == values
        # Nobody takes a figure for an Elo: each has its name.
        labels = await page.run(f"{SHOWN}('.cell .main .label')")
        assert labels == ["playing like"] * len(values)
        await show(page, publisher, "layout=ticker&page=600")
        first, second, *_ = games
        assert await page.run(titles(".item .name")) == [
            first.white.name,
            first.black.name,
            second.white.name,
            second.black.name,
        ]

        await show(page, publisher, "layout=standings&rows=5&page=600")
        ranked = rank_players(
            [each for each in broadcast.state.players() if each.moves]
        )[:5]
        assert await page.run(titles("tbody .name")) == [
            each.view.name for each in ranked
        ]
        assert await page.run(texts("tbody .rank")) == [
            each.place_text for each in ranked
        ]
        figures = [written(each.view)[0] for each in ranked]
        assert await page.run(texts("tbody td.figure")) == figures
        assert page.complaints == []


async def test_algorithm_4_is_the_figure_of_every_layout_on_demand(page: Page) -> None:
    async with on_air(boards=4, plies=40) as (broadcast, publisher):
        await page.open("about:blank", 1280, 720)
        rating = broadcast.state.engine().rating
        sides: list[CurvePoint | PlayerView] = [board(broadcast, 2).curves.white[-1]]
        sides += broadcast.state.players()
        values = [
            str(math.floor(rating + (each.difference or 0) + 0.5)) for each in sides
        ]
        for layout in list(SIZES)[:-1]:
            await show(
                page, publisher, f"layout={layout}&board=2&rating=algorithm4&page=600"
            )
            said = "document.querySelector('#stage').innerText"
            await page.until(
                f"{json.dumps(values)}.some((value) => {said}.includes(value))"
            )
            text = await page.run(said)
            assert "Algorithm 4" in text, layout
            assert "playing like" not in text and "better than" not in text, layout
        assert page.complaints == []


#: Letters of what can be read, pixels, the smallest of them.
SMALLEST = """Math.min(...[...document.querySelectorAll('#stage *')].filter((node) =>
  node.checkVisibility() && [...node.childNodes].some((each) => each.data?.trim())
).map((node) => parseFloat(getComputedStyle(node).fontSize)))"""


#: Whether boards of the grid are there without their pieces, looked at in every frame.
WATCH = """
  self.bare = 0;
  self.turned = new Set();
  const canvas = new OffscreenCanvas(96, 96);
  const scratch = canvas.getContext("2d", { willReadFrequently: true });
  const look = () => {
    for (const board of document.querySelectorAll(".cell canvas")) {
      scratch.clearRect(0, 0, 96, 96);
      scratch.drawImage(board, 0, 0, 96, 96);
      const { data } = scratch.getImageData(0, 0, 96, 96);
      if (new Set(new Uint32Array(data.buffer)).size < 8) self.bare += 1;
      self.turned.add(board.closest(".cell").querySelector(".name").title);
    }
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
"""


async def test_the_grid_turns_whole(page: Page) -> None:
    async with on_air(boards=12, plies=40) as (_, publisher):
        await page.open("about:blank")
        await page.resize(1920, 1080)
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        await show(page, publisher, "layout=grid&boards=6&page=2")
        await page.until("self.turned.size === 12")
        assert await page.run("self.bare") == 0


async def test_letters_are_large_enough(page: Page) -> None:
    async with on_air(boards=12, plies=40) as (_, publisher):
        await page.open("about:blank")
        for layout, size in list(SIZES.items())[:-1]:
            await page.resize(*size)
            await show(page, publisher, f"layout={layout}")
            await page.until("document.querySelector('.name')?.textContent")
            assert await page.run(SMALLEST) >= 24, layout
        # Upright they are as wide as the strip, in letters that can be read.
        for layout in ("standings", "table", "duel", "curves"):
            await page.resize(300, 900)
            await show(page, publisher, f"layout={layout}&board=1")
            await page.until("document.querySelector('.tall .name')?.textContent")
            assert (
                await page.run("document.querySelector('.tall').offsetWidth") > 270
            ), layout
            assert await page.run(SMALLEST) >= 10, layout
        # Standings stay as high on a last page that holds fewer.
        await page.resize(*SIZES["standings"])
        await show(page, publisher, "layout=standings&rows=10&page=2")
        high = "document.querySelector('.panel').offsetHeight"
        full = await page.run(high)
        await page.until("document.querySelectorAll('tbody tr').length === 4")
        assert await page.run(high) == full
        assert page.complaints == []


#: Grounds and texts of sponsors, and two themes.
PALETTES = (
    "theme=dark",
    "theme=light",
    "ground=ffd700ff&text=002855ff",
    "ground=e10600&text=fff",
    "ground=f4f0e6&text=1a1a1a&white=c00&black=0a7",
)


async def test_every_text_is_readable_on_every_palette(page: Page) -> None:
    broadcast = Broadcast(boards=8)
    broadcast.play(40)
    broadcast.end(2, "1-0")
    world = standing_still(broadcast)
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open("about:blank")
        for layout, size in SIZES.items():
            await page.resize(*size)
            sample = "" if "sample" in layout else "&sample=swing"
            for palette in PALETTES:
                await show(
                    page, publisher, f"layout={layout}{sample}&page=600&{palette}"
                )
                await page.until("document.querySelector('.name')?.textContent")
                faint = await page.run(find_faint_texts("#stage", "svg"))
                assert faint == [], (layout, palette)
        assert page.complaints == []


CUT = """[...document.querySelectorAll(
  '.move, .clock, .score, .place:not(.layout-board > .place), .name, .layout-duel td,'
  + '.ratings > .elo, thead th'
)].filter((node) => {
  const box = (each) => each.getBoundingClientRect();
  const [own, panel] = [box(node), box(node.closest('.panel'))];
  if (!node.offsetParent || !node.textContent) return false;
  if (own.right > panel.right || own.left < panel.left) return true;
  const { firstChild: text, clientWidth: width } = node;
  if (node.matches('.name'))
    return text.offsetWidth > width + 1 || text.offsetHeight > node.clientHeight + 2;
  if (!node.matches('.elo')) return node.scrollWidth > width + 1;
  const main = box(node.parentNode.firstChild);
  // In a grid the Elo is above the figure.
  if (own.bottom < main.top + 2) return false;
  const overlaps = own.left < main.right - 1 && own.right > main.left + 1;
  return own.top > main.bottom || overlaps;
}).map((node) => `${node.className} ${node.textContent}`)"""


#: What of a figure is written over more than two lines.
BROKEN = """[...document.querySelectorAll('.main *, th.label')].filter((node) =>
  node.offsetParent && node.textContent && !node.children.length &&
    node.offsetHeight > 2.5 * parseFloat(getComputedStyle(node).lineHeight)
).map((node) => node.textContent)"""


#: Texts of which a part lies outside of the page, of their panel, or of what hides
#: their rest. Round, board and event may end early.
OUTSIDE = """(() => {
  const stage = document.querySelector("#stage");
  const walker = document.createTreeWalker(stage, NodeFilter.SHOW_TEXT);
  const outside = [];
  while (walker.nextNode()) {
    const { currentNode: text } = walker;
    const node = text.parentElement;
    const isSeen = text.data.trim() && node.checkVisibility();
    if (!isSeen || node.closest(".place")) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const boxes = [[0, 0, innerWidth, innerHeight]];
    for (let each = node; each.id !== "stage"; each = each.parentElement) {
      const hides = getComputedStyle(each).overflowX !== "visible";
      const { left, top, right, bottom } = each.getBoundingClientRect();
      if (each.matches(".panel")) boxes.push([left, top, right, bottom]);
      // The box of a letter is higher than the letter.
      else if (hides) boxes.push([left - 2, top - 6, right + 2, bottom + 6]);
    }
    for (const { left, top, right, bottom } of range.getClientRects()) {
      const isIn = ([x1, y1, x2, y2]) =>
        left >= x1 && top >= y1 && right <= x2 && bottom <= y2;
      if (!boxes.every(isIn)) outside.push(`${node.className}: ${text.data}`);
    }
  }
  return outside;
})()"""

#: Figures and reasons that lie over a diagram or a move.
COVERED = """[...document.querySelectorAll('.ratings *')].filter((node) => {
  if (!node.checkVisibility() || node.children.length || !node.textContent)
    return false;
  const range = document.createRange();
  range.selectNodeContents(node);
  const own = range.getBoundingClientRect();
  return [...document.querySelectorAll('.diagram, .move')].some((other) => {
    const { left, right, top, bottom } = other.getBoundingClientRect();
    const isBeside = own.right <= left + 1 || own.left >= right - 1;
    return !isBeside && own.bottom > top + 1 && own.top < bottom - 1;
  });
}).map((node) => `${node.className} ${node.textContent}`)"""


@pytest.mark.parametrize("boards", [8, 4])
async def test_nothing_breaks_at_the_highest_figure_and_the_longest_names(
    page: Page, boards: int
) -> None:
    broadcast = Broadcast(boards, LONG_NAMES)
    broadcast.play(44)
    world = standing_still(broadcast, extreme=True)
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open("about:blank")
        for layout, size in SIZES.items() if boards == 8 else [("grid", SIZES["grid"])]:
            await page.resize(*size)
            whole = layout == "standings" or "sample" in layout
            for more in ("",) if whole else ("", "&board=3&sample=swing"):
                await show(page, publisher, f"layout={layout}&page=600{more}")
                await page.until("document.querySelector('.name')?.textContent")
                await page.run(
                    "document.fonts.ready, new Promise(requestAnimationFrame)"
                )
                assert await page.run(f"[...{OUTSIDE}, ...{CUT}]") == [], (layout, more)
                figures = await page.run("document.querySelector('#stage').innerText")
                assert more or "3200+" in figures or "moment" in layout
        assert page.complaints == []


async def test_a_grid_fills_its_frame(page: Page) -> None:
    cells = """[...document.querySelectorAll('.cell')]
      .map((node) => node.getBoundingClientRect())"""
    edges = f"""(([...boxes]) => [
      Math.max(...boxes.map(({{ right }}) => right))
        - Math.min(...boxes.map(({{ left }}) => left)),
      Math.max(...boxes.map(({{ bottom }}) => bottom))
        - Math.min(...boxes.map(({{ top }}) => top)),
      new Set(boxes.map(({{ left }}) => left)).size])({cells})"""
    columns_of = {1: 1, 2: 2, 3: 3, 4: 2, 6: 3, 8: 4, 9: 3, 10: 5, 12: 4}
    async with on_air(boards=12, plies=6) as (_, publisher):
        await page.open("about:blank", *SIZES["grid"])
        for boards, columns in columns_of.items():
            await show(page, publisher, f"layout=grid&boards={boards}&page=600")
            await page.until(f"{cells}.length === {boards}")
            width, height, beside = await page.run(edges)
            assert width * height > 0.85 * 1920 * 1080, boards
            assert beside == columns, boards


async def test_a_grid_has_the_elo_above_each_figure(page: Page) -> None:
    read = """[...document.querySelectorAll('.cell .ratings')].map((node) =>
      node.innerText.replace(/\\s+/g, ' '))"""
    async with on_air(boards=4, plies=40) as (_, publisher):
        await page.open("about:blank", *SIZES["grid"])
        await show(page, publisher, "layout=grid&boards=4")
        await page.until(f"{read}.length === 8 && {read}.every((said) => said)")
        for said in await page.run(read):
            assert re.search(r"\bplaying like \d", said) and "Elo" in said, said
        assert await page.run(CUT) == []


async def test_figures_of_a_grid_lie_beside_its_diagrams(page: Page) -> None:
    async with on_air(boards=8, plies=60) as (_, publisher):
        await page.open("about:blank", 640, 360)
        for language in ("en", "de", "fr", "es", "it", "ru"):
            await show(page, publisher, f"layout=grid&boards=8&lang={language}")
            await page.until("document.querySelectorAll('.cell .elo').length === 16")
            assert await page.run(f"[...{OUTSIDE}, ...{COVERED}]") == [], language


async def test_figures_above_what_is_usual_have_the_sign_of_the_page(
    page: Page,
) -> None:
    signs = """[...document.querySelectorAll('.rating[data-how=above] .label')].map(
      (label) => getComputedStyle(label, '::after').content)"""
    broadcast = Broadcast(1)
    broadcast.play(44)
    world = standing_still(broadcast, extreme=True)
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open("about:blank", *SIZES["board"])
        await show(page, publisher, "layout=board")
        await page.until(f"{signs}.length === 2")
        assert await page.run(signs) == ['"\u25b2"'] * 2


async def test_boards_of_a_grid_keep_their_places_when_one_ends(page: Page) -> None:
    places = "[...document.querySelectorAll('.cell .place')].map((n) => n.innerText)"
    async with on_air(boards=3, plies=40) as (broadcast, publisher):
        broadcast.end(1, "1-0")
        await page.open("about:blank", *SIZES["grid"])
        await show(page, publisher, "layout=grid&boards=3")
        await page.until(f"{places}.length === 3")
        assert await page.run(places) == ["Board 1", "Board 2", "Board 3"]
        await show(page, publisher, "layout=grid&boards=3&follow=top")
        await page.until(f"{places}.length === 3")
        assert await page.run(places) == ["Board 2", "Board 1", "Board 3"]


async def test_names_in_a_grid_break_before_they_are_small(page: Page) -> None:
    names = ["Martinoz Gonzarel, Miguel", "Hernaldo Rodriss, Josu", "Li, Wu"]
    async with on_air(boards=6, plies=40, names=names) as (_, publisher):
        await page.open("about:blank", *SIZES["grid"])
        await show(page, publisher, "layout=grid&boards=6")
        await page.until("document.querySelectorAll('.broken').length === 8")
        sizes = """[...document.querySelectorAll('.family')]
          .map((name) => parseFloat(getComputedStyle(name).fontSize))"""
        assert min(await page.run(sizes)) >= 24
        assert await page.run(CUT) == []


async def test_names_give_way_but_moves_and_clocks_do_not(page: Page) -> None:
    words = ["Wolkenschlegelsteinhausenbergerdorfwalde", "丁立人"]
    names = ["Nepomniachtchi, Ian Alexandrovich", "Vachier-Lagrave, Maxime Emmanuel"]
    async with on_air(boards=38, plies=40, names=words + names) as (
        broadcast,
        publisher,
    ):
        await page.open("about:blank", 1280, 720)
        broadcast.play(42, board=38)
        assert board(broadcast, 38).plies[-1].san == "Rfxf3"
        moved = "document.querySelector('.move')?.textContent.endsWith('41…\xa0Rfxf3')"
        sizes = (
            ("ticker", 1280, 90),
            ("ticker", 700, 90),
            ("board", 960, 540),
            ("grid", 660, 264),
            ("board", 400, 830),
            ("bar", 1280, 160),
            ("bar", 500, 220),
        )
        for layout, width, height in sizes:
            await page.resize(width, height)
            await show(page, publisher, f"layout={layout}&board=38&boards=1")
            await page.until(moved)
            assert await page.run(CUT) == [], (layout, width)
            assert await page.run(titles(".name")) in (names, names[::-1])
        assert page.complaints == []


async def test_every_language_fits_in_two_lines_on_both_sides(page: Page) -> None:
    layouts = ("bar", "grid", "ticker", "player", "duel", "standings", "table")
    languages = ("en", "de", "fr", "es", "it", "ru")
    async with on_air(boards=4, plies=40) as (_, publisher):
        await page.open("about:blank")
        for layout, language in itertools.product(layouts, languages):
            await page.resize(*SIZES[layout])
            await show(page, publisher, f"layout={layout}&lang={language}&page=600")
            await page.until("document.querySelector('.name')?.textContent")
            assert await page.run("document.documentElement.lang") == language
            assert await page.run(f"[...{CUT}, ...{BROKEN}]") == [], (layout, language)
        assert page.complaints == []


async def test_options_are_followed(page: Page) -> None:
    async with on_air(boards=6, plies=40) as (_, publisher):
        await page.open("about:blank", 1280, 720)
        await show(page, publisher, "layout=bar&lang=de&board=3")
        said = await page.run(texts(".place, .main .label"))
        assert sorted(said) == ["Runde 4 · Brett 3 · Harbour Open", *["spielt wie"] * 2]
        # The clock of the side to move runs between messages.
        clocks = texts(".player .clock")
        white, black = await page.run(clocks)
        await page.until(f"{clocks}[0] !== {white!r}")
        later, same = await page.run(clocks)
        assert later < white and len(later) == len(white) and same == black

        # What is left out is not there, and an interval never leaves its rating.
        shown = """((selector) => [...document.querySelectorAll(selector)]
            .filter((node) => node.checkVisibility()).length)"""
        await show(page, publisher, "layout=board&hide=clock,curves,diagram")
        left_out = (
            ".clock, .curves, .diagram, canvas, .over-board, .material:not(:empty)"
        )
        for selector, count in (
            (left_out, 0),
            (".main .value", 2),
            (".main .interval", 2),
        ):
            assert await page.run(f"{shown}('{selector}')") == count, selector
        await show(
            page,
            publisher,
            "layout=board&board=3&show=arrow,coordinates,material,opening",
        )
        await page.until("document.querySelector('.named .over-board')")
        for selector, count in (
            (".files span", 8),
            (".ranks span", 8),
            (".best-arrow", 1),
        ):
            assert await page.run(f"{shown}('{selector}')") == count, selector

        # Own colours and font; nonsense is told; the page is seen through, or of the
        # key colour.
        ground = "getComputedStyle(document.body).backgroundColor"
        await show(
            page, publisher, "layout=bar&text=ff0000&font=Fixture&theme=chroma&pie=1"
        )
        style = await page.run(
            f"(({{ color, fontFamily }}) => [color, fontFamily, {ground}])"
            "(getComputedStyle(document.querySelector('.panel')))"
        )
        assert (style[0], style[2]) == ("rgb(255, 0, 0)", "rgb(0, 177, 64)")
        assert style[1].startswith(("Fixture", '"Fixture"')) and await page.run(
            f"{STATUS}.hidden"
        )
        await show(page, publisher, "layout=pie&board=2")
        said = await page.run(f"{STATUS}.textContent")
        assert said.startswith("Not understood: layout=pie (board, bar, curves, ")
        assert await page.run(ground) == "rgba(0, 0, 0, 0)"
        assert page.complaints == []


async def test_hostile_text_stays_text_in_every_layout(page: Page) -> None:
    async with Publisher(ServerConfig(port=0), hostile_world()) as publisher:
        await page.open("about:blank")
        for layout in SIZES:
            evil = quote("\"><script>document.title='owned'</script>")
            await show(page, publisher, f"layout={layout}&lang=de&font={evil}")
            await page.until("document.querySelector('.name')?.textContent")
            assert set(await page.run(titles(".name"))) - {""} == {HOSTILE}, layout
            if layout in ("board", "bar"):
                (move,) = await page.run(texts(".move"))
                assert HOSTILE in move
            # Nothing became an element: no picture, and the one script is ours.
            assert (
                await page.run("document.querySelectorAll('img, script').length") == 1
            )
            assert await page.run("document.title") == "live-rate overlay"
        assert page.complaints == []


async def test_a_logo_and_a_sponsor_stand_beside_the_layout(page: Page) -> None:
    async with on_air(boards=2, plies=20) as (_, publisher):
        await page.open("about:blank")
        slots = "[...document.querySelectorAll('img')]"
        boxes = f"{slots}.map((each) => each.getBoundingClientRect().toJSON())"
        for layout in ("bar", "board"):
            await page.resize(*SIZES[layout])
            images = "logo=static/icon.svg&sponsor=/static/icon.svg"
            await show(page, publisher, f"layout={layout}&{images}")
            await page.until(
                f"{slots}.filter((each) => each.naturalWidth > 0).length === 2"
            )
            logo, sponsor = await page.run(boxes)
            panels = await page.run(
                "[...document.querySelectorAll('.panel')]"
                ".map((each) => each.getBoundingClientRect().toJSON())"
            )
            for image in (logo, sponsor):
                assert 0 <= image["left"] < image["right"] <= SIZES[layout][0]
                assert 0 <= image["top"] < image["bottom"] <= SIZES[layout][1]
                for panel in panels:
                    beside = (
                        image["right"] <= panel["left"]
                        or image["left"] >= panel["right"]
                    )
                    assert beside or image["top"] >= panel["bottom"], layout
        assert page.complaints == []
        # What cannot be had leaves nothing on air.
        await show(page, publisher, "layout=bar&logo=static/none.svg")
        await page.until(f"{slots}.length === 0")


async def test_a_moment_is_shown_at_its_position_and_the_board_is_on_air(
    page: Page,
) -> None:
    broadcast = Broadcast(boards=5)
    broadcast.play(24)
    game = board(broadcast, 5)
    # As long as sentences become, with a word that is longer than a line.
    word = 40 * "n" + 12 * " and so on"
    turn = moment(game.id, 9, f"In {{}} {word}.", at_s=time.time())
    on_air: list[frozenset[str]] = []
    async with Publisher(
        ServerConfig(port=0), broadcast.state, on_air=on_air.append
    ) as publisher:
        broadcast.listener = publisher.audiences.publish
        await page.open("about:blank", *SIZES["moment&sample=moment"])
        await show(page, publisher, "layout=moment&lang=de")
        assert await page.run("document.querySelector('.layout-moment').hidden")
        publisher.audiences.publish([MomentMessage(game.id, turn)])
        await page.until("!document.querySelector('.layout-moment').hidden")
        assert await page.run(texts(".kind, .sentence")) == [
            "Wendepunkt",
            f"In de {word}.",
        ]
        over = (
            "(node) => [node.scrollWidth - node.clientWidth, "
            "node.scrollHeight - node.clientHeight]"
        )
        assert await page.run(f"({over})(document.querySelector('.sentence'))") == [
            0,
            0,
        ]
        assert round(await page.run(SMALLEST)) >= 24
        # The same position as an overlay of the board, as its link says.
        await show(page, publisher, f"layout=bar&game={quote(game.id)}&ply=9")
        (move,) = await page.run(texts(".move"))
        assert move.startswith("5.")
        async with asyncio.timeout(60):
            while frozenset({game.id}) not in on_air:
                await page.run("new Promise(requestAnimationFrame)")
        assert page.complaints == []


async def test_a_swing_is_told_and_then_not_again(page: Page) -> None:
    async with on_air(boards=1, plies=20) as (broadcast, publisher):
        await page.open("about:blank")
        await show(page, publisher, "layout=bar&board=1&swing=2")
        (view,) = broadcast.state.games()

        def move(number: int, score_cp: int) -> None:
            played = PlyView(
                number, "Nf3", "g1f3", score_cp=score_cp, depth=14, final=True
            )
            publisher.audiences.publish([MoveMessage(view.id, number, played)])

        alert = "document.querySelector('.alert')"
        move(21, 0)
        move(22, 330)
        await page.until(f"!{alert}.hidden && {alert}.textContent.includes('−3.3')")
        # Inside its panel, in the place of move and score.
        assert await page.run(OUTSIDE) == []
        assert not await page.run("document.querySelector('.move').checkVisibility()")
        move(23, 320)
        await page.until(f"{alert}.hidden")
        assert page.complaints == []


#: A clock of the page's that can be set forward.
LATER = """self.later = 0; const now = performance.now.bind(performance);
  performance.now = () => now() + self.later;"""


async def test_a_clock_stands_while_its_source_is_silent(page: Page) -> None:
    async with on_air(boards=1, plies=20) as (broadcast, publisher):
        await page.open("about:blank")
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=LATER)
        await show(page, publisher, "layout=bar&board=1&lost=notice")

        async def later(seconds: int) -> str:
            """What it shows then, drawn anew; everything is within a second of the
            page's.
            """
            await page.run(
                f"self.later = {1000 * seconds}, self.drawn = performance.now() + 1500"
            )
            await page.until("performance.now() > self.drawn")
            shown: str = await page.run(
                "document.querySelector('.turn .clock').textContent"
            )
            return shown

        async def source(state: FeedState) -> None:
            seq = await page.run(DRAWN)
            told = broadcast.state.update_feed_health(FeedHealth("hall", state))
            broadcast.publish(told)
            await page.until(f"{DRAWN} !== '{seq}'")

        assert await later(0) != await later(60)
        await source("stale")
        stands = await later(60)
        assert await later(120) == stands
        await source("live")
        assert await later(120) != stands
        # Once it is lost, that is said in the place of round and board.
        await source("failed")
        await later(240)
        notice = await page.run("document.querySelector('.place.notice').textContent")
        assert notice.startswith("as of") and await page.run(f"{STATUS}.hidden")


async def test_all_layouts_of_a_screen_come_back_together(
    browser: str, record_property: Callable[[str, object], None]
) -> None:
    broadcast = Broadcast(boards=8)
    broadcast.play(40)
    world = standing_still(broadcast)
    async with contextlib.AsyncExitStack() as tabs:
        pages = [await tabs.enter_async_context(tab(browser)) for _ in SIZES]
        async with Publisher(ServerConfig(port=0), world) as publisher:
            port = publisher.address[1]
            for (layout, size), page in zip(SIZES.items(), pages, strict=True):
                await page.open("about:blank", *size)
                await show(page, publisher, f"layout={layout}&lost=notice")
        # Away for so long that each of them says so.
        for page in pages:
            await page.until("document.body.innerText.includes(' ago')")
        async with Publisher(ServerConfig(port=port), world):
            started = time.monotonic()
            back = "!document.body.innerText.includes(' ago')"
            await asyncio.gather(*(page.until(f"{DRAWN} && {back}") for page in pages))
            record_property(
                "seconds_until_all_layouts_are_back", time.monotonic() - started
            )


async def test_a_token_in_the_address_opens_the_socket(
    page: Page, tmp_path: Path
) -> None:
    token, tokens = token_file(tmp_path)
    async with on_air(boards=2, plies=20, tokens_file=tokens) as (_, publisher):
        await page.open("about:blank")
        await show(page, publisher, f"layout=bar&token={token}")
        assert len(await page.run(texts(".name"))) == 2
        # Without one, overlay and page say what is missing, and the page takes it.
        await page.visit(f"{publisher.url}overlay?layout=bar")
        await page.until(f"{STATUS}?.textContent === 'a token is needed'")
        await page.visit(publisher.url)
        await page.until("document.querySelector('.token-entry')?.hidden === false")
        assert not await page.run(
            "document.querySelector('.overview').checkVisibility()"
        )
        await page.run("document.querySelector('.token-entry input').focus()")
        await page.call("Input.insertText", text=token)
        await page.press("Enter")
        await page.until("document.querySelectorAll('.card').length === 2")


async def test_layouts_without_their_figures_say_that_they_are_withheld(
    page: Page,
) -> None:
    bars = "[...document.querySelectorAll('.bar')].some((bar) => bar.offsetParent)"
    async with on_air(boards=2, plies=20, hide_scores=True) as (_, publisher):
        await page.open("about:blank")
        sizes = list(SIZES.items())[:-1]
        for layout, size in (*sizes, ("ticker", (640, 116)), ("ticker", (1280, 116))):
            await page.resize(*size)
            await show(page, publisher, f"layout={layout}")
            await page.until("document.body.innerText.includes('withheld here')")
            # A bar without a score would look like an equal one.
            assert not await page.run(bars), layout
            assert await page.run(f"[...{OUTSIDE}, ...{COVERED}]") == [], layout
            text = await page.run("document.body.innerText")
            assert not [
                wrong for wrong in ("to be rated", "Waiting") if wrong in text
            ], layout
        assert page.complaints == []


# --- the builder: choose with keyboard and mouse, see, copy ---------------------------

ADDRESS = "document.querySelector('#address').value"
PREVIEW = "document.querySelector('#preview').contentDocument"


async def type_in(page: Page, field: str, text: str) -> None:
    await page.run(f"{field}.select(), {field}.focus()")
    await page.call("Input.insertText", text=text)


async def wait_for_options(page: Page, **wanted: list[str]) -> None:
    """Wait until the address asks for exactly this, and the preview shows it."""
    await page.until(
        f"{ADDRESS} === document.querySelector('#preview').dataset.href && "
        + (" && ".join(f"{ADDRESS}.includes('{name}=')" for name in wanted) or "true")
    )
    address = await page.run(ADDRESS)
    assert urlsplit(address).path == "/overlay"
    assert parse_qs(urlsplit(address).query) == wanted
    await page.until(f"{PREVIEW}?.location.href === {ADDRESS}")
    await page.until(f"{PREVIEW}?.querySelector('#stage')?.dataset.seq")


async def test_an_overlay_is_chosen_seen_and_copied(page: Page) -> None:
    async with on_air(boards=4, plies=24) as (broadcast, publisher):
        await page.open()
        permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        granted = {"origin": publisher.url.rstrip("/"), "permissions": permissions}
        await page.call(
            "Browser.grantPermissions", browserContextId=page.context, **granted
        )
        await page.open(f"{publisher.url}overlays", 1400, 900)
        await page.until("document.querySelector('#address')?.value")
        await wait_for_options(page)

        # By keyboard: the first stop is the layout, and a letter chooses.
        await page.press("Tab")
        assert (
            await page.run("document.activeElement.labels[0].textContent") == "Layout"
        )
        await page.press("l")
        await wait_for_options(page, layout=["bar"])
        assert await page.run("document.querySelector('#height').value") == "208"
        name = await page.run(f"{PREVIEW}.querySelector('.name').textContent")
        players = {each.name for each in broadcast.state.players()}
        assert name in players

        # By mouse.
        await page.click_on("fieldset fieldset input[value=clock]")
        await wait_for_options(page, layout=["bar"], hide=["clock"])
        style = f"getComputedStyle({PREVIEW}.querySelector('.clock')).display"
        assert await page.run(style) == "none"

        # What there is to choose from is offered, as text.
        offered = await page.run(
            "[...document.querySelectorAll('#players "
            "option')].map((each) => each.value)"
        )
        assert set(offered) == players

        await page.click_on("#copy")
        await page.until("document.querySelector('#said').textContent === 'Copied.'")
        assert await page.run("navigator.clipboard.readText()") == await page.run(
            ADDRESS
        )

        # A link dropped on OBS says how large and what it is called.
        dragged = parse_qs(
            urlsplit(await page.run("document.querySelector('#drag').href")).query
        )
        layer = [dragged[f"layer-{name}"] for name in ("width", "height", "name")]
        assert layer == [["1920"], ["208"], ["live-rate bar"]]

        # A swing is seen on demand; the address to go on air knows nothing of it.
        choose = "each.dispatchEvent(new Event('change', { bubbles: true }))"
        sample = "document.querySelector('#sample')"
        await page.run(f"((each) => {{ each.value = 'swing'; {choose} }})({sample})")
        await page.until(
            f"{PREVIEW}?.querySelector('.alert:not([hidden])')?.textContent"
        )
        assert "sample" not in await page.run(ADDRESS)
        await page.run(f"((each) => {{ each.value = ''; {choose} }})({sample})")

        # The builder's own address has the choices: a bookmark keeps them.
        await page.visit(await page.run("location.href"))
        await page.until("document.querySelector('#address')?.value")
        await wait_for_options(page, layout=["bar"], hide=["clock"])

        # The builder's own address can be kept: it comes back as it was.
        await page.call("Page.reload")
        await page.until("document.querySelector('#address')?.value")
        await wait_for_options(page, layout=["bar"], hide=["clock"])

        assert page.complaints == []


async def test_a_local_file_waits_for_the_service(page: Page, tmp_path: Path) -> None:
    broadcast = Broadcast(boards=2)
    broadcast.play(4)
    async with Publisher(ServerConfig(port=0), broadcast.state) as publisher:
        port = publisher.address[1]
        await page.open(f"{publisher.url}overlays?layout=bar", 1400, 900)
        await page.until("document.querySelector('#address')?.value")
        await page.run(
            "URL.createObjectURL = (blob) => { self.saved = blob; return '#'; };"
            " document.querySelector('#save-file').click()"
        )
        file = tmp_path / "overlay.html"
        file.write_text(await page.run("self.saved.text()"))
    # Opened before the service is there, as OBS may be.
    await page.visit(file.as_uri())
    await page.until(
        "document.title === 'live-rate overlay' && document.readyState === 'complete'"
    )
    async with Publisher(ServerConfig(port=port), broadcast.state):
        with contextlib.suppress(AssertionError):  # it goes on to another page
            await page.until("false")
        await page.until("document.querySelector('.layout-bar .name')?.textContent")
        assert await page.run("location.search") == "?layout=bar"


async def test_nonsense_is_marked_and_left_out(page: Page) -> None:
    broadcast = Broadcast(boards=1)
    async with Publisher(ServerConfig(port=0), broadcast.state) as publisher:
        await page.open(f"{publisher.url}overlays?token=secret&rating=level", 500, 900)
        await page.until("document.querySelector('#address')?.value")
        assert "rating=level" in await page.run(
            "document.querySelector('#said').textContent"
        )
        field = "document.querySelector('.field.colour input')"
        await type_in(page, field, "reddish")
        await page.until(f"{field}.matches(':invalid')")
        await wait_for_options(page, token=["secret"])
        await type_in(page, field, "#FF0000")
        await wait_for_options(page, text=["ff0000"], token=["secret"])
        assert await page.run(f"{field}.matches(':valid')")
        # Text that could hardly be read is said to be.
        fields = "[...document.querySelectorAll('.field.colour input[type=text]')]"
        faint = "document.querySelector('#faint').textContent"
        await page.until(f"{faint}.includes('3.6 : 1')")
        await type_in(page, f"{fields}[1]", "000000")
        await page.until(f"{faint} === ''")
        # An address with a token says so.
        assert await page.run("!document.querySelector('#token').hidden")
        # Nothing is wider than a phone.
        await page.resize(390, 900)
        await page.until("document.documentElement.scrollWidth <= innerWidth")
        assert page.complaints == []
