"""JSON Schema of the types that go out, with notes and who sees what. Pure.

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

from live import events
from live.publish.visibility import Visibility, seen_from


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
