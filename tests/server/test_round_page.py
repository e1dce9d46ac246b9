"""A round in one picture and on one screen: what they say, and to whom."""

import re
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from msgspec.structs import replace

from live.messages.figures import Curves, GameDetail
from live.messages.from_sources import Player
from live.messages.health import MeasuringProgress
from live.server.filtered_reader import FilteredReader
from live.server.public_view import PublicView
from live.server.round_page import RoundLinks, render_round
from live.server.round_picture import draw_round
from live.server.static_files import StaticSite
from live.server.stream_filter import EVERYTHING
from live.settings import ServerConfig
from live.watch.round_summary import RoundSummary, list_finished_rounds, summarise_round
from live.watch.words import WORDS
from tests.server.test_routes import serve_world
from tests.server.world import World
from tests.watch.games import late as game
from tests.watch.games import point

QUIET = [0.5] * 40
LOST = [*[0.5] * 20, *[0.05] * 20]


def played(
    id: str,
    board: int,
    wins: Sequence[float] = QUIET,
    result: str = "1/2-1/2",
    percentiles: tuple[float, float] = (50.0, 50.0),
    **more: Any,
) -> GameDetail:
    white, black = percentiles
    curves = Curves(
        white=(replace(point(39, 20, white), perceived=2640),),
        black=(replace(point(40, 20, black), perceived=2130),),
    )
    return game(wins, id=id, board=board, result=result, curves=curves, **more)


def a_round(*more: GameDetail) -> list[GameDetail]:
    return [
        played(
            "g1",
            1,
            LOST,
            "0-1",
            (4.0, 97.0),
            white=Player("Ivanov & Sons, <b>", elo=2300),
        ),
        played(
            "g2", 2, result="1-0", black=Player("Ágoston, Kristóf Benedek", elo=2600)
        ),
        *more,
    ]


def texts(svg: str) -> list[str]:
    return [
        each.text or ""
        for each in ElementTree.fromstring(svg).iter()
        if "text" in each.tag
    ]


def test_the_picture_names_results_who_stood_out_and_the_moves() -> None:
    said = texts(draw_round(summarise_round(a_round()), "en"))
    assert "Open · Round 1" in said and "Games: 2 · decided: 2 · upsets: 1" in said
    assert {"0–1", "1–0", "Berg 2480", "2130 · 97 %", "2640 · 4 %"} <= set(said)
    assert "21. Nf3  Ivanov & Sons" in said and "from 50 to 5 %" in said


@pytest.mark.parametrize("language", WORDS)
def test_picture_and_page_say_everything_in_every_language(language: str) -> None:
    words = WORDS[language].round
    for summary in (summarise_round(a_round()), summarise_round([played("g", 1)])):
        links = RoundLinks("https://host/", {}, True)
        said = " ".join(texts(draw_round(summary, language)))
        page = render_round(summary, language, links, [("Open", "1")]).decode()
        for text in (words.above, words.below, words.moves, words.percent):
            assert text in said and escape(text) in page
        assert "{" not in said + page
        assert f'lang="{language}"' in page
        assert (words.nobody in said) == (words.nobody in page) == (not summary.above)


@pytest.mark.parametrize(
    ("date", "language", "written"),
    [
        ("2026.05.02", "en", "2 May 2026"),
        ("2026.12.31", "de", "31. Dez. 2026"),
        ("2026.01.02", "ru", "2 янв. 2026 г."),
        ("2026.05.??", "fr", "2026"),
        ("2026.??.??", "en", "2026"),
        ("2026.13.02", "en", "2026"),
        ("", "en", ""),
    ],
)
def test_picture_and_page_write_the_date_as_people_do(
    date: str, language: str, written: str
) -> None:
    summary = summarise_round([played("g", 1, date=date)])
    page = render_round(summary, language, RoundLinks("https://host/", {}, True), [])
    separated = f" · {written}" if written else ""
    assert f"</strong>{separated}</p>" in page.decode()
    assert written in texts(draw_round(summary, language))


@pytest.mark.parametrize("language", WORDS)
def test_every_month_has_a_name(language: str) -> None:
    assert len({*WORDS[language].round.months.split()}) == 12


