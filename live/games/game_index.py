"""All games held, found by what a report says of them. One writer applies steps."""

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from live.events import FeedName, FeedReport, GameId, GameReport, Headers
from live.games.game import Game, GameConfirmed, GameGone, NewGame, Step, apply_step
from live.games.player_identity import fide_id_of, normalise_header, name_or_fide_id, normalise_name

#: A way to find games: what kind of mark, of which feed, and the mark itself.
Mark = tuple[str | int | None, ...]

T = TypeVar("T")


class Marks:
    """Games by what they are found by."""

    def __init__(self) -> None:
        self._bearers: dict[Mark, dict[GameId, None]] = {}
        self._marks: dict[GameId, tuple[Mark, ...]] = {}

    def set_keys(self, id: GameId, marks: tuple[Mark, ...]) -> None:
        """From now on the game bears these and no others."""
        old = self._marks.pop(id, ())
        if marks:
            self._marks[id] = marks
        for mark in old:
            if mark not in marks:
                del self._bearers[mark][id]
                if not self._bearers[mark]:
                    del self._bearers[mark]
        for mark in marks:
            self._bearers.setdefault(mark, {})[id] = None

    def keys_of_game(self, id: GameId) -> tuple[Mark, ...]:
        """What a game bears."""
        return self._marks.get(id, ())

    def games_with_key(self, mark: Mark) -> Collection[GameId]:
        """The games that bear ``mark``, in the order they got it; O(1)."""
        return self._bearers.get(mark, ())


class GameIndex:
    """What is held of all feeds."""

    def __init__(self) -> None:
        self._games: dict[GameId, Game] = {}
        self._feeds: dict[FeedName, dict[GameId, None]] = {}
        self._marks = Marks()
        # Held from before the service started, and reported by no source since.
        self._restored: set[GameId] = set()

    def __len__(self) -> int:
        return len(self._games)

    @property
    def feeds(self) -> int:
        """How many feeds have games here."""
        return len(self._feeds)

    def __contains__(self, id: object) -> bool:
        return id in self._games

    def __iter__(self) -> Iterator[Game]:
        """Every game, in the order they appeared."""
        return iter(self._games.values())

    def __getitem__(self, id: GameId) -> Game:
        return self._games[id]

    def get(self, id: GameId) -> Game | None:
        return self._games.get(id)

    def games_of_feed(self, feed: FeedName) -> tuple[GameId, ...]:
        """The games of one feed, in the order they appeared."""
        return tuple(self._feeds.get(feed, ()))

    def games_with_key(self, mark: Mark) -> tuple[GameId, ...]:
        """The games that bear ``mark``, in the order they got it; O(1) and the answer."""
        return tuple(self._marks.games_with_key(mark))

    def is_restored(self, id: GameId) -> bool:
        """Whether the game is held from before, and no source has reported it since."""
        return id in self._restored

    def mark_restored(self, id: GameId) -> None:
        """Remember that a game held is from before; see
        :class:`~live.games.game.GameConfirmed`.

        Raises:
            KeyError: the game is not held.
        """
        self._restored.add(self._games[id].id)

    def set_order(self, order: Sequence[GameId]) -> None:
        """Count the games as having appeared in this order; those not named come last."""
        self._games = sort_by_order(self._games, order)
        self._feeds = {feed: sort_by_order(ids, order) for feed, ids in self._feeds.items()}

    def apply(self, step: Step) -> Game | None:
        """Make ``step`` true. The steps of a plan are applied once, in order.

        Returns:
            The game after it; None when it is gone.

        Raises:
            ValueError: a new game has an id already held, or the step does not fit the moves.
            KeyError: the step is about a game that is not held.
        """
        match step:
            case NewGame(game=game):
                if game.id in self._games:
                    raise ValueError(f"game {game.id} is held already")
                self._games[game.id] = game
                self._feeds.setdefault(game.feed, {})[game.id] = None
                self._marks.set_keys(game.id, lookup_keys(game))
                return game
            case GameGone(id=id):
                game = self._games.pop(id)
                del self._feeds[game.feed][id]
                if not self._feeds[game.feed]:
                    del self._feeds[game.feed]
                self._marks.set_keys(id, ())
                self._restored.discard(id)
                return None
            case GameConfirmed(id=id):
                self._restored.discard(self._games[id].id)
            case _:
                before = self._games[step.id]
                after = self._games[step.id] = apply_step(before, step)
                if after.headers is not before.headers:
                    self._marks.set_keys(step.id, lookup_keys(after))
        return self._games[step.id]


def sort_by_order(games: dict[GameId, T], order: Sequence[GameId]) -> dict[GameId, T]:
    """The same, those of ``order`` first and in this order."""
    return {id: games[id] for id in order if id in games} | games


def source_key(feed: FeedName, game: Game | GameReport) -> Mark:
    """The source's own key; or event, round, board and both names: how games of a source without
    keys are distinguished.
    """
    if game.key:
        return ("key", feed, game.key)
    headers = game.headers
    return (
        "names",
        feed,
        normalise_header(headers.event),
        normalise_header(headers.round),
        headers.board,
        name_or_fide_id(headers.white),
        name_or_fide_id(headers.black),
    )


