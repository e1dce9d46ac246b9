"""A game of the event as a calibration sees it."""

from __future__ import annotations

import pytest

from live.ratings.calibration.rated_games import rated_games
from tests.ledger.event_of_three import event


@pytest.mark.slow
def test_the_moves_of_rated_players_with_what_they_were_made_from() -> None:
    held = event()
    seen = 0
    for view in held.games():
        detail = held.game(view.id)
        assert detail is not None
        games = {game.player: game for game in rated_games(detail, held.player_ids(view.id))}
        assert "ding-liren" not in games  # without a rating
        for key, game in games.items():
            white = key == held.player_ids(view.id)[0]
            assert game.elo in (2811, 2826)
            assert [move.ply for move in game.moves] == list(range(1 if white else 2, 71, 2))
            for move, before in zip(game.moves, (None, *game.moves), strict=False):
                seen += 1
                assert move.previous_gain_cp == (before.gain_cp if before else None)
                at = detail.plies[move.ply - 2].score_cp if move.ply > 1 else detail.start_score_cp
                assert move.score_before_cp == (at if white else -(at or 0))
    assert seen == 8 * 35
