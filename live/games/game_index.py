"""Index of all known games, by id, by feed, and by the values that identify a game in a
report. Only one writer applies steps.

The state of a forgotten game stays known. Otherwise a source that always lists old
rounds would bring the game back with every report.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from live.games.game import Game, GameConfirmed, GameGone, NewGame, Step, apply_step
from live.games.player_identity import (
    fide_id_of,
    name_or_fide_id,
    normalise_header,
    normalise_name,
)
from live.messages.from_sources import GameReport, Headers
from live.messages.values import FeedName, GameId

#: Key by which games are found: the kind of key, the feed, and the values.
GameKey = tuple[str | int | None, ...]

#: Maximum number of forgotten games whose state is known. A game of unknown state can
#: come back, and is then forgotten again.
MAX_FORGOTTEN = 100_000

T = TypeVar("T")


class KeyIndex:
    """Mapping from keys to games and from games to their keys."""

    def __init__(self) -> None:
        self._games: dict[GameKey, dict[GameId, None]] = {}
        self._keys: dict[GameId, tuple[GameKey, ...]] = {}

    def set_keys(self, id: GameId, keys: tuple[GameKey, ...]) -> None:
        """Replace the keys of a game."""
        old = self._keys.pop(id, ())
        if keys:
            self._keys[id] = keys
        for key in old:
            if key not in keys:
                del self._games[key][id]
                if not self._games[key]:
                    del self._games[key]
        for key in keys:
            self._games.setdefault(key, {})[id] = None

    def keys_of_game(self, id: GameId) -> tuple[GameKey, ...]:
        """Return the keys of a game."""
        return self._keys.get(id, ())

    def list_game_ids_with_key(self, key: GameKey) -> Collection[GameId]:
        """Return the games with this key, in the order in which they got it; O(1)."""
        return self._games.get(key, ())


class GameIndex:
    """All known games, of all feeds."""

    def __init__(self) -> None:
        self._games: dict[GameId, Game] = {}
        self._feeds: dict[FeedName, dict[GameId, None]] = {}
        self._keys = KeyIndex()
        # Ids of games restored from the journal that no source has reported since.
        self._restored: set[GameId] = set()
        # States of forgotten games, the oldest first. Only hashes are stored, because a
        # key with its names takes half a kilobyte.
        self._forgotten: OrderedDict[int, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._games)

    @property
    def feed_count(self) -> int:
        """Return the number of feeds with games in the index."""
        return len(self._feeds)

    def __contains__(self, id: object) -> bool:
        return id in self._games

    def __iter__(self) -> Iterator[Game]:
        """Iterate over all games, in order of appearance."""
        return iter(self._games.values())

    def __getitem__(self, id: GameId) -> Game:
        return self._games[id]

    def get(self, id: GameId) -> Game | None:
        return self._games.get(id)

    def list_game_ids_of_feed(self, feed: FeedName) -> tuple[GameId, ...]:
        """Return the ids of one feed's games, in order of appearance."""
        return tuple(self._feeds.get(feed, ()))

    def list_game_ids_with_key(self, key: GameKey) -> tuple[GameId, ...]:
        """Return the ids of the games with this key, in the order in which they got
        it.
        """
        return tuple(self._keys.list_game_ids_with_key(key))

    def is_restored(self, id: GameId) -> bool:
        """Return whether no source has reported the game since the service started."""
        return id in self._restored

    def mark_restored(self, id: GameId) -> None:
        """Mark a game as restored from the journal, until a step
        :class:`~live.games.game.GameConfirmed`.

        Raises:
            KeyError: the game is unknown.
        """
        self._restored.add(self._games[id].id)

    def forget(self, id: GameId) -> Game:
        """Remove a game until a report changes it; return the game.

        Raises:
            KeyError: the game is unknown.
        """
        game = self._games[id]
        self.apply(GameGone(id))
        self._forgotten[hash(state_key(game.feed, game))] = None
        while len(self._forgotten) > MAX_FORGOTTEN:
            self._forgotten.popitem(last=False)
        return game

    def is_forgotten(self, feed: FeedName, report: GameReport) -> bool:
        """Return whether this is a forgotten game that has not changed since."""
        if not self._forgotten:
            return False
        return hash(state_key(feed, report)) in self._forgotten

    def set_order(self, order: Sequence[GameId]) -> None:
        """Set the order of appearance of the games; games not in ``order`` come
        last.
        """
        self._games = sort_by_order(self._games, order)
        self._feeds = {
            feed: sort_by_order(ids, order) for feed, ids in self._feeds.items()
        }

    def apply(self, step: Step) -> Game | None:
        """Apply ``step``. Each step of a plan must be applied once, in order.

        Returns:
            The game after the step; None if it was deleted.

        Raises:
            ValueError: a new game has the id of a known one, or the step does not fit
                the moves.
            KeyError: the step's game is unknown.
        """
        match step:
            case NewGame(game=game):
                if game.id in self._games:
                    raise ValueError(f"game {game.id} is known already")
                self._games[game.id] = game
                self._feeds.setdefault(game.feed, {})[game.id] = None
                self._keys.set_keys(game.id, lookup_keys(game))
                return game
            case GameGone(id=id):
                game = self._games.pop(id)
                del self._feeds[game.feed][id]
                if not self._feeds[game.feed]:
                    del self._feeds[game.feed]
                self._keys.set_keys(id, ())
                self._restored.discard(id)
                return None
            case GameConfirmed(id=id):
                self._restored.discard(self._games[id].id)
            case _:
                before = self._games[step.id]
                after = self._games[step.id] = apply_step(before, step)
                if after.headers is not before.headers:
                    self._keys.set_keys(step.id, lookup_keys(after))
        return self._games[step.id]


def sort_by_order(games: dict[GameId, T], order: Sequence[GameId]) -> dict[GameId, T]:
    """Return the same games: first the games of ``order`` in that order, then the
    others.
    """
    return {id: games[id] for id in order if id in games} | games


def source_key(feed: FeedName, game: Game | GameReport) -> GameKey:
    """Return the key of a game within its feed: the source's own key or, without one,
    event, round, board and both names.
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


def state_key(feed: FeedName, game: Game | GameReport) -> GameKey:
    """Return a key of the game in its present state; any correction changes the key."""
    last = game.moves[-1].uci if game.moves else ""
    return (*source_key(feed, game), game.result, len(game.moves), last)


def player_keys(feed: FeedName, headers: Headers) -> tuple[GameKey, ...]:
    """Return one key per player name and one per FIDE id."""
    keys: dict[GameKey, None] = {}
    for player in (headers.white, headers.black):
        if (number := fide_id_of(player)) is not None:
            keys["fide", feed, number] = None
        if words := normalise_name(player.name):
            keys["name", feed, words] = None
    return tuple(keys)


def player_and_place_keys(feed: FeedName, headers: Headers) -> tuple[GameKey, ...]:
    """Return keys for each player, and one for the round and board.

    The key of round and board finds games whose names have changed.
    """
    keys = player_keys(feed, headers)
    round_words = normalise_header(headers.round)
    if round_words and (headers.board is not None or "." in headers.round):
        keys = (*keys, ("place", feed, round_words, headers.board))
    return keys


def lookup_keys(game: Game) -> tuple[GameKey, ...]:
    """Return all keys by which a known game is found."""
    own_key = source_key(game.feed, game)
    if game.key:
        return (own_key,)
    return (own_key, *player_and_place_keys(game.feed, game.headers))
