"""live/web/page/score_words.js: whose score it is, if it is not the engine's."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from live.events import Player, PlyView
from tests.web.page.games import Pages, game, plain, ply

CLOUD = msgspec.structs.replace(ply(2, 37), final=False, depth=40, score_source="lichess cloud")


def words(pages: Pages, *plies: PlyView) -> str:
    args: list[Any] = [plain(game(plies=plies)), [plain(each) for each in plies]]
    score = pages("call", module="page/score_words.js", name="scoreAfter", args=args)
    said = pages("call", module="page/score_words.js", name="scoreWords", args=[score])
    assert isinstance(said, str)
    return said


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (ply(2, 37, depth=16), "+0.37, depth 16"),
        (msgspec.structs.replace(ply(2, 37, depth=9), final=False), "+0.37 … still searching"),
        (CLOUD, "+0.37 (lichess cloud, depth 40) … still searching"),
        (ply(2, None), "+0.30 … still searching"),
    ],
)
def test_the_board_tells_whose_score_it_is(pages: Pages, last: PlyView, said: str) -> None:
    assert words(pages, ply(1, 30), last) == said


def test_the_elo_is_no_second_figure(pages: Pages) -> None:
    """A level that is nothing but the Elo stands beside the name already."""
    held = {
        "n": 12,
        "percentile": 84.0,
        "level": 2496.0,
        "level_low": 2496.0,
        "level_high": 2496.0,
        "level_share": 0.0,
    }
    call = {"module": "page/score_words.js", "name": "ratings"}
    found = pages("call", **call, args=[held, 2496, {}])
    assert (found["main"]["text"], found["other"]) == ("84 %", None)
    held |= {"level_low": 2420.0, "level_high": 2570.0, "level_share": 0.1}
    assert pages("call", **call, args=[held, 2496, {}])["other"]["text"] == "2496"


@pytest.mark.parametrize(
    ("moves", "percentile", "early"), [(14, 84.0, True), (15, 84.0, False), (14, None, False)]
)
def test_a_percentile_of_few_moves_is_marked_as_early(
    pages: Pages, moves: int, percentile: float | None, early: bool
) -> None:
    level = {"level": 2440.0, "level_low": 2300.0, "level_high": 2590.0, "level_share": 0.1}
    held = {"n": moves, "percentile": percentile, **level}
    call = {"module": "page/score_words.js", "name": "ratings"}
    found = pages("call", **call, args=[held, 2400, {}, True])
    assert found["early"] is early
    assert found["main"]["label"] == ("level" if percentile is None else "of games at this Elo")
    far = pages("call", **call, args=[held, 2400, {}])["main"]["label"]
    assert far == ("level" if percentile is None else "of games by players rated like this")
    whole = plain(game(white=Player("Ek", elo=2400)))
    whole["curves"]["white"] = [held]
    call["name"] = "sideText"
    assert ("too early to say" in pages("call", **call, args=[whole, "white"])) is early


def test_so_do_those_that_say_provisional(pages: Pages) -> None:
    for source, said in (("", "provisional"), ("lichess cloud", "provisional, lichess cloud")):
        name = "provisionalWords"
        assert pages("call", module="page/score_words.js", name=name, args=[source]) == said


def test_a_service_before_this_one_names_no_source(pages: Pages) -> None:
    held = plain(game(plies=(ply(1, 30),)))
    for each in held["plies"]:
        del each["score_source"]
    score = pages(
        "call", module="page/score_words.js", name="scoreAfter", args=[held, held["plies"]]
    )
    assert score["source"] == ""


def test_what_is_withheld_is_not_said_to_be_late(pages: Pages) -> None:
    late = plain(game(plies=[ply(1, None), ply(2, None)]))

    def said(name: str, about: Any, withheld: bool) -> Any:
        args = [about, {"withheld": withheld}]
        return pages("call", module="page/score_words.js", name=name, args=args)

    assert said("problemText", late, False) == "2 moves not scored yet"
    assert said("scoreWords", {"text": ""}, False) == "not scored yet"
    assert said("problemText", late, True) == said("scoreWords", {"text": ""}, True) == ""
