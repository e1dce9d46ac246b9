"""The alert desk of a running service: what is published, and what is logged."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import msgspec
import pytest
from chess import STARTING_FEN

from live.alerts.alert_desk import AlertDesk
from live.alerts.incident_log import IncidentLog
from live.config import load_config
from live.events import (
    AlertMessage,
    Change,
    EngineHealth,
    FeedHealth,
    FeedReport,
    GameReport,
    Headers,
    HealthMessage,
    Player,
)
from live.publish.published_state import snapshot
from live.publish.stream.stream_filter import StreamFilter
from live.publish.visibility import Visibility
from live.service.desks import AlertService, RestoredAlerts
from live.service.event_service import EventService

FAILED = HealthMessage((FeedHealth("demo", "failed", "no such host"),), EngineHealth())
LIVE = HealthMessage((FeedHealth("demo", "live"),), EngineHealth())


def test_an_alert_goes_with_the_change_that_raised_it_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    published: list[Sequence[Change]] = []
    arbiter = AlertService(published.append, clock=lambda: 1000.0)
    with caplog.at_level(logging.WARNING, "live.service.desks"):
        change, message = arbiter.with_alerts([FAILED])
        assert change is FAILED
        assert isinstance(message, AlertMessage)
        assert arbiter.alerts() == [message.alert]
        arbiter.acknowledge(message.alert.id, "phoned")
        (told,) = published[0]
        assert isinstance(told, AlertMessage)
        assert told.alert.acknowledged_s == 1000.0
        assert told.alert.note == "phoned"
        assert arbiter.with_alerts([LIVE])[1:]
    assert not arbiter.alerts()
    assert [record.message.split(" ", 2)[1] for record in caplog.records] == [
        "raised",
        "acknowledged",
        "noted",
        "over",
    ]


def test_time_alone_raises_and_clears() -> None:
    published: list[Sequence[Change]] = []
    now = 1000.0
    arbiter = AlertService(published.append, clock=lambda: now)
    retrying = HealthMessage((FeedHealth("demo", "retrying", "again in 4 s"),), EngineHealth())
    assert list(arbiter.with_alerts([retrying])) == [retrying]
    now += 20
    arbiter.tick()
    assert len(published) == 1
    arbiter.tick()
    assert len(published) == 1  # nothing new


def test_what_happens_while_the_past_is_recalled_is_looked_at_after_it() -> None:
    published: list[Sequence[Change]] = []
    arbiter = AlertService(published.append, clock=lambda: 1000.0)
    with arbiter.behind():
        assert list(arbiter.with_alerts([FAILED])) == [FAILED]
        assert not arbiter.alerts()
        for _ in arbiter.resume(RestoredAlerts([(900.0, LIVE)], [], [], 950.0, IncidentLog())):
            pass
        assert not published
    (alert,) = arbiter.alerts()
    assert published == [[AlertMessage(alert)]]


async def test_a_service_tells_alerts_with_what_raised_them() -> None:
    service = EventService(load_config(None, {}, {}))
    service.open_ledger("none", "as given", engine_scores=False)
    heard: list[Change] = []
    service.listen(heard.extend)
    players = Headers(Player("White"), Player("Black"), board=7)
    game = GameReport("key", players, STARTING_FEN, problem="illegal move Qh9 at ply 1")
    await service.take(FeedReport("hall", (game,)))
    (told,) = [change.alert for change in heard if isinstance(change, AlertMessage)]
    assert told.text == "Board 7: illegal move Qh9 at ply 1."
    assert list(service.state.alerts()) == [told]
    assert snapshot(service.state, StreamFilter(visibility=Visibility.ARBITER)).alerts == (told,)
    assert snapshot(service.state).alerts == ()
    service.arbiter.mute(told.id, True)
    assert isinstance(heard[-1], AlertMessage) and heard[-1].alert.muted
    await service.take(FeedReport("hall", (msgspec.structs.replace(game, problem=None),)))
    assert not service.state.alerts()


def test_a_fault_of_ours_in_an_alert_costs_alerts_alone_and_is_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[FeedHealth] = []
    arbiter = AlertService(lambda changes: None, clock=lambda: 1000.0, report=told.append)

    def broken(self: AlertDesk, changes: object, now_s: float) -> None:
        raise KeyError("a fault of ours")

    monkeypatch.setattr(AlertDesk, "changes", broken)
    for _ in range(100):
        assert list(arbiter.with_alerts([FAILED])) == [FAILED]
    arbiter.tick()
    assert told == [
        FeedHealth(
            "alerts",
            "failed",
            "alerts were missed 100 times by a fault of ours; the log says where",
            part=True,
        )
    ]
    assert len(caplog.records) == 7, "1, 2, 4 … 64"
    assert [bool(record.exc_info) for record in caplog.records] == [True] + 6 * [False]
