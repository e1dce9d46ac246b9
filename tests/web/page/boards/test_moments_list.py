"""live/web/page/boards/moments_list.js: the newest first, and every kind has a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

from live.events import MomentKind

Pages = Callable[..., Any]


def test_every_kind_has_a_name(pages: Pages) -> None:
    for words in pages("languages").values():
        assert set(get_args(MomentKind)) <= set(words)


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


OVERLAY = "overlay?game=g+1&ply=7"


@pytest.mark.parametrize(
    ("page", "sight", "is_static", "overlay"),
    [
        ("http://h/#game=old", "public", False, f"http://h/{OVERLAY}"),
        (
            "http://h/?token=t",
            "public",
            False,
            f"http://h/{OVERLAY}&token=t",
        ),
        # With an arbiter's token an overlay would show on air what is delayed or hidden.
        ("http://h/?token=t", "arbiter", False, f"http://h/{OVERLAY}"),
        (
            "http://h/x/index.html#a",
            "public",
            True,
            "http://h/x/overlay.html?game=g+1&ply=7",
        ),
    ],
)
def test_links_take_the_token_along_but_not_an_arbiters(
    pages: Pages, page: str, sight: str, is_static: bool, overlay: str
) -> None:
    def ask(name: str, *args: object) -> Any:
        module = "page/boards/moments_list.js"
        return pages("call", module=module, name=name, args=[page, sight, *args])

    assert ask("overlayAddress", is_static, {"game": "g 1", "ply": 7}) == overlay
