"""In which order boards are listed, and which are shown where not all can be. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec

from live.events import GameId, GameView
from live.games.round_number import RoundPlace, round_place
from live.publish.published_state import game_order
from live.terminal.boards.board_row import BoardRow


class BoardOrder(msgspec.Struct, frozen=True):
    """One way to sort."""

    key: str
    """Key to press."""
    name: str
    explained: str
    value: Callable[[BoardRow, float], float | None]
    """Greatest first; None comes last. The float is the board's time since its last move, s."""


def _running(value: float | None, row: BoardRow) -> float | None:
    return value if row.running else None


ORDERS = {
    order.name: order
    for order in (
        BoardOrder("B", "board", "by event, round and board number", lambda row, age_s: 0.0),
        BoardOrder(
            "S",
            "swing",
            "largest change of the score in the last four plies first",
            lambda row, age_s: row.swing_cp,
        ),
        BoardOrder(
            "R",
            "rating",
            "highest perceived rating first, once it is not early",
            lambda row, age_s: row.best_strength,
        ),
        BoardOrder(
            "T",
            "time trouble",
            "least time on a clock first, running games only",
            lambda row, age_s: _running(
                None if row.least_clock_s is None else -row.least_clock_s, row
            ),
        ),
        BoardOrder(
            "A",
            "age",
            "longest without a move first, running games only",
            lambda row, age_s: _running(age_s, row),
        ),
    )
}


def pairing(row: BoardRow) -> tuple[str, RoundPlace, int, str]:
    """Event, round (2 before 10), board, id: the order of the pairing list."""
    parts = round_place(row.round, row.board)
    return row.event, parts, row.board if row.board is not None else 1 << 30, row.id


def ordered(
    rows: Iterable[BoardRow],
    order: BoardOrder,
    *,
    reverse: bool = False,
    pinned: Collection[GameId] = (),
    alerting: Collection[GameId] = (),
    age_s: Callable[[GameId], float] = lambda game: 0.0,
) -> list[BoardRow]:
    """Pinned boards first, then those in ``alerting``, then by ``order``; equal ones in the order
    of the pairing list.
    """
    by_board = sorted(rows, key=pairing)
    if order.name == "board":
        if reverse:
            by_board.reverse()
    else:
        values = {row.id: order.value(row, age_s(row.id)) for row in by_board}

        def rank(row: BoardRow) -> tuple[bool, float]:
            value = values[row.id]
            if value is None:
                return True, 0.0  # unknown stays last, whichever way round
            return False, value if reverse else -value

        by_board.sort(key=rank)
    by_board.sort(key=lambda row: (row.id not in pinned, row.id not in alerting))
    return by_board


def running_first(views: Sequence[GameView], limit: int) -> list[GameView]:
    """At most ``limit`` games in pairing order. Running games are chosen before finished ones, and
    of these the newest round: nobody scrolls here.
    """
    running = sorted((view for view in views if view.result == "*"), key=game_order)
    finished = sorted((view for view in views if view.result != "*"), key=game_order)
    finished.sort(key=_round, reverse=True)
    return sorted((running + finished)[:limit], key=game_order)


def _round(view: GameView) -> tuple[int, str]:
    """Sources write boards into rounds: 4.12 is board 12 of round 4."""
    _, parts, _, _ = game_order(view)
    return parts[0]
