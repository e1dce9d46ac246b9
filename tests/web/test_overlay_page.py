"""The page at ``/overlay`` in a real browser, fed by the real server and the real ledger."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from live.catalogue import BY_ID, Reading, read, standings
from live.config import ServerConfig
from live.events import (
    CurvePoint,
    GameDetail,
    MomentMessage,
    MoveMessage,
    Player,
    PlyView,
    ScoreMessage,
)
from live.publish.access import new_token
from live.publish.server import Publisher
from tests.publish.world import World
from tests.web.broadcast import Broadcast, on_air
from tests.web.chromium import Page
from tests.web.games import HOSTILE, game, hostile_world, moment, ply
from tests.web.line import line_to

pytestmark = [pytest.mark.slow, pytest.mark.whole, pytest.mark.timeout(600)]

#: No line breaks at it.
UNBROKEN_DASH = "\u2060–\u2060"
LAYOUTS = (
    *("board", "bar", "curves", "grid", "ticker", "standings"),
    *("player", "duel", "table", "moment&sample=moment"),
)
DRAWN = "document.querySelector('#stage')?.dataset.seq"
#: All that a fresh overlay fetches, headers and deflated messages included.
FRESH_BYTES = 150_000


async def show(page: Page, publisher: Publisher, query: str) -> None:
    await page.visit(f"{publisher.url}overlay?{query}")
    await page.until(f"document.readyState === 'complete' && location.search && {DRAWN}")


def texts(selector: str) -> str:
    return f"[...document.querySelectorAll({selector!r})].map((node) => node.textContent)"


def titles(selector: str) -> str:
    """Names are cut where there is no room; whole they stand in the tooltip."""
    return f"[...document.querySelectorAll({selector!r})].map((node) => node.title)"


def whole(elo: float | None) -> str:
    return "∞" if elo is None else str(int(elo + 0.5))


def written(found: Reading) -> tuple[str, str]:
    """A figure and its band, as they must be shown."""
    if found.value is None:
        return "", ""
    if found.low is None or found.high is None:
        return whole(found.value), ""
    return whole(found.value), f"{whole(found.low)}–{whole(found.high)}"


def board(broadcast: Broadcast, number: int) -> GameDetail:
    for view in broadcast.state.games():
        if view.board == number:
            game = broadcast.state.game(view.id)
            assert game is not None
            return game
    raise AssertionError(f"no board {number}")


def sides(game: GameDetail) -> Iterator[tuple[str, Player, CurvePoint]]:
    yield "white", game.white, game.curves.white[-1]
    yield "black", game.black, game.curves.black[-1]


async def test_every_layout_shows_what_the_service_holds(page: Page) -> None:
    async with on_air(boards=56, plies=40) as (broadcast, publisher):
        await page.open("about:blank", 1280, 720)
        for layout in ("board", "bar", "curves"):
            await show(page, publisher, f"layout={layout}&board=7")
            broadcast.play(1, board=7)
            game = board(broadcast, 7)
            number = (len(game.plies) + 1) // 2
            await page.until(
                f"document.querySelector('.move')?.textContent.startsWith('{number}')"
                if layout != "curves"
                else f"Number({DRAWN}) > 1"
            )
            for color, player, point in sides(game):
                value, band = written(read(BY_ID["perceived"], point))
                at = f".player.{color}"
                await page.until(
                    f"document.querySelector('{at} .main .value').textContent === '{value}'"
                )
                assert await page.run(titles(f"{at} .name")) == [player.name]
                assert await page.run(texts(f"{at} .title")) == [player.title or ""]
                assert await page.run(texts(f"{at} .flag")) == [player.federation]
                usual = f"usual for {player.elo}: {band.replace('–', UNBROKEN_DASH)}"
                assert await page.run(texts(f"{at} .main .interval")) == [usual]
        await page.until("document.querySelector('.curves canvas')")

        await show(page, publisher, "layout=grid&boards=12&page=600")
        names = await page.run(titles(".cell .name"))
        games = [board(broadcast, number) for number in range(1, 13)]
        assert names == [name for game in games for name in (game.black.name, game.white.name)]
        values = await page.run(texts(".cell .main .value"))
        assert values == [
            written(read(BY_ID["perceived"], point))[0]
            for game in games
            for _, _, point in reversed(list(sides(game)))
        ]
        await show(page, publisher, "layout=ticker&page=600")
        assert await page.run(titles(".item .name")) == [
            name for game in games[:2] for name in (game.white.name, game.black.name)
        ]

        await show(page, publisher, "layout=standings&rows=5&page=600")
        ranked = standings([each for each in broadcast.state.players() if each.moves])
        rows = await page.run(titles("tbody .name"))
        assert rows == [each.view.name for each in ranked[:5]]
        assert await page.run(texts("tbody .rank")) == [each.text for each in ranked[:5]]
        figures = await page.run(texts("tbody td.figure"))
        assert figures == [
            "".join(written(read(BY_ID["perceived"], each.view))) for each in ranked[:5]
        ]
        assert page.complaints == []


#: Each layout in the size that the builder gives it, and upright.
SIZES = {
    "board": (1280, 720),
    "bar": (1920, 184),
    "curves": (960, 540),
    "grid": (1920, 1080),
    "ticker": (1920, 116),
    "standings": (1040, 620),
    "table": (920, 620),
    "player": (920, 240),
    "duel": (920, 500),
    "moment&sample=moment": (920, 292),
}
#: Letters of what can be read, pixels, the smallest of them.
SMALLEST = """Math.min(...[...document.querySelectorAll('#stage *')].filter((node) =>
  node.checkVisibility() && [...node.childNodes].some((each) => each.data?.trim())
).map((node) => parseFloat(getComputedStyle(node).fontSize)))"""
#: Whether boards of the grid are there without their pieces, looked at in every frame.
WATCH = """
  self.bare = 0;
  self.turned = new Set();
  const scratch = new OffscreenCanvas(96, 96).getContext("2d", { willReadFrequently: true });
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


