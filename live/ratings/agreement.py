"""Screening of players for agreement with the engine beyond the agreement of players
with the same rating.

The evidence is an e-value: the likelihood of the choices if some of the moves were the
engine's, divided by their likelihood if none were. Both likelihoods are averaged over
the measured deviations of players and games from the forecast. If choices follow the
forecast, a player's e-value is a martingale with mean 1. Then the chance that it ever
reaches 1/a is at most a, however often it is checked (Ville 1939; Ramdas and others
2023, *Game-theoretic statistics and safe anytime-valid inference*, Statistical Science
38). Over a field of N players the bound is N/a.

The figure is a screening result: it shows where to look, and accuses nobody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

import msgspec
import numpy as np

from live.human.question import REFERENCE_ELOS, HumanAnswer
from live.messages.values import Value
from live.ratings.choice_model import CHOICE_LIMIT_CP, FIRST_CHOICE_PLY
from live.ratings.learned_files import LearnedFiles
from live.ratings.move_circumstances import Circumstances, Turn, measure_circumstances
from live.ratings.perceived_rating import GRID_ELO, Floats

#: Assumed shares of moves that came from the engine. Each has the same prior
#: probability.
SHARES = (0.1, 0.2, 0.3, 0.5)
#: Maximum probability of any alarm in an event in which nobody cheats.
FALSE_ALARMS = 0.05

_AT = np.linspace(-2.0, 2.0, 33)
"""Points at which the likelihood is computed: deviations from the forecast, in
log-odds.
"""


class HumanChoices(Value):
    """Weights of a forecast that also uses the share of people who choose the engine's
    move.

    This share matters because a move that everybody finds is no evidence.
    """

    network: str
    """Name and digest of the neural network that gives the shares."""
    circumstances: Circumstances
    weights: tuple[float, ...]
    slope: float


class ChoiceModel(Value):
    """Model of how often the engine's first choice is played, by position and Elo.

    It includes its provenance.
    """

    name: str
    engine: str
    limit: str
    data: str
    date: str
    games: int
    """Number of games, counted once for each player."""
    moves: int
    centre_elo: float
    scale_elo: float
    circumstances: Circumstances
    weights: tuple[float, ...]
    slope: float
    """Increase of the log-odds per unit of z = (Elo - centre_elo) / scale_elo."""
    player_sd: float
    """Standard deviation between players around the forecast, log-odds."""
    game_sd: float
    """Standard deviation between games of one player, log-odds."""
    human: HumanChoices | None = None
    """Weights with the share of human choices; None if no such shares were learned."""
    format: int = 1

    def __post_init__(self) -> None:
        for part in (self, self.human):
            if part is not None and len(part.weights) != len(part.circumstances):
                raise ValueError("each circumstance needs a weight")
        if not (self.player_sd > 0 and self.game_sd > 0 and self.scale_elo > 0):
            raise ValueError("spreads must be above 0")

    def compute_log_odds(self, turn: Turn, elo: float) -> float:
        """Return the log-odds that the engine's first choice is played."""
        model = (
            self.human if self.human is not None and turn.found is not None else self
        )
        features = measure_circumstances(turn, model.circumstances)
        of_elo = model.slope * (elo - self.centre_elo) / self.scale_elo
        return (
            math.fsum(w * x for w, x in zip(model.weights, features, strict=True))
            + of_elo
        )


def is_counted_choice(turn: Turn) -> bool:
    """Return whether a choice counts.

    It counts from move 9 on, in a position that is neither decided nor repeated, with
    more than one legal move.
    """
    board = turn.board
    forced = board is not None and (board.is_forced or board.repeated)
    is_decided = abs(turn.score_before_cp) > CHOICE_LIMIT_CP
    return turn.ply >= FIRST_CHOICE_PLY and not is_decided and not forced


#: Shares are stored in whole per mille. A smaller share counts as this many per mille.
_RAREST = 0.5


