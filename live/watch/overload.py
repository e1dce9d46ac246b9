"""Describe by how many moves the figures lag behind if the engines are too slow."""

from collections.abc import Iterable, Sequence

from live.event.game_record import GameRecord
from live.messages.figures import PlyView
from live.watch.finding import count_things

#: Minimum number of moves without figures that is reported. A smaller number is normal,
#: because searches of the newest moves are in progress.
LEAST_BEHIND = 3


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
    boards = count_things(len(moves_behind), "board")
    return (
        f"figures are up to {max(moves_behind)} moves behind on {boards}: "
        "if that lasts, follow fewer boards, or set more engines or fewer nodes"
    )
