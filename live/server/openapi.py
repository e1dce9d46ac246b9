"""The OpenAPI 3.1 description of the routes, generated from their table. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

import live
from live.server.http_values import JSON, ProblemAnswer
from live.server.json_schemas import (
    FILTERS,
    ID,
    TEXT,
    JsonObject,
    add_description,
    build_components,
    describe_type,
)
from live.server.route_table import Route
from live.server.visibility import Kind, find_structs
from live.watch.words import LANGUAGES

_QUERY = {
    **FILTERS,
    "words": add_description("Only incidents that contain all these words.", **TEXT),
    "round": add_description(
        "A round, as its games name it; 4 also selects 4.12 and Round 4.", type="string"
    ),
    "lang": add_description("The language; en by default.", enum=LANGUAGES),
}
_PATH = {"game": "The game's id, percent-encoded."}


def describe_routes(routes: Sequence[Route]) -> JsonObject:
    """Return the OpenAPI description of these routes."""
    kinds: list[Kind] = []
    for route in routes:
        is_list = isinstance(route.gives, dict)
        for kind in route.gives.values() if is_list else [route.gives]:
            kinds += find_structs(kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "live-rate",
            "version": live.__version__,
            "description": (
                "The present state, as JSON. Every answer has an ETag: with it in "
                "If-None-Match, an unchanged answer comes without its body. If the "
                "service uses tokens, send one as Authorization: Bearer TOKEN."
            ),
        },
        "security": [{}, {"token": []}],
        "paths": {route.path: {"get": _describe_operation(route)} for route in routes},
        "components": {
            "schemas": build_components([*kinds, ProblemAnswer]),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe_operation(route: Route) -> JsonObject:
    parameters: list[JsonObject] = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": about,
            "schema": ID,
        }
        for name, about in _PATH.items()
        if f"{{{name}}}" in route.path
    ]
    parameters += [
        {"name": name, "in": "query", "schema": _QUERY[name]} for name in route.query
    ]
    media = JSON
    answers = {"200": "The present state."}
    schema: JsonObject
    match route.gives:
        case str(media):
            schema = {"type": "string"}
        case dict(lists):
            properties = {
                name: {"type": "array", "items": describe_type(kind)}
                for name, kind in lists.items()
            }
            schema = {
                "type": "object",
                "properties": properties,
                "required": list(properties),
            }
        case kind:
            schema = describe_type(kind)
            if route.open:
                answers["503"] = "The service is not ready."
    return {
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            **{
                status: _describe_answer(about, media, schema)
                for status, about in answers.items()
            },
            "304": {"description": "Unchanged: the ETag in If-None-Match is current."},
            "default": _describe_answer(
                "The reason why the request failed.",
                _PROBLEM,
                describe_type(ProblemAnswer),
            ),
        },
    }


_PROBLEM = "application/problem+json"


def _describe_answer(
    description: str, media: str, schema: Mapping[str, Any]
) -> JsonObject:
    return {"description": description, "content": {media: {"schema": schema}}}
