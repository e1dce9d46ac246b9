"""The readable page of the published descriptions: ``/docs``. Pure, made from the documents.

No script and nothing from elsewhere; the one style sheet is allowed by its digest.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from html import escape
from typing import Any

from live.publish.schema.asyncapi import asyncapi
from live.publish.schema.openapi import openapi

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1.5rem; }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0;
         border-bottom: 1px solid #8884; }
code { font: .9em ui-monospace, monospace; }
h3 { margin-bottom: 0; }
p { max-width: 46rem; }
"""

_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@cache
def page() -> bytes:
    """The whole page, UTF-8."""
    return "".join(_page(asyncapi(), openapi())).encode()


def _page(messages: dict[str, Any], routes: dict[str, Any]) -> Iterator[str]:
    title = f"live-rate {messages['info']['version']}"
    yield '<!doctype html><html lang="en"><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>{escape(title)}: for programs</title><style>{_STYLE}</style>"
    yield f"<h1>{escape(title)}: for programs</h1>"
    yield '<p>The same for machines: <a href="asyncapi.json">asyncapi.json</a>, '
    yield '<a href="openapi.json">openapi.json</a>.</p>'
    yield f"<h2>Requests</h2><p>{escape(routes['info']['description'])}</p>"
    yield "<table><tr><th>GET</th><th>answers</th><th>with</th></tr>"
    for path, methods in routes["paths"].items():
        operation = methods["get"]
        yield f"<tr><td><code>{escape(path)}</code></td><td>{escape(operation['summary'])}</td>"
        yield f"<td>{_content(operation['responses']['200'])}</td></tr>"
    yield "</table><h2>Messages</h2>"
    yield f"<p>{escape(messages['info']['description'])}</p>"
    live = messages["channels"]["live"]
    yield f"<p>Websocket: <code>{escape(live['address'])}</code>, with these in its query:</p>"
    yield from _fields(live["bindings"]["ws"]["query"])
    yield "<p>At a broker, each retained, without <code>seq</code>:</p>"
    yield "<table><tr><th>topic</th><th>message</th></tr>"
    for channel in messages["channels"].values():
        if channel is not live:
            (name,) = channel["messages"]
            yield f"<tr><td><code>{escape(channel['address'])}</code></td>"
            yield f"<td><code>{escape(name)}</code></td></tr>"
    yield "</table>"
    schemas = messages["components"]["schemas"]
    named = {}
    for name in live["messages"]:
        schema = _target(messages["components"]["messages"][name]["payload"])
        named[schema] = name
    for schema, name in named.items():
        yield from _type(schema, f"<code>{escape(name)}</code>", schemas[schema])
    yield "<h2>What they hold</h2>"
    rest = {**schemas, **routes["components"]["schemas"]}
    for name in sorted(rest):
        if name not in named and not name.startswith("Retained"):
            yield from _type(name, escape(name), rest[name])


def _type(anchor: str, heading: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f'<h3 id="{escape(anchor)}">{heading}</h3>'
    for paragraph in schema.get("description", "").split("\n\n"):
        yield f"<p>{escape(' '.join(paragraph.split()))}</p>"
    yield from _fields(schema)


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    if not schema.get("properties"):
        return
    yield "<table><tr><th>field</th><th>type</th><th></th></tr>"
    for name, field in schema["properties"].items():
        yield f"<tr><td><code>{escape(name)}</code></td><td>{_kind(field)}</td>"
        yield f"<td>{escape(field.get('description', ''))}</td></tr>"
    yield "</table>"


def _kind(schema: dict[str, Any]) -> str:
    """A schema in a few words, as HTML."""
    if "$ref" in schema:
        name = escape(_target(schema))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_kind, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(each))}</code>" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return escape(schema.get("type", "anything"))


def _content(response: dict[str, Any]) -> str:
    (content,) = response["content"].items()
    kind, media = content
    return _kind(media["schema"]) if kind == "application/json" else escape(kind)


def _target(reference: dict[str, Any]) -> str:
    return str(reference["$ref"]).rsplit("/", 1)[1]
