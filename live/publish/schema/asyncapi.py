"""The published description of the messages: AsyncAPI 3, made from the types. Pure.

JSON Schema of the types that go out, with notes and who sees what.

A field's note is the string below it in the source (PEP 224's form, which Python itself throws
away), and that of an inherited field is its base's.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import msgspec

import live
from live import events
from live.events import (
    EngineMessage,
    GameMessage,
    HealthMessage,
    Message,
    MoveMessage,
    PointMessage,
    StandingMessage,
)
from live.publish.broker.retained_messages import BrokerStatus
from live.publish.http.http_connection import LIVE_PATH
from live.publish.stream.stream_filter import CHANGE_TYPES, MAX_VALUE_CHARS, SOME_TEXT
from live.publish.visibility import Visibility, seen_from
from live.publish.wire import PROTOCOL, CloseCode


@cache
def _of_module(module: ModuleType) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            notes = found[node.name] = {}
            for field, after in zip(node.body, [*node.body[1:], None], strict=True):
                match field, after:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        notes[name] = " ".join(text.split())
    return found


def notes(kind: type[msgspec.Struct]) -> dict[str, str]:
    """Notes of a type's fields, by name; a field without one is left out."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        module = inspect.getmodule(base)
        if module is not None and base is not msgspec.Struct and issubclass(base, msgspec.Struct):
            found |= _of_module(module).get(base.__name__, {})
    return found


REFERENCE = "#/components/schemas/{name}"

_EVENTS = {each for each in vars(events).values() if isinstance(each, type)}

_WITHHELD = {
    Visibility.PUBLIC: "Withheld from venues.",
    Visibility.ARBITER: "For arbiters alone.",
}


def components(roots: Iterable[type[msgspec.Struct]]) -> dict[str, Any]:
    """Schemas of the types and of all they hold, by name."""
    kinds = tuple(roots)
    _, found = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    for kind in _held(kinds):
        schema = found[kind.__name__]
        if doc := kind.__doc__:
            schema["description"] = doc.strip()
        said = notes(kind)
        for name, field in schema.get("properties", {}).items():
            # Sight is about what happens in the event, not about our own tables.
            seen = _WITHHELD.get(seen_from(kind, name), "") if kind in _EVENTS else ""
            if text := " ".join(filter(None, (said.get(name, ""), seen))):
                field["description"] = text
    return dict(found)


def _held(kinds: Iterable[Any]) -> Iterator[type[msgspec.Struct]]:
    """All types of Struct within these, each once."""
    seen: set[type[msgspec.Struct]] = set()
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if kind not in seen:
                seen.add(kind)
                yield kind
                waiting.extend(field.type for field in msgspec.structs.fields(kind))
        else:
            waiting.extend(getattr(kind, "__args__", ()))


_MESSAGES: tuple[type[msgspec.Struct], ...] = Message.__args__

_RETAINED: dict[str, tuple[str, type[msgspec.Struct]]] = {
    "status": (f"{{prefix}}/{PROTOCOL}/status", BrokerStatus),
    "engine": (f"{{prefix}}/{PROTOCOL}/engine", EngineMessage),
    "health": (f"{{prefix}}/{PROTOCOL}/health", HealthMessage),
    "standing": (f"{{prefix}}/{PROTOCOL}/players/{{player}}", StandingMessage),
    "game": (f"{{prefix}}/{PROTOCOL}/{{event}}/{{board}}/game", GameMessage),
    "move": (f"{{prefix}}/{PROTOCOL}/{{event}}/{{board}}/move", MoveMessage),
    "white": (f"{{prefix}}/{PROTOCOL}/{{event}}/{{board}}/white", PointMessage),
    "black": (f"{{prefix}}/{PROTOCOL}/{{event}}/{{board}}/black", PointMessage),
}
"""What a broker holds: topic and message, by the name of the channel."""

