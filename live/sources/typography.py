"""Replacement of typographic characters by the ASCII characters used in chess texts. No
I/O.

Text that has been through a web page, a word processor or a phone contains no-break and
zero-width spaces, long dashes, curly quotes and full-width letters, which look like
ASCII characters but are different ones. Plain ASCII text, the usual case, is returned
unchanged.
"""

import re

_BLANKS = "\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\u3164\uffa0"
#: Characters without width: soft hyphen, zero-width spaces and joiners, direction
#: marks, the byte-order mark in the middle of a text, selectors of emoji forms.
_INVISIBLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f"
    "\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
)
_DOUBLE_QUOTES = "\xab\xbb\u02ba\u201c-\u201f\u2033\u2036\u275d\u275e\u301d-\u301f"
_SINGLE_QUOTES = (
    "\xb4\u02b9\u02bb-\u02bd\u02c8\u2018-\u201b\u2032\u2035\u2039\u203a\u275b\u275c"
)
_DASHES = (
    "\u02d7\u058a\u05be\u1806\u2010-\u2015\u2043\u207b\u208b\u2212\u2500\u2501\u2796\u2e3a\u2e3b"
    "\u301c\u3030\u30a0\u30fc\ufe31\ufe32\ufe58\ufe63\uff70"
)
_READ_AS = {
    " ": _BLANKS,
    '"': _DOUBLE_QUOTES,
    "'": _SINGLE_QUOTES,
    "-": _DASHES,
    ".": "\u2024\u3002\uff61",
    "..": "\u2025",
    "...": "\u2026\u22ef",
    "/": "\u2044\u2215",
    ":": "\u2236\ua789",
    "*": "\u2217\u22c6\u2731\ufe61",
}


def _expand_ranges(ranges: str) -> list[str]:
    """Return every character in a text of ranges as in a regular expression's character
    class.
    """
    characters: list[str] = []
    for part in re.findall(".-.|.", ranges, re.DOTALL):
        characters += map(chr, range(ord(part[0]), ord(part[-1]) + 1))
    return characters


_PLAIN: dict[str, str] = {}
for _plain, _ranges in _READ_AS.items():
    _PLAIN.update(dict.fromkeys(_expand_ranges(_ranges), _plain))
# Full-width forms are in the order of ASCII.
_PLAIN |= {chr(code - 0x21 + 0xFF01): chr(code) for code in range(0x21, 0x7F)}

_TYPOGRAPHIC = re.compile(f"[{''.join(map(re.escape, _PLAIN))}]")
_ODD_BLANK = re.compile(f"[{_BLANKS}]")
_UNSEEN = re.compile(f"[{_INVISIBLE}]+")
#: A soft hyphen used as the dash of castling or of a result.
_SOFT_DASH = re.compile(
    "(?<=[0Oo])\xad(?=[0Oo])|(?<![a-h][12])(?<=[012½])\xad(?=[01½])"
)
#: _WORD_GOES_ON: a character that cannot end a word of movetext. _WORD_ENDS: the end of
#: castling or of a promotion. _GOES_ON_WORD: a character that continues the word before
#: it.
_WORD_GOES_ON = re.compile(r"[^\W\d_]|[=/:♔-♟-]")
_WORD_ENDS = re.compile("-[0Oo]|=[QRBN]")
_GOES_ON_WORD = re.compile(r"[-=/:.,;)+#!?]")
#: Quotes other than ASCII's around the value of a tag.
_OPENING_QUOTE = re.compile(
    rf"(\[\s*[A-Za-z0-9_]+\s*)[{_DOUBLE_QUOTES}{_SINGLE_QUOTES}\uff02]"
)
_CLOSING_QUOTE = re.compile(rf"[{_DOUBLE_QUOTES}{_SINGLE_QUOTES}\uff02](\s*\])")


def normalise_text(text: str) -> str:
    """Return movetext or a result with ASCII spaces, dashes, quotes and dots."""
    if text.isascii():
        return text
    text = _TYPOGRAPHIC.sub(lambda match: _PLAIN[match[0]], text)
    text = _SOFT_DASH.sub("-", text)
    return _UNSEEN.sub(_separate_or_join, text)


def normalise_tags(text: str) -> str:
    """Return tag lines with plain spaces, and with ASCII quotes around the values.

    The contents of a value are shown to people, so its dashes and quotes stay as they
    were written.
    """
    if text.isascii():
        return text
    text = _UNSEEN.sub("", _ODD_BLANK.sub(" ", text))
    return _CLOSING_QUOTE.sub(r'"\1', _OPENING_QUOTE.sub(r'\1 "', text))


def normalise_line(text: str) -> str:
    """Return one line of PGN, converted by :func:`normalise_tags` if it is a tag line,
    and otherwise by :func:`normalise_text`.
    """
    tags = normalise_tags(text)
    return tags if tags.lstrip().startswith("[") else normalise_text(text)


def _separate_or_join(match: re.Match[str]) -> str:
    """Return a space if the zero-width characters separate two words; otherwise
    nothing.

    Web pages put such characters between words where a line can break. Inside a move
    they have no meaning.
    """
    text, start, end = match.string, match.start(), match.end()
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    word_end = _WORD_ENDS.match(text, max(0, start - 2), start)
    is_in_word = (_WORD_GOES_ON.match(before) and not word_end) or _GOES_ON_WORD.match(
        after
    )
    return "" if is_in_word or not before or not after else " "
