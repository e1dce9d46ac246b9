"""From changes of the state to numbered streams, one per distinct filter. Pure.

After every :meth:`Hub.publish` and :meth:`Hub.flush` each stream's frames wait in it until the
shell takes them. A snapshot taken by :meth:`Hub.snapshot` is exactly what a client holds that
applied the stream up to the snapshot's number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from live.events import (
    Change,
    ClockMessage,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    MoveMessage,
    PlayerView,
    PointMessage,
    ScoreMessage,
    StandingMessage,
)
from live.publish import wire
from live.publish.coalesce import Coalescer
from live.publish.select import Filter
from live.publish.state import State, snapshot, view_of
from live.publish.stream import HistoryLimits, Numbered, Stream, TooOld


class TooManyFilters(Exception):
    """No further distinct filter is served now; each costs encoding and history."""


class _Selection:
    """One stream with what it holds: which games, and the players of these."""

    def __init__(self, stream: Stream, now_s: float) -> None:
        self.stream = stream
        self.games: set[GameId] = set()
        self.players: set[str] = set()
        self.used_s = now_s
        self.snapshot: tuple[int, bytes] | None = None


class Hub:
    """All streams of one service run.

    ``clock`` gives seconds that never go back. ``epoch`` must differ at every start.
    """

    def __init__(
        self,
        state: State,
        *,
        epoch: str,
        clock: Callable[[], float],
        limits: HistoryLimits = HistoryLimits(),  # noqa: B008 - frozen
        max_filters: int = 512,
    ) -> None:
        self._state = state
        self._epoch = epoch
        self._clock = clock
        self._limits = limits
        self._max_filters = max_filters
        self._waiting = Coalescer()
        self._selections: dict[Filter, _Selection] = {}
        self._made = 0
        # Who gets a change of one game or player without asking every filter. Wide selections
        # (no game, event or player named) get all of them.
        self._wide: list[_Selection] = []
        self._narrow: list[_Selection] = []
        self._by_game: dict[GameId, list[_Selection]] = {}
        self._by_player: dict[str, list[_Selection]] = {}
        # Membership is looked at again only when one of these changed.
        self._identities: dict[GameId, object] = {}
        self._known_players: set[str] = set()

    # --- changes in -------------------------------------------------------------------------------

    def publish(self, changes: Iterable[Change]) -> None:
        """Take in changes that the state already holds. Moves go to the streams at once."""
        ready: list[Change] = []
        for change in changes:
            ready.extend(self._waiting.add(change))
        if ready:
            self._route(ready)

    def flush(self) -> None:
        """Give the streams everything that waits (the tick)."""
        if self._waiting:
            self._route(self._waiting.take())

    # --- streams out ------------------------------------------------------------------------------

    def stream(self, selected: Filter) -> Stream:
        """The stream of this filter, made if there is none.

        Raises:
            TooManyFilters: as many distinct filters as allowed are in use.
        """
        selection = self._selections.get(selected)
        if selection is None:
            if len(self._selections) >= self._max_filters:
                raise TooManyFilters
            self.flush()
            selection = self._open(selected)
        selection.used_s = self._clock()
        return selection.stream

    def snapshot(self, stream: Stream) -> Numbered:
        """Everything the stream's filter selects, with the number it stands at.

        Encoded once for all who ask at the same position.
        """
        self.flush()
        selection = self._selections[stream.filter]
        if selection.snapshot is None or selection.snapshot[0] != stream.seq:
            body = wire.encode(snapshot(self._state, stream.filter))
            selection.snapshot = (stream.seq, body)
        return Numbered(stream.seq, selection.snapshot[1], self._clock())

    def since(self, stream: Stream, epoch: str, seq: int) -> tuple[Numbered, ...] | TooOld:
        """Exactly the messages after ``seq``, or that they can't all be given."""
        self.flush()
        return stream.since(epoch, seq)

    def waiting(self) -> Iterator[Stream]:
        """Streams whose frames wait to be taken."""
        return (each.stream for each in self._selections.values() if each.stream.waiting)

    def drop_unused(self, in_use: Callable[[Stream], bool]) -> None:
        """Forget streams that nobody read for as long as history lasts anyway."""
        now_s = self._clock()
        for selected, selection in list(self._selections.items()):
            if in_use(selection.stream):
                selection.used_s = now_s
            elif now_s - selection.used_s > self._limits.age_s:
                del self._selections[selected]
                self._unlink(selection)
            elif selection.snapshot is not None:
                selection.snapshot = None

    # --- routing ----------------------------------------------------------------------------------

    def _route(self, ready: list[Change]) -> None:
        """Give changes to the streams that select them.

        A game that enters a narrow selection (its header changed) is told whole, from the state,
        after all these changes; until then its changes are kept from that stream. Whatever still
        waits for such a game is taken along, or it would be told twice.
        """
        moved = [game for game in map(_renamed, ready) if game and self._moved(game)]
        for game in {view.id for view in moved}:
            ready.extend(self._waiting.take_game(game))
        joining: dict[GameId, list[_Selection]] = {}
        players_moved = False
        for change in ready:
            match change:
                case GameMessage(game=view):
                    if self._moved(view):
                        self._identities[view.id] = _identity(view)
                        players_moved = True
                        self._reselect(view, joining)
                    self._send(change, self._of_game(view.id))
                case GoneMessage(game=game):
                    players_moved = True
                    self._send(change, self._of_game(game))
                    self._identities.pop(game, None)
                    joining.pop(game, None)
                    for selection in self._by_game.pop(game, []):
                        selection.games.discard(game)
                case (
                    MoveMessage(game=game)
                    | ClockMessage(game=game)
                    | ScoreMessage(game=game)
                    | PointMessage(game=game)
                ):
                    self._send(change, self._of_game(game))
                case StandingMessage(player=player):
                    if player.id not in self._known_players:
                        # Perhaps somebody in a selected game turned out to be another person.
                        players_moved = True
                        self._known_players.add(player.id)
                    if not player.games and not player.moves:
                        players_moved = True
                        self._known_players.discard(player.id)
                    self._send(change, [*self._wide, *self._by_player.get(player.id, [])])
                case _:
                    self._send(change, [*self._wide, *self._narrow])
        for game, selections in joining.items():
            self._join(game, selections)
        if players_moved:
            for selection in self._narrow:
                self._reseat(selection)

    def _of_game(self, game: GameId) -> list[_Selection]:
        return [*self._wide, *self._by_game.get(game, [])]

    def _send(self, change: Change, selections: list[_Selection]) -> None:
        body = b""
        for selection in selections:
            if selection.stream.filter.takes_type(change):
                body = body or wire.encode(change)
                selection.stream.append(body)

    def _moved(self, view: GameView) -> bool:
        return self._identities.get(view.id) != _identity(view)

    def _reselect(self, view: GameView, joining: dict[GameId, list[_Selection]]) -> None:
        """The game's header says something new: it may enter selections and leave others."""
        joining.pop(view.id, None)
        entering: list[_Selection] = []
        for selection in self._narrow:
            if selection.stream.filter.takes(view):
                if view.id not in selection.games:
                    entering.append(selection)
            elif view.id in selection.games:
                selection.games.discard(view.id)
                self._by_game[view.id].remove(selection)
                self._send(GoneMessage(view.id), [selection])
        if entering:
            joining[view.id] = entering

    def _join(self, game: GameId, selections: list[_Selection]) -> None:
        """Tell a game whole, in the messages every client knows anyway."""
        detail = self._state.game(game)
        if detail is None:
            return
        whole: list[Change] = [GameMessage(view_of(detail))]
        whole.extend(MoveMessage(game, ply.ply, ply) for ply in detail.plies)
        whole.extend(PointMessage(game, "white", point) for point in detail.curves.white)
        whole.extend(PointMessage(game, "black", point) for point in detail.curves.black)
        for change in whole:
            self._send(change, selections)
        for selection in selections:
            selection.games.add(game)
            self._by_game.setdefault(game, []).append(selection)

    def _reseat(self, selection: _Selection) -> None:
        """Bring the players of a narrow selection up to its games."""
        now = self._players_of(selection)
        if now == selection.players:
            return
        views = {player.id: player for player in self._state.players()}
        for gone in selection.players - now:
            self._by_player[gone].remove(selection)
            self._send(StandingMessage(forgotten(gone)), [selection])
        for new in now - selection.players:
            self._by_player.setdefault(new, []).append(selection)
            if new in views:
                self._send(StandingMessage(views[new]), [selection])
        selection.players = now

    def _players_of(self, selection: _Selection) -> set[str]:
        return {each for game in selection.games for each in self._state.player_ids(game)}

    def _open(self, selected: Filter) -> _Selection:
        self._made += 1
        stream = Stream(selected, f"{self._epoch}-{self._made}", self._clock, self._limits)
        selection = _Selection(stream, self._clock())
        self._selections[selected] = selection
        if not selected.narrow:
            self._wide.append(selection)
            return selection
        self._narrow.append(selection)
        for view in self._state.games():
            self._identities.setdefault(view.id, _identity(view))
            if selected.takes(view):
                selection.games.add(view.id)
                self._by_game.setdefault(view.id, []).append(selection)
        selection.players = self._players_of(selection)
        for player in selection.players:
            self._by_player.setdefault(player, []).append(selection)
        return selection

    def _unlink(self, selection: _Selection) -> None:
        (self._narrow if selection.stream.filter.narrow else self._wide).remove(selection)
        for game in selection.games:
            self._by_game[game].remove(selection)
        for player in selection.players:
            self._by_player[player].remove(selection)


def forgotten(player: str) -> PlayerView:
    """What a standing says of a player to be forgotten: no games and no moves."""
    return PlayerView(player, "", None, 0, 0, None, None, None, None, None, None, None, None)


def _renamed(change: Change) -> GameView | None:
    return change.game if isinstance(change, GameMessage) else None


def _identity(view: GameView) -> object:
    """What filters look at."""
    return view.event, view.white, view.black
