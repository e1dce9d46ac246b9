"""Two audiences, one service: what a stranger receives depends neither on engines'
answers, where scores are hidden, nor on anything that is held back; arbiters receive
everything at once.

Each drill plays the same games twice, with one thing changed that the stranger must not
notice, and compares all that reached the stranger, byte for byte, with numbers and
order, and at which moment of the drill each message came.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import chess
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from live.engine.search import Search, SearchResult
from live.event.game_change import ReportedStep
from live.games.game import Game, NewGame
from live.journal.journal import Journal
from live.journal.journal_reader import JournalRun, replay_game
from live.messages.figures import EngineInfo
from live.messages.from_sources import FeedReport, GameReport, Player, Result, Score
from live.messages.health import EngineHealth, EngineState, QueueLengths
from live.messages.to_clients import GoneMessage
from live.screens.printed_changes import JsonPrinter, LinePrinter
from live.server.authentication import public_filter
from live.server.delay_line import DelayLine
from live.server.filtered_reader import snapshot
from live.server.http_values import HttpRequest
from live.server.limits import ClientLimits
from live.server.public_delay import (
    find_unpublished,
    note_moves_shown,
    publish_due_changes,
    restore_delay_s,
    set_arbiters_delay,
    set_delay_from_settings,
    wait_until_published,
)
from live.server.public_view import PublicView
from live.server.retained_messages import RetainedMessages
from live.server.server import Publisher
from live.server.static_files import StaticSite
from live.server.tokens import create_token
from live.server.visibility import Visibility, redact
from live.sources import demo_feed
from tests.event.answered_event import Answer, AnsweredEvent
from tests.event.arithmetic import answer
from tests.journal.test_journal import alter_file
from tests.server.serving import bearer, live
from tests.server.test_public_view import NAMES, PublishedEvent, follower, redacted
from tests.server.world import Clock, World, answer_without_waiting
from tests.sources.fakes import DrivenClock, turns, until, upto
from tests.watch.games import moment
from tests.watch.replayed_event import played

GAMES = 4
DELAY_S = 900.0
#: Time between two reports of a drill.
PACE_S = 90.0
ARBITER, ARBITER_ENTRY = create_token("arbiter", lambda size: b"a" * size, arbiter=True)
#: Ticks fire on the loop's next turn, and no heartbeat falls into a drill.
LIMITS = ClientLimits(
    tick_s=0.0, heartbeat_s=1e6, silent_after_s=1e6, handshakes_burst=1e6
)
SERVED = ("games", "players", "standings", "health")
PATHS = ("/healthz", "/readyz", "/metrics", *(f"/api/v3/{name}" for name in SERVED))


def other_answer(search: Search) -> SearchResult:
    """Another engine: other scores, and other first choices."""
    found = answer(search)
    best = search.only or _legal(search)[-1]
    return msgspec.structs.replace(
        found, score=Score(-2 * found.score.cp + 31), best=best
    )


def _legal(search: Search) -> list[str]:
    board = chess.Board(search.position.start_fen)
    for uci in search.position.moves:
        board.push_uci(uci)
    return sorted(move.uci() for move in board.legal_moves)


def agreeing(parity: int) -> Answer:
    """An engine whose first choice is what was played, at every other ply; its scores
    are those of one engine or of the other.
    """
    played = {}
    for game in demo_feed.read_demo_games()[:GAMES]:
        moves = tuple(move.uci for move in game.moves)
        for ply, move in enumerate(moves):
            played[moves[:ply]] = move

    def engine(search: Search) -> SearchResult:
        found = (answer, other_answer)[parity](search)
        if search.only:
            return found
        moves = tuple(search.position.moves)
        best = played.get(moves)
        if best is None or len(moves) % 2 != parity:
            best = next(
                (each for each in _legal(search) if each != best), _legal(search)[-1]
            )
        return msgspec.structs.replace(found, best=best)

    return engine


class ThinkingEvent(AnsweredEvent):
    """Searches are answered when :meth:`think` is called."""

    def __init__(self, engine: Answer, **settings: object) -> None:
        super().__init__(None, engine, **{"server.port": 0, **settings})
        self.searches = 0
        self.thought: list[int] = []
        """Searches answered after each report."""

    async def think(self) -> None:
        """Answer everything, one search a turn of the loop, and say how busy the
        engines are.
        """
        while self.asked:
            search, request_id = self.asked.popleft()
            self.apply_result(request_id, self.engine(search))
            self.searches += 1
            busy = (
                EngineState(0, "searching", 450.0 + self.searches, request_id.game, 12),
            )
            waiting = QueueLengths(head=len(self.asked))
            health = EngineHealth(
                busy, len(self.asked), searches=self.searches, waiting=waiting
            )
            self.publish(self.state.update_engine_health(health))
            await asyncio.sleep(0)


async def read_all(
    url: str, take: Callable[[bytes], None], headers: dict[str, str] | None = None
) -> None:
    """A websocket to its end."""
    async with connect(url, additional_headers=headers, max_size=None) as client:
        with contextlib.suppress(ConnectionClosed):
            while True:
                take(await client.recv(decode=False))


class Stranger:
    """Everything that reaches somebody without a token, in order, by way."""

    def __init__(self, publisher: Publisher, hide_scores: bool) -> None:
        self.phase = ""
        """What the service does just now, and for which report."""
        self.timed: list[tuple[str, str, bytes]] = []
        """Phase, way and data of all that came."""
        self._publisher = publisher
        seen = public_filter(hide_scores)
        self._broker = RetainedMessages(publisher.public, "live", seen)
        self._lines = io.StringIO()
        printer = JsonPrinter(lambda text: self._note("json", text.encode()))
        printer.begin(snapshot(publisher.public, seen))
        publisher.public.listen(printer.show)
        publisher.public.listen(LinePrinter(Console(file=self._lines)).show)
        publisher.public.listen(self._broker.mark_changed)

    def _note(self, way: str, data: bytes) -> None:
        self.timed.append((self.phase, way, data))

    def look(self, games: Sequence[str]) -> None:
        """Ask every endpoint, and take what a broker would be sent."""
        ends = product(games, ("", ".pgn"))
        paths = [f"/api/v3/games/{id}{end}" for id, end in ends]
        for path in (*PATHS, *paths):
            request = HttpRequest("GET", path, (), {"host": "127.0.0.1"})
            response = answer_without_waiting(self._publisher.clients.answer(request))
            told = f"{path} {response.status} {response.headers}".encode()
            self._note("http", told + b"\n" + response.body)
        for topic, payload in self._broker.take(1000).items():
            self._note("mqtt", topic.encode() + b" " + payload)
        self._note("lines", self._lines.getvalue().encode())
        self._lines.seek(0)
        self._lines.truncate()

    async def listen(self, query: str) -> None:
        """Read one websocket to its end."""
        await read_all(
            live(self._publisher, query), partial(self._note, f"websocket {query}")
        )

    def by_way(self, *, quiet: bool = False) -> dict[str, list[bytes]]:
        """What came by each way, in play or after it: between ways there is no order
        that anybody could compare.
        """
        found: dict[str, list[bytes]] = {}
        for phase, way, data in self.timed:
            if (phase == "quiet") is quiet:
                found.setdefault(way, []).append(data)
        return found


def rounds(plies: int, games: int = GAMES) -> Iterator[tuple[GameReport, ...]]:
    """The reports of some boards, a ply at a time, one board after the other."""
    whole = demo_feed.read_demo_games()[:games]
    done = [0] * games
    for number in range(plies * games):
        done[number % games] += 1
        yield tuple(map(upto, whole, done))


def test_changes_that_are_added_late_are_sorted_among_those_that_wait() -> None:
    clock = Clock()
    line = DelayLine(clock)
    line.delay_s = 60.0
    line.add([GoneMessage("now")])
    earlier_s = clock.now_s - 30.0
    line.add_earlier(
        [
            (clock.now_s, GoneMessage("also now")),
            (earlier_s, GoneMessage("first")),
            (earlier_s, GoneMessage("second")),
        ]
    )
    assert line.next_s == 30.0
    clock.now_s += 30.0
    assert line.take_due() == [GoneMessage("first"), GoneMessage("second")]
    clock.now_s += 30.0
    assert line.take_due() == [GoneMessage("now"), GoneMessage("also now")]


async def settle(publisher: Publisher) -> None:
    """Let what is to be written be written."""
    await turns(4)
    await until(lambda: not any(one._tick for one in publisher.audiences))


async def drill(
    engine: Answer,
    reports: Sequence[tuple[GameReport, ...]],
    *,
    monkeypatch: pytest.MonkeyPatch,
    hide_scores: bool = False,
    delay_s: float = 0.0,
    tokens: Path | None = None,
    quiet_s: float = 0.0,
) -> tuple[Stranger, ThinkingEvent, list[tuple[float, str, bytes]]]:
    """Play ``reports``, one each ``PACE_S``; then ``quiet_s`` without
    a move.

    Gives the stranger, the service, and when each message of an arbiter's and of the
    stranger's websocket came.
    """
    monkeypatch.setattr(secrets, "token_hex", lambda size: "e" * 2 * size)
    service = ThinkingEvent(engine, **{"server.hide_scores": hide_scores})
    moment = Clock()
    public = PublicView(
        service.state,
        delay_s=delay_s,
        hide_scores=hide_scores,
        pseudonyms=NAMES,
        clock=moment,
    )
    config = service.config.server
    if tokens is not None:
        config = msgspec.structs.replace(config, tokens_file=str(tokens), public=True)
    publisher = Publisher(
        config,
        service.state,
        clock=lambda: 0.0,
        limits=LIMITS,
        site=StaticSite(Path("/nowhere")),
        public=public,
    )
    service.bus.subscribe(publisher.audiences.publish)
    timed: list[tuple[float, str, bytes]] = []
    async with publisher:
        stranger = Stranger(publisher, hide_scores)
        listening = [
            asyncio.create_task(stranger.listen(query))
            for query in ("", "?type=move,game", "?board=1")
        ]
        for who, headers in (("arbiter", bearer(ARBITER)), ("public", {})):
            if tokens is not None:

                def take(data: bytes, who: str = who) -> None:
                    timed.append((moment.now_s, who, data))

                attending = read_all(live(publisher), take, headers)
                listening.append(asyncio.create_task(attending))
        await until(lambda: publisher.tally.subscribers == len(listening))
        # Greeting and snapshot of each.
        await until(
            lambda: (
                sum(way.startswith("websocket") for _, way, _ in stranger.timed) >= 6
            )
        )
        await heard(stranger.timed)
        for number, games in enumerate(reports):
            moment.now_s += PACE_S
            public.release_due()
            stranger.phase = f"{number} moved"
            await service.take(FeedReport("hall", games))
            await settle(publisher)
            await heard(stranger.timed)
            stranger.phase = f"{number} thought"
            service.thought.append(service.searches)
            await service.think()
            service.thought[-1] = service.searches - service.thought[-1]
            await settle(publisher)
            await heard(stranger.timed)
            stranger.phase = f"{number} looked"
            stranger.look(
                [public.names.public_id(view.id) for view in service.state.games()]
            )
            await heard(timed)
        await heard(stranger.timed)
        stranger.phase = "quiet"
        for _ in range(round(quiet_s / PACE_S)):
            moment.now_s += PACE_S
            public.release_due()
            await settle(publisher)
            stranger.look(
                [public.names.public_id(view.id) for view in service.state.games()]
            )
            await heard(timed)
    await asyncio.gather(*listening)
    return stranger, service, timed


async def heard(timed: Sequence[object]) -> None:
    """Let what was written reach those who read: until nothing more comes."""
    quiet, before = 0, -1
    while quiet < 3:
        await asyncio.sleep(0.001)
        quiet = quiet + 1 if len(timed) == before else 0
        before = len(timed)


async def test_hidden_scores_cannot_be_told_from_anything_a_stranger_receives(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # Long enough for the figures that leave the opening out.
    reports = list(rounds(30, games=2))
    assert len(reports) == 60
    runs, logs = [], []
    for engine in (agreeing(0), agreeing(1)):
        caplog.clear()
        with caplog.at_level(logging.INFO, "live"):
            runs.append(
                await drill(engine, reports, monkeypatch=monkeypatch, hide_scores=True)
            )
        logs.append([record.getMessage() for record in caplog.records])
    (one, first, _), (two, second, _) = runs
    # The engines did answer differently: other scores, and other numbers of searches.
    assert first.thought != second.thought
    assert snapshot(first.state).games != snapshot(second.state).games
    assert {way for _, way, _ in one.timed} == {
        "json",
        "lines",
        "http",
        "mqtt",
        "websocket ",
        "websocket ?type=move,game",
        "websocket ?board=1",
    }
    for way, data in one.by_way().items():
        assert data == two.by_way()[way], way
    assert logs[0] == logs[1]
    # The gaps say no more than the bytes: each message comes after the same report and
    # in the same phase, and none that a websocket or a line brings waits for an engine.
    assert sorted(one.timed) == sorted(two.timed)
    assert {way for phase, way, _ in one.timed if phase.endswith("thought")} == set()
    # And the stranger did follow the games.
    moves = [
        data for _, way, data in one.timed if way == "websocket " and b'"move"' in data
    ]
    assert len(moves) >= 60


async def test_what_is_held_back_cannot_be_told_until_it_is_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two rounds that part at one move look the same for as long as that move is held
    back.
    """
    played = list(rounds(8))
    parting = 20
    known, other = played[:parting], list(played[:parting])
    # The last one is reported a moment before the first of these is due.
    for games in played[parting : parting + 10]:
        known.append(games)
        # Nothing is played on any board but the last, and that one is taken back.
        other.append((*played[parting - 1][:3], shorten(games[3])))
    one, two = [
        (
            await drill(
                answer,
                each,
                monkeypatch=monkeypatch,
                delay_s=DELAY_S,
                quiet_s=DELAY_S + PACE_S,
            )
        )[0]
        for each in (known, other)
    ]
    for way, data in one.by_way().items():
        assert data == two.by_way()[way], way
    # They parted at last: with the delay over, the stranger sees what differs.
    assert one.by_way(quiet=True)["websocket "] != two.by_way(quiet=True)["websocket "]


