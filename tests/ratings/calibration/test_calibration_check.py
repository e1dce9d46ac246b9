"""Coverage and errors, on outcomes small enough to count by hand."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from live.ratings.calibration.calibrated_rating import CalibratedRating, PooledCalibratedRating
from live.ratings.calibration.calibration_check import check, cross_validate, measured, unseen
from live.ratings.calibration.move_evidence import Calibration, RatedMove, load_calibration
from live.ratings.calibration.rated_games import RatedGame, belongs

CLASSICAL = load_calibration("classical")
BLITZ = load_calibration("blitz")


def game(player: str, elo: int, gain_cp: int, moves: int = 12) -> RatedGame:
    return RatedGame(
        player, elo, tuple(RatedMove(gain_cp, 0, 2 * index + 1) for index in range(moves))
    )


def rating(of: RatedGame) -> CalibratedRating:
    found = CalibratedRating(CLASSICAL)
    for move in of.moves:
        found.add(move.gain_cp, move.score_before_cp, move.ply, move.previous_gain_cp)
    return found


def test_figures_are_those_counted_by_hand() -> None:
    games = [
        game("a", 1900, -50),
        game("b", 2300, 0),
        game("c", 3500, -90, moves=7),  # outside any interval
        game("d", 2000, -20),
    ]
    ratings = [rating(one) for one in games]
    means = np.array([one.mean for one in ratings])
    elo = np.array([one.elo for one in games])
    found = check(CLASSICAL, games)
    assert (found.calibration, found.games, found.players) == ("classical", 4, 4)
    inside = [
        one.interval[0] <= each.elo <= one.interval[1]
        for one, each in zip(ratings, games, strict=True)
    ]
    assert not inside[2]
    assert found.coverage == sum(inside) / 4
    assert found.mean_absolute_error == pytest.approx(np.abs(means - elo).mean())
    assert found.root_mean_square_error == pytest.approx(np.sqrt(((means - elo) ** 2).mean()))
    assert found.constant_error == pytest.approx((250 + 150 + 1350 + 150) / 4)
    assert found.r == pytest.approx(np.corrcoef(means, elo)[0, 1])
    assert {moves: after.number for moves, after in found.by_moves.items()} == {
        5: 4,
        10: 3,
        20: 0,
        40: 0,
    }
    assert found.by_moves[40].coverage is None
    assert found.pooled.players == 0


def test_a_game_is_looked_at_as_it_stood() -> None:
    after = check(CLASSICAL, [game("a", 2000, -50)]).by_moves[5]
    early = rating(game("a", 2000, -50, moves=5))
    assert after.mean_absolute_error == pytest.approx(abs(early.mean - 2000))
    assert after.width == pytest.approx(early.interval[1] - early.interval[0])
    assert after.r is None


def test_players_of_many_games_are_pooled() -> None:
    games = [game("a", 2000 + number, -30) for number in range(20)]
    games += [game("b", 2000, -30)] * 19
    found = check(CLASSICAL, games)
    pool = PooledCalibratedRating(CLASSICAL)
    for number in range(20):
        pool.update(str(number), rating(games[number]))
    assert found.pooled.players == 1
    assert found.pooled.mean_absolute_error == pytest.approx(abs(pool.mean - 2009.5))
    assert found.pooled.r is None
    assert found.pooled.constant_error == 0


def test_no_games_give_no_figures_and_can_be_told_as_json() -> None:
    found = check(CLASSICAL, [RatedGame("a", 2000, ())])
    assert found.games == 0
    assert found.coverage is None
    told = msgspec.json.decode(msgspec.json.encode(found))
    assert told["mean_absolute_error"] is None
    assert told["by_moves"]["5"]["coverage"] is None
    assert told["pooled"] == {
        "players": 0,
        "r": None,
        "mean_absolute_error": None,
        "coverage": None,
        "constant_error": None,
    }


def test_only_players_left_out_are_unseen() -> None:
    games = [game(str(player), 2000, 0) for player in range(50)]
    assert BLITZ.left_out is not None
    kept = unseen(BLITZ, games)
    assert 0 < len(kept) < 50
    assert all(belongs(one.player, *BLITZ.left_out) for one in kept)
    assert unseen(CLASSICAL, games) == games


def test_cross_validation_checks_every_player_on_what_others_taught() -> None:
    games = [game(str(player), 1900 + player, -player) for player in range(30)]
    taught: list[set[str]] = []

    def learn_from(held: list[RatedGame]) -> Calibration:
        taught.append({one.player for one in held})
        return CLASSICAL

    found = cross_validate(games, learn_from, 3)
    assert (found.games, found.players) == (30, 30)
    assert found.mean_absolute_error == pytest.approx(check(CLASSICAL, games).mean_absolute_error)
    assert len(taught) == 3
    for fold, seen in enumerate(taught):
        assert seen == {one.player for one in games if not belongs(one.player, 3, fold)}


def test_cross_validation_without_folds_is_refused() -> None:
    with pytest.raises(ValueError, match="folds"):
        cross_validate([], lambda held: CLASSICAL, 0)


def test_what_a_file_keeps_of_a_check() -> None:
    games = [game("a", 1900, -50)] * 20 + [game("b", 2300, 0)] * 21 + [game("c", 2100, -20)] * 22
    found = check(CLASSICAL, games)
    kept = measured(found, "by hand")
    assert kept.how == "by hand"
    assert kept.coverage == pytest.approx(found.coverage, abs=1e-4)
    assert kept.mean_absolute_error == pytest.approx(found.mean_absolute_error, abs=0.05)
    assert kept.pooled_players == 3
    assert kept.pooled_r == pytest.approx(found.pooled.r, abs=5e-4)
    with pytest.raises(ValueError, match="no games"):
        measured(check(CLASSICAL, []), "by hand")
