"""What a chat reads of a board's link."""

from __future__ import annotations

from html.parser import HTMLParser

from msgspec.structs import replace

from live.events import GameView, Player
from live.publish.board_picture import share_page
from live.publish.published_state import view_of
from tests.terminal.stage import round_in_the_middle

GAME: GameView = view_of(round_in_the_middle().snapshot().games[0])


class Tags(HTMLParser):
    def __init__(self, body: bytes) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self.feed(body.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("property") or given.get("http-equiv")
        if name:
            self.found[name] = given["content"] or ""


def test_it_names_the_players_the_picture_and_the_way() -> None:
    game = replace(GAME, id="a/b c", white=Player('A "<x>'), black=Player("B"))
    found = Tags(share_page(game.id, game, "https://host/", picture=True)).found
    assert found["og:title"] == 'A "<x> – B'
    assert found["og:image"] == "https://host/api/v1/games/a%2Fb%20c.png"
    assert found["twitter:card"] == "summary_large_image"
    assert found["refresh"] == "0; url=./#game=a%2Fb+c"


def test_without_a_picture_there_is_no_image_and_without_a_game_no_name() -> None:
    assert "og:image" not in Tags(share_page(GAME.id, GAME, "https://host/", picture=False)).found
    found = Tags(share_page("", None, "https://host/", picture=True)).found
    assert (found["og:title"], found["refresh"]) == ("live-rate", "0; url=./")
    assert "og:image" not in found


def test_it_leads_to_a_board_that_it_may_not_name() -> None:
    page = share_page('"><script>', None, "https://host/", picture=True)
    assert Tags(page).found["refresh"] == "0; url=./#game=%22%3E%3Cscript%3E"
    assert Tags(page).found["og:title"] == "live-rate"
