"""All moves of a player, counted afresh, agree with what was counted as they came."""

from __future__ import annotations

import pytest

from tests.ledger.event_of_three import event


@pytest.mark.slow
def test_a_study_counts_what_the_standings_say() -> None:
    held = event()
    study = held.study()
    for view in held.compared_players():
        evidence, methods = study.players[view.id], view.methods
        assert evidence.gains.n == view.moves > 0
        assert evidence.raw.n == methods.conformance.moves > 0
        assert evidence.raw.share is not None and methods.conformance.share is not None
        assert abs(evidence.raw.share - methods.conformance.share) < 1e-4
        assert evidence.markov_moves == methods.markov_moves == evidence.shortfalls.n
        counted = sum(int(evidence.transitions.counts(color).sum()) for color in ("white", "black"))
        assert counted == evidence.markov_moves
        strength = study.strengths[view.id]
        assert strength.rating is not None and methods.tournament_rating is not None
        assert abs(strength.rating - methods.tournament_rating) < 0.51