def shorten(game: GameReport) -> GameReport:
    return msgspec.structs.replace(game, moves=game.moves[:2])


async def test_arbiters_see_everything_at_once_and_the_public_after_the_delay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens.toml"
    tokens.write_text(ARBITER_ENTRY, encoding="utf-8")
    reports = list(rounds(8))
    # A correction on board 1 raises an alert.
    reports.append((shorten(reports[-1][0]), *reports[-1][1:]))
    _, _, timed = await drill(
        answer,
        reports,
        monkeypatch=monkeypatch,
        delay_s=DELAY_S,
        tokens=tokens,
        quiet_s=DELAY_S + PACE_S,
    )
    came: dict[str, dict[tuple[str, int], float]] = {"arbiter": {}, "public": {}}
    alerts: dict[str, list[float]] = {"arbiter": [], "public": []}
    for at_s, who, data in timed:
        message = json.loads(data)
        if message["type"] == "move" and message["move"] is not None:
            came[who].setdefault((message["game"], message["ply"]), at_s)
        elif message["type"] == "alert":
            alerts[who].append(at_s)
    assert len(came["arbiter"]) == 32
    came["arbiter"] = {
        (NAMES.game_id(id), ply): at for (id, ply), at in came["arbiter"].items()
    }
    assert came["public"].keys() == came["arbiter"].keys()
    start_s = Clock().now_s
    for number, at_s in enumerate(sorted(came["arbiter"].values()), 1):
        assert at_s == start_s + PACE_S * number
    for move, at_s in came["public"].items():
        assert at_s == came["arbiter"][move] + DELAY_S
    assert alerts["public"] == []
    assert alerts["arbiter"][0] == start_s + PACE_S * len(reports)


