"""The one writer: a game that breaks a rule of ours costs no other anything, and is told."""

from __future__ import annotations

import pytest
from chess import STARTING_FEN as START

from live.events import FeedReport, GameReport, Headers, Player
from live.games.game import Game
from live.games.game_steps import MovesPlayed, Step
from live.ledger.event_ledger import EventLedger
from live.ledger.event_state import EventState
from live.ledger.measure import Measure
from live.ledger.outbox import Effects
from tests.alerts.hall import NoEngine
from tests.ledger.arithmetic import line


def test_a_game_that_breaks_a_rule_of_ours_is_given_up_and_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = EventLedger(
        measure=Measure("same-search"),
        engine_name="none",
        limit="none",
        fixed_rating=None,
        stored_rating=2160,
    )
    keeper = EventState(ledger, NoEngine(), lambda changes: None)
    proper = ledger.follow

    def broken(step: Step, game: Game | None) -> Effects:
        if isinstance(step, MovesPlayed) and len(step.moves) == 7:
            raise KeyError("a fault of ours")
        return proper(step, game)

    monkeypatch.setattr(ledger, "follow", broken)
    games = tuple(
        GameReport(key, Headers(Player(f"White {key}"), Player(f"Black {key}")), START, moves)
        for key, moves in (("1", line(*range(1, 8))), ("2", line(*range(11, 19))))
    )
    for step in keeper.plan(FeedReport("feed", games)):
        keeper.apply(step)
    assert [game.white.name for game in keeper.games()] == ["White 2"]
    (told,) = keeper.feeds()
    assert told.part and told.state == "failed" and "given up" in told.detail
    (record,) = caplog.records
    assert record.exc_info, "with its traceback"
