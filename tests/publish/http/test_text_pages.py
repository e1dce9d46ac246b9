"""The manual and ``/docs`` as they are served: to everybody, packed, under the site's policy."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from live.config import ServerConfig
from live.manual.pages import PICTURES, TOPICS
from live.publish.server import Publisher
from live.publish.static_files import POLICY, text_page
from tests.publish.world import World


def test_every_page_and_picture_has_its_address() -> None:
    for path in ("/manual/", *(f"/manual/{topic}" for topic in TOPICS)):
        page = text_page(path)
        assert page is not None
        assert page.content_type == "text/html; charset=utf-8"
        assert page.body.startswith(b"<!doctype html>")
    for name in PICTURES:
        page = text_page(f"/manual/{name}")
        assert page is not None
        assert page.content_type == "image/png"


@pytest.mark.parametrize(
    "path", ["/manual", "/manual/none", "/manual/../cli", "/manual/html.py", "/manual/arbiter.md"]
)
def test_nothing_else_is_there(path: str) -> None:
    assert text_page(path) is None


async def test_they_are_for_everybody_also_where_a_token_is_needed(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text("")
    config = ServerConfig(port=0, tokens_file=str(tokens))
    async with (
        Publisher(config, World()) as publisher,
        httpx.AsyncClient(base_url=publisher.url, trust_env=False) as client,
    ):
        assert (await client.get("api/v1/games")).status_code == 401
        for path in ("docs", "manual/", "manual/glossary"):
            answer = await client.get(path)
            assert answer.status_code == 200
            assert answer.headers["content-encoding"] == "gzip"
            assert answer.headers["content-security-policy"] == POLICY
            again = await client.get(path, headers={"If-None-Match": answer.headers["etag"]})
            assert again.status_code == 304
        # Links between the pages count from the folder.
        bare = await client.get("manual")
        assert (bare.status_code, bare.headers["location"]) == (308, "manual/")
        assert (await client.get("manual", follow_redirects=True)).status_code == 200
        assert (await client.get("manual/none")).status_code == 401
