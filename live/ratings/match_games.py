"""Games of a match, counted individually and in pairs with reversed colours."""

from collections.abc import Sequence

from live.errors import InputError
from live.messages.from_sources import Result
from live.messages.values import Value

HalfPoints = tuple[tuple[int, int], ...]
"""Pairs of two numbers: the number of a game (or of the second game of a pair of
games), and the half points scored.
"""


class GameCounts(Value):
    """Results of single games, from the first player's side. Counts are 0 or more."""

    wins: int
    draws: int
    losses: int

    @property
    def by_score(self) -> tuple[int, ...]:
        """Return the counts of 0, 1/2 and 1 point."""
        return self.losses, self.draws, self.wins

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


class PairCounts(Value):
    """Results of pairs of games with colours reversed, by points of the first player.

    The middle count includes two draws, and also a win with a loss, since both score
    one point.
    """

    none: int
    half: int
    one: int
    one_and_half: int
    two: int

    @property
    def by_score(self) -> tuple[int, ...]:
        """Return the counts of 0, 1/2, 1, 3/2 and 2 points."""
        return self.none, self.half, self.one, self.one_and_half, self.two

    @property
    def games(self) -> int:
        return 2 * sum(self.by_score)


#: White's half points for each result that divides one point between the players.
_WHITE_HALVES: dict[Result, int] = {"1-0": 2, "1/2-1/2": 1, "0-1": 0}


class MatchGame(Value):
    """One game of a match."""

    white: str
    black: str
    result: Result
    played: bool = True
    """False for a walkover, whose result shows nothing about strength."""


class MatchCounts(Value):
    """Totals of the games of two players, from the first player's side."""

    first: str
    second: str
    games: GameCounts
    pairs: PairCounts
    order: HalfPoints
    """Number (from 1) and half points of each counted game, in order."""
    pair_order: HalfPoints
    """Number of the game that completes each pair, and the half points of the pair, in
    order.
    """
    left_out: int
    """Number of played games whose result does not divide one point: unfinished games,
    and games lost by both players.
    """
    walkovers: int


def count_match(games: Sequence[MatchGame], first: str | None = None) -> MatchCounts:
    """Count the games of two players, in the order they were played.

    Counts are from the side of ``first``, by default White of the first game. Raises
    InputError if there is no game, or if a game is between other players.
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
                f"is between {game.white!r} and {game.black!r}, not {first!r} and"
                f" {second!r}",
                "Leave out the games of other players",
            )
    halves: list[int | None] = []
    for game in games:
        white = _WHITE_HALVES.get(game.result) if game.played else None
        is_turned = white is not None and game.white != first
        halves.append(2 - white if white is not None and is_turned else white)
    pairs = _pair_games(games, halves)
    points = [score for _, score in pairs]
    return MatchCounts(
        first,
        second,
        games=GameCounts(halves.count(2), halves.count(1), halves.count(0)),
        pairs=PairCounts(*(points.count(k) for k in range(5))),
        order=tuple((number, h) for number, h in enumerate(halves, 1) if h is not None),
        pair_order=pairs,
        left_out=sum(
            game.played and h is None for game, h in zip(games, halves, strict=True)
        ),
        walkovers=sum(not game.played for game in games),
    )


def _pair_games(games: Sequence[MatchGame], halves: Sequence[int | None]) -> HalfPoints:
    """Return the number of the second game of each pair, and the half points of the
    pair.

    A game that does not count still takes its place in a pair, so that later pairs do
    not shift.
    """
    pairs: list[tuple[int, int]] = []
    waiting: int | None = None
    for index, game in enumerate(games):
        if waiting is None or games[waiting].white == game.white:
            waiting = index
            continue
        first = halves[waiting]
        second = halves[index]
        waiting = None
        if first is not None and second is not None:
            pairs.append((index + 1, first + second))
    return tuple(pairs)
