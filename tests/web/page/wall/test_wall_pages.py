"""live/web/page/wall/wall_pages.js: how boards fill a screen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.page.games import Pages


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages("call", module="page/wall/wall_pages.js", name=name, args=list(args))


@pytest.mark.parametrize(
    ("boards", "screen", "grid"),
    [
        (1, (3840, 2100), (1, 1)),
        (4, (3840, 2100), (2, 2)),
        (8, (3840, 2100), (3, 3)),
        (12, (1920, 1040), (3, 4)),
        (3, (1080, 1900), (1, 3)),
        (0, (1920, 1040), (1, 1)),
    ],
)
def test_boards_are_as_large_as_the_screen_allows(
    pages: Pages, boards: int, screen: tuple[int, int], grid: tuple[int, int]
) -> None:
    found = call(pages, "wallGrid", boards, *screen)
    assert (found["columns"], found["rows"]) == grid


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 80))
def test_every_board_is_on_one_page_and_pages_are_even(pages: Pages, boards: int) -> None:
    found = call(pages, "wallPages", list(range(boards)))
    assert [each for page in found for each in page] == list(range(boards))
    sizes = [len(page) for page in found]
    assert all(0 < size <= 12 for size in sizes)
    assert len(found) == -(-boards // 12)


def test_pages_follow_one_another_and_one_page_stays(pages: Pages) -> None:
    assert [call(pages, "pageAt", 1000 * s, 3) for s in (0, 14, 15, 30, 44, 45)] == [
        0,
        0,
        1,
        2,
        2,
        0,
    ]
    assert call(pages, "pageAt", 99_999, 1) == 0
    assert call(pages, "pageAt", 99_999, 0) == 0
