"""The tree of what may come."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from live.engine.look_ahead import LookAhead
from live.engine.move_forecast import (
    ForecastNeed,
    ForecastPolicy,
    ForecastRules,
    MoveForecast,
    reduce_limit,
)
from live.engine.search import (
    Limit,
    Line,
    Position,
    Search,
    SearchFailure,
    SearchOptions,
    SearchResult,
)
from live.engine.search_queue import SearchKind, SearchPriority
from live.messages.from_sources import Score
from live.messages.health import SpeculationFigures
from tests.engine.conftest import START, Desk, head

LIMIT = Limit(nodes=1000)
SCOUT = Limit(nodes=250)
POLICY = ForecastPolicy(
    replies=3,
    first_choice_chance=0.5,
    scout=0.25,
    gain=0.9,
    discount=0.5,
    plies=2,
    min_worth=0.01,
    surprise_value=0.0,
)


def position(*moves: str) -> Position:
    return Position(START, moves)


def result(*moves: str, best: str = "") -> SearchResult:
    """Lines 10 cp apart, White to move; one move is a whole search's."""
    lines = tuple(
        Line(move, Score(-10 * number), 9) for number, move in enumerate(moves)
    )
    return SearchResult(
        score=Score(0),
        best=best or moves[0],
        depth=9,
        lines=lines if len(lines) > 1 else (),
    )


def halves(board: str, ply: int, behind_cp: Sequence[int]) -> list[float]:
    """Each reply half as likely as the one before."""
    return [0.5 ** (number + 1) for number, _ in enumerate(behind_cp)]


def forecast(
    search_options: SearchOptions = SearchOptions(),  # noqa: B008 - frozen
    policy: ForecastPolicy = POLICY,
) -> MoveForecast:
    return MoveForecast(
        "a", position(), 0, ForecastRules(LIMIT, halves, search_options, policy)
    )


def add_search_result(
    tree: MoveForecast, search: Search, result: SearchResult | SearchFailure
) -> None:
    """One of its needs, or the live position, was searched."""
    tree.list_needs()
    tree.add_result(search, result)


def whole(*moves: str) -> Search:
    return Search(position(*moves))


def scout(*moves: str) -> Search:
    return Search(position(*moves), lines=3, limit=SCOUT)


@pytest.fixture
def tree() -> MoveForecast:
    """The position at the board has been searched."""
    tree = forecast()
    add_search_result(tree, whole(), result("e2e4"))
    return tree


def test_a_scout_tells_what_the_replies_are_worth() -> None:
    tree = forecast()
    assert tree.list_needs() == []
    add_search_result(tree, whole(), result("e2e4"))
    assert tree.list_needs() == [
        ForecastNeed(0.5, whole("e2e4")),
        ForecastNeed(0.25, scout()),
    ]
    add_search_result(tree, scout(), result("d2d4", "e2e4", "a2a3"))
    # The full search's choice comes first; its gain is known to be 0.
    assert tree.list_needs() == [
        ForecastNeed(0.5, whole("e2e4")),
        ForecastNeed(0.25, whole("d2d4")),
        ForecastNeed(0.225, Search(position(), only="d2d4")),
        ForecastNeed(0.125, whole("a2a3")),
        ForecastNeed(0.1125, Search(position(), only="a2a3")),
    ]
    # What was made is not needed again.
    add_search_result(tree, Search(position(), only="d2d4"), result("d2d4"))
    add_search_result(tree, whole("d2d4"), SearchFailure("mate on the board"))
    assert [need.worth for need in tree.list_needs()] == [0.5, 0.125, 0.1125]


def test_behind_a_reply_that_was_searched_the_tree_goes_on_and_is_worth_less() -> None:
    tree = forecast()
    add_search_result(tree, whole(), result("e2e4"))
    add_search_result(tree, whole("e2e4"), result("e7e5"))
    assert tree.list_needs() == [
        ForecastNeed(0.25, scout()),
        # 0.5 for the reply, 0.5 for coming later, 0.5 for the answer to it.
        ForecastNeed(0.125, whole("e2e4", "e7e5")),
        ForecastNeed(0.0625, scout("e2e4")),
    ]
    add_search_result(tree, whole("e2e4", "e7e5"), result("g1f3"))
    assert whole("e2e4", "e7e5", "g1f3") not in [
        need.search for need in tree.list_needs()
    ]


