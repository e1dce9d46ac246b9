"""The published descriptions, made from the types: AsyncAPI 3 of the messages, OpenAPI 3.1 of the
requests, and the readable page of both, ``/docs``. Pure.

JSON Schema of the types that go out, with notes and who sees what. A field's note is the string
below it in the source (PEP 224's form, which Python itself throws away), and that of an inherited
field is its base's. The page is Markdown in the manual's look, with the manual's examples.
"""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

import live
from live.manual.pages import contents, frame, heading_id, render
from live.messages import alerts, figures, from_clients, from_sources, health, moments, to_clients
from live.messages.to_clients import (
    EngineMessage,
    GameMessage,
    HealthMessage,
    Message,
    MoveMessage,
    PointMessage,
    StandingMessage,
)
from live.server.answers import JSON, ProblemAnswer
from live.server.broker import BrokerStatus
from live.server.visibility import (
    DETAILS,
    MAX_VALUE_CHARS,
    SOME_TEXT,
    Kind,
    Visibility,
    seen_from,
    structs_in,
)
from live.server.wire import LIVE_PATH, PROTOCOL, CloseCode
from live.watch.words import LANGUAGES

if TYPE_CHECKING:
    from live.server.routes import Route


JsonObject = dict[str, Any]


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


def notes(kind: Kind) -> dict[str, str]:
    """Notes of a type's fields, by name; a field without one is left out."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        module = inspect.getmodule(base)
        if module is not None and base is not msgspec.Struct and issubclass(base, msgspec.Struct):
            found |= _of_module(module).get(base.__name__, {})
    return found


REFERENCE = "#/components/schemas/{name}"

#: Modules whose types are described to programs.
_MODULES = (from_sources, from_clients, figures, alerts, moments, health, to_clients)
_EVENTS = {each for module in _MODULES for each in vars(module).values() if isinstance(each, type)}

_WITHHELD = {
    Visibility.PUBLIC: "Withheld from venues.",
    Visibility.ARBITER: "For arbiters alone.",
}


def components(roots: Iterable[Kind]) -> JsonObject:
    """Schemas of the types and of all they hold, by name."""
    waiting = list(roots)
    _, found = msgspec.json.schema_components(waiting, ref_template=REFERENCE)
    seen: set[Kind] = set()
    while waiting:
        kind = waiting.pop()
        if kind in seen:
            continue
        seen.add(kind)
        said, fields = notes(kind), found[kind.__name__].get("properties", {})
        for field in msgspec.structs.fields(kind):
            waiting += structs_in(field.type)
            # Sight is about what happens in the event, not about our own tables.
            sight = _WITHHELD.get(seen_from(kind, field.name), "") if kind in _EVENTS else ""
            if text := " ".join(filter(None, (said.get(field.name, ""), sight))):
                fields[field.encode_name]["description"] = text
    return dict(found)


_MESSAGES: tuple[Kind, ...] = Message.__args__

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
"""What a broker holds: topic below the prefix, and message, by the name of the channel."""

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
    CloseCode.GOING_AWAY: "the service stops or restarts: come back",
    CloseCode.TEXT_ONLY: "text only: do not come back",
    1009: "a message too big: do not come back",
    CloseCode.TRY_LATER: "too many different filters are in use: come back",
    CloseCode.SLOW: "the client did not read fast enough: come back",
    CloseCode.SILENT: "no pong in time: come back",
    CloseCode.TOO_MUCH: "the client sends too much: do not come back",
    CloseCode.FORBIDDEN: "the token is missing, wrong, withdrawn or expired: do not come back",
    CloseCode.OUTDATED: "the client speaks a protocol of before: do not come back",
}


def asyncapi() -> JsonObject:
    """The description of the websocket and of a broker's topics."""
    codes = "; ".join(f"{int(code)} {meaning}" for code, meaning in _CLOSE_CODES.items())
    description = (
        f"Protocol {PROTOCOL}. hello comes first, then a snapshot, then changes; a client that "
        "applies the changes to its snapshot holds what a fresh snapshot would say. With the epoch "
        "of hello and the last number as epoch and since, a client that comes back is given "
        "exactly what it missed (hello says resumed: true), or a fresh snapshot. "
        f"Close codes: {codes}."
    )
    messages = {
        str(kind.__struct_config__.tag): _message(kind, kind.__name__) for kind in _MESSAGES
    }
    query = {"type": "object", "properties": _SOCKET_QUERY}
    channels = {
        "live": {
            "address": LIVE_PATH,
            "messages": {name: _ref("messages", name) for name in messages},
            "bindings": {"ws": {"method": "GET", "query": query}},
        }
    }
    operations = {"follow": _sent("live", "What the service sends to whoever follows.")}
    mqtt = {"mqtt": {"qos": 1, "retain": True}}
    for name, (below, kind) in _RETAINED.items():
        sent = _sent(name, "What a broker is sent, if one is named.", bindings=mqtt)
        operations[f"retain-{name}"] = sent
        messages[f"retained-{name}"] = _message(kind, f"Retained{kind.__name__}")
        topic = f"{{prefix}}/{PROTOCOL}/{below}"
        channels[name] = {
            "address": topic,
            "messages": {name: _ref("messages", f"retained-{name}")},
            "parameters": {
                each: {"description": text}
                for each, text in _PARAMETERS.items()
                if f"{{{each}}}" in topic
            },
        }
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "live-rate", "version": live.__version__, "description": description},
        "defaultContentType": JSON,
        "channels": channels,
        "operations": operations,
        "components": {"messages": messages, "schemas": schemas()},
    }


