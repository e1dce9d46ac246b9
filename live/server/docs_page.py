"""The page ``/docs``, which shows the OpenAPI and AsyncAPI descriptions. Pure.

The page is written in Markdown and has the same design as the manual.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from live.manual.page_html import (
    build_heading_id,
    render_contents,
    render_markdown,
    render_page,
)
from live.server.asyncapi import MESSAGES, describe_messages
from live.server.json_schemas import JsonObject


def render_docs(routes: JsonObject) -> bytes:
    """Return the whole page in UTF-8; ``routes`` is the OpenAPI description."""
    messages = describe_messages()
    title = f"live-rate {messages['info']['version']}: for programs"
    schemas = messages["components"]["schemas"]
    channels = messages["channels"]
    live = channels.pop("live")
    message_names = [kind.__name__ for kind in MESSAGES]
    rest = {**schemas, **routes["components"]["schemas"]}
    other_names = sorted(
        name
        for name in rest
        if name not in message_names and not name.startswith("Retained")
    )
    parts = [
        f"# {title}",
        "The same in machine-readable form: [asyncapi.json](asyncapi.json), "
        "[openapi.json](openapi.json). "
        "The manual explains it, with clients in Python and JavaScript: "
        "[for programs](manual/programs).",
        "## Requests",
        routes["info"]["description"],
        _render_table(
            ("GET", "answers"),
            (
                (f"`{path}`", get["get"]["summary"])
                for path, get in routes["paths"].items()
            ),
        ),
        "## Messages",
        messages["info"]["description"],
        f"Websocket: `{live['address']}`, with these query parameters:",
        _render_fields(live["bindings"]["ws"]["query"]),
        "Topics at an MQTT broker; all messages are retained, without `seq`:",
        _render_table(
            ("topic", "message"),
            (
                (f"`{channel['address']}`", *map("`{}`".format, channel["messages"]))
                for channel in channels.values()
            ),
        ),
        *(_render_type(name, schemas[name]) for name in message_names),
        "## Types in requests and messages",
        *(_render_type(name, rest[name]) for name in other_names),
    ]
    rendered = render_markdown("\n\n".join(parts))
    return render_page(title, "docs", render_contents(rendered.headings), rendered.body)


def _render_type(name: str, schema: JsonObject) -> str:
    return f"### {name}\n\n{schema.get('description', '')}\n\n{_render_fields(schema)}"


def _render_fields(schema: JsonObject) -> str:
    rows = []
    for name, field in schema.get("properties", {}).items():
        kind = _name_kind(field) + _name_default(field)
        rows.append((f"`{name}`", kind, field.get("description", "")))
    return _render_table(("field", "type", "meaning"), rows)


def _render_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; an empty text if it has no rows."""
    lines = [" | ".join(map(_escape_cell, row)) for row in rows]
    lead = [" | ".join(heads), " | ".join("---" for _ in heads)]
    return "\n".join(f"| {line} |" for line in (*lead, *lines)) if lines else ""


def _escape_cell(text: str) -> str:
    return text.replace("|", "\\|")


def _name_kind(schema: JsonObject) -> str:
    """Return the name of a schema's type, in a few words of Markdown."""
    match schema:
        case {"$ref": _}:
            name = schema["$ref"].rpartition("/")[2]
            return f"[{name}](#{build_heading_id(name)})"
        case {"anyOf": kinds}:
            return " or ".join(map(_name_kind, kinds))
        case {"enum": values}:
            return ", ".join(f"`{value}`" for value in values)
        case {"prefixItems": kinds}:
            return f"[{', '.join(map(_name_kind, kinds))}]"
        case {"type": "array"}:
            return f"list of {_name_kind(schema.get('items', {}))}"
        case _:
            return str(schema.get("type", "anything"))


def _name_default(schema: JsonObject) -> str:
    """Return the default of a field, as text; empty without a default.

    Messages leave the field out if it has this value.
    """
    if "default" not in schema:
        return ""
    usual = {} if isinstance(schema["default"], dict) else schema["default"]
    return f" (left out if `{json.dumps(usual)}`)"
