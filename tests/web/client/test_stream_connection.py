"""live/web/client/stream_connection.js: coming back, resuming, noticing silence; on a clock of its
own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.publish.world import World
from tests.web.client.test_event_state import hello, numbered

Pages = Callable[..., Any]
PAGE = "http://host:8765/?game=a%20b&theme=dark#x"


def play(pages: Pages, script: list[dict[str, Any]], page: str = PAGE) -> dict[str, Any]:
    result: dict[str, Any] = pages("connection", page=page, script=script)
    return result


def opened(result: dict[str, Any]) -> list[tuple[str, float]]:
    return [(entry["opened"], entry["at"]) for entry in result["log"] if "opened" in entry]


def statuses(result: dict[str, Any]) -> list[str]:
    return [entry["status"] for entry in result["log"] if "status" in entry]


def greeting() -> list[dict[str, Any]]:
    from live.publish.published_state import snapshot

    world = World(1)
    return [{"message": message} for message in numbered([hello(world), snapshot(world)], 4)]


@pytest.mark.parametrize(
    ("page", "url"),
    [
        ("http://host:8765/", "ws://host:8765/v2/live"),
        ("http://host/overlay?board=3,012", "ws://host/v2/live?board=3&board=12"),
        ("http://host/overlay?detail=brief&layout=grid", "ws://host/v2/live?detail=brief"),
        ("https://host/live/?player=%C3%A9&x=1", "wss://host/live/v2/live?player=%C3%A9"),
        (PAGE, "ws://host:8765/v2/live?game=a+b"),
    ],
)
def test_the_socket_is_beside_the_page(pages: Pages, page: str, url: str) -> None:
    assert opened(play(pages, [], page)) == [(url, 0)]


def test_it_resumes_where_it_was(pages: Pages) -> None:
    result = play(pages, [*greeting(), {"close": 1006}, {"advance": 1000}])
    assert statuses(result) == ["connecting", "live", "waiting", "connecting"]
    again, at = opened(result)[1]
    assert again == "ws://host:8765/v2/live?game=a+b&epoch=epoch&since=5"
    assert at == 500


def test_a_lost_message_leads_to_a_fresh_snapshot(pages: Pages) -> None:
    (lost,) = numbered(World(1).health(), 9)
    result = play(pages, [*greeting(), {"message": lost}, {"advance": 1000}])
    assert statuses(result) == ["connecting", "live", "waiting", "connecting"]
    assert "since" not in opened(result)[1][0]


def test_what_is_no_json_leads_to_a_fresh_snapshot(pages: Pages) -> None:
    result = play(pages, [*greeting(), {"text": "<html>"}, {"advance": 1000}])
    assert statuses(result)[-2:] == ["waiting", "connecting"]
    assert "since" not in opened(result)[1][0]


def test_silence_is_noticed_and_heartbeats_break_it(pages: Pages) -> None:
    beat = {"message": {"type": "heartbeat", "seq": 5}}
    alive = play(pages, [*greeting(), {"advance": 30_000}, beat, {"advance": 30_000}])
    assert statuses(alive)[-1] == "live"
    assert len(opened(alive)) == 1
    silent = play(pages, [*greeting(), {"advance": 41_000}])
    assert [at for _, at in opened(silent)] == [0, 40_500]
    never = play(pages, [{"advance": 41_000}])
    assert len(opened(never)) == 2


def test_a_late_answer_of_an_old_socket_changes_nothing(pages: Pages) -> None:
    result = play(pages, [*greeting(), {"close": 1006}, {"close": 1006}, *greeting()])
    assert len(opened(result)) == 1
    assert result["timers"] == 1
    assert statuses(result)[-1] == "waiting"


def test_a_refusal_is_final(pages: Pages) -> None:
    result = play(pages, [*greeting(), {"close": 4101}, {"advance": 600_000}])
    assert statuses(result)[-1] == "refused"
    assert result["reason"] == "because"
    assert len(opened(result)) == 1
    assert result["timers"] == 0


def test_delays_grow_to_half_a_minute_and_are_spread(pages: Pages) -> None:
    low = pages("delays", random=0, count=12)
    high = pages("delays", random=1, count=12)
    assert low[0] == 0
    assert high[0] == 1000
    assert high[1:] == sorted(high[1:])
    assert high[-1] == 30_000
    assert low[1:] == [delay / 2 for delay in high[1:]]


def test_only_a_connection_that_lasts_makes_the_next_attempt_quick(pages: Pages) -> None:
    fall: list[dict[str, Any]] = [{"close": 1006}, {"advance": 30_000}]
    flapping = play(pages, [*greeting(), *fall, *fall, *fall])
    times = [at for _, at in opened(flapping)]
    waits = [time - 30_000 * at for at, time in enumerate(times[1:])]
    assert waits == [500, 750, 1350]
    beat = {"message": {"type": "heartbeat", "seq": 5}}
    lasting = play(pages, [*greeting(), *fall, *greeting(), beat, *fall])
    assert [at for _, at in opened(lasting)][-1] == 30_500
