"""The parts of a service together: what may change a figure, and what may not."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import chess
import msgspec
import pytest
from chess import STARTING_FEN as START

from live.engine.engine_programs import find_engine
from live.engine.engine_settings import describe_limit
from live.event.choose_measure import select_models
from live.event.event import Event
from live.event.game_change import EventChange, select_messages
from live.event.players import EventStandings, PlayerTotals
from live.event.rate_game import Measure
from live.games.game import GameConfirmed, Step
from live.games.game_retention import MOST_GAMES, GameRetention
from live.messages.from_sources import FeedReport, GameReport, Headers, Player
from live.messages.health import FeedHealth, SpeculationFigures
from live.messages.to_clients import Change, GoneMessage, HealthMessage, MoveMessage
from live.ratings.model_choice import MODELS
from live.server.analysis import build_analysis, to_json
from live.server.filtered_reader import snapshot
from live.server.reference_client import ReferenceClient
from live.server.retained_messages import RetainedMessages
from live.server.stream_filter import StreamFilter
from live.server.streams import StreamHub
from live.server.visibility import Visibility
from live.service.event_service import EventService
from live.settings import Config, MemoryConfig
from live.sources import demo_feed
from live.watch.alert_desk import AlertDesk
from live.watch.story_desk import StoryDesk
from tests.engine.machines import Machines
from tests.event.arithmetic import answer, line
from tests.games.short_reports import change_headers
from tests.service.answered_event import (
    FEED,
    AnsweredEvent,
    open_service,
    open_unscored,
    report_and_settle,
    settings,
)
from tests.sources.fakes import until, upto
from tests.watch.replayed_event import NoEngine

#: Plies played one at a time.
PLIES = 14


async def at_rest(service: EventService) -> None:
    """Every engine has done all it could find to do."""

    def is_resting() -> bool:
        health = service.pool.report_health()
        searching = any(each.state == "searching" for each in health.engines)
        return not searching and not any(msgspec.structs.astuple(health.waiting))

    await until(is_resting)


async def follow_game(
    config: Config, *, rest: bool
) -> tuple[bytes, SpeculationFigures | None]:
    """A game move by move, the engines given time to think ahead or not; and its
    analysis.
    """
    async with open_service(config, live=True) as service:
        for ply in range(PLIES + 1):
            await report_and_settle(service, upto(demo_feed.read_demo_games()[0], ply))
            if rest:
                await at_rest(service)
        service.report_engines()
        return to_json(
            build_analysis(service.state)
        ), service.state.engines().speculation


async def test_searching_ahead_changes_no_figure() -> None:
    without, off = await follow_game(
        settings(**{"engine.speculate": False}), rest=False
    )
    hurried, _ = await follow_game(settings(), rest=False)
    ahead, figures = await follow_game(settings(), rest=True)
    assert off is None
    assert figures is not None and figures.hits > PLIES
    assert without == hurried == ahead


async def test_nothing_is_searched_ahead_where_nobody_will_move() -> None:
    async with open_service(settings()) as service:
        await report_and_settle(service, upto(demo_feed.read_demo_games()[0], 4))
        service.report_engines()
        assert service.state.engines().speculation is None
        assert service.state.engines().waiting.speculate == 0


async def test_what_fails_on_a_change_costs_others_nothing_and_health_says_so() -> None:
    def fails(changes: Iterable[Change]) -> None:
        raise RuntimeError("no")

    taken = list[Change]()
    async with open_service(settings()) as service:
        service.bus.subscribe(fails)
        service.bus.subscribe(taken.extend)
        await report_and_settle(service, upto(demo_feed.read_demo_games()[0], 2))
        assert MoveMessage in map(type, taken)
        taken.clear()
        for _ in range(3):
            service.report_engines()
        # Once: what says so is missed again.
        messages = [each for each in taken if isinstance(each, HealthMessage)]
        feeds = chain.from_iterable(message.feeds for message in messages)
        (said,) = {feed for feed in feeds if feed.feed == "changes"}
        assert (
            said.state == "failed"
            and "program fault caused missed changes" in said.detail
        )
        assert len(messages) < 3


async def test_it_says_how_many_moves_figures_are_behind_the_boards() -> None:
    begun, longer = (upto(demo_feed.read_demo_games()[0], plies) for plies in (0, 12))
    async with open_service(settings()) as service:
        await report_and_settle(service, begun)
        service.report_engines()
        assert service.state.engines().behind == ""
        await service.take(FeedReport(FEED, (longer,)))
        service.report_engines()
        said = service.state.engines().behind
        assert said.startswith(
            "figures are up to 6 moves behind on 1 board: if that lasts, follow"
        )
        await service.settled()
        service.report_engines()
        assert service.state.engines().behind == ""


async def test_a_game_that_ends_is_no_longer_guessed_at() -> None:
    game = upto(demo_feed.read_demo_games()[0], 6)
    async with open_service(settings(**{"engine.nodes": 20_000}), live=True) as service:
        await report_and_settle(service, game)
        await until(lambda: service.pool.report_health().waiting.speculate > 0)
        await service.take(
            FeedReport(FEED, (msgspec.structs.replace(game, result="1-0"),))
        )
        assert service.pool.report_health().waiting.speculate == 0


@pytest.mark.parametrize(
    "modes",
    [
        {"engine.multipv": 3},
        {"engine.same_depth": True},
        pytest.param(
            {"engine.adaptive": True, "engine.nodes": 5000}, marks=pytest.mark.whole
        ),
    ],
)
async def test_every_mode_gives_the_same_figures_whatever_the_order(
    modes: dict[str, object],
) -> None:
    one, _ = await follow_game(
        settings(**modes, **{"engine.engines": 1, "engine.speculate": False}),
        rest=False,
    )
    two, _ = await follow_game(settings(**modes), rest=True)
    assert one == two


@pytest.mark.whole
async def test_one_engine_two_and_a_cluster_of_two_machines_give_the_same_json(
    tmp_path: Path,
) -> None:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    games = [upto(game, PLIES) for game in demo_feed.read_demo_games()[:2]]
    machines, found = Machines(tmp_path), []
    try:
        await machines.schedule()
        for _ in range(2):
            await machines.run_worker(find_engine())
        there = {"engine.engines": 1, "engine.cluster": machines.address}
        for where in ({"engine.engines": 1}, {"engine.engines": 2}, there):
            async with open_service(settings(**where)) as service:
                if where is there:
                    await until(lambda: len(service.pool.report_health().engines) == 2)
                found.append(to_json(await report_and_settle(service, *games)))
                if where is there:
                    seats = {
                        type(seat.process).__name__
                        for seat in service.pool._engine_slots
                    }
                    assert (seats, service.pool.report_health().problem) == (
                        {"RemoteEngine"},
                        "",
                    )
    finally:
        await machines.close()
    assert found[0] == found[1] == found[2]


def test_modes_that_change_scores_are_named_and_need_a_transfer() -> None:
    config = settings(
        **{"engine.nodes": 100_000, "engine.multipv": 2, "engine.adaptive": True}
    )
    classical = MODELS.load("classical")
    fits = select_models("auto", classical.engine, classical.limit, "same-search")
    assert classical in fits.models and not fits.transferred
    assert describe_limit(config.engine) == "100000 nodes, 2 lines, adaptive"
    assert (
        describe_limit(settings(**{"engine.same_depth": True}).engine)
        == "500 nodes, same depth"
    )
    other = select_models(
        "auto", classical.engine, describe_limit(config.engine), "same-search"
    )
    assert classical in other.models and other.transferred


async def test_who_moves_is_known_by_the_start_and_the_ply() -> None:
    service = open_unscored()
    game = upto(demo_feed.read_demo_games()[0], 2)
    game = change_headers(game, white=Player("W", elo=2001), black=Player("B"))
    await service.take(FeedReport("file", (game,)))
    (held,) = service.state.list_source_games()
    assert [service.state.find_mover_elo(held.id, ply) for ply in (1, 2, 3)] == [
        2001,
        None,
        2001,
    ]
    assert service.state.find_mover_elo("unknown", 1) is None


@pytest.mark.parametrize(
    "newer", [None, FeedHealth("feed", "stale", "no answer for 60 s")]
)
async def test_a_feed_whose_reports_were_lost_is_well_again_with_the_next(
    newer: FeedHealth | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The feed knows nothing of the loss, and so cannot say that it is over; what it
    says later holds.
    """
    service = open_unscored()
    proper, faults = (
        service.state.plan,
        [KeyError("a fault of ours"), KeyError("and again")],
    )

    def broken(report: FeedReport) -> Iterator[Step]:
        if faults:
            raise faults.pop()
        return proper(report)

    monkeypatch.setattr(service.state, "plan", broken)
    keep = asyncio.create_task(service.inbox.run())
    live = FeedHealth("feed", "live", "1 game")
    service.inbox.health(live)
    states = []
    for number in range(3):
        if number == 2 and newer is not None:
            service.inbox.health(newer)
        await service.inbox.report(
            FeedReport("feed", (demo_feed.read_demo_games()[0],))
        )
        await service.settled()
        states.append(service.state.feeds())
    keep.cancel()
    assert [health.state for (health,) in states[:2]] == ["retrying", "retrying"]
    assert states[-1] == (newer or live,)


