"""live/web/page/players/pooled_gains.js: a player's gains in the games that are held."""

from __future__ import annotations

from live.events import Curves, Player
from tests.web.page.games import Pages, game, plain, point


def test_gains_of_all_games_and_both_colours_are_the_players(pages: Pages) -> None:
    anna, bea = Player("Anna Ek", fide_id=77), Player("Bea Lund")
    curves = Curves(
        white=(point(1, 1, 2000.0, gain_cp=-7), point(3, 2, 2000.0)),
        black=(point(2, 1, 2000.0, gain_cp=-40),),
    )
    games = [
        game("a", white=anna, black=bea, curves=curves),
        game("b", white=bea, black=anna, curves=curves),
        game("c", curves=curves),
    ]
    found = pages(
        "call",
        module="page/players/pooled_gains.js",
        name="heldGains",
        args=[plain(games), "fide-77"],
    )
    assert sorted(found) == [-40, -7, 0]
