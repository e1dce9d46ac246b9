"""Export of the pages as files for any web server; they read their data from a broker.

The overlay builder is left out, since it needs answers from the service. Each page
contains a strict content security policy, since the web server does not send one. This
module writes files.
"""

import re
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from live.errors import ConfigError
from live.manual.pages import PICTURES, TOPICS
from live.server.static_files import (
    CATALOGUE,
    CONTENT_TYPES,
    MANUAL,
    OVERLAY,
    USUAL,
    StaticSite,
    allow_https_images,
    find_manual_page,
    generate_module,
)

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; manifest-src 'self'; connect-src 'self' {broker}; "
    "base-uri 'none'; form-action 'none'"
)
_PAGES = ("index.html", "overlay.html")
#: Links between pages of the manual. They have no suffix, but a file server needs one.
_LINK = re.compile(rb'href="(%b)([#"])' % "|".join(TOPICS).encode())
#: Links to pages that only the service has.
_ABSENT = re.compile(rb'<a href="\.\./(overlays|docs)[^>]*>[^<]*</a>')
_HEAD = '    <meta charset="utf-8">\n'


def write_site(target: Path, broker: str, prefix: str) -> list[Path]:
    """Write all files to the folder ``target``; return the paths of these files.

    Raises:
        ConfigError: a page cannot use the address of the broker, or a file cannot be
            written.
    """
    parts = urlsplit(broker)
    if (
        parts.scheme not in ("ws", "wss")
        or not parts.hostname
        or parts.username is not None
    ):
        raise ConfigError(
            f"--broker {broker}",
            "is not an address that a page can open",
            "Give wss://HOST:PORT/PATH, the websockets listener of the broker, "
            "without a password",
        )
    written: list[Path] = []
    try:
        for name, body in _list_files(broker, prefix):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
            written.append(path)
    except OSError as error:
        raise ConfigError(
            str(target), f"cannot be written ({error.strerror})", "Give another folder"
        ) from error
    return written


def _list_files(broker: str, prefix: str) -> list[tuple[str, bytes]]:
    site = StaticSite()
    parts = urlsplit(broker)
    policy = _POLICY.format(broker=f"{parts.scheme}://{parts.netloc}")
    meta = (
        f'{_HEAD}    <meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'    <meta name="live-rate-broker" content="{escape(broker)}"'
        f' data-prefix="{escape(prefix)}">\n'
    )
    files: list[tuple[str, bytes]] = [
        (f"static/{module}", generate_module(module)) for module in (CATALOGUE, USUAL)
    ]
    for path in sorted(OVERLAY.rglob("*")):
        name = path.relative_to(OVERLAY).as_posix()
        if (
            path.suffix not in CONTENT_TYPES
            or path.suffix == ".html"
            or "builder" in name
        ):
            continue
        if (file := site.find_page(f"/static/{name}")) is not None:
            files.append((f"static/{name}", file.body))
    for name in _PAGES:
        text = (OVERLAY / name).read_text(encoding="utf-8")
        assert _HEAD in text, name
        head = allow_https_images(meta) if name == "overlay.html" else meta
        files.append((name, text.replace(_HEAD, head, 1).encode()))
    for topic in ("", *TOPICS, *PICTURES):
        page = find_manual_page(MANUAL + topic)
        assert page is not None, topic
        if topic in PICTURES:
            files.append((f"manual/{topic}", page.body))
        else:
            body = _LINK.sub(rb'href="\1.html\2', _ABSENT.sub(b"", page.body))
            files.append((f"manual/{topic or 'index'}.html", body))
    return files
