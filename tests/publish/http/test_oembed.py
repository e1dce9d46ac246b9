"""oEmbed answers, and who may frame the pages."""

from __future__ import annotations

from pathlib import Path

import httpx
import msgspec
import pytest

from live.config import ServerConfig, load_config
from live.errors import ConfigError
from live.publish.http.oembed import HEIGHT, WIDTH, oembed
from live.publish.server import Publisher
from tests.publish.world import World

ROOT = "https://chess.example:8443/"


def test_an_overlay_is_framed_as_it_was_asked_for() -> None:
    found = oembed(f"{ROOT}overlay?layout=board&board=1", ROOT)
    assert found is not None
    assert (found.version, found.type) == ("1.0", "rich")
    assert (found.width, found.height) == (WIDTH, HEIGHT)
    assert f'src="{ROOT}overlay?layout=board&amp;board=1"' in found.html


@pytest.mark.parametrize(
    ("most_width", "most_height"), [(480, 9000), (9000, 270), (1, 1), (960, 540)]
)
def test_no_larger_than_there_is_room(most_width: int, most_height: int) -> None:
    found = oembed(f"{ROOT}overlay", ROOT, most_width, most_height)
    assert found is not None
    assert found.width <= most_width and found.height <= most_height
    assert f'width="{found.width}" height="{found.height}"' in found.html


def test_a_strip_is_low() -> None:
    found = oembed(f"{ROOT}overlay?layout=ticker", ROOT)
    assert found is not None and found.height == 60


def test_no_token_gets_out_and_no_markup_in() -> None:
    found = oembed(f'{ROOT}overlay?token=secret&player="><script>x</script>', ROOT)
    assert found is not None
    assert "secret" not in found.html and "<script" not in found.html


@pytest.mark.parametrize(
    "url",
    ["", "overlay", "https://else.example/overlay", f"{ROOT}", f"{ROOT}api/v1/games", "https://[x"],
)
def test_other_addresses_are_not_ours(url: str) -> None:
    assert oembed(url, ROOT) is None


async def test_sites_are_answered_and_those_listed_may_frame() -> None:
    config = ServerConfig(port=0, frames=("https://club.example",))
    async with Publisher(config, World(1)) as publisher:
        client = httpx.AsyncClient(base_url=publisher.url, trust_env=False)
        async with client:
            asked = {"url": f"{publisher.url}overlay?layout=bar", "maxwidth": "480"}
            answer = await client.get("oembed", params=asked)
            assert answer.status_code == 200
            assert answer.json()["width"] == 480
            for wrong, status in (
                ({"url": "https://else.example/overlay"}, 404),
                ({"maxwidth": "-1"}, 400),
                ({"maxwidth": "0"}, 400),
                ({"maxheight": "a"}, 400),
                ({"format": "xml"}, 501),
            ):
                assert (await client.get("oembed", params=asked | wrong)).status_code == status
            policy = (await client.get("overlay")).headers["content-security-policy"]
            assert policy.endswith("frame-ancestors 'self' https://club.example")
            publisher.reconfigure(msgspec.structs.replace(config, frames=()))
            policy = (await client.get("overlay")).headers["content-security-policy"]
            assert policy.endswith("frame-ancestors 'self'")


@pytest.mark.parametrize("frame", ["https://a.b; script-src *", "null", "club.example", "*"])
def test_what_is_no_origin_is_refused(tmp_path: Path, frame: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[server]\nframes = ["{frame}"]\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="a list of origins"):
        load_config(file, {}, {})
