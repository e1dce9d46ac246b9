"""What the words of movetext look like, and small questions about text. Pure."""

from __future__ import annotations

import re

from live.events import Result
from live.feeds.pgn.charset import decode
from live.feeds.result_spelling import TOKENS

# lastindex: 1 comment left open, 2 comment, 3 word, 4 opening parenthesis, 5 line comment,
# 6 end; None for what says nothing (NAG, stray closing signs).
TOKEN = re.compile(
    rb"\s*+(?:\{([^}]*+)(\})?+"
    rb"|([^\s{}();$]++(?:\([QRBNqrbn]\)[^\s{}();$]*+)?)"
    rb"|(\()|(;[^\n]*+\n?+)|(\Z)|[)}]|\$\d*+)"
)
IN_VARIATION = re.compile(rb"[()]|\{[^}]*+(\})?+|;[^\n]*+|\n%[^\n]*+")
DELIMITERS = b" \t\n{}();$"
RESULTS: dict[bytes, Result] = {
    token.encode(charset): result
    for token, result in TOKENS.items()
    for charset in ("utf-8", "cp1252")
}
NUMBER = re.compile(rb"\d{1,4}+(?:\.++|\xe2\x80\xa6)|\.++(?=.)|\d{1,4}(?=[KQRBNOa-h])")
#: Words that are neither move nor number: evaluation signs (no letter, no digit), and the
#: abbreviations of printed annotations.
SIGN = re.compile(rb"(?!--\Z)[^0-9A-Za-z\x80-\xff]*+\Z|(?:e\.?p\.?|N|TN|D|RR|ch|mate|\d++)\Z")


def common_prefix(a: bytes, b: bytes) -> int:
    """Length of what ``a`` and ``b`` have in common in front. Compares O(length) bytes in all."""
    high = min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low


def ends_clean(text: bytes, at: int, whole: bool) -> bool:
    """True when the token before ``at`` cannot go on behind it."""
    if at == 0 or text[at - 1] in b"})\n":
        return True
    return text[at] in DELIMITERS if at < len(text) else whole


def has_letters(text: bytes) -> bool:
    return any(c.isalnum() for c in decode(text))
