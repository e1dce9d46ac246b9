"""Effects are collected in order, and the engine's rating is added where a message is made."""

from __future__ import annotations

import msgspec

from live.events import CurvePoint, EngineInfo, EngineMessage, PointMessage
from live.ledger.outgoing_messages import Effects, OutgoingMessages, rated

POINT = CurvePoint(
    ply=1,
    n=1,
    gain_cp=0,
    expected_score=0.5,
    difference=-10.5,
    difference_low=-200.0,
    difference_high=None,
    rating=None,
    low=None,
    high=None,
)


def test_each_rating_is_the_engine_s_and_the_difference() -> None:
    assert rated(POINT, 2800) == msgspec.structs.replace(POINT, rating=2789.5, low=2600.0)
    above = msgspec.structs.replace(POINT, difference=None, difference_high=25.0)
    assert rated(above, 2000).rating is None
    assert rated(above, 2000).high == 2025.0
    assert rated(rated(POINT, 2800), 2000) == rated(POINT, 2000)


def test_points_after_a_new_engine_rating_are_measured_by_it() -> None:
    outgoing = OutgoingMessages(2000)
    engine = EngineInfo("engine", "1 node", 2800, "fixed")
    outgoing.add_point("g", "white", POINT)
    outgoing.add_engine(engine)
    outgoing.add_point("g", "black", POINT)
    assert outgoing.take().changes == (
        PointMessage("g", "white", rated(POINT, 2000)),
        EngineMessage(engine),
        PointMessage("g", "black", rated(POINT, 2800)),
    )


def test_what_was_taken_or_cleared_is_gone_and_the_rating_stays() -> None:
    outgoing = OutgoingMessages(2000)
    outgoing.add_engine(EngineInfo("engine", "1 node", 2800, "fixed"))
    assert outgoing.take().changes
    assert outgoing.take() == Effects()
    outgoing.add_point("g", "white", POINT)
    outgoing.clear()
    assert outgoing.take() == Effects()
    assert outgoing.engine_rating == 2800
