"""How often players of a rating choose the engine's move. Pure.

Learned from 341 player-games over the board (174 games, Elo 1440-2767, searched by Stockfish 19
lite with 100,000 nodes; games with fewer than ten moves that count are left out): a logistic curve
by Elo, and how far games spread around it beyond what chance alone gives. Moves count as in
:class:`live.events.MoveMethods`, ``first_choice``. Another engine or limit finds other moves: then
the field itself gives the level, and only the slope is taken over.

After the move-match test of Regan and Haworth 2011, section 5, with the expectation by rating in
place of one for each position, and the spread of whole games in place of that of moves.
"""

from __future__ import annotations

import math

import msgspec

from live.events import EngineInfo, PlayerView

ENGINE = "Stockfish 19 Lite WASM Multithreaded"
LIMIT = "100000 nodes"
DATA = "341 player-games over the board"
#: Log-odds of a first choice at :data:`CENTRE_ELO`, and what 400 Elo add.
LEVEL = -0.093
SLOPE = 0.224
CENTRE_ELO = 2000.0
SLOPE_ELO = 400.0
#: Standard deviation of a game's share around the curve, beyond that of chance.
SPREAD = 0.055

#: Moves and players of the field that must be known before it can be compared with.
FIELD_MOVES = 500
FIELD_PLAYERS = 8


class ExpectedAgreement(msgspec.Struct, frozen=True):
    """What is expected of one player."""

    share: float
    rests_on: str
    """For people."""

    def z(self, share: float, moves: int) -> float:
        """Standard deviations that ``share`` of ``moves`` lies above what is expected."""
        chance = self.share * (1 - self.share) / moves
        return (share - self.share) / math.sqrt(chance + SPREAD**2)


class FieldAgreement:
    """First choices of all rated players, so that one can be held against the others; O(1)."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[int, int, int]] = {}
        self._moves = self._matches = self._elo_moves = 0

    def update(self, id: str, view: PlayerView | None) -> None:
        """Replace what is known of one player; None takes the player out."""
        self._count(self._of.pop(id, (0, 0, 0)), -1)
        if view is None or view.elo is None:
            return
        share = view.methods.first_choice
        if share.share is None or not share.moves:
            return
        self._of[id] = share.moves, round(share.share * share.moves), view.elo
        self._count(self._of[id], 1)

    def _count(self, figures: tuple[int, int, int], by: int) -> None:
        moves, matches, elo = figures
        self._moves += by * moves
        self._matches += by * matches
        self._elo_moves += by * moves * elo

    def players(self, at_least: int) -> int:
        """How many have so many moves counted."""
        return sum(moves >= at_least for moves, _, _ in self._of.values())

    def without(self, id: str) -> tuple[int, int, float, int]:
        """Moves, matches, mean Elo by moves, and number of all others."""
        moves, matches, elo = self._of.get(id, (0, 0, 0))
        left = self._moves - moves
        mean = (self._elo_moves - moves * elo) / left if left else 0.0
        return left, self._matches - matches, mean, len(self._of) - (id in self._of)


def expected(
    engine: EngineInfo | None, field: FieldAgreement, id: str, elo: int
) -> ExpectedAgreement | None:
    """What is expected of a player; None where nothing is known."""
    if engine is not None and (engine.name, engine.limit) == (ENGINE, LIMIT):
        return ExpectedAgreement(_share(LEVEL, elo, CENTRE_ELO), f"{DATA}, {ENGINE}, {LIMIT}")
    moves, matches, mean_elo, others = field.without(id)
    if moves < FIELD_MOVES or others < FIELD_PLAYERS or not 0 < matches < moves:
        return None
    level = math.log(matches / (moves - matches))
    return ExpectedAgreement(
        _share(level, elo, mean_elo), f"the {others} other players, {moves} moves"
    )


def _share(level: float, elo: int, centre_elo: float) -> float:
    return 1 / (1 + math.exp(-(level + SLOPE * (elo - centre_elo) / SLOPE_ELO)))
