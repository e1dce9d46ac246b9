"""The pages made from text: ``/docs``, and the manual at ``/manual/`` with its pictures. Pure."""

from __future__ import annotations

import gzip
from functools import cache

from live.manual.html import index_html, topic_html
from live.manual.pages import PICTURES, TOPICS, picture
from live.publish.http import docs_page
from live.publish.http.static_files import CONTENT_TYPES, StaticFile

MANUAL = "/manual/"


def text_page(path: str) -> StaticFile | None:
    """What is at a decoded URL path; null where none of these pages is."""
    if path == "/docs":
        return _html(path)
    if not path.startswith(MANUAL):
        return None
    name = path.removeprefix(MANUAL)
    if name in PICTURES:
        return StaticFile(CONTENT_TYPES[".png"], picture(name))
    return _html(path) if name in ("", *TOPICS) else None


@cache
def _html(path: str) -> StaticFile:
    """A known path only: what is asked for from outside must not fill the cache."""
    topic = path.removeprefix(MANUAL)
    body = docs_page.page() if path == "/docs" else topic_html(topic) if topic else index_html()
    packed = gzip.compress(body, compresslevel=9, mtime=0)
    return StaticFile(CONTENT_TYPES[".html"], body, packed)