def test_moves_nobody_expects_are_searched_last() -> None:
    """Somebody plays them, and then their gain is what everybody waits for."""
    tree = forecast(policy=replace(POLICY, surprise_value=0.002))
    add_search_result(tree, whole(), result("e2e4"))
    assert len(tree.list_needs()) == 2  # not before the scout says what is expected
    add_search_result(tree, scout(), result("e2e4", "d2d4", "a2a3"))
    expected, rest = tree.list_needs()[:5], tree.list_needs()[5:]
    assert all(need.worth >= 0.01 for need in expected)
    assert len({need.search.only for need in rest}) == len(rest) == 17
    assert all(
        need.worth == 0.002 and need.search.position == position() for need in rest
    )
    add_search_result(tree, Search(position(), only="h2h4"), result("h2h4"))
    assert "h2h4" not in [need.search.only for need in tree.list_needs()]
    tree.advance_to(position("e2e4"), 1)
    add_search_result(tree, whole("e2e4"), result("e7e5"))
    add_search_result(tree, scout("e2e4"), result("e7e5", "c7c5"))
    assert Search(position("e2e4"), only="b8a6") in [
        need.search for need in tree.list_needs()
    ]


def test_what_came_true_lives_on(tree: MoveForecast) -> None:
    add_search_result(tree, scout(), result("e2e4", "d2d4"))
    add_search_result(tree, whole("e2e4"), result("e7e5"))
    tree.advance_to(position("e2e4"), 1)
    assert tree.ply == 1
    needs = tree.list_needs()
    assert needs == [
        ForecastNeed(0.5, whole("e2e4", "e7e5")),
        ForecastNeed(0.25, scout("e2e4")),
    ]
    assert not tree.has_search(whole("d2d4"))
    # The ledger asks for it when the move was not the first choice.
    assert tree.has_search(Search(position(), only="e2e4"))
    assert not tree.has_search(Search(position(), only="d2d4"))


def test_a_move_nobody_thought_of_and_a_jump_begin_anew(tree: MoveForecast) -> None:
    tree.advance_to(position("a2a4"), 1)
    assert tree.list_needs() == []
    tree.advance_to(position("e2e4", "e7e5", "g1f3"), 3)
    assert (tree.ply, tree.list_needs()) == (3, [])
    assert not tree.has_search(whole("a2a4"))


def test_several_lines_asked_for_anyway_make_a_scout_needless() -> None:
    tree = forecast(SearchOptions(lines=2))
    add_search_result(tree, Search(position(), lines=2), result("e2e4", "d2d4"))
    assert tree.list_needs() == [
        ForecastNeed(0.5, Search(position("e2e4"), lines=2)),
        ForecastNeed(0.25, Search(position("d2d4"), lines=2)),
    ]


def test_where_the_scout_fails_the_first_choice_remains(tree: MoveForecast) -> None:
    add_search_result(tree, scout(), SearchFailure("for the test"))
    assert tree.list_needs() == [ForecastNeed(0.5, whole("e2e4"))]


def test_searches_keep_to_how_the_room_asks() -> None:
    same = forecast(SearchOptions(same_depth=True))
    add_search_result(same, whole(), result("e2e4"))
    add_search_result(same, scout(), result("e2e4", "d2d4"))
    assert Search(position(), only="d2d4", limit=Limit(depth=9)) in [
        need.search for need in same.list_needs()
    ]
    here = Position(START, (), chess960=True)
    tree = MoveForecast("a", here, 0, ForecastRules(LIMIT, halves, policy=POLICY))
    add_search_result(tree, Search(here), result("e2e4"))
    assert all(need.search.position.chess960 for need in tree.list_needs())


