"""live/web/page/board/share_image.js: the picture that people share is well-formed, whatever
a feed says.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Curves, Player
from tests.web.page.games import HOSTILE, Pages, game, plain, ply, point

SVG = "{http://www.w3.org/2000/svg}"
PIECES = {letter: f'<circle class="{letter}" r="9"/>' for letter in "KQRBNPkqrbnp"}
ENGINE = {"name": "Stockfish", "limit": "100000 nodes"}


def drawing(pages: Pages, view: Any, number: int) -> ElementTree.Element:
    return ElementTree.fromstring(
        pages("shareSvg", game=plain(view), ply=number, engine=ENGINE, pieces=PIECES)
    )


def texts(root: ElementTree.Element) -> list[str]:
    return [(each.text or "").strip("\u2068\u2069") for each in root.iter(f"{SVG}text")]


def test_it_shows_the_ply_that_is_seen_and_only_what_was_known_then(pages: Pages) -> None:
    view = game(
        white=Player("Anna", elo=2000),
        black=Player("Bea"),
        curves=Curves(white=(point(1, 11, 2100.0), point(3, 12, 2150.0)), black=()),
    )
    now, then = (texts(drawing(pages, view, number)) for number in (4, 1))
    assert "2150" in now
    assert "2100" in then
    assert "2150" not in then
    assert "usual for 2000: 1900\u2060–\u20602300" in now
    assert "better than 50\u00a0% of games by players of 2000, 12 moves" in now
    assert "no move rated yet" in now
    # Algorithm 4 stands nowhere under another name.
    assert "2080" not in now
    pieces = [each.get("class") for each in drawing(pages, view, 1).iter(f"{SVG}circle")]
    assert sum(each in PIECES for each in pieces if each) == 32


@settings(max_examples=40, deadline=None)
@given(name=st.text(max_size=50) | st.just(HOSTILE))
def test_any_name_is_text(pages: Pages, name: str) -> None:
    # Lone halves of surrogate pairs cannot travel as JSON.
    name = name.encode("utf-8", "replace").decode()
    view = game(white=Player(name, title=name), event=name, round=name, plies=(ply(1, 10, 0),))
    root = drawing(pages, view, 1)
    allowed = {f"{SVG}{tag}" for tag in ("svg", "rect", "text", "circle", "g", "path")}
    assert {each.tag for each in root.iter()} <= allowed
    assert not [name for each in root.iter() for name in each.attrib if name.startswith("on")]