async def test_what_waits_is_passed_on_as_soon_as_it_may_be() -> None:
    clock, world = DrivenClock(), World(2)
    public = PublicView(world, delay_s=90.0, clock=clock.now)
    came: list[float] = []
    public.listen(lambda changes: came.append(clock.now()))
    began_s = clock.now()
    public.publish(world.appear("g1"))
    passing = asyncio.create_task(publish_due_changes(public, clock))
    async with asyncio.timeout(20):
        await wait_until_published(public, clock)
    passing.cancel()
    assert came and began_s + 90 <= came[0] <= began_s + 91
    assert public.next_s is None


# --- over a restart: nothing is early, and nothing that was public is taken back ---

BEHIND_S = 60.0
OPENING = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Nb8 d4 Nbd7 Nbd2 Bb7"
)
LINE = OPENING.split()


class JournalledEvent(PublishedEvent):
    """A service with a journal and a public that is late, for as long as it is not
    killed.
    """

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.journal = Journal(
            service.path,
            now_ms=lambda: round(service.wall_s * 1000),
            steady_ms=lambda: service.steady_s * 1000,
        ).__enter__()
        for game in games_of(self.journal):
            for changes in self.state.restore(game):
                self.publish(changes)
        self.journal.begin_run(
            JournalRun(version="1", engine_name="none", identity="x", limit="y")
        )
        self.public = PublicView(
            self.state,
            delay_s=BEHIND_S,
            unshown=find_unpublished(self.journal, self.state, BEHIND_S),
            clock=lambda: service.steady_s,
        )
        self.client = follower(self.public)
        self.public.listen(partial(note_moves_shown, self.public, self.journal))

    def report(self, report: FeedReport) -> None:
        for changes in self.state.apply_report(report):
            for change in changes:
                if isinstance(change, ReportedStep):
                    self.journal.add_change(change.step)
            self.publish(changes)