def _sent(channel: str, summary: str, **more: Any) -> JsonObject:
    where = {"$ref": f"#/channels/{channel}"}
    return {"action": "send", "channel": where, "summary": summary, **more}


def _ref(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def _message(kind: Kind, schema: str) -> JsonObject:
    return {
        "name": kind.__struct_config__.tag or schema,
        "summary": (kind.__doc__ or "").strip().split("\n", 1)[0],
        "payload": _ref("schemas", schema),
    }


def schemas() -> JsonObject:
    """JSON Schema of every message and of what it holds, by the name of its type.

    Retained messages are those of the websocket without their number.
    """
    found = components([*_MESSAGES, *(kind for _, kind in _RETAINED.values())])
    for kind in {kind.__name__ for _, kind in _RETAINED.values()}:
        found[f"Retained{kind}"] = {**found[kind], "title": f"Retained{kind}"}
    number = _described(_POSITION, type="integer", minimum=0)
    for message in _MESSAGES:
        schema = found[message.__name__]
        schema["properties"] = {"seq": number, **schema["properties"]}
        schema["required"] = ["seq", *schema["required"]]
    return found


def _described(description: str, **schema: Any) -> JsonObject:
    return {**schema, "description": description}


_TEXT = {"type": "string", "pattern": SOME_TEXT, "maxLength": MAX_VALUE_CHARS}
#: Parameters of queries, of the websocket's and of requests.
_FILTERS = {
    name: _described(f"Only {what}; may be repeated.", type="array", items=_TEXT)
    for name, what in (
        ("game", "these games"),
        ("event", "games of these events"),
        ("player", "games of these players, by name or FIDE id"),
        ("board", "games at these boards"),
    )
}
_SOCKET_QUERY = {
    **_FILTERS,
    "detail": _described(
        "brief: only what overlays show, in whole Elo; gains are left out. "
        "gains: everybody's gains over the event too, at one centipawn.",
        enum=DETAILS,
    ),
    "epoch": _described("Of the hello that was held.", type="string"),
    "since": _described("The last number held.", type="integer", minimum=0),
    "token": _described(
        "A bearer token, for pages that can set no header. Safer is to give it in the "
        'first message, {"type":"token","token":"…"}: nothing is sent before it.',
        type="string",
    ),
}
_QUERY = {
    **_FILTERS,
    "words": _described("Only incidents that have all these words.", **_TEXT),
    "round": _described("A round, as its games name it; 4 for 4.12 and Round 4.", type="string"),
    "lang": _described("The language; en where none is given.", enum=LANGUAGES),
}
_PATH = {"game": "The game's id, percent-encoded."}


def openapi(routes: Sequence[Route]) -> JsonObject:
    """The whole description of what answers requests."""
    kinds = [
        kind
        for each in routes
        for given in (each.gives.values() if isinstance(each.gives, dict) else [each.gives])
        for kind in structs_in(given)
    ]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "live-rate",
            "version": live.__version__,
            "description": (
                "What is known now, as JSON. Every answer has an ETag; If-None-Match saves the "
                "body. Where tokens are in use, give one as Authorization: Bearer TOKEN."
            ),
        },
        "security": [{}, {"token": []}],
        "paths": {each.path: {"get": _operation(each)} for each in routes},
        "components": {
            "schemas": components([*kinds, ProblemAnswer]),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: Route) -> JsonObject:
    parameters: list[JsonObject] = [
        {"name": name, "in": "path", "required": True, "description": about, "schema": _ID}
        for name, about in _PATH.items()
        if f"{{{name}}}" in route.path
    ]
    parameters += [{"name": name, "in": "query", "schema": _QUERY[name]} for name in route.query]
    media, answers = JSON, {"200": "As it is now."}
    schema: JsonObject
    match route.gives:
        case str(media):
            schema = {"type": "string"}
        case dict(lists):
            each = {name: {"type": "array", "items": _of(kind)} for name, kind in lists.items()}
            schema = {"type": "object", "properties": each, "required": list(each)}
        case kind:
            schema = _of(kind)
            if route.open:
                answers["503"] = "It is not ready."
    return {
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            **{status: _answer(about, media, schema) for status, about in answers.items()},
            "304": {"description": "What If-None-Match names is still so."},
            "default": _answer("Why it is not answered.", _PROBLEM, _of(ProblemAnswer)),
        },
    }


