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
        white=Player("Anna"),
        black=Player("Bea"),
        curves=Curves(
            white=(
                point(1, 1, 2100.0, alone=1900.0, alone_low=1500.0, alone_high=2300.0),
                point(3, 2, 2150.0, alone=1950.0, alone_low=1550.0, alone_high=2350.0),
            ),
            black=(point(2, 1, None, alone_high=2200.0),),
        ),
    )
    now, then = (texts(drawing(pages, view, number)) for number in (4, 1))
    assert "1950" in now
    assert "1900" in then
    assert "1950" not in then
    assert "moves alone, 95 %: 1550–2350, 2 moves" in now
    # Black's figure has no lower bound: 2200 or less.
    assert "2200" in now
    assert "or less, moves alone, 1 of 2 moves" in now
    # Algorithm 4 stands nowhere under another name.
    assert "2150" not in now
    pieces = [each.get("class") for each in drawing(pages, view, 1).iter(f"{SVG}circle")]
    assert sum(each in PIECES for each in pieces if each) == 32


def test_the_level_leads_and_the_percentile_stands_beneath(pages: Pages) -> None:
    level: dict[str, Any] = {"level": 2000.0, "level_low": 1900.0, "level_high": 2100.0}
    fitted = point(1, 12, 2100.0, **level, level_share=0.3, percentile=74.0)
    said = texts(drawing(pages, game(curves=Curves(white=(fitted,))), 4))
    assert "level, 95 %: 1900–2100, 12 of 13 moves" in said
    assert "better than 74 % of games by players rated like this" in said


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
