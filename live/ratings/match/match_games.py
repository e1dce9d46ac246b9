"""A match as a list of games: who scored what, and which games make a pair.

Source: Chess Programming Wiki, *Match Statistics*, "The trinomial versus the 5-nomial model".
Two games make a pair when they follow each other with colours reversed. Games without a result
that splits one point, and walkovers, are left out and counted; a pair needs both of its games.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from live.errors import InputError
from live.events import Result
from live.ratings.match.match_statistics import GameCounts, PairCounts

#: Points of White, in halves, for results that split one point between the players.
_WHITE_HALVES: dict[Result, int] = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}


class MatchGame(msgspec.Struct, frozen=True):
    """One game of a match."""

    white: str
    black: str
    result: Result
    played: bool = True
    """False for a walkover: its result says nothing about strength."""


class MatchCounts(msgspec.Struct, frozen=True):
    """What the games of two players add up to, from the first player's side."""

    first: str
    second: str
    games: GameCounts
    pairs: PairCounts
    order: tuple[tuple[int, int], ...]
    """Number and half points of each counted game, in order; games are numbered from 1."""
    pair_order: tuple[tuple[int, int], ...]
    """Number of the game that completes each pair, and the pair's half points, in order."""
    left_out: int
    """Played games without a result that splits one point: unfinished, or lost by both."""
    walkovers: int

    @property
    def unpaired(self) -> int:
        """Counted games that belong to no pair."""
        return self.games.games - self.pairs.games


def count_match(games: Sequence[MatchGame], first: str | None = None) -> MatchCounts:
    """Count the games of two players, in the order they were played.

    ``first`` is whose side the counts take: White of the first game unless given. Raises
    InputError when there is no game, or a game of other players.
    """
    if not games:
        raise InputError("match", "there is no game", "Give the games of two players")
    names = {games[0].white, games[0].black}
    first = games[0].white if first is None else first
    if first not in names or len(names) != 2:
        raise InputError(
            "match",
            f"{first!r} is not one of the two players of game 1",
            f"They are {' and '.join(map(repr, sorted(names)))}",
        )
    (second,) = names - {first}
    for number, game in enumerate(games, 1):
        if {game.white, game.black} != names:
            raise InputError(
                f"match, game {number}",
                f"is between {game.white!r} and {game.black!r}, not {first!r} and {second!r}",
                "Leave out the games of other players",
            )
    halves = [_halves(game, first) for game in games]
    pairs = _pairs(games, halves)
    return MatchCounts(
        first,
        second,
        games=GameCounts(halves.count(2), halves.count(1), halves.count(0)),
        pairs=PairCounts(*(sum(points == k for _, points in pairs) for k in range(5))),
        order=tuple((number, h) for number, h in enumerate(halves, 1) if h is not None),
        pair_order=pairs,
        left_out=sum(game.played and h is None for game, h in zip(games, halves, strict=True)),
        walkovers=sum(not game.played for game in games),
    )


def _halves(game: MatchGame, first: str) -> int | None:
    white = _WHITE_HALVES.get(game.result)
    if white is None or not game.played:
        return None
    return white if game.white == first else 2 - white


def _pairs(games: Sequence[MatchGame], halves: Sequence[int | None]) -> tuple[tuple[int, int], ...]:
    """Number of the second game of each pair, with the half points of both.

    A game that does not count still takes its place, so that it cannot shift the pairs after it.
    """
    found: list[tuple[int, int]] = []
    waiting: int | None = None
    for index, game in enumerate(games):
        if waiting is None or games[waiting].white == game.white:
            waiting = index
            continue
        one, other = halves[waiting], halves[index]
        waiting = None
        if one is not None and other is not None:
            found.append((index + 1, one + other))
    return tuple(found)
