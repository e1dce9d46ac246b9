"""Strengths of the players of a study by Algorithm 2, and of the engine by Algorithm 3
(Ferreira 2012).
"""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import fmean, variance

from scipy.special import stdtrit

from live.ratings.algorithm_2 import Algorithm2, Strength
from live.ratings.ferreira import Algorithm3, MeasuredPlayer, run_algorithm_3
from live.studies.player_moves import PlayerMoves
from live.studies.study_data import StudyData, choose_gain_column


def solve_strengths(
    data: StudyData,
    players: Mapping[int, PlayerMoves],
    met: Iterable[tuple[int, int]],
) -> dict[int, Strength]:
    """Return the strengths of players by Algorithm 2, from all their gains. Only the
    pairs of players in ``met`` are compared.
    """
    event = Algorithm2(data.selection.gain)
    for player, moves in players.items():
        event.rate(str(player), None if moves.elo is None else round(moves.elo))
    for player, opponent in sorted(met):
        event.record_pairing(str(player), str(opponent))
    column = choose_gain_column(data.selection.gain)
    for frame in data.read_moves(["player", "game", column]):
        played = frame.filter(frame["player"].is_in([*players])).drop_nulls()
        games = played.group_by("player", "game", maintain_order=True).all()
        for player, _, gains_cp in games.iter_rows():
            event.add_game(str(player), gains_cp)
    return {
        int(player): strength for player, strength in event.solve_strengths().items()
    }


def measure_engine(
    data: StudyData,
    players: Mapping[int, PlayerMoves],
    strengths: Mapping[int, Strength],
) -> Algorithm3:
    """Return the result of Algorithm 3 over all players with moves, in their order."""
    measured = []
    for player, moves in players.items():
        if moves.expected_score is not None:
            rating = strengths[player].rating if player in strengths else None
            name = data.players[player]
            measured.append(
                MeasuredPlayer(name, moves.expected_score, moves.elo, rating)
            )
    return run_algorithm_3(measured)


def compute_interval_of_mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of two values or more, by the spread between
    them and Student's t.
    """
    middle = fmean(values)
    error = sqrt(variance(values) / len(values))
    reach = float(stdtrit(len(values) - 1, 0.975)) * error
    return middle - reach, middle + reach
