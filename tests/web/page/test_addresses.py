"""What an address of the page names, and whom this browser follows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import Player
from tests.web.conftest import Pages
from tests.web.page.games import game, plain

# --- page address --------------------------------------------------------------------------------


#: Lone halves of a surrogate pair cannot be written into an address.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
PLACES = st.fixed_dictionaries(
    {
        "view": st.sampled_from(["boards", "players", "wall", "health", "arbiter"]),
        "layout": st.sampled_from(["auto", "cards", "table"]),
        "state": st.sampled_from(["all", "running", "over"]),
        "figure": st.sampled_from(["", "perceived", "algorithm4"]),
        "game": st.just(""),
        "player": st.just(""),
        "event": TEXT,
        "round": TEXT,
        "q": TEXT,
        "sort": TEXT,
        "cols": TEXT,
        "follow": TEXT,
        "ply": st.none() | st.integers(0, 9999),
        "down": st.booleans(),
        "flip": st.booleans(),
    }
)


def read(pages: Pages, fragment: str) -> dict[str, Any]:
    found: dict[str, Any] = pages.run("page/page_address.js", "readPlace", fragment)
    return found


def write(pages: Pages, place: dict[str, Any]) -> str:
    return str(pages.run("page/page_address.js", "writePlace", place))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(place=PLACES)
def test_what_is_written_is_read_again(pages: Pages, place: dict[str, Any]) -> None:
    assert read(pages, write(pages, place)) == place


@settings(max_examples=50, deadline=None)
@given(name=TEXT.filter(bool), number=st.none() | st.integers(0, 300))
def test_a_board_is_named_by_its_game_alone(pages: Pages, name: str, number: int | None) -> None:
    home = read(pages, "")
    place = {**home, "view": "board", "game": name, "ply": number}
    fragment = write(pages, place)
    assert "view=" not in fragment
    assert read(pages, fragment) == place


def test_home_needs_no_fragment(pages: Pages) -> None:
    home = read(pages, "")
    assert write(pages, home) == ""
    assert home["view"] == "boards"
    assert home["ply"] is None


@pytest.mark.parametrize(
    "fragment",
    [
        "#view=nothing&layout=<b>&state=&figure=1",
        # What version 0.2 offered.
        "#figure=level",
        "#figure=auto",
        "#ply=-1",
        "#ply=12345",
        "#ply=1e3",
        "#view=board",
        "#__proto__=x&constructor=y&down=yes&flip=true",
        "#%zz&&&=",
    ],
)
def test_what_is_odd_counts_as_not_said(pages: Pages, fragment: str) -> None:
    assert read(pages, fragment) == read(pages, "")


def test_a_shared_address_keeps_what_is_seen_and_not_who_sees_it(pages: Pages) -> None:
    place = {**read(pages, ""), "view": "board", "game": "a b&c", "ply": 3}
    shared = pages.run(
        "page/page_address.js",
        "shareAddress",
        "https://host/?event=Open+A&token=geheim#view=health",
        place,
    )
    assert shared == "https://host/?event=Open+A#game=a+b%26c&ply=3"


def test_a_board_as_it_is_now_is_shared_by_the_address_that_has_a_picture(pages: Pages) -> None:
    place = {**read(pages, ""), "view": "board", "game": "a b&c"}

    def shared(href: str, **more: object) -> object:
        args = [href, {**place, **more}, True]
        return pages.run("page/page_address.js", "shareAddress", *args)

    assert (
        shared("https://host/live/?token=x#view=health") == "https://host/live/share?game=a+b%26c"
    )
    assert shared("https://host/", ply=3) == "https://host/#game=a+b%26c&ply=3"
    assert shared("https://host/", view="players") == "https://host/#game=a+b%26c&view=players"
    assert shared("https://host/?event=A") == "https://host/?event=A#game=a+b%26c"


# --- player key ----------------------------------------------------------------------------------


ANNA = Player("Anna Ek", elo=2100, fide_id=77)
BEA = Player("Béa Lund", elo=2000)


CARLSEN = {"name": "Carlsen, Magnus", "fide_id": 1503014}
MÜLLER = {"name": "Müller, Karsten", "fide_id": None}


def key(pages: Pages, player: dict[str, Any]) -> str:
    return str(pages.run("page/page_address.js", "playerKey", player))


def test_a_player_is_the_same_in_a_game_and_in_the_standings(pages: Pages) -> None:
    assert key(pages, CARLSEN) == "fide-1503014"
    assert key(pages, {"id": "fide-1503014", "name": "Magnus Carlsen"}) == "fide-1503014"
    assert key(pages, MÜLLER) == key(pages, {"id": "karsten-muller", "name": "Karsten Muller"})
    assert key(pages, {"name": "", "fide_id": None}) == ""


def found(pages: Pages, players: list[dict[str, Any]], key: str) -> Any:
    games = [
        game("old", round="1", white=ANNA, black=BEA),
        game("new", round="2", white=BEA, black=ANNA),
        game("other", round="2", board=2),
    ]
    args = [players, plain(games), key]
    return pages.run("page/page_address.js", "playerOf", *args)


def test_a_player_is_found_by_number_or_name_with_all_games_the_newest_first(pages: Pages) -> None:
    players = [{"id": "fide-77", "name": "Ek, Anna"}, {"id": "bea-lund", "name": "Lund, Bea"}]
    for key, name in (("fide-77", "Ek, Anna"), ("bea-lund", "Lund, Bea")):
        told = found(pages, players, key)
        assert told["player"]["name"] == name
        assert [each["id"] for each in told["games"]] == ["new", "old"]
    assert told["side"]["name"] == "Béa Lund"


def test_who_has_no_figures_yet_has_games_and_a_stranger_nothing(pages: Pages) -> None:
    told = found(pages, [], "fide-77")
    assert told["player"] is None
    assert told["side"]["elo"] == 2100
    assert found(pages, [], "nobody") == {"player": None, "side": None, "games": []}


# --- followed players ----------------------------------------------------------------------------


BEA_UNRATED = {"name": "Bea", "fide_id": 0}


def test_followed_players_come_first_and_are_kept(pages: Pages) -> None:
    asked = [BEA_UNRATED, MÜLLER, CARLSEN]
    done = pages("followed_players", stored=None, toggled=[CARLSEN, MÜLLER, CARLSEN], asked=asked)
    assert done["has"] == [False, True, False]
    assert done["first"] == ["Müller, Karsten", "Bea", "Carlsen, Magnus"]
    assert json.loads(done["text"]) == ["karsten-muller"]
    assert done["changes"] == 3
    again = pages("followed_players", stored=done["text"], toggled=[], asked=asked)
    assert again["has"] == [False, True, False]


def test_what_was_kept_is_not_trusted_and_a_full_store_does_no_harm(pages: Pages) -> None:
    for odd in ("{", "7", '[1, {"a": 2}, "fide-1503014"]'):
        done = pages("followed_players", stored=odd, toggled=[], asked=[CARLSEN])
        assert done["has"] == [odd.startswith("[")]
    full = pages(
        "followed_players",
        stored=None,
        toggled=[BEA_UNRATED],
        asked=[BEA_UNRATED],
        throws=True,
    )
    assert full["has"] == [True]


def test_a_link_to_followed_players_adds_them(pages: Pages) -> None:
    first = pages("followed_players", stored=None, toggled=[CARLSEN, MÜLLER], asked=[])
    assert first["keys"] == ["fide-1503014", "karsten-muller"]
    mine = '["karsten-muller", "bea"]'
    done = pages(
        "followed_players", stored=mine, toggled=[], linked=[*first["keys"], ""], asked=[CARLSEN]
    )
    assert (done["added"], done["has"]) == (1, [True])
    assert json.loads(done["text"]) == ["karsten-muller", "bea", "fide-1503014"]
