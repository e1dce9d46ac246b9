"""Who a player is and which game this is, however the source spells it today. Pure.

**Players.** Two players are the same person if their FIDE ids are equal, or else if
their names are equal after :func:`normalise_name`: accents, case, punctuation, word
order and titles do not count, nor a rating in the name or a federation in brackets, and
``ä``, ``a`` and ``ae`` are one letter, so are ``ö``, ``ø``, ``o`` and ``oe``, and
``ü``, ``u`` and ``ue``. (The price: "Michael" and "Michal" are one first name.) Between
two reports of one game, an additional middle initial does not count either. A FIDE id
that appears later, or is corrected, changes nothing as long as the name stays.

**Game ids.** A key of the source that is short and safe in a URL (a lichess game id) is
the id. A longer key is hashed. Without a key, event, round, board and both players are
hashed as they were reported first: FIDE ids if both sides have one, else names. Nothing
else is hashed, so the same game gets the same id in any process, on any day and in any
order of arrival. If an id is taken, by a second game of the same names or by another
feed that follows the same event, ``-2``, ``-3``, … is added; games are matched within
their feed only.
"""

import base64
import hashlib
import re
import unicodedata
from functools import lru_cache
from typing import TypeVar

from msgspec.structs import replace

from live.games.addresses import strip_addresses
from live.games.short_names import NO_INITIAL
from live.messages.from_sources import GameReport, Headers, Player
from live.messages.values import GameId
from live.sources.player_names import strip_marks

T = TypeVar("T", Player, Headers)


# Letters that Unicode does not take apart into a base letter and an accent.
_WHOLE_LETTERS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
_APOSTROPHES = re.compile("['’‘`´ʼ]")
_WORD = re.compile(r"\w+(?:\.\d+)*")
_WRITTEN_OUT_UMLAUT = re.compile("([aou])e")
_TITLES = {
    "gm",
    "im",
    "fm",
    "cm",
    "nm",
    "wgm",
    "wim",
    "wfm",
    "wcm",
    "wnm",
    "agm",
    "aim",
    "afm",
}
_TITLES |= {"acm", "dr", "prof", "mr", "mrs", "ms"}
# What sources write where they know no name (lila RelayGame).
_NOBODY = frozenset({"", "unknown", "nn", "n n", "tbd", "tba", "noname", "no name"})
#: A free round in the languages of the pages and some more, and what stands beside the
#: word.
_BYE = frozenset(
    re.findall(
        r"\w+",
        "bye byes spielfrei freilos exempt exempte libre descansa descanso riposo "
        "riposa свободен свободна пропуск отдыхает vrij folga pauza pauze",
    )
)
_OF_A_BYE = frozenset(
    re.findall(
        r"\w+", "half full zero point points requested pairing allocated 0 1 2 1/2 ½"
    )
)

_SHORT_KEY = re.compile(r"[A-Za-z0-9_-]{1,16}")


def fold_name(name: str) -> str:
    """Return a name for a search: composed, caseless, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


@lru_cache(maxsize=4096)
def normalise_name(name: str) -> str:
    """Return ``name`` for comparison: ``"GM Müller, Karsten"`` → ``"karsten muller"``.

    Empty if it is the name of no person: ``"?"``, ``"N.N."``, a single letter, an
    address.
    """
    caseless = strip_marks(strip_addresses(name)).casefold()
    folded = unicodedata.normalize("NFKD", caseless.translate(_WHOLE_LETTERS))
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = _WORD.findall(_APOSTROPHES.sub("", bare))
    # "Im" is a Korean surname: a name is never made of titles alone.
    kept = [word for word in words if word not in _TITLES] or words
    if " ".join(kept) in _NOBODY or sum(map(len, kept)) < 2:
        return ""
    return " ".join(sorted(_WRITTEN_OUT_UMLAUT.sub(r"\1", word) for word in kept))


@lru_cache(maxsize=2048)
def normalise_header(text: str) -> str:
    """Return an event or round for comparison; empty for ``"?"`` and ``"-"``."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def fide_id_of(player: Player) -> int | None:
    """Return the FIDE id; sources write 0 if there is none."""
    return player.fide_id or None


def is_known(player: Player) -> bool:
    """Return whether the source says who plays."""
    return fide_id_of(player) is not None or normalise_name(player.name) != ""


def is_bye(player: Player) -> bool:
    """Return whether this is a bye instead of a player, in any language."""
    return fide_id_of(player) is None and _is_bye_name(player.name)


@lru_cache(maxsize=2048)
def _is_bye_name(name: str) -> bool:
    words = set(_WORD.findall(name.casefold()))
    return bool(words & _BYE) and words <= _BYE | _OF_A_BYE


def is_same_person(one: Player, other: Player) -> bool:
    """Return whether both are known, and equal by FIDE id or by name."""
    if fide_id_of(one) is not None and fide_id_of(one) == fide_id_of(other):
        return True
    words = normalise_name(one.name)
    others = normalise_name(other.name)
    if words == others or not (words and others):
        return words == others != ""
    numbers = {fide_id_of(one), fide_id_of(other)} - {None}
    return len(numbers) < 2 and _is_same_but_for_initials(words.split(), others.split())


def _is_same_but_for_initials(one: list[str], other: list[str]) -> bool:
    """Return whether only initials differ: ``Castel, Ines M.`` and ``Castel, Ines``."""
    short, long = sorted((one, other), key=len)
    more = [word for word in long if word not in short]
    return (
        len(more) == len(long) - len(short) > 0
        and sum(len(word) > 1 for word in short) > 1
        and all(len(word) == 1 and not NO_INITIAL.match(word) for word in more)
    )


def fill_missing(one: T, more: T, *names: str) -> T:
    """Return ``one`` with its empty fields, of those named, filled from ``more``."""
    lacking = {
        name: value
        for name in names
        if getattr(one, name) in (None, 0, "", "?") and (value := getattr(more, name))
    }
    return replace(one, **lacking) if lacking else one


def person_key(player: Player) -> str:
    """Return a key of the person, safe in a URL for Latin names.

    ``"fide-1503014"``, else ``"carlsen-magnus"``; empty for an unknown player, since
    nothing connects the unknown players of two games.
    """
    number = fide_id_of(player)
    if number is not None:
        return f"fide-{number}"
    return normalise_name(player.name).replace(" ", "-")


def name_or_fide_id(player: Player) -> str:
    """Return the normalised name, or the FIDE id of a player without a name."""
    return normalise_name(player.name) or person_key(player)


def preferred_game_id(report: GameReport) -> GameId:
    """Return the id a game gets if it is free: 1-16 characters of ``A-Za-z0-9_-``."""
    if _SHORT_KEY.fullmatch(report.key):
        return report.key
    if report.key:
        return _hash_parts("key", report.key)
    headers = report.headers
    players = (headers.white, headers.black)
    have_numbers = all(fide_id_of(player) is not None for player in players)
    name_player = person_key if have_numbers else name_or_fide_id
    return _hash_parts(
        "headers",
        normalise_header(headers.event),
        normalise_header(headers.round),
        "" if headers.board is None else str(headers.board),
        name_player(headers.white),
        name_player(headers.black),
    )


def _hash_parts(*parts: str) -> GameId:
    """Return 50 bits in base 32: two of 10,000 games collide in one of 20 million
    events.
    """
    words = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(words, digest_size=10).digest()
    return base64.b32encode(digest).decode().lower()[:10]
