"""Every route over a real socket, validated against the published description."""

from __future__ import annotations

import datetime as dt
import json
from itertools import product
from pathlib import Path
from urllib.parse import quote

import httpx
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from live.config import ServerConfig
from live.events import FeedHealth, SnapshotMessage
from live.publish import board_picture
from live.publish.access import Authentication, Tokens, new_token
from live.publish.answers import HttpRequest, HttpResponse, MetricCounts
from live.publish.event_exports import ExportedFile
from live.publish.routes import HttpRoutes, openapi
from live.publish.server import Publisher
from live.publish.static_files import StaticSite
from live.publish.visibility import EVERYTHING
from tests.publish.validation import as_json, problems
from tests.publish.world import GAMES, World

DOCUMENT = as_json(openapi())
NOBODY = "nobody"


def busy_world(seed: int = 4) -> World:
    world = World(seed)
    for _ in range(300):
        world.step()
    for game in GAMES:
        if game not in world.held:
            world.appear(game)
    # Whatever happened last, it is ready to serve.
    world.feed_health = (FeedHealth("demo", "live"),)
    return world


class Exports:
    """One download, made at once."""

    exports = ("table",)

    async def export(self, name: str, event: SnapshotMessage) -> ExportedFile:
        return ExportedFile("text/csv", b"a,b")


async def picture(svg: str) -> bytes:
    return b"\x89PNG"


def targets(path: str) -> list[str]:
    """The path with real ids, with an unknown one, and with queries, good and bad."""
    players = [view.id for view in busy_world().players()]
    made = [
        path.replace("{game}", quote(game, safe="")).replace("{player}", quote(player, safe=""))
        for game, player in product((*GAMES, NOBODY), (*players, NOBODY))
    ]
    made = [each.replace("{export}", name) for each in made for name in (*Exports.exports, NOBODY)]
    parameters = DOCUMENT["paths"][path]["get"].get("parameters", ())
    queries = [""]
    for parameter in parameters:
        if parameter["in"] == "query":
            good = parameter["schema"].get("enum", ["g1"])
            queries += [f"?{parameter['name']}={value}" for value in (*good, "")]
    return [f"{target}{query}" for target in dict.fromkeys(made) for query in queries]


def complaints(path: str, response: HttpResponse | httpx.Response, body: bytes) -> list[str]:
    """What of an answer the document does not say."""
    if isinstance(response, HttpResponse):
        status, kind = response.status, dict(response.headers).get("Content-Type", "")
    else:
        status, kind = response.status_code, response.headers.get("content-type", "")
    described = DOCUMENT["paths"][path]["get"]["responses"].get(str(status))
    if described is None:
        return [f"{status} is not described"]
    if "content" not in described:
        return [] if not body else ["a body is not described"]
    media = described["content"].get(kind.split(";")[0]) or described["content"].get("*/*")
    if media is None:
        return [f"{kind} is not described"]
    if "json" not in kind:
        return [] if body else ["no body"]

    return problems(json.loads(body), media["schema"], DOCUMENT)


@pytest.mark.parametrize("path", DOCUMENT["paths"])
async def test_every_route_answers_as_described(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_picture, "drawn", picture)
    monkeypatch.setattr(board_picture, "board_svg", lambda game: "")
    token, entry = new_token("all", lambda size: b"a" * size, arbiter=True, metrics=True)
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(entry, encoding="utf-8")
    config = ServerConfig(port=0, tokens_file=str(tokens))
    site = StaticSite(Path("/nowhere"))
    async with Publisher(config, busy_world(), site=site, exports=Exports()) as publisher:
        base = publisher.url.rstrip("/")
        bearer = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(base_url=base, trust_env=False, headers=bearer) as client:
            seen = set()
            for target in targets(path):
                told = await client.get(target)
                assert not complaints(path, told, told.content), target
                seen.add(told.status_code)
                if tag := told.headers.get("etag"):
                    again = await client.get(target, headers={"If-None-Match": tag})
                    if again.status_code == 304:  # metrics may have changed meanwhile
                        assert not complaints(path, again, again.content)
            described = set(map(int, DOCUMENT["paths"][path]["get"]["responses"]))
            assert seen >= described & {200, 400, 404}, "something described never happens"


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_without_a_token_it_is_as_described(path: str) -> None:
    routes = HttpRoutes(busy_world(), StaticSite(Path("/nowhere")), MetricCounts())
    for target in targets(path):
        request = HttpRequest("GET", target.split("?")[0], (), {})
        response = routes.answer(request, None)
        assert not complaints(path, response, response.body)


@pytest.mark.slow
@given(
    path=st.text("/abcdefghijklmnopqrstuvwxyz.%0123456789 \0é", max_size=30)
    | st.sampled_from([path.replace("{game}", "g1") for path in DOCUMENT["paths"]]),
    query=st.lists(
        st.tuples(
            st.sampled_from(["game", "event", "player", "type", "form", "token", "auth"])
            | st.text(max_size=5),
            st.text(max_size=250),
        ),
        max_size=70,
    ),
    method=st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "X"]),
    headers=st.dictionaries(
        st.sampled_from(["authorization", "if-none-match", "origin", "range", "accept"]),
        st.text(st.characters(codec="latin-1"), max_size=40),
    ),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_no_request_fails_and_every_refusal_is_a_problem(
    path: str, query: list[tuple[str, str]], method: str, headers: dict[str, str]
) -> None:
    routes = HttpRoutes(WORLD, StaticSite(Path("/nowhere")), MetricCounts())
    request = HttpRequest(method, "/" + path.lstrip("/"), tuple(query), headers)
    for guard in (OPEN, CLOSED):
        guest = guard.who(request)
        response = routes.answer(request, guest.limit(EVERYTHING) if guest else None)
        assert response.status in (200, 304, 400, 401, 403, 404, 405)
        if response.status >= 400:
            schema = {"$ref": "#/components/schemas/ProblemAnswer"}
            assert not problems(json.loads(response.body), schema, DOCUMENT)


WORLD = busy_world()
NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
OPEN = Authentication(None, public=False, hide_scores=False, now=lambda: NOON)
CLOSED = Authentication(Tokens(), public=False, hide_scores=False, now=lambda: NOON)


@pytest.mark.slow
def test_schemas_are_schemas() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_a_spoilt_answer_does_not_pass() -> None:
    schema = {"$ref": "#/components/schemas/ProblemAnswer"}
    good = {"status": 404, "title": "Not Found", "detail": "nothing is there"}
    assert not problems(good, schema, DOCUMENT)
    assert problems({**good, "more": 1}, schema, DOCUMENT)
    assert problems({**good, "status": "404"}, schema, DOCUMENT)
    assert problems({"status": 404}, schema, DOCUMENT)
