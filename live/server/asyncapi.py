"""The AsyncAPI 3 description of the messages, generated from their types. Pure."""

from __future__ import annotations

from typing import Any

import live
from live.messages.to_clients import (
    EngineMessage,
    GameMessage,
    HealthMessage,
    Message,
    MoveMessage,
    PointMessage,
    StandingMessage,
)
from live.server.http_values import JSON
from live.server.json_schemas import (
    FILTERS,
    JsonObject,
    build_components,
    describe,
    refer_to,
)
from live.server.retained_messages import BrokerStatus
from live.server.stream_filter import DETAILS
from live.server.visibility import Kind
from live.server.wire import LIVE_PATH, PROTOCOL, CloseCode

MESSAGES: tuple[Kind, ...] = Message.__args__
_RETAINED: dict[str, tuple[str, Kind]] = {
    "status": ("status", BrokerStatus),
    "engine": ("engine", EngineMessage),
    "health": ("health", HealthMessage),
    "standing": ("players/{player}", StandingMessage),
    "game": ("{event}/{board}/game", GameMessage),
    "move": ("{event}/{board}/move", MoveMessage),
    "white": ("{event}/{board}/white", PointMessage),
    "black": ("{event}/{board}/black", PointMessage),
}
"""Retained messages at a broker, by the name of their channel: the topic below the
prefix, and the type of message.
"""


_PARAMETERS = {
    "prefix": "mqtt.prefix of the settings.",
    "player": "The id of the player's standing.",
    "event": "The event's name; - where it has none.",
    "board": "The board's number, else the game's id.",
}
_POSITION = (
    "Number in this connection's stream: one more than the message before. hello "
    "carries one less than the message that follows it, heartbeat repeats the last "
    "number, and a snapshot sent to a client that lagged jumps forward to the number "
    "it stands at."
)
_CLOSE_CODES = {
    CloseCode.GOING_AWAY: "the service stops or restarts: come back",
    CloseCode.TEXT_ONLY: "text only: do not come back",
    1009: "a message too big: do not come back",
    CloseCode.TRY_LATER: "too many different filters are in use: come back",
    CloseCode.SLOW: "the client did not read fast enough: come back",
    CloseCode.SILENT: "no pong in time: come back",
    CloseCode.TOO_MUCH: "the client sends too much: do not come back",
    CloseCode.FORBIDDEN: (
        "the token is missing, wrong, withdrawn or expired: do not come back"
    ),
    CloseCode.OUTDATED: "the client speaks a protocol of before: do not come back",
}


def describe_messages() -> JsonObject:
    """Return the AsyncAPI description of the websocket and of a broker's topics."""
    codes = "; ".join(
        f"{int(code)} {meaning}" for code, meaning in _CLOSE_CODES.items()
    )
    description = (
        f"Protocol {PROTOCOL}. hello comes first, then a snapshot, then changes; a "
        "client that applies the changes to its snapshot holds what a fresh snapshot "
        "would say. With the epoch of hello and the last number as epoch and since, a "
        "client that comes back is given "
        "exactly what it missed (hello says resumed: true), or a fresh snapshot. "
        f"Close codes: {codes}."
    )
    messages = {
        str(kind.__struct_config__.tag): _describe_message(kind, kind.__name__)
        for kind in MESSAGES
    }
    query = {"type": "object", "properties": _SOCKET_QUERY}
    channels = {
        "live": {
            "address": LIVE_PATH,
            "messages": {name: refer_to("messages", name) for name in messages},
            "bindings": {"ws": {"method": "GET", "query": query}},
        }
    }
    operations = {
        "follow": _describe_operation("live", "What the service sends its subscribers.")
    }
    mqtt = {"mqtt": {"qos": 1, "retain": True}}
    for name, (below, kind) in _RETAINED.items():
        sent = _describe_operation(
            name, "What a broker is sent, if one is named.", bindings=mqtt
        )
        operations[f"retain-{name}"] = sent
        messages[f"retained-{name}"] = _describe_message(
            kind, f"Retained{kind.__name__}"
        )
        topic = f"{{prefix}}/{PROTOCOL}/{below}"
        channels[name] = {
            "address": topic,
            "messages": {name: refer_to("messages", f"retained-{name}")},
            "parameters": {
                parameter: {"description": text}
                for parameter, text in _PARAMETERS.items()
                if f"{{{parameter}}}" in topic
            },
        }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "live-rate",
            "version": live.__version__,
            "description": description,
        },
        "defaultContentType": JSON,
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": build_message_schemas()},
    }


def _describe_operation(channel: str, summary: str, **fields: Any) -> JsonObject:
    reference = {"$ref": f"#/channels/{channel}"}
    return {"action": "send", "channel": reference, "summary": summary, **fields}


def _describe_message(kind: Kind, schema: str) -> JsonObject:
    return {
        "name": kind.__struct_config__.tag or schema,
        "summary": (kind.__doc__ or "").strip().split("\n", 1)[0],
        "payload": refer_to("schemas", schema),
    }


def build_message_schemas() -> JsonObject:
    """Return the JSON Schemas of all messages and the types in them, by type name.

    Retained messages are the same as those of the websocket, but without a number.
    """
    schemas = build_components([*MESSAGES, *(kind for _, kind in _RETAINED.values())])
    for kind in sorted({kind.__name__ for _, kind in _RETAINED.values()}):
        schemas[f"Retained{kind}"] = {**schemas[kind], "title": f"Retained{kind}"}
    number = describe(_POSITION, type="integer", minimum=0)
    for message in MESSAGES:
        schema = schemas[message.__name__]
        schema["properties"] = {"seq": number, **schema["properties"]}
        schema["required"] = ["seq", *schema["required"]]
    return schemas


_SOCKET_QUERY = {
    **FILTERS,
    "detail": describe(
        "brief: only what overlays show, in whole Elo; gains are left out. "
        "gains: everybody's gains over the event too, at one centipawn.",
        enum=DETAILS,
    ),
    "epoch": describe("Of the hello that was held.", type="string"),
    "since": describe("The last number held.", type="integer", minimum=0),
    "token": describe(
        "A bearer token, for pages that can set no header. Safer is to give it in the "
        'first message, {"type":"token","token":"…"}: nothing is sent before it.',
        type="string",
    ),
}
