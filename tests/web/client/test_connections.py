"""How a page comes by its messages: live/web/client."""

from __future__ import annotations

import base64
import gzip
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.publish.broker import CHANGES, SINCE, SNAPSHOT, BrokerMessage, SiteStream, status
from live.publish.published_state import snapshot
from tests.publish.world import World
from tests.web.client.test_event_state import hello, numbered, plain
from tests.web.conftest import Pages

# --- stream connection ---------------------------------------------------------------------------


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


# --- broker connection ---------------------------------------------------------------------------


Script = list[dict[str, Any]]


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


class Broadcast:
    """A world and its stream, and what a broker was sent, as a script of its readers."""

    def __init__(self, seed: int = 3, epoch: str = "e") -> None:
        self.world, self.clock = World(seed), Clock()
        self.script: Script = []
        self.start(epoch)

    def start(self, epoch: str) -> None:
        """The service starts, once more."""
        self.stream = SiteStream(self.world, epoch=epoch, clock=self.clock)
        self.send()

    def send(self, lost: bool = False, after_s: float = 2.0) -> None:
        """Send what there is; time passes."""
        self.clock.now_s += after_s
        messages = self.stream.take()
        self.script += said(messages, lost)
        self.script.append({"advance": after_s * 1000})

    def step(self) -> None:
        self.stream.changed([change for _ in range(3) for change in self.world.step()])


def said(messages: list[BrokerMessage], lost: bool = False) -> Script:
    return [
        {
            "topic": f"p/2/{each.topic}",
            "payload": base64.b64encode(each.payload).decode(),
            "retain": each.retain,
            "lost": lost and each.topic == CHANGES,
        }
        for each in messages
    ]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), steps=st.integers(1, 60), joins=st.integers(0, 60))
def test_readers_that_come_at_any_time_and_lose_messages_hold_the_snapshot(
    pages: Pages, seed: int, steps: int, joins: int
) -> None:
    random, cast = Random(seed), Broadcast(seed)
    for at in range(steps + 1):
        if at == min(joins, steps):
            cast.script.append({"connect": True, "advance": 0})
        if random.random() < 0.03:
            cast.start(f"epoch {at}")
        cast.step()
        cast.send(lost=random.random() < 0.2, after_s=random.random())
    for _ in range(2):
        cast.send(after_s=20)  # a heartbeat shows what is missing
    cast.step()
    cast.send()
    cast.send(after_s=5)
    answer = pages("broker", script=cast.script)
    assert answer["statuses"][-1] == "live"
    assert pages("snapshot") == plain(snapshot(cast.world))


def test_a_stale_copy_of_what_is_retained_is_mended(pages: Pages) -> None:
    """A cache or a broker's other node gives for a minute what held a minute ago."""
    cast = Broadcast()
    cast.step()
    stale = [each for each in cast.script if each.get("retain")]
    cast.start("another")
    for _ in range(3):
        cast.step()
        cast.send()
    fresh = [each for each in cast.script if each.get("retain")][-2:]
    cast.stream.forget()
    cast.step()
    late = said(cast.stream.take())
    script = [*stale, {"connect": True}, {"advance": 3000}, *late, {"advance": 60_000}]
    # Whatever came in between: the present, as soon as it is there, and live after it.
    cast.step()
    cast.clock.now_s += 2
    script += [*stale, *fresh, *late, *said(cast.stream.take()), {"advance": 5000}]
    answer = pages("broker", script=script)
    assert answer["statuses"][-1] == "live"
    assert pages("snapshot") == plain(snapshot(cast.world))


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        (3, "this page is older than the service: load it again"),
        (1, "the service is older than this page: bring it up to date, or write the page anew"),
    ],
)
@pytest.mark.parametrize("topic", ["site/snapshot", "status"])
def test_a_page_and_a_service_of_different_times_say_so(
    pages: Pages, protocol: int, reason: str, topic: str
) -> None:
    cast = Broadcast()
    if topic == "status":
        known = msgspec.json.decode(status("online")) | {"protocol": protocol}
        messages = [BrokerMessage("status", msgspec.json.encode(known), retain=True)]
    else:
        (first, *_) = [each for each in cast.script if each.get("topic") == f"p/2/{SNAPSHOT}"]
        whole = msgspec.json.decode(gzip.decompress(base64.b64decode(first["payload"])))
        whole["hello"]["protocol"] = protocol
        packed = gzip.compress(msgspec.json.encode(whole))
        messages = [BrokerMessage(SNAPSHOT, packed, retain=True)]
        assert SINCE in {each.get("topic", "").removeprefix("p/2/") for each in cast.script}
    answer = pages("broker", script=[*said(messages), {"connect": True}, {"advance": 3000}])
    assert (answer["statuses"][-1], answer["reason"]) == ("refused", reason)


# --- token check ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "status", "trouble"),
    [
        ("http://h:1/", 401, "missing"),
        ("http://h:1/?token=x#game=g", 401, "wrong"),
        ("http://h:1/?token=x#game=g", 200, ""),
        ("http://h:1/overlay?token=x", 200, ""),
        ("http://h:1/", 503, ""),
        ("http://h:1/", None, ""),
    ],
)
def test_a_refused_token_is_told_from_other_trouble(
    pages: Pages, page: str, status: int | None, trouble: str
) -> None:
    told = pages("token", page=page, status=status)
    assert told["trouble"] == trouble
    # A service that lets an empty token in knows none.
    assert told["unused"] is ("token" in page and status == 200)
    token = "?token=x" if "token" in page else ""
    assert told["asked"] == f"http://h:1/api/v1/health{token}"
