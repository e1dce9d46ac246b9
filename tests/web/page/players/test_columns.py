"""live/web/page/players/columns.js: every method a column, and never a made-up number."""

from __future__ import annotations

from typing import Any

import msgspec

from live.events import PlayerMethods, PlayerView, Share
from tests.web.page.games import Pages, plain

NOBODY = PlayerView("n", "Nobody", None, 1, 0, None)
ENGINE = {"rating": 2200}


def shown(pages: Pages, of: msgspec.Struct, table: str = "PLAYER_COLUMNS") -> dict[str, Any]:
    return {each["id"]: each for each in pages("columns", table=table, of=plain(of), engine=ENGINE)}


def test_each_figure_is_written_with_its_unit_and_interval(pages: Pages) -> None:
    first_choice = Share(0.404, 0.3, 0.5, 14)
    methods = PlayerMethods(first_choice=first_choice, centipawn_loss=15.04, accuracy=96.04)
    view = msgspec.structs.replace(
        NOBODY,
        counted=30,
        perceived=2340.4,
        usual_low=1900.0,
        usual_high=2300.0,
        percentile=99.8,
        score=0.4,
        difference=-70.0,
        difference_low=-170.0,
        difference_high=30.0,
        rating_change=-3.25,
        methods=methods,
    )
    found = shown(pages, view)
    assert (found["perceived"]["text"], found["perceived"]["interval"]) == (
        "2340",
        "usual 1900–2300",
    )
    assert found["percentile"]["text"] == "99\u00a0%"
    assert (found["algorithm4"]["text"], found["algorithm4"]["interval"]) == ("2130", "2030–2230")
    assert found["first_choice"]["text"] == "40\u00a0%"
    assert found["first_choice"]["interval"] == "30\u00a0%–50\u00a0%"
    assert (found["centipawn_loss"]["text"], found["accuracy"]["text"]) == ("15.0", "96.0\u00a0%")
    assert found["rating_change"]["text"] in ("−3.2", "−3.3")


def test_what_is_early_has_no_percentile(pages: Pages) -> None:
    early = msgspec.structs.replace(NOBODY, counted=9, perceived=2340.0, percentile=90.0)
    found = shown(pages, early)
    assert (found["perceived"]["early"], found["percentile"]["text"]) == (True, "–")


def test_unknown_is_a_dash_with_its_reason(pages: Pages) -> None:
    methods = PlayerMethods(missing={"accuracy": "3 moves not scored", "conformance": "too early"})
    unknown = shown(pages, msgspec.structs.replace(NOBODY, methods=methods))
    for name in ("elo", "perceived", "percentile", "algorithm4", "score", "tournament"):
        assert unknown[name]["text"] == "–", name
        assert unknown[name]["missing"], name
    assert unknown["accuracy"]["missing"] == "3 moves not scored"
    assert unknown["conformance"]["missing"] == "too early"


def test_players_are_ranked_best_first_by_any_column(pages: Pages) -> None:
    def player(name: str, elo: int | None, perceived: float | None, loss: float | None) -> Any:
        view = msgspec.structs.replace(
            NOBODY,
            id=name,
            name=name,
            elo=elo,
            counted=30,
            perceived=perceived,
            methods=PlayerMethods(centipawn_loss=loss),
        )
        return plain(view)

    players = [
        player("a", 2000, 2300.2, 30.0),
        player("b", None, 2299.9, 10.0),
        player("c", 2200, 2500.0, None),
        player("d", 2000, None, 20.0),
    ]

    def ranked(sort: str, down: bool = False) -> list[str]:
        args = [players, sort, down]
        call = {"module": "page/players/columns.js", "name": "rankedPlayers"}
        return [each["player"]["id"] + each["place"] for each in pages("call", **call, args=args)]

    assert ranked("") == ranked("perceived") == ["c1", "a2=", "b2=", "d"]
    # The other way round, nothing known still comes last.
    assert ranked("", down=True) == ["b2=", "a2=", "c1", "d"]
    assert ranked("elo") == ["c1", "a2=", "d2=", "b"]
    # Of losses the smallest is the best.
    assert ranked("centipawn_loss") == ["b1", "d2", "a3", "c"]
    assert ranked("name", down=True) == ["d4", "c3", "b2", "a1"]


def test_columns_can_be_chosen(pages: Pages) -> None:
    def chosen(text: str) -> list[str]:
        found = pages("call", module="page/players/columns.js", name="chosenColumns", args=[text])
        return [each["id"] for each in found]

    assert chosen("algorithm4,elo,nonsense") == ["elo", "algorithm4"]
    assert "perceived" in chosen("")
    assert chosen("nonsense") == chosen("")


def test_a_plugins_figure_is_a_column_under_its_name(pages: Pages) -> None:
    figure = {"name": "captures", "value": 41.25, "low": -3.0, "high": 60.0, "digits": 1}
    players = [
        {"id": "a", "name": "A", "plugins": [figure]},
        {"id": "b", "name": "B", "plugins": [{"name": "captures", "value": 50.0}]},
        {"id": "c", "name": "C"},  # of a service that knows no plugins
    ]
    ranked = pages(
        "call",
        module="page/players/columns.js",
        name="rankedPlayers",
        args=[players, "plugin-captures", False],
    )
    assert [(each["player"]["id"], each["place"]) for each in ranked] == [
        *(("b", "1"), ("a", "2"), ("c", ""))
    ]