def test_no_line_leaves_the_picture_or_lies_on_another() -> None:
    long = Player("Wolfeschlegelsteinhausenbergerdorff, Maximilian", elo=2300)
    percentiles = [(99.0, 1.0), (98.0, 2.0), (97.0, 3.0), (96.0, 4.0)]
    games = [
        played(f"g{n}", n, LOST, "0-1", percentiles[n % 4], white=long, black=long)
        for n in range(28)
    ]
    drawing = ElementTree.fromstring(draw_round(summarise_round(games), "fr"))
    lines = [each.attrib for each in drawing.iter() if "text" in each.tag]
    for column in (range(600), range(650, 1200)):
        own = [each for each in lines if int(each["x"]) in column]
        heights = sorted({(int(each["y"]), int(each["font-size"])) for each in own})
        tops = dict(heights)
        ordered = sorted(tops)
        assert all(two - tops[two] >= one for one, two in pairwise(ordered))
        assert all(0 < y <= 620 for y in ordered)
    names = [
        each.text or ""
        for each in drawing.iter()
        if (each.text or "").startswith("Wolfe")
    ]
    assert names and max(map(len, names)) <= 30
    assert any(
        "20" in (each.text or "") and "autres" in (each.text or "")
        for each in drawing.iter()
    )


def test_figures_that_are_not_known_are_left_out() -> None:
    bare = game(QUIET, id="bare", board=1, result="1-0", plies_scored=0)
    said = texts(draw_round(summarise_round([bare]), "en"))
    # Where nobody has an Elo, nobody is compared.
    assert "none" in said and not {"nobody", "Better than usual"} & set(said)
    assert any("moves not scored yet: 40" in each for each in said)


@pytest.mark.parametrize(("has_png", "file"), [(True, "png"), (False, "svg")])
def test_the_page_shows_the_picture_also_where_png_cannot_be_made(
    has_png: bool, file: str
) -> None:
    links = RoundLinks("https://host/", {}, has_png)
    page = render_round(summarise_round(a_round()), "en", links, []).decode()
    assert f'<img src="api/v3/round.{file}?event=Open' in page
    # Chats cannot show a drawing.
    assert ("og:image" in page) == has_png


def test_hostile_names_are_text_on_the_page() -> None:
    page = render_round(
        summarise_round(a_round()),
        "en",
        RoundLinks("https://host/", {}, True),
        [("Open", "1")],
    ).decode()
    assert "<b>" not in page and "Ivanov &amp; Sons" in page
    assert '<meta property="og:title" content="Open · Round 1">' in page
    assert "https://host/api/v3/round.png?event=Open&amp;round=1&amp;lang=en" in page
    # Links lead on with the token of who reads; what chats read has none.
    secret = RoundLinks("https://host/", {"token": "s3"}, True)
    page = render_round(summarise_round(a_round()), "en", secret, []).decode()
    assert "./?token=s3#game=g1" in page
    assert not re.search(r"<meta[^>]*s3", page)


@pytest.fixture
def site(tmp_path: Path) -> StaticSite:
    (tmp_path / "index.html").write_text("<!doctype html>hello")
    return StaticSite(tmp_path)


@pytest.fixture
def world() -> World:
    world = World(1)
    world.held = {each.id: each for each in a_round()}
    return world


async def test_a_round_that_is_over_is_answered_as_data_drawing_and_page(
    world: World, site: StaticSite
) -> None:
    async with serve_world(world, site) as (_, client, _):
        found = await client.get("/api/v3/round")
        summary = msgspec.json.decode(found.content, type=RoundSummary)
        assert summary == summarise_round(list(world.held.values()))
        drawing = await client.get(
            "/api/v3/round.svg?event=open&round=Round%201&lang=de"
        )
        assert drawing.headers["content-type"] == "image/svg+xml"
        assert "Partien: 2" in drawing.text
        page = await client.get("/round?lang=ru")
        assert "Партий: 2" in page.text
        assert (await client.get("/round?lang=xx")).status_code == 400
        for none in ("?round=2", "?event=Other"):
            answer = await client.get(f"/api/v3/round{none}")
            assert (answer.status_code, "no such round has ended" in answer.text) == (
                404,
                True,
            )


