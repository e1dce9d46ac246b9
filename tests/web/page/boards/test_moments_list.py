"""live/web/page/boards/moments_list.js: the newest first, and every kind has a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from live.events import MomentKind

Pages = Callable[..., Any]


def test_every_kind_has_a_name(pages: Pages) -> None:
    kinds = pages("constant", module="page/boards/moments_list.js", name="KINDS")
    assert set(kinds) == set(get_args(MomentKind))


def test_the_newest_come_first_and_of_unknown_time_those_that_matter(pages: Pages) -> None:
    moments = [
        {"id": "old", "at_s": 10, "weight": 0.9},
        {"id": "unknown", "at_s": None, "weight": 0.4},
        {"id": "matters", "at_s": None, "weight": 0.8},
        {"id": "new", "at_s": 20, "weight": 0.1},
    ]
    shown = pages(
        "call", module="page/boards/moments_list.js", name="newestMoments", args=[moments, 3]
    )
    assert [each["id"] for each in shown] == ["new", "old", "matters"]


@pytest.mark.parametrize(
    ("page", "is_static", "overlay", "feed"),
    [
        ("http://h/#game=old", False, "http://h/overlay?game=g+1&ply=7", "api/v1/moments.rss"),
        (
            "http://h/?token=t",
            False,
            "http://h/overlay?game=g+1&ply=7&token=t",
            "api/v1/moments.rss?token=t",
        ),
        ("http://h/x/index.html#a", True, "http://h/x/overlay.html?game=g+1&ply=7", None),
    ],
)
def test_a_static_page_links_to_its_own_overlay_and_to_no_feed(
    pages: Pages, page: str, is_static: bool, overlay: str, feed: str | None
) -> None:
    def ask(name: str, *args: object) -> Any:
        module = "page/boards/moments_list.js"
        return pages("call", module=module, name=name, args=[page, is_static, *args])

    assert ask("overlayAddress", {"game": "g 1", "ply": 7}) == overlay
    assert ask("feedAddress") == (feed and f"http://h/{feed}")