async def test_letters_are_large_enough_and_the_grid_turns_whole(page: Page) -> None:
    async with on_air(boards=12, plies=40) as (broadcast, publisher):
        first = board(broadcast, 1).id
        publisher.publish([MomentMessage(first, moment(first, 9, "It turned.", at_s=1.0))])
        await page.open("about:blank")
        for layout, (width, height) in SIZES.items():
            await page.resize(width, height)
            await show(page, publisher, f"layout={layout}")
            if "moment" not in layout:
                await page.until("document.querySelector('.name')?.textContent")
                assert await page.run(SMALLEST) >= 15, layout
        # Upright they are as wide as the strip, in letters that can be read.
        for layout in ("standings", "table", "duel", "curves"):
            await page.resize(300, 900)
            await show(page, publisher, f"layout={layout}&board=1")
            await page.until("document.querySelector('.tall .name')?.textContent")
            assert await page.run("document.querySelector('.tall').offsetWidth") > 270, layout
            assert await page.run(SMALLEST) >= 10, layout
        # Standings stay as high on a last page that holds fewer.
        await page.resize(1040, 620)
        await show(page, publisher, "layout=standings&rows=10&page=2")
        high = "document.querySelector('.panel').offsetHeight"
        full = await page.run(high)
        await page.until("document.querySelectorAll('tbody tr').length === 4")
        assert await page.run(high) == full
        # No board of the grid is ever without its pieces, also while it turns.
        await page.resize(1920, 1080)
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        await show(page, publisher, "layout=grid&boards=6&page=2")
        await page.until("self.turned.size === 12")
        assert await page.run("self.bare") == 0
        assert page.complaints == []


#: What does not fit into its own box, or sticks out of its panel.
CUT = """[...document.querySelectorAll('.move, .clock, .score, .family, .place')].filter((node) => {
    const [own, panel] = [node, node.closest('.panel')].map((each) => each.getBoundingClientRect());
    const out = own.right > panel.right || own.left < panel.left;
    if (!node.offsetParent || !node.textContent) return false;
    return out || node.scrollWidth > node.clientWidth + 1;
}).map((node) => `${node.className} ${node.textContent}`)"""

