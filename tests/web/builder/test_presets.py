"""live/web/builder/presets.js: overlays by a name, and as a link."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Pages = Callable[..., Any]


def test_presets_are_kept_read_again_and_removed(pages: Pages) -> None:
    done = pages(
        "presets",
        stored=None,
        calls=[["keep", "Lower third", "layout=bar"], ["keep", "Grid", "layout=grid&boards=4"]],
    )
    assert done["answers"] == [True, True]
    again = pages("presets", stored=done["text"], calls=[["query", "Grid"], ["query", "None"]])
    assert again["names"] == ["Grid", "Lower third"]
    assert again["answers"] == ["layout=grid&boards=4", None]
    less = pages("presets", stored=done["text"], calls=[["drop", "Grid"]])
    assert less["names"] == ["Lower third"]


def test_what_is_not_kept_is_said_and_what_was_kept_is_not_trusted(pages: Pages) -> None:
    assert pages("presets", stored=None, calls=[["keep", "", "x=1"]])["answers"] == [False]
    full = pages("presets", stored=None, calls=[["keep", "A", "x=1"]], throws=True)
    assert full["answers"] == [False]
    for odd in ("{", '{"a": 1}', '[["a"], 3, ["b", 4]]'):
        assert pages("presets", stored=odd, calls=[])["names"] == []


@pytest.mark.parametrize(
    ("search", "name", "query"),
    [
        ("?layout=bar&preset=Lower++third&token=secret", "Lower third", "layout=bar"),
        ("?layout=bar", "", "layout=bar"),
        ("", "", ""),
    ],
)
def test_a_link_carries_choices_and_name_but_no_token(
    pages: Pages, search: str, name: str, query: str
) -> None:
    found = pages("call", module="builder/presets.js", name="presetOf", args=[search])
    assert found == {"name": name, "query": query}