def test_black_s_scores_are_seen_from_black() -> None:
    """Scores are White's: what is best for Black comes lowest."""
    seen = []

    def remember(board: str, ply: int, behind_cp: Sequence[int]) -> list[float]:
        seen.append((board, ply, list(behind_cp)))
        return halves(board, ply, behind_cp)

    tree = MoveForecast(
        "a", position("e2e4"), 1, ForecastRules(LIMIT, policy=POLICY, chances=remember)
    )
    add_search_result(tree, whole("e2e4"), result("e7e5"))
    lines = (
        Line("c7c5", Score(-30), 9),
        Line("e7e5", Score(-10), 9),
        Line("a7a5", Score(40), 9),
    )
    add_search_result(
        tree,
        scout("e2e4"),
        SearchResult(score=Score(-30), best="c7c5", depth=9, lines=lines),
    )
    assert seen == [("a", 2, [0, 0, 70])]
    assert tree.list_needs()[0] == ForecastNeed(0.5, whole("e2e4", "e7e5"))


@pytest.mark.parametrize(
    ("limit", "scout"),
    [
        (Limit(nodes=100_000), Limit(nodes=25_000)),
        (Limit(nodes=1), Limit(nodes=1)),
        (Limit(depth=16), Limit(depth=13)),
        (Limit(depth=2), Limit(depth=1)),
        (Limit(movetime_ms=500), Limit(movetime_ms=125)),
    ],
)
def test_a_scout_takes_about_a_quarter(limit: Limit, scout: Limit) -> None:
    assert reduce_limit(limit) == scout


def test_what_people_play_is_searched_before_any_scout_has_looked() -> None:
    people: dict[str, float] = {}
    held = MoveForecast(
        "a",
        position(),
        0,
        ForecastRules(
            LIMIT, halves, SearchOptions(), POLICY, lambda board, position: people
        ),
    )
    held.add_result(Search(position()), result("e2e4"))
    assert not any(need.search.only for need in held.list_needs())
    people |= {"d2d4": 0.7, "e2e4": 0.3}
    held.update_human_shares()
    assert [need.search.only for need in held.list_needs() if need.search.only] == [
        "d2d4"
    ]


QUICK_POLICY = ForecastPolicy(replies=3, first_choice_chance=0.5, scout=0.3)


def guess_replies(*moves: str) -> SearchResult:
    lines = tuple(Line(move, Score(-number), 9) for number, move in enumerate(moves))
    return SearchResult(score=Score(0), best=moves[0], depth=9, nodes=100, lines=lines)


@pytest.fixture
def ahead(desk: Desk) -> LookAhead:
    rules = ForecastRules(LIMIT, halves, policy=QUICK_POLICY)
    return LookAhead(desk, rules, desk)


def guesses(desk: Desk) -> list[Search]:
    return [
        search
        for search, priority in desk.requested
        if priority.kind is SearchKind.SPECULATE
    ]


def play_head(
    ahead: LookAhead, *moves: str, best: str = "e2e4", board: str = "a"
) -> None:
    search = Search(position(*moves))
    ahead.submit(search, f"head {board} {len(moves)}", head(len(moves), board))
    ahead.on_result(f"head {board} {len(moves)}", search, guess_replies(best))


def answer(
    ahead: LookAhead, search: Search, found: SearchResult | SearchFailure
) -> None:
    ahead.on_result(search, search, found)


START_SCOUT = Search(position(), lines=3, limit=Limit(nodes=250))


def test_no_more_is_asked_for_than_keeps_the_engines_busy(
    ahead: LookAhead, desk: Desk
) -> None:
    """Two for each engine; the next is chosen when one is done, by what is
    known then.
    """
    play_head(ahead)
    assert desk.order == ["head a 0"]
    assert guesses(desk) == [Search(position("e2e4")), START_SCOUT]
    answer(ahead, START_SCOUT, guess_replies("d2d4", "e2e4", "a2a3"))
    assert len(guesses(desk)) == 3
    desk.slots = 2
    answer(ahead, Search(position("e2e4")), guess_replies("e7e5"))
    assert len(guesses(desk)) == 6


