"""A game of the event as a calibration is learned from and checked on. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.events import GameDetail
from live.ratings.calibration.move_evidence import RatedMove
from live.ratings.calibration.rated_games import RatedGame


def rated_games(detail: GameDetail, players: tuple[str, ...]) -> Iterator[RatedGame]:
    """The moves of each rated player, by the gain that feeds the curves.

    ``players`` are the ids of White and Black. Players without a rating, and without a scored
    move, are passed over.
    """
    sides = (
        (detail.white.elo, detail.curves.white, 1),
        (detail.black.elo, detail.curves.black, -1),
    )
    for key, (elo, points, sign) in zip(players, sides, strict=True):
        if elo is None or not points:
            continue
        gains = {point.ply: point.gain_cp for point in points}
        moves = []
        for point in points:
            at = point.ply - 1
            before_cp = detail.plies[at - 1].score_cp if at else detail.start_score_cp
            if before_cp is not None:
                previous = gains.get(point.ply - 2)
                moves.append(RatedMove(point.gain_cp, sign * before_cp, point.ply, previous))
        yield RatedGame(key, elo, tuple(moves))
