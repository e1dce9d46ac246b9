"""Pages from a folder: pressed for those who take it, tagged, and no other file served."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from live.publish.answers import HttpRequest, HttpResponse, MetricCounts
from live.publish.routes import HttpRoutes
from live.publish.static_files import OVERLAY, StaticSite, takes_gzip, without_comments
from tests.publish.world import World

#: The largest part of what a page takes for its first curve; made small by its makers already.
SCRIPT = "vendor/uplot/uPlot.iife.min.js"


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip, deflate, br, zstd", True),
        ("br;q=1.0, GZIP;q=0.8", True),
        ("*", True),
        ("*;q=0.5, br", True),
        ("", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("br, deflate", False),
        ("x-gzip2", False),
    ],
)
def test_gzip_is_sent_to_those_who_take_it(accepted: str, takes: bool) -> None:
    assert takes_gzip(accepted) is takes


def get(path: str, **headers: str) -> HttpResponse:
    routes = HttpRoutes(World(1), StaticSite(), MetricCounts())
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return routes.answer(HttpRequest("GET", path, (), named))


def test_a_pressed_page_is_the_page_in_fewer_bytes() -> None:
    plain = get(f"/static/{SCRIPT}")
    pressed = get(f"/static/{SCRIPT}", accept_encoding="gzip")
    headers, plain_headers = dict(pressed.headers), dict(plain.headers)
    assert headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain_headers
    assert headers["Content-Type"] == plain_headers["Content-Type"]
    assert headers["Vary"] == plain_headers["Vary"] == "Accept-Encoding"
    assert gzip.decompress(pressed.body) == plain.body == (OVERLAY / SCRIPT).read_bytes()
    assert len(pressed.body) < 0.5 * len(plain.body)


def test_both_forms_have_tags_of_their_own_that_hold_until_the_file_changes(
    tmp_path: Path,
) -> None:
    script = tmp_path / "app.js"
    script.write_text("let x = 1;\n" * 200)
    tags = set()
    for accepted in ("gzip", "identity"):
        routes = HttpRoutes(World(1), StaticSite(tmp_path), MetricCounts())

        def ask(
            held: str = "", routes: HttpRoutes = routes, accepted: str = accepted
        ) -> HttpResponse:
            headers = {"accept-encoding": accepted, "if-none-match": held}
            return routes.answer(HttpRequest("GET", "/static/app.js", (), headers))

        tag = dict(ask().headers)["ETag"]
        again = ask(tag)
        assert again.status == 304
        assert again.body == b""
        assert "Content-Encoding" not in dict(again.headers)
        # A service that was restarted tags the same file the same.
        assert dict(ask().headers)["ETag"] == tag
        tags.add(tag)
    assert len(tags) == 2
    script.write_text("let x = 2; // another\n" * 200)
    fresh = HttpRoutes(World(1), StaticSite(tmp_path), MetricCounts())
    for tag in tags:
        headers = {"accept-encoding": "gzip", "if-none-match": tag}
        assert fresh.answer(HttpRequest("GET", "/static/app.js", (), headers)).status == 200


def test_what_is_small_or_packed_already_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "small.js").write_text("let x = 1;")
    (tmp_path / "picture.png").write_bytes(bytes(5000))
    for name in ("small.js", "picture.png"):
        page = StaticSite(tmp_path).page(f"/static/{name}")
        assert page is not None
        assert page.gzipped is None


def test_scripts_and_styles_go_out_without_comments_and_keep_their_lines() -> None:
    text = (
        b"/** What it is. */\nconst a = 1; // one\n/*\n * More.\n */\n// last\nb(`/* no */ //`);\n"
    )
    assert without_comments(text) == b"\nconst a = 1; // one\n\n\n\n\nb(`/* no */ //`);\n"


def test_no_comment_begins_within_a_text_of_several_lines() -> None:
    """A line that looks like a comment there would be lost."""
    own = [path for path in OVERLAY.rglob("*.js") if "vendor" not in path.parts]
    assert len(own) > 50
    for path in own:
        text = path.read_bytes()
        served = without_comments(text)
        assert served.count(b"\n") == text.count(b"\n")
        inside = False
        for line, kept in zip(text.splitlines(), served.splitlines(), strict=True):
            assert not inside or line == kept, f"{path}: {line!r}"
            inside ^= kept.count(b"`") % 2 == 1
        assert not inside, path
