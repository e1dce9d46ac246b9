"""What the publisher reads: the whole state, as frozen values, from its one writer.

The ledger is the writer; :mod:`live.app` hands it over in this shape. All calls are synchronous and
answer for *now*: a change given to :meth:`live.publish.server.Publisher.publish` must already be in
the state. Since everything runs on one loop and nothing here awaits, a snapshot and the position
of its stream are read at the same instant, so no change can fall between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from live.events import (
    EngineHealth,
    EngineInfo,
    FeedHealth,
    GainKind,
    GameDetail,
    GameId,
    GameView,
    PlayerView,
    SnapshotMessage,
)
from live.publish.select import EVERYTHING, Filter


class State(Protocol):
    """Everything a subscriber can be told."""

    def engine(self) -> EngineInfo: ...

    def gain(self) -> GainKind: ...

    def games(self) -> Iterable[GameView]: ...

    def game(self, game: GameId) -> GameDetail | None: ...

    def players(self) -> Iterable[PlayerView]: ...

    def player_ids(self, game: GameId) -> Iterable[str]:
        """``PlayerView.id`` of those who play in ``game``; empty for an unknown game."""
        ...

    def feeds(self) -> tuple[FeedHealth, ...]: ...

    def engines(self) -> EngineHealth: ...


def snapshot(state: State, selected: Filter = EVERYTHING) -> SnapshotMessage:
    """All that ``selected`` takes: its games, who plays in them, and everybody's health.

    Games are in :func:`game_order`, players in the order of their ids, so that equal states have
    equal snapshots.
    """
    details = [
        detail
        for view in sorted(filter(selected.takes, state.games()), key=game_order)
        if (detail := state.game(view.id)) is not None
    ]
    players: Iterable[PlayerView] = state.players()
    if selected.narrow:
        ids = {each for detail in details for each in state.player_ids(detail.id)}
        players = (player for player in players if player.id in ids)
    return SnapshotMessage(
        engine=state.engine(),
        games=tuple(details),
        players=tuple(sorted(players, key=lambda player: player.id)),
        feeds=state.feeds(),
        engines=state.engines(),
    )


def game_order(view: GameView) -> tuple[str, tuple[tuple[int, str], ...], int, str]:
    """Event, round (2 before 10, 2.9 before 2.10), board, id."""
    parts = tuple(
        (int(part), "") if part.isascii() and part.isdigit() and len(part) < 10 else (-1, part)
        for part in view.round.split(".")
    )
    return view.event, parts, view.board if view.board is not None else 1 << 30, view.id


def view_of(detail: GameView) -> GameView:
    """The game without its plies and curves."""
    return GameView(**{name: getattr(detail, name) for name in GameView.__struct_fields__})
