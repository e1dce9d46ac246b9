"""The page of one board for links in chats: tags that chats read, and a redirect to the
board. Pure. The page's own places stand behind the ``#`` of its address, which browsers
do not send to servers.
"""

from collections.abc import Iterable, Iterator
from html import escape
from urllib.parse import quote, urlencode

from live.catalogue import elo_text
from live.event.rate_game import COLORS
from live.messages.figures import GameDetail
from live.messages.moments import Moment
from live.server.board_picture import describe_place
from live.server.drawing import HEIGHT, WIDTH
from live.server.wire import API_PATH
from live.watch.sentences import format_result


def render_share_page(
    asked: str,
    game: GameDetail | None,
    root: str,
    moments: Iterable[Moment] = (),
    *,
    picture: bool,
) -> bytes:
    """Return HTML with Open Graph (ogp.me) tags, which leads to the board at once.

    Args:
        asked: The id in the link: the page that it leads to may know a token, which no
            link has.
        game: The game; None for one that this visitor may not see, or that is not
            there.
        root: Where the service is, ``https://HOST/``.
        moments: What this visitor may hear of the game; the weightiest is told, but for
            a win with the lower figure, as both figures stand there.
        picture: Whether there is one of it.
    """
    place = f"#{urlencode({'game': asked})}" if asked else ""
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
    """Yield the result, both figures, what happened, and where it was played."""
    if not game.running:
        yield format_result(game.result)
    last = [points[-1] for points in (game.curves.white, game.curves.black) if points]
    figures = [point.perceived for point in last if point.perceived is not None]
    if len(figures) == len(COLORS):
        yield " : ".join(map(elo_text, figures))
    told = max(moments, key=_rank_for_links, default=None)
    if told is not None:
        yield told.text.en
    yield from describe_place(game)


def _rank_for_links(moment: Moment) -> tuple[bool, float, str]:
    return moment.kind == "despite", moment.weight, moment.id
