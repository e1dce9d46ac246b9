"""JSON documents in which one random value is damaged, and checks that no damage takes
a move back.

The damage is drawn with a fixed seed.
"""

import copy
import random
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import chess

from live.games.game import Game, GameGone, ResultChanged, Step, TailReplaced, TakenBack
from live.games.game_index import GameIndex
from live.games.report_changes import plan_report_steps
from live.messages.from_sources import FeedReport, GameReport

KINDS = ("null", "number as text", "text as number", "missing", "list", "huge")
HUGE: dict[type, Any] = {
    str: "9" * 50_000,
    int: 10**400,
    float: 10**400,
    bool: 10**400,
    list: [None] * 50_000,
    dict: {str(number): number for number in range(5_000)},
}

Path = tuple[str | int, ...]


class Damage(NamedTuple):
    """A damaged document, and the kind and path of the damage."""

    kind: str
    path: Path
    document: Any

    @property
    def field(self) -> str:
        """Name of the damaged field; for a value in a list, the name of the list."""
        return next(str(part) for part in reversed(self.path) if isinstance(part, str))

    @property
    def is_odd(self) -> bool:
        """True for damage that no field can accept."""
        return self.kind == "list"

    def __str__(self) -> str:
        return f"{self.kind} at {'.'.join(map(str, self.path))}"


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    inner: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = list(enumerate(value))[:2]  # all entries of a list have the same form
    for part, each in inner:
        yield from _paths(each, (*path, part))


def _value_at(document: Any, path: Path) -> Any:
    for part in path:
        document = document[part]
    return document


def _other(kind: str, value: Any) -> Any:
    """Return the value with this kind of damage; the value itself if the kind does not
    apply to it.
    """
    match kind:
        case "null":
            return None
        case "list":
            return {"odd": [value]} if isinstance(value, list) else [value]
        case "huge":
            return HUGE.get(type(value), HUGE[str])
        case "number as text" if isinstance(value, int | float):
            return str(value)
        case "text as number" if isinstance(value, str):
            return 7
    return value


def damages(document: Any, seed: int, count: int) -> list[Damage]:
    """Return ``count`` damaged copies of a document, each with one damaged value. All
    kinds of damage are equally frequent.
    """
    chance = random.Random(seed)
    found: list[Damage] = []
    paths = list(_paths(document))
    while len(found) < count:
        kind = KINDS[len(found) % len(KINDS)]
        path = chance.choice(paths)
        damaged = copy.deepcopy(document)
        holder = _value_at(damaged, path[:-1])
        value = holder[path[-1]]
        if kind == "missing":
            del holder[path[-1]]
        else:
            odd = _other(kind, value)
            if odd == value:
                continue  # this kind of damage does not apply to the value
            holder[path[-1]] = odd
        found.append(Damage(kind, path, damaged))
    return found


def long_game(seed: int, plies: int) -> list[chess.Move]:
    """Return random legal moves that do not end the game."""
    chance, board = random.Random(seed), chess.Board()
    moves: list[chess.Move] = []
    while len(moves) < plies:
        going_on = []
        for move in board.legal_moves:
            board.push(move)
            if any(board.legal_moves):
                going_on.append(move)
            board.pop()
        moves.append(chance.choice(going_on))
        board.push(moves[-1])
    return moves


def sans_of(moves: Iterable[chess.Move]) -> list[str]:
    board = chess.Board()
    return [board.san_and_push(move) for move in moves]


class Shown:
    """Games on the boards after all reports of a source. It fails if a move or a result
    is taken back.
    """

    def __init__(self) -> None:
        self.index = GameIndex()

    def take(self, reports: Iterable[FeedReport]) -> None:
        for told in reports:
            for step in plan_report_steps(
                self.index, FeedReport("hall", told.games, told.complete)
            ):
                self._check(step)
                self.index.apply(step)

    def _check(self, step: Step) -> None:
        assert not isinstance(step, TakenBack | TailReplaced | GameGone), step
        assert not (isinstance(step, ResultChanged) and step.result == "*"), step

    def restart(self) -> None:
        """Mark all games as restored from a former run of the service."""
        for game in self.index:
            self.index.mark_restored(game.id)

    @property
    def games(self) -> dict[int | None, Game]:
        """Games by board number."""
        games = {game.headers.board: game for game in self.index}
        assert len(games) == len(self.index), "a board is there twice"
        return games

    @property
    def reports(self) -> list[GameReport]:
        return [game.to_report() for game in self.index]

    def check(
        self, before: dict[int, int], now: dict[int, int], well: Iterable[int]
    ) -> None:
        """Check that no board has fewer plies than ``before``. Boards in ``well`` must
        have the plies of ``now`` and no problem.
        """
        games = self.games
        assert games.keys() == now.keys()
        for board, plies in before.items():
            game = games[board]
            assert len(game.moves) >= plies, (board, game.problem)
            assert not (game.problem or "").startswith("no longer"), game.problem
        for board in well:
            assert len(games[board].moves) == now[board], (board, games[board].problem)
            assert games[board].problem is None, games[board].problem

    def words(self, board: int) -> str:
        """Return the problem reported for a board, empty if there is none."""
        return self.games[board].problem or ""


def names_damage(damage: Damage, words: str) -> bool:
    """Return whether a message names the damaged field, or says that more than this
    field cannot be read or used.
    """
    return damage.field in words or "cannot be" in words
