"""What answers say to caches on the way, and their form by gzip."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx

from live.config import ServerConfig
from live.publish.access import new_token
from live.publish.answers import HttpRequest, MetricCounts
from live.publish.routes import HttpRoutes, PackedBodies
from live.publish.server import Publisher
from live.publish.static_files import StaticSite
from tests.publish.http.test_http_routes import serving, site, world
from tests.publish.world import World

__all__ = ["site", "world"]  # fixtures


async def test_answers_come_by_gzip_to_those_who_take_it(world: World, site: StaticSite) -> None:
    async with serving(world, site) as (_, client):
        plain = await client.get("/api/v1/players", headers={"Accept-Encoding": "identity"})
        packed = await client.get("/api/v1/players", headers={"Accept-Encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.content == plain.content
        assert int(packed.headers["content-length"]) < len(plain.content) / 2
        # Two forms, two tags; a cache keeps them apart.
        assert packed.headers["etag"] != plain.headers["etag"]
        assert "Accept-Encoding" in plain.headers["vary"]
        for told in (plain, packed):
            again = await client.get(
                "/api/v1/players",
                headers={
                    "Accept-Encoding": told.headers.get("content-encoding", "identity"),
                    "If-None-Match": told.headers["etag"],
                },
            )
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == told.headers["etag"]
            assert "content-encoding" not in again.headers


def test_what_is_asked_for_again_is_packed_once_and_what_is_kept_is_bounded() -> None:
    bodies = {name: name.encode() * 1_000 for name in "abc"}
    packed = PackedBodies(most_bytes=2 * len(PackedBodies().packed("a", bodies["a"])))
    first = {name: packed.packed(name, bodies[name]) for name in "ab"}
    assert gzip.decompress(first["a"]) == bodies["a"]
    assert packed.packed("a", bodies["a"]) is first["a"]
    # There is room for two: for the third goes the one that was used longest ago.
    packed.packed("c", bodies["c"])
    assert packed.packed("a", bodies["a"]) is first["a"]
    assert packed.packed("b", bodies["b"]) is not first["b"]


def test_an_answer_that_has_not_changed_is_packed_once(world: World, site: StaticSite) -> None:
    routes = HttpRoutes(world, site, MetricCounts())
    request = HttpRequest("GET", "/api/v1/games/g1", (), {"accept-encoding": "gzip"})
    while len(routes.answer(HttpRequest("GET", "/api/v1/games/g1", (), {})).body) < 2_000:
        world.move("g1")
    one = routes.answer(request)
    assert ("Content-Encoding", "gzip") in one.headers
    assert routes.answer(request).body is one.body
    world.move("g1")
    changed = routes.answer(request)
    assert gzip.decompress(changed.body) != gzip.decompress(one.body)


async def test_caches_may_keep_for_a_moment_what_everybody_gets(
    world: World, site: StaticSite, tmp_path: Path
) -> None:
    async with serving(world, site) as (_, client):
        for path, for_s in (("/api/v1/games", 1), ("/api/v1/games/g1.pgn", 1), ("/", 10)):
            told = await client.get(path)
            assert told.headers["cache-control"] == f"public, max-age=0, s-maxage={for_s}"
            again = await client.get(path, headers={"If-None-Match": told.headers["etag"]})
            assert again.headers["cache-control"] == told.headers["cache-control"]
        for path in ("/healthz", "/asyncapi.json"):
            assert (await client.get(path)).headers["cache-control"] == "no-cache"
        assert (await client.get("/metrics")).headers["cache-control"] == "no-store"
        # What fails now may work in a moment.
        assert (await client.get("/api/v1/games/none")).headers["cache-control"] == "no-store"


async def test_no_cache_keeps_what_a_token_shows(
    world: World, site: StaticSite, tmp_path: Path
) -> None:
    file = tmp_path / "tokens.toml"
    token, entry = new_token("arbiter", lambda size: b"a" * size, arbiter=True)
    file.write_text(entry)
    config = ServerConfig(port=0, tokens_file=str(file), public=True)
    async with Publisher(config, world, site=site) as publisher:
        client = httpx.AsyncClient(base_url=publisher.url, trust_env=False)
        async with client:
            with_token = {"Authorization": f"Bearer {token}"}
            told = await client.get("api/v1/games", headers=with_token)
            assert told.headers["cache-control"] == "no-cache"
            public = await client.get("api/v1/games")
            assert public.headers["cache-control"].startswith("public")
            assert "Authorization" in public.headers["vary"]
