"""The spellings in which sources write a result. No I/O.

The reader of results and the check whether a text is complete must use the same
spellings. Otherwise a game that ends in a forfeit would never end, and its text would
never count as complete.
"""

import re
from functools import lru_cache
from itertools import product

from live.messages.from_sources import Result
from live.sources.charset import decode
from live.sources.typography import normalise_text

_POINTS: dict[str, tuple[str, ...]] = {
    "1": ("1", "1.0"),
    "0": ("0", "0.0"),
    "1/2": ("1/2", "½", "0.5", ".5"),
}
#: Signs for a forfeit, or for a draw agreed without play; they can also be separated by
#: ``/``. In a forfeit, one side's sign can be a number.
_SIGNS: dict[str, tuple[str, ...]] = {"1": ("+", "1"), "0": ("-", "0"), "1/2": ("=",)}
_SCORES: tuple[Result, ...] = ("1-0", "0-1", "1/2-1/2", "0-0", "1/2-0", "0-1/2")
#: A mark of forfeit after the points, as is often written: ``1-0F``, ``1F-0F``, ``1-0
#: FF``.
_FORFEIT = re.compile(r"(?<=[01+-])\s*\(?(?:FF?|forfeit)\)?(?![A-Za-z])", re.IGNORECASE)


def _index_spellings(
    points: dict[str, tuple[str, ...]], signs: str
) -> dict[str, Result]:
    spellings: dict[str, Result] = {}
    for score in _SCORES:
        white, _, black = score.partition("-")
        for white_points, sign, black_points in product(
            points[white], signs, points[black]
        ):
            spellings[f"{white_points}{sign}{black_points}"] = score
    return spellings


_BY_POINTS = _index_spellings(_POINTS, "-:_")
_BY_SIGNS = _index_spellings(_SIGNS, "-:/_")
for _both in _BY_SIGNS.keys() & {*_BY_POINTS, "1/0", "0/1", "0/0"}:
    del _BY_SIGNS[_both]
_SPELLINGS: dict[str, Result] = {
    "*": "*",
    "1/2": "1/2-1/2",
    "½": "1/2-1/2",
    **_BY_POINTS,
    **_BY_SIGNS,
}
#: Words that in movetext usually mean castling or an evaluation. They are results only
#: if the headers have the same result or no moves were played.
_DOUBTFUL = {"0-0", "½", *_BY_SIGNS}
#: Greatest length of a word that can be a result, bytes.
_RESULT_BYTES = 32


def _collect_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Results in words, in the languages of the web pages: a colour, and "wins" or "loses".
_WHITE = _collect_words(
    "white weiss blanc blancs blanco blancas bianco bianchi белые белых"
)
_BLACK = _collect_words(
    "black schwarz noir noirs negro negras nero neri чёрные чёрных черные черных"
)
_WINS = _collect_words(
    "win wins won gewinnt gewann gewonnen gagne gagnent victoire gana ganan ganaron"
    " victoria vince vincono vittoria выиграли выигрыш победа победили"
)
_LOSES = _collect_words(
    "loses lost resigns resigned verliert verlor aufgegeben perdent abandonnent pierden"
    " abandonan perde abbandona проиграли сдались"
)
_DRAWN = _collect_words(
    "draw drawn remis unentschieden nul nulle tablas empate patta ничья"
)
_FILLING = _collect_words(
    "the for by game a der die hat les partie match las el il del des"
)
_WORD = re.compile(r"[^\W\d_]+")
_MOST_WORDS_CHARS = 60


def read_result(text: str) -> Result:
    """Return the result in ``text`` (a ``Result`` tag, or a field of another source);
    ``*`` if there is none.

    Accepts ``½-½``, ``0.5-0.5``, ``1:0``, ``1_0``, forfeits (``+/-``, ``+--``, ``-:+``,
    ``1-0F``), ``1/2`` alone, and plain words (``White wins``, ``remis``).
    """
    return _SPELLINGS.get(_normalise_spelling(text)) or _read_words(text) or "*"


def _read_words(text: str) -> Result | None:
    """Return the result that a tag expresses in words; None if it contains other words,
    too.
    """
    if len(text) > _MOST_WORDS_CHARS:
        return None
    # LiveChess Cloud writes WHITEWIN.
    plain = re.sub("^(white|black)(?=wins?$)", r"\1 ", text.strip().casefold())
    words = frozenset(_WORD.findall(plain)) - _FILLING
    if not words:
        return None
    if words <= _DRAWN:
        return "1/2-1/2"
    outcomes: tuple[tuple[frozenset[str], Result, Result], ...] = (
        (_WHITE, "1-0", "0-1"),
        (_BLACK, "0-1", "1-0"),
    )
    for colour, won, lost in outcomes:
        verbs = words - colour
        if len(words) == 2 and len(verbs) == 1:
            return won if verbs <= _WINS else lost if verbs <= _LOSES else None
    return None


def read_result_word(word: bytes, *, doubtful: bool = False) -> Result | None:
    """Return the result that a word of movetext means; None for other words.

    With ``doubtful``, only words with several meanings count; without it, only words
    with a single meaning.
    """
    # Only short words are cached: a word can be as long as its text.
    return _read_result_word(word, doubtful) if len(word) <= _RESULT_BYTES else None


@lru_cache(maxsize=8192)
def _read_result_word(word: bytes, doubtful: bool) -> Result | None:
    spelling = _normalise_spelling(decode(word))
    return _SPELLINGS.get(spelling) if (spelling in _DOUBTFUL) is doubtful else None


#: A result in three words. It counts only at the end of a text: elsewhere it is a
#: number, a sign and a number.
_IN_THREE_WORDS = re.compile(
    rb"(?<![^\s})])([01]|1/2|\xc2\xbd)\s++[-:]\s++(?:[01]|1/2|\xc2\xbd)\s*+\Z"
)


def read_result_at_end(text: bytes | bytearray) -> Result | None:
    """Return the result in three words at the end of movetext, such as ``1 - 0``; None
    if there is none.
    """
    match = _IN_THREE_WORDS.search(text, max(0, len(text) - _RESULT_BYTES))
    return (
        None
        if match is None
        else _SPELLINGS.get(_normalise_spelling(match[0].decode()))
    )


def _normalise_spelling(text: str) -> str:
    """Return the text with plain dashes and points, without spaces and marks of
    forfeit.
    """
    text = normalise_text(text[: 2 * _RESULT_BYTES]).strip()[:24].replace(",", ".")
    text = "".join(_FORFEIT.sub("", text).split())
    return text if text in _SPELLINGS else text.replace("½", "1/2")


def is_forfeit(text: str) -> bool:
    """Return whether a result is written as a forfeit, that is, a player did not
    appear.
    """
    plain = _normalise_spelling(text)
    return "=" not in plain and (
        plain in _BY_SIGNS or _FORFEIT.search(text) is not None
    )