def predict_engine_move_share(
    answer: HumanAnswer | None, best: str | None, elo: float | None
) -> float | None:
    """Return the share of players of this Elo who choose the engine's move; None if
    unknown.

    The share is above 0 and at most 1. ``answer`` ends with the shares of the two
    reference ratings. Between and beyond these ratings, the log-odds of any two moves
    are assumed to be linear in Elo.
    """
    if answer is None or best is None or elo is None or best[4:] not in ("", "q"):
        return None
    low_elo, high_elo = REFERENCE_ELOS
    elo = min(max(elo, float(GRID_ELO[0])), float(GRID_ELO[-1]))
    at = (elo - low_elo) / (high_elo - low_elo)
    low, high = answer.per_mille[-2:]
    moves = [best, *(move for move in {**low, **high} if move != best)]
    logs = [
        (1 - at) * math.log(max(low.get(move, 0), _RAREST))
        + at * math.log(max(high.get(move, 0), _RAREST))
        for move in moves
    ]
    top = max(logs)
    return math.exp(logs[0] - top) / math.fsum(math.exp(log - top) for log in logs)


class GameChoices(Value, eq=False):
    """One player's choices in one game. Adding a choice takes some 10 µs."""

    moves: int = 0
    matches: int = 0
    expected: float = 0.0
    """Number of matches with the engine that the forecast predicts."""
    log_likelihood: np.ndarray = msgspec.field(
        default_factory=lambda: np.zeros((1 + len(SHARES), len(_AT)))
    )
    """Log-likelihood of the choices, by share of the engine's moves (row 0: none) and
    by deviation from the forecast.
    """

    def add_choice(self, log_odds: float, match: bool) -> GameChoices:
        """Return these choices with one more choice.

        ``log_odds`` is the forecast for a match with the engine's first choice;
        ``match`` says whether the choice matched.
        """
        own = 1 / (1 + np.exp(-(log_odds + _AT)))
        chance = _NONE_AND_SHARES + (1 - _NONE_AND_SHARES) * own
        return GameChoices(
            self.moves + 1,
            self.matches + match,
            self.expected + 1 / (1 + math.exp(-log_odds)),
            self.log_likelihood + np.log(chance if match else 1 - chance),
        )


# Cached, because most changes of an event do not affect the choices of most games.
@lru_cache(maxsize=1024)
def _list_effects(game: GameChoices, game_sd: float) -> Floats:
    joined = game.log_likelihood[:, :, None] + _integrate_around(game_sd)[None]
    effects: Floats = np.logaddexp.reduce(joined, axis=1)
    return effects


_NONE_AND_SHARES = np.array((0.0, *SHARES))[:, None]


@lru_cache(maxsize=8)
def _integrate_around(game_sd: float) -> Floats:
    """Return the log-chances of a game's deviation (rows) for each deviation of its
    player (columns).
    """
    log = -0.5 * ((_AT[:, None] - _AT[None, :]) / game_sd) ** 2
    log_chances: Floats = log - np.logaddexp.reduce(log)
    return log_chances


def compute_log_e_value(
    games: Iterable[GameChoices], player_sd: float, game_sd: float
) -> float:
    """Return the natural logarithm of the e-value of one player's games.

    It is 0 without a choice.
    """
    averaged = compute_log_likelihoods(games, player_sd, game_sd)
    mixed = np.logaddexp.reduce(averaged[1:]) - math.log(len(SHARES))
    return float(mixed - averaged[0])


def compute_log_likelihoods(
    games: Iterable[GameChoices], player_sd: float, game_sd: float
) -> Floats:
    """Return the log-likelihoods of the choices of one player's games.

    They are averaged over all deviations of the player and of the games. There is one
    log-likelihood for each share of the engine's moves; the first one is for no such
    moves.
    """
    total = np.zeros((1 + len(SHARES), len(_AT))) + _build_normal(player_sd)
    for game in games:
        total = total + _list_effects(game, game_sd)
    averaged: Floats = np.logaddexp.reduce(total, axis=1)
    return averaged


@lru_cache(maxsize=8)
def _build_normal(sd: float) -> Floats:
    log = -0.5 * (_AT / sd) ** 2
    normed: Floats = log - np.logaddexp.reduce(log)
    return normed


def compute_alarm_threshold(players: int) -> float:
    """Return the log e-value at which an alarm is raised, for this number
    of players.
    """
    return math.log(max(1, players) / FALSE_ALARMS)


load_choice_model = LearnedFiles("choices", ChoiceModel, "model of choices").load
