"""Description of how far figures are behind the boards if the engines are too slow."""

from collections.abc import Iterable, Sequence

from live.event.game_record import GameRecord
from live.messages.figures import PlyView
from live.watch.finding import count_things

#: Least number of moves behind that is reported; a smaller delay is normal, because the
#: next move is being searched.
LEAST_BEHIND = 3


def _count_moves_behind(moves: Sequence[PlyView]) -> int:
    """Return how many of a player's latest moves have no figures yet: the larger of the
    two players' counts.
    """
    newest_first = moves[::-1]
    return max(
        _count_unknown(newest_first[::2]),
        _count_unknown(newest_first[1::2]),
    )


def _count_unknown(newest_first: Sequence[PlyView]) -> int:
    """Return the number of moves before the newest one whose gain is known."""
    for number, view in enumerate(newest_first):
        if view.gain_cp is not None:
            return number
    return len(newest_first)


def describe_overload(records: Iterable[GameRecord]) -> str:
    """Return how far figures are behind the boards, and advice, as text for people;
    empty if the engines are fast enough.
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
