"""Real answers against the published schemas, strictly: nothing undescribed may be sent."""

from __future__ import annotations

import json
from typing import Any

from jsonschema import Draft202012Validator


def problems(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """What of the schema, whose references lead into ``document``, does not hold."""
    closed = _closed({"$ref": "#/schema", "schema": schema, "components": document["components"]})
    found = Draft202012Validator(closed).iter_errors(value)
    return [f"{error.json_path}: {error.message[:300]}" for error in found]


def _closed(schema: Any) -> Any:
    """A copy in which no object may hold more than its properties."""
    if isinstance(schema, dict):
        copy = {name: _closed(each) for name, each in schema.items()}
        if isinstance(schema.get("properties"), dict) and "type" in schema:
            copy.setdefault("additionalProperties", False)
        return copy
    return [_closed(each) for each in schema] if isinstance(schema, list) else schema


def as_json(document: dict[str, Any]) -> dict[str, Any]:
    """The document as it is sent."""
    sent: dict[str, Any] = json.loads(json.dumps(document))
    return sent
