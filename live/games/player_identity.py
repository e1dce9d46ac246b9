"""Names as short as they can be, and still nobody else's. Pure; the same rule as the pages have in
``live/web/drawing/player_names.js``.

Who a player is and which game this is, whatever the source's spelling of today.

**Players.** Two players are the same person when their FIDE ids are equal, or else when their
names are equal after :func:`normalise_name`: accents, case, punctuation, word order and titles do not
count, nor a rating in the name or a federation in brackets, and ``ä``, ``a`` and ``ae`` are one
letter, so are ``ö``, ``ø``, ``o`` and ``oe``, and ``ü``, ``u`` and ``ue``. (The price: "Michael"
and "Michal" are one first name.) Where two reports of one game are compared, a middle initial more
does not count either. A FIDE id that appears later, or is corrected, changes nothing as long as the
name stays.

**Game ids.** A key of the source that is short and safe in a URL (a lichess game id) is the id. A
longer key is hashed. Without a key, event, round, board and both players are hashed, as they were
first report: FIDE ids when both sides have one, else names. Nothing else goes in, so the same game
gets the same id in any process, on any day and in any order of arrival. Where an id is taken, by a
second game of the same names or by another feed that follows the same event, ``-2``, ``-3``, …
is added; games are matched within their feed only.
"""

import base64
import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from live.events import GameId, GameReport, Headers, Player
from live.feeds.player_names import without_marks
from live.games.addresses import strip_addresses

T = TypeVar("T", Player, Headers)

#: Small words that belong to the family name after them.
_PARTICLES = frozenset(
    re.findall(
        r"\w+",
        "al ben bin da dal das de del della den der des di do dos du el ibn la las le los san st "
        "ten ter van vom von y zu",
    )
)
#: What follows a family name and is none.
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv)\.?", re.IGNORECASE)
#: Patronymics stand last in lists that put the family name first.
_PATRONYMIC = re.compile("(?:ович|евич|ич|овна|евна|ична|ovich|evich|ovna|evna)$", re.IGNORECASE)
#: What stands in brackets is another way to write the name, or no name. Sources cut names short.
_BRACKETED = re.compile(r"[(\uff08][^()\uff08\uff09]*(?:[)\uff09]|$)")
_BRACKETS = re.compile(r"[()\uff08\uff09]")
#: Letters that are written from right to left.
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
#: Letters that join, or words that are one letter each: they have no initial.
_NO_INITIAL = re.compile(
    f"[{_RIGHT_TO_LEFT}\u0900-\u097f\u0e00-\u0e7f\u1100-\u11ff\u3005\u3007\u3040-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff]"
)
_TURNS = re.compile(f"[{_RIGHT_TO_LEFT}]")


class _Parts(NamedTuple):
    family: str
    given: str
    form: str
    """How both are joined again."""


@lru_cache(maxsize=2048)
def _split_name(name: str) -> _Parts:
    """Of a name as lists write it, with single spaces."""
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
    # In `Gukesh D` the first word is what people know; so is it before a patronymic.
    if last[:1].isalpha() and last[1:] in ("", "."):
        return _Parts(" ".join(words[:-1]), last, "{family} {given}")
    if len(words) == 3 and _PATRONYMIC.search(last):
        return _Parts(words[0], " ".join(words[1:]), "{family} {given}")
    at = len(words) - 1
    if _SUFFIX.fullmatch(last) and at > 1:
        at -= 1
    while at > 1 and words[at - 1].lower() in _PARTICLES:
        at -= 1
    return _Parts(" ".join(words[at:]), " ".join(words[:at]), "{given} {family}")


def _normalise_blanks(name: str) -> str:
    return " ".join(name.split())


def family_name(name: str) -> str:
    """What people know a player by: ``"Nepomniachtchi, Ian"`` → ``"Nepomniachtchi"``."""
    whole = _normalise_blanks(name) or "?"
    return _split_name(whole).family or whole


def short_name(name: str, others: Iterable[str]) -> str:
    """The family name, or as much more as tells the player from these others: ``"Ivanov, Se."``."""
    whole = _normalise_blanks(name) or "?"
    family, given, form = _split_name(whole)
    rivals = [_split_name(_normalise_blanks(other)) for other in others if _normalise_blanks(other) != whole]
    rivals = [each for each in rivals if each.family.lower() == family.lower()]
    if not rivals or not family:
        return family or whole
    if _NO_INITIAL.search(given):
        return whole
    for letters in range(1, len(given)):
        start = given[:letters].lower()
        if not any(each.given.lower().startswith(start) for each in rivals):
            short = form.format(family=family, given=f"{given[:letters]}.")
            return short if len(short) < len(whole) else whole
    return whole


def isolate_direction(name: str) -> str:
    """A name for a sentence: what is written from right to left is kept from moving its neighbours
    (U+2068 and U+2069; https://www.unicode.org/reports/tr9/). Others stay as they are.
    """
    return f"\u2068{name}\u2069" if _TURNS.search(name) else name


