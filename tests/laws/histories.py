"""What may happen to a broadcast, drawn at random, and a hall to which it happens."""

import contextlib
import random
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import chess
import msgspec
from hypothesis import strategies as st

from live.engine.search import (
    Position,
    Search,
    SearchFailure,
    SearchProgress,
    SearchResult,
)
from live.event.game_change import EventChange, GameChange, ReportedStep
from live.games.game import Game, GameGone, Step
from live.messages.figures import EngineInfo, GameDetail, PlayerView
from live.messages.from_sources import (
    FeedReport,
    GameReport,
    Headers,
    Move,
    Player,
    Result,
    Score,
)
from live.messages.health import EngineHealth
from live.messages.to_clients import GameMessage, GoneMessage, SnapshotMessage
from live.server import wire
from live.server.analysis import build_analysis
from live.server.brief import encode_brief
from live.server.event_reader import EventReader
from live.server.filtered_reader import snapshot
from live.server.reference_client import ReferenceClient
from live.server.stream_filter import ALL, EVERYTHING, StreamFilter
from live.server.streams import StreamHub
from live.server.visibility import Visibility
from tests.event.answered_event import (
    FEED,
    AnsweredEvent,
    FollowedEvent,
    confirm_games,
    left_behind,
)
from tests.event.arithmetic import answer, line
from tests.server.world import Clock

# --- what happens ---------------------------------------------------------------------


class Reported(NamedTuple):
    """The source tells all its games."""

    games: tuple[GameReport, ...]

    def __repr__(self) -> str:
        games = []
        for each in self.games:
            sans = " ".join(move.san for move in each.moves)
            games.append(f"{each.headers.white.name} {sans} {each.result}")
        return f"Reported({'; '.join(games)})"


class Answered(NamedTuple):
    """The engine answers some of what is asked, in an order of the seed's."""

    searches: int
    seed: int


class Progressed(NamedTuple):
    """The engine says what it thinks of a position so far."""

    seed: int


class Waited(NamedTuple):
    """Nothing happens for so long."""

    seconds: float


class Joined(NamedTuple):
    """Somebody begins to follow a part of the event."""

    selected: StreamFilter


class Gone(NamedTuple):
    """A game is there no more, until its source tells it again."""

    board: int


class Killed(NamedTuple):
    """The service is killed, and another one goes on from the files that it left."""


Act = Reported | Answered | Progressed | Waited | Joined | Gone | Killed
History = list[Act]

#: Another spelling, a corrected rating, a title; and somebody without a name.
WHITES = (
    (
        Player("Anand", elo=2811),
        Player("Anand, V", elo=1200),
        Player("ANAND", title="GM"),
    ),
    (Player("Carlsen", elo=2826), Player("Carlsen"), Player("Carlsen", elo=2100)),
    (Player("Ding, Liren"), Player("Ding, Liren", elo=2400), Player("Ding Liren")),
)
BLACKS = (Player("Carlsen", elo=2826), Player("Ding, Liren"), Player("", elo=1900))
BOARDS = len(WHITES)
FILTERS = (
    EVERYTHING,
    StreamFilter(boards=frozenset({"1", "3"})),
    StreamFilter(players=frozenset({"carlsen"})),
    StreamFilter(brief=True),
    StreamFilter(gains=True),
    StreamFilter(visibility=Visibility.VENUE),
    ALL,
)


def build_report(board: int) -> GameReport:
    """A game that has not begun."""
    white, black = WHITES[board][0], BLACKS[board]
    headers = Headers(
        white, black, event="Open", round=f"1.{board + 1}", board=board + 1
    )
    return GameReport(f"key-{board}", headers, chess.STARTING_FEN)


def play_on(moves: Sequence[Move], choices: Sequence[int]) -> tuple[Move, ...]:
    """The moves and, after them, one legal move for each choice."""
    board = chess.Board()
    for move in moves:
        board.push_uci(move.uci)
    return (*moves, *line(*choices, start_fen=board.fen()))


CHOICES = st.lists(st.integers(0, 40), min_size=1, max_size=4)


@st.composite
def changed_reports(draw: st.DrawFn, report: GameReport) -> GameReport:
    """The same game as its source tells it next."""
    kinds = ["play"] * 3 + ["take back", "correct"] * 2 + ["result", "headers", "clock"]
    kind = draw(st.sampled_from(kinds))
    held = report.moves
    if kind in {"take back", "correct"} and held:
        held = held[: draw(st.integers(0, len(held) - 1))]
    if kind in {"play", "correct"}:
        held = play_on(held, draw(CHOICES))
    elif kind == "result":
        result: Result = draw(st.sampled_from(["*", "1-0", "1/2-1/2"]))
        return msgspec.structs.replace(report, result=result)
    elif kind == "headers":
        board = int(report.key.removeprefix("key-"))
        white = draw(st.sampled_from(WHITES[board]))
        control = draw(st.sampled_from(["", "90+30", "180+2"]))
        headers = msgspec.structs.replace(
            report.headers, white=white, time_control=control
        )
        return msgspec.structs.replace(report, headers=headers)
    elif kind == "clock" and held:
        last = msgspec.structs.replace(
            held[-1], clock_s=draw(st.sampled_from([60.0, 5.0]))
        )
        held = (*held[:-1], last)
    return msgspec.structs.replace(report, moves=held)


