"""How a page comes by what it holds: messages applied as the reference in Python does,
the websocket, the broker, links to earlier plies.
"""

import base64
import gzip
import json
from itertools import chain
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.messages.to_clients import HelloMessage, SnapshotMessage
from live.server import wire
from live.server.filtered_reader import snapshot
from live.server.reference_client import ReferenceClient
from live.server.retained_messages import encode_status
from live.server.site_stream import CHANGES, SNAPSHOT, BrokerMessage, SiteStream
from live.server.stream_filter import StreamFilter
from live.server.visibility import Visibility
from tests.screens.web import games
from tests.screens.web.conftest import Pages
from tests.server.world import World

#: All there is, what arbiters alone are told included.
WHOLE = StreamFilter(visibility=Visibility.ARBITER, gains=True)


def numbered(messages: list[Any], first: int) -> list[Any]:
    """As the service sends them."""
    return [
        json.loads(wire.number(wire.encode(message), first + at))
        for at, message in enumerate(messages)
    ]


def plain(message: SnapshotMessage) -> Any:
    """A snapshot as JSON has it, without its type; gains no page looks at."""
    tree = games.plain(message)
    for name in ("type", "gains", "engine_gains"):
        del tree[name]
    return tree


def hello(world: World, resumed: bool = False) -> HelloMessage:
    return HelloMessage(1, "epoch", world.engine(), world.gain(), "0", resumed)


# --- what is held ---------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), before=st.integers(0, 40), steps=st.integers(1, 60))
def test_it_holds_what_the_reference_holds(
    pages: Pages, seed: int, before: int, steps: int
) -> None:
    world = World(seed, steps=before)
    client_state = ReferenceClient()
    client_state.apply(snapshot(world, WHOLE))
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world, WHOLE)], first=4))
    seq = 5
    for _ in range(steps):
        changes = world.step()
        for change in changes:
            client_state.apply(change)
        answer = pages("receive", messages=numbered(list(changes), first=seq + 1))
        seq += len(changes)
        assert "outOfStep" not in answer
        assert pages("snapshot") == plain(client_state.snapshot())
    assert pages("snapshot") == plain(snapshot(world, WHOLE))


def opened(pages: Pages, seed: int, *games: str) -> World:
    """A world whose first two messages, 0 and 1, are held."""
    world = World(seed, *games)
    pages("start")
    pages("receive", messages=numbered([hello(world), snapshot(world)], first=0))
    return world


def test_what_was_touched_is_told(pages: Pages) -> None:
    world = opened(pages, 3)
    changes = [
        *world.appear("g1"),
        *world.move("g1"),
        *world.health(),
        *world.standing(),
    ]
    touched = pages("receive", messages=numbered(changes, first=2))["touched"]
    game = {"game": "g1"}
    assert touched == [game, game, game, {"health": True}, {"players": True}]


def test_what_cannot_follow_is_noticed(pages: Pages) -> None:
    def refused(world: World, messages: list[Any], first: int) -> str:
        return str(pages("receive", messages=numbered(messages, first))["outOfStep"])

    for first in (1, 3):
        world = opened(pages, 4)
        assert (
            refused(world, world.health(), first) == f"health {first} does not follow 1"
        )
    # A change of what is not held, and a ply that leaves a gap.
    world = opened(pages, 5)
    world.appear("g1")
    assert refused(world, world.move("g1"), 2) == "game g1 is unknown"
    world = opened(pages, 6, "g1")
    world.move("g1")
    assert refused(world, world.move("g1"), 2) == "ply 2 does not follow 0 in g1"
    # Nothing is applied before a snapshot.
    pages("start")
    assert (
        refused(world, [hello(world), *world.health()], 0)
        == "health 1 does not follow null"
    )


def test_a_heartbeat_and_a_resumption_show_what_was_lost(pages: Pages) -> None:
    world = opened(pages, 7)
    heartbeat = {"type": "heartbeat", "seq": 1}
    assert pages("receive", messages=[heartbeat]) == {"touched": [{}]}
    assert pages("receive", messages=[{**heartbeat, "seq": 2}])["outOfStep"]
    assert "touched" in pages(
        "receive", messages=numbered([hello(world, resumed=True)], first=1)
    )
    later = numbered([hello(world, resumed=True)], first=2)
    assert "but held is 1" in pages("receive", messages=later)["outOfStep"]
    # A type of a later version is left alone but counted.
    pages("receive", messages=[{"type": "toString", "seq": 2}])
    assert "touched" in pages("receive", messages=numbered(world.health(), first=3))


# --- links to earlier plies -----------------------------------------------------------

LATER = "told later"


def played(id: str) -> dict[str, Any]:
    return {
        "id": id,
        "plies": [{"ply": n, "clock_s": 100 - n} for n in range(1, 6)],
        "curves": {"white": [{"ply": 1}, {"ply": 5}], "black": [{"ply": 4}]},
        "result": "1-0",
        "plies_played": 5,
        "plies_scored": 5,
        "head_to_head": {"expected_score": 0.75},
        **dict.fromkeys(("problem", "dispute", "opening", "eco", "termination"), LATER),
    }


