"""live.publish.export.moments_rss: a feed that any reader can read."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

import msgspec

from live.events import Moment, MomentFigure, MomentText
from live.publish.export.moments_rss import MOST_ITEMS, overlay_link, page_link, rss
from tests.publish.world import World

BASE = "https://chess.example/"


def moment(number: int, at_s: float | None = None, text: str = "It happened.") -> Moment:
    return Moment(
        id=f"g 4/ü:turn:{number}",
        game="g 4/ü",
        ply=number,
        kind="turn",
        color="white",
        at_s=at_s,
        weight=0.5,
        figures=(MomentFigure("before", 55.0), MomentFigure("after", 8.5)),
        text=msgspec.convert(dict.fromkeys(MomentText.__struct_fields__, text), MomentText),
    )


def items(*moments: Moment, world: World | None = None) -> list[ElementTree.Element]:
    games = {view.id: view for view in world.games()} if world else {}
    return ElementTree.fromstring(rss(moments, games, BASE, "en")).findall("channel/item")


def test_the_newest_come_first_and_those_of_unknown_time_last() -> None:
    found = items(moment(1, 100.0), moment(2), moment(3, 200.0))
    assert [(each.findtext("guid") or "")[-1] for each in found] == ["3", "1", "2"]
    dates = [each.findtext("pubDate") for each in found]
    assert dates[2] is None
    assert parsedate_to_datetime(dates[0] or "").timestamp() == 200


def test_each_leads_to_the_position_and_holds_no_figure_beside_its_sentence() -> None:
    world = World(1)
    world.appear("g 4/ü")
    (item,) = items(moment(7), world=world)
    assert item.findtext("link") == "https://chess.example/#game=g+4%2F%C3%BC&ply=7"
    assert item.findtext("link") == page_link(BASE, moment(7))
    said = item.findtext("description") or ""
    view = world.held["g 4/ü"]
    names = f"{view.white.name} – {view.black.name}"
    link = f"overlay: {overlay_link(BASE, moment(7))}"
    assert said == "; ".join((names, view.event, view.round, link))


def test_hostile_text_stays_text() -> None:
    (item,) = items(moment(1, text="<script> & \x00\x1b[31m \ud800 ]]>"))
    assert item.findtext("title") == "<script> & [31m  ]]>"


def test_a_feed_is_bounded() -> None:
    assert len(items(*(moment(n) for n in range(MOST_ITEMS + 9)))) == MOST_ITEMS