#: Cells of a duel that are too narrow, and players whose Elo does not stand beside the figure.
CROWDED = """[...document.querySelectorAll('.layout-duel td, .ratings > .elo')].filter((node) => {
    if (!node.offsetParent) return false;
    if (node.matches('td')) return node.scrollWidth > node.clientWidth + 1;
    const [elo, main] = [node, node.parentNode.firstChild].map((each) =>
        each.getBoundingClientRect());
    return elo.top > main.bottom || (elo.left < main.right - 1 && elo.right > main.left + 1);
}).map((node) => node.textContent)"""

#: Names larger than their boxes, which hide what sticks out.
CLIPPED = """[...document.querySelectorAll('.name')].filter((node) => {
    const { offsetWidth, offsetHeight } = node.firstChild;
    if (!node.offsetParent) return false;
    return offsetWidth > node.clientWidth + 1 || offsetHeight > node.clientHeight + 2;
}).map((node) => node.textContent)"""


async def test_names_give_way_but_moves_and_clocks_do_not(page: Page) -> None:
    words = ["Wolkenschlegelsteinhausenbergerdorfwalde", "丁立人"]
    names = ["Nepomniachtchi, Ian Alexandrovich", "Vachier-Lagrave, Maxime Emmanuel"]
    everybody = words + names
    async with on_air(boards=38, plies=40, names=everybody) as (broadcast, publisher):
        await page.open("about:blank", 1280, 720)
        broadcast.play(42, board=38)
        (long,) = {ply.san for ply in board(broadcast, 38).plies[-1:]}
        assert long == "Rfxf3"
        sizes = (("ticker", 1280, 90), ("ticker", 700, 90), ("board", 960, 540), ("grid", 660, 264),
                 ("board", 400, 830), ("bar", 1280, 160), ("bar", 500, 220))  # fmt: skip
        for layout, width, height in sizes:
            await page.resize(width, height)
            await show(page, publisher, f"layout={layout}&board=38&boards=1")
            await page.until(
                f"document.querySelector('.move')?.textContent.endsWith('41…\xa0{long}')"
            )
            assert await page.run(CUT) == [], (layout, width)
            assert await page.run(CROWDED) == [], (layout, width)
            assert await page.run(titles(".name")) in (names, names[::-1])
        # One word that has no shorter form breaks rather than be cut, and a figure that does not
        # rest on all moves yet has its place in a duel.
        broadcast.hold = True
        broadcast.play(3, board=1)
        # Round, board and event stand there as far as there is room, each whole.
        for layout, name, width, height in (
            ("player", words[0], 920, 240),
            ("player", words[1], 920, 240),
            ("duel", words[0], 920, 500),
            ("grid", words[0], 660, 264),
        ):
            await page.resize(width, height)
            await show(page, publisher, f"layout={layout}&player={name}&board=1&boards=1")
            await page.until(f"{titles('.name')}.includes('{name}') && !{CUT}.length")
            assert await page.run(CLIPPED) == [], layout
            assert await page.run(CROWDED) == [], layout
        assert page.complaints == []


