"""The published description of the messages: AsyncAPI 3, made from the types. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

import live
from live.events import Message
from live.publish.select import CHANGE_TYPES, MAX_VALUE_CHARS
from live.publish.wire import PROTOCOL, Close

_REFERENCE = "#/components/schemas/{name}"
_MESSAGES: tuple[type[msgspec.Struct], ...] = Message.__args__

_POSITION = (
    "Number in this connection's stream: one more than the message before. hello carries one less "
    "than the message that follows it, heartbeat repeats the last number, and a snapshot sent to a "
    "client that lagged jumps forward to the number it stands at."
)

_CLOSE_CODES = {
    1001: "the service stops or restarts: come back",
    1003: "text only: do not come back",
    1009: "a message too big: do not come back",
    1013: "too many different filters are in use: come back",
    Close.SLOW: "the client did not read fast enough: come back",
    Close.SILENT: "no pong in time: come back",
    Close.TOO_MUCH: "the client sends too much: do not come back",
    Close.FORBIDDEN: "the token is missing, wrong, withdrawn or expired: do not come back",
}


def asyncapi() -> dict[str, Any]:
    """The whole document."""
    names = {kind: str(kind.__struct_config__.tag) for kind in _MESSAGES}
    codes = "; ".join(f"{int(code)} {meaning}" for code, meaning in _CLOSE_CODES.items())
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "live-rate",
            "version": live.__version__,
            "description": (
                f"Protocol {PROTOCOL}. hello comes first, then a snapshot, then changes; a client "
                "that applies the changes to its snapshot holds what a fresh snapshot would say. "
                "With the epoch of hello and the last number as epoch and since, a client that "
                "comes back is given exactly what it missed (hello says resumed: true), or a "
                f"fresh snapshot. Close codes: {codes}."
            ),
        },
        "defaultContentType": "application/json",
        "channels": {
            "live": {
                "address": "/v1/live",
                "messages": {
                    name: {"$ref": f"#/components/messages/{name}"} for name in names.values()
                },
                "bindings": {"ws": {"method": "GET", "query": _query()}},
            }
        },
        "operations": {
            "follow": {
                "action": "send",
                "channel": {"$ref": "#/channels/live"},
                "summary": "What the service sends to whoever follows. It expects nothing back.",
            }
        },
        "components": {
            "messages": {
                name: {
                    "name": name,
                    "summary": (kind.__doc__ or "").strip().split("\n", 1)[0],
                    "payload": {"$ref": _REFERENCE.format(name=kind.__name__)},
                }
                for kind, name in names.items()
            },
            "schemas": schemas(),
        },
    }


def text() -> str:
    """The document as readable JSON, a newline at its end."""
    return msgspec.json.format(msgspec.json.encode(asyncapi()), indent=2).decode() + "\n"


def schemas() -> dict[str, Any]:
    """JSON Schema of every message and of what it holds, by the name of its type."""
    _, components = msgspec.json.schema_components(_MESSAGES, ref_template=_REFERENCE)
    for kind in _MESSAGES:
        schema = components[kind.__name__]
        number = {"type": "integer", "minimum": 0, "description": _POSITION}
        schema["properties"] = {"seq": number, **schema["properties"]}
        schema["required"] = ["seq", *schema["required"]]
    return dict(components)


def _query() -> dict[str, Any]:
    def texts(what: str) -> dict[str, Any]:
        item = {"type": "string", "minLength": 1, "maxLength": MAX_VALUE_CHARS}
        return {"type": "array", "items": item, "description": f"{what}; may be repeated."}

    return {
        "type": "object",
        "properties": {
            "game": texts("Only these games"),
            "event": texts("Only games of these events"),
            "player": texts("Only games of these players, by name or FIDE id"),
            "type": {
                "type": "array",
                "items": {"enum": sorted(CHANGE_TYPES)},
                "description": "Only these changes: for reacting to events, not for holding state.",
            },
            "epoch": {"type": "string", "description": "Of the hello that was held."},
            "since": {"type": "integer", "minimum": 0, "description": "The last number held."},
        },
    }
