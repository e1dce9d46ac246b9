"""Rounds of an event and its matches of teams: live/web/client."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.catalogue import points_text
from live.events import GameDetail, Player
from live.ledger.roster import team_matches
from tests.web.conftest import Pages
from tests.web.page.games import game, plain

# --- event rounds ---------------------------------------------------------------------------------


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("client/games.js", name, *args)


def board(name: str, round: str, result: str = "*", **more: Any) -> GameDetail:
    return game(name, round=round, result=result, **more)


def rounds() -> list[Any]:
    found: list[Any] = plain(
        [
            board("a", "2.1", "1-0", date="2026.05.01"),
            board("b", "2.2", "0-1", date="2026.04.30"),
            board("c", "10.1", date="2026.05.02"),
            board("d", "10.2", "1/2-1/2", date="??"),
            board("e", "11.1", plies=()),
        ]
    )
    return found


def test_rounds_are_listed_the_newest_first_with_date_and_state(pages: Pages) -> None:
    found = call(pages, "roundsOf", rounds())
    assert [(each["round"], each["date"]) for each in found] == [
        ("11", ""),
        ("10", "2026.05.02"),
        ("2", "2026.04.30"),
    ]
    assert [(each["games"], each["running"], each["over"]) for each in found] == [
        (1, 0, 0),
        (2, 1, 1),
        (2, 0, 2),
    ]


def test_what_sources_write_as_one_round_is_one(pages: Pages) -> None:
    written = [f"7.{at}" if at < 20 else "7" if at % 2 else "Round 07" for at in range(1, 29)]
    games = plain([board(f"g{at}", round) for at, round in enumerate(written, 1)])
    assert [each["round"] for each in call(pages, "roundsOf", games)] == ["7"]
    assert len(call(pages, "inRound", games, {"round": "7"})) == 28
    numbered = [{**each, "board": at} for at, each in enumerate(games, 1)]
    pairs = [(one, two) for one, two in itertools.pairwise(numbered)]
    module = "client/games.js"
    orders = [pages.run(module, "gameOrder", *pair) for pair in pairs]
    assert all(order < 0 for order in orders)


@pytest.mark.parametrize(
    ("place", "ids"),
    [
        ({}, "cd"),  # what is played now, though the next is paired already
        ({"round": "all"}, "abcde"),
        ({"round": "2"}, "ab"),
        ({"round": "2", "event": "Open"}, "ab"),
        ({"round": "2", "event": "Other"}, ""),
        ({"round": "7"}, ""),
    ],
)
def test_a_place_asks_for_a_round(pages: Pages, place: dict[str, str], ids: str) -> None:
    assert "".join(each["id"] for each in call(pages, "inRound", rounds(), place)) == ids


def test_each_event_has_its_own_newest_round(pages: Pages) -> None:
    games = [
        *rounds(),
        *plain([board("x", "1", "1-0", event="Club"), board("y", "3", "1-0", event="Club")]),
    ]
    assert "".join(each["id"] for each in call(pages, "inRound", games, {})) == "cdy"


@pytest.mark.parametrize(
    ("round", "name"), [("4", "Round 4"), ("Final", "Final"), ("?", ""), ("-", ""), ("", "")]
)
def test_rounds_are_named_as_their_source_does(pages: Pages, round: str, name: str) -> None:
    assert call(pages, "roundName", round) == name


def test_dates_are_read_as_people_write_them(pages: Pages) -> None:
    assert call(pages, "dateText", "2026.05.02") == "2 May 2026"
    for odd in ("2026.??.??", "", "yesterday"):
        assert call(pages, "dateText", odd) == ""


def test_the_picker_says_how_far_a_round_is(pages: Pages) -> None:
    listed = call(pages, "roundsOf", rounds())
    said = [pages.run("page/boards.js", "roundWords", each) for each in listed]
    assert said == [
        "Round 11 \u00b7 not begun",
        "Round 10 \u00b7 2 May 2026 \u00b7 live",
        "Round 2 \u00b7 30 Apr 2026 \u00b7 over",
    ]


# --- team matches ---------------------------------------------------------------------------------


TEAMS = st.sampled_from(["India", "Norway", "Peru", None])
#: The last is but the pairing.
EVENTS = st.sampled_from(["Open", "Women", "Round 1: A - B"])
GAMES = st.lists(
    st.tuples(
        EVENTS, TEAMS, TEAMS, st.sampled_from(["*", "1-0", "0-1", "1/2-1/2", "0-0", "1/2-0"])
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(told=GAMES)
def test_both_count_alike(
    pages: Pages, told: list[tuple[str, str | None, str | None, str]]
) -> None:
    games = [
        game(
            f"g{at}",
            event=event,
            round=f"{at % 2 + 1}.{at}",
            white=Player("A", team=white),
            black=Player("B", team=black),
            result=result,
        )
        for at, (event, white, black, result) in enumerate(told)
    ]
    found = pages.run("client/games.js", "teamMatches", plain(games))
    assert {
        (each["event"], each["round"], *each["teams"], *each["points"], each["running"])
        for each in found
    } == {
        (each.event, each.round, *each.teams, *each.points, each.running)
        for each in team_matches(games)
    }
    assert len(found) == len(team_matches(games))


def test_points_are_written_alike(pages: Pages) -> None:
    for points in (0, 0.5, 1, 3.5, 11):
        args = [points]
        text = pages.run("client/games.js", "pointsText", *args)
        assert text == points_text(points)
    assert pages.run("client/games.js", "pointsText", 2.25) == "2.25"
