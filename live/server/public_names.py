"""The public names of games and sources, and how to find the real ones. Pure.

While the public is delayed, it gets a different id for each game. So nobody can find
the game at its source and watch it there without a delay. The public never gets the
real names of sources. The names come from :mod:`live.server.pseudonyms`. This module
stores whether they are in use, and for which games.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from live.messages.to_clients import Change, GameMessage, GoneMessage
from live.messages.values import GameId
from live.server.pseudonyms import Pseudonyms, Redactable
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility


class PublicNames:
    """The names that the public gets; at first it gets the real ids of games."""

    def __init__(self, pseudonyms: Pseudonyms) -> None:
        self._pseudonyms = pseudonyms
        # The real id for each public id of a game; None while games keep their ids.
        self._real_ids: dict[GameId, GameId] | None = None

    @property
    def has_other_ids(self) -> bool:
        """True if the public gets pseudonyms instead of the real ids of games."""
        return self._real_ids is not None

    def use_pseudonymous_ids(self, games: Iterable[GameId]) -> None:
        """Give the public pseudonyms of game ids from now on.

        ``games`` are the real ids of the present games.
        """
        self._real_ids = {self._pseudonyms.game_id(game): game for game in games}

    def use_real_ids(self) -> None:
        """Give the public the real ids of games from now on."""
        self._real_ids = None

    def update(self, change: Change) -> None:
        """Add the public id of a new game, or remove the id of a game that is gone."""
        if self._real_ids is None:
            return
        if isinstance(change, GameMessage):
            id = change.game.id
            self._real_ids[self._pseudonyms.game_id(id)] = id
        elif isinstance(change, GoneMessage):
            self._real_ids.pop(self._pseudonyms.game_id(change.game), None)

    def rename(self, value: Redactable) -> Redactable:
        """Return a value or message with the names for the public."""
        if self._real_ids is None:
            return self._pseudonyms.name_sources(value)
        return self._pseudonyms.redact(value)

    def public_id(self, game: GameId) -> GameId:
        """Return the public id of a game, given its real id."""
        return game if self._real_ids is None else self._pseudonyms.game_id(game)

    def real_id(self, game: GameId) -> GameId:
        """Return the real id of a game, given its public id; empty if it is unknown."""
        return game if self._real_ids is None else self._real_ids.get(game, "")

    def find_real_ids(self, games: Iterable[GameId]) -> frozenset[GameId]:
        """Return the real ids of games, given public ids; keep ids that are unknown."""
        real_ids = self._real_ids or {}
        return frozenset(real_ids.get(game, game) for game in games)

    def add_public_ids(self, selected: StreamFilter) -> StreamFilter:
        """Return a filter whose token restriction also contains the games' public ids.

        The restriction contains real ids, since people write these into the file of
        tokens. The filter of an arbiter is returned unchanged.
        """
        restriction = selected.restriction
        if (
            self._real_ids is None
            or restriction is None
            or not restriction.games
            or selected.visibility is Visibility.ARBITER
        ):
            return selected
        public_ids = map(self._pseudonyms.game_id, restriction.games)
        games = restriction.games.union(public_ids)
        return replace(selected, restriction=replace(restriction, games=games))