_PARAMETERS = {
    "prefix": "mqtt.prefix of the settings.",
    "player": "The id of the player's standing.",
    "event": "The event's name; - where it has none.",
    "board": "The board's number, else the game's id.",
}

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
    CloseCode.SLOW: "the client did not read fast enough: come back",
    CloseCode.SILENT: "no pong in time: come back",
    CloseCode.TOO_MUCH: "the client sends too much: do not come back",
    CloseCode.FORBIDDEN: "the token is missing, wrong, withdrawn or expired: do not come back",
    CloseCode.PROTOCOL: "the client speaks an earlier protocol: do not come back",
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
                "address": LIVE_PATH,
                "messages": {
                    name: {"$ref": f"#/components/messages/{name}"} for name in names.values()
                },
                "bindings": {"ws": {"method": "GET", "query": _query()}},
            },
            **{name: _channel(name, topic) for name, (topic, _) in _RETAINED.items()},
        },
        "operations": {
            "follow": {
                "action": "send",
                "channel": {"$ref": "#/channels/live"},
                "summary": "What the service sends to whoever follows. It expects nothing back.",
            },
            **{
                f"retain-{name}": {
                    "action": "send",
                    "channel": {"$ref": f"#/channels/{name}"},
                    "summary": "What a broker is sent, if one is named.",
                    "bindings": {"mqtt": {"qos": 1, "retain": True}},
                }
                for name in _RETAINED
            },
        },
        "components": {
            "messages": {
                **{name: _message(name, kind, kind.__name__) for kind, name in names.items()},
                **{
                    f"retained-{name}": _message(name, kind, f"Retained{kind.__name__}")
                    for name, (_, kind) in _RETAINED.items()
                },
            },
            "schemas": schemas(),
        },
    }


def _message(name: str, kind: type[msgspec.Struct], schema: str) -> dict[str, Any]:
    return {
        "name": name,
        "summary": (kind.__doc__ or "").strip().split("\n", 1)[0],
        "payload": {"$ref": REFERENCE.format(name=schema)},
    }


def _channel(name: str, topic: str) -> dict[str, Any]:
    """A topic below the prefix; names in it are escaped by
    :func:`live.publish.broker.retained_messages.level`.
    """
    parameters = {
        each: {"description": _PARAMETERS[each]} for each in _PARAMETERS if f"{{{each}}}" in topic
    }
    return {
        "address": topic,
        "messages": {name: {"$ref": f"#/components/messages/retained-{name}"}},
        **({"parameters": parameters} if parameters else {}),
    }


def schemas() -> dict[str, Any]:
    """JSON Schema of every message and of what it holds, by the name of its type.

    Retained messages are those of the websocket without their number.
    """
    found = components([*_MESSAGES, *(kind for _, kind in _RETAINED.values())])
    for kind in {kind.__name__ for _, kind in _RETAINED.values()}:
        found[f"Retained{kind}"] = {**found[kind], "title": f"Retained{kind}"}
    for message in _MESSAGES:
        schema = found[message.__name__]
        number = {"type": "integer", "minimum": 0, "description": _POSITION}
        schema["properties"] = {"seq": number, **schema["properties"]}
        schema["required"] = ["seq", *schema["required"]]
    return found


def _query() -> dict[str, Any]:
    def texts(what: str) -> dict[str, Any]:
        item = {"type": "string", "pattern": SOME_TEXT, "maxLength": MAX_VALUE_CHARS}
        return {"type": "array", "items": item, "description": f"{what}; may be repeated."}

    return {
        "type": "object",
        "properties": {
            "game": texts("Only these games"),
            "event": texts("Only games of these events"),
            "player": texts("Only games of these players, by name or FIDE id"),
            "board": texts("Only games at these boards"),
            "type": {
                "type": "array",
                "items": {"enum": sorted(CHANGE_TYPES)},
                "description": "Only these changes: for reacting to events, not for holding state.",
            },
            "detail": {
                "enum": ["full", "brief", "gains"],
                "description": (
                    "brief: only what overlays show, in whole Elo; gains and methods are left out. "
                    "gains: everybody's gains over the event too, at one centipawn."
                ),
            },
            "epoch": {"type": "string", "description": "Of the hello that was held."},
            "since": {"type": "integer", "minimum": 0, "description": "The last number held."},
            "token": {
                "type": "string",
                "description": (
                    "A bearer token, for pages that can set no header. Safer is to give it in the "
                    'first message, {"type":"token","token":"…"}: nothing is sent before it.'
                ),
            },
            "auth": {
                "enum": ["message"],
                "description": "Wait for a first message with a token, where none is needed.",
            },
        },
    }
