"""Sizes of all that holds games, while rounds come and go."""

from collections.abc import Sequence

import chess
from msgspec.structs import replace

from live.event.event import Event
from live.event.game_change import EventChange, ReportedStep, select_messages
from live.event.old_games import OldGames
from live.event.rate_game import Measure
from live.games.game import GameConfirmed
from live.games.game_retention import MOST_GAMES, GameRetention
from live.messages.from_sources import FeedReport, GameReport, Headers, Player
from live.messages.to_clients import Change, GoneMessage, MoveMessage
from live.server.filtered_reader import snapshot
from live.server.reference_client import ReferenceClient
from live.server.retained_messages import RetainedMessages
from live.server.stream_filter import StreamFilter
from live.server.streams import StreamHub
from live.server.visibility import Visibility
from live.settings import MemoryConfig
from live.watch.alert_desk import AlertDesk
from live.watch.story_desk import StoryDesk
from tests.event.answered_event import open_unscored
from tests.event.arithmetic import game, line
from tests.server.world import Clock
from tests.sources.fakes import upto

HOUR_S = 3600.0
ALL = StreamFilter(visibility=Visibility.ARBITER)
#: Boards of a round; a round every six hours for three days.
BOARDS, ROUNDS = 4, 12


class Week:
    """Days of rounds through everything that holds games."""

    def __init__(self, config: MemoryConfig) -> None:
        self.now_s = 0.0
        self.published: list[Change] = []
        self.state = Event(Measure("same-search"))
        self.retention = GameRetention(config.finished_after_h * HOUR_S, MOST_GAMES)
        self.old_games = OldGames(
            self.state, self._publish, self.retention, lambda: self.now_s
        )
        self.hub = StreamHub(self.state, epoch="e", clock=lambda: self.now_s)
        self.brief = self.hub.open_stream(StreamFilter(brief=True))
        self.desk, self.story = AlertDesk(self.state.find_record), StoryDesk()
        self.retained = RetainedMessages(self.state, "live-rate")
        self.client_state = ReferenceClient()
        self.client_state.apply(snapshot(self.state))

    def _publish(self, changes: Sequence[EventChange]) -> None:
        told = select_messages(changes)
        self.published += told
        self.hub.publish(told)
        self.desk.apply(changes, self.now_s)
        self.story.follow(told, self.now_s)
        self.retained.mark_changed(told)
        for change in told:
            self.client_state.apply(change)

    def tell(
        self, *games: GameReport, feed: str = "feed", complete: bool = False
    ) -> None:
        report = FeedReport(feed, games, complete)
        for changes in self.state.apply_report(report):
            self._publish(changes)
            self.old_games.follow(changes)

    def let_go(self) -> None:
        self.old_games.forget()

    def sizes(self) -> tuple[int, ...]:
        """Of all that grows with the games."""
        self.hub.flush()
        self.hub.snapshot(self.brief)
        while self.story.has_work:
            self.story.examine_next(self.state.game)
        self.retained.take(1_000_000)
        return (
            len(list(self.state.games())),
            len(self.state.players()),
            len(self.state.index._keys._games),
            len(self.hub._identities),
            len(self.hub._known_players),
            len(self.hub._snapshots._finished),
            len(self.brief._sent),
            len(self.desk._watched._latest),
            len(self.desk._counted),
            len(self.story._games)
            + len(self.story._rounds)
            + len(self.story._families),
            len(self.retained._sent),
            len(self.retained._payloads),
            len(self.retained._places),
            len(self.retention),
        )


def played(round_number: int, board: int, *, over: bool) -> GameReport:
    """Other players every round, as on a channel of games."""
    number = round_number * BOARDS + board
    players = Player(f"White {number}"), Player(f"Black {number}")
    headers = Headers(*players, event="Open", round=str(round_number), board=number)
    moves = line(*([number] * 8))
    return GameReport("", headers, chess.STARTING_FEN, moves, "1-0" if over else "*")


