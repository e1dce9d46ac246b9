"""Who plays where: the event of a game, and players under two names. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from live.events import GameView, PlayerView
from live.games.player_identity import name_words


def main_event(game: GameView) -> str:
    """The event; empty when it is only the pairing, as lichess names each game of a broadcast."""
    white, black = game.white.name, game.black.name
    return "" if white and black and f"{white} - {black}" in game.event else game.event


# --- namesakes ----------------------------------------------------------------------------------

# Players under two names who might be one person: reported, never put together. Pure.
#
# Who is one person for sure is decided by :mod:`live.games.player_identity`: equal FIDE ids, else
# equal names. What is left here are names that a source may have written shorter, or with a slip.


#: A word this long is hardly the same as another by chance.
_TELLING = 3
#: From so many letters on, one wrong letter is a slip rather than another name.
_SLIP_FROM = 5


def namesakes(
    players: Iterable[PlayerView], met: Collection[frozenset[str]]
) -> tuple[tuple[str, str], ...]:
    """Pairs of names, in order, that might be one person's; O(players²).

    ``met`` holds the ids of those who played each other, and so are two. Two FIDE ids are two
    persons.
    """
    known = [(view, name_words(view.name).split()) for view in players]
    found = []
    for index, (one, words) in enumerate(known):
        for other, others in known[index + 1 :]:
            if one.id.startswith("fide-") and other.id.startswith("fide-"):
                continue
            if frozenset((one.id, other.id)) not in met and might_be_one(words, others):
                found.append((min(one.name, other.name), max(one.name, other.name)))
    return tuple(sorted(found))


def might_be_one(words: list[str], others: list[str]) -> bool:
    """Whether every word of the shorter name is one of the longer's, or its initial, or but a
    letter off, and one of some length is shared.
    """
    short, long = sorted((words, others), key=len)
    left = list(long)
    distinctive = False
    # Longer words first: an initial must not take the match of a longer word.
    for word in sorted(short, key=len, reverse=True):
        found = next((candidate for candidate in left if _alike(word, candidate)), None)
        if found is None:
            return False
        left.remove(found)
        distinctive |= len(word) >= _TELLING and len(found) >= _TELLING
    return distinctive


def _alike(one: str, other: str) -> bool:
    initial = min(len(one), len(other)) == 1 and one[0] == other[0]
    return one == other or initial or _slip(one, other)


def _slip(one: str, other: str) -> bool:
    """One letter too many, too few, or wrong, or two in the wrong order."""
    if min(len(one), len(other)) < _SLIP_FROM or abs(len(one) - len(other)) > 1 or one == other:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, other_rest = one[start:], other[start:]
    if len(one) == len(other):
        turned = rest[1::-1] + rest[2:]
        return rest[1:] == other_rest[1:] or turned == other_rest
    longer, shorter = (rest, other_rest) if len(one) > len(other) else (other_rest, rest)
    return longer[1:] == shorter