# Letters that Unicode does not take apart into a base letter and an accent.
_WHOLE_LETTERS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
_APOSTROPHES = re.compile("['’‘`´ʼ]")
_WORD = re.compile(r"\w+(?:\.\d+)*")
_WRITTEN_OUT_UMLAUT = re.compile("([aou])e")
_TITLES = {"gm", "im", "fm", "cm", "nm", "wgm", "wim", "wfm", "wcm", "wnm", "agm", "aim", "afm"}
_TITLES |= {"acm", "dr", "prof", "mr", "mrs", "ms"}
# What sources write where they know no name (lila RelayGame).
_NOBODY = frozenset({"", "unknown", "nn", "n n", "tbd", "tba", "noname", "no name"})
#: A free round in the languages of the pages and some more, and what stands beside the word.
_BYE = frozenset(
    re.findall(
        r"\w+",
        "bye byes spielfrei freilos exempt exempte libre descansa descanso riposo riposa "
        "свободен свободна пропуск отдыхает vrij folga pauza pauze",
    )
)
_OF_A_BYE = frozenset(
    re.findall(r"\w+", "half full zero point points requested pairing allocated 0 1 2 1/2 ½")
)

_SHORT_KEY = re.compile(r"[A-Za-z0-9_-]{1,16}")


def fold_name(name: str) -> str:
    """A name as people type it when they ask for one: composed, caseless, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


@lru_cache(maxsize=4096)
def normalise_name(name: str) -> str:
    """``name`` as it is compared: ``"GM Müller, Karsten"`` → ``"karsten muller"``.

    Empty for a name that names nobody: ``"?"``, ``"N.N."``, a single letter, an address.
    """
    named = without_marks(strip_addresses(name)).casefold()
    folded = unicodedata.normalize("NFKD", named.translate(_WHOLE_LETTERS))
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = _WORD.findall(_APOSTROPHES.sub("", bare))
    # "Im" is a Korean surname: a name is never made of titles alone.
    kept = [word for word in words if word not in _TITLES] or words
    if " ".join(kept) in _NOBODY or sum(map(len, kept)) < 2:
        return ""
    return " ".join(sorted(_WRITTEN_OUT_UMLAUT.sub(r"\1", word) for word in kept))


@lru_cache(maxsize=2048)
def normalise_header(text: str) -> str:
    """An event or round as it is compared; empty for ``"?"`` and ``"-"``."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def fide_id_of(player: Player) -> int | None:
    """The FIDE id; sources write 0 where there is none."""
    return player.fide_id or None


def is_known(player: Player) -> bool:
    """Does the source say who plays?"""
    return fide_id_of(player) is not None or normalise_name(player.name) != ""


def is_bye(player: Player) -> bool:
    """Is this no player but a free round, in any language?"""
    return fide_id_of(player) is None and _is_bye_name(player.name)


@lru_cache(maxsize=2048)
def _is_bye_name(name: str) -> bool:
    words = set(_WORD.findall(name.casefold()))
    return bool(words & _BYE) and words <= _BYE | _OF_A_BYE


def is_same_person(one: Player, other: Player) -> bool:
    """Are both known, and the same by FIDE id or by name, perhaps with a middle initial more?"""
    if fide_id_of(one) is not None and fide_id_of(one) == fide_id_of(other):
        return True
    words, others = normalise_name(one.name), normalise_name(other.name)
    if words == others or not (words and others):
        return words == others != ""
    numbers = {fide_id_of(one), fide_id_of(other)} - {None}
    return len(numbers) < 2 and _is_same_but_for_initials(words.split(), others.split())


def _is_same_but_for_initials(one: list[str], other: list[str]) -> bool:
    """Whether a name is another one with initials more: ``Castel, Ines M.`` of ``Castel, Ines``."""
    short, long = sorted((one, other), key=len)
    more = [word for word in long if word not in short]
    return (
        len(more) == len(long) - len(short) > 0
        and sum(len(word) > 1 for word in short) > 1
        and all(len(word) == 1 and not _NO_INITIAL.match(word) for word in more)
    )


def fill_missing(one: T, more: T, *names: str) -> T:
    """A player or a game's headers, with what they lack of these fields from ``more``."""
    lacking = {
        name: value
        for name in names
        if getattr(one, name) in (None, 0, "", "?") and (value := getattr(more, name))
    }
    return replace(one, **lacking) if lacking else one


def person_key(player: Player) -> str:
    """What the games of one person have in common, safe in a URL for Latin names.

    ``"fide-1503014"``, else ``"carlsen-magnus"``; empty for an unknown player, whom nothing
    connects to the unknown player of another game.
    """
    number = fide_id_of(player)
    return f"fide-{number}" if number is not None else normalise_name(player.name).replace(" ", "-")


def name_or_fide_id(player: Player) -> str:
    """The name as compared, or the FIDE id of a player without one."""
    return normalise_name(player.name) or person_key(player)


def preferred_game_id(report: GameReport) -> GameId:
    """The id a game should have, were it free: 1-16 characters of ``A-Z a-z 0-9 _ -``."""
    if _SHORT_KEY.fullmatch(report.key):
        return report.key
    if report.key:
        return _hash_parts("key", report.key)
    headers = report.headers
    players = (headers.white, headers.black)
    by_number = all(fide_id_of(player) is not None for player in players)
    return _hash_parts(
        "headers",
        normalise_header(headers.event),
        normalise_header(headers.round),
        "" if headers.board is None else str(headers.board),
        *(person_key(player) if by_number else name_or_fide_id(player) for player in players),
    )


def _hash_parts(*parts: str) -> GameId:
    """50 bits: among 10,000 games two collide once in 20 million events, and then get a suffix."""
    words = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(words, digest_size=10).digest()
    return base64.b32encode(digest).decode().lower()[:10]