def week(config: MemoryConfig, *, whole: bool) -> list[tuple[int, ...]]:
    """Sizes after every round; ``whole``: the source lists all rounds so far
    each time.
    """
    run, past, sizes = Week(config), list[GameReport](), []
    for number in range(1, ROUNDS + 1):
        boards = range(BOARDS)
        for over in (False, True):
            now = [played(number, board, over=over) for board in boards]
            run.tell(*(past if whole else ()), *now, complete=whole)
            run.now_s += 3 * HOUR_S
            run.let_go()
        past += [played(number, board, over=True) for board in boards]
        sizes.append(run.sizes())
        assert run.client_state.snapshot().games == snapshot(run.state, ALL).games
    return sizes


def test_sizes_level_off_over_a_week_of_rounds() -> None:
    for whole in (False, True):
        sizes = week(MemoryConfig(finished_after_h=24.0), whole=whole)
        assert sizes[0][0] == BOARDS, "everything is there at first"
        assert sizes[-1] == sizes[len(sizes) // 2], (
            "and half a week later it is no more"
        )
        assert sizes[-1][0] <= BOARDS * 6


def test_that_a_source_confirms_an_old_game_is_no_news_of_it() -> None:
    run = Week(MemoryConfig(finished_after_h=24.0))
    run.tell(played(1, 0, over=True))
    run.now_s += HOUR_S
    run.tell(played(2, 0, over=False))
    (old,) = (game.id for game in run.state.list_source_games() if game.result != "*")
    run.now_s += 24 * HOUR_S
    run.old_games.follow([ReportedStep(GameConfirmed(old))])
    run.let_go()
    assert old not in {game.id for game in run.state.list_source_games()}


async def test_the_event_of_a_service_lets_old_games_go() -> None:
    run = open_unscored(None, **{"memory.finished_after_h": 24.0})
    clock, old_games = Clock(), run.parts.old_games
    old_games._clock = clock
    for number in (1, 2):
        await run.take(FeedReport("feed", (played(number, 0, over=True),)))
        clock.now_s += HOUR_S
    both = [game.id for game in run.state.list_source_games()]
    clock.now_s += 22 * HOUR_S
    old_games.forget()
    assert [game.id for game in run.state.list_source_games()] == both[1:]


def test_restored_games_are_kept_as_long_as_games_that_have_just_changed() -> None:
    run = Week(MemoryConfig(finished_after_h=24.0))
    run.now_s = 100 * HOUR_S
    over = [
        replace(game(f"g{number}", line(number)), result="1-0") for number in (1, 2)
    ]
    for restored in over:
        for changes in run.state.restore(restored):
            run._publish(changes)
    run.old_games.start_restored_retention()
    run.now_s += 23 * HOUR_S
    run.let_go()
    assert len(list(run.state.list_source_games())) == 2
    run.tell(played(3, 0, over=False), feed="test")
    run.now_s += 2 * HOUR_S
    run.let_go()
    left = [game.result for game in run.state.list_source_games()]
    assert left == ["*"]


def test_a_game_of_two_sources_goes_at_once_and_for_good() -> None:
    run = Week(MemoryConfig(finished_after_h=24.0))
    over = played(1, 0, over=True)
    silent = upto(over, 6)
    for feed in ("feed", "other"):
        run.tell(silent, feed=feed)
    run.tell(over, feed="other")
    (view,) = run.state.games()
    assert view.also == ("other",) and view.result == "1-0"
    run.tell(played(2, 0, over=False))
    run.now_s += 48 * HOUR_S
    run.tell(played(3, 0, over=False), feed="other")
    before = len(run.published)
    run.let_go()
    changes = run.published[before:]
    told = [
        change for change in changes if isinstance(change, GoneMessage | MoveMessage)
    ]
    assert told == [GoneMessage(view.id)], "no moves are taken back first"
    run.tell(silent, feed="feed")
    run.tell(over, feed="other")
    assert len(list(run.state.list_source_games())) == len(list(run.state.games())) == 2
