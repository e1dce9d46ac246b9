"""What is said of games and rounds in the six languages of the screens: a file each.

``languages/de.toml`` holds the letters of the pieces, king first; a sentence for each
kind of moment; what may follow a sentence; and the words of a round's page and picture.
In sentences ``{who}`` and ``{rival}`` are players, ``{white}`` and ``{black}`` too,
``{move}`` and ``{reply}`` moves, the other holes figures. A sentence stands alone, and
after the name of its kind (live/screens/web/overlay/language), and does not repeat it.
In the words of a round ``{}`` is a number or a name, and ``date`` has the order of
day, month and year.
"""

from importlib import resources

import msgspec

from live.messages.moments import MomentText
from live.messages.values import Value

LANGUAGES: tuple[str, ...] = MomentText.__struct_fields__


class RoundWords(Value, forbid_unknown_fields=True):
    """What page and picture of a round say."""

    round: str
    date: str
    months: str
    """The names of the months as a date has them, January first."""
    games: str
    decided: str
    upsets: str
    above: str
    below: str
    nobody: str
    moves: str
    expected: str
    no_move: str
    others: str
    unscored: str
    percent: str
    results: str
    board: str
    played_like: str
    picture: str
    rounds: str
    fall: str
    waiting: str
    no_round: str
    boards: str


class Words(Value, forbid_unknown_fields=True):
    """One language."""

    letters: str
    """Of king, queen, rook, bishop and knight, as
    live/screens/web/overlay/language/words.js.
    """
    moments: dict[str, str]
    """A sentence a kind."""
    added: dict[str, str]
    """What may follow a sentence, in this order."""
    round: RoundWords


def _read(language: str) -> Words:
    file = resources.files(__package__).joinpath("languages", f"{language}.toml")
    return msgspec.toml.decode(file.read_bytes(), type=Words)


WORDS: dict[str, Words] = {language: _read(language) for language in LANGUAGES}
