"""live/web/page/players/columns.js: every method a column, and never a made-up number."""

from __future__ import annotations

from typing import Any

import msgspec

from live.events import Intrinsic, PlayerMethods, PlayerView, Share, SideMethods
from tests.web.page.games import Pages, plain

CHOICES = Intrinsic(
    turns=31,
    rating=2222.0,
    low=1900.0,
    high=2500.0,
    beyond=True,
    move_match=0.5,
    average_difference=0.1,
    projected_match=None,
    projected_difference=None,
    match_z=None,
    difference_z=None,
    table="70 games",
)
NOBODY = PlayerView("n", "Nobody", None, 1, 0, None, None, None, None, None, None, None, None)


def shown(pages: Pages, of: msgspec.Struct, table: str = "PLAYER_COLUMNS") -> dict[str, Any]:
    return {each["id"]: each for each in pages("columns", table=table, of=plain(of))}


def test_every_figure_that_methods_carry_is_a_column(pages: Pages) -> None:
    marks: dict[str, Any] = {
        "conformance": Share(0.101, 0.05, 0.2, 11),
        "guid_bratko": Share(0.202, 0.1, 0.3, 12),
        "ponderated": Share(0.303, 0.2, 0.4, 13),
        "first_choice": Share(0.404, 0.3, 0.5, 14),
        "centipawn_loss": 15.04,
        "accuracy": 96.04,
        "tournament_rating": 2345,
        "markov_moves": 77,
        "intrinsic": CHOICES,
    }
    view = msgspec.structs.replace(NOBODY, methods=PlayerMethods(**marks))
    texts = [each["text"] for each in shown(pages, view).values()]
    for wanted in ("10 %", "20 %", "30 %", "40 %", "15.0", "96.0 %", "2345", "77", "2222"):
        assert wanted in texts
    carried = set(PlayerMethods.__struct_fields__)
    # What stands beside a figure, or says why there is none.
    beside = {
        "centipawn_loss_so_far",
        "accuracy_so_far",
        "missing",
        "tournament_difference",
        "tournament_low",
        "tournament_high",
        "tournament_group",
    }
    assert carried - beside == set(marks)


def test_an_interval_stands_beside_what_has_one(pages: Pages) -> None:
    view = msgspec.structs.replace(
        NOBODY,
        rating=2100.4,
        low=2000.0,
        high=2200.0,
        level=1999.5,
        level_low=1500.0,
        level_high=2500.0,
        level_share=0.22,
        percentile=74.2,
        performance=2050.0,
        performance_low=1900.0,
        performance_high=2200.0,
        fide_performance=2101,
        rating_change=-3.25,
        rating_k=20,
        rating_k_listed=True,
        methods=PlayerMethods(first_choice=Share(0.5, 0.25, 0.75, 8)),
    )
    found = shown(pages, view)
    assert (found["a4"]["text"], found["a4"]["interval"]) == ("2100", "2000–2200")
    assert (found["level"]["text"], found["level"]["interval"]) == ("2000", "1500–2500")
    assert (found["share"]["text"], found["percentile"]["text"]) == ("22 %", "74 %")
    assert found["performance"]["interval"] == "1900–2200"
    assert found["fide"]["text"] == "2101" and "(K 20)" in found["fide"]["interval"]
    assert found["first"]["interval"] == "25–75 %"


def test_algorithm_2_is_a_difference_where_nobody_is_rated(pages: Pages) -> None:
    ends: dict[str, Any] = {"tournament_low": -60, "tournament_high": 140}
    rated = PlayerMethods(tournament_rating=2300, tournament_difference=40, **ends)
    unrated = PlayerMethods(tournament_difference=40, **ends)
    for methods, text, interval in ((rated, "2300", "-60–140"), (unrated, "+40", "−60–+140")):
        found = shown(pages, msgspec.structs.replace(NOBODY, methods=methods))["a2"]
        assert (found["text"], found["interval"]) == (text, interval)


def test_a_z_score_is_never_without_what_it_is(pages: Pages) -> None:
    def said(choices: Intrinsic) -> str:
        view = msgspec.structs.replace(NOBODY, methods=PlayerMethods(intrinsic=choices))
        return str(shown(pages, view)["intrinsic"]["missing"])

    assert said(CHOICES) == "31 moves, by 70 games, beyond what it was learned from"
    told = said(msgspec.structs.replace(CHOICES, match_z=3.25, difference_z=-1.0))
    assert "z 3.3 and −1.0: a screening figure" in told or "z 3.2 and −1.0: a screening" in told
    assert "accuses nobody" in told


