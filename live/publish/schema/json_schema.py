"""JSON Schema of the types that go out, with notes and who sees what. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from live import events
from live.publish.schema.field_notes import notes
from live.publish.visibility import Visibility, seen_from

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
