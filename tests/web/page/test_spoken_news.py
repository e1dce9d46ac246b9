"""live/web/page/spoken_news.js: what is worth a sentence to somebody who does not look."""

from __future__ import annotations

from typing import Any

import pytest

from live.events import GameDetail
from tests.web.page.games import Pages, game, plain, ply

QUIET = (ply(1, 20), ply(2, 25))


@pytest.mark.parametrize(
    ("before", "after", "is_open", "said"),
    [
        (None, game(), True, None),
        (game(), game(result="1-0"), False, "Board 1 · Round 1, Anna against Bea: 1–0."),
        (game(plies=QUIET), game(plies=(*QUIET, ply(3, 30))), False, None),
        (
            game(plies=QUIET),
            game(plies=(*QUIET, ply(3, 30))),
            True,
            "2.\u00a0Nf3, score +0.30.",
        ),
        (game(plies=QUIET), game(plies=(*QUIET, ply(3, None))), True, "2.\u00a0Nf3."),
        (game(plies=QUIET), game(plies=QUIET[:1]), True, "1.\u00a0e4, score +0.20."),
        (
            game(plies=QUIET),
            game(plies=(*QUIET, ply(3, -310))),
            False,
            "Board 1 · Round 1, Anna against Bea: the score swings, score −3.10.",
        ),
        # A swing is told once.
        (
            game(plies=(*QUIET, ply(3, -310))),
            game(plies=(*QUIET, ply(3, -310), ply(4, -305))),
            False,
            None,
        ),
    ],
)
def test_it_tells(
    pages: Pages, before: GameDetail | None, after: GameDetail, is_open: bool, said: str | None
) -> None:
    args: list[Any] = [plain(after), is_open]
    answer = pages("told", before=plain(before) if before else None, after=args[0], isOpen=is_open)
    assert answer == said