async def test_options_are_followed(page: Page) -> None:
    async with on_air(boards=6, plies=40) as (broadcast, publisher):
        await page.open("about:blank", 1280, 720)
        # Languages, moves included.
        await show(page, publisher, "layout=bar&lang=de&board=3")
        (place,) = await page.run(texts(".place"))
        assert place == "Runde 4 · Brett 3 · Harbour Open"
        labels = await page.run(texts(".main .label"))
        assert labels == ["spielt wie"] * 2
        assert await page.run("document.documentElement.lang") == "de"

        # The clock of the side to move runs between messages.
        clocks = texts(".player:is(.white, .black) .clock")
        white, black = await page.run(clocks)
        await page.until(f"{clocks}[0] !== {white!r}")
        later, same = await page.run(clocks)
        assert later < white and len(later) == len(white) and same == black

        # What is left out is not there, and an interval never leaves its rating.
        await show(page, publisher, "layout=board&hide=clock,curves,diagram")
        shown = """(selector) => [...document.querySelectorAll(selector)]
            .filter((node) => node.checkVisibility()).length"""
        for selector in (".clock", ".curves", ".diagram", "canvas"):
            assert await page.run(f"({shown})('{selector}')") == 0, selector
        assert await page.run(f"({shown})('.main .value')") == 2
        assert await page.run(f"({shown})('.main .interval')") == 2

        # What is asked for besides is there.
        for selector in (".over-board", ".material:not(:empty)"):
            assert await page.run(f"({shown})('{selector}')") == 0, selector
        await show(page, publisher, "layout=board&board=3&show=arrow,coordinates,material,opening")
        await page.until("document.querySelector('.named .over-board')")
        for selector, count in ((".files span", 8), (".ranks span", 8), (".best-arrow", 1)):
            assert await page.run(f"({shown})('{selector}')") == count, selector

        # Own colours and font; nonsense is told.
        await show(page, publisher, "layout=bar&text=ff0000&font=Fixture&theme=contrast&pie=1")
        style = "getComputedStyle(document.body)"
        assert await page.run(f"{style}.color") == "rgb(255, 0, 0)"
        assert (await page.run(f"{style}.fontFamily")).startswith(("Fixture", '"Fixture"'))
        assert await page.run("document.querySelector('#status').hidden")
        await show(page, publisher, "layout=pie&board=2")
        assert await page.run("document.querySelector('#status').textContent") == (
            "Not understood: layout=pie"
        )
        assert await page.run("document.documentElement.dataset.layout") == "board"

        # Twice the size is twice the size.
        await show(page, publisher, "layout=bar&size=0.5")
        rem = "parseFloat(document.documentElement.style.fontSize)"
        half = await page.run(rem)
        await show(page, publisher, "layout=bar")
        assert await page.run(rem) == pytest.approx(2 * half, rel=0.01)

        # Whoever wants less motion gets less.
        speed = "getComputedStyle(document.querySelector('.bar .fill')).transitionDuration"
        assert await page.run(speed) == "0.5s"
        reduced = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        await page.call("Emulation.setEmulatedMedia", features=reduced)
        assert await page.run(speed) == "0s"
        await page.call("Emulation.setEmulatedMedia", features=[])

        # The top board that still plays.
        await show(page, publisher, "layout=bar&follow=top")
        assert (await page.run(texts(".place"))) == ["Round 4 · Board 1 · Harbour Open"]
        broadcast.end(1, "1/2-1/2")
        await page.until("document.querySelector('.points').textContent === '½'")
        await show(page, publisher, "layout=bar&follow=top")
        assert (await page.run(texts(".place"))) == ["Round 4 · Board 2 · Harbour Open"]
        assert page.complaints == []


async def pixels(page: Page, x: int, y: int, width: int = 1) -> list[list[int]]:
    """Red, green, blue and alpha of a line of the picture that the tab shows."""
    shot = base64.b64encode(await page.picture()).decode()
    found = await page.run(
        f"""(async () => {{
            const bytes = Uint8Array.from(atob("{shot}"), (each) => each.charCodeAt(0));
            const picture = await createImageBitmap(new Blob([bytes], {{ type: "image/png" }}));
            const context = new OffscreenCanvas(640, 360).getContext("2d");
            context.drawImage(picture, 0, 0);
            return [...context.getImageData({x}, {y}, {width}, 1).data];
        }})()"""
    )
    return [found[at : at + 4] for at in range(0, len(found), 4)]