def test_a_game_as_it_stood_after_a_ply_shows_nothing_of_later_ones(
    pages: Pages,
) -> None:
    def as_of(ply: int | None) -> Any:
        return pages.run("client/event_state.js", "asOf", played("a"), ply)

    assert as_of(None) == as_of(5) == played("a")
    cut = as_of(3)
    assert (len(cut["plies"]), cut["result"], cut["plies_scored"]) == (3, "*", 3)
    assert cut["curves"] == {"white": [{"ply": 1}], "black": []}
    told = json.dumps(cut)
    assert LATER not in told and "0.75" not in told


def test_players_and_moments_that_rest_on_later_plies_are_left_out(
    pages: Pages,
) -> None:
    players = [{"id": "p", "points": 3.5}]
    moments = [
        {"id": id, "game": game, "ply": ply, "color": color}
        for id, game, ply, color in (
            ("m1", "a", 3, "white"),
            ("m2", "a", 4, "white"),
            ("m3", "b", 5, "black"),
            ("m4", "b", 2, None),
        )
    ]

    def at(ply: int | None, only: str | None) -> tuple[list[str], list[Any], list[str]]:
        held = {
            "games": [played("a"), played("b")],
            "players": players,
            "moments": moments,
        }
        shown, known, told = pages("earlier", **held, ply=ply, only=only)
        return [each["result"] for each in shown], known, [each["id"] for each in told]

    everything = (["1-0", "1-0"], players, ["m1", "m2", "m3", "m4"])
    assert at(None, None) == at(5, None) == everything
    assert at(3, None) == (["*", "*"], [], ["m1"])
    assert at(3, "a") == (["*", "1-0"], [], ["m1", "m3"])


# --- the websocket --------------------------------------------------------------------

PAGE = "http://host:8765/?game=a%20b&theme=dark#x"
BEAT = {"message": {"type": "heartbeat", "seq": 5}}
LOST = {"close": 1006}


def greeting() -> list[dict[str, Any]]:
    world = World(1)
    return [
        {"message": message} for message in numbered([hello(world), snapshot(world)], 4)
    ]


def play(
    pages: Pages, *script: dict[str, Any], page: str = PAGE
) -> tuple[list[str], list[tuple[str, float]], dict[str, Any]]:
    """The states of the connection, where and when it was opened, and the rest of the
    answer.
    """
    result: dict[str, Any] = pages("connection", page=page, script=list(script))
    states = [entry["status"] for entry in result["log"] if "status" in entry]
    opened = [
        (entry["opened"], entry["at"]) for entry in result["log"] if "opened" in entry
    ]
    return states, opened, result


@pytest.mark.parametrize(
    ("page", "url"),
    [
        ("http://host:8765/", "ws://host:8765/v3/live"),
        ("http://host/overlay?board=3,012", "ws://host/v3/live?board=3&board=12"),
        (
            "http://host/overlay?detail=brief&layout=grid",
            "ws://host/v3/live?detail=brief",
        ),
        (
            "https://host/live/?player=%C3%A9&x=1",
            "wss://host/live/v3/live?player=%C3%A9",
        ),
        (PAGE, "ws://host:8765/v3/live?game=a+b"),
    ],
)
def test_the_socket_is_beside_the_page(pages: Pages, page: str, url: str) -> None:
    assert play(pages, page=page)[1] == [(url, 0)]


def test_it_resumes_where_it_was_unless_something_was_lost(pages: Pages) -> None:
    states, opened, _ = play(pages, *greeting(), LOST, {"advance": 1000})
    assert states == ["connecting", "live", "waiting", "connecting"]
    assert opened[1] == ("ws://host:8765/v3/live?game=a+b&epoch=epoch&since=5", 500)
    (lost,) = numbered(World(1).health(), 9)
    for broken in ({"message": lost}, {"text": "<html>"}):
        states, opened, _ = play(pages, *greeting(), broken, {"advance": 1000})
        assert states == ["connecting", "live", "waiting", "connecting"]
        assert "since" not in opened[1][0]


def test_silence_is_noticed_and_heartbeats_break_it(pages: Pages) -> None:
    states, opened, _ = play(
        pages, *greeting(), {"advance": 30_000}, BEAT, {"advance": 30_000}
    )
    assert (states[-1], len(opened)) == ("live", 1)
    assert [at for _, at in play(pages, *greeting(), {"advance": 41_000})[1]] == [
        0,
        40_500,
    ]
    # One that brings nothing at all is given up sooner.
    assert [at for _, at in play(pages, {"advance": 11_000})[1]] == [0, 10_500]