@st.composite
def histories(draw: st.DrawFn, *, acts: int = 12, kills: bool = True) -> History:
    """Reports, takebacks, corrections, answers in any order, restarts, delays and
    filters.
    """
    reports = [build_report(board) for board in range(BOARDS)]
    # Long enough, now and then, for the figures that leave the opening out.
    for board, plies in enumerate((18, 4, 0)):
        if draw(st.booleans()):
            known = play_on((), range(3, 3 + plies))
            reports[board] = msgspec.structs.replace(reports[board], moves=known)
    history: History = [Reported(tuple(reports))]
    kinds = (
        ["report"] * 6
        + ["answer"] * 5
        + ["progress", "wait", "wait", "join", "absence", "gone"]
    )
    for _ in range(draw(st.integers(1, acts))):
        match draw(st.sampled_from([*kinds, "kill"] if kills else kinds)):
            case "report":
                board = draw(st.integers(0, BOARDS - 1))
                reports[board] = draw(changed_reports(reports[board]))
                history.append(Reported(tuple(reports)))
            case "absence":
                # One of the games is missing for once.
                board = draw(st.integers(0, BOARDS - 1))
                history.append(Reported((*reports[:board], *reports[board + 1 :])))
            case "answer":
                searches = draw(st.sampled_from([1, 3, 10, 1000]))
                history.append(Answered(searches, draw(st.integers(0, 2**16))))
            case "progress":
                history.append(Progressed(draw(st.integers(0, 2**16))))
            case "wait":
                history.append(Waited(draw(st.sampled_from([1.0, 20.0, 45.0, 61.0]))))
            case "join":
                history.append(Joined(draw(st.sampled_from(FILTERS))))
            case "gone":
                history.append(Gone(draw(st.integers(0, BOARDS - 1))))
            case "kill":
                history.append(Killed())
    return [*history, Reported(tuple(reports))]


# --- to whom it happens ---------------------------------------------------------------


def answer_by_position(search: Search) -> SearchResult:
    """The same in one position, however it came about."""
    board = chess.Board(search.position.start_fen)
    for uci in search.position.moves:
        board.push_uci(uci)
    position = Position(board.fen(), ())
    return answer(msgspec.structs.replace(search, position=position))


def answer_or_fail(search: Search) -> SearchResult | SearchFailure:
    """Like :func:`answer_by_position`, but one search in some twenty kills its
    engines.
    """
    found = answer_by_position(search)
    is_lost = found.score.cp % 19 == 0
    return SearchFailure("killed three engines") if is_lost else found


def find_known(search: Search) -> SearchResult | None:
    """What a journal has of a search."""
    found = answer_or_fail(search)
    return found if isinstance(found, SearchResult) else None


class Follower:
    """Follows one stream from the moment it joins, through real encoded bytes."""

    def __init__(self, hub: StreamHub, selected: StreamFilter) -> None:
        self.stream = hub.open_stream(selected)
        self.client = ReferenceClient()
        self.received: list[bytes] = []
        for each in hub.list_catch_up(self.stream):
            self.receive(wire.number(each.body, each.seq))

    def receive(self, payload: bytes) -> None:
        self.received.append(payload)
        self.client.receive(payload)


def read_fresh(state: EventReader, selected: StreamFilter) -> SnapshotMessage:
    """A fresh snapshot as a client reads it."""
    fresh = snapshot(state, selected)
    if selected.brief:
        return msgspec.json.decode(encode_brief(fresh), type=SnapshotMessage)
    return fresh


class Streams:
    """The streams of one audience, and who follows them."""

    def __init__(self, state: EventReader, filters: Sequence[StreamFilter]) -> None:
        self.state = state
        self.hub = StreamHub(state, epoch="e", clock=Clock())
        self.followers: list[Follower] = []
        for selected in filters:
            self.join(selected)

    def join(self, selected: StreamFilter) -> None:
        # The snapshot already says what the stream holds at this moment.
        self.deliver()
        self.followers.append(Follower(self.hub, selected))

    def deliver(self) -> None:
        """Give everybody what there is."""
        self.hub.flush()
        for stream in self.hub.streams:
            payloads = [each.plain for each in stream.take()]
            readers = [each for each in self.followers if each.stream is stream]
            for payload in payloads:
                for reader in readers:
                    reader.receive(payload)

    def check(self) -> None:
        """Everybody holds what a fresh snapshot says."""
        self.deliver()
        for each in self.followers:
            assert each.client.snapshot() == read_fresh(self.state, each.stream.filter)


