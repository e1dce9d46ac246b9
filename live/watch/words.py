"""Texts about games and rounds in the six languages of the screens, one file each.

A file such as ``languages/de.toml`` contains the letters of the pieces, king first; a
sentence for each kind of moment; phrases that can follow a sentence; and the texts of a
round's page and picture. In sentences ``{who}``, ``{rival}``, ``{white}`` and
``{black}`` are replaced with players, ``{move}`` and ``{reply}`` with moves, and other
placeholders with figures. A sentence is displayed alone or after the name of its kind
(live/screens/web/overlay/language), so it does not repeat that name. In the texts of a
round ``{}`` is replaced with a number or a name, and ``date`` gives the order of day,
month and year.
"""

from importlib import resources

import msgspec

from live.messages.moments import MomentText
from live.messages.values import Value

LANGUAGES: tuple[str, ...] = MomentText.__struct_fields__


class RoundWords(Value, forbid_unknown_fields=True):
    """The texts on the page and in the picture of a round."""

    round: str
    date: str
    months: str
    """The names of the months as they appear in a date, January first, separated by
    spaces.
    """
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
    measuring: str
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
    """All texts in one language."""

    letters: str
    """The letters of king, queen, rook, bishop and knight, separated by spaces. They
    must be the same as in live/screens/web/overlay/language/words.js.
    """
    moments: dict[str, str]
    """The sentence for each kind of moment."""
    added: dict[str, str]
    """Phrases that can follow a sentence, in this order, by their keys."""
    round: RoundWords


def _read(language: str) -> Words:
    file = resources.files(__package__).joinpath("languages", f"{language}.toml")
    return msgspec.toml.decode(file.read_bytes(), type=Words)


WORDS: dict[str, Words] = {language: _read(language) for language in LANGUAGES}
