"""JSON Schema of the types that go out, with notes and who sees what. Pure.

A field's note is the string below it in the source (PEP 224's form, which Python itself
throws away), and that of an inherited field is its base's.
"""

from __future__ import annotations

import ast
import inspect
from collections import ChainMap
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import Any

import msgspec

from live.messages import (
    alerts,
    figures,
    from_clients,
    from_sources,
    health,
    moments,
    to_clients,
)
from live.server.stream_filter import MAX_VALUE_CHARS, SOME_TEXT
from live.server.visibility import (
    Kind,
    Visibility,
    find_minimum_visibility,
    find_structs,
)

JsonObject = dict[str, Any]


@cache
def _read_notes(module: ModuleType) -> dict[str, dict[str, str]]:
    """Read the notes of all fields of a module's classes."""
    found: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            notes = found[node.name] = {}
            for pair in pairwise(node.body):
                match pair:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        notes[name] = " ".join(text.split())
    return found


def collect_notes(kind: Kind) -> dict[str, str]:
    """Return the notes of a type's fields, by name; a field without one is left out."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        module = inspect.getmodule(base)
        if (
            module is not None
            and base is not msgspec.Struct
            and issubclass(base, msgspec.Struct)
        ):
            found |= _read_notes(module).get(base.__name__, {})
    return found


REFERENCE = "#/components/schemas/{name}"
#: Modules whose types are described to programs.
_MODULES = (from_sources, from_clients, figures, alerts, moments, health, to_clients)
_NAMES = ChainMap(*map(vars, _MODULES))
_EVENTS = {each for each in _NAMES.values() if isinstance(each, type)}

_WITHHELD = {
    Visibility.PUBLIC: "Withheld from venues.",
    Visibility.ARBITER: "For arbiters alone.",
}


def build_components(roots: Iterable[Kind]) -> JsonObject:
    """Build the schemas of the types and of all they hold, by name."""
    waiting = list(roots)
    _, found = msgspec.json.schema_components(waiting, ref_template=REFERENCE)
    seen: set[Kind] = set()
    while waiting:
        kind = waiting.pop()
        if kind in seen:
            continue
        seen.add(kind)
        said = collect_notes(kind)
        fields = found[kind.__name__].get("properties", {})
        for field in msgspec.structs.fields(kind):
            waiting += find_structs(field.type)
            # Visibility is about what happens in the event, not about our own tables.
            sight = (
                _WITHHELD.get(find_minimum_visibility(kind, field.name), "")
                if kind in _EVENTS
                else ""
            )
            if text := " ".join(filter(None, (said.get(field.name, ""), sight))):
                fields[field.encode_name]["description"] = text
    return dict(found)


def refer_to(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def describe(description: str, **schema: Any) -> JsonObject:
    return {**schema, "description": description}


TEXT = {"type": "string", "pattern": SOME_TEXT, "maxLength": MAX_VALUE_CHARS}
#: Parameters of queries, of the websocket's and of requests.
FILTERS = {
    name: describe(f"Only {what}; may be repeated.", type="array", items=TEXT)
    for name, what in (
        ("game", "these games"),
        ("event", "games of these events"),
        ("player", "games of these players, by name or FIDE id"),
        ("board", "games at these boards"),
    )
}
ID = {"type": "string", "minLength": 1}


def describe_type(kind: Any) -> JsonObject:
    """Return the schema of a type, whose components are elsewhere."""
    schema: JsonObject = msgspec.json.schema_components([kind], ref_template=REFERENCE)[
        0
    ][0]
    return schema
