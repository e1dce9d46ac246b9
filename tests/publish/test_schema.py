"""The published schemas: whole, and true of real messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from live.events import HeartbeatMessage, HelloMessage, Message
from live.publish import wire
from live.publish.schema import asyncapi, schemas
from live.publish.state import snapshot
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


def complaints(value: Any, schema: dict[str, Any], at: str = "$") -> Iterator[str]:
    """What of the JSON Schema keywords our types use does not hold; an unknown one is an error."""
    if "$ref" in schema:
        schema = {**resolve(schema["$ref"]), **{k: v for k, v in schema.items() if k != "$ref"}}
    if "anyOf" in schema and all(list(complaints(value, each, at)) for each in schema["anyOf"]):
        yield f"{at}: none of anyOf"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is not in {schema['enum']}"
    kinds = {
        "object": dict,
        "array": list,
        "string": str,
        "integer": int,
        "boolean": bool,
        "null": type(None),
    }
    if (kind := schema.get("type")) is not None:
        right = isinstance(value, (int, float) if kind == "number" else kinds[kind])
        if not right or (isinstance(value, bool) and kind != "boolean"):
            yield f"{at}: {value!r} is no {kind}"
            return
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: {name} is missing"
    if isinstance(value, dict) and "anyOf" not in schema:
        for name, each in value.items():
            if name not in schema.get("properties", {}):
                yield f"{at}: {name} is not described"
            else:
                yield from complaints(each, schema["properties"][name], f"{at}.{name}")
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from complaints(each, schema["items"], f"{at}[{index}]")


def test_every_reference_leads_somewhere() -> None:
    found = set(references(DOCUMENT))
    assert len(found) > 20
    for reference in found:
        assert resolve(reference)


def test_every_message_is_described_under_its_type() -> None:
    tags = {str(kind.__struct_config__.tag) for kind in Message.__args__}
    assert set(DOCUMENT["components"]["messages"]) == tags
    assert set(DOCUMENT["channels"]["live"]["messages"]) == tags
    for tag in tags:
        payload = resolve(DOCUMENT["components"]["messages"][tag]["payload"]["$ref"])
        assert payload["properties"]["type"]["enum"] == [tag]
        assert {"seq", "type"} <= set(payload["required"])
        assert DOCUMENT["components"]["messages"][tag]["summary"]


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
        assert not list(complaints(told, payload))
    assert seen == set(DOCUMENT["components"]["messages"])


@pytest.mark.parametrize("spoil", ["seq", "game", "type"])
def test_a_spoilt_message_does_not_pass(spoil: str) -> None:
    told = {"seq": 3, "type": "gone", "game": "g"}
    payload = DOCUMENT["components"]["messages"]["gone"]["payload"]
    assert not list(complaints(told, payload))
    assert list(complaints({**told, spoil: None}, payload))
    assert list(complaints({k: v for k, v in told.items() if k != spoil}, payload))


def test_schemas_are_made_afresh() -> None:
    first = schemas()
    first.clear()
    assert schemas()
