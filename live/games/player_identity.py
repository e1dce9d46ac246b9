"""Identity of players and of games, independent of how a source spells them. No I/O.

**Players.** Two players are the same person if their FIDE ids are equal, or if their
names are equal after :func:`normalise_name`. This function ignores accents, case,
punctuation, word order, titles, a rating in the name and a federation in brackets, and
reads ``ä``, ``a`` and ``ae`` as one letter, likewise ``ö``, ``ø``, ``o`` and ``oe``,
and ``ü``, ``u`` and ``ue``. (As a side effect, "Michael" and "Michal" are one first
name.) Between two reports of one game, an additional middle initial is ignored, too. A
FIDE id that appears later, or is corrected, changes nothing as long as the name stays
the same.

**Game ids.** If the source's key is short and safe in a URL (such as a lichess game
id), it is the id. A longer key is hashed. Without a key, the id is a hash of event,
round, board and both players as first reported: their FIDE ids if both have one,
otherwise their names. Nothing else enters the hash, so a game gets the same id in any
process, on any day and in any order of arrival. If an id is taken by a second game with
the same names, or by another feed of the same event, ``-2``, ``-3``, … is added. Games
are matched only within their feed.
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


# Letters that Unicode does not split into a base letter and an accent.
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
# Names that sources use for an unknown player (lila RelayGame).
_NOBODY = frozenset({"", "unknown", "nn", "n n", "tbd", "tba", "noname", "no name"})
#: Words for a bye in the pages' languages and some others. ``_OF_A_BYE`` has the words
#: that can accompany them.
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
    """Return a name in the form that searches compare: composed Unicode, caseless, with
    single spaces.
    """
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


@lru_cache(maxsize=4096)
def normalise_name(name: str) -> str:
    """Return ``name`` for comparison: ``"GM Müller, Karsten"`` → ``"karsten muller"``.

    Empty if the text names no person: ``"?"``, ``"N.N."``, a single letter, an address.
    """
    caseless = strip_marks(strip_addresses(name)).casefold()
    folded = unicodedata.normalize("NFKD", caseless.translate(_WHOLE_LETTERS))
    bare = "".join(letter for letter in folded if not unicodedata.combining(letter))
    words = _WORD.findall(_APOSTROPHES.sub("", bare))
    # "Im" is a Korean surname, so a name made of titles alone is kept.
    name_words = [word for word in words if word not in _TITLES] or words
    if " ".join(name_words) in _NOBODY or sum(map(len, name_words)) < 2:
        return ""
    return " ".join(sorted(_WRITTEN_OUT_UMLAUT.sub(r"\1", word) for word in name_words))


@lru_cache(maxsize=2048)
def normalise_header(text: str) -> str:
    """Return an event or round for comparison; empty for ``"?"`` and ``"-"``."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def fide_id_of(player: Player) -> int | None:
    """Return the FIDE id; None also for 0, which sources write if there is none."""
    return player.fide_id or None


def is_known(player: Player) -> bool:
    """Return whether the source gives a FIDE id or a name for the player."""
    return fide_id_of(player) is not None or normalise_name(player.name) != ""


def is_bye(player: Player) -> bool:
    """Return whether the name is the word for a bye, in any known language."""
    return fide_id_of(player) is None and _is_bye_name(player.name)


@lru_cache(maxsize=2048)
def _is_bye_name(name: str) -> bool:
    words = set(_WORD.findall(name.casefold()))
    return bool(words & _BYE) and words <= _BYE | _OF_A_BYE


def is_same_person(first: Player, second: Player) -> bool:
    """Return whether both players are known and have the same FIDE id or name."""
    if fide_id_of(first) is not None and fide_id_of(first) == fide_id_of(second):
        return True
    words = normalise_name(first.name)
    other_words = normalise_name(second.name)
    if words == other_words or not (words and other_words):
        return words == other_words != ""
    numbers = {fide_id_of(first), fide_id_of(second)} - {None}
    return len(numbers) < 2 and _is_same_but_for_initials(
        words.split(), other_words.split()
    )


def _is_same_but_for_initials(first: list[str], second: list[str]) -> bool:
    """Return whether only initials differ: ``Castel, Ines M.`` and ``Castel, Ines``."""
    short, long = sorted((first, second), key=len)
    additional = [word for word in long if word not in short]
    return (
        len(additional) == len(long) - len(short) > 0
        and sum(len(word) > 1 for word in short) > 1
        and all(len(word) == 1 and not NO_INITIAL.match(word) for word in additional)
    )


def fill_missing(record: T, supplement: T, *names: str) -> T:
    """Return ``record`` with values of ``supplement`` in the fields ``names``, where
    these are empty.
    """
    lacking = {
        name: value
        for name in names
        if getattr(record, name) in (None, 0, "", "?")
        and (value := getattr(supplement, name))
    }
    return replace(record, **lacking) if lacking else record


def person_key(player: Player) -> str:
    """Return a key of the person: ``"fide-1503014"`` or, without a FIDE id,
    ``"carlsen-magnus"``.

    For Latin names it is safe in a URL. It is empty for an unknown player, so that
    unknown players of two games do not count as one person.
    """
    number = fide_id_of(player)
    if number is not None:
        return f"fide-{number}"
    return normalise_name(player.name).replace(" ", "-")


def name_or_fide_id(player: Player) -> str:
    """Return the normalised name, or the FIDE id of a player without a name."""
    return normalise_name(player.name) or person_key(player)


def preferred_game_id(report: GameReport) -> GameId:
    """Return the id that a game gets if it is free: 1 to 16 characters of
    ``A-Za-z0-9_-``.
    """
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
    """Return a hash of 50 bits in base 32.

    In an event of 10,000 games, two hashes are equal with a chance of 1 in 20 million.
    """
    words = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(words, digest_size=10).digest()
    return base64.b32encode(digest).decode().lower()[:10]
