"""live/web/overlay/tables/round_table.js: standings by points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from live.events import RESULT_POINTS

Pages = Callable[..., Any]


def game(white: str, black: str, result: str = "*", plies: int = 10) -> dict[str, Any]:
    return {
        "white": {"name": white, "fide_id": None},
        "black": {"name": black, "fide_id": None},
        "result": result,
        "plies": [{}] * plies,
    }


def table(pages: Pages, games: list[dict[str, Any]], **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pages(
        "call", module="overlay/tables/round_table.js", name="roundTable", args=[games, options]
    )
    return found


GAMES = [
    game("Ann", "Bo", "1-0"),
    game("Cy", "Di", "1/2-1/2"),
    game("Bo", "Cy", "0-1"),
    game("Di", "Ann", "*"),
    game("Ed", "Flo", "*", 0),
]


def test_finished_games_count_and_running_ones_are_marked(pages: Pages) -> None:
    rows = table(pages, GAMES)
    told = [
        (each["player"]["name"], each["points"], each["games"], each["playing"]) for each in rows
    ]
    assert told == [
        ("Cy", 1.5, 2, False),
        ("Ann", 1, 1, True),
        ("Di", 0.5, 1, True),
        ("Bo", 0, 2, False),
        ("Ed", 0, 0, False),
        ("Flo", 0, 0, False),
    ]
    places = [(each["place"], each["tied"]) for each in rows]
    assert places == [(1, False), (2, False), (3, False), (4, True), (4, True), (4, True)]


def test_another_scoring_ranks_otherwise(pages: Pages) -> None:
    rows = table(pages, [*GAMES, game("Cy", "Ann", "0-1")], scoring="3-1-0")
    assert [(each["player"]["name"], each["points"]) for each in rows][:2] == [
        ("Ann", 6),
        ("Cy", 4),
    ]


@pytest.mark.parametrize("result", RESULT_POINTS)
def test_every_result_counts_as_the_service_counts_it(pages: Pages, result: str) -> None:
    rows = table(pages, [game("Ann", "Bo", result)])
    points = {each["player"]["name"]: (each["points"], each["games"]) for each in rows}
    assert points == {
        name: (points, 1) for name, points in zip(("Ann", "Bo"), RESULT_POINTS[result], strict=True)
    }


def test_points_of_a_player_are_those_of_the_service(pages: Pages) -> None:
    players = [
        {"id": "7", "name": "Li, Wei", "points": 2.5, "finished": 4},
        {"id": "Bo", "name": "Bo", "points": None, "finished": 0},
    ]

    def points(side: dict[str, Any], scoring: str = "1-half-0") -> Any:
        args = [players, side, scoring]
        module = "overlay/tables/round_table.js"
        return pages("call", module=module, name="eventPoints", args=args)

    assert points({"name": "Li Wei", "fide_id": 7}) == "2½ / 4"
    assert points({"name": "Li, Wei", "fide_id": None}) == "2½ / 4"
    assert points({"name": "Bo", "fide_id": None}) is None
    assert points({"name": "Nobody", "fide_id": None}) is None
    # Wins and draws cannot be had back from the sum.
    assert points({"name": "Li Wei", "fide_id": 7}, "3-1-0") is None


TIED = [
    game("Ann", "Bo", "1-0"),
    game("Bo", "Cy", "1-0"),
    game("Cy", "Ann", "1/2-1/2"),
    game("Cy", "Di", "1-0"),
    game("Bo", "Di", "1/2-1/2"),
]


@pytest.mark.parametrize(
    ("tie", "values"),
    [
        # Ann 1½, Bo 1½, Cy 1½, Di ½.
        ("direct", {"Ann": 1.5, "Bo": 1, "Cy": 0.5, "Di": 0}),
        ("wins", {"Ann": 1, "Bo": 1, "Cy": 1, "Di": 0}),
        ("black", {"Ann": 1, "Bo": 1, "Cy": 1, "Di": 2}),
        ("buchholz", {"Ann": 3, "Bo": 3.5, "Cy": 3.5, "Di": 3}),
        ("sonneborn", {"Ann": 2.25, "Bo": 1.75, "Cy": 1.25, "Di": 0.75}),
    ],
)
def test_tie_breaks(pages: Pages, tie: str, values: dict[str, float]) -> None:
    rows = table(pages, TIED, ties=[tie])
    assert {each["player"]["name"]: each["ties"][0] for each in rows} == values
    assert {each["points"] for each in rows[:3]} == {1.5}
    ranked = [values[each["player"]["name"]] for each in rows[:3]]
    assert ranked == sorted(ranked, reverse=True)


def test_the_second_tie_break_decides_where_the_first_does_not(pages: Pages) -> None:
    rows = table(pages, TIED, ties=["wins", "direct"])
    assert [each["player"]["name"] for each in rows] == ["Ann", "Bo", "Cy", "Di"]
    assert [each["place"] for each in rows] == [1, 2, 3, 4]


def test_one_player_is_known_by_the_fide_id(pages: Pages) -> None:
    games = [game("Li, Wei", "Bo", "1-0"), game("Cy", "Li Wei", "0-1")]
    for each, side in zip(games, ("white", "black"), strict=True):
        each[side]["fide_id"] = 7
    assert next((each["id"], each["points"]) for each in table(pages, games)) == ("7", 2)
