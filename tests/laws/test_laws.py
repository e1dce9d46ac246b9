"""The laws of the house, over whatever may happen to a broadcast, and one round from
end to end.
"""

import asyncio
import contextlib
import io
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import chess
import msgspec
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rich.console import Console

from live.errors import InputError
from live.games.game import Game, NewGame
from live.games.player_identity import preferred_game_id
from live.messages.figures import GameDetail, PlyView
from live.messages.from_sources import FeedReport, GameReport, Headers, Player
from live.messages.to_clients import Change, MoveMessage
from live.rehearse.rehearsal import write_pgn
from live.screens.printed_changes import JsonPrinter, LinePrinter
from live.server.authentication import Authentication, public_filter
from live.server.event_reader import EventReader
from live.server.filtered_reader import snapshot
from live.server.http_values import HttpRequest
from live.server.public_delay import find_unpublished, note_moves_shown
from live.server.public_view import PublicView
from live.server.retained_messages import RetainedMessages
from live.server.site_stream import SiteStream
from live.server.static_files import StaticSite
from live.server.stream_filter import ALL, EVERYTHING
from live.server.visibility import Visibility, redact
from live.settings import ServerConfig
from live.sources.pgn_file import read_pgn_file
from tests.event.answered_event import FEED, left_behind
from tests.event.arithmetic import line
from tests.fuzz.mutation import mutate
from tests.laws.histories import (
    BOARDS,
    FILTERS,
    Answered,
    Course,
    FollowedLines,
    Hall,
    History,
    Killed,
    Progressed,
    Reported,
    Streams,
    Waited,
    build_report,
    histories,
)
from tests.server.serving import build_routes
from tests.server.test_public_view import NAMES, redacted
from tests.server.world import Clock, answer_without_waiting


def try_histories(count: int) -> settings:
    """So many examples. A history is short and is read as it is: to make one shorter
    takes longer than a test may.
    """
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    checks = (HealthCheck.too_slow, HealthCheck.data_too_large)
    return settings(max_examples=count, phases=phases, suppress_health_check=checks)


Scenario = Callable[[Path], Coroutine[Any, Any, None]]


