"""Round of a game and place within the round, in any spelling of a source. No I/O."""

import re

from live.messages.figures import GameView

_WORD = r"(?:round|rnd|rd|r|runde|ronde|ronda|rodada|turno|tour|kolo|runda|kierros)"
_BOARD = r"(?:\.\d+)*(?:[\s,;/|-]*(?:board|bd|table|brett|tafel)\.?\s*\d+)?"
_ROUND = re.compile(
    rf"(?:{_WORD}\s*[.:#-]?\s*|#)?0*+(\d{{1,3}}){_BOARD}"
    rf"|0*+(\d{{1,3}})\s*(?:\.|st|nd|rd|th|e|ª|ème)?\s*{_WORD}",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"[0-9]{1,9}")
_PLACE = re.compile(r"\d((?:\.\d+)+)")
#: Sort key for rounds and for games within them; numbers are compared as numbers and
#: come after words.
RoundPlace = tuple[tuple[int, str], ...]


def read_round_number(text: str) -> int | None:
    """Return the number of the round that ``text`` (a ``Round`` tag or a setting)
    names.

    ``8``, ``08``, ``Round 8`` and ``8th round`` are 8, as are ``8.2`` and ``08.5``, in
    which sources add the board or match. None if no single round is named: empty,
    ``?``, ``Final``, ``2-4``, ``1/8``, 0.

    >>> read_round_number("Round 08.5")
    8
    """
    match = _ROUND.fullmatch(text[:80].strip())
    if match is None:
        return None
    return int(match[1] or match[2]) or None


def normalise_round(text: str) -> str:
    """Return one name for a round: ``4`` for ``4.12``, ``04`` and ``Round 4``.

    If no number is clear, return the text before the first point.
    """
    number = read_round_number(text)
    return text.partition(".")[0] if number is None else str(number)


def format_round_and_board(game: GameView) -> str:
    """Return round and board, as far as they are known: ``4.12``."""
    if "." in game.round or game.board is None:
        return game.round
    return (
        f"{normalise_round(game.round)}.{game.board}" if game.round else str(game.board)
    )


def round_sort_key(text: str, board: int | None) -> RoundPlace:
    """Return a sort key: ``7.2`` comes between boards 1 and 3 of round ``7``.

    Args:
        text: the round as the source writes it, possibly with match and board.
        board: the board's number; None if unknown.
    """
    if read_round_number(text) is None:
        parts = text.split(".")
    else:
        inner = _PLACE.search(text)
        parts = [
            normalise_round(text),
            *(inner[1].split(".")[1:] if inner is not None else ()),
        ]
    # The pattern limits the digits, so that int() accepts them.
    place = tuple((int(p), "") if _DIGITS.fullmatch(p) else (-1, p) for p in parts)
    if len(place) > 1:
        return place
    return (*place, (1 << 30 if board is None else board, ""))
