"""Piece letters of languages other than English. No I/O.

A language is chosen for a whole game, never for a single move: `D` is a queen in German
and Spanish; `R` is a rook in English, a king in French and a knight in Finnish. The
language must have every letter that the game uses, and English must lack one of them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from live.messages.values import Value
from live.sources.san import LOOK_ALIKES

_ENGLISH = "KQRBN"
#: Letters for king, queen, rook, bishop and knight. Languages with the same letters
#: share a row. The languages of the web pages, and Russian, are here: they are tried
#: first.
_COMMON: Mapping[str, str] = {
    "German": "K D T L S",  # also Danish, Norwegian, Swedish, Croatian and Slovene
    "French": "R D T F C",
    "Spanish or Italian": "R D T A C",
    "Portuguese": "R D T B C",
    "Dutch": "K D T L P",
    "Russian": "Кр Ф Л С К",
}
_LETTERS: Mapping[str, str] = {
    **_COMMON,
    "Polish": "K H W G S",
    "Czech": "K D V S J",
    "Hungarian": "K V B F H",
    "Finnish": "K D T L R",
    "Icelandic": "K D H B R",
    "Romanian": "R D T N C",
    "Turkish": "Ş V K F A",
    "Ukrainian": "Кр Ф Т С К",
    "Serbian": "К Д Т Л С",
}
_BY_LANGUAGE = {
    language: dict(zip(letters.split(), _ENGLISH, strict=True))
    for language, letters in _LETTERS.items()
}
#: A piece letter, an optional origin, a target square, and an optional promotion.
_CAPITAL = r"Кр|[A-Z\u00c0-\u00deŞ\u0400-\u042f]"
_MOVE = re.compile(
    rf"({_CAPITAL})?([a-h]?[1-8]?[-x:]?[a-h][1-8])(?:(=?)({_CAPITAL}))?(?!\w)"
)


class PieceLetters(Value):
    """A translation of a game's piece letters to English."""

    languages: tuple[str, ...]
    """Languages in which the letters have these meanings."""
    english: tuple[tuple[str, str], ...]
    """Pairs of a letter used in the game and the English letter."""
    is_common: bool
    """Whether one of the languages is common. A common language is preferred if it
    fits.
    """

    @property
    def name(self) -> str:
        return " or ".join(self.languages)

    def translate_move(self, move: str) -> str:
        """Return the text of a move with English letters."""
        english = dict(self.english)
        move = move.translate(LOOK_ALIKES)
        match = _MOVE.match(move)
        if match is None:
            return move
        piece, squares, sign, promotion = match.groups()
        piece = english.get(piece, piece or "")
        promotion = english.get(promotion, promotion or "")
        return f"{piece}{squares}{sign or ''}{promotion}{move[match.end() :]}"


def find_letters(move: str) -> set[str]:
    """Return the piece letters in a text that looks like a move in any language."""
    match = _MOVE.match(move.translate(LOOK_ALIKES))
    return {match[1], match[4]} - {None} if match else set()


def find_letter_translations(used: Iterable[str]) -> list[PieceLetters]:
    """Return the possible translations of these letters, common languages first; none
    if all letters are English.
    """
    used = sorted(used)
    if all(letter in _ENGLISH for letter in used):
        return []
    languages: defaultdict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    for language, english in _BY_LANGUAGE.items():
        if all(letter in english for letter in used):
            languages[tuple((letter, english[letter]) for letter in used)].append(
                language
            )
    return [
        PieceLetters(tuple(names), english, names[0] in _COMMON)
        for english, names in languages.items()
    ]
