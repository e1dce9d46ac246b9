"""The engine's rating from the players of the running event (``engine_rating = "field"``).

Source: Ferreira 2012, Algorithm 3 (section 6), run live: each rated player gives an estimate
``r_e = r_i - d_i``. Here the estimates are weighted by the moves they rest on and drawn towards a
stored prior, which counts as much as ``prior_moves`` moves. But for that pull, the weighted mean
of the perceived ratings equals the weighted mean of the actual ones, as in Algorithm 2, step 4.
"""

from __future__ import annotations

from live.ratings.expected_score import difference_of

#: Moves that the stored prior counts for.
PRIOR_MOVES = 200

#: One unseen move that scored this is added to a player whose every move scored 0 (or 1), whose
#: difference would otherwise be infinite: the middle of what a same-search gain can score.
_UNSEEN_MOVE_SCORE = 0.25

#: Sums are kept in whole units of 1/1024 Elo-move: sums of integers do not depend on their order.
_UNITS = 1024


class FieldEngineRating:
    """Algorithm 3 over the rated players of the event; an update costs O(1).

    The rating depends only on the latest figures of each player, never on the order in which
    they came.
    """

    __slots__ = ("_moves", "_players", "_prior_units", "_units", "prior_moves")

    def __init__(self, prior_elo: float, prior_moves: int = PRIOR_MOVES) -> None:
        """Raises ValueError when ``prior_moves`` is below 1, since then no rating would exist
        before the first move.
        """
        if prior_moves < 1:
            raise ValueError(f"the prior must count for at least one move, not {prior_moves}")
        self.prior_moves = prior_moves
        self._prior_units = round(prior_elo * _UNITS) * prior_moves
        self._players: dict[str, tuple[int, int]] = {}
        self._units = 0
        self._moves = 0

    def start(self, prior_elo: float) -> None:
        """Draw towards another rating from now on."""
        self._prior_units = round(prior_elo * _UNITS) * self.prior_moves

    def update(self, player_id: str, elo: int | None, n: int, expected_score: float | None) -> None:
        """Replace what is known of a player: rating, moves, expected score against the engine.

        A player without rating or without moves counts nothing, so ``elo=None`` or ``n=0`` takes
        a player out again. Raises ValueError for a negative ``n`` or a score outside [0, 1].
        """
        if n < 0:
            raise ValueError(f"player {player_id!r} cannot have {n} moves")
        moves, units = self._players.pop(player_id, (0, 0))
        self._moves -= moves
        self._units -= units
        if elo is None or n == 0 or expected_score is None:
            return
        units = round((elo - _finite_difference(n, expected_score)) * _UNITS) * n
        self._players[player_id] = (n, units)
        self._moves += n
        self._units += units

    @property
    def rating(self) -> int:
        """The engine's rating in whole Elo, a half rounded to even."""
        units, one = self._prior_units + self._units, (self.prior_moves + self._moves) * _UNITS
        whole, rest = divmod(units, one)
        return whole + (2 * rest > one or (2 * rest == one and whole % 2 == 1))

    @property
    def moves(self) -> int:
        """Moves of rated players that the rating rests on."""
        return self._moves


def _finite_difference(n: int, expected_score: float) -> float:
    """Elo against the engine; where it is unbounded, as if one more move had been seen."""
    difference = difference_of(expected_score)
    if difference is None:
        difference = difference_of((n * expected_score + _UNSEEN_MOVE_SCORE) / (n + 1))
        assert difference is not None  # the unseen move keeps the score inside (0, 1)
    return difference