def test_what_cannot_come_any_more_is_dropped_before_the_head_is_wanted(
    ahead: LookAhead, desk: Desk
) -> None:
    """The engine it had is free for the head."""
    play_head(ahead)
    ahead.submit(Search(position("d2d4")), "next", head(1))
    assert desk.dropped == [Search(position("e2e4")), START_SCOUT]
    assert desk.requested[-1] == (Search(position("d2d4")), head(1))


def test_what_comes_true_is_kept_and_changes_hands(
    ahead: LookAhead, desk: Desk
) -> None:
    play_head(ahead)
    coming = Search(position("e2e4"))
    ahead.submit(coming, "next", head(1))
    assert desk.dropped == [START_SCOUT, coming]
    assert desk.log[-2:] == ["submit", "drop"]
    play_head(ahead, board="b")
    answer(ahead, coming, guess_replies("e7e5"))
    answer(ahead, START_SCOUT, guess_replies("e2e4", "d2d4"))
    ahead.submit(coming, "next", head(1, "b"))
    assert ahead.get_speculation_figures() == SpeculationFigures(hits=1, misses=3)


def test_a_takeback_and_the_end_of_the_game_end_it(
    ahead: LookAhead, desk: Desk
) -> None:
    play_head(ahead, "e2e4", "e7e5", best="g1f3")
    pending = len(guesses(desk))
    ahead.submit(Search(position("e2e4")), "late", head(1))
    assert desk.dropped == []
    ahead.end_forecast_of_board("a")
    assert len(desk.dropped) == pending
    play_head(ahead, "e2e4", "e7e5", "g1f3", best="b8c6")
    ahead.submit(Search(position()), "all", SearchPriority(SearchKind.FINISHED, "a", 0))
    assert len(desk.dropped) == len(guesses(desk))


def test_a_head_that_was_dropped_teaches_nothing(ahead: LookAhead, desk: Desk) -> None:
    ahead.submit(Search(position()), "head", head(0))
    ahead.drop("head")
    ahead.on_result("head", Search(position()), guess_replies("e2e4"))
    assert guesses(desk) == []


def test_guesses_for_a_board_that_is_over_are_no_longer_remembered(
    ahead: LookAhead,
) -> None:
    play_head(ahead)
    coming = Search(position("e2e4"))
    answer(ahead, coming, guess_replies("e7e5"))
    ahead.end_forecast_of_board("a")
    ahead.submit(coming, "late", head(1))
    assert ahead.get_speculation_figures() == SpeculationFigures(hits=0, misses=2)


def test_of_all_boards_what_is_worth_most_comes_first(
    ahead: LookAhead, desk: Desk
) -> None:
    play_head(ahead, board="one")
    play_head(ahead, "d2d4", best="d7d5", board="other")
    assert len(guesses(desk)) == 2
    answer(ahead, START_SCOUT, guess_replies("e2e4", "c2c4", "a2a3"))
    assert guesses(desk)[-1] == Search(position("d2d4", "d7d5"))
    first, second = (
        each for _, each in desk.requested if each.board == "one" and each.rank
    )
    assert first.rank < second.rank


def test_boards_that_share_a_position_share_what_lies_beyond(
    ahead: LookAhead, desk: Desk
) -> None:
    desk.slots = 2
    play_head(ahead, board="a")
    play_head(ahead, board="b")
    coming = Search(position("e2e4"))
    assert guesses(desk).count(coming) == 1
    ahead.end_forecast_of_board("a")
    assert desk.dropped == []
    answer(ahead, coming, guess_replies("e7e5"))
    assert Search(position("e2e4", "e7e5")) in guesses(desk)


def test_what_is_known_already_is_not_asked_for(ahead: LookAhead, desk: Desk) -> None:
    desk.found[Search(position("e2e4"))] = guess_replies("e7e5")
    play_head(ahead)
    assert guesses(desk) == [START_SCOUT, Search(position("e2e4", "e7e5"))]
    assert ahead.get_speculation_figures() == SpeculationFigures(hits=0, misses=1)
