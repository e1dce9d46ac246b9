"""Removal of ratings, federations and titles from names. No I/O."""

import re

_RATING = (
    r"(?:(?:elo|rating|rtg|dwz|fide)\b[.:\s]*)?([1-9]\d{2,3})(?:\s*(?:elo|dwz|fide))?"
)
#: A rating in brackets: ``(2300)``, ``[Elo 2300]``.
_BRACKETED_RATING = re.compile(
    rf"\s*[(\[\uff08]\s*{_RATING}\s*[)\]\uff09]", re.IGNORECASE
)
#: A rating without brackets: ``Castel, Ines 2300``.
_BARE_RATING = re.compile(rf"[\s,;]+{_RATING}\Z", re.IGNORECASE)
_BRACKETED_LETTERS = re.compile(r"\s*[(\[\uff08]\s*(W?[A-Z]M|[A-Z]{3})\s*[)\]\uff09]")
#: Three capitals in brackets that distinguish people with the same name.
_APART = frozenset({"JUN", "SEN", "III"})
#: Numbers without brackets that might be years, as in the names of engines.
_YEARS = range(1970, 2040)
_BEST, _LEAST = 3600, 1000


def split_rating(name: str, elo: int | None = None) -> tuple[str, int | None]:
    """Return the name without the rating in it, and the rating; ``elo`` is the rating
    in a tag.

    A number in brackets is a rating. A number without brackets is a rating if it
    follows a name with a comma, or with at least two words, and is not a year: ``Deep
    Rybka 2010`` is a name. A single word might be an engine and its setting (``Maia
    1900``): then the number is the rating, but stays in the name.
    """
    if name.isdecimal() or not any(map(str.isdigit, name)):
        return name, elo
    if match := _BRACKETED_RATING.search(name):
        bare = (name[: match.start()] + name[match.end() :]).strip()
        return (bare, elo or int(match[1])) if bare else (name, elo)
    match = _BARE_RATING.search(name)
    if match is None or int(match[1]) > _BEST:
        return name, elo
    bare, rating = name[: match.start()].rstrip(" ,;-–"), int(match[1])
    words = re.findall(r"[^\W\d_]{2,}", bare)
    has_other_digits = any(map(str.isdigit, bare))
    if not words or has_other_digits:
        return name, elo
    if "," in bare:
        return bare, elo or rating
    if rating < _LEAST or rating in _YEARS or elo not in (None, rating):
        return name, elo
    return (bare if len(words) > 1 else name), rating


def strip_marks(name: str) -> str:
    """Return the name without rating, and without title or federation in brackets."""
    bare, _ = split_rating(name)
    unmarked = _BRACKETED_LETTERS.sub(
        lambda mark: mark[0] if mark[1] in _APART else "", bare
    )
    return unmarked.strip() or bare