_ID = {"type": "string", "minLength": 1}
_PROBLEM = "application/problem+json"


def _of(kind: Any) -> JsonObject:
    """The schema of a type, whose components are elsewhere."""
    schema: JsonObject = msgspec.json.schema_components([kind], ref_template=REFERENCE)[0][0]
    return schema


def _answer(description: str, media: str, schema: Mapping[str, Any]) -> JsonObject:
    return {"description": description, "content": {media: {"schema": schema}}}


def page(routes: JsonObject) -> bytes:
    """The whole page, UTF-8; ``routes`` as OpenAPI has them."""
    messages = asyncapi()
    title = f"live-rate {messages['info']['version']}: for programs"
    schemas = messages["components"]["schemas"]
    channels = messages["channels"]
    live = channels.pop("live")
    named = [kind.__name__ for kind in _MESSAGES]
    rest = {**schemas, **routes["components"]["schemas"]}
    held = sorted(name for name in rest if name not in named and not name.startswith("Retained"))
    parts = [
        f"# {title}",
        "The same for machines: [asyncapi.json](asyncapi.json), [openapi.json](openapi.json). "
        "What it is about, and clients in Python and JavaScript, stand in the manual: "
        "[for programs](manual/programs).",
        "## Requests",
        routes["info"]["description"],
        _table(
            ("GET", "answers"),
            ((f"`{path}`", get["get"]["summary"]) for path, get in routes["paths"].items()),
        ),
        "## Messages",
        messages["info"]["description"],
        f"Websocket: `{live['address']}`, with these in its query:",
        _fields(live["bindings"]["ws"]["query"]),
        "At a broker, each retained, without `seq`:",
        _table(
            ("topic", "message"),
            (
                (f"`{each['address']}`", *map("`{}`".format, each["messages"]))
                for each in channels.values()
            ),
        ),
        *(_type(name, schemas[name]) for name in named),
        "## What they hold",
        *(_type(name, rest[name]) for name in held),
    ]
    rendered = render("\n\n".join(parts))
    return frame(title, "docs", contents(rendered.headings), rendered.body)


def _type(name: str, schema: JsonObject) -> str:
    return f"### {name}\n\n{schema.get('description', '')}\n\n{_fields(schema)}"


def _fields(schema: JsonObject) -> str:
    return _table(
        ("field", "type", "meaning"),
        (
            (f"`{name}`", _kind(field) + _usual(field), field.get("description", ""))
            for name, field in schema.get("properties", {}).items()
        ),
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; nothing where it has no rows."""
    lines = [" | ".join(each.replace("|", "\\|") for each in row) for row in rows]
    lead = [" | ".join(heads), " | ".join("---" for _ in heads)]
    return "\n".join(f"| {line} |" for line in (*lead, *lines)) if lines else ""


def _kind(schema: JsonObject) -> str:
    """A schema in a few words."""
    match schema:
        case {"$ref": _}:
            name = schema["$ref"].rpartition("/")[2]
            return f"[{name}](#{heading_id(name)})"
        case {"anyOf": kinds}:
            return " or ".join(map(_kind, kinds))
        case {"enum": values}:
            return ", ".join(f"`{each}`" for each in values)
        case {"prefixItems": kinds}:
            return f"[{', '.join(map(_kind, kinds))}]"
        case {"type": "array"}:
            return f"list of {_kind(schema.get('items', {}))}"
        case _:
            return str(schema.get("type", "anything"))


def _usual(schema: JsonObject) -> str:
    """What a field is where a message leaves it out: of one that holds others, all are so."""
    if "default" not in schema:
        return ""
    usual = {} if isinstance(schema["default"], dict) else schema["default"]
    return f" (left out: `{json.dumps(usual)}`)"
