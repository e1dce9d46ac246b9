"""Which characters a source's bytes mean.

The order is: byte-order mark, strict UTF-8, then one single-byte charset (Windows-1252 unless the
caller knows better). Everything that structures a PGN is ASCII, and UTF-8 and the single-byte
charsets agree on ASCII, so text is split as bytes and each game decides for itself: what is cut
where never changes a name. The PGN standard (1994, section 4.1) asks for ISO 8859-1; files in the
wild hold UTF-8, Windows-1252, both, and marks that lie.
"""

from __future__ import annotations

import codecs

UTF8_MARK = codecs.BOM_UTF8


def decode(raw: bytes, fallback: str = "cp1252") -> str:
    """Characters of ``raw``: UTF-8 where all of it is, else ``fallback``. Never fails.

    A mark in front is dropped, whatever follows it: files exist that carry the UTF-8 mark over
    bytes that are not UTF-8.
    """
    raw = raw.removeprefix(UTF8_MARK)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode(fallback, "replace")
    except (LookupError, ValueError):  # an HTTP header may name a charset nobody knows
        return raw.decode("cp1252", "replace")


#: Read as blanks: what old systems fill and end files with.
_ODD_BLANKS = (b"\x00", b"\x1a", b"\x0b", b"\x0c")


class PlainLines:
    """Turns a source's bytes into lines that end in LF, in a charset that contains ASCII.

    Whether its lines end in CR LF, CR or LF, and wherever it is cut.
    """

    def __init__(self) -> None:
        self._wide = Utf16ToUtf8()
        self._after_cr = False

    def feed(self, data: bytes) -> bytes:
        data = self._wide.feed(data)
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._after_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        for odd in _ODD_BLANKS:
            if odd in data:
                data = data.replace(odd, b" ")
        return data

    def finish(self) -> bytes:
        """What was still held back at the end of input: at most one byte."""
        return self._wide.finish()


class Utf16ToUtf8:
    """Turns a source that starts with a UTF-16 mark into UTF-8 and passes any other on as it is.

    Told from the first two bytes, which are waited for, so that cuts change nothing.
    """

    def __init__(self) -> None:
        self._head = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._told = False

    def feed(self, data: bytes) -> bytes:
        if not self._told:
            data = self._head + data
            if data in (b"", b"\xff", b"\xfe"):
                self._head = data
                return b""
            self._told = True
            self._head = b""
            if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        if self._decoder is None:
            return data
        return self._decoder.decode(data).encode("utf-8", "replace")

    def finish(self) -> bytes:
        """What was still held back at the end of input: at most one byte that was no mark."""
        head, self._head = self._head, b""
        return head
