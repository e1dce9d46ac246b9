"""The static files of the browser pages: only what is in one folder, only of known types.

The manual at ``/manual/``, made from text, with its pictures.

The pages as files that any web server serves, and that read from a broker. Shell: writes files.

What only the service answers is left out: the builder of overlays, and the requests it makes. A
strict policy for what pages may load stands in each of them, since the server is not ours.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from live.catalogue import catalogue_json
from live.errors import ConfigError
from live.manual.pages import PICTURES, TOPICS, index_html, picture, topic_html
from live.messages.figures import CurvePoint, GameDetail, PlyView
from live.server.answers import ExportedFile, Pairs
from live.server.wire import PROTOCOL, defaults
from live.user_files import read_regular

#: Scripts, styles, pictures and connections from this very origin, no inline script, no plugins,
#: no foreign frames around the page; the builder frames the overlay. OBS shows a page in its own
#: window: that does not hinder it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; manifest-src 'self'; media-src 'self'; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)


#: Parameters of the page and of overlays that name a picture.
_LOGOS = {"logo", "sponsor"}


def policy_for(frames: Sequence[str], path: str = "", query: Pairs = ()) -> str:
    """Return the policy of a page, where pages of these origins may show ours in a frame.

    Pictures from elsewhere, behind TLS, are allowed only where the address of the page or
    overlay names one.
    """
    has_logo = any(name in _LOGOS for name, _ in query)
    policy = POLICY
    if has_logo and path in ("/", "/overlay"):
        policy = _with_logos(POLICY)
    return " ".join((policy, *frames))


def _with_logos(policy: str) -> str:
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
#: Modules that are in no file: the words of the figures, and what is left out of messages.
CATALOGUE, USUAL = "client/catalogue.js", "client/usual.js"


@cache
def made_module(name: str) -> bytes:
    """The catalogue of figures as a module of the page, or what games, plies and points are where
    a message leaves it out, with the number of the protocol.
    """
    if name == CATALOGUE:
        return b"export default %b;\n" % catalogue_json()
    usual = {
        "game": defaults(GameDetail),
        "ply": defaults(PlyView),
        "point": defaults(CurvePoint),
    }
    number = b"export const PROTOCOL = %d;\n" % PROTOCOL
    return b"%bexport default %b;\n" % (number, msgspec.json.encode(usual))


class StaticSite:
    """Files below one folder, read when asked for."""

    def __init__(self, root: Path = OVERLAY, types: Mapping[str, str] = CONTENT_TYPES) -> None:
        """A file of no type in ``types`` is not served, even when it lies in the folder."""
        self._root = root.resolve()
        self._types = types

    def page(self, path: str) -> ExportedFile | None:
        """What is at a decoded URL path: ``/`` and other named pages, ``/static/…``; else null."""
        name = _NAMED.get(path) or path.removeprefix("/static/")
        return None if name == path else self.file(name)

    def names(self) -> list[str]:
        """Files at the top of the folder that are served."""
        try:
            found = sorted(self._root.iterdir())
        except OSError:
            return []
        return [
            each.name
            for each in found
            if each.suffix.lower() in self._types and not each.name.startswith(".")
        ]

    def file(self, name: str) -> ExportedFile | None:
        """A file by its path in the folder; null where there is none of that name."""
        parts = name.split("/")
        # Hidden files, "..", empty parts and other systems' separators are nobody's business.
        if any(not part or part.startswith(".") or _odd(part) for part in parts):
            return None
        if name in (CATALOGUE, USUAL):
            return ExportedFile(CONTENT_TYPES[".js"], made_module(name))
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


def _odd(part: str) -> bool:
    return "\\" in part or ":" in part or not part.isprintable()


MANUAL = "/manual/"


def text_page(path: str) -> ExportedFile | None:
    """The manual's page at a decoded URL path; null where none is."""
    if not path.startswith(MANUAL):
        return None
    name = path.removeprefix(MANUAL)
    if name in PICTURES:
        return ExportedFile(CONTENT_TYPES[".png"], picture(name))
    return _manual(name) if name in ("", *TOPICS) else None


@cache
def _manual(topic: str) -> ExportedFile:
    """A known topic only: what is asked for from outside must not fill the cache."""
    return ExportedFile(CONTENT_TYPES[".html"], topic_html(topic) if topic else index_html())


_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; manifest-src 'self'; connect-src 'self' {broker}; "
    "base-uri 'none'; form-action 'none'"
)
_PAGES = ("index.html", "overlay.html")
#: Links between pages of the manual name no suffix, which a server of files needs.
_LINK = re.compile(rb'href="(%b)([#"])' % "|".join(TOPICS).encode())
#: Pages that only the service has.
_ABSENT = re.compile(rb'<a href="\.\./(overlays|docs)[^>]*>[^<]*</a>')
_HEAD = '    <meta charset="utf-8">\n'


def write_site(target: Path, broker: str, prefix: str) -> list[Path]:
    """Write every file below ``target``; the files written.

    Raises:
        ConfigError: the broker's address is none that a page can open, or files cannot be written.
    """
    parts = urlsplit(broker)
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.username is not None:
        raise ConfigError(
            f"--broker {broker}",
            "is no address that a page can open",
            "Give wss://HOST:PORT/PATH, the websockets listener of the broker, without a password",
        )
    written: list[Path] = []
    try:
        for name, body in _files(broker, prefix):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
            written.append(path)
    except OSError as error:
        raise ConfigError(
            str(target), f"cannot be written ({error.strerror})", "Give another folder"
        ) from error
    return written


def _files(broker: str, prefix: str) -> list[tuple[str, bytes]]:
    site = StaticSite()
    parts = urlsplit(broker)
    policy = _POLICY.format(broker=f"{parts.scheme}://{parts.netloc}")
    meta = (
        f'{_HEAD}    <meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'    <meta name="live-rate-broker" content="{escape(broker)}"'
        f' data-prefix="{escape(prefix)}">\n'
    )
    found: list[tuple[str, bytes]] = [
        (f"static/{each}", made_module(each)) for each in (CATALOGUE, USUAL)
    ]
    for path in sorted(OVERLAY.rglob("*")):
        name = path.relative_to(OVERLAY).as_posix()
        if path.suffix not in CONTENT_TYPES or path.suffix == ".html" or "builder" in name:
            continue
        if (file := site.page(f"/static/{name}")) is not None:
            found.append((f"static/{name}", file.body))
    for name in _PAGES:
        text = (OVERLAY / name).read_text(encoding="utf-8")
        assert _HEAD in text, name
        head = _with_logos(meta) if name == "overlay.html" else meta
        found.append((name, text.replace(_HEAD, head, 1).encode()))
    for topic in ("", *TOPICS, *PICTURES):
        page = text_page(MANUAL + topic)
        assert page is not None, topic
        if topic in PICTURES:
            found.append((f"manual/{topic}", page.body))
        else:
            body = _LINK.sub(rb'href="\1.html\2', _ABSENT.sub(b"", page.body))
            found.append((f"manual/{topic or 'index'}.html", body))
    return found
