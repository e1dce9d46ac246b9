"""Moments as RSS 2.0 (rssboard.org/rss-specification). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from email.utils import formatdate
from typing import Final
from urllib.parse import urlencode
from xml.sax.saxutils import escape

from live.events import GameId, GameView, Moment, MomentText
from live.games.player_names import isolated

LANGUAGES: Final = MomentText.__struct_fields__
#: The newest so many are in the feed.
MOST_ITEMS: Final = 50


def page_link(base: str, moment: Moment) -> str:
    """The page of the board at the very position; ``base`` ends with a slash."""
    return f"{base}#{urlencode({'game': moment.game, 'ply': moment.ply})}"


def overlay_link(base: str, moment: Moment) -> str:
    """The overlay of the board at the very position."""
    return f"{base}overlay?{urlencode({'game': moment.game, 'ply': moment.ply})}"


def rss(
    moments: Iterable[Moment], games: Mapping[GameId, GameView], base: str, language: str
) -> str:
    """The feed, newest first; moments of an unknown time come last."""
    newest = sorted(moments, key=lambda each: (-(each.at_s or 0.0), each.id))[:MOST_ITEMS]
    items = "".join(_item(each, games.get(each.game), base, language) for each in newest)
    title = "live-rate: moments"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>'
        f"<title>{title}</title><link>{_text(base)}</link>"
        f"<description>{title}</description><language>{language}</language>\n"
        f"{items}</channel></rss>\n"
    )


def _item(moment: Moment, game: GameView | None, base: str, language: str) -> str:
    sentence = getattr(moment.text, language)
    about = []
    if game is not None:
        names = f"{isolated(game.white.name)} – {isolated(game.black.name)}"
        about = [names, game.event, game.round]
    date = "" if moment.at_s is None else f"<pubDate>{formatdate(moment.at_s)}</pubDate>"
    links = "; ".join(filter(None, (*about, f"overlay: {overlay_link(base, moment)}")))
    return (
        f"<item><title>{_text(sentence)}</title><link>{_text(page_link(base, moment))}</link>"
        f"<description>{_text(links)}</description><category>{moment.kind}</category>"
        f'<guid isPermaLink="false">{_text(moment.id)}</guid>{date}</item>\n'
    )


def _text(text: str) -> str:
    """Escaped, and without what XML 1.0 cannot hold (section 2.2)."""
    allowed = (
        char
        for char in text
        if char in "\t\n\r"
        or "\x20" <= char <= "\ud7ff"
        or "\ue000" <= char <= "\ufffd"
        or char >= "\U00010000"
    )
    return escape("".join(allowed))
