"""Which games a source holds, whether they are all over, and since when nothing changed. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from live.events import GameReport

#: What distinguishes one game from the others of its source, as far as the source allows.
Identity = tuple[object, ...]


def identities(games: Iterable[GameReport]) -> list[Identity]:
    """One identity per game, in order; games that look alike are numbered in their order."""
    seen: Counter[Identity] = Counter()
    named: list[Identity] = []
    for game in games:
        who = identity(game)
        named.append((*who, seen[who]))
        seen[who] += 1
    return named


def identity(game: GameReport) -> Identity:
    """The source's own key, else event, round, board and the players' names."""
    if game.key:
        return (game.key,)
    headers = game.headers
    return (headers.event, headers.round, headers.board, headers.white.name, headers.black.name)


#: Plies played alike after which two entries of the same players, event and round are one game.
REPEATED_PLIES = 10


def distinct_games(games: Iterable[GameReport]) -> tuple[GameReport, ...]:
    """The games of one text, each once; keys separate them only where the keys differ.

    One address for all games of a round is no key of a game (lichess exports of 2025): where
    several games have the same address, none of them gets it as a key. A game that stands twice,
    with the same players, headers and moves as far as both go, is counted once: the longer one.
    """
    kept: list[GameReport] = []
    places: dict[Identity, list[int]] = {}
    for game in games:
        headers = game.headers
        names = (
            headers.event,
            headers.round,
            headers.board,
            headers.white.name,
            headers.black.name,
            headers.date,
        )
        alike = places.setdefault((*names, game.start_fen), [])
        for place in alike:
            if _is_repeated(kept[place], game):
                kept[place] = max(kept[place], game, key=_told)
                break
        else:
            alike.append(len(kept))
            kept.append(game)
    shared = Counter(game.key for game in kept if game.key)
    return tuple(
        msgspec.structs.replace(game, key="") if shared[game.key] > 1 else game for game in kept
    )


def _told(game: GameReport) -> tuple[int, bool]:
    return len(game.moves), game.result != "*"


def _is_repeated(one: GameReport, other: GameReport) -> bool:
    shorter = min(len(one.moves), len(other.moves))
    if shorter < REPEATED_PLIES or (
        one.result != other.result and "*" not in (one.result, other.result)
    ):
        return False
    return all(a.uci == b.uci for a, b in zip(one.moves, other.moves, strict=False))


class GameRoster:
    """The games of one source with just enough of each to see change and end."""

    def __init__(self, now_s: float) -> None:
        self._last: dict[Identity, tuple[object, ...]] = {}
        self.changed_s = now_s
        """Clock time of the last change to any game."""

    def see(self, games: Iterable[GameReport], now_s: float, *, complete: bool = False) -> bool:
        """Take in a report; True if anything in it is new.

        O(1) a game: a change in the middle of a game that leaves its length, last move, result
        and headers as they are is not news for the purposes of this class.
        """
        games = list(games)
        seen: dict[Identity, tuple[object, ...]] = {}
        for who, game in zip(identities(games), games, strict=True):
            last = game.moves[-1] if game.moves else None
            seen[who] = (game.result, len(game.moves), last, game.headers)
        news = any(self._last.get(who) != state for who, state in seen.items())
        if complete:
            news = news or seen.keys() != self._last.keys()
            self._last = seen
        else:
            self._last.update(seen)
        if news:
            self.changed_s = now_s
        return news

    @property
    def unfinished(self) -> int:
        """How many games have no result."""
        return sum(state[0] == "*" for state in self._last.values())

    @property
    def running(self) -> int:
        """How many games have begun and have no result."""
        return sum(state[0] == "*" and state[1] != 0 for state in self._last.values())

    @property
    def over(self) -> bool:
        """There are games, and each has a result."""
        return bool(self._last) and not self.unfinished

    def __len__(self) -> int:
        return len(self._last)
