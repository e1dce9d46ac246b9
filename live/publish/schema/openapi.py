"""The published description of the JSON interface: OpenAPI 3.1, made from the types. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

import live
from live.events import GameDetail
from live.publish.http.json_answers import (
    EventsAnswer,
    ExportsAnswer,
    FeedAnswer,
    GameGainsAnswer,
    GamesAnswer,
    HealthAnswer,
    IncidentsAnswer,
    MomentsAnswer,
    PlayerGainsAnswer,
    PlayersAnswer,
    ProblemAnswer,
    StandingsAnswer,
)
from live.publish.schema.asyncapi import REFERENCE, components
from live.publish.stream.stream_filter import MAX_VALUE_CHARS, SOME_TEXT

_UNCHANGED = {"description": "What If-None-Match names is still so."}

_FILTERS = {
    "game": "Only these games",
    "event": "Only games of these events",
    "player": "Only games of these players, by name or FIDE id",
    "board": "Only games at these boards",
}


def _in_path(name: str, description: str) -> dict[str, Any]:
    """A parameter that is a part of the path."""
    return {
        "name": name,
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1},
        "description": description,
    }


_GAME = _in_path("game", "The game's id, percent-encoded.")

_EXPORT = _in_path("export", "The plugin's name.")

_NO_GAME = "There is no such game."

_PLAYER = _in_path("player", "The player's id, percent-encoded.")

_WORDS = {
    "name": "words",
    "in": "query",
    "schema": {"type": "string"},
    "description": "Only incidents that have all these words.",
}

_FORM = {
    "name": "form",
    "in": "query",
    "schema": {"enum": ["eval", "alliot"], "default": "eval"},
    "description": "How scores are written: [%eval …] and [%clk …], or Alliot's braces.",
}


def openapi() -> dict[str, Any]:
    """The whole document."""
    described = components(
        [
            GamesAnswer,
            GameDetail,
            GameGainsAnswer,
            PlayerGainsAnswer,
            PlayersAnswer,
            StandingsAnswer,
            EventsAnswer,
            HealthAnswer,
            IncidentsAnswer,
            MomentsAnswer,
            ExportsAnswer,
            ProblemAnswer,
        ]
    )
    wellness = components([FeedAnswer])
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
        "paths": {
            "/api/v1/events": _get("Events", EventsAnswer),
            "/api/v1/games": _get("Games, without moves and curves", GamesAnswer, _filters()),
            "/api/v1/games/{game}": _get("One game in full", GameDetail, [_GAME], missing=_NO_GAME),
            "/api/v1/games/{game}.pgn": _get(
                "One game as annotated PGN",
                None,
                [_GAME, _FORM],
                missing=_NO_GAME,
                content="application/x-chess-pgn",
            ),
            "/api/v1/games/{game}.png": _get(
                "Its board with both figures, where scores are not hidden",
                None,
                [_GAME],
                missing=_NO_GAME,
                made=True,
                content="image/png",
            ),
            "/api/v1/games/{game}/gains": _get(
                "Both players' gains in one game at 1 cp, beside the engine's",
                GameGainsAnswer,
                [_GAME],
                missing=_NO_GAME,
            ),
            "/api/v1/players/{player}/gains": _get(
                "One player's gains over the event at 1 cp, beside the engine's",
                PlayerGainsAnswer,
                [_PLAYER],
                missing="There is no such player.",
            ),
            "/api/v1/players": _get("Players", PlayersAnswer),
            "/api/v1/standings": _get("Players by strength", StandingsAnswer),
            "/api/v1/health": _get("How feeds and engines are doing", HealthAnswer),
            "/api/v1/incidents": _get(
                "The incident log, for arbiters", IncidentsAnswer, [_WORDS], denied=True
            ),
            "/api/v1/moments": _get("What is worth telling", MomentsAnswer, _filters()),
            "/api/v1/exports": _get("Files that plugins make of the event", ExportsAnswer),
            "/api/v1/exports/{export}": _get(
                "The event as such a file",
                None,
                [_EXPORT],
                missing="There is no such export.",
                made=True,
                content="*/*",
            ),
            "/metrics": _get("Figures of the service, for Prometheus", None, denied=True),
            "/healthz": _well("Whether the service lives"),
            "/readyz": _well("Whether it is ready: 503 where it is not"),
        },
        "components": {
            "schemas": wellness | described,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _filters() -> list[dict[str, Any]]:
    item = {"type": "string", "pattern": SOME_TEXT, "maxLength": MAX_VALUE_CHARS}
    return [
        {
            "name": name,
            "in": "query",
            "schema": {"type": "array", "items": item},
            "description": f"{what}; may be repeated.",
        }
        for name, what in _FILTERS.items()
    ]


def _get(
    summary: str,
    answer: type[msgspec.Struct] | None,
    parameters: list[dict[str, Any]] | None = None,
    *,
    missing: str = "",
    denied: bool = False,
    made: bool = False,
    content: str = "text/plain",
) -> dict[str, Any]:
    parameters = parameters or []
    answers = {"200": _json(answer) if answer else _text(content)}
    answers |= {"304": _UNCHANGED}
    answers |= {"401": _problem("A valid token is needed.")}
    if any(each["in"] == "query" and each is not _WORDS for each in parameters):
        answers |= {"400": _problem("The query cannot be used.")}
    if denied:
        answers |= {"403": _problem("The token does not give this.")}
    if missing:
        answers |= {"404": _problem(missing)}
    if made:
        answers |= {"503": _problem("It cannot be made now.")}
    operation: dict[str, Any] = {"summary": summary, "responses": answers}
    return {"get": operation | ({"parameters": parameters} if parameters else {})}


def _well(summary: str) -> dict[str, Any]:
    schema = {"anyOf": [_reference(HealthAnswer), _reference(FeedAnswer)]}
    answer = {
        "description": "Those without a token learn no more than that.",
        "content": {"application/json": {"schema": schema}},
    }
    return {
        "get": {"summary": summary, "responses": {"200": answer, "304": _UNCHANGED, "503": answer}}
    }


def _reference(kind: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": REFERENCE.format(name=kind.__name__)}


def _json(answer: type[msgspec.Struct]) -> dict[str, Any]:
    return {
        "description": "As it is now.",
        "content": {"application/json": {"schema": _reference(answer)}},
    }


def _text(content_type: str) -> dict[str, Any]:
    return {
        "description": "As it is now.",
        "content": {content_type: {"schema": {"type": "string"}}},
    }


def _problem(what: str) -> dict[str, Any]:
    return {
        "description": what,
        "content": {"application/problem+json": {"schema": _reference(ProblemAnswer)}},
    }
