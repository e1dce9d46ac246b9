"""The published description of the messages: AsyncAPI 3, made from the types. Pure.

JSON Schema of the types that go out, with notes and who sees what.

A field's note is the string below it in the source (PEP 224's form, which Python itself throws
away), and that of an inherited field is its base's.

The readable page of the published descriptions: ``/docs``. Pure, made from the documents and
from the manual's examples, in the manual's look.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from html import escape
from types import ModuleType
from typing import TYPE_CHECKING, Any

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
from live.manual.html import Heading, contents, frame, render
from live.manual.pages import manual_page
from live.publish.answers import JSON, ProblemAnswer
from live.publish.broker import BrokerStatus
from live.publish.connection import LIVE_PATH
from live.publish.visibility import (
    CHANGE_TYPES,
    MAX_VALUE_CHARS,
    SOME_TEXT,
    Visibility,
    seen_from,
    structs_in,
)
from live.publish.wire import PROTOCOL, CloseCode

if TYPE_CHECKING:
    from live.publish.routes import Route


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


def _held(kinds: Iterable[Any]) -> set[type[msgspec.Struct]]:
    """All types of Struct within these."""
    seen: set[type[msgspec.Struct]] = set()
    waiting = [found for kind in kinds for found in structs_in(kind)]
    while waiting:
        if (kind := waiting.pop()) not in seen:
            seen.add(kind)
            for field in msgspec.structs.fields(kind):
                waiting.extend(structs_in(field.type))
    return seen


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
    :func:`live.publish.broker.level`.
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


def _texts(what: str) -> dict[str, Any]:
    item = {"type": "string", "pattern": SOME_TEXT, "maxLength": MAX_VALUE_CHARS}
    return {"type": "array", "items": item, "description": f"{what}; may be repeated."}


#: Parameters of queries, of the websocket's and of requests.
_FILTERS = {
    "game": _texts("Only these games"),
    "event": _texts("Only games of these events"),
    "player": _texts("Only games of these players, by name or FIDE id"),
    "board": _texts("Only games at these boards"),
}


def _query() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            **_FILTERS,
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


_QUERY = {
    **_FILTERS,
    "words": {"type": "string", "description": "Only incidents that have all these words."},
    "form": {
        "enum": ["eval", "alliot"],
        "default": "eval",
        "description": "How scores are written: [%eval …] and [%clk …], or Alliot's braces.",
    },
}
_PATH = {
    "game": "The game's id, percent-encoded.",
    "player": "The player's id, percent-encoded.",
    "export": "The plugin's name.",
}


def openapi(routes: Sequence[Route]) -> dict[str, Any]:
    """The whole description of what answers requests: OpenAPI 3.1."""
    kinds = [found for each in routes for found in structs_in(each.gives)]
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


def _operation(route: Route) -> dict[str, Any]:
    parameters = [
        _parameter(name, {"type": "string", "minLength": 1, "description": about}, "path")
        for name, about in _PATH.items()
        if f"{{{name}}}" in route.path
    ]
    missing = "There is nothing of that name." if parameters else ""
    parameters += [_parameter(name, _QUERY[name], "query") for name in route.query]
    kinds = [_reference(kind) for kind in structs_in(route.gives)]
    if len(kinds) > 1:
        known = "Those without a token learn no more than that."
        answers = dict.fromkeys(("200", "503"), _answer(known, JSON, {"anyOf": kinds}))
        problems = {}
    else:
        schema = kinds[0] if kinds else {"type": "string"}
        media = JSON if kinds else str(route.gives)
        answers = {"200": _answer("As it is now.", media, schema)}
        problems = {
            "401": "A valid token is needed.",
            "400": "The query cannot be used." if {*route.query} - {"words"} else "",
            "403": "The token does not give this." if route.denied else "",
            "404": missing,
            "503": "It cannot be made now." if route.made else "",
        }
    answers["304"] = {"description": "What If-None-Match names is still so."}
    for status, why in problems.items():
        if why:
            answers[status] = _answer(why, "application/problem+json", _reference(ProblemAnswer))
    operation: dict[str, Any] = {"summary": route.summary, "responses": answers}
    return operation | ({"parameters": parameters} if parameters else {})


def _parameter(name: str, about: dict[str, Any], where: str) -> dict[str, Any]:
    schema = {key: value for key, value in about.items() if key != "description"}
    found = {"name": name, "in": where, "schema": schema, "description": about["description"]}
    return found | ({"required": True} if where == "path" else {})


def _reference(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": REFERENCE.format(name=kind.__name__)}


def _answer(description: str, media: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {media: {"schema": schema}}}


#: Sections of the manual's page for programs that open this page: what a reader tries first.
EXAMPLES = ("A client in Python", "A client in JavaScript", "Origins")


def page(routes: dict[str, Any]) -> bytes:
    """The whole page, UTF-8; ``routes`` as OpenAPI has them."""
    messages = asyncapi()
    title = f"live-rate {messages['info']['version']}: for programs"
    examples = [render(manual_page("programs").section(each)) for each in EXAMPLES]
    headings = [heading for example in examples for heading in example.headings]
    parts = [
        f"<h1>{escape(title)}</h1>",
        '<p>The same for machines: <a href="asyncapi.json">asyncapi.json</a>, '
        '<a href="openapi.json">openapi.json</a>. What it is about stands in the manual: '
        '<a href="manual/programs">for programs</a>.</p>',
        *(
            example.body.replace('href="operation', 'href="manual/operation')
            for example in examples
        ),
    ]
    headings.append(Heading(2, "requests", "Requests"))
    parts += _requests(routes)
    headings.append(Heading(2, "messages", "Messages"))
    parts += _messages(messages)
    schemas = messages["components"]["schemas"]
    named = {}
    for name in messages["channels"]["live"]["messages"]:
        named[_target(messages["components"]["messages"][name]["payload"])] = name
    for schema, name in named.items():
        headings.append(Heading(3, schema, name))
        parts += _type(schema, f"<code>{escape(name)}</code>", schemas[schema])
    headings.append(Heading(2, "what-they-hold", "What they hold"))
    parts.append('<h2 id="what-they-hold">What they hold</h2>')
    rest = {**schemas, **routes["components"]["schemas"]}
    for name in sorted(rest):
        if name not in named and not name.startswith("Retained"):
            headings.append(Heading(3, name, name))
            parts += _type(name, escape(name), rest[name])
    return frame(title, "docs", contents(headings), "\n".join(parts))


def _requests(routes: dict[str, Any]) -> Iterator[str]:
    yield f'<h2 id="requests">Requests</h2><p>{escape(routes["info"]["description"])}</p>'
    rows = []
    for path, methods in routes["paths"].items():
        operation = methods["get"]
        cells = (
            f"<code>{escape(path)}</code>",
            escape(operation["summary"]),
            _content(operation["responses"]["200"]),
        )
        rows.append(cells)
    yield table(("GET", "answers", "with"), rows)


def _messages(messages: dict[str, Any]) -> Iterator[str]:
    yield f'<h2 id="messages">Messages</h2><p>{escape(messages["info"]["description"])}</p>'
    live = messages["channels"]["live"]
    yield f"<p>Websocket: <code>{escape(live['address'])}</code>, with these in its query:</p>"
    yield from _fields(live["bindings"]["ws"]["query"])
    yield "<p>At a broker, each retained, without <code>seq</code>:</p>"
    rows = []
    for channel in messages["channels"].values():
        if channel is not live:
            (name,) = channel["messages"]
            rows.append(
                (f"<code>{escape(channel['address'])}</code>", f"<code>{escape(name)}</code>")
            )
    yield table(("topic", "message"), rows)


def _type(anchor: str, heading: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f'<h3 id="{escape(anchor)}">{heading}</h3>'
    for paragraph in schema.get("description", "").split("\n\n"):
        yield f"<p>{escape(' '.join(paragraph.split()))}</p>"
    yield from _fields(schema)


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    if schema.get("properties"):
        rows = [
            (f"<code>{escape(name)}</code>", _kind(field), escape(field.get("description", "")))
            for name, field in schema["properties"].items()
        ]
        yield table(("field", "type", "meaning"), rows)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML already; what is wider than the page scrolls by itself."""
    head = "".join(f'<th scope="col">{each}</th>' for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{each}</td>" for each in row) + "</tr>" for row in rows)
    return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words, as HTML."""
    if "$ref" in schema:
        name = escape(_target(schema))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    if "prefixItems" in schema:
        return f"[{', '.join(map(_kind, schema['prefixItems']))}]"
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return escape(schema.get("type", "anything"))


def _content(response: dict[str, Any]) -> str:
    (content,) = response["content"].items()
    kind, media = content
    return _kind(media["schema"]) if kind == "application/json" else escape(kind)


def _target(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rsplit("/", 1)[1]
