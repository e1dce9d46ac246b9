"""live/web/page/board/human_panel.js: what is said of a move and of the position after it."""

from __future__ import annotations

from typing import Any

import msgspec

from live.events import DifficultyView, RatingShare
from tests.web.page.games import START, Pages, plain, ply

MODULE = "page/board/human_panel.js"


def said(pages: Pages, name: str, *args: Any) -> str:
    words: str = pages("call", module=MODULE, name=name, args=list(args))
    return words.replace("\u00a0", " ")


def test_the_move_played(pages: Pages) -> None:
    move = ply(3, 30, 0, played_share=0.083, played_elo=2500)
    assert said(pages, "playedWords", plain(move), START) == (
        "about 1 in 12 players rated 2500 play 2. Nf3"
    )
    unrated = msgspec.structs.replace(move, played_elo=None)
    assert "1 in 12 players play" in said(pages, "playedWords", plain(unrated), START)
    assert said(pages, "playedWords", plain(ply(3)), START) == ""


def test_other_ratings_only_where_they_play_something_else(pages: Pages) -> None:
    same = [plain(RatingShare(1500, 0.08)), plain(RatingShare(2400, 0.085))]
    assert said(pages, "otherRatings", 0.083, same) == ""
    other = [plain(RatingShare(1500, 0.024)), same[1]]
    assert said(pages, "otherRatings", 0.083, other) == (
        "1500: about 1 in 40 · 2400: about 1 in 12"
    )


def test_the_position_after_it(pages: Pages) -> None:
    hard = DifficultyView(2400, "e7e5", 0.05, (), 0.41, 90)
    assert said(pages, "difficultyWords", plain(hard)) == (
        "about 1 in 20 find the best move, about 4 in 10 lose a pawn or more"
    )
    quiet = msgspec.structs.replace(hard, best_share=None, error_chance=0.0)
    assert said(pages, "difficultyWords", plain(quiet)) == "hardly any lose a pawn or more"
