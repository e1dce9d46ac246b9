from __future__ import annotations

import chess

from live.engine.search import Search, SearchFailure, SearchOptions, SearchResult
from live.events import MATE_CP, Score
from live.studies.corpus_database import STANDARD_FEN, NumberedGame
from live.studies.search_corpus import GameSearches

FOOLS_MATE = ("f2f3", "e7e5", "g2g4", "d8h4")


def game(moves: tuple[str, ...]) -> NumberedGame:
    return NumberedGame(1, None, None, None, None, None, "", None, "*", STANDARD_FEN, False, moves)


def answer(search: Search, best: str) -> SearchResult:
    """A made-up result that says which search it is of."""
    return SearchResult(
        Score(len(search.position.moves)), best, 7, nodes=11, seldepth=9, tbhits=1, time_ms=2
    )


def test_a_move_that_was_the_first_choice_needs_no_search_of_its_own() -> None:
    searches = GameSearches(game(FOOLS_MATE), SearchOptions())
    first = searches.first()
    # The last position is mate: the rules score it.
    assert [len(search.position.moves) for search in first] == [0, 1, 2, 3]
    more = [
        searches.take(search, answer(search, FOOLS_MATE[ply] if ply else "e2e4"))
        for ply, search in enumerate(first)
    ]
    assert [search and search.only for search in more] == ["f2f3", None, None, None]
    assert more[0] is not None and searches.waiting == {more[0]}
    searches.take(more[0], SearchResult(Score(-31), "f2f3", 6))
    assert not searches.waiting
    found = searches.searched().positions
    assert found[0] is not None and found[0].played is not None
    assert (found[0].best, found[0].played.cp) == ("e2e4", -31)
    whole = found[0].whole
    assert (whole.depth, whole.seldepth, whole.tbhits, whole.nodes, whole.time_ms) == (
        7, 9, 1, 11, 2,
    )  # fmt: skip
    assert found[3] is not None and found[3].played is None
    assert found[4] is not None and found[4].whole.cp == -MATE_CP


def test_the_order_may_be_from_the_end() -> None:
    searches = GameSearches(game(FOOLS_MATE[:2]), SearchOptions())
    plies = [len(search.position.moves) for search in searches.first(retrograde=True)]
    assert plies == [2, 1, 0]


def test_a_position_that_no_engine_can_search_leaves_the_others() -> None:
    searches = GameSearches(game(("e2e4",)), SearchOptions())
    start, end = searches.first()
    searches.take(start, SearchFailure("three engines died of it"))
    searches.take(end, answer(end, chess.Move.null().uci()))
    assert not searches.waiting
    assert searches.failed == "three engines died of it"
    assert searches.searched().positions[0] is None
    assert searches.searched().positions[1] is not None
