"""live/web/page/followed_players.js: who is followed, and what a browser keeps of it."""

from __future__ import annotations

import json

from tests.web.page.games import Pages

CARLSEN = {"name": "Carlsen, Magnus", "fide_id": 1503014}
MÜLLER = {"name": "Müller, Karsten", "fide_id": None}
BEA = {"name": "Bea", "fide_id": 0}


def test_followed_players_come_first_and_are_kept(pages: Pages) -> None:
    asked = [BEA, MÜLLER, CARLSEN]
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
    full = pages("followed_players", stored=None, toggled=[BEA], asked=[BEA], throws=True)
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
