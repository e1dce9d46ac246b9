"""Check whether a text is PGN, from its first bytes, and description of other texts. No
I/O.
"""

import re
from urllib.parse import urlsplit

from live.sources.charset import detect_utf16

#: Sites that people mistake for a source of games, each with advice on what to follow
#: instead.
_INSTEAD = {
    "chess.com": (
        "chess.com event pages give no games: follow the organiser's PGN address, its"
        " LiveChess Cloud address, or the lichess broadcast of the event"
    ),
    "chess-results.com": (
        "chess-results has pairings and results but no moves: follow the organiser's"
        " live games, whose address its page names"
    ),
}
#: Greatest number of bytes examined at the beginning of a text.
HEAD_BYTES = 4096
#: A move in lower case: ``e4``, ``nbd7``, ``exd5``, ``e2-e4``, ``o-o``.
_MOVE = re.compile(rb"[kqrbn]?[a-h1-8]{0,2}[x:-]?[a-h][1-8]|[o0]-[o0]")
_HTML = "an HTML page (perhaps a login page)"
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_MAGIC = {
    b"%PDF": "a PDF document",
    b"PK\x03\x04": "a ZIP archive (unpack it first)",
    b"\x1f\x8b": "a gzip file (unpack it first)",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}


def describe_non_pgn(head: bytes, content_type: str = "") -> str | None:
    """Describe a text that is not PGN (``an HTML page``); return None if it might be
    PGN.

    ``head`` is the beginning of the text, ``content_type`` the type named by the
    server. An empty or blank text might be PGN: before a round begins, its text is
    empty (lichess api issue 179).
    """
    head = head[:HEAD_BYTES]
    for magic, description in _MAGIC.items():
        if head.startswith(magic):
            return description
    utf16 = detect_utf16(head)
    for bom in _BOMS:
        head = head.removeprefix(bom)
    if b"\x00" in head and not utf16:
        return "a binary file"
    if utf16:
        head = head.replace(b"\x00", b"")
    text = head.lstrip().lower()
    if not text:
        return None
    if text.startswith(b"<"):
        html = b"html" in text or text.startswith((b"<head", b"<body", b"<script"))
        return _HTML if html else "XML, not PGN"
    if text.startswith((b'{"', b"{'", b'[{"', b"{\n", b"{\r\n")) and b'":' in text:
        return "JSON, not PGN"
    if (
        text.startswith((b"[", b"%", b"{", b";", b"(", b"*", b"1"))
        or text[:1].isdigit()
    ):
        return None
    if "html" in content_type.lower():
        return _HTML
    # Movetext without numbers and tags ("e4 e5 *") is rare but legal; prose does not
    # begin like that.
    return None if _MOVE.match(text) else "text that is not PGN"


def suggest_source(name: str) -> str:
    """Return advice on what to follow instead of an address, or of a file with this
    path, that is not PGN.
    """
    if "://" not in name:
        return "give a PGN file: tags, then moves"
    try:
        host = (urlsplit(name).hostname or "").removeprefix("www.")
    except ValueError:
        host = ""
    for site, remedy in _INSTEAD.items():
        if host == site or host.endswith(f".{site}"):
            return remedy
    return "give the address of the PGN itself"
