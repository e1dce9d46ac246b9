"""What players would play: asked once for each position, answered in any order, and
shown.
"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.engine.requests import SearchRequest
from live.engine.search import Limit, Line, SearchResult
from live.event.human_figures import build_profile, is_played_online
from live.event.rate_game import HumanSearches, Measure
from live.games.game import MovesPlayed, NewGame, TakenBack
from live.human.difficulty import MoveLosses, estimate_difficulty
from live.human.question import REFERENCE_ELOS, HumanAnswer, HumanRequest
from live.messages.figures import PlyView, RatingShare
from live.messages.from_sources import Move, Player, Score
from live.messages.to_clients import ScoreMessage
from tests.event.arithmetic import Effects, Held, game, line

STRONG, CLUB, NOBODY = (
    Player("Strong", elo=2478),
    Player("Club", elo=1712),
    Player("Nobody"),
)
MOVES = tuple(
    Move(uci, san) for uci, san in (("e2e4", "e4"), ("e7e5", "e5"), ("d1h5", "Qh5"))
)


def ledger(asked: bool = True) -> Held:
    human = HumanSearches(12, Limit(nodes=250)) if asked else None
    return Held(Measure("same-search", human=human), rating=2500, source="fixed")


def begun(moves: tuple[Move, ...]) -> tuple[Held, Effects]:
    """A game of two rated players, and what it led to."""
    held = ledger()
    return held, held.report_step(NewGame(game(moves=moves, white=STRONG, black=CLUB)))


def answer(**moves: int) -> HumanAnswer:
    """So many of a thousand play these moves: fewer of the first reference, more of the
    second.
    """
    low = {uci: many // 2 for uci, many in moves.items()}
    return HumanAnswer("network", (dict(moves), low, dict(moves)))


def ply(held: Held, number: int) -> PlyView:
    return held.detail().plies[number - 1]


def position(best: str, score_cp: int = 0) -> SearchResult:
    return SearchResult(Score(score_cp), best, 12)


def asked_at(effects: Effects, index: int) -> HumanRequest:
    return next(each for each in effects.questions if each.ply == index)


def find_request(effects: Effects, kind: str, index: int) -> SearchRequest:
    return next(r for r in effects.requests if (r.id.kind, r.id.ply) == (kind, index))


def test_every_position_is_asked_about_once_the_newest_first() -> None:
    held, first = begun(MOVES[:2])
    assert [each.ply for each in first.questions] == [2, 1, 0]
    assert [each.newest for each in first.questions] == [True, False, False]
    question = asked_at(first, 2).question
    assert question.moves == ("e2e4", "e7e5")
    assert question.elos == (2500, *REFERENCE_ELOS)
    assert asked_at(first, 1).question.elos[0] == 1700
    played = held.report_step(MovesPlayed("g1", 3, MOVES[2:]))
    assert [each.ply for each in played.questions] == [3]


HISTORIES = st.lists(
    st.tuples(st.sampled_from(("play", "play", "play", "back")), st.integers(0, 19)),
    min_size=1,
    max_size=25,
)


@settings(max_examples=25, deadline=None)
@given(HISTORIES)
def test_a_question_follows_from_the_moves_that_stand(
    history: list[tuple[str, int]],
) -> None:
    held = ledger()
    asked = held.report_step(NewGame(game(white=STRONG, black=CLUB))).questions
    choices: list[int] = []
    for what, number in history:
        before = len(choices)
        if what == "play":
            moves = line(*choices, number)
            if len(moves) == before:
                continue  # the game is over
            choices.append(number)
            asked += held.report_step(
                MovesPlayed("g1", before + 1, moves[-1:])
            ).questions
        elif choices and number:
            del choices[max(0, before - number) :]
            asked += held.report_step(TakenBack("g1", len(choices))).questions
    anew = (
        ledger()
        .report_step(NewGame(game(moves=line(*choices), white=STRONG, black=CLUB)))
        .questions
    )
    stand = {each.ply: each.question for each in asked if each.ply <= len(choices)}
    assert stand == {each.ply: each.question for each in anew}


def test_who_has_no_rating_is_asked_about_by_the_references_alone() -> None:
    begun = ledger().report_step(
        NewGame(game(moves=MOVES[:1], white=NOBODY, black=CLUB))
    )
    assert asked_at(begun, 0).question.elos == REFERENCE_ELOS


def test_nothing_is_asked_where_nobody_answers_or_nothing_like_it_was_learned() -> None:
    assert not ledger(asked=False).report_step(NewGame(game(moves=MOVES))).questions
    odd = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w Qkq - 0 1"
    assert not ledger().report_step(NewGame(game(moves=(), start_fen=odd))).questions
    strange = game(white=STRONG, black=CLUB, variant="chess960")
    assert not ledger().report_step(NewGame(strange)).questions


def test_the_share_who_would_play_a_move_is_shown_beside_two_other_ratings() -> None:
    held, first = begun(MOVES[:1])
    effects = held.people_say(asked_at(first, 0), answer(e2e4=480, d2d4=400))
    view = ply(held, 1)
    assert (view.played_share, view.played_elo) == (0.48, 2500)
    assert view.played_references == (RatingShare(1500, 0.24), RatingShare(2400, 0.48))
    assert effects.changes == [ScoreMessage("g1", view)]


def scored(held: Held, begun: Effects) -> Effects:
    """All positions searched, and the answer to the one after 1...e5."""
    held.report_result(find_request(begun, "position", 0).id, position("e2e4", 30))
    held.report_result(find_request(begun, "position", 1).id, position("e7e5", 30))
    held.report_result(find_request(begun, "position", 2).id, position("d1h5", 40))
    return held.people_say(asked_at(begun, 2), answer(g1f3=980, f1c4=20))


def test_what_their_moves_lose_is_searched_quickly_and_last() -> None:
    held, first = begun(MOVES)
    request = find_request(scored(held, first), "replies", 2)
    assert request.urgency == "spare"
    assert (request.search.lines, request.search.limit) == (12, Limit(nodes=250))
    replies = (("d1h5", 40), ("f1c4", 0), ("g1f3", -110))
    lines = tuple(Line(uci, Score(cp), 8) for uci, cp in replies)
    held.report_result(request.id, SearchResult(Score(40), "d1h5", 8, lines=lines))
    found = ply(held, 2).difficulty
    assert found is not None
    losses = MoveLosses("d1h5", {"d1h5": 0, "f1c4": 40, "g1f3": 150}, 150)
    hard = estimate_difficulty({"g1f3": 980, "f1c4": 20}, losses, 2500)
    assert (found.elo, found.best) == (2500, "d1h5")
    assert found.best_share == pytest.approx(hard.shares["d1h5"], abs=0.0005)
    assert found.error_chance == pytest.approx(hard.error_chance, abs=0.005)
    assert found.expected_loss_cp == round(hard.expected_loss_cp)
    # 3.Qh5 was the best move, and few would have found it.
    move = ply(held, 3)
    assert (move.mark, move.played_share) == ("find", found.best_share)
    weak, strong = (each.share for each in move.played_references)
    assert weak < strong < 0.25


def test_a_move_that_the_engine_sees_only_once_it_is_played_is_a_find() -> None:
    held, first = begun(MOVES)
    looked = held.report_result(
        find_request(first, "position", 2).id, position("g1f3", 40)
    )
    held.report_result(find_request(looked, "played", 3).id, position("d1h5", 60))
    asked = held.people_say(asked_at(first, 2), answer(g1f3=980, d1h5=5))
    lines = (Line("g1f3", Score(40), 8), Line("d1h5", Score(-100), 8))
    held.report_result(
        find_request(asked, "replies", 2).id,
        SearchResult(Score(40), "g1f3", 8, lines=lines),
    )
    held.report_result(find_request(first, "position", 3).id, position("b8c6", 60))
    assert ply(held, 3).mark is None
    # What it loses by the short search counts no more: few would play it, but not none.
    assert ply(held, 3).played_share == pytest.approx(0.02, abs=0.005)
    held.report_step(TakenBack("g1", 2))
    again = held.report_step(MovesPlayed("g1", 3, MOVES[2:]))
    held.report_result(find_request(again, "played", 3).id, position("d1h5", 60))
    held.report_result(find_request(again, "position", 3).id, position("b8c6", 300))
    assert ply(held, 3).mark == "find"


def test_a_trap_is_marked_at_the_move_that_sets_it() -> None:
    held, first = begun(MOVES)
    scored(held, first)
    held.report_result(find_request(first, "position", 3).id, position("b8c6", 40))
    asked = held.people_say(asked_at(first, 3), answer(b8c6=10, g7g6=990))
    lines = (Line("b8c6", Score(40), 8), Line("g7g6", Score(600), 8))
    held.report_result(
        find_request(asked, "replies", 3).id,
        SearchResult(Score(40), "b8c6", 8, lines=lines),
    )
    assert ply(held, 3).mark == "trap"


@pytest.mark.parametrize("replies", [True, False])
def test_what_is_taken_back_is_forgotten(replies: bool) -> None:
    held, first = begun(MOVES)
    open_ = find_request(scored(held, first), "replies", 2) if replies else None
    back = held.report_step(TakenBack("g1", 1))
    assert open_ is None or open_.id in back.dropped
    held.people_say(asked_at(first, 3), answer(b8c6=400))
    again = held.report_step(MovesPlayed("g1", 2, MOVES[1:2]))
    assert [each.ply for each in again.questions] == [2]


def test_every_question_is_waited_for_until_it_is_answered_or_given_up() -> None:
    held, first = begun(())
    held.report_result(find_request(first, "position", 0).id, position("e2e4"))
    assert not held.is_analysed
    assert held.archive("g1") is None
    held.people_say(asked_at(first, 0), None)
    assert held.is_analysed
    assert held.archive("g1") is not None


def test_an_archived_game_keeps_the_answers() -> None:
    held, first = begun(MOVES[:1])
    for index, best in ((0, "e2e4"), (1, "e7e5")):
        held.report_result(find_request(first, "position", index).id, position(best))
    asked = held.people_say(asked_at(first, 0), answer(e2e4=480))
    held.people_say(asked_at(first, 1), None)
    assert held.archive("g1") is None, "replies are still searched"
    held.report_result(find_request(asked, "replies", 0).id, position("e2e4"))
    kept = held.archive("g1")
    assert kept is not None
    again = ledger()
    again.resumed([kept])
    assert ply(again, 1) == ply(held, 1)
    woken = again.report_step(MovesPlayed("g1", 2, MOVES[1:2]))
    assert [each.ply for each in woken.questions] == [2]
    assert ply(again, 1).played_share == 0.48


@pytest.mark.parametrize(
    ("site", "url", "online"),
    [
        ("https://lichess.org/abcd1234", "", True),
        ("Paris FRA", "https://lichess.org/broadcast/a/b/c/d", False),
        ("https://lichess.org/study/abcdefgh/ijklmnop", "", False),
        ("Paris FRA", "", False),
        ("freechess.org", "", True),
    ],
)
def test_where_a_game_is_played_is_read_from_its_headers(
    site: str, url: str, online: bool
) -> None:
    held = game(white=STRONG, black=CLUB, site=site, url=url)
    assert is_played_online(held) is online
    assert build_profile(held).kind == ("classical" if online else "otb")
