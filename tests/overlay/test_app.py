"""The page at ``/`` in a real browser, fed by the real server: what it shows, and under attack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from live.config import ServerConfig
from live.events import (
    CurvePoint,
    Curves,
    EngineHealth,
    GameDetail,
    HeadToHead,
    HealthMessage,
    Player,
    PlyView,
)
from live.publish.server import Publisher
from live.publish.state import snapshot
from tests.overlay.chromium import Page, browsing
from tests.publish.world import START, World

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

#: Markup, script, quotes, right-to-left with an override, emoji, a line break.
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> ' </script> \u202eמשה\u202c 🏆\n&amp;"

#: Everything the cards say, in the order of the page.
SHOWN = """
[...document.querySelectorAll(".card")].map((card) => {
  const text = (selector) => [...card.querySelectorAll(selector)].map((node) => node.textContent);
  const [black, white] = text(".name");
  const [blackRating, whiteRating] = text(".rating");
  return { white, black, move: text(".move")[0], whiteRating, blackRating,
           result: text(".result")[0] };
})
"""


def figure(points: tuple[CurvePoint, ...]) -> str:
    """What a player's large figure must say."""
    if not points:
        return "–"
    point = points[-1]
    value = point.rating if point.calibrated is None else point.calibrated
    if value is not None:
        # The page rounds half up.
        return str(int(value + 0.5))
    return "▼" if point.high is not None else "▲" if point.low is not None else "–"


def expected(world: World) -> list[dict[str, Any]]:
    return [
        {
            "white": game.white.name or "?",
            "black": game.black.name or "?",
            "move": move(game),
            "whiteRating": figure(game.curves.white),
            "blackRating": figure(game.curves.black),
            "result": {"*": "", "1-0": "1–0", "1/2-1/2": "½–½"}[game.result],
        }
        for game in snapshot(world).games
    ]


def move(game: GameDetail) -> str:
    if not game.plies:
        return "not started"
    ply = game.plies[-1]
    return f"{(ply.ply + 1) // 2}{'.' if ply.ply % 2 else '…'}\u00a0{ply.san}"


async def settled(page: Page, world: World, publisher: Publisher) -> None:
    """Wait until the page has drawn everything published so far."""
    # Health goes out after the rest of a tick, so its text is the sign that all is drawn.
    world.engine_health = EngineHealth(searches=987_654)
    publisher.publish([HealthMessage(world.feeds(), world.engines())])
    await page.until("document.querySelector('#health').textContent.includes('987654 searches')")


@pytest.fixture
def chromium(require_program: Callable[[str], str]) -> str:
    return require_program("chromium")


async def test_it_shows_what_the_service_holds(chromium: str, tmp_path: Path) -> None:
    world = World(11)
    for _ in range(30):
        world.step()
    async with (
        Publisher(ServerConfig(port=0), world) as publisher,
        browsing(chromium, tmp_path) as page,
    ):
        await page.open(publisher.url)
        await page.until("document.querySelector('#boards')?.dataset.seq")
        assert await page.run(SHOWN) == expected(world)
        for _ in range(300):
            publisher.publish(world.step())
        for game in ("g1", "g2"):
            if world.game(game) is None:
                publisher.publish(world.appear(game))
        await settled(page, world, publisher)
        assert await page.run(SHOWN) == expected(world)
        assert len(expected(world)) >= 2
        rows = await page.run(
            "[...document.querySelectorAll('#players tbody th')].map((cell) => cell.textContent)"
        )
        assert sorted(rows) == sorted(each.name for each in world.players() if each.moves)
        assert page.complaints == []


async def test_hostile_text_stays_text(chromium: str, tmp_path: Path) -> None:
    world = World(12)
    world.appear("g1")
    player = Player(HOSTILE, title=HOSTILE, federation=HOSTILE, team=HOSTILE)
    world.held["g1"] = msgspec.structs.replace(
        world.held["g1"],
        event=HOSTILE,
        round=HOSTILE,
        white=player,
        black=player,
        url="javascript:document.title='owned'",
        problem=HOSTILE,
        plies=(PlyView(1, HOSTILE, "e2e4"),),
    )
    async with (
        Publisher(ServerConfig(port=0), world) as publisher,
        browsing(chromium, tmp_path) as page,
    ):
        await page.open(publisher.url)
        await page.until("document.querySelector('.card')")
        (card,) = await page.run(SHOWN)
        assert card["white"] == card["black"] == HOSTILE
        assert await page.run("document.querySelector('#event').textContent") == HOSTILE
        assert await page.run("document.querySelector('.watch').hidden")
        # Nothing became an element: no picture, and the one script is ours.
        assert await page.run("document.querySelectorAll('img').length") == 0
        assert await page.run("document.scripts.length") == 1
        assert "owned" not in (await page.run("document.title")).split(" · ")
        assert page.complaints == []


async def test_it_draws_boards_and_curves_and_survives_a_restart(
    chromium: str, tmp_path: Path
) -> None:
    world = World(13)
    world.held["g1"] = GameDetail(
        id="g1",
        feed="demo",
        event="Open",
        round="1",
        board=1,
        white=Player("Anna"),
        black=Player("Bea"),
        result="*",
        url="",
        start_fen=START,
        start_score_cp=20,
        head_to_head=HeadToHead(),
        plies_played=1,
        plies_scored=1,
        plies=(PlyView(1, "e4", "e2e4", 300.0, None, 31, None, 14, True),),
        curves=Curves(white=(CurvePoint(1, 1, 0, 0.5, 0.0, -400.0, 300.0, 2850, 2450, 3150),)),
    )
    async with browsing(chromium, tmp_path) as page:
        async with Publisher(ServerConfig(port=0), world) as publisher:
            port = publisher.address[1]
            await page.open(publisher.url)
            await page.until("document.querySelectorAll('.pieces [data-piece]').length === 32")
            await page.until("document.querySelector('.pieces [data-square=e4]')")
            await page.until("document.querySelector('.plot canvas')")
            label = await page.run("document.querySelector('.plot').getAttribute('aria-label')")
            assert "Anna: 2850 (2450–3150)" in label
            assert page.complaints == []
        await page.until("document.querySelector('#connection').dataset.state !== 'live'")
        await page.until("document.body.classList.contains('stale')")
        other = World(14)
        other.appear("g2")
        async with Publisher(ServerConfig(port=port), other):
            await page.until("document.querySelector('#connection').dataset.state === 'live'")
            await page.until("!document.body.classList.contains('stale')")
            assert await page.run(SHOWN) == expected(other)