class FollowedLines:
    """The moves of each game, as the changes of an event alone tell them."""

    def __init__(self, event: FollowedEvent) -> None:
        self._event = event
        self._lines: dict[str, list[str]] = {}
        event.bus.follow(self._follow)

    def _follow(self, changes: Sequence[EventChange]) -> None:
        for change in changes:
            match change:
                case GoneMessage(game=id):
                    del self._lines[id]
                case GameMessage(game=view):
                    self._lines.setdefault(view.id, [])
                case GameChange():
                    self._follow_game(change)
        records = self._event.state.list_records()
        assert self._lines == {
            each.game.id: self._read_line(each.game.id) for each in records
        }

    def _follow_game(self, change: GameChange) -> None:
        """It names the first ply that differs, and the moves that stood."""
        same = change.from_ply - 1
        stood = self._lines.setdefault(change.game, [])
        assert stood[same:] == [move.uci for move in change.withdrawn]
        now = self._read_line(change.game)
        assert now[same : same + 1] != stood[same : same + 1]
        stood[same:] = now[same:]

    def _read_line(self, id: str) -> list[str]:
        record = self._event.state.find_record(id)
        assert record is not None
        return [move.uci for move in record.moves]


class Hall(AnsweredEvent):
    """A service with a journal, an engine of arithmetic and people who follow it."""

    def __init__(self, path: Path | None, filters: Sequence[StreamFilter] = ()) -> None:
        super().__init__(path)
        self.filters = filters
        self.streams = Streams(self.state, ())
        self.moments: list[list[Game]] = [[]]
        """The games of its sources after each step."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Hall"]:
        """Its journal open, what that holds shown again, and its streams ready."""
        with self.journal.opened(self.config):
            await self.restore(find_known)
            self.streams = Streams(self.state, self.filters)
            self.bus.subscribe(self.streams.hub.publish)
            yield self

    def reply(self) -> None:
        search, request_id = self.asked.popleft()
        self.apply_result(request_id, answer_or_fail(search))

    def reply_all(self) -> None:
        while self.asked:
            self.reply()

    def act(self, act: Act) -> None:
        """Let it happen, a kill aside."""
        match act:
            case Reported(games):
                report = FeedReport(FEED, games, complete=True)
                for changes in self.state.apply_report(report):
                    self.publish(changes)
                    self.moments.append(self.hold())
            case Answered(searches, seed):
                chance = random.Random(seed)
                for _ in range(min(searches, len(self.asked))):
                    self.asked.rotate(chance.randrange(len(self.asked)))
                    self.reply()
                health = EngineHealth(queued=len(self.asked), searches=searches)
                self.publish(self.state.update_engine_health(health))
            case Progressed(seed) if self.asked:
                _, request_id = random.Random(seed).choice(self.asked)
                progress = SearchProgress(Score(seed % 99), 5)
                self.publish(self.state.apply_progress(request_id, progress))
            case Waited():
                # What stands still is kept whole.
                self.journal.report_and_save(self.inbox.health)
            case Joined(selected):
                self.streams.join(selected)
            case Gone(board):
                for game in self.hold():
                    if game.key == f"key-{board}":
                        self._take_step(GameGone(game.id))
                        # The next game with this id may use the same request ids.
                        self.asked = deque(
                            each for each in self.asked if each[1].game != game.id
                        )

    def _take_step(self, step: Step) -> None:
        self.publish([ReportedStep(step), *self.state.apply_step(step)])
        self.moments.append(self.hold())

    def hold(self) -> list[Game]:
        """The games of its sources."""
        return list(self.state.list_source_games())

    def show(self) -> tuple[tuple[GameDetail, ...], tuple[PlayerView, ...], EngineInfo]:
        """What is rated, as when every source has reported its games again."""
        whole = confirm_games(build_analysis(self.state))
        return whole.games, whole.players, whole.engine

    def count_gains(self) -> dict[str, Counter[int]]:
        """The gains of each player, counted move by move in all curves."""
        counted: dict[str, Counter[int]] = {
            view.id: Counter() for view in self.state.players()
        }
        for view in self.state.games():
            detail = self.state.game(view.id)
            assert detail is not None
            sides = (detail.curves.white, detail.curves.black)
            for player, points in zip(
                self.state.player_ids(view.id), sides, strict=True
            ):
                counted[player].update(point.gain_cp for point in points if point.n)
        return counted


class Course:
    """A history as it befalls one service after the other."""

    def __init__(self, folder: Path, filters: Sequence[StreamFilter] = ()) -> None:
        self._folder = folder
        self._filters = filters
        self._stack = contextlib.AsyncExitStack()
        self.starts = 0
        self.hall: Hall

    async def __aenter__(self) -> "Course":
        await self._start(self._folder / "journal.sqlite")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _start(self, path: Path) -> None:
        self.starts += 1
        self.path = path
        hall = Hall(path, self._filters)
        self.hall = await self._stack.enter_async_context(hall.running())

    async def act(self, act: Act) -> None:
        if isinstance(act, Killed):
            self.hall.flush()
            await self._start(
                left_behind(self.path, self._folder, f"killed {self.starts}")
            )
        else:
            self.hall.act(act)
