"""live/web/client/event_state.js: a link to an earlier ply shows nothing of later ones."""

from __future__ import annotations

import json
from typing import Any

from tests.web.conftest import Pages

LATER = "told later"


def game(id: str, plies: int = 5) -> dict[str, Any]:
    return {
        "id": id,
        "plies": [{"ply": n, "clock_s": 100 - n} for n in range(1, plies + 1)],
        "curves": {"white": [{"ply": 1}, {"ply": 5}], "black": [{"ply": 4}]},
        "result": "1-0",
        "plies_played": plies,
        "plies_scored": plies,
        "head_to_head": {"expected_score": 0.75},
        "methods": {"white": {"performance": 2750.5, "few": [LATER]}, "missing": LATER},
        "problem": LATER,
        "dispute": LATER,
        "opening": LATER,
        "eco": LATER,
    }


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("client/event_state.js", name, *args)


def test_a_game_as_it_stood_after_a_ply(pages: Pages) -> None:
    whole = game("a")
    assert call(pages, "asOf", whole, None) == whole == call(pages, "asOf", whole, 5)
    cut = call(pages, "asOf", whole, 3)
    assert (len(cut["plies"]), cut["result"], cut["plies_scored"]) == (3, "*", 3)
    assert cut["curves"] == {"white": [{"ply": 1}], "black": []}
    told = json.dumps(cut)
    assert LATER not in told and "2750.5" not in told and "0.75" not in told
    assert cut["methods"]["white"]["performance"] is None


def test_players_and_moments_that_rest_on_later_plies_are_left_out(pages: Pages) -> None:
    games = [game("a"), game("b")]
    players = [{"id": "p", "points": 3.5}]
    moments = [
        {"id": "m1", "game": "a", "ply": 3, "color": "white"},
        {"id": "m2", "game": "a", "ply": 4, "color": "white"},
        {"id": "m3", "game": "b", "ply": 5, "color": "black"},
        {"id": "m4", "game": "b", "ply": 2, "color": None},
    ]

    def at(ply: int | None, only: str | None) -> tuple[list[str], list[Any], list[str]]:
        shown, known, told = pages(
            "earlier", games=games, players=players, moments=moments, ply=ply, only=only
        )
        results = [each["result"] for each in shown]
        return results, known, [each["id"] for each in told]

    everything = (["1-0", "1-0"], players, ["m1", "m2", "m3", "m4"])
    assert at(None, None) == at(5, None) == everything
    assert at(3, None) == (["*", "*"], [], ["m1"])
    assert at(3, "a") == (["*", "1-0"], [], ["m1", "m3"])
