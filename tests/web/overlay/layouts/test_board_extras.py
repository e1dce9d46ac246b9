"""live/web/overlay/layouts/board_extras.js: which move an arrow shows, the opening in words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from live.events import Curves
from tests.web.page.games import Pages, game, plain, ply, point


def better(pages: Pages, gain: int, **more: Any) -> str:
    last = msgspec.structs.replace(ply(1, 20, gain), **{"best": "d2d4", **more})
    played = game(
        plies=(last,), curves=Curves(white=(point(1, 1, 2100.0, gain_cp=gain),), black=())
    )
    module = "overlay/layouts/board_extras.js"
    return str(pages("call", module=module, name="betterMove", args=[plain(played)]))


@pytest.mark.parametrize(
    ("gain", "more", "arrow"),
    [
        (-40, {}, "d2d4"),
        (0, {}, ""),  # another move, as good
        (-40, {"best": "e2e4"}, ""),  # it was played
        (-40, {"best": None}, ""),
        (-40, {"final": False}, ""),  # the engine still searches
    ],
)
def test_an_arrow_shows_a_better_move_once_it_is_sure(
    pages: Pages, gain: int, more: dict[str, Any], arrow: str
) -> None:
    assert better(pages, gain, **more) == arrow


def test_an_opening_has_its_code_and_name_as_far_as_they_are_known(pages: Pages) -> None:
    def said(**given: str) -> str:
        module = "overlay/layouts/board_extras.js"
        return str(pages("call", module=module, name="openingText", args=[given]))

    assert said(eco="C65", opening="Ruy Lopez: Berlin") == "C65 Ruy Lopez: Berlin"
    assert said(eco="", opening="") == ""