def test_unbounded_is_an_arrow_and_unknown_a_dash_with_its_reason(pages: Pages) -> None:
    below = shown(pages, msgspec.structs.replace(NOBODY, high=2034.0))
    assert (below["a4"]["text"], below["a4"]["interval"]) == ("2034", "or less")
    methods = PlayerMethods(missing={"accuracy": "3 moves not scored", "conformance": "too early"})
    unknown = shown(pages, msgspec.structs.replace(NOBODY, methods=methods))
    for name in (
        "elo",
        "level",
        "percentile",
        "alone",
        "a4",
        "expected",
        "a2",
        "accuracy",
        "conformance",
    ):
        assert unknown[name]["text"] == "–", name
        assert unknown[name]["missing"], name
    assert unknown["accuracy"]["missing"] == "3 moves not scored"
    assert unknown["conformance"]["missing"] == "too early"


def test_a_figure_that_is_not_whole_yet_is_marked(pages: Pages) -> None:
    methods = SideMethods(accuracy_so_far=91.25, missing={"accuracy": "2 moves not scored"})
    view = msgspec.structs.replace(NOBODY, methods=PlayerMethods())
    side = {**plain(view), "methods": plain(methods)}
    found = {each["id"]: each for each in pages("columns", table="SIDE_COLUMNS", of=side)}
    assert found["accuracy"]["text"] in ("91.3 %", "91.2 %")
    assert found["accuracy"]["provisional"]
    assert found["accuracy"]["missing"] == "2 moves not scored"


def test_players_are_ranked_best_first_by_any_column(pages: Pages) -> None:
    def player(
        name: str,
        rating: float | None,
        ends: tuple[float | None, float | None],
        loss: float | None,
    ) -> Any:
        low, high = ends
        return plain(
            msgspec.structs.replace(
                NOBODY,
                id=name,
                name=name,
                rating=rating,
                low=low,
                high=high,
                methods=PlayerMethods(centipawn_loss=loss),
            )
        )

    players = [
        player("a", 2000.0, (1900.0, 2100.0), 30.0),
        player("b", None, (None, 2300.0), 10.0),
        player("c", 2200.0, (2100.0, 2300.0), None),
        player("d", None, (None, None), 20.0),
        player("e", 2600.0, (2150.0, None), 40.0),
    ]

    def ranked(sort: str, down: bool = False) -> str:
        found = pages(
            "call",
            module="page/players/columns.js",
            name="rankedPlayers",
            args=[players, sort, down],
        )
        return "".join(each["player"]["id"] for each in found)

    # `2150 or more` is 2150; unbounded below is below everybody; nothing known comes last.
    assert ranked("a4") == "ceabd"
    assert ranked("a4", down=True) == "baecd"
    # Of losses the smallest is the best.
    assert ranked("loss") == "bdaec"
    assert ranked("name") == "abcde"
    assert ranked("name", down=True) == "edcba"


def test_places_are_by_what_is_known_and_ties_are_ties(pages: Pages) -> None:
    def player(name: str, moves: int, low: float, high: float) -> Any:
        view = msgspec.structs.replace(
            NOBODY,
            id=name,
            name=name,
            moves=moves,
            performance=(low + high) / 2,
            performance_low=low,
            performance_high=high,
        )
        return plain(view)

    players = [
        player("wide", 20, 1500, 3100),
        player("worst", 30, 1700, 1900),
        player("best", 40, 2400, 2700),
        player("near", 40, 2300, 2650),
        player("one move", 1, 2390, 2900),
    ]
    found = pages(
        "call",
        module="page/players/columns.js",
        name="rankedPlayers",
        args=[players, "", False],
    )
    places = [(each["player"]["id"], each["place"]) for each in found]
    assert places == [
        ("best", "1="),
        ("near", "1="),
        ("wide", "1="),
        ("worst", "3"),
        ("one move", ""),
    ]


def test_columns_can_be_chosen(pages: Pages) -> None:
    def chosen(text: str) -> list[str]:
        found = pages("call", module="page/players/columns.js", name="chosenColumns", args=[text])
        return [each["id"] for each in found]

    assert chosen("a4,elo,nonsense") == ["elo", "a4"]
    assert "level" in chosen("")
    # Addresses of before.
    assert chosen("calibrated,form") == ["level", "percentile"]
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