def run(scenario: Scenario) -> None:
    """Run a scenario in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder)))


# --- order does not matter ------------------------------------------------------------


@given(histories(kills=False))
@try_histories(40)
def test_after_any_history_the_event_is_what_its_games_alone_make_it(
    history: History,
) -> None:
    async def play(folder: Path) -> None:
        hall, calm = Hall(None), Hall(None)
        FollowedLines(hall)
        for act in history:
            hall.act(act)
            if isinstance(act, Reported):
                told = {each.key: each.moves for each in act.games if each.moves}
                held = {each.key: each.moves for each in hall.hold()}
                assert told.items() <= held.items()
        hall.reply_all()
        for game in hall.hold():
            calm.publish(calm.state.apply_step(NewGame(game)))
        calm.reply_all()
        assert hall.show() == calm.show()
        for player, gains in hall.count_gains().items():
            assert hall.state.gains(player) == tuple(sorted(gains.items()))

    run(play)


# --- snapshot and messages are the fresh snapshot -------------------------------------


@given(histories(kills=False))
@try_histories(60)
def test_everybody_holds_what_a_fresh_snapshot_says(history: History) -> None:
    """A tick comes when nothing happens; what comes before it waits for it."""

    async def play(folder: Path) -> None:
        async with Hall(None, FILTERS).running() as hall:
            for act in history:
                hall.act(act)
                if isinstance(act, Waited):
                    hall.streams.check()
            hall.reply_all()
            hall.streams.check()

    run(play)


# --- what is withheld changes no byte -------------------------------------------------


GAMES = [preferred_game_id(build_report(board)) for board in range(BOARDS)]
SERVED = ("games", "players", "moments", "health")
PATHS = ("/healthz", "/readyz", *(f"/api/v3/{name}" for name in SERVED))


class Stranger:
    """What reaches somebody without a token, but by websocket: printed changes, answers
    by HTTP, the messages of a broker and of a site.
    """

    def __init__(
        self, hall: Hall, public: PublicView, *, hide_scores: bool = False
    ) -> None:
        config = ServerConfig(hide_scores=hide_scores)
        self._guest = Authentication(None, config).authenticate(
            HttpRequest("GET", "/", (), {})
        )
        site = StaticSite(Path("/nowhere"))
        self._routes = build_routes(hall.state, site, public, config=config)
        games = map(public.names.public_id, GAMES)
        ends = product(games, ("", ".pgn"))
        self._paths = (*PATHS, *(f"/api/v3/games/{id}{end}" for id, end in ends))
        seen = public_filter(hide_scores)
        self._printed = io.StringIO()
        printer = JsonPrinter(self._printed.write)
        printer.begin(snapshot(public, seen))
        public.listen(printer.show)
        public.listen(LinePrinter(Console(file=self._printed)).show)
        self._broker = RetainedMessages(public, "p", seen)
        public.listen(self._broker.mark_changed, self._broker.reset)
        self._site = SiteStream(public, seen, epoch="e", clock=Clock())
        public.listen(self._site.publish, self._site.reset)

    def look(self) -> list[object]:
        """Ask every address; return all that has come so far."""
        answers = [self._ask(path) for path in self._paths]
        site = [(each.topic, each.payload) for each in self._site.take()]
        return [*answers, self._broker.take(1000), site, self._printed.getvalue()]

    def _ask(self, path: str) -> tuple[object, ...]:
        request = HttpRequest("GET", path, (), {"host": "127.0.0.1"})
        answer = answer_without_waiting(self._routes.answer(request, self._guest))
        return path, answer.status, answer.headers, answer.body


class Venue:
    """Everything that reaches people who are shown no scores, in order."""

    def __init__(self, hall: Hall) -> None:
        public = PublicView(
            hall.state, hide_scores=True, pseudonyms=NAMES, clock=Clock()
        )
        hall.bus.subscribe(public.publish)
        self.streams = Streams(public, [public_filter(hide_scores=True)])
        public.listen(self.streams.hub.publish, self.streams.hub.reset)
        self._stranger = Stranger(hall, public, hide_scores=True)
        self.heard: list[object] = []

    def listen(self) -> None:
        self.streams.check()
        (follower,) = self.streams.followers
        self.heard += [*follower.received, *self._stranger.look()]
        follower.received.clear()


@given(histories(kills=False))
@try_histories(12)
def test_a_venue_without_scores_hears_the_same_whatever_the_engine_says(
    history: History,
) -> None:
    async def play(folder: Path) -> None:
        venues = []
        for is_answered in (True, False):
            hall = Hall(None)
            venue = Venue(hall)
            for act in history:
                if is_answered or not isinstance(act, Answered):
                    hall.act(act)
                venue.listen()
            venues.append(venue)
        one, other = venues
        assert one.heard == other.heard

    run(play)


DELAY_S = 60.0


class Public:
    """The late public of a hall, and all that it is sent."""

    def __init__(self, hall: Hall) -> None:
        self._clock = Clock()
        self.audience = PublicView(
            hall.state, delay_s=DELAY_S, pseudonyms=NAMES, clock=self._clock
        )
        hall.bus.subscribe(self.audience.publish)
        self.streams = Streams(self.audience, FILTERS[:5])
        self.audience.listen(self.streams.hub.publish, self.streams.hub.reset)
        self.stranger = Stranger(hall, self.audience)

    @property
    def now_s(self) -> float:
        return self._clock.now_s

    def wait(self, seconds: float) -> None:
        self._clock.now_s += seconds
        self.audience.release_due()
        self.streams.check()

    @property
    def received(self) -> list[list[bytes]]:
        return [each.received for each in self.streams.followers]


@given(histories(kills=False))
@try_histories(12)
def test_the_public_holds_what_was_true_a_delay_ago(history: History) -> None:
    async def play(folder: Path) -> None:
        hall = Hall(None)
        public = Public(hall)
        past = [(public.now_s, snapshot(hall.state, ALL))]
        for act in [*history, Waited(DELAY_S), Waited(DELAY_S)]:
            if isinstance(act, Waited):
                public.wait(act.seconds)
            elif not isinstance(act, Progressed):
                # What an engine thinks so far is not kept for the late public.
                hall.act(act)
                past.append((public.now_s, snapshot(hall.state, ALL)))
            ripe = [then for at_s, then in past if at_s <= public.now_s - DELAY_S]
            if ripe:
                shown = redact(snapshot(public.audience, ALL), Visibility.PUBLIC)
                assert shown.games == redacted(ripe[-1]).games
                assert shown.players == redacted(ripe[-1]).players

    run(play)


@given(histories(kills=False), histories(kills=False))
@try_histories(15)
def test_the_public_hears_nothing_of_what_is_not_yet_due(
    before: History, after: History
) -> None:
    async def play(folder: Path) -> None:
        heard = []
        for has_more in (True, False):
            hall = Hall(None)
            public = Public(hall)
            for act in before:
                if isinstance(act, Waited):
                    public.wait(act.seconds)
                else:
                    hall.act(act)
            public.streams.deliver()
            looked = []
            for act in after:
                if has_more:
                    hall.act(act)
                public.streams.deliver()
                looked.append(public.stranger.look())
            public.wait(DELAY_S - 1)
            looked.append(public.stranger.look())
            heard.append((public.received, looked))
        assert heard[0] == heard[1]

    run(play)


# --- a restart changes nothing --------------------------------------------------------


@given(histories())
@try_histories(12)
def test_a_restart_changes_nothing(history: History) -> None:
    async def play(folder: Path) -> None:
        calm = Hall(None)
        moments: list[list[Game]] = []
        async with Course(folder) as course:
            for number, act in enumerate(history):
                if isinstance(act, Killed):
                    # Between two commits: some moment that was, not a mixture.
                    early = left_behind(course.path, folder, f"early {number}")
                    async with Hall(early).running() as other:
                        assert other.hold() in course.hall.moments + moments
                    held = course.hall.hold()
                    moments += course.hall.moments
                    await course.act(act)
                    assert course.hall.hold() == held
                    course.hall.reply_all()
                    calm.reply_all()
                    assert course.hall.show() == calm.show()
                    continue
                calm.act(act)
                await course.act(act)
            course.hall.reply_all()
            calm.reply_all()
            assert course.hall.show() == calm.show()

    run(play)


# --- live is analyze ------------------------------------------------------------------


def list_figures(games: tuple[GameDetail, ...]) -> list[tuple[Any, ...]]:
    """All that is rated of each game, by who plays; without what a PGN does not say."""

    def drop_clocks(ply: PlyView) -> PlyView:
        return msgspec.structs.replace(ply, clock_s=None, spent_s=None)

    found = [
        (
            # A PGN says ? of a player without a name.
            (game.round, game.white.name.strip("?"), game.black.name.strip("?")),
            game.curves,
            game.head_to_head,
            (game.model, game.note, game.problem),
            list(map(drop_clocks, game.plies)),
        )
        for game in games
        if game.plies
    ]
    return sorted(found, key=lambda each: each[0])


@given(histories(kills=False))
@try_histories(12)
def test_what_was_followed_live_is_what_analyze_says_of_its_pgn(
    history: History,
) -> None:
    async def play(folder: Path) -> None:
        hall, analysed = Hall(None), Hall(None)
        for act in history:
            hall.act(act)
        hall.reply_all()
        games = [game.to_report() for game in hall.hold()]
        file = folder / "final.pgn"
        file.write_text("\n".join(map(write_pgn, games)), encoding="utf-8")
        await analysed.take(read_pgn_file(file))
        analysed.reply_all()
        assert list_figures(analysed.show()[0]) == list_figures(hall.show()[0])

    run(play)


# --- mutated bytes raise named errors alone -------------------------------------------


PGN_TOKENS = (
    b'[White "',
    b'"]',
    b"1. e4",
    b"{",
    b"}",
    b"(",
    b")",
    b"1-0",
    b"\n\n",
    b"$1",
    b"Qh9",
)


@given(histories(kills=False), st.integers(0, 2**32))
@try_histories(12)
def test_a_mutated_pgn_is_read_or_refused_by_name(history: History, seed: int) -> None:
    async def play(folder: Path) -> None:
        reports = [act for act in history if isinstance(act, Reported)]
        whole = "\n".join(map(write_pgn, reports[-1].games)).encode()
        file = folder / "mutated.pgn"
        file.write_bytes(mutate(Random(seed), whole, PGN_TOKENS)[: 1 << 15])
        async with Hall(None, [EVERYTHING]).running() as hall:
            hall.act(reports[-1])
            try:
                report = read_pgn_file(file)
            except InputError as refused:
                assert str(refused).startswith(str(file))
                return
            await hall.take(FeedReport(FEED, report.games))
            hall.reply_all()
            hall.streams.check()

    run(play)


# --- a round from end to end ----------------------------------------------------------


ROUND_BOARDS = 8
ROUND_PLIES = 40
ROUND_DELAY_S = 300.0


def build_round() -> list[GameReport]:
    """Eight games of forty plies, all of different players."""
    games = []
    for board in range(ROUND_BOARDS):
        white = Player(f"White {board}", elo=2000 + 90 * board)
        black = Player(f"Black {board}", elo=2600 - 70 * board)
        headers = Headers(
            white, black, event="Open", round="3", board=board + 1, time_control="90+30"
        )
        moves = line(*(step * step + 7 * board for step in range(ROUND_PLIES)))
        games.append(GameReport(f"key-{board}", headers, chess.STARTING_FEN, moves))
    return games


class Start:
    """One start of the service during the round, on the clock of the round."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.hall = Hall(path)
        journal = self.hall.journal.journal
        journal._now_ms = lambda: round(clock.now_s * 1000)
        journal._steady_ms = lambda: clock.now_s * 1000
        self._clock = clock
        self.moved_s: dict[str, dict[tuple[int | None, int], float]] = {}
        """When each audience was sent each move, by board and ply."""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Start"]:
        async with self.hall.running():
            state, journal = self.hall.state, self.hall.journal.journal
            self.public = PublicView(
                state,
                delay_s=ROUND_DELAY_S,
                unshown=find_unpublished(journal, state, ROUND_DELAY_S),
                pseudonyms=NAMES,
                clock=self._clock,
            )
            self.hall.bus.subscribe(self.public.publish)
            self.public.listen(partial(note_moves_shown, self.public, journal))
            self.hall.bus.subscribe(partial(self._note, "arbiter", state))
            self.public.listen(partial(self._note, "public", self.public))
            self.followers = [Streams(state, [ALL]), Streams(self.public, [EVERYTHING])]
            for listen, streams in zip(
                (self.hall.bus.subscribe, self.public.listen),
                self.followers,
                strict=True,
            ):
                listen(streams.hub.publish)
            yield self

    def _note(self, who: str, state: EventReader, changes: Iterable[Change]) -> None:
        moved_s = self.moved_s.setdefault(who, {})
        for change in changes:
            if isinstance(change, MoveMessage) and (game := state.game(change.game)):
                key = (game.board, change.ply)
                assert key not in moved_s, "every move is sent once"
                moved_s[key] = self._clock.now_s

    async def play(self, games: Sequence[GameReport]) -> None:
        await self.hall.take(FeedReport(FEED, tuple(games), complete=True))
        self.hall.reply_all()

    def wait(self, seconds: float) -> None:
        self._clock.now_s += seconds
        self.public.release_due()
        for streams in self.followers:
            streams.deliver()


