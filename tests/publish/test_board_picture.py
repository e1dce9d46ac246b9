"""The picture of a board: what is drawn, and that resvg makes a PNG of it.

What a chat reads of a board's link.
"""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from live.events import Curves, GameDetail, GameView, Player
from live.ledger.tracked_game import view_of
from live.publish import answers, exports
from live.publish.answers import ExportFailed, drawn
from live.publish.exports import HEIGHT, WIDTH, board_svg, share_page
from tests.terminal.stage import round_in_the_middle


@pytest.fixture
def game() -> GameDetail:
    return round_in_the_middle().snapshot().games[0]


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg).iter() if "text" in each.tag]


def test_it_shows_the_position_and_both_figures(game: GameDetail) -> None:
    found = texts(board_svg(game))
    for player in (game.white, game.black):
        assert any(player.name[:20] in each for each in found)
    for points in (game.curves.white, game.curves.black):
        assert f"playing like {points[-1].perceived:.0f}" in found
    assert any(each.startswith("usual for 2448: ") for each in found)
    assert sum("of games by players of" in each for each in found) == 2
    svg = board_svg(game)
    # No line of words lies on another.
    lines = [each.attrib for each in ElementTree.fromstring(svg).iter() if "text" in each.tag]
    heights = sorted((int(each["y"]), int(each["font-size"])) for each in lines)
    assert all(y - size >= above for (above, _), (y, size) in pairwise(heights))
    assert svg.count("<use") == len(game.plies and svg.split("<use")) - 1 > 10


def test_a_figure_that_does_not_rest_on_all_moves_says_so(game: GameDetail) -> None:
    before = game.curves.white[:-2]
    found = texts(board_svg(replace(game, curves=replace(game.curves, white=before))))
    assert f"playing like {before[-1].perceived:.0f}…" in found
    assert sum(each.endswith("…") for each in found) == 1


def test_only_the_whole_figure_of_a_finished_game_is_in_the_past(game: GameDetail) -> None:
    over = replace(game, result="1-0")
    half = replace(over, curves=replace(game.curves, white=game.curves.white[:-2]))
    bare = replace(over, curves=replace(game.curves, white=()))
    for shown, played, playing in ((over, 2, 0), (half, 1, 1), (bare, 1, 0)):
        found = texts(board_svg(shown))
        assert sum(each.startswith("played like ") for each in found) == played
        assert sum(each.startswith("playing like ") for each in found) == playing


def test_without_figures_nothing_is_made_up(game: GameDetail) -> None:
    found = texts(board_svg(replace(game, curves=Curves(), plies=())))
    assert found.count("nothing can be said yet") == 2


def test_an_early_figure_is_small_and_grey_and_has_no_percentile(game: GameDetail) -> None:
    (*_, last) = game.curves.white

    def figure(counted: int) -> tuple[str, list[str]]:
        curves = Curves(white=(replace(last, counted=counted),))
        svg = board_svg(replace(game, curves=curves))
        lines = svg.replace("><", ">\n<").split("\n")
        return next(line for line in lines if "playing like" in line), texts(svg)

    whole, said = figure(10)
    assert exports._COLORS["white"] in whole and any("better than" in each for each in said)
    early, said = figure(9)
    assert exports._QUIET in early and "early: 9 moves" in said
    assert not any("better than" in each for each in said)


def test_what_feeds_say_stays_text(game: GameDetail) -> None:
    odd = Player('<b>&"\x1b[31m\ud800' + "x" * 100)
    found = texts(board_svg(replace(game, white=odd, event="]]>" + "y" * 200)))
    assert any(each.startswith("<b>&") and each.endswith("…  ") for each in found)
    # lichess names each game of a broadcast as an event.
    pairing = f"Round 2: {game.white.name} - {game.black.name}"
    found = texts(board_svg(replace(game, event=pairing, round="2.4", board=4)))
    assert "Round 2 · board 4" in found


@pytest.mark.slow
async def test_resvg_makes_a_png_of_it_and_writes_nothing_on_the_screen(
    game: GameDetail, capfd: pytest.CaptureFixture[str]
) -> None:
    body = await drawn(board_svg(game))
    assert body[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(body[at : at + 4], "big") for at in (16, 20)] == [WIDTH, HEIGHT]
    with pytest.raises(ExportFailed, match="could not be made"):
        await drawn("no svg")
    assert capfd.readouterr().err == ""


@pytest.mark.slow
async def test_a_picture_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "PICTURE_S", 0.0)
    with pytest.raises(ExportFailed, match="not made in time"):
        await drawn("<svg/>")


GAME: GameView = view_of(round_in_the_middle().snapshot().games[0])


class Tags(HTMLParser):
    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("property") or given.get("http-equiv")
        if name:
            self.found[name] = given["content"] or ""


def test_it_names_the_players_the_picture_and_the_way() -> None:
    game = replace(GAME, id="a/b c", white=Player('A "<x>'), black=Player("B"))
    found = Tags(share_page(game.id, game, "https://host/", picture=True)).found
    assert found["og:title"] == 'A "<x> – B'
    assert found["og:image"] == "https://host/api/v1/games/a%2Fb%20c.png"
    assert found["twitter:card"] == "summary_large_image"
    assert found["refresh"] == "0; url=./#game=a%2Fb+c"


def test_without_a_picture_there_is_no_image_and_without_a_game_no_name() -> None:
    assert "og:image" not in Tags(share_page(GAME.id, GAME, "https://host/", picture=False)).found
    found = Tags(share_page("", None, "https://host/", picture=True)).found
    assert (found["og:title"], found["refresh"]) == ("live-rate", "0; url=./")
    assert "og:image" not in found
    # It leads to a board that it may not name.
    found = Tags(share_page('"><script>', None, "https://host/", picture=True)).found
    assert found["refresh"] == "0; url=./#game=%22%3E%3Cscript%3E"
    assert found["og:title"] == "live-rate"
