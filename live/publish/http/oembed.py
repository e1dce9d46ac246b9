"""What a page that was given the address of an overlay needs to embed it (oembed.com). Pure."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

#: What an overlay is drawn for; who embeds may ask for less.
WIDTH, HEIGHT = 960, 540
#: Layouts that are a strip.
_LOW = {"bar": 180, "ticker": 60}


class EmbeddedOverlay(msgspec.Struct, frozen=True):
    """An oEmbed answer of type ``rich`` (oembed.com, section 2.3.4.4)."""

    version: str
    type: str
    provider_name: str
    title: str
    width: int
    height: int
    html: str


def oembed(
    url: str, root: str, most_width: int = WIDTH, most_height: int = HEIGHT
) -> EmbeddedOverlay | None:
    """The answer for an address below ``root`` (``https://HOST/``); null for any other one."""
    found = _frame(url, root, most_width, most_height)
    if found is None:
        return None
    width, height, html = found
    return EmbeddedOverlay("1.0", "rich", "live-rate", "live-rate", width, height, html)


def _frame(url: str, root: str, most_width: int, most_height: int) -> tuple[int, int, str] | None:
    try:
        parts, own = urlsplit(url), urlsplit(root)
    except ValueError:
        return None
    if (parts.scheme, parts.netloc, parts.path) != (own.scheme, own.netloc, "/overlay"):
        return None
    # A token is nobody's business but of who was given it.
    query = [each for each in parse_qsl(parts.query) if each[0] != "token"]
    wanted = _LOW.get(dict(query).get("layout", ""), HEIGHT)
    by = min(1.0, most_width / WIDTH, most_height / wanted)
    width, height = max(1, int(WIDTH * by)), max(1, int(wanted * by))
    address = f"{own.scheme}://{own.netloc}/overlay" + (f"?{urlencode(query)}" if query else "")
    return (
        width,
        height,
        f'<iframe src="{escape(address)}" width="{width}" height="{height}" title="live-rate"'
        ' style="border:0" loading="lazy"></iframe>',
    )
