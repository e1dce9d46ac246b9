"""Removal of web addresses from texts of sources. No I/O."""

import re
from functools import lru_cache

#: A web address: anything with a scheme or ``www.``; a host name followed by a slash or
#: a port; an IP address with a port or a path. The last part of a host name must be all
#: lower or all upper case, or it must be short and follow a single word:
#: ``K.Müller/H.Schmidt`` are two people, and ``St.Petersburg/RUS`` is a place.
_ADDRESS = re.compile(
    r"""
    [a-z][a-z0-9+.-]{1,20}://\S*
    | \bwww\.\S+
    | \b(?:[\w-]{1,63}\.){1,8}
      (?-i:(?:(?![A-ZÀ-ÖØ-ÞА-ЯЁ])[^\W\d_]){2,24}|[A-Z]{2,24})(?::\d{1,5})?[/?\#\\]\S*
    | \b[\w-]{3,63}\.[a-z]{2,4}(?::\d{1,5})?[/?\#\\]\S*
    | \b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|[/?\#\\])\S*
    | \b[^\W\d][\w-]{0,62}:\d{2,5}/\S*
    | \[[0-9a-f:]{2,39}\](?::\d{1,5}|/)\S*
    """,
    re.IGNORECASE | re.VERBOSE,
)


@lru_cache(maxsize=8192)
def strip_addresses(text: str) -> str:
    """Return the text with every web address removed."""
    bare = _ADDRESS.sub(" ", text)
    return text if bare == text else " ".join(bare.split())