def test_a_late_answer_changes_nothing_and_a_refusal_is_final(pages: Pages) -> None:
    states, opened, result = play(pages, *greeting(), LOST, LOST, *greeting())
    assert (states[-1], len(opened), result["timers"]) == ("waiting", 1, 1)
    states, opened, result = play(
        pages, *greeting(), {"close": 4101}, {"advance": 600_000}
    )
    assert (states[-1], len(opened), result["timers"]) == ("refused", 1, 0)
    assert result["reason"] == "because"


def test_for_a_minute_it_tries_every_second_then_rarely_and_spread(
    pages: Pages,
) -> None:
    low, high = (pages("delays", random=chance, count=73) for chance in (0, 1))
    assert (low[0], high[0]) == (0, 1000)
    assert low[1:61] == high[1:61] == [1000] * 60
    assert high[61:] == sorted(high[61:]) and high[-1] == 30_000
    assert low[61:] == [delay / 2 for delay in high[61:]]
    assert pages("delays", random=1, count=200, keen=True) == [1000] * 200
    # Only a connection that lasts makes the first wait a chance again.
    fall: list[dict[str, Any]] = [LOST, {"advance": 5_000}]
    times = [at for _, at in play(pages, *greeting(), *fall, *fall, *fall)[1]]
    assert times == [0, 500, 6000, 11_000]
    lasting = play(pages, *greeting(), *fall, *greeting(), BEAT, *fall)[1]
    assert lasting[-1][1] == 5_500


def test_a_refused_token_is_told_from_other_trouble(pages: Pages) -> None:
    for query, answer, trouble in (
        ("", 401, "missing"),
        ("?token=x", 401, "wrong"),
        ("?token=x", 200, ""),
        ("", 503, ""),
        ("", None, ""),
    ):
        told = pages("token", page=f"http://h:1/{query}#game=g", status=answer)
        assert told["trouble"] == trouble
        assert told["asked"] == f"http://h:1/api/v3/health{query}"


# --- the broker -----------------------------------------------------------------------

Script = list[dict[str, Any]]


class Broadcast:
    """A world and its stream, and what a broker was sent, as a script of its
    readers.
    """

    def __init__(self, seed: int = 3, epoch: str = "e") -> None:
        self.world, self.now_s = World(seed), 1000.0
        self.script: Script = []
        self.start(epoch)

    def start(self, epoch: str) -> None:
        """The service starts, once more."""
        self.stream = SiteStream(self.world, epoch=epoch, clock=lambda: self.now_s)
        self.send()

    def send(self, lost: bool = False, after_s: float = 2.0) -> None:
        """Send what there is; time passes."""
        self.now_s += after_s
        self.script += build_script(self.stream.take(), lost)
        self.script.append({"advance": after_s * 1000})

    def step(self) -> None:
        changes = chain.from_iterable(self.world.step() for _ in range(3))
        self.stream.publish(list(changes))


def build_script(messages: list[BrokerMessage], lost: bool = False) -> Script:
    return [
        {
            "topic": f"p/3/{each.topic}",
            "payload": base64.b64encode(each.payload).decode(),
            "retain": each.retain,
            "lost": lost and each.topic == CHANGES,
        }
        for each in messages
    ]


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


def test_what_is_retained_is_shown_at_once_also_in_a_quiet_phase(pages: Pages) -> None:
    cast = Broadcast()
    for _ in range(3):
        cast.step()
        cast.send()
    answer = pages("broker", script=[*cast.script, {"connect": True, "advance": 0}])
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
    late = build_script(cast.stream.take())
    script = [*stale, {"connect": True}, {"advance": 3000}, *late, {"advance": 60_000}]
    # Whatever came in between: the present, as soon as it is there, and live after it.
    cast.step()
    cast.now_s += 2
    script += [
        *stale,
        *fresh,
        *late,
        *build_script(cast.stream.take()),
        {"advance": 5000},
    ]
    answer = pages("broker", script=script)
    assert answer["statuses"][-1] == "live"
    assert pages("snapshot") == plain(snapshot(cast.world))


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        (4, "this page is older than the service: reload it"),
        (
            2,
            (
                "the service is older than this page: update the service, "
                "or write the page again"
            ),
        ),
    ],
)
def test_a_page_and_a_service_of_different_times_say_so(
    pages: Pages, protocol: int, reason: str
) -> None:
    (first, *_) = [
        each for each in Broadcast().script if each.get("topic") == f"p/3/{SNAPSHOT}"
    ]
    whole = msgspec.json.decode(gzip.decompress(base64.b64decode(first["payload"])))
    whole["hello"]["protocol"] = protocol
    state = msgspec.json.decode(encode_status("online")) | {"protocol": protocol}
    for topic, payload in (
        (SNAPSHOT, gzip.compress(msgspec.json.encode(whole))),
        ("status", msgspec.json.encode(state)),
    ):
        message = BrokerMessage(topic, payload)
        answer = pages(
            "broker",
            script=[*build_script([message]), {"connect": True}, {"advance": 3000}],
        )
        assert (answer["statuses"][-1], answer["reason"]) == ("refused", reason)
