"""The static files of the browser pages, and the manual at ``/manual/``.

Only files of known types in one folder are served. The manual is rendered from
Markdown.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from live.catalogue import encode_catalogue
from live.errors import ConfigError
from live.manual.page_html import render_index, render_topic
from live.manual.pages import PICTURES, TOPICS, read_picture
from live.messages.figures import CurvePoint, GameDetail, PlyView
from live.server.http_values import HTML, Pairs
from live.server.made_files import ExportedFile
from live.server.wire import PROTOCOL, list_defaults
from live.user_files import read_regular

#: Content security policy of the pages. Scripts, styles, pictures and connections must
#: be from this origin; inline scripts, plugins and frames by other sites are forbidden.
#: The overlay builder shows the overlay in a frame. OBS opens pages in its own window,
#: which the policy allows.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; manifest-src 'self'; media-src 'self'; connect-src 'self'; "
    "frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
#: Query parameters of the page and of overlays that contain the address of a picture.
_LOGOS = {"logo", "sponsor"}


def build_content_policy(
    framing_origins: Sequence[str], path: str = "", query: Pairs = ()
) -> str:
    """Return the content security policy of a page.

    Pages of ``framing_origins`` can show it in a frame. Pictures from other sites
    are allowed only if ``query`` names a picture for the page or an overlay, and then
    only over HTTPS.
    """
    has_logo = any(name in _LOGOS for name, _ in query)
    policy = POLICY
    if has_logo and path in ("/", "/overlay"):
        policy = allow_https_images(POLICY)
    return " ".join((policy, *framing_origins))


def allow_https_images(policy: str) -> str:
    return policy.replace("img-src", "img-src https:")


#: Content security policy of SVG files, which contain inline styles.
SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
CONTENT_TYPES = {
    ".html": HTML,
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}
#: Content types of the files of studies that are served.
STUDY_TYPES = {
    ".csv": "text/csv; charset=utf-8",
    **{suffix: CONTENT_TYPES[suffix] for suffix in (".txt", ".json", ".svg", ".png")},
}
#: The file of each page that has a URL path of its own, by path.
_NAMED = {
    "/": "index.html",
    "/overlay": "overlay.html",
    "/overlays": "builder.html",
}
OVERLAY = Path(__file__).resolve().parents[1] / "screens" / "web"
#: Names of the modules that are generated and not files: the texts about figures, and
#: the default values that messages leave out.
CATALOGUE = "client/catalogue.js"
USUAL = "client/usual.js"


@cache
def generate_module(name: str) -> bytes:
    """Return the source of a generated module of the page.

    The module contains either the catalogue of figures, or the protocol number with the
    default values of games, plies and points, which messages leave out.
    """
    if name == CATALOGUE:
        return b"export default %b;\n" % encode_catalogue()
    usual = {
        "game": list_defaults(GameDetail),
        "ply": list_defaults(PlyView),
        "point": list_defaults(CurvePoint),
    }
    number = b"export const PROTOCOL = %d;\n" % PROTOCOL
    return b"%bexport default %b;\n" % (number, msgspec.json.encode(usual))


class StaticSite:
    """The files of one folder, read at each request."""

    def __init__(
        self, root: Path = OVERLAY, types: Mapping[str, str] = CONTENT_TYPES
    ) -> None:
        """Serve the files in ``root`` whose suffixes are in ``types``."""
        self._root = root.resolve()
        self._types = types

    def find_page(self, path: str) -> ExportedFile | None:
        """Return the file at a decoded URL path: a named page, or ``/static/…``.

        Return None if there is no such file.
        """
        name = _NAMED.get(path) or path.removeprefix("/static/")
        return None if name == path else self.read_file(name)

    def list_files(self) -> list[str]:
        """Return the names of the served files at the top of the folder, sorted."""
        try:
            entries = sorted(self._root.iterdir())
        except OSError:
            return []
        return [
            entry.name
            for entry in entries
            if entry.suffix.lower() in self._types and not entry.name.startswith(".")
        ]

    def read_file(self, name: str) -> ExportedFile | None:
        """Return a file, given its path in the folder; None if it does not exist."""
        parts = name.split("/")
        # Hidden files, "..", empty parts and separators of other operating systems are
        # not allowed.
        if any(not part or part.startswith(".") or _is_unsafe(part) for part in parts):
            return None
        if name in (CATALOGUE, USUAL):
            return ExportedFile(CONTENT_TYPES[".js"], generate_module(name))
        file = self._root.joinpath(*parts)
        if (content_type := self._types.get(file.suffix.lower())) is None:
            return None
        try:
            # A symbolic link in the folder can point outside it.
            if not file.resolve().is_relative_to(self._root):
                return None
            return ExportedFile(content_type, read_regular(file))
        except OSError:
            return None


def _is_unsafe(part: str) -> bool:
    return "\\" in part or ":" in part or not part.isprintable()


MANUAL = "/manual/"


def find_manual_page(path: str) -> ExportedFile | None:
    """Return the manual's page at a decoded URL path; None if there is none."""
    if not path.startswith(MANUAL):
        return None
    name = path.removeprefix(MANUAL)
    if name in PICTURES:
        return ExportedFile(CONTENT_TYPES[".png"], read_picture(name))
    return _render_manual(name) if name in ("", *TOPICS) else None


@cache
def _render_manual(topic: str) -> ExportedFile:
    """Return the page of a topic, or of the index if ``topic`` is empty.

    The topic must exist, so that requests for unknown topics cannot fill the cache.
    """
    return ExportedFile(HTML, render_topic(topic) if topic else render_index())


def open_study_files(name: str) -> StaticSite | None:
    """Return the files of the folder of studies; None if ``name`` is empty.

    Raises:
        ConfigError: the folder does not exist.
    """
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        command = "live-rate study table CORPUS all --out FOLDER"
        remedy = f"Correct the path, or fill it: {command}"
        raise ConfigError(f"study.folder {name}", "no such folder", remedy)
    return StaticSite(folder, STUDY_TYPES)
