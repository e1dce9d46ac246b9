from __future__ import annotations

import pytest

from live.ratings.strength.played_games import PlayedGame, PlayedSide
from live.ratings.strength.result_fit import Result, learn_results, log_loss, positions


def games() -> list[PlayedGame]:
    """The side that is ahead at ply 4 wins; level games are drawn."""
    made = []
    for n in range(240):
        score, result = ((300, "1-0"), (-300, "0-1"), (0, "1/2-1/2"))[n % 3]
        white, black = (PlayedSide(f"p{2 * n + side}", 2000, ()) for side in (0, 1))
        made.append(PlayedGame(white, black, result, (20, 20, 20, 20, score, score)))
    return made


@pytest.mark.slow
def test_it_learns_what_ends_how() -> None:
    model = learn_results(games(), name="x", time_control="classical", data="", date="")
    assert model.chances(300, 4, 2000, 2000).win > 0.8
    assert model.chances(-300, 4, 2000, 2000).loss > 0.8
    assert model.chances(0, 4, 2000, 2000).draw > 0.6
    late = [row for row in positions(games()) if row.ply == 4]
    assert log_loss(model, late).ends < 0.4 < log_loss(model, late[:1]).ends + 0.4


def test_results_alone_tell_what_ratings_are_worth() -> None:
    results = [Result(2400, 2000, "1-0")] * 300 + [Result(2000, 2400, "0-1")] * 300
    model = learn_results(games(), results, name="x", time_control="", data="", date="")
    assert model.chances(20, 0, 2400, 2000).win > 0.8


def test_nothing_to_learn_from_is_said() -> None:
    with pytest.raises(ValueError, match="no finished game"):
        learn_results([], name="x", time_control="", data="", date="")
