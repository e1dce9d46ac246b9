"""live/web/page/score_words.js: whose score it is, if it is not the engine's."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from live.events import Curves, Player, PlyView
from tests.web.page.games import Pages, game, plain, ply, point

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


def side(pages: Pages, counted: int, *, elo: int | None = 2000, other: int = 2050) -> Any:
    held = point(2 * counted - 1, counted, 2340.0, **({} if elo else UNRATED))
    players: dict[str, Any] = {"white": Player("Ek", elo=elo), "black": Player("Bo", elo=other)}
    whole = plain(game(curves=Curves(white=(held,)), plies=(ply(1, 20),), **players))
    call: dict[str, Any] = {"module": "page/score_words.js"}
    read = pages("call", **call, name="sideFigure", args=[whole, "white", plain(held)])
    return read, pages("call", **call, name="sideText", args=[whole, "white"])


UNRATED = {"usual_low": None, "usual_high": None, "percentile": None}


def test_a_side_is_read_with_its_band_and_its_place_in_words(pages: Pages) -> None:
    read, said = side(pages, 30)
    assert (read["label"], read["text"], read["beyond"]) == ("playing like", "2340", "above")
    assert read["usual"] == "usual for 2000: 1900\u2060–\u20602300"
    assert read["better"] == "better than 50\u00a0% of games by players of 2000"
    spoken = f"playing like 2340, {read['usual']}, {read['better']}, from 30 moves"
    assert said == f"Ek: {spoken}"


def test_the_figure_of_a_whole_game_is_told_from_a_running_one(pages: Pages) -> None:
    held = point(1, 30, 2340.0)
    rated: dict[str, Any] = {"curves": Curves(white=(held,)), "plies": (ply(1, 20),)}
    open_end = rated | {"plies": tuple(ply(n, None) for n in (1, 2, 3))}
    cases = (rated, "1-0", "played"), (rated, "*", "playing"), (open_end, "1-0", "playing")
    for about, result, said in cases:
        args = [plain(game(**about, result=result)), "white"]
        text = pages("call", module="page/score_words.js", name="sideText", args=args)
        assert f" {said} like 2340" in text


def test_between_players_far_apart_the_band_is_that_of_the_pairing(pages: Pages) -> None:
    read, _ = side(pages, 30, other=2500)
    assert read["usual"] == "usual for 2000 against 2500: 1900\u2060–\u20602300"


def test_few_moves_are_called_early_and_have_no_place(pages: Pages) -> None:
    read, said = side(pages, 9)
    assert (read["early"], read["better"], read["beyond"]) == ("early \u00b7 9 moves", "", "")
    assert said.endswith("early \u00b7 9 moves")


def test_without_an_own_rating_nothing_is_usual(pages: Pages) -> None:
    read, said = side(pages, 30, elo=None)
    assert (read["usual"], read["better"]) == ("", "")
    assert said == "Ek: playing like 2340, from 30 moves"


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
