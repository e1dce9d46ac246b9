"""The page of one board for links in chats: what these read of it, and the way to the board. Pure.

Places of the page stand behind the ``#`` of its address, which no server is told.
"""

from __future__ import annotations

from html import escape
from urllib.parse import quote, urlencode

from live.events import GameView
from live.publish.export.board_picture import HEIGHT, WIDTH


def share_page(asked: str, game: GameView | None, root: str, *, picture: bool) -> bytes:
    """HTML with Open Graph (ogp.me) tags, which leads to the board at once.

    Args:
        asked: The id in the link: the page that it leads to may know a token, which no link has.
        game: The game; None for one that this visitor may not see, or that is not there.
        root: Where the service is, ``https://HOST/``.
        picture: Whether there is one of it.
    """
    place = f"#{urlencode({'game': asked})}" if asked else ""
    title = "live-rate" if game is None else f"{game.white.name or '?'} – {game.black.name or '?'}"
    tags = {"og:type": "website", "og:site_name": "live-rate", "og:title": title}
    if game is not None:
        tags["og:description"] = " · ".join(filter(None, (game.event, game.round, game.result)))
        if picture:
            tags["og:image"] = f"{root}api/v1/games/{quote(game.id, safe='')}.png"
            tags["og:image:width"], tags["og:image:height"] = str(WIDTH), str(HEIGHT)
            tags["twitter:card"] = "summary_large_image"
    head = "".join(
        f'<meta property="{name}" content="{escape(text)}">' for name, text in tags.items()
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'{head}<meta http-equiv="refresh" content="0; url=./{escape(place)}"></head>'
        f'<body><a href="./{escape(place)}">{escape(title)}</a></body></html>'
    ).encode("utf-8", "replace")
