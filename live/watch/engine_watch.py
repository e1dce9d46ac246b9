"""Collects the health of the engines and of the network that predicts human moves, and
says how far the figures are behind if the engines are too slow.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from live.event.bus import TakeChanges
from live.event.event import Event
from live.event.game_record import GameRecord
from live.messages.figures import PlyView
from live.messages.health import EngineHealth, HumanHealth, MeasuringProgress
from live.watch.finding import format_count

#: Number of progress reports during the measurement of an engine.
SHOWN_STEPS = 20
#: Minimum number of moves without figures that is reported. A smaller number is normal,
#: because searches of the newest moves are in progress.
LEAST_BEHIND = 3


class EngineWatch:
    """Publishes the health of the engines as part of the event.

    Args:
        event: the event.
        publish: receives the changes.
        read_engines: returns the health of the engines.
        read_human: returns the health of the network of human moves; None without a
            network.
    """

    def __init__(
        self,
        event: Event,
        publish: TakeChanges,
        read_engines: Callable[[], EngineHealth],
        read_human: Callable[[], HumanHealth] | None = None,
    ) -> None:
        self._event = event
        self._publish = publish
        self._read_engines = read_engines
        self._read_human = read_human
        self._measuring: MeasuringProgress | None = None

    def report(self) -> None:
        """Publish the present health of the engines. Call this about once a second."""
        health = self._read_engines()
        updates: dict[str, object] = {"measuring": self._measuring}
        if self._read_human is not None:
            updates["human"] = self._read_human()
        if health.queued:
            updates["behind"] = describe_overload(self._event.list_records())
        health = msgspec.structs.replace(health, **updates)
        self._publish(self._event.update_engine_health(health))

    def show_measuring(self, progress: MeasuringProgress | None) -> None:
        """Publish the progress of the measurement of an unknown engine; None once it
        has ended.
        """
        self._measuring = progress
        if progress is None or progress.done % max(1, progress.of // SHOWN_STEPS) == 0:
            self.report()


def describe_overload(records: Iterable[GameRecord]) -> str:
    """Return a text about the moves that have no figures yet, with advice.

    Return an empty text if the engines are fast enough.
    """
    moves_behind: list[int] = []
    for record in records:
        view = record.view
        is_measured = view.running and view.variant in ("standard", "chess960")
        if is_measured and view.plies_played - view.plies_scored >= LEAST_BEHIND:
            moves = _count_moves_behind(record.moves)
            if moves >= LEAST_BEHIND:
                moves_behind.append(moves)
    if not moves_behind:
        return ""
    boards = format_count(len(moves_behind), "board")
    return (
        f"figures are up to {max(moves_behind)} moves behind on {boards}: "
        "if that lasts, follow fewer boards, or set more engines or fewer nodes"
    )


def _count_moves_behind(moves: Sequence[PlyView]) -> int:
    """Return the number of latest moves without figures, for the player who has more of
    them.
    """
    newest_first = moves[::-1]
    return max(
        _count_unknown(newest_first[::2]),
        _count_unknown(newest_first[1::2]),
    )


def _count_unknown(newest_first: Sequence[PlyView]) -> int:
    """Return the number of moves after the last move whose gain is known."""
    for number, view in enumerate(newest_first):
        if view.gain_cp is not None:
            return number
    return len(newest_first)
