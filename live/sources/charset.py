"""Decoding of a source's bytes into characters.

A byte-order mark is tried first, then UTF-8, then one other charset: the one named by a
setting or an HTTP header, otherwise a guess (:mod:`live.sources.charset_guess`),
otherwise Windows-1252. All characters that structure PGN are ASCII, and the charsets
agree on ASCII. So text is split while it is still bytes, and each line is decoded
separately: where the text was cut never changes a name. The PGN standard (1994, section
4.1) requires ISO 8859-1, but real files are in UTF-8, in Windows-1252 or in a mixture,
and some have a wrong byte-order mark.
"""

import codecs
import io
import re
from functools import lru_cache, partial

#: Bytes that are not valid UTF-8, as the error handler ``surrogateescape`` decodes
#: them.
_NO_UTF8 = re.compile("[\udc80-\udcff]+")
_ASCII = bytes(range(128))


def decode(raw: bytes, fallback: str = "cp1252") -> str:
    """Return ``raw`` as text: decoded as UTF-8 if most of it is UTF-8, otherwise in
    charset ``fallback``.

    Never fails. In UTF-8, only the invalid bytes are decoded as ``fallback``, so a
    damaged name or a character that was cut in two affects nothing else. A leading
    UTF-8 byte-order mark is always dropped: some files begin with it although the rest
    is not UTF-8.
    """
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text, length = codecs.utf_8_decode(raw, "strict", False)
    except UnicodeDecodeError:
        pass
    else:
        return text if length == len(raw) else text + _decode_as(fallback, raw[length:])
    if not (_is_single_byte(fallback) and is_mostly_utf8(raw)):
        return _decode_as(fallback, raw)

    def read_stray(run: re.Match[str]) -> str:
        return _decode_as(fallback, run[0].encode("utf-8", "surrogateescape"))

    return _NO_UTF8.sub(read_stray, raw.decode("utf-8", "surrogateescape"))


def is_mostly_utf8(raw: bytes) -> bool:
    """Return whether at least two thirds of the bytes above ASCII belong to valid UTF-8
    characters.
    """
    text = raw.decode("utf-8", "surrogateescape")
    stray = sum(map(len, _NO_UTF8.findall(text)))
    return 3 * stray <= len(raw.translate(None, _ASCII))


@lru_cache(maxsize=64)
def _is_single_byte(charset: str) -> bool:
    """Return whether one byte above ASCII is a character in this charset; in GB 18030,
    for example, a character has at least two.
    """
    try:
        return len(b"\xe9".decode(charset)) == 1
    except (LookupError, ValueError):
        return False


def _decode_as(charset: str, raw: bytes) -> str:
    try:
        return raw.decode(charset, "replace")
    # An HTTP header can name an unknown charset.
    except (LookupError, ValueError):
        return raw.decode("cp1252", "replace")


#: Charsets in which other programs wrongly read UTF-8.
_TAKEN_FOR = ("cp1252", "cp1251")


def _decode_bytes(codes: range) -> str:
    """Return the characters for these bytes in the charsets of :data:`_TAKEN_FOR`."""
    return "".join(bytes(codes).decode(charset, "ignore") for charset in _TAKEN_FOR)


#: Characters that appear in wrongly decoded text for the first byte of a UTF-8
#: character (_LEADS) and for its further bytes (_TRAILS).
_LEADS = _decode_bytes(range(0xC2, 0xF5))
_TRAILS = _decode_bytes(range(0x80, 0xC0))
_READ_TWICE = re.compile(f"[{_LEADS}][\x80-\x9f{re.escape(_TRAILS)}]")


def undo_double_encoding(text: str) -> str:
    """Repair a text whose UTF-8 bytes were decoded as Windows-1252 or Windows-1251 and
    encoded again (``MÃ¼ller``). Return the text unchanged unless all of it can be
    repaired.
    """
    if text.isascii() or not _READ_TWICE.search(text):
        return text
    for charset in _TAKEN_FOR:
        try:
            repaired = b"".join(map(partial(_encode_letter, charset), text)).decode(
                "utf-8"
            )
        except UnicodeError:
            continue
        if all(
            sign.isascii() or sign.isalpha() or sign in "’–—“”" for sign in repaired
        ):
            return repaired
    return text


def _encode_letter(charset: str, sign: str) -> bytes:
    # Bytes undefined in the charset were decoded as control characters.
    return sign.encode("latin-1" if "\x80" <= sign <= "\x9f" else charset)


#: Two ASCII characters in UTF-16 without a byte-order mark.
_WIDE_LITTLE = re.compile(rb"(?:[\t\n\r -~]\x00){2}")
_WIDE_BIG = re.compile(rb"(?:\x00[\t\n\r -~]){2}")
_WIDE_BYTES = 4


def detect_utf16(head: bytes) -> str:
    """Return the UTF-16 codec for a text with this beginning; empty if it is not
    UTF-16.
    """
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if _WIDE_LITTLE.match(head):
        return "utf-16-le"
    return "utf-16-be" if _WIDE_BIG.match(head) else ""


#: Control characters that old systems use as filler and end-of-file marks; they are
#: replaced by spaces.
_BLANKS = bytes.maketrans(b"\x00\x1a\x0b\x0c", b"    ")


class PlainLines:
    """Converts a source's bytes to lines that end in LF, in a charset that contains
    ASCII.

    Accepts lines that end in CR LF, CR or LF, and input that is cut anywhere. UTF-16 is
    recognised by its byte-order mark or by its first two ASCII characters, and is
    converted to UTF-8. The first bytes are held back until that can be decided.
    """

    _head = b""
    _lines: io.IncrementalNewlineDecoder | None = None
    _charset = "latin-1"

    def decode_lines(self, data: bytes, *, final: bool = False) -> bytes:
        """Return the converted lines of ``data``.

        Bytes whose meaning depends on later bytes are held back until the next call. If
        ``final``, no data follows, so they are returned, too.
        """
        if self._lines is None:
            data = self._head = self._head + data
            begins_wide = len(data) < 2 or b"\x00" in data[:2]
            if not final and begins_wide and len(data) < _WIDE_BYTES:
                return b""
            utf16 = detect_utf16(data)
            if utf16:
                self._charset = "utf-8"
            decoder = codecs.getincrementaldecoder(utf16 or "latin-1")("replace")
            self._lines = io.IncrementalNewlineDecoder(decoder, translate=True)
        return (
            self._lines.decode(data, final)
            .encode(self._charset, "replace")
            .translate(_BLANKS)
        )
