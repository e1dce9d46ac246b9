"""The published schemas: whole, and true of real messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from live.events import HeartbeatMessage, HelloMessage, Message
from live.publish import wire
from live.publish.broker import RetainedMessages, status
from live.publish.docs import asyncapi, schemas
from live.publish.published_state import snapshot
from tests.publish.validation import problems
from tests.publish.world import World

DOCUMENT = json.loads(json.dumps(asyncapi()))


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def resolve(reference: str) -> Any:
    found = DOCUMENT
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def complaints(value: Any, schema: dict[str, Any]) -> list[str]:
    """What of the schema does not hold."""
    return problems(value, schema, DOCUMENT)


def test_every_reference_leads_somewhere() -> None:
    found = set(references(DOCUMENT))
    assert len(found) > 20
    for reference in found:
        assert resolve(reference)


def test_every_message_is_described_under_its_type() -> None:
    tags = {str(kind.__struct_config__.tag) for kind in Message.__args__}
    retained = {f"retained-{name}" for name in DOCUMENT["channels"] if name != "live"}
    assert set(DOCUMENT["components"]["messages"]) == tags | retained
    assert set(DOCUMENT["channels"]["live"]["messages"]) == tags
    for tag in tags:
        payload = resolve(DOCUMENT["components"]["messages"][tag]["payload"]["$ref"])
        assert payload["properties"]["type"]["enum"] == [tag]
        assert {"seq", "type"} <= set(payload["required"])
        assert DOCUMENT["components"]["messages"][tag]["summary"]


@pytest.mark.slow
def test_real_messages_are_what_the_schema_says() -> None:
    world = World(2)
    hello = HelloMessage(1, "e", world.info, "same-search", "0")
    messages: list[Message] = [hello, HeartbeatMessage(), snapshot(world)]
    for _ in range(400):
        messages.extend(world.step())
    messages.append(snapshot(world))
    seen = set()
    for message in messages:
        told = json.loads(wire.number(wire.encode(message), 3))
        seen.add(told["type"])
        payload = DOCUMENT["components"]["messages"][told["type"]]["payload"]
        assert not complaints(told, payload)
    assert seen == set(DOCUMENT["channels"]["live"]["messages"])


@pytest.mark.slow
def test_what_a_broker_is_told_is_what_the_schema_says() -> None:
    world = World(2)
    seen = set()
    for _ in range(60):
        for _ in range(8):
            world.step()
        for topic, payload in RetainedMessages(world, "live-rate").everything().items():
            (name,) = [
                name
                for name, channel in DOCUMENT["channels"].items()
                if name != "live"
                and re.fullmatch(
                    re.sub(r"\\{\w+\\}", "[^/]+", re.escape(channel["address"])), topic
                )
            ]
            told = json.loads(payload)
            message = DOCUMENT["components"]["messages"][f"retained-{name}"]
            assert not complaints(told, message["payload"])
            assert "seq" not in told
            seen.add(name)
    message = DOCUMENT["components"]["messages"]["retained-status"]
    assert not complaints(json.loads(status("online")), message["payload"])
    assert seen | {"status"} == set(DOCUMENT["channels"]) - {"live"}


def test_every_channel_and_operation_fits_together() -> None:
    for operation in DOCUMENT["operations"].values():
        assert resolve(operation["channel"]["$ref"])
    for name, channel in DOCUMENT["channels"].items():
        assert set(channel.get("parameters", ())) == set(re.findall(r"{(\w+)}", channel["address"]))
        for reference in references(channel["messages"]):
            assert resolve(reference)["payload"], name


def test_notes_and_sights_are_told() -> None:
    ply = DOCUMENT["components"]["schemas"]["PlyView"]["properties"]
    assert "White's side" in ply["score_cp"]["description"]
    assert ply["score_cp"]["description"].endswith("Withheld from venues.")
    assert "Withheld" not in ply["clock_s"].get("description", "")
    state = DOCUMENT["components"]["schemas"]["EngineState"]["properties"]
    assert state["searching"]["description"].endswith("For arbiters alone.")


@pytest.mark.parametrize("spoil", ["seq", "game", "type"])
def test_a_spoilt_message_does_not_pass(spoil: str) -> None:
    told = {"seq": 3, "type": "gone", "game": "g"}
    payload = DOCUMENT["components"]["messages"]["gone"]["payload"]
    assert not complaints(told, payload)
    assert complaints({**told, spoil: None}, payload)
    assert complaints({k: v for k, v in told.items() if k != spoil}, payload)


def test_schemas_are_made_afresh() -> None:
    first = schemas()
    first.clear()
    assert schemas()
