"""live/web/client/token_check.js: what is wrong with the token, if it is that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Pages = Callable[..., Any]


@pytest.mark.parametrize(
    ("page", "status", "trouble"),
    [
        ("http://h:1/", 401, "missing"),
        ("http://h:1/?token=x#game=g", 401, "wrong"),
        ("http://h:1/?token=x#game=g", 200, ""),
        ("http://h:1/overlay?token=x", 200, ""),
        ("http://h:1/", 503, ""),
        ("http://h:1/", None, ""),
    ],
)
def test_a_refused_token_is_told_from_other_trouble(
    pages: Pages, page: str, status: int | None, trouble: str
) -> None:
    told = pages("token", page=page, status=status)
    assert told["trouble"] == trouble
    # A service that lets an empty token in knows none.
    assert told["unused"] is ("token" in page and status == 200)
    token = "?token=x" if "token" in page else ""
    assert told["asked"] == f"http://h:1/api/v1/health{token}"
