"""The static files of the browser pages: only what is in one folder, only of known types.

Text goes out as gzip to those who take it: pages are opened over hotel networks, and a fresh page
is a third of its size so. It is pressed once for each change of the file. Comments of our own
scripts and styles stay at home: they were a fifth of what a fresh overlay fetched.

The manual at ``/manual/``, made from text, with its pictures.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from live.catalogue import catalogue_json
from live.manual.html import index_html, topic_html
from live.manual.pages import PICTURES, TOPICS, picture

#: Scripts, styles, pictures and connections from this very origin, no inline script, no plugins,
#: no foreign frames around the page; the builder frames the overlay. OBS shows a page in its own
#: window: that does not hinder it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; media-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


def policy_for(frames: Sequence[str]) -> str:
    """The policy where pages of these origins may show ours in a frame."""
    return " ".join((POLICY, *frames))


#: A file of any other type is not served, even when it lies in the folder.
CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".woff2": "font/woff2",
    ".json": "application/json",
    ".map": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
}

#: Pages that have a name of their own.
_NAMED = {
    "/": "index.html",
    "/overlay": "overlay.html",
    "/overlays": "builder.html",
    "/favicon.ico": "favicon.ico",
}

OVERLAY = Path(__file__).resolve().parents[2] / "web"
#: The module that the page takes the words of the figures from; it is in no file.
CATALOGUE = "client/catalogue.js"


def catalogue_module() -> bytes:
    """The catalogue of figures as a module of the page."""
    return b"export default " + catalogue_json() + b";\n"


#: What is packed already, or so small that gzip saves nothing, stays as it is.
_PACKED = {".png", ".ico", ".woff2", ".mp3", ".ogg"}
_WORTH_BYTES = 300


#: Whose comments are left out; those of others hold their licences.
_COMMENTED = {".js", ".css"}
#: Comments that have lines of their own.
_COMMENT = re.compile(rb"^[ \t]*(?:/\*.*?\*/|//[^\n]*)[ \t]*$", re.DOTALL | re.MULTILINE)


def without_comments(text: bytes) -> bytes:
    """A script or a style sheet without the comments that stand on lines of their own; every line
    keeps its number.
    """
    return _COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), text)


class StaticFile(msgspec.Struct, frozen=True):
    content_type: str
    body: bytes
    gzipped: bytes | None = None
    """The same bytes by gzip; null where that is not worth it."""


def takes_gzip(accepted: str) -> bool:
    """Whether an ``Accept-Encoding`` header allows gzip (RFC 9110, section 12.5.3)."""
    weights: dict[str, bool] = {}
    for each in accepted.lower().split(","):
        name, _, parameters = each.partition(";")
        weights[name.strip()] = parameters.replace(" ", "").rstrip("0.") != "q="
    return weights.get("gzip", weights.get("*", False))


class StaticSite:
    """Files below one folder, read when asked for and kept while they don't change."""

    def __init__(self, root: Path = OVERLAY) -> None:
        self._root = root.resolve()
        self._kept: dict[Path, tuple[tuple[int, int], StaticFile]] = {}

    def page(self, path: str) -> StaticFile | None:
        """What is at a decoded URL path: ``/`` and other named pages, ``/static/…``; else null."""
        name = _NAMED.get(path)
        if name is None:
            if not path.startswith("/static/"):
                return None
            name = path.removeprefix("/static/")
        parts = name.split("/")
        # Hidden files, "..", empty parts and other systems' separators are nobody's business.
        if any(not part or part.startswith(".") or _odd(part) for part in parts):
            return None
        file = self._root.joinpath(*parts)
        content_type = CONTENT_TYPES.get(file.suffix.lower())
        if name == CATALOGUE:
            body = catalogue_module()
            return StaticFile(CONTENT_TYPES[".js"], body, _pressed(file, body))
        if content_type is None:
            return None
        return self._read(file, content_type)

    def _read(self, file: Path, content_type: str) -> StaticFile | None:
        try:
            # A link inside the folder may point outside it.
            if not file.resolve().is_relative_to(self._root) or not file.is_file():
                return None
            stat = file.stat()
            stamp = (stat.st_mtime_ns, stat.st_size)
            kept = self._kept.get(file)
            if kept is None or kept[0] != stamp:
                body = file.read_bytes()
                if file.suffix.lower() in _COMMENTED and "vendor" not in file.parts:
                    body = without_comments(body)
                kept = self._kept[file] = (
                    stamp,
                    StaticFile(content_type, body, _pressed(file, body)),
                )
        except OSError:
            return None
        return kept[1]


def _pressed(file: Path, body: bytes) -> bytes | None:
    if file.suffix.lower() in _PACKED or len(body) < _WORTH_BYTES:
        return None
    # No time of day inside: equal files have equal tags, also after a restart.
    return gzip.compress(body, compresslevel=9, mtime=0)


def _odd(part: str) -> bool:
    return "\\" in part or ":" in part or not part.isprintable()


MANUAL = "/manual/"


def text_page(path: str) -> StaticFile | None:
    """The manual's page at a decoded URL path; null where none is."""
    if not path.startswith(MANUAL):
        return None
    name = path.removeprefix(MANUAL)
    if name in PICTURES:
        return StaticFile(CONTENT_TYPES[".png"], picture(name))
    return _manual(name) if name in ("", *TOPICS) else None


@cache
def _manual(topic: str) -> StaticFile:
    """A known topic only: what is asked for from outside must not fill the cache."""
    return html_file(topic_html(topic) if topic else index_html())


def html_file(body: bytes) -> StaticFile:
    """A page made from text."""
    return StaticFile(CONTENT_TYPES[".html"], body, gzip.compress(body, compresslevel=9, mtime=0))