def upto_ply(games: Sequence[GameReport], ply: int) -> list[GameReport]:
    return [msgspec.structs.replace(each, moves=each.moves[:ply]) for each in games]


async def test_a_round_is_followed_to_its_end_over_a_kill(tmp_path: Path) -> None:
    """Every move reaches arbiters once, and the public one delay later, which a kill in
    the middle of the round makes neither longer nor shorter.
    """
    games, clock = build_round(), Clock()
    sent_s: dict[str, dict[tuple[int | None, int], float]] = {
        "arbiter": {},
        "public": {},
    }
    played_s: dict[tuple[int | None, int], float] = {}
    async with contextlib.AsyncExitStack() as stack:
        start = Start(tmp_path / "journal.sqlite", clock)
        await stack.enter_async_context(start.running())
        for ply in range(ROUND_PLIES + 1):
            if ply == ROUND_PLIES // 2:
                start.hall.flush()
                killed = left_behind(start.path, tmp_path, "killed")
                for who, moved_s in start.moved_s.items():
                    sent_s[who] |= moved_s
                shown = snapshot(start.public, ALL).games
                start = Start(killed, clock)
                await stack.enter_async_context(start.running())
                again = snapshot(start.public, ALL).games
                assert [len(each.plies) for each in again] == [
                    len(each.plies) for each in shown
                ]
            await start.play(upto_ply(games, ply))
            played_s |= {
                (board + 1, ply): clock.now_s for board in range(ROUND_BOARDS) if ply
            }
            start.wait(30.0)
        for _ in range(round(ROUND_DELAY_S / 30.0)):
            start.wait(30.0)
        for who, moved_s in start.moved_s.items():
            assert not sent_s[who].keys() & moved_s.keys()
            sent_s[who] |= moved_s
        for streams in start.followers:
            streams.check()
        assert (
            redacted(snapshot(start.hall.state, ALL)).games
            == snapshot(start.public, ALL).games
        )
        live = start.hall.show()
    assert sent_s["arbiter"] == played_s
    assert sent_s["public"] == {
        move: at_s + ROUND_DELAY_S for move, at_s in played_s.items()
    }
    analysed = Hall(None)
    await analysed.take(FeedReport(FEED, tuple(games), complete=True))
    analysed.reply_all()
    assert analysed.show() == live
