"""The readable page of the published descriptions: ``/docs``. Pure, made from the documents and
from the manual's examples, in the manual's look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from live.manual.html import Heading, contents, frame, render
from live.manual.pages import manual_page
from live.publish.schema.asyncapi import asyncapi

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
    yield _table(("GET", "answers", "with"), rows)


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
    yield _table(("topic", "message"), rows)


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
        yield _table(("field", "type", "meaning"), rows)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
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