async def test_it_lies_over_a_picture(page: Page) -> None:
    async with on_air(boards=6, plies=40) as (_, publisher):
        await page.open("about:blank", 1280, 720)
        clear = {"r": 0, "g": 0, "b": 0, "a": 0}
        await page.call("Emulation.setDefaultBackgroundColorOverride", color=clear)
        await page.resize(640, 360)
        for theme, behind in (("dark", [0, 0, 0, 0]), ("chroma", [0, 0xB1, 0x40, 255])):
            await show(page, publisher, f"layout=bar&theme={theme}")
            await page.until("document.querySelector('.main .value')?.textContent.length === 4")
            # The picture shows through everywhere but at the lower third.
            assert await pixels(page, 5, 5) == await pixels(page, 320, 150) == [behind]
            middle = await pixels(page, 40, 338, 560)
            assert middle[280][3] > 200
            # Keyed out, nothing of the bar lets green through.
            assert not [p for p in middle if p[1] > 100 and p[0] < 60 and p[2] < 90]
        assert page.complaints == []


async def test_a_fresh_overlay_is_small(page: Page) -> None:
    async with on_air(boards=6, plies=40) as (broadcast, publisher):
        await page.open("about:blank", 1280, 720)
        # A long game: most of what comes besides scripts are its plies and points.
        broadcast.play(30, board=3)
        assert len(board(broadcast, 3).plies) == 70
        await page.count_bytes()
        game = board(broadcast, 3).id
        async with line_to(publisher.address[1]) as line:
            await page.visit(f"{line.url}overlay?layout=board&game={quote(game)}")
            await page.until(f"document.readyState === 'complete' && location.search && {DRAWN}")
            await page.until("document.querySelectorAll('.pieces [data-piece]').length > 2")
            await page.until("document.querySelector('.curves canvas')")
            # The sprite of the pieces comes last.
            await page.until(
                "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('.svg'))"
            )
            assert 50_000 < line.sent_back < FRESH_BYTES, line.sent_back
        assert page.complaints == []


async def test_hostile_text_stays_text_in_every_layout(page: Page) -> None:
    world = hostile_world()
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open("about:blank")
        for layout in LAYOUTS:
            evil = quote("\"><script>document.title='owned'</script>")
            await show(page, publisher, f"layout={layout}&lang=de&font={evil}")
            await page.until("document.querySelector('.name')?.textContent")
            names = await page.run(titles(".name"))
            assert set(names) - {""} == {HOSTILE}, layout
            if layout in ("board", "bar"):
                (move,) = await page.run(texts(".move"))
                assert HOSTILE in move
            # Nothing became an element: no picture, and the one script is ours.
            assert await page.run("document.querySelectorAll('img').length") == 0
            assert await page.run("document.scripts.length") == 1
            assert await page.run("document.title") == "live-rate overlay"
        assert page.complaints == []


async def test_a_moment_is_shown_at_its_position_and_the_board_is_on_air(page: Page) -> None:
    broadcast = Broadcast(boards=5)
    broadcast.play(24)
    game = board(broadcast, 5)
    # As long as sentences become, with a word that is longer than a line.
    word = 40 * "n" + 12 * " and so on"
    turn = moment(game.id, 9, f"In {{}} {word}.", at_s=time.time())
    on_air: list[frozenset[str]] = []
    async with Publisher(ServerConfig(port=0), broadcast.state, on_air=on_air.append) as publisher:
        broadcast.listener = publisher.publish
        await page.open("about:blank")
        await show(page, publisher, "layout=moment&lang=de")
        assert await page.run("document.querySelector('.layout-moment').hidden")
        publisher.publish([MomentMessage(game.id, turn)])
        await page.until("!document.querySelector('.layout-moment').hidden")
        assert await page.run(texts(".kind, .sentence")) == ["Wendepunkt", f"In de {word}."]
        over = (
            "(node) => [node.scrollWidth - node.clientWidth, node.scrollHeight - node.clientHeight]"
        )
        assert await page.run(f"({over})(document.querySelector('.sentence'))") == [0, 0]

        # The same position as an overlay of the board, as its link says.
        await show(page, publisher, f"layout=bar&game={quote(game.id)}&ply=9")
        (move,) = await page.run(texts(".move"))
        assert move.startswith("5.")
        await page.until(f"{DRAWN}")
        async with asyncio.timeout(60):
            while frozenset({game.id}) not in on_air:
                await page.run("new Promise(requestAnimationFrame)")
        assert page.complaints == []


