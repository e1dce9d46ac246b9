"""live/web/page/player_key.js: whom an address means."""

from __future__ import annotations

from typing import Any

from live.events import Player
from tests.web.page.games import Pages, game, plain

ANNA = Player("Anna Ek", elo=2100, fide_id=77)
BEA = Player("Béa Lund", elo=2000)


CARLSEN = {"name": "Carlsen, Magnus", "fide_id": 1503014}
MÜLLER = {"name": "Müller, Karsten", "fide_id": None}


def key(pages: Pages, player: dict[str, Any]) -> str:
    return str(pages("call", module="page/player_key.js", name="playerKey", args=[player]))


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
    return pages("call", module="page/player_key.js", name="playerOf", args=args)


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
