"""The one writer: a game that breaks a rule of ours costs no other anything, and is told."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from chess import STARTING_FEN as START
from msgspec.structs import replace

from live.engine.search import Search
from live.events import (
    Change,
    Color,
    FeedReport,
    GameMessage,
    GameReport,
    Headers,
    Player,
    PluginFigure,
    StandingMessage,
)
from live.games.game import Game, GameConfirmed, NewGame, ResultChanged
from live.games.game_index import GameIndex
from live.games.report_changes import plan
from live.ledger.event_state import EventState, Searches
from live.ledger.game_evaluations import RequestId, Urgency
from live.ledger.measure import Measure
from live.ledger.players import EventStandings, PlayerTotals
from live.ledger.tracked_game import TrackedGame
from tests.alerts.replayed_event import NoEngine
from tests.ledger.arithmetic import answer, line


def keeper(published: list[Change] | None = None, searches: Searches | None = None) -> EventState:
    """Nobody searches, unless somebody is given."""
    publish = (lambda changes: None) if published is None else published.extend
    return EventState(Measure("same-search"), searches or NoEngine(), publish)


def test_a_game_that_breaks_a_rule_of_ours_is_given_up_and_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = keeper()
    proper = TrackedGame.follow

    def broken(self: TrackedGame, game: Game, players: dict[Color, PlayerTotals]) -> None:
        if len(game.moves) == 7:
            raise KeyError("a fault of ours")
        proper(self, game, players)

    monkeypatch.setattr(TrackedGame, "follow", broken)
    games = tuple(
        GameReport(key, Headers(Player(f"White {key}"), Player(f"Black {key}")), START, moves)
        for key, moves in (("1", line(*range(1, 8))), ("2", line(*range(11, 19))))
    )
    for step in state.plan(FeedReport("feed", games)):
        state.apply(step)
    assert [game.white.name for game in state.games()] == ["White 2"]
    (told,) = state.feeds()
    assert told.part and told.state == "failed" and "given up" in told.detail
    (record,) = caplog.records
    assert record.exc_info, "with its traceback"


def test_a_restored_game_stays_marked_in_every_message_until_its_source_reports_it() -> None:
    published: list[Change] = []
    state = keeper(published)

    def marks() -> set[bool]:
        seen = {each.game.restored for each in published if isinstance(each, GameMessage)}
        published.clear()
        return seen

    (before,) = (
        step.game
        for step in plan(
            GameIndex(),
            FeedReport(
                "feed",
                (GameReport("1", Headers(Player("White"), Player("Black")), START, line(1, 2)),),
            ),
        )
        if isinstance(step, NewGame)
    )
    for _ in state.restore(before):
        pass
    published.clear()
    # A change that is not a report of the source: the message carries the mark all the same.
    state.apply(ResultChanged(before.id, "1-0"))
    assert marks() == {True}
    state.apply(GameConfirmed(before.id))
    assert marks() == {False}


def test_a_plugins_figure_stands_with_its_player_until_it_is_taken_back() -> None:
    published: list[Change] = []
    state = keeper(published)
    report = GameReport("1", Headers(Player("A"), Player("B")), START, line(1, 2, 3))
    for step in state.plan(FeedReport("feed", (report,))):
        state.apply(step)
    first = state.players()[0]
    del published[:]
    for name in ("second", "first"):
        state.plugin_figure(first.id, name, PluginFigure(value=0.5, name="another's"))
    state.plugin_figure("nobody", "first", PluginFigure(value=1.0))
    shown = [each.player for each in published if isinstance(each, StandingMessage)]
    assert [each.id for each in shown] == [first.id] * 2
    assert shown[-1] == state.players()[0]
    assert [each.name for each in shown[-1].plugins] == ["first", "second"]
    # Nor does a move take it away.
    for step in state.plan(FeedReport("feed", (replace(report, moves=line(1, 2, 3, 4)),))):
        state.apply(step)
    assert len(state.players()[0].plugins) == 2
    for name in ("second", "first"):
        state.plugin_figure(first.id, name, None)
    assert state.players()[0].plugins == ()


class Desk:
    """Keeps what is to be searched."""

    def __init__(self) -> None:
        self.open: dict[RequestId, Search] = {}

    def submit(self, search: Search, request_id: RequestId, urgency: Urgency) -> None:
        self.open[request_id] = search

    def drop(self, request_id: RequestId) -> None:
        self.open.pop(request_id, None)


def boards(count: int, published: list[Change]) -> tuple[EventState, Desk]:
    """All with the same moves."""
    desk = Desk()
    state = keeper(published, desk)
    games = tuple(
        GameReport(
            f"{number}",
            Headers(Player(f"White {number}", elo=2000 + number), Player(f"Black {number}")),
            START,
            line(*range(1, 9)),
        )
        for number in range(count)
    )
    for step in state.plan(FeedReport("feed", games)):
        state.apply(step)
    return state, desk


def answered(state: EventState, desk: Desk, *, at_once: bool) -> None:
    while desk.open:
        for request_id, search in list(desk.open.items()):
            del desk.open[request_id]
            state.searched(request_id, answer(search), rate=at_once)
        state.rate()


def test_standings_are_renewed_once_for_all_answers_of_a_turn_and_say_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one_by_one, desk = boards(12, [])
    answered(one_by_one, desk, at_once=True)
    renewed: list[int] = []
    proper = EventStandings.rate

    def counted(self: EventStandings, touched: Iterable[PlayerTotals]) -> None:
        touched = list(touched)
        renewed.append(len(touched))
        proper(self, touched)

    published: list[Change] = []
    together, desk = boards(12, published)
    first = list(desk.open.items())
    monkeypatch.setattr(EventStandings, "rate", counted)
    for request_id, search in first:
        del desk.open[request_id]
        together.searched(request_id, answer(search), rate=False)
    assert not renewed
    assert not together.rated and not together.analysed
    together.rate()
    assert 1 <= len(renewed) <= 2
    answered(together, desk, at_once=False)
    assert together.rated and together.analysed
    assert together.players() == one_by_one.players()
    assert together.engine() == one_by_one.engine()
    held = {each.player.id: each.player for each in published if isinstance(each, StandingMessage)}
    assert set(held) == {each.id for each in together.players()}


def test_a_game_whose_standing_fails_is_given_up_and_the_others_of_the_turn_are_rated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state, desk = boards(3, [])
    bad = next(each.id for each in state.games() if each.white.name == "White 1")
    bad_player = state.player_ids(bad)[0]
    proper = EventStandings.rate

    def failing(self: EventStandings, touched: Iterable[PlayerTotals]) -> None:
        touched = list(touched)
        if any(each.key == bad_player and each.games for each in touched):
            raise KeyError("a fault of ours")
        proper(self, touched)

    monkeypatch.setattr(EventStandings, "rate", failing)
    answered(state, desk, at_once=False)
    assert sorted(each.white.name for each in state.games()) == ["White 0", "White 2"]
    assert all(each.moves for each in state.players())
    (told,) = state.feeds()
    assert told.state == "failed"


def test_other_news_comes_after_the_standings_of_the_answers_before_it() -> None:
    state, desk = boards(2, [])
    for request_id, search in list(desk.open.items()):
        state.searched(request_id, answer(search), rate=False)
    assert state.unrated
    game = next(iter(state.games()))
    state.apply(ResultChanged(game.id, "1-0"))
    assert not state.unrated