async def test_a_swing_is_told_and_then_not_again(page: Page) -> None:
    world = World(1)
    world.held["g1"] = game(plies=(ply(1, 31),), white=Player("Zoë Z"), black=Player("Zoë"))
    async with Publisher(ServerConfig(port=0), world) as publisher:
        await page.open("about:blank")
        await show(page, publisher, "layout=bar&lang=fr&swing=2")

        def move(number: int, san: str, cp: int) -> None:
            played = PlyView(number, san, "e7e5")
            scored = msgspec.structs.replace(played, score_cp=cp, depth=14, final=True)
            plies = world.held["g1"].plies
            world.held["g1"] = msgspec.structs.replace(
                world.held["g1"], plies=(*plies, scored), plies_played=number
            )
            publisher.publish([MoveMessage("g1", number, played), ScoreMessage("g1", scored)])

        move(2, "Nf6", 330)
        await page.until("!document.querySelector('.alert').hidden")
        (text,) = await page.run(texts(".alert"))
        assert text == "Zoë: 1…\u00a0Cf6 coûte 3,0 pions"
        move(3, "Qg4", -200)
        await page.until("document.querySelector('.score').textContent === '−2.00'")
        (same,) = await page.run(texts(".alert"))
        assert same == text
        await page.until("document.querySelector('.alert').hidden")
        assert page.complaints == []


async def test_it_says_when_it_is_no_longer_live(page: Page) -> None:
    async with on_air(boards=2, plies=20) as (broadcast, publisher):
        port = publisher.address[1]
        await page.open("about:blank")
        await show(page, publisher, "layout=bar&lang=es&lost=notice")
        assert not await page.run("document.querySelector('.notice')")
    # Where the game is named, so that it lies on no board and floats nowhere.
    await page.until("document.querySelector('.notice')?.textContent.startsWith('datos de hace ')")
    assert await page.run("document.querySelector('#status').hidden")
    broadcast.play(2)
    async with Publisher(ServerConfig(port=port), broadcast.state) as publisher:
        await page.until("document.querySelector('.move').textContent.startsWith('11')")
        await page.until("!document.querySelector('.notice')")


async def test_a_token_in_the_address_opens_the_socket(page: Page, tmp_path: Path) -> None:
    token, entry = new_token("obs", lambda size: b"o" * size)
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(entry)
    async with on_air(boards=2, plies=20, tokens_file=str(tokens)) as (broadcast, publisher):
        await page.open("about:blank")
        await show(page, publisher, f"layout=bar&token={token}")
        assert await page.run(texts(".name")) == [
            board(broadcast, 1).white.name,
            board(broadcast, 1).black.name,
        ]
        assert page.complaints == []
        # Without one, overlay and page say what is missing, and the page takes it.
        await page.visit(f"{publisher.url}overlay?layout=bar")
        await page.until("document.querySelector('#status')?.textContent === 'a token is needed'")
        await page.visit(publisher.url)
        await page.until("document.querySelector('.token-entry')?.hidden === false")
        assert not await page.run("document.querySelector('.overview').checkVisibility()")
        await page.run("document.querySelector('.token-entry input').focus()")
        await page.call("Input.insertText", text=token)
        await page.press("Enter")
        await page.until("document.querySelectorAll('.card').length === 2")


async def test_layouts_without_their_figures_say_that_they_are_withheld(page: Page) -> None:
    async with on_air(boards=2, plies=20, hide_scores=True) as (_, publisher):
        await page.open("about:blank")
        for layout in LAYOUTS[:-1]:
            await show(page, publisher, f"layout={layout}")
            await page.until("document.body.innerText.includes('withheld here')")
            text = await page.run("document.body.innerText")
            for wrong in ("to be rated", "Waiting", "Algorithm"):
                assert wrong not in text, layout
        assert page.complaints == []
