"""The static files of the browser pages: only what is in one folder, only of known
types.

The manual at ``/manual/``, made from text, with its pictures.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from live.catalogue import catalogue_json
from live.errors import ConfigError
from live.manual.page_html import render_index, render_topic
from live.manual.pages import PICTURES, TOPICS, read_picture
from live.messages.figures import CurvePoint, GameDetail, PlyView
from live.server.http_values import Pairs
from live.server.made_files import ExportedFile
from live.server.wire import PROTOCOL, list_defaults
from live.user_files import read_regular

#: Scripts, styles, pictures and connections from this very origin, no inline script, no
#: plugins, no foreign frames around the page; the builder frames the overlay. OBS shows
#: a page in a window of its own, which the policy does not prevent.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; manifest-src 'self'; media-src 'self'; connect-src 'self'; "
    "frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
#: Parameters of the page and of overlays that name a picture.
_LOGOS = {"logo", "sponsor"}


def build_policy(frames: Sequence[str], path: str = "", query: Pairs = ()) -> str:
    """Return the policy of a page, where pages of these origins may show ours in a
    frame.

    Pictures from elsewhere, behind TLS, are allowed only where the address of the page
    or overlay names one.
    """
    has_logo = any(name in _LOGOS for name, _ in query)
    policy = POLICY
    if has_logo and path in ("/", "/overlay"):
        policy = allow_logos(POLICY)
    return " ".join((policy, *frames))


def allow_logos(policy: str) -> str:
    return policy.replace("img-src", "img-src https:")


CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
#: What is shown of studies.
STUDY_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    **{each: CONTENT_TYPES[each] for each in (".txt", ".json", ".svg", ".png")},
}
#: Pages that have a name of their own.
_NAMED = {
    "/": "index.html",
    "/overlay": "overlay.html",
    "/overlays": "builder.html",
}
OVERLAY = Path(__file__).resolve().parents[1] / "screens" / "web"
#: Generated modules, in no file: the words of the figures, and the defaults that
#: messages leave out.
CATALOGUE = "client/catalogue.js"
USUAL = "client/usual.js"


@cache
def generate_module(name: str) -> bytes:
    """Return a module of the page that is in no file.

    It is the catalogue of figures, or the defaults of games, plies and points that
    messages leave out, with the number of the protocol.
    """
    if name == CATALOGUE:
        return b"export default %b;\n" % catalogue_json()
    usual = {
        "game": list_defaults(GameDetail),
        "ply": list_defaults(PlyView),
        "point": list_defaults(CurvePoint),
    }
    number = b"export const PROTOCOL = %d;\n" % PROTOCOL
    return b"%bexport default %b;\n" % (number, msgspec.json.encode(usual))


class StaticSite:
    """Files below one folder, read when asked for."""

    def __init__(
        self, root: Path = OVERLAY, types: Mapping[str, str] = CONTENT_TYPES
    ) -> None:
        """A file of no type in ``types`` is not served, even when it lies in the
        folder.
        """
        self._root = root.resolve()
        self._types = types

    def find_page(self, path: str) -> ExportedFile | None:
        """Return the page at a decoded URL path: ``/`` and other named pages,
        ``/static/…``; else None.
        """
        name = _NAMED.get(path) or path.removeprefix("/static/")
        return None if name == path else self.read_file(name)

    def list_files(self) -> list[str]:
        """List files at the top of the folder that are served."""
        try:
            found = sorted(self._root.iterdir())
        except OSError:
            return []
        return [
            each.name
            for each in found
            if each.suffix.lower() in self._types and not each.name.startswith(".")
        ]

    def read_file(self, name: str) -> ExportedFile | None:
        """Return a file by its path in the folder; None where there is none of that
        name.
        """
        parts = name.split("/")
        # Hidden files, "..", empty parts and other systems' separators are not served.
        if any(not part or part.startswith(".") or _is_unsafe(part) for part in parts):
            return None
        if name in (CATALOGUE, USUAL):
            return ExportedFile(CONTENT_TYPES[".js"], generate_module(name))
        file = self._root.joinpath(*parts)
        if (content_type := self._types.get(file.suffix.lower())) is None:
            return None
        try:
            # A link inside the folder may point outside it.
            if not file.resolve().is_relative_to(self._root):
                return None
            return ExportedFile(content_type, read_regular(file))
        except OSError:
            return None


def _is_unsafe(part: str) -> bool:
    return "\\" in part or ":" in part or not part.isprintable()


MANUAL = "/manual/"


def find_manual_page(path: str) -> ExportedFile | None:
    """Return the manual's page at a decoded URL path; None where there is none."""
    if not path.startswith(MANUAL):
        return None
    name = path.removeprefix(MANUAL)
    if name in PICTURES:
        return ExportedFile(CONTENT_TYPES[".png"], read_picture(name))
    return _render_manual(name) if name in ("", *TOPICS) else None


@cache
def _render_manual(topic: str) -> ExportedFile:
    """Render a known topic: what strangers ask for must not fill the cache."""
    return ExportedFile(
        CONTENT_TYPES[".html"], render_topic(topic) if topic else render_index()
    )


def open_study_files(name: str) -> StaticSite | None:
    """Return the tables and figures to show, if a folder of them is named.

    Raises:
        ConfigError: it does not exist.
    """
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        command = "live-rate study table CORPUS all --out FOLDER"
        remedy = f"Correct the path, or fill it: {command}"
        raise ConfigError(f"study.folder {name}", "no such folder", remedy)
    return StaticSite(folder, STUDY_TYPES)