async def test_doubtful_names_of_a_rating_list_are_shown_with_what_to_do(
    tmp_path: Path,
) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("Name,FideId,Rating,K\nBoe Anna,7,2300,40\nDahl Cleo,8,2100,20\n")
    service = open_unscored(None, **{"feeds.rating_list": str(path)})
    game = upto(demo_feed.read_demo_games()[0], 2)
    game = change_headers(game, white=Player("Boe, A"), black=Player("Dahl, Cleo"))
    await service.take(FeedReport("hall", (game,)))
    (health,) = service.state.feeds()
    assert (health.feed, health.state, health.part) == ("rating list", "stale", True)
    assert (
        "Boe, A is perhaps Boe Anna (7) in the list: give the FIDE id" in health.detail
    )
    (held,) = service.state.games()
    assert held.black.elo == 2100 and held.black.k == 20 and held.white.elo is None
    service.arbiter.tick()


async def test_boards_that_one_answer_serves_are_rated_once_in_a_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service = AnsweredEvent()
    games = tuple(
        GameReport(
            f"{each}",
            Headers(Player(f"W {each}"), Player(f"B {each}")),
            START,
            line(1, 2),
        )
        for each in range(30)
    )
    await service.take(FeedReport("feed", games))
    rated = 0
    proper = EventStandings.rate

    def counted(self: EventStandings, touched: Iterable[PlayerTotals]) -> None:
        nonlocal rated
        rated += 1
        proper(self, touched)

    monkeypatch.setattr(EventStandings, "rate", counted)
    while service.asked:
        first, before = list(service.asked), rated
        service.asked.clear()
        for search, request_id in first:
            service.on_result(request_id, search, answer(search))
        assert rated == before
        await asyncio.sleep(0)
        assert rated - before <= 2
    assert rated
    assert service.state.is_rated


HOUR_S = 3600.0
ALL = StreamFilter(visibility=Visibility.ARBITER)
#: Boards of a round; a round every six hours for three days.
BOARDS, ROUNDS = 4, 12


class Week:
    """Days of rounds through everything that holds games."""

    def __init__(self, config: MemoryConfig) -> None:
        self.now_s = 0.0
        self.published: list[Change] = []
        self.state = Event(Measure("same-search"), NoEngine(), self._publish)
        self.retention = GameRetention(config.finished_after_h * HOUR_S, MOST_GAMES)
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
        report = self.retention.drop_forgotten(FeedReport(feed, games, complete))
        for step in self.state.plan(report):
            self.state.apply(step)
            self.retention.record_step(
                step, self.state.get_shown_game(step.id), self.now_s
            )

    def let_go(self) -> None:
        for _ in self.retention.forget_old_games(self.state.forget, self.now_s):
            pass

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
            len(self.hub._finished),
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
    run.retention.record_step(
        GameConfirmed(old), run.state.get_shown_game(old), run.now_s
    )
    run.let_go()
    assert old not in {game.id for game in run.state.list_source_games()}


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
