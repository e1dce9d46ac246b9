"""live/web/page/boards/boards_order.js: which boards are shown, and in which order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Curves, GameDetail, Player
from tests.web.page.games import Pages, game, plain, ply, point


def arranged(pages: Pages, games: list[GameDetail], **place: Any) -> list[str]:
    asked = {"q": "", "state": "all", "sort": "", "down": False, **place}
    found = pages(
        "call", module="page/boards/boards_order.js", name="arranged", args=[plain(games), asked]
    )
    return [each["id"] for each in found]


def boards() -> list[GameDetail]:
    quiet = (ply(1, 10), ply(2, 15), ply(3, 5))
    wild = (ply(1, 10), ply(2, 400), ply(3, -150))
    strong = Curves(white=(point(19, 10, 2300.0),))
    early = Curves(white=(point(17, 9, 2500.0),))
    return [
        game("a", board=3, plies=wild, curves=early, white=Player("Zoë Müller")),
        game("b", board=1, plies=quiet, curves=strong, white=Player("adam", team="Nord")),
        game("c", board=2, plies=(), curves=Curves(), start_score_cp=None, result="1-0"),
    ]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", "bca"),
        ("board", "bca"),
        ("no such order", "bca"),
        ("swing", "abc"),
        ("close", "bac"),
        ("rating", "bca"),
        ("score", "bac"),
        ("moves", "bac"),
        ("white", "bca"),
    ],
)
def test_orders(pages: Pages, sort: str, order: str) -> None:
    assert "".join(arranged(pages, boards(), sort=sort)) == order


def test_events_that_are_pairings_do_not_come_before_boards(pages: Pages) -> None:
    games = [
        game("a", board=2, event="Round 1: Abel - Bo", white=Player("Abel"), black=Player("Bo")),
        game("b", board=1, event="Round 1: Cid - Dee", white=Player("Cid"), black=Player("Dee")),
    ]
    assert arranged(pages, games) == ["b", "a"]


def test_what_is_unknown_comes_last_both_ways(pages: Pages) -> None:
    assert arranged(pages, boards(), sort="swing", down=True) == ["b", "a", "c"]
    assert arranged(pages, boards(), down=True) == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("muller", "a"),
        ("MÜLLER zoe", "a"),
        ("nord", "b"),
        ("board 2", "c"),
        ("open", "bca"),
        ("nobody", ""),
        ("müller nord", ""),
        ("  ", "bca"),
        ("(.*", ""),
    ],
)
def test_the_filter_finds_words_without_case_and_accents(
    pages: Pages, text: str, found: str
) -> None:
    assert "".join(arranged(pages, boards(), q=text)) == found


def test_running_and_over(pages: Pages) -> None:
    assert arranged(pages, boards(), state="running") == ["b", "a"]
    assert arranged(pages, boards(), state="over") == ["c"]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    scores=st.lists(st.none() | st.integers(-3900, 3900), min_size=1, max_size=12),
    sort=st.sampled_from(["close", "swing", "rating", "clock", "score", "result", "black"]),
    down=st.booleans(),
)
def test_every_order_keeps_every_board(
    pages: Pages, scores: list[int | None], sort: str, down: bool
) -> None:
    games = [
        game(f"g{at}", board=at, plies=(ply(1, cp), ply(2, 0)), curves=Curves())
        for at, cp in enumerate(scores)
    ]
    found = arranged(pages, games, sort=sort, down=down)
    assert sorted(found) == sorted(each.id for each in games)
    # The same boards in another order of arrival stand in the same order.
    assert arranged(pages, games[::-1], sort=sort, down=down) == found


def test_time_left_is_that_of_the_side_with_less(pages: Pages) -> None:
    games = [
        game("a", plies=(ply(1, 10, clock_s=600.0), ply(2, 15, clock_s=500.0))),
        game("b", plies=(ply(1, 10, clock_s=30.0), ply(2, 15, clock_s=900.0))),
    ]
    assert arranged(pages, games, sort="clock") == ["b", "a"]
