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
    add_description,
    build_components,
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
"""The channels of retained MQTT messages, by name: the topic below the prefix, and the
type of the message.
"""


_PARAMETERS = {
    "prefix": "The setting mqtt.prefix.",
    "player": "The id of the player's standing.",
    "event": "The event's name; - if it has none.",
    "board": "The board's number; without one, the game's id.",
}
_POSITION = (
    "Number of the message in this connection's stream: one more than the number of "
    "the message before. hello has one less than the message that follows it, "
    "heartbeat repeats the last number, and a snapshot sent to a client that was too "
    "slow jumps forward to the number of the state that it contains."
)
_CLOSE_CODES = {
    CloseCode.GOING_AWAY: "the service stops or restarts",
    CloseCode.TEXT_ONLY: "the client sent a binary message",
    CloseCode.NOT_UTF8: "the client sent text that is not UTF-8",
    CloseCode.TOO_BIG: "the client sent a message that is too long",
    CloseCode.TRY_LATER: "too many different filters are in use",
    CloseCode.SLOW: "the client did not read fast enough",
    CloseCode.SILENT: "the client did not answer a ping in time",
    CloseCode.TOO_MUCH: "the client sent too many messages",
    CloseCode.FORBIDDEN: "the token is missing, wrong, withdrawn or expired",
    CloseCode.OUTDATED: "the client uses an earlier version of the protocol",
}


def describe_messages() -> JsonObject:
    """Return the AsyncAPI description of the websocket and of a broker's topics."""
    codes = "; ".join(
        f"{int(code)} {meaning}" for code, meaning in _CLOSE_CODES.items()
    )
    description = (
        f"Protocol {PROTOCOL}. hello comes first, then a snapshot, then changes; a "
        "client that applies the changes to its snapshot has the same state as a fresh "
        "snapshot. A client that reconnects with epoch (from hello) and since (the "
        "number of the last message it received) gets exactly the messages that it "
        "missed (hello has resumed: true), or a fresh snapshot. "
        f"Close codes: {codes}. After 1003, 1007, 1009 and all codes from 4100 on, a "
        "client must not reconnect unchanged; after the others it should reconnect."
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
        "follow": _describe_operation(
            "live", "Messages from the service to its subscribers."
        )
    }
    mqtt = {"mqtt": {"qos": 1, "retain": True}}
    for name, (below, kind) in _RETAINED.items():
        sent = _describe_operation(
            name, "Messages to an MQTT broker, if one is set.", bindings=mqtt
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
        "components": {"messages": messages, "schemas": _build_message_schemas()},
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


def _build_message_schemas() -> JsonObject:
    """Return the JSON Schemas of all messages and the types in them, by type name.

    Retained messages are the same as those of the websocket, but without a number.
    """
    schemas = build_components([*MESSAGES, *(kind for _, kind in _RETAINED.values())])
    for kind in sorted({kind.__name__ for _, kind in _RETAINED.values()}):
        schemas[f"Retained{kind}"] = {**schemas[kind], "title": f"Retained{kind}"}
    number = add_description(_POSITION, type="integer", minimum=0)
    for message in MESSAGES:
        schema = schemas[message.__name__]
        schema["properties"] = {"seq": number, **schema["properties"]}
        schema["required"] = ["seq", *schema["required"]]
    return schemas


_SOCKET_QUERY = {
    **FILTERS,
    "detail": add_description(
        "brief: only what overlays show, in whole Elo, without gains. "
        "gains: also everybody's gains over the event, to one centipawn.",
        enum=DETAILS,
    ),
    "epoch": add_description(
        "The epoch in the hello of the earlier connection.", type="string"
    ),
    "since": add_description(
        "The number of the last message received.", type="integer", minimum=0
    ),
    "token": add_description(
        "A bearer token, for pages that cannot set a header. It is safer to give it in "
        'the first message, {"type":"token","token":"…"}: nothing is sent before it.',
        type="string",
    ),
}
