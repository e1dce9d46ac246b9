"""Which characters a source's bytes mean.

The order is: byte-order mark, UTF-8, then one other charset: the one that settings or a
header name, else the likely one (:mod:`live.sources.charset_guess`), Windows-1252 where
nothing is known. Everything that structures a PGN is ASCII, and the charsets agree on
that, so text is split as bytes and each line decides for itself: what is cut where
never changes a name. The PGN standard (1994, section 4.1) asks for ISO 8859-1; files in
the wild hold UTF-8, Windows-1252, both, and marks that lie.
"""

import codecs
import io
import re
from functools import lru_cache, partial

#: Bytes that are no UTF-8, as ``surrogateescape`` has them.
_NO_UTF8 = re.compile("[\udc80-\udcff]+")
_ASCII = bytes(range(128))


def decode(raw: bytes, fallback: str = "cp1252") -> str:
    """Return the characters of ``raw``: UTF-8 where most of it is, else ``fallback``.

    Never fails. In UTF-8 only the bytes that are none are read as ``fallback``: one
    damaged name, or a text that is cut in the middle of a letter, costs nothing else. A
    mark in front is dropped, whatever follows it: files exist that carry the UTF-8 mark
    over bytes that are not UTF-8.
    """
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text, read = codecs.utf_8_decode(raw, "strict", False)
    except UnicodeDecodeError:
        pass
    else:
        return text if read == len(raw) else text + _decode_as(fallback, raw[read:])
    if not (_is_single_byte(fallback) and is_mostly_utf8(raw)):
        return _decode_as(fallback, raw)

    def read_stray(run: re.Match[str]) -> str:
        return _decode_as(fallback, run[0].encode("utf-8", "surrogateescape"))

    return _NO_UTF8.sub(read_stray, raw.decode("utf-8", "surrogateescape"))


def is_mostly_utf8(raw: bytes) -> bool:
    """Return whether two of three bytes above ASCII are parts of letters in UTF-8."""
    text = raw.decode("utf-8", "surrogateescape")
    stray = sum(map(len, _NO_UTF8.findall(text)))
    return 3 * stray <= len(raw.translate(None, _ASCII))


@lru_cache(maxsize=64)
def _is_single_byte(charset: str) -> bool:
    """Return whether a byte by itself is a letter; in GB 18030 it takes two."""
    try:
        return len(b"\xe9".decode(charset)) == 1
    except (LookupError, ValueError):
        return False


def _decode_as(charset: str, raw: bytes) -> str:
    try:
        return raw.decode(charset, "replace")
    except (LookupError, ValueError):  # an HTTP header may name a charset nobody knows
        return raw.decode("cp1252", "replace")


#: Charsets that UTF-8 is mistaken for.
_TAKEN_FOR = ("cp1252", "cp1251")


def _decode_bytes(codes: range) -> str:
    """Return the letters of these bytes in the charsets that UTF-8 is mistaken for."""
    return "".join(bytes(codes).decode(charset, "ignore") for charset in _TAKEN_FOR)


#: What the first and the other bytes of a letter in UTF-8 look like then.
_LEADS = _decode_bytes(range(0xC2, 0xF5))
_TRAILS = _decode_bytes(range(0x80, 0xC0))
_READ_TWICE = re.compile(f"[{_LEADS}][\x80-\x9f{re.escape(_TRAILS)}]")


def undo_double_encoding(text: str) -> str:
    """Return the text as it was before its UTF-8 was read as Windows-1252 or
    Windows-1251 and written again (``MÃ¼ller``); other texts as they are, since all of
    a text must fit.
    """
    if text.isascii() or not _READ_TWICE.search(text):
        return text
    for charset in _TAKEN_FOR:
        try:
            once = b"".join(map(partial(_encode_letter, charset), text)).decode("utf-8")
        except UnicodeError:
            continue
        if all(sign.isascii() or sign.isalpha() or sign in "’–—“”" for sign in once):
            return once
    return text


def _encode_letter(charset: str, sign: str) -> bytes:
    # What the charset leaves free is read as a control character.
    return sign.encode("latin-1" if "\x80" <= sign <= "\x9f" else charset)


#: Two signs of ASCII in UTF-16 without a mark.
_WIDE_LITTLE = re.compile(rb"(?:[\t\n\r -~]\x00){2}")
_WIDE_BIG = re.compile(rb"(?:\x00[\t\n\r -~]){2}")
_WIDE_BYTES = 4


def detect_utf16(head: bytes) -> str:
    """Return which UTF-16 a text that begins like that is in, empty for others."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if _WIDE_LITTLE.match(head):
        return "utf-16-le"
    return "utf-16-be" if _WIDE_BIG.match(head) else ""


#: Read as blanks: what old systems fill and end files with.
_BLANKS = bytes.maketrans(b"\x00\x1a\x0b\x0c", b"    ")


class PlainLines:
    """Turns a source's bytes into lines that end in LF, in a charset that contains
    ASCII.

    Whether its lines end in CR LF, CR or LF, and wherever it is cut. UTF-16 is told by
    its mark, or by two signs of ASCII, which are waited for, and becomes UTF-8.
    """

    _head = b""
    _lines: io.IncrementalNewlineDecoder | None = None
    _charset = "latin-1"

    def decode_lines(self, data: bytes, *, final: bool = False) -> bytes:
        """Return what can be decoded of ``data``. ``final``: nothing follows, so what
        was held back comes too.
        """
        if self._lines is None:
            data = self._head = self._head + data
            begins_wide = len(data) < 2 or b"\x00" in data[:2]
            if not final and begins_wide and len(data) < _WIDE_BYTES:
                return b""
            wide = detect_utf16(data)
            if wide:
                self._charset = "utf-8"
            decoder = codecs.getincrementaldecoder(wide or "latin-1")("replace")
            self._lines = io.IncrementalNewlineDecoder(decoder, translate=True)
        return (
            self._lines.decode(data, final)
            .encode(self._charset, "replace")
            .translate(_BLANKS)
        )
