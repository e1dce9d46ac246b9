"""live/web/client/material.js: what each side has more of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import chess
import pytest

Pages = Callable[..., Any]


@pytest.mark.parametrize(
    ("placement", "white", "black"),
    [
        (chess.STARTING_BOARD_FEN, "", ""),
        ("4k3/8/8/8/8/8/PP6/4K3", "♟♟ +2", ""),
        # A bishop for a knight is nothing in all.
        ("4kn2/8/8/8/8/8/8/4KB2", "♝", "♞"),
        ("3qk3/8/8/8/8/8/8/R3K2R", "♜♜ +1", "♛"),
        ("4k3/8/8/8/8/8/ppp5/4KN2", "♞", "♟♟♟"),
    ],
)
def test_what_each_side_has_more_of(pages: Pages, placement: str, white: str, black: str) -> None:
    told = pages("call", module="client/material.js", name="materialText", args=[placement])
    assert told == {"white": white, "black": black}
