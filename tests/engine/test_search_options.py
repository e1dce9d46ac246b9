"""How searches are asked for."""

from __future__ import annotations

from live.engine.search import Limit, Position, Search, SearchOptions

HERE = Position("4k3/8/8/8/8/8/8/4K2R w - - 0 1")


def test_the_plain_way_is_one_line_under_the_room_s_limit() -> None:
    assert SearchOptions().whole(HERE) == Search(HERE)
    assert SearchOptions().played(HERE, "e1e2", 17) == Search(HERE, only="e1e2")


def test_the_move_played_follows_the_best_one_s_depth_and_never_has_several_lines() -> None:
    search_options = SearchOptions(lines=3, same_depth=True)
    assert search_options.whole(HERE) == Search(HERE, lines=3)
    assert search_options.played(HERE, "e1e2", 17) == Search(
        HERE, only="e1e2", limit=Limit(depth=17)
    )
    assert search_options.played(HERE, "e1e2", None) == Search(HERE, only="e1e2")
