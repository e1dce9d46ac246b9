"""Old games are forgotten, and stay forgotten."""

from __future__ import annotations

import chess
from hypothesis import given
from hypothesis import strategies as st

from live.events import FeedReport, GameReport, Headers, Player, Result
from live.games.game import GameGone
from live.games.game_index import LEAST_S, GameIndex, GameRetention, mark_of
from live.games.report_changes import plan
from tests.ledger.arithmetic import line

HOUR_S = 3600.0


def report(number: int, *, result: Result = "1-0", plies: int = 4) -> GameReport:
    headers = Headers(Player(f"White {number}"), Player(f"Black {number}"), round="1", board=number)
    return GameReport(
        "", headers, chess.STARTING_FEN, moves=line(*([number] * plies)), result=result
    )


def test_a_finished_game_is_old_once_its_source_has_moved_on() -> None:
    held = GameRetention(48 * HOUR_S, 1000)
    held.changed("a", "feed", over=True, now_s=0.0)
    assert held.due(100 * HOUR_S) == [], "the last round stays, however long ago it was"
    held.changed("b", "feed", over=False, now_s=100 * HOUR_S)
    assert held.due(100 * HOUR_S) == ["a"]
    held.changed("a", "feed", over=True, now_s=100 * HOUR_S)
    assert held.due(101 * HOUR_S) == [], "a result was mended"


def test_another_source_makes_nothing_old() -> None:
    held = GameRetention(48 * HOUR_S, 1000)
    held.changed("a", "one", over=True, now_s=0.0)
    held.changed("b", "other", over=False, now_s=100 * HOUR_S)
    assert held.due(100 * HOUR_S) == []


def test_a_running_game_is_never_old() -> None:
    held = GameRetention(1.0, 1)
    for number in range(10):
        held.changed(str(number), "feed", over=False, now_s=0.0)
    held.changed("new", "feed", over=True, now_s=HOUR_S)
    assert held.due(1000 * HOUR_S) == []


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=200), st.integers(1, 10))
def test_no_more_finished_games_are_held_than_allowed(
    news: list[tuple[int, bool]], most: int
) -> None:
    held, now_s = GameRetention(0.0, most), 0.0
    over: dict[str, bool] = {}
    for number, done in news:
        now_s += LEAST_S + 1
        held.changed(str(number), "feed", over=done, now_s=now_s)
        over[str(number)] = done
        for id in held.due(now_s + LEAST_S):
            assert over.pop(id), "only finished ones"
            held.gone(id)
    assert sum(over.values()) <= most
    assert len(held) == len(over)


def test_a_forgotten_game_told_again_is_known_and_a_corrected_one_is_not() -> None:
    holding, retiring = GameIndex(), GameRetention(HOUR_S, 10)
    told = report(1)
    for step in plan(holding, FeedReport("feed", (told,))):
        holding.apply(step)
    (game,) = holding
    retiring.forget(game)
    holding.apply(GameGone(game.id))
    assert mark_of("feed", game) == mark_of("feed", told)
    assert retiring.knows("feed", told)
    assert not retiring.knows("other", told)
    assert not retiring.knows("feed", report(2))
    assert not retiring.knows("feed", report(1, plies=6)), "more moves: it is news"
    assert not retiring.knows("feed", report(1, result="*")), "it goes on"
    assert not retiring.knows("feed", report(1, result="0-1")), "its result was mended"
