"""JSON Schemas of the types that are sent, with notes about their fields. Pure.

The note of a field is the string literal below it in the source (in the style of PEP
224). Python discards these strings, so they are read from the source. An inherited
field has the note of the base class. If not everyone can see a field, its note says so.
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
    """Return the notes of all fields in a module, by class name and field name."""
    notes_by_class: dict[str, dict[str, str]] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef):
            notes = notes_by_class[node.name] = {}
            for pair in pairwise(node.body):
                match pair:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        notes[name] = " ".join(text.split())
    return notes_by_class


def collect_notes(kind: Kind) -> dict[str, str]:
    """Return the notes of a type's fields, by field name, where there are notes."""
    notes: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        module = inspect.getmodule(base)
        if (
            module is not None
            and base is not msgspec.Struct
            and issubclass(base, msgspec.Struct)
        ):
            notes |= _read_notes(module).get(base.__name__, {})
    return notes


REFERENCE = "#/components/schemas/{name}"
#: Modules with the types whose visibility is added to the notes.
_MODULES = (from_sources, from_clients, figures, alerts, moments, health, to_clients)
_NAMES = ChainMap(*map(vars, _MODULES))
_EVENTS = {value for value in _NAMES.values() if isinstance(value, type)}

_WITHHELD = {
    Visibility.PUBLIC: "Withheld where scores are hidden.",
    Visibility.ARBITER: "Only for arbiters.",
}


def build_components(roots: Iterable[Kind]) -> JsonObject:
    """Return the schemas of the types and of all types in them, by type name."""
    waiting = list(roots)
    _, schemas = msgspec.json.schema_components(waiting, ref_template=REFERENCE)
    described: set[Kind] = set()
    while waiting:
        kind = waiting.pop()
        if kind in described:
            continue
        described.add(kind)
        notes = collect_notes(kind)
        fields = schemas[kind.__name__].get("properties", {})
        for field in msgspec.structs.fields(kind):
            waiting += find_structs(field.type)
            # Only data of the event has different visibilities.
            sight = (
                _WITHHELD.get(find_minimum_visibility(kind, field.name), "")
                if kind in _EVENTS
                else ""
            )
            if text := " ".join(filter(None, (notes.get(field.name, ""), sight))):
                fields[field.encode_name]["description"] = text
    return dict(schemas)


def refer_to(kind: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def add_description(description: str, **schema: Any) -> JsonObject:
    return {**schema, "description": description}


TEXT = {"type": "string", "pattern": SOME_TEXT, "maxLength": MAX_VALUE_CHARS}
#: Query parameters that select games, for the websocket and for requests.
FILTERS = {
    name: add_description(
        f"Only {selection}; can be repeated.", type="array", items=TEXT
    )
    for name, selection in (
        ("game", "these games"),
        ("event", "games of these events"),
        ("player", "games of these players, by name or FIDE id"),
        ("board", "games at these boards"),
    )
}
ID = {"type": "string", "minLength": 1}


def describe_type(kind: Any) -> JsonObject:
    """Return the schema of a type, with references to its components."""
    schema: JsonObject = msgspec.json.schema_components([kind], ref_template=REFERENCE)[
        0
    ][0]
    return schema
