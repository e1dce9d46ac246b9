"""The page for links to one board: tags for a preview in chats, and a redirect. Pure.

A separate page is needed, since the address of a board is after the ``#`` of the page's
address, and browsers do not send that part to servers.
"""

from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote, urlencode

from live.catalogue import write_elo
from live.event.rate_game import COLORS
from live.messages.figures import GameDetail
from live.messages.moments import Moment
from live.server.board_picture import describe_place
from live.server.drawing import HEIGHT, WIDTH
from live.server.wire import API_PATH
from live.watch.sentences import format_result


def render_share_page(
    game_id: str,
    game: GameDetail | None,
    root: str,
    moments: Iterable[Moment] = (),
    *,
    picture: bool,
) -> bytes:
    """Return HTML with Open Graph tags (ogp.me) that redirects to the board at once.

    Args:
        game_id: the id of the game in the link. It is used even if ``game``
            is None: the page of the board can have a token, which the link lacks.
        game: the game; None if it does not exist or this visitor cannot see it.
        root: address of the service, ``https://HOST/``.
        moments: the moments of the game that this visitor can see. The most important
            one is shown. A win by the player with the lower perceived rating is
            preferred, since it explains the two ratings.
        picture: whether there is a picture of the board.
    """
    place = f"#{urlencode({'game': game_id})}" if game_id else ""
    title = (
        "live-rate"
        if game is None
        else f"{game.white.name or '?'} – {game.black.name or '?'}"
    )
    tags = {"og:type": "website", "og:site_name": "live-rate", "og:title": title}
    if game is not None:
        tags["og:description"] = " · ".join(_describe_game(game, moments))
        if picture:
            tags["og:image"] = (
                f"{root}{API_PATH[1:]}/games/{quote(game.id, safe='')}.png"
            )
            tags["og:image:width"] = str(WIDTH)
            tags["og:image:height"] = str(HEIGHT)
            tags["twitter:card"] = "summary_large_image"
    head = "".join(
        f'<meta property="{name}" content="{escape(text)}">'
        for name, text in tags.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        f'{head}<meta http-equiv="refresh" content="0; url=./{escape(place)}"></head>'
        f'<body><a href="./{escape(place)}">{escape(title)}</a></body></html>'
    ).encode("utf-8", "replace")


def _describe_game(game: GameDetail, moments: Iterable[Moment]) -> Iterator[str]:
    """Yield, in this order: the result, each player's figure, a sentence about one
    moment, and the event with its round.
    """
    if not game.running:
        yield format_result(game.result)
    last = [points[-1] for points in (game.curves.white, game.curves.black) if points]
    figures = [point.perceived for point in last if point.perceived is not None]
    if len(figures) == len(COLORS):
        yield " : ".join(map(write_elo, figures))
    moment = max(moments, key=_rank_for_links, default=None)
    if moment is not None:
        yield moment.text.en
    yield from describe_place(game)


def _rank_for_links(moment: Moment) -> tuple[bool, float, str]:
    return moment.kind == "despite", moment.weight, moment.id
