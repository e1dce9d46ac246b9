"""What ``analyze --json`` writes: the whole event as one object. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from live.events import EngineInfo, GainCounts, GainKind, GameDetail, PlayerGains, PlayerView
from live.publish.published_state import PublishedState, snapshot
from live.publish.stream.stream_filter import StreamFilter
from live.publish.visibility import Visibility


class Analysis(msgspec.Struct, frozen=True):
    """Every game with plies and curves, every player, and what they were measured with."""

    engine: EngineInfo
    gain: GainKind
    games: tuple[GameDetail, ...]
    players: tuple[PlayerView, ...]
    partial: bool = False
    """Stopped before every position was searched: what is missing is null."""
    gains: tuple[PlayerGains, ...] = ()
    """Everybody's gains over the event, at one centipawn."""
    engine_gains: GainCounts = ()
    """The engine's own, which players are measured against."""


def analysis(
    state: PublishedState, compared: Iterable[PlayerView] = (), *, partial: bool = False
) -> Analysis:
    """The state as it stands; games and players in the order of a snapshot. ``compared``: players
    with the methods that are made on demand.
    """
    known = {view.id: view for view in compared}
    whole = snapshot(state, StreamFilter(visibility=Visibility.ARBITER, gains=True))
    return Analysis(
        engine=whole.engine,
        gain=state.gain(),
        games=whole.games,
        players=tuple(known.get(view.id, view) for view in whole.players),
        partial=partial,
        gains=whole.gains,
        engine_gains=whole.engine_gains,
    )


def to_json(result: Analysis) -> bytes:
    """Readable JSON, a newline at its end. Unbounded and unknown are null."""
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"