def player_keys(feed: FeedName, headers: Headers) -> tuple[Mark, ...]:
    """Each player alone."""
    marks: dict[Mark, None] = {}
    for player in (headers.white, headers.black):
        if (number := fide_id_of(player)) is not None:
            marks["fide", feed, number] = None
        if words := normalise_name(player.name):
            marks["name", feed, words] = None
    return tuple(marks)


def player_and_place_keys(feed: FeedName, headers: Headers) -> tuple[Mark, ...]:
    """Each player alone, and the place alone: where to look when the names do not match."""
    marks = player_keys(feed, headers)
    round_words = normalise_header(headers.round)
    if round_words and (headers.board is not None or "." in headers.round):
        marks = (*marks, ("place", feed, round_words, headers.board))
    return marks


def lookup_keys(game: Game) -> tuple[Mark, ...]:
    wider = () if game.key else player_and_place_keys(game.feed, game.headers)
    return (source_key(game.feed, game), *wider)


# Which games are old enough to be forgotten, so that a service can run for weeks. Pure.
#
# A game is old when it is over, nothing of it has changed for long, and its source has moved on: it
# has reported another game since. And of more finished games than are to be held at once, those are
# old that changed longest ago. What was forgotten is remembered by a mark, or a source that lists
# old rounds for ever would bring it back with every report.


#: Forgotten games whose marks are remembered; beyond, one may come back, and is forgotten again.
MARKS = 100_000
#: Finished games held at most.
MOST_GAMES = 5_000
#: Nothing is forgotten sooner, however many there are: results are often mended.
LEAST_S = 300.0


def state_key(feed: FeedName, game: Game | GameReport) -> Mark:
    """Tells a game in the state it is in: a correction makes it another one. One source may never
    have finished it, where another did.
    """
    last = game.moves[-1].uci if game.moves else ""
    return (*source_key(feed, game), game.result, len(game.moves), last)


class GameRetention:
    """Games by their last change.

    Args:
        after_s: seconds without a change after which a finished game is old; 0: never.
        most: finished games held at once; of more, those go first that changed longest ago.
    """

    def __init__(self, after_s: float, most: int = MOST_GAMES) -> None:
        self._after_s = after_s
        self._most = most
        # When each game changed last, the one that changed longest ago first.
        self._changed: OrderedDict[GameId, tuple[float, FeedName, bool]] = OrderedDict()
        self._newest_s: dict[FeedName, float] = {}
        self._finished = 0
        # Their hashes: marks are names and rounds, half a kilobyte each.
        self._marks: OrderedDict[int, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._changed)

    def record_change(self, id: GameId, feed: FeedName, *, over: bool, now_s: float) -> None:
        """Something of the game is news."""
        self.remove_game(id)
        self._changed[id] = (now_s, feed, over)
        self._finished += over
        self._newest_s[feed] = now_s

    def record_step(self, step: Step, game: Game | None, now_s: float) -> None:
        """A step has been carried out; ``game`` is what is held after it."""
        if game is None:
            self.remove_game(step.id)
        elif not isinstance(step, GameConfirmed):
            self.record_change(game.id, game.feed, over=game.result != "*", now_s=now_s)

    def remove_game(self, id: GameId) -> None:
        """The game is held no more."""
        if (known := self._changed.pop(id, None)) is not None:
            self._finished -= known[2]

    def find_old_games(self, now_s: float) -> list[GameId]:
        """Games to be forgotten now, the oldest first."""
        found: list[GameId] = []
        too_many = self._finished - self._most
        for id, (at_s, feed, over) in self._changed.items():
            still_s = now_s - at_s
            if still_s < LEAST_S:
                break
            if not over:
                continue
            old = 0 < self._after_s <= still_s and self._newest_s[feed] > at_s
            if not old and len(found) >= too_many:
                if self._after_s and still_s < self._after_s:
                    break
                continue
            found.append(id)
        return found

    def forget_old_games(self, retire: Callable[[GameId], Iterable[Game]], now_s: float) -> Iterator[Game]:
        """Let go what is old by now; ``retire_game`` gives the games that stood under an id."""
        for id in self.find_old_games(now_s):
            for game in retire(id):
                self.forget_game(game)
                yield game
            self.remove_game(id)

    def forget_game(self, game: Game) -> None:
        """The game was forgotten in this state."""
        self.remove_game(game.id)
        self._marks[hash(state_key(game.feed, game))] = None
        while len(self._marks) > MARKS:
            self._marks.popitem(last=False)

    def drop_forgotten(self, report: FeedReport) -> FeedReport:
        """The report without forgotten games that it has as they were."""
        if not self._marks:
            return report
        marks = self._marks
        games = (each for each in report.games if hash(state_key(report.feed, each)) not in marks)
        return replace(report, games=tuple(games))
