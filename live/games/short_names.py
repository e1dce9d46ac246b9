"""Names of players, shortened as far as they stay unambiguous. No I/O.

The web pages follow the same rule, in ``live/screens/web/drawing/player_names.js``.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

#: Small words that belong to the family name after them.
_PARTICLES = frozenset(
    re.findall(
        r"\w+",
        "al ben bin da dal das de del della den der des di do dos du el ibn la las le "
        "los san st ten ter van vom von y zu",
    )
)
#: Suffixes after a family name that do not belong to it.
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)
#: Ends of patronymics, which come last in lists that put the family name first.
_PATRONYMIC = re.compile(
    "(?:ович|евич|ич|овна|евна|ична|ovich|evich|ovna|evna)$", re.IGNORECASE
)
#: Text in brackets is another spelling of the name, or no name. The closing bracket is
#: optional, because sources cut names short.
_BRACKETED = re.compile(r"[(\uff08][^()\uff08\uff09]*(?:[)\uff09]|$)")
_BRACKETS = re.compile(r"[()\uff08\uff09]")
#: Ranges of letters that are written from right to left.
_RIGHT_TO_LEFT = (
    "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
)
#: Letters without an initial: letters that join their neighbours, or are words in
#: themselves.
NO_INITIAL = re.compile(
    f"[{_RIGHT_TO_LEFT}\u0900-\u097f\u0e00-\u0e7f\u1100-\u11ff\u3005\u3007\u3040-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff]"
)
_TURNS = re.compile(f"[{_RIGHT_TO_LEFT}]")


class _Parts(NamedTuple):
    family: str
    given: str
    form: str
    """Format string that joins the two parts again."""


@lru_cache(maxsize=2048)
def _split_name(name: str) -> _Parts:
    """Split a name with single spaces into family and given name."""
    bare = _normalise_blanks(_BRACKETED.sub(" ", name))
    if bare != name:
        return _split_name(bare or _normalise_blanks(_BRACKETS.sub(" ", name)))
    family, comma, given = name.partition(",")
    if comma and family:
        return _Parts(family.strip(), given.strip(), "{family}, {given}")
    words = name.split(" ")
    last = words[-1]
    if len(words) == 1:
        return _Parts(name, "", "{family}")
    # In ``Gukesh D``, and before a patronymic, the first word serves as the family
    # name.
    if last[:1].isalpha() and last[1:] in ("", "."):
        return _Parts(" ".join(words[:-1]), last, "{family} {given}")
    if len(words) == 3 and _PATRONYMIC.search(last):
        return _Parts(words[0], " ".join(words[1:]), "{family} {given}")
    start = len(words) - 1
    if _SUFFIX.fullmatch(last) and start > 1:
        start -= 1
    while start > 1 and words[start - 1].lower() in _PARTICLES:
        start -= 1
    return _Parts(" ".join(words[start:]), " ".join(words[:start]), "{given} {family}")


def _normalise_blanks(name: str) -> str:
    return " ".join(name.split())


def family_name(name: str) -> str:
    """Return the family name: ``"Nepomniachtchi, Ian"`` → ``"Nepomniachtchi"``."""
    whole = _normalise_blanks(name) or "?"
    return _split_name(whole).family or whole


def short_name(name: str, other_names: Iterable[str]) -> str:
    """Return the shortest unambiguous name among ``other_names``: ``"Ivanov, Se."``."""
    whole = _normalise_blanks(name) or "?"
    family, given, form = _split_name(whole)
    rivals = [
        _split_name(_normalise_blanks(other_name))
        for other_name in other_names
        if _normalise_blanks(other_name) != whole
    ]
    rivals = [rival for rival in rivals if rival.family.lower() == family.lower()]
    if not rivals or not family:
        return family or whole
    if NO_INITIAL.search(given):
        return whole
    for letters in range(1, len(given)):
        start = given[:letters].lower()
        if not any(rival.given.lower().startswith(start) for rival in rivals):
            short = form.format(family=family, given=f"{given[:letters]}.")
            return short if len(short) < len(whole) else whole
    return whole


def isolate_direction(name: str) -> str:
    """Return a name that can be part of a sentence in the other writing direction.

    A name written from right to left gets U+2068 and U+2069 around it, so that it does
    not change the order of its neighbours (https://www.unicode.org/reports/tr9/).
    """
    return f"\u2068{name}\u2069" if _TURNS.search(name) else name