def games_of(journal: Journal) -> list[Game]:
    """The games as the journal has them."""
    found = (
        replay_game(id, journal.read_changes_of_game(id))
        for id in journal.read_last_change_times()
    )
    return [game for game in found if game is not None]


class Service:
    """What lives longer than one start: the machine's clock, the file, and what was
    played when.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "a.sqlite"
        self.wall_s = 1_700_000_000.0
        self.steady_s = 1_000.0
        self.plies = [0, 0, 0]
        self.results: list[Result] = ["*", "*", "*"]
        self.heads = [0, 0, 0]
        # What was true of each board since when, in seconds that no clock can change.
        self.history: list[list[tuple[float, tuple[int, Result]]]] = [[], [], []]
        self.event = JournalledEvent(self)

    def game(self, board: int) -> GameReport:
        line, result = LINE[: self.plies[board]], self.results[board]
        about: Any = {
            "white": Player(f"White {board}"),
            "opening": f"{self.heads[board]}",
        }
        return played(
            " ".join(line), result=result, board=board + 1, round="8.1", **about
        )

    def act(self, board: int, what: str) -> None:
        if what == "move":
            self.plies[board] = min(len(LINE), self.plies[board] + 1)
        elif what == "take back":
            self.plies[board] = max(0, self.plies[board] - 1)
        elif what == "over":
            self.results[board] = "1/2-1/2" if self.results[board] == "*" else "*"
        else:
            self.heads[board] += 1
        self.event.report(FeedReport("hall", (self.game(board),)))
        self.history[board].append(
            (self.steady_s, (self.plies[board], self.results[board]))
        )
        self.check()

    def wait(self, seconds: float) -> None:
        end_s = self.steady_s + seconds
        moments = {end_s}
        for board in self.history:
            for at_s, _ in board:
                # What is early is public in the last second before it is due.
                moments |= {at_s + BEHIND_S - 1, at_s + BEHIND_S}
        for at_s in sorted(moments):
            if self.steady_s < at_s <= end_s:
                self.wall_s += at_s - self.steady_s
                self.steady_s = at_s
                self.event.public.release_due()
                self.check()

    def step(self, seconds: float) -> None:
        self.wall_s += seconds
        self.check()

    def restart(self, away_s: float) -> None:
        seen = self.read_public_boards()
        assert self.event.journal.wait_until_written()
        self.event.journal.__exit__(None, None, None)
        self.wall_s += away_s
        self.event = JournalledEvent(self)
        assert self.read_public_boards() == seen, (
            "a restart shows what was shown, no more and no less"
        )
        self.check()

    def read_public_boards(self) -> dict[int, tuple[int, Result]]:
        """Plies and result of each board, as the public knows them."""
        public = self.event.public
        assert snapshot(public) == redact(
            self.event.client.snapshot(), Visibility.PUBLIC
        )
        views = [public.game(view.id) for view in public.games()]
        return {
            view.board - 1: (len(view.plies), view.result)
            for view in views
            if view and view.board
        }

    def check(self) -> None:
        """Nothing is public that was not true a delay ago or before."""
        for board, (plies, result) in self.read_public_boards().items():
            ripe = [
                true
                for at_s, true in self.history[board]
                if at_s <= self.steady_s - BEHIND_S
            ]
            assert (plies, result) in ripe, (board, plies, result)


BOARDS = st.integers(0, 2)
KINDS = ["move"] * 5 + ["take back", "over", "head"]
ACTIONS = st.one_of(
    st.tuples(st.just("act"), BOARDS, st.sampled_from(KINDS)),
    st.tuples(st.just("wait"), st.sampled_from([1.0, 7.0, 20.0, 45.0, 61.0])),
    st.tuples(st.just("step"), st.sampled_from([-3600.0, -5.0, 30.0, 3600.0, 86400.0])),
    st.tuples(st.just("restart"), st.sampled_from([0.0, 1.0, 90.0, 3600.0, -3600.0])),
)


@settings(max_examples=30)
@given(actions=st.lists(ACTIONS, min_size=5, max_size=30))
@example(
    actions=[
        ("act", 0, "move"),
        ("wait", 61.0),
        ("act", 0, "move"),
        ("wait", 7.0),
        ("act", 0, "take back"),
        ("restart", 1.0),
        ("wait", 61.0),
    ]
)
def test_nothing_is_early_and_no_restart_takes_anything_back(
    actions: list[tuple[str, ...]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        try:
            for name, *args in actions:
                getattr(service, name)(*args)
        finally:
            service.event.journal.__exit__(None, None, None)


@pytest.mark.parametrize("stepped_s", [3600.0, -3600.0])
@pytest.mark.parametrize(
    "away", [True, False], ids=["while it was away", "while it ran"]
)
def test_a_clock_an_hour_forward_or_back_makes_nothing_early(
    tmp_path: Path, stepped_s: float, away: bool
) -> None:
    """What had waited 20 of its 60 seconds waits the other 40, over every restart."""
    service = Service(tmp_path)
    for _ in range(3):
        service.act(0, "move")
        service.wait(BEHIND_S)
    service.act(0, "move")
    service.wait(20)
    for _ in range(3):
        if not away:
            service.step(stepped_s)
        # As the service does that ends, or every minute.
        service.event.journal.add_note("alive", b"{}")
        service.restart(stepped_s if away else 0.0)
        assert service.read_public_boards() == {0: (3, "*")}
    service.wait(39)
    assert service.read_public_boards() == {0: (3, "*")}
    service.wait(2)
    assert service.read_public_boards() == {0: (4, "*")}
    service.event.journal.__exit__(None, None, None)


LAST = "WHERE n = (SELECT max(n) FROM changes)"
LAST_BUT_ONE = "WHERE n = (SELECT max(n) - 1 FROM changes)"
DAMAGES = {
    "a change of tomorrow": f"UPDATE changes SET at_ms = at_ms + 86400000 {LAST}",
    "a change of 1970": f"UPDATE changes SET at_ms = 0 {LAST}",
    "an earlier change of 1970": f"UPDATE changes SET at_ms = 0 {LAST_BUT_ONE}",
    "an unknown run": f"UPDATE changes SET run = 7 {LAST}",
    "another game": f"UPDATE changes SET game = 'another' {LAST_BUT_ONE}",
    "a note of tomorrow": (
        "UPDATE notes SET at_ms = at_ms + 86400000 WHERE n = (SELECT max(n) FROM notes)"
    ),
    "a note misspelt": "UPDATE notes SET kind = 'clocc' WHERE kind = 'clock'",
    "runs of 1970": "UPDATE runs SET at_ms = 0",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record_makes_nothing_early(tmp_path: Path, damage: str) -> None:
    service = Service(tmp_path)
    for _ in range(3):
        service.act(0, "move")
        service.wait(BEHIND_S)
    service.act(0, "move")
    service.wait(5)
    service.step(3600)
    for _ in range(3):
        service.act(0, "move")
        service.wait(5)
    assert service.event.journal.wait_until_written()
    service.event.journal.__exit__(None, None, None)
    alter_file(service.path, damage)
    for _ in range(2):
        service.event = JournalledEvent(service)
        assert not service.event.journal.is_unrecoverable
        service.check()
        service.wait(BEHIND_S - 30)
        assert service.read_public_boards().get(0, (0, "*"))[0] <= 4
        service.event.journal.__exit__(None, None, None)


@pytest.mark.parametrize("ahead", ["hall", "web"])
def test_a_game_of_two_sources_is_shown_after_a_restart_as_far_as_it_was(
    tmp_path: Path, ahead: str
) -> None:
    service = Service(tmp_path)

    def report_both(plies: int, plies_ahead: int) -> None:
        for feed in ("hall", "web"):
            service.plies[0] = plies_ahead if feed == ahead else plies
            service.event.report(FeedReport(feed, (service.game(0),)))
        service.history[0].append((service.steady_s, (plies_ahead, "*")))

    def public() -> list[tuple[int, int]]:
        return [
            (game.plies_played, len(game.plies))
            for game in service.event.client.snapshot().games
        ]

    report_both(17, 20)
    assert len(list(service.event.state.games())) == 1
    service.wait(BEHIND_S + 1)
    report_both(19, 22)
    service.wait(5)
    assert public() == [(20, 20)]
    assert service.event.journal.wait_until_written()
    service.event.journal.__exit__(None, None, None)
    service.event = JournalledEvent(service)
    assert public() == [(20, 20)]
    service.wait(BEHIND_S - 10)
    assert public() == [(20, 20)]
    service.wait(10)
    assert public() == [(22, 22)]


def test_what_rests_on_games_of_before_is_held_back_with_them() -> None:
    world = World(5, "g1", "g2", plies=4)
    for _ in range(12):
        world.point()
    world.standing()
    world.info = EngineInfo(
        "Stockfish", "100000 nodes", 2901, "field", rating_moves=120
    )
    # The others compare both games, and are of the one that is not held back.
    told = (
        moment("g1"),
        moment("g2"),
        moment("g2", id="g2:best-played:1", kind="best-played", color=None),
        moment("g2", id="g2:highest:white", kind="highest", color="white"),
    )
    world.told = {each.id: each for each in told}
    now = [1000.0]
    public = PublicView(
        world,
        delay_s=900.0,
        unshown={"g1": [(30.0, None)], "g2": [(901.0, None)]},
        stored_engine=EngineInfo("Stockfish", "100000 nodes", 2850, "calibration"),
        pseudonyms=NAMES,
        clock=lambda: now[0],
    )
    first, second = map(public.names.public_id, ("g1", "g2"))
    for _ in range(2):
        assert [view.id for view in public.games()] == [second] and public.game(
            first
        ) is None
        assert not list(public.players())
        assert list(public.moments()) == [NAMES.redact(told[1])]
        assert (
            public.describe_delay().held_moves,
            public.describe_delay().held_boards,
        ) == (4, 1)
        engine = public.engine()
        rating = (engine.rating, engine.rating_source, engine.rating_moves)
        assert rating == (2850, "calibration", 0)
        now[0] = 1869.0
        public.release_due()
    now[0] += 1
    public.release_due()
    assert list(public.players()) and len(list(public.moments())) == len(world.told)
    assert snapshot(public) == redacted(snapshot(world))


async def test_a_game_has_changed_when_any_of_its_sources_has_changed_it(
    tmp_path: Path,
) -> None:
    service = AnsweredEvent()
    report = demo_feed.read_demo_games()[0]
    silent, further = upto(report, 20), upto(report, 22)
    await service.take(FeedReport("first", (silent,)))
    await service.take(FeedReport("second", (further,)))
    (shown,) = service.state.games()
    assert shown.feed == "first" and shown.also == ("second",)
    now_ms = [0]
    with Journal(tmp_path / "empty.sqlite") as journal:
        # Of what no time is known, it is held back whole.
        assert find_unpublished(journal, service.state, 900.0) == {
            shown.id: [(0.0, None)]
        }
    with Journal(tmp_path / "a.sqlite", now_ms=lambda: now_ms[0]) as journal:
        for at_s, held in zip(
            (1000, 4970), service.state.list_source_games(), strict=True
        ):
            now_ms[0] = at_s * 1000
            journal.add_change(NewGame(held))
        assert journal.wait_until_written()
        now_ms[0] = 5_000_000
        journal.add_note("mark", b"{}")
        assert journal.wait_until_written()
        unshown = find_unpublished(journal, service.state, 900.0)
    assert unshown[shown.id][-1] == (30.0, None)
    public = PublicView(
        service.state, delay_s=900.0, unshown=unshown, clock=lambda: 5000.0
    )
    # What the one that is silent had reported long ago.
    seen = public.game(public.names.public_id(shown.id))
    assert seen is not None and (len(seen.plies), shown.plies_played) == (20, 22)


def test_a_clock_that_stood_ahead_before_the_restart_holds_nothing_up_longer() -> None:
    world = World(3, "g1")
    now = [1000.0]
    public = PublicView(
        world, delay_s=900.0, unshown={"g1": [(-86_400.0, None)]}, clock=lambda: now[0]
    )
    assert public.next_s == 900.0
    public.publish(world.appear("g2"))
    now[0] += 900
    public.release_due()
    assert [view.id for view in public.games()] == [
        *map(public.names.public_id, ("g1", "g2"))
    ]


def test_a_delay_set_with_the_key_lasts_over_a_restart_until_somebody_changes_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "a.sqlite"
    assert restore_delay_s(60.0, Journal()) == 60.0
    with Journal(file) as journal:
        assert restore_delay_s(60.0, journal) == 60.0
        public = PublicView(World(1))
        set_arbiters_delay(public, journal, 300)
        set_arbiters_delay(public, journal, 900)
        assert public.delay_s == 900
    assert not caplog.messages
    with Journal(file) as journal:
        assert restore_delay_s(60.0, journal) == 900.0
        (said,) = caplog.messages
        assert "900 s" in said and "60 s" in said and "press d" in said
        assert restore_delay_s(1200.0, journal) == 1200.0
        set_delay_from_settings(public, journal, 30.0)
        assert public.delay_s == 30.0
    with Journal(file) as journal:
        assert restore_delay_s(30.0, journal) == 30.0