async def test_figures_that_can_change_are_said_to_on_the_page_of_a_round(
    world: World, site: StaticSite
) -> None:
    async with serve_world(world, site) as (_, client, _):
        said = WORDS["fr"].round.measuring
        assert said not in (await client.get("/round?lang=fr")).text
        progress = MeasuringProgress(3, 294)
        world.engine_health = replace(world.engine_health, measuring=progress)
        assert said in (await client.get("/round?lang=fr")).text


async def test_a_round_is_summed_up_once_for_all_who_ask_at_the_same_time(
    world: World, site: StaticSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(games: Sequence[GameDetail]) -> RoundSummary:
        made.append(len(games))
        return summarise_round(games)

    monkeypatch.setattr("live.server.round_routes.summarise_round", counted)
    async with serve_world(world, site) as (_, client, _):
        for path in ("/api/v3/round", "/api/v3/round.svg?lang=fr", "/round"):
            assert (await client.get(path)).status_code == 200
        assert made == [2]


def test_what_explains_a_result_stands_below_it() -> None:
    better = Curves(
        white=(replace(point(39, 20, 50.0), perceived=2000),),
        black=(replace(point(40, 20, 50.0), perceived=2100),),
    )
    odd = replace(played("odd", 3, result="1-0"), curves=better)
    (line,) = (
        each for each in summarise_round([*a_round(), odd]).games if each.id == "odd"
    )
    assert [each.en for each in line.told] == [
        "Adams wins, playing like 2000; Berg played like 2100."
    ]
    links = RoundLinks("https://host/", {}, False)
    page = render_round(summarise_round([*a_round(), odd]), "de", links, []).decode()
    assert "Adams gewinnt und spielte wie 2000; Berg spielte wie 2100." in page


async def test_nothing_is_told_of_a_round_while_a_game_of_it_runs(
    world: World, site: StaticSite
) -> None:
    world.held["g3"] = played("g3", 3, result="*")
    async with serve_world(world, site) as (_, client, _):
        for path in ("/api/v3/round", "/api/v3/round.svg", "/round"):
            assert (await client.get(path)).status_code == 404
        # People are told how far it is, and their browsers ask again.
        waiting = (await client.get("/round?lang=de")).text
        assert (
            "Beendete Partien: 2 von 3." in waiting
            and 'http-equiv="refresh"' in waiting
        )
        assert "Open · Runde 1" in waiting and "#game=" not in waiting
        unknown = (await client.get("/round?event=Other")).text
        assert (
            "There is no finished round here." in unknown and "refresh" not in unknown
        )


async def test_where_scores_are_hidden_no_round_is_summed_up(
    world: World, site: StaticSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def drawn(svg: str) -> bytes:
        return svg.encode()

    monkeypatch.setattr("live.server.pictures.render_png", drawn)
    monkeypatch.setattr("live.server.round_routes.can_render_png", lambda: True)
    async with serve_world(world, site) as (publisher, client, _):
        paths = ("/api/v3/round", "/api/v3/round.svg", "/api/v3/round.png", "/round")
        for path in paths:
            assert (await client.get(path)).status_code == 200
        publisher.reconfigure(ServerConfig(port=0, hide_scores=True))
        for path in paths:
            answer = await client.get(path)
            assert (answer.status_code, "scores are hidden" in answer.text) == (
                404,
                True,
            )


def test_the_late_public_hears_of_a_round_after_the_delay_by_its_own_ids(
    world: World,
) -> None:
    now = [0.0]
    world.held["g3"] = played("g3", 3, result="*")
    public = PublicView(world, delay_s=600.0, clock=lambda: now[0])
    over = replace(world.held["g3"], result="1-0")
    world.held["g3"] = over
    public.publish([world.view("g3")])
    late = FilteredReader(public, EVERYTHING)
    assert list_finished_rounds(late.games()) == []
    now[0] = 601.0
    public.release_due()
    assert list_finished_rounds(late.games()) == [("Open", "1")]
    details = [detail for view in late.games() if (detail := late.game(view.id))]
    ids = {each.id for each in summarise_round(details).games}
    assert len(ids) == 3 and not ids & set(world.held)
