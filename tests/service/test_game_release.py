"""A service that runs for weeks holds what is news, and no more."""

from __future__ import annotations

import chess
import msgspec
import pytest

from live.config import MemoryConfig
from live.events import Change, FeedReport, GameReport, GoneMessage, Headers, MoveMessage, Player
from live.games.game import GameConfirmed
from live.ledger.event_ledger import EventLedger
from live.ledger.event_state import EventState
from live.ledger.measure import Measure
from live.publish.broker.retained_messages import RetainedMessages
from live.publish.published_state import ClientState, snapshot
from live.publish.stream.stream_filter import StreamFilter
from live.publish.stream.stream_hub import StreamHub
from live.publish.visibility import Visibility
from live.service.event_service import GameRelease
from tests.ledger.arithmetic import line

HOUR_S = 3600.0
ALL = StreamFilter(visibility=Visibility.ARBITER)
#: Boards of a round; a round every six hours for six days.
BOARDS, ROUNDS = 4, 24


class Nobody:
    """No engine: what is asked is never answered."""

    def submit(self, *wanted: object) -> None:
        """Leave it."""

    def drop(self, request_id: object) -> None:
        """Leave it."""


class Week:
    """Days of rounds through everything that holds games."""

    def __init__(self, config: MemoryConfig) -> None:
        self.now_s = 0.0
        self.published: list[Change] = []
        ledger = EventLedger(
            measure=Measure("same-search"),
            engine_name="none",
            limit="none",
            fixed_rating=None,
            stored_rating=2160,
        )
        self.state = EventState(ledger, Nobody(), self._publish)
        self.retirement = GameRelease(self.state, config, clock=lambda: self.now_s)
        self.hub = StreamHub(self.state, epoch="e", clock=lambda: self.now_s)
        self.retained = RetainedMessages(self.state, "live-rate")
        self.client_state = ClientState()
        self.client_state.apply(snapshot(self.state))

    def _publish(self, changes: object) -> None:
        told = list(changes)  # type: ignore[call-overload]
        self.published += told
        self.hub.publish(told)
        self.retained.changed(told)
        for change in told:
            self.client_state.apply(change)

    def tell(self, *games: GameReport, feed: str = "feed", complete: bool = False) -> None:
        report = self.retirement.news(FeedReport(feed, games, complete))
        for step in self.state.plan(report):
            self.state.apply(step)
            self.retirement.applied(step)

    def sizes(self) -> tuple[int, ...]:
        """Of all that grows with the games."""
        self.hub.flush()
        self.retained.take(1_000_000)
        return (
            len(list(self.state.games())),
            len(self.state.players()),
            len(self.state._held._marks),
            len(self.hub._identities),
            len(self.hub._known_players),
            len(self.retained._told),
            len(self.retained._wanted),
            len(self.retained._places),
            len(self.retained._boards),
            len(self.retirement._retiring),
        )


def played(round_number: int, board: int, *, over: bool) -> GameReport:
    """Other players every round, as on a channel of games."""
    number = round_number * BOARDS + board
    headers = Headers(
        Player(f"White {number}"),
        Player(f"Black {number}"),
        event="Open",
        round=str(round_number),
        board=number,
    )
    moves = line(*([number] * 8))
    return GameReport("", headers, chess.STARTING_FEN, moves, "1-0" if over else "*")


def week(config: MemoryConfig, *, whole: bool) -> list[tuple[int, ...]]:
    """Sizes after every round; ``whole``: the source lists all rounds so far each time."""
    run, past, sizes = Week(config), list[GameReport](), []
    for number in range(1, ROUNDS + 1):
        boards = range(BOARDS)
        for over in (False, True):
            now = [played(number, board, over=over) for board in boards]
            run.tell(*(past if whole else ()), *now, complete=whole)
            run.now_s += 3 * HOUR_S
            run.retirement.look()
        past += [played(number, board, over=True) for board in boards]
        sizes.append(run.sizes())
        assert run.client_state.snapshot().games == snapshot(run.state, ALL).games
    return sizes


@pytest.mark.slow
def test_sizes_level_off_over_a_week_of_rounds() -> None:
    for whole in (False, True):
        sizes = week(MemoryConfig(finished_after_h=24.0), whole=whole)
        assert sizes[0][0] == BOARDS, "everything is there at first"
        assert sizes[-1] == sizes[len(sizes) // 2], "and half a week later it is no more"
        assert sizes[-1][0] <= BOARDS * 6


@pytest.mark.slow
def test_without_an_age_the_number_is_bounded() -> None:
    sizes = week(MemoryConfig(finished_after_h=0.0, games=20), whole=False)
    assert sizes[-1][0] <= 20 + BOARDS
    assert sizes[-1] == sizes[len(sizes) // 2]


@pytest.mark.slow
def test_by_default_a_tournament_of_nine_days_stays_whole() -> None:
    sizes = week(MemoryConfig(), whole=True)
    assert sizes[-1][0] == BOARDS * ROUNDS


def test_that_a_source_confirms_an_old_game_is_no_news_of_it() -> None:
    run = Week(MemoryConfig(finished_after_h=24.0))
    run.tell(played(1, 0, over=True))
    run.now_s += HOUR_S
    run.tell(played(2, 0, over=False))
    (old,) = (game.id for game in run.state.held() if game.result != "*")
    run.now_s += 24 * HOUR_S
    run.retirement.applied(GameConfirmed(old))
    run.retirement.look()
    assert old not in {game.id for game in run.state.held()}


def test_a_game_of_two_sources_goes_at_once_and_for_good() -> None:
    run = Week(MemoryConfig(finished_after_h=24.0))
    over = played(1, 0, over=True)
    silent = msgspec.structs.replace(over, moves=over.moves[:6], result="*")
    for feed in ("feed", "other"):
        run.tell(silent, feed=feed)
    run.tell(over, feed="other")
    (view,) = run.state.games()
    assert view.also == ("other",) and view.result == "1-0"
    run.tell(played(2, 0, over=False))
    run.now_s += 48 * HOUR_S
    run.tell(played(3, 0, over=False), feed="other")
    before = len(run.published)
    run.retirement.look()
    changes = run.published[before:]
    told = [change for change in changes if isinstance(change, GoneMessage | MoveMessage)]
    assert told == [GoneMessage(view.id)], "no moves are taken back first"
    run.tell(silent, feed="feed")
    run.tell(over, feed="other")
    assert len(list(run.state.held())) == len(list(run.state.games())) == 2
