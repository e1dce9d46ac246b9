"""live/web/client/figures.js: the figure of a player as it is read, and players in its order."""

from __future__ import annotations

from typing import Any

import pytest

from live.catalogue import EARLY_MOVES, LEAST_SHOWN_ELO, MOST_SHOWN_ELO
from live.ledger.players import leading_figure
from tests.web.page.games import Pages, plain, point


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages("call", module="client/figures.js", name=name, args=list(args))


def figure(pages: Pages, held: Any, kind: str = "perceived", engine: int | None = 2200) -> Any:
    return call(pages, "figureOf", plain(held), kind, engine)


def test_the_choices_and_limits_are_those_of_the_service(pages: Pages) -> None:
    def constant(name: str) -> Any:
        return pages("constant", module="client/figures.js", name=name)

    assert constant("CHOICES") == list(leading_figure.CHOICES)
    assert constant("EARLY_MOVES") == EARLY_MOVES


def test_each_figure_is_read_with_its_own_band(pages: Pages) -> None:
    held = point(40, 20, 2340.4)
    found = figure(pages, held)
    assert (found["value"], found["low"], found["high"]) == (2340.4, 1900, 2300)
    assert (found["counted"], found["percentile"]) == (20, 50)
    assert call(pages, "beyondUsual", found) == "above"
    assert call(pages, "bandText", found) == "1900–2300"
    published = figure(pages, held, "algorithm4")
    assert (published["value"], published["low"], published["high"]) == (2130, 2030, 2230)
    assert call(pages, "beyondUsual", published) == ""
    assert figure(pages, held, "algorithm4", None) is None
    assert figure(pages, point(1, 0, None)) is None


def test_what_is_early_has_no_percentile_and_is_nowhere_beyond(pages: Pages) -> None:
    early, enough = (figure(pages, point(30, n, 2500.0)) for n in (EARLY_MOVES - 1, EARLY_MOVES))
    assert [call(pages, "isEarly", each) for each in (early, enough)] == [True, False]
    assert [each["percentile"] for each in (early, enough)] == [None, 50]
    assert [call(pages, "beyondUsual", each) for each in (early, enough)] == ["", "above"]


def test_without_an_own_rating_there_is_no_band_and_that_is_all(pages: Pages) -> None:
    found = figure(pages, point(40, 20, 2340.4, usual_low=None, usual_high=None, percentile=None))
    assert found["value"] == 2340.4
    assert [call(pages, name, found) for name in ("bandText", "beyondUsual")] == ["", ""]


@pytest.mark.parametrize(
    ("perceived", "said"),
    [
        (2340.5, "2341"),
        (MOST_SHOWN_ELO + 0.1, f"{MOST_SHOWN_ELO} or more"),
        (LEAST_SHOWN_ELO - 0.1, f"{LEAST_SHOWN_ELO} or less"),
    ],
)
def test_words_clip_what_numbers_do_not(pages: Pages, perceived: float, said: str) -> None:
    found = figure(pages, point(40, 20, perceived, usual_low=500.0, usual_high=3500.0))
    assert found["value"] == perceived
    assert call(pages, "eloText", found) == said
    assert call(pages, "bandText", found) == f"{LEAST_SHOWN_ELO}–{MOST_SHOWN_ELO}"


def test_nobody_is_better_than_all_or_than_none(pages: Pages) -> None:
    assert [call(pages, "percentText", value) for value in (0.2, 49.6, 99.8)] == ["1", "50", "99"]


def test_players_stand_in_falling_order_and_equal_numbers_are_a_tie(pages: Pages) -> None:
    def player(name: str, perceived: float | None, counted: int, points: float | None) -> Any:
        held = plain(point(1, counted, perceived))
        return {**held, "id": name, "name": name, "moves": counted, "points": points}

    players = [
        player("d", 2900.0, EARLY_MOVES - 1, 2.0),
        player("b", 2400.2, 30, 0.5),
        player("a", 2399.8, 30, 2.0),
        player("c", 2300.0, 30, 1.0),
        player("e", None, 0, None),
    ]

    def places(by: str) -> list[tuple[str, str]]:
        found = call(pages, "standings", players, {"by": by, "engineRating": 2200})
        return [(each["player"]["id"], call(pages, "placeText", each)) for each in found]

    early = [("d", ""), ("e", "")]
    assert places("perceived") == [("a", "1="), ("b", "1="), ("c", "3"), *early]
    assert places("points") == [("a", "1="), ("d", "1="), ("c", "3"), ("b", "4"), ("e", "")]
