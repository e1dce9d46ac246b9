"""Alerts and moments of a running service: what is published and logged, and that after
a restart people are shown what they were shown, and nothing is raised a second time.
"""

import contextlib
import datetime as dt
import logging
import random
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from chess import STARTING_FEN
from msgspec.structs import replace

from live.engine.search import Search, SearchResult
from live.event.game_change import EventChange
from live.journal.arbiter_notes import JournalWatchStore, decode_notes
from live.journal.journal import Journal
from live.journal.journal_reader import RecordedNote
from live.journal.journal_writer import JournalWriter
from live.messages.alerts import Alert
from live.messages.figures import GameDetail, view_of
from live.messages.from_clients import DeskCommand
from live.messages.from_sources import (
    FeedReport,
    GameReport,
    Headers,
    Move,
    Player,
    Result,
    Score,
)
from live.messages.health import EngineHealth, FeedHealth
from live.messages.moments import Moment
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    HealthMessage,
    MomentMessage,
)
from live.screens.reports.report_files import format_incidents_csv as as_csv
from live.sources.game_timeline import MISTAKES, Mistake, PlannedIncident, plan_timeline
from live.watch.alert_desk import AlertDesk
from live.watch.arbiter_desk import ArbiterDesk
from live.watch.arbiter_notes import ArbiterEntry
from live.watch.board_memory import BoardMemory, Lapse
from live.watch.moment_watch import GAMES_A_TICK, MomentWatch
from tests.event.answered_event import (
    FEED,
    Answer,
    AnsweredEvent,
    FollowedEvent,
    left_behind,
    open_unscored,
)
from tests.event.arithmetic import answer
from tests.games.short_reports import change_headers
from tests.watch.games import late as game
from tests.watch.replayed_event import four_boards

#: Keeps nothing.
STORE = JournalWatchStore(Journal())
FAILED = HealthMessage((FeedHealth("demo", "failed", "no such host"),), EngineHealth())
LIVE = HealthMessage((FeedHealth("demo", "live"),), EngineHealth())


def test_an_alert_goes_with_the_change_that_raised_it_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    published: list[Sequence[EventChange]] = []
    now_s = 1000.0
    arbiter = ArbiterDesk(published.append, STORE, lambda: now_s)
    with caplog.at_level(logging.WARNING, "live.watch.arbiter_desk"):
        arbiter.follow([FAILED])
        (message,) = published[0]
        assert isinstance(message, AlertMessage)
        assert arbiter.alerts() == [message.alert]
        arbiter.command(DeskCommand("note", message.alert.id, "phoned"))
        arbiter.command(DeskCommand("acknowledge", message.alert.id))
        (told,) = published[2]
        assert isinstance(told, AlertMessage)
        assert told.alert.acknowledged_s == 1000.0
        assert told.alert.note == "phoned"
        arbiter.follow([LIVE])
    assert not arbiter.alerts()
    words = [record.message.split(" ", 2)[1] for record in caplog.records]
    assert words == ["raised", "noted", "acknowledged", "over"]
    retrying = HealthMessage(
        (FeedHealth("demo", "retrying", "again in 4 s"),), EngineHealth()
    )
    arbiter.follow([retrying])
    assert len(published) == 4
    now_s += 20
    for _ in range(2):
        arbiter.tick()
    assert len(published) == 5, "time alone raises, and once"


def test_a_note_by_a_websocket_has_its_name_once_and_can_be_taken_away() -> None:
    arbiter = ArbiterDesk(lambda changes: None, STORE, lambda: 1000.0)
    arbiter.follow([FAILED])
    (alert,) = arbiter.alerts()
    for text, note in (
        ("phoned", "phoned (Anna)"),
        ("phoned twice (Anna)", "phoned twice (Anna)"),
        ("x" * 600, "x" * 500 + " (Anna)"),
        ("", ""),
    ):
        arbiter.command(DeskCommand("note", alert.id, text), "Anna")
        assert arbiter.alerts()[0].note == note


def test_a_mute_of_no_board_mutes_nothing() -> None:
    arbiter = ArbiterDesk(lambda changes: None, STORE, lambda: 1000.0)
    arbiter.follow([FAILED])
    arbiter.command(DeskCommand("mute-board"), "Anna")
    assert not arbiter.alerts()[0].muted and len(arbiter.incidents()) == 1


async def test_who_came_for_whom_before_the_first_move_is_entered() -> None:
    service = open_unscored()
    service.arbiter.record_start(0.0)

    def pairing(
        key: str, white: str, black: str, board: int, *moves: Move
    ) -> GameReport:
        players = Headers(Player(white), Player(black), round="4.7", board=board)
        return GameReport(key, players, STARTING_FEN, moves)

    begun = Move("e2e4", "e4")
    for games in (
        [pairing("key", "Late", "Black", 7)],
        [pairing("key", "Anna", "Black", 7)],
        [pairing("new", "Berta", "Clara", 7)],
        [pairing("new", "Berta", "Clara", 7, begun)],
        # Boards of several matches have the same numbers.
        [
            pairing("a", "A", "B", 8),
            pairing("b", "C", "D", 8),
            pairing("new", "Dora", "Clara", 7, begun),
        ],
    ):
        await service.take(FeedReport("hall", tuple(games), complete=True))
    assert [
        each.text for each in service.arbiter.incidents() if each.kind == "service"
    ] == [
        "The service started.",
        "Board 7: Anna – Black in place of Late – Black, before the first move.",
        "Board 7: Berta – Clara in place of Anna – Black, before the first move.",
        "Board 7: White was Berta and is now Dora, after move 1.",
    ]


MOVES = tuple(
    Move(uci, san)
    for uci, san in (("e2e4", "e4"), ("e7e5", "e5"), ("g1f3", "Nf3"), ("b8c6", "Nc6"))
)


def entries(service: FollowedEvent) -> list[str]:
    """What the log says of the service and its boards."""
    return [each.text for each in service.arbiter.incidents() if each.kind == "service"]


@pytest.mark.parametrize(("key", "board"), [("key", 3), ("", None)])
async def test_what_is_changed_of_a_player_after_the_first_move_is_entered(
    key: str, board: int | None
) -> None:
    """From a source with keys and numbers of boards, and from one without."""
    service = open_unscored()
    service.arbiter.record_start(0.0)
    wrong, right = Player("Wrongname, A", elo=1200), Player("Fiorito, F", elo=2400)
    black = Player("Black, B", elo=2000, fide_id=7)

    def build_report(
        white: Player, black: Player, plies: int, result: Result = "*"
    ) -> FeedReport:
        players = Headers(white, black, event="Open", round="4", board=board)
        game = GameReport(key, players, STARTING_FEN, MOVES[:plies], result)
        return FeedReport("hall", (game,), complete=True)

    for report in (
        build_report(wrong, black, 3),
        build_report(right, black, 3),
        build_report(replace(right, elo=2410, title="GM"), black, 4),
        build_report(replace(right, elo=2410), replace(black, fide_id=8), 4, "1-0"),
        # That they changed seats is an alert.
        build_report(replace(black, fide_id=8), replace(right, elo=2410), 4, "1-0"),
    ):
        await service.take(report)
    name = "Board 3" if board else "{} – Black, B"
    assert entries(service)[1:] == [
        f"{name.format('Wrongname, A')}: White was Wrongname, A (1200) and is now "
        "Fiorito, F (2400), after move 2.",
        f"{name.format('Fiorito, F')}: White was Fiorito, F (2400) and is now "
        "Fiorito, F (2410), after move 2.",
        f"{name.format('Fiorito, F')}: Black was Black, B (2000, FIDE 7) and is now "
        "Black, B (2000, FIDE 8), after move 2.",
    ]
    assert [each.kind for each in service.arbiter.alerts()] == ["players-swapped"]


async def test_a_source_that_gives_two_names_in_turn_does_not_fill_the_log() -> None:
    service = open_unscored()
    service.arbiter.record_start(0.0)
    for poll in range(100):
        players = Headers(
            Player(f"Name {poll % 2}", elo=2000), Player("Black"), board=1
        )
        game = GameReport("key", players, STARTING_FEN, MOVES[:3])
        await service.take(FeedReport("hall", (game,), complete=True))
    assert 4 <= len(entries(service)) <= 16


async def test_what_was_changed_of_a_player_while_the_service_was_away_is_entered(
    tmp_path: Path,
) -> None:
    game = change_headers(
        replace(four_boards()[0], moves=four_boards()[0].moves[:20], result="*")
    )
    white = game.headers.white
    async with Hall(tmp_path / "journal.sqlite").started() as first:
        first.arbiter.record_start(0.0)
        await first.take(FeedReport(FEED, (game,)))
        killed = first.left_behind()
    async with Hall(killed, START_S + 60).started() as second:
        # The source is there before the start is entered.
        other = change_headers(game, white=replace(white, elo=2999))
        await second.take(FeedReport(FEED, (other,)))
        second.arbiter.record_start(0.0)
        *_, start, changed = entries(second)
        assert start.startswith("The service started again")
        assert (
            f"White was {white.name} ({white.elo}) and is now {white.name} (2999)"
            in changed
        )
        assert changed.endswith("(after 60 s in which the service saw nothing)")


async def test_a_sleep_is_entered_and_what_came_after_it_says_so(
    tmp_path: Path,
) -> None:
    """Of the machine, or of the process: its own clock has a gap."""
    games = four_boards()
    upto = [replace(game, moves=game.moves[:20], result="*") for game in games]
    async with Hall(tmp_path / "journal.sqlite").started() as hall:
        hall.arbiter.record_start(0.0)
        await hall.take(FeedReport(FEED, (*upto,)))
        for second in range(30):
            hall.tick(START_S + second)
        hall.now_s = START_S + 70
        illegal = replace(upto[0], problem="illegal move 11.Qh9")
        await hall.take(FeedReport(FEED, (illegal, *upto[1:])))
        hall.tick(START_S + 71)
        for second in range(72, 200):
            hall.tick(START_S + second)
        late = replace(upto[1], problem="illegal move 11.Qh8")
        await hall.take(FeedReport(FEED, (illegal, late, *upto[2:])))
        _, gap, soon, later = hall.arbiter.incidents()
        assert (gap.kind, gap.began_s, gap.over_s) == (
            "service",
            START_S + 29,
            START_S + 70,
        )
        assert [each.at_s for each in gap.changes] == [START_S + 29, START_S + 70]
        assert gap.text.startswith(
            "The service saw nothing for 41 s: the machine slept"
        )
        after = "Qh9. (after 41 s in which the service saw nothing)"
        assert soon.changes[0].text.endswith(after)
        assert later.changes[0].text.endswith("Qh8.")
        killed = hall.left_behind()
        log = as_csv(hall.arbiter.incidents(), dt.UTC)
    async with Hall(killed, START_S + 200).started() as after_it:
        assert as_csv(after_it.arbiter.incidents(), dt.UTC) == log


async def test_a_clock_that_is_set_back_is_entered(tmp_path: Path) -> None:
    async with Hall(tmp_path / "journal.sqlite").started() as hall:
        hall.arbiter.record_start(0.0)
        for second in (0, 1, 2, -3600, -3599, -3598):
            hall.tick(START_S + second)
        assert entries(hall)[1:] == [
            "The clock of this machine was set back by 1 h 00 min."
        ]


async def test_a_step_is_written_in_one_with_the_alert_that_it_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two, the next start would raise it again."""
    written: list[list[str]] = []
    monkeypatch.setattr(
        JournalWriter,
        "add_records",
        lambda self, records: written.append([write.__name__ for write, _ in records]),
    )
    service = open_unscored(tmp_path / "journal.sqlite")
    with service.journal.opened(service.config):
        players = Headers(Player("W"), Player("B"))
        game = GameReport("key", players, STARTING_FEN, problem="illegal move 1.Qh9")
        await service.take(FeedReport("hall", (game,)))
    assert {"write_change", "write_note"} in map(set, written)


def test_the_journal_logs_its_problem_itself_and_other_parts_do_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arbiter = ArbiterDesk(lambda changes: None, STORE, lambda: 1000.0)
    journal = FeedHealth("journal", "failed", "in use by another", part=True)
    obs = FeedHealth("OBS", "failed", "OBS cannot be reached", part=True)
    arbiter.follow([HealthMessage((journal, obs), EngineHealth())])
    assert {alert.feed for alert in arbiter.alerts()} == {"journal", "OBS"}
    (line,) = caplog.messages
    assert line.startswith("alert raised") and "OBS cannot be reached" in line
    caplog.clear()
    arbiter.follow([LIVE])
    assert not arbiter.alerts()
    assert [line.split()[1] for line in caplog.messages] == ["over", "over"]


def test_a_fault_of_ours_in_an_alert_costs_alerts_alone_and_is_told(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[FeedHealth] = []
    arbiter = ArbiterDesk(
        lambda changes: None, STORE, lambda: 1000.0, report=told.append
    )

    def broken(self: AlertDesk, changes: object, now_s: float) -> None:
        raise KeyError("a fault of ours")

    monkeypatch.setattr(AlertDesk, "apply", broken)
    monkeypatch.setattr(AlertDesk, "acknowledge", broken)
    arbiter.command(DeskCommand("acknowledge", "an alert"))
    for _ in range(99):
        arbiter.follow([FAILED])
    arbiter.tick()
    why = "a program fault caused missed alerts (100); the log says where"
    assert told == [FeedHealth("alerts", "failed", why, part=True)]
    assert len(caplog.records) == 100


@pytest.mark.parametrize("more", ["", ",false"])
def test_what_a_journal_remembers_of_a_corrected_board_is_read(more: str) -> None:
    """Also as versions before wrote it, with what is no longer there."""
    said = f'{{"lapses":{{"correction":[3,4,"Nf3","Nc3",5.0,1,4{more}]}},"gone":1}}'
    memory = msgspec.json.decode(said, type=BoardMemory)
    assert memory.lapses == {"correction": Lapse(3, 4, "Nf3", "Nc3", 5.0, 1, 4)}


START_S = 1_750_000_000.0
TICK_S = 30.0


class Hall(AnsweredEvent):
    """With a journal and a driven clock; what its subscribers are sent."""

    def __init__(
        self, path: Path, now_s: float = START_S, engine: Answer = answer
    ) -> None:
        super().__init__(path, engine)
        self.now_s = now_s
        self.arbiter._clock = self.moment_watch._clock = lambda: self.now_s
        self.journal.journal._now_ms = lambda: round(self.now_s * 1000)
        # No other clock: how long the test itself takes is no time that passes.
        self.journal.journal._steady_ms = None
        self.raised: list[Alert] = []
        self.sent: list[Moment] = []
        self.bus.subscribe(self._hear)

    def _hear(self, changes: Iterable[Change]) -> None:
        for each in changes:
            if isinstance(each, AlertMessage) and not each.alert.cleared_s:
                self.raised.append(each.alert)
            elif isinstance(each, MomentMessage):
                self.sent.append(each.moment)

    def tick(self, now_s: float) -> None:
        self.now_s = now_s
        self.answer_all()
        self.arbiter.tick()

    async def play(
        self, games: Sequence[GameReport], first: int, last: int, end: Result = "0-1"
    ) -> None:
        """The games ply by ply, half a minute a ply; the result with ply 40."""
        for plies in range(first, last):
            self.now_s = START_S + 30 * plies
            result = end if plies == 40 else "*"
            shown = (
                replace(game, moves=game.moves[:plies], result=result) for game in games
            )
            await self.take(FeedReport(FEED, tuple(shown)))
            self.answer_all()
            # The comparison of a round's games shows a look later.
            for _ in range(2):
                self.moment_watch.tick()

    def left_behind(self) -> Path:
        """What a kill now would leave."""
        self.flush()
        path = self.journal.journal.path
        return left_behind(path, path.parent, "killed")


def acts(hall: Hall, chance: random.Random) -> None:
    """What arbiters do."""
    arbiter, alerts = hall.arbiter, hall.arbiter.alerts()
    if not alerts or chance.random() > 0.25:
        return
    alert, on = chance.choice(list(alerts)), chance.random() < 0.7
    match chance.randrange(7):
        case 0 | 1:
            arbiter.command(
                DeskCommand("note", alert.id, f"note {chance.randrange(100)}")
            )
            arbiter.command(DeskCommand("acknowledge", alert.id))
        case 2:
            text = chance.choice(["looked at", "<b>; =1+1", ""])
            arbiter.command(DeskCommand("note", alert.id, text))
        case 3:
            arbiter.command(DeskCommand("mute-kind", alert.kind, muted=on))
        case 4:
            arbiter.command(DeskCommand("mute-board", alert.game or "", muted=on))
        case 5:
            arbiter.command(DeskCommand("mute", alert.id, muted=on))
        case _:
            arbiter.enter(
                f"entry {chance.randrange(100)}: draw offer disputed", alert.game
            )


def read_alerts_and_log(hall: Hall) -> tuple[list[Alert], str]:
    """What arbiters are shown: alerts, and the incident log as it is exported, to the
    second.
    """
    return list(hall.arbiter.alerts()), as_csv(hall.arbiter.incidents(), dt.UTC)


@pytest.mark.parametrize(
    "seed",
    [0, 1, *(pytest.param(each, marks=pytest.mark.whole) for each in (2, 3, 4, 5))],
)
async def test_law_a_restart_at_any_moment_changes_nothing_that_arbiters_are_told(
    seed: int, tmp_path: Path
) -> None:
    """Four boards with many mistakes. Whenever the service is killed, the one that
    comes after it shows the same alerts, and goes on as it would have.
    """
    chance = random.Random(seed)
    games = [replace(game, moves=game.moves[:40]) for game in four_boards()]
    kinds: tuple[Literal["slip", "takeback"] | Mistake, ...] = (
        "slip",
        "takeback",
        *MISTAKES,
    )
    wrong = [
        PlannedIncident(chance.choice(kinds), board, chance.randrange(8, 38))
        for board, _ in product(range(4), range(3))
    ]
    moments = plan_timeline(games, incidents=wrong)
    kill = chance.randrange(len(moments) // 2, len(moments) * 5 // 6)
    async with contextlib.AsyncExitStack() as stack:
        now = await stack.enter_async_context(
            Hall(tmp_path / "journal.sqlite").started()
        )
        halls = [now]
        for index, moment in enumerate(moments):
            while now.now_s + TICK_S < START_S + moment.at_s:
                at_s = now.now_s + TICK_S
                for hall in halls:
                    hall.tick(at_s)
                assert read_alerts_and_log(halls[-1]) == read_alerts_and_log(now), (
                    f"{at_s - START_S:.0f} s"
                )
                if index < kill:
                    acts(now, chance)
            for hall in halls:
                hall.tick(START_S + moment.at_s)
                await hall.take(FeedReport(FEED, (moment.report,)))
            assert read_alerts_and_log(halls[-1]) == read_alerts_and_log(now), index
            if index == kill:
                after = Hall(now.left_behind(), now.now_s)
                halls.append(await stack.enter_async_context(after.started()))
                assert (
                    read_alerts_and_log(after) == read_alerts_and_log(now)
                    and not after.raised
                )
                before = len(now.raised)
        assert after.raised == now.raised[before:], (
            "and nothing was said that was not news"
        )
        assert before > 2


async def test_the_time_away_blames_no_board_though_the_next_service_was_killed_at_once(
    tmp_path: Path,
) -> None:
    now_s, path = START_S, tmp_path / "journal.sqlite"
    for start in range(3):
        async with Hall(path, now_s).started() as hall:
            if not start:
                await hall.play(four_boards(), 1, 20)
                hall.tick(hall.now_s)
            hall.arbiter.record_start(0.0)
            hall.flush()
            path = left_behind(path, tmp_path, f"killed {start}")
            now_s = hall.now_s + (5 if start else 8 * 3600)
    hall = Hall(path, now_s)
    async with hall.started():
        hall.tick(now_s)
    assert not hall.raised


async def test_the_log_says_when_the_service_ran_and_who_wrote_what(
    tmp_path: Path,
) -> None:
    hall = Hall(whole := tmp_path / "journal.sqlite")
    with hall.journal.opened(hall.config):
        hall.arbiter.resume(hall.state, [FEED])
        hall.arbiter.record_start(30.0)
        hall.inbox.health(FeedHealth(FEED, "live"))
        hall.inbox.health(FeedHealth(FEED, "stale"))
        hall.inbox.health(FeedHealth(FEED, "live"))
        hall.arbiter.command(DeskCommand("enter", text="lights out"), "Deputy")
        hall.arbiter.command(DeskCommand("enter", text="I end it"), "service")
        killed = hall.left_behind()
        hall.inbox.health(FeedHealth(FEED, "finished"))
        hall.now_s += 60
        hall.arbiter.record_end()
    for path, how in (
        (killed, "was cut off, at most"),
        (whole, "ended"),
    ):
        after = Hall(path, hall.now_s + 600)
        with after.journal.opened(after.config):
            after.arbiter.resume(after.state, [FEED])
            after.arbiter.record_start(0.0)
            said = [(each.kind, each.text) for each in after.arbiter.incidents()]
        assert said[:4] == [
            ("service", "The service started, with the public 30 s behind."),
            ("service", f"Source {FEED} is followed."),
            ("entry", "lights out (Deputy)"),
            ("entry", "I end it (token service)"),
        ]
        minutes = 11 if path == killed else 10
        again = (
            f"The service started again; the previous run {how} {minutes} min earlier."
        )
        assert said[-1] == ("service", again)
        assert (("service", f"Source {FEED} has finished.") in said) == (path != killed)


UPSETS = {"upset", "comeback"}


def turned(search: Search) -> SearchResult:
    """Level until White's eleventh move, a bad one, and won for Black from then on."""
    plies, found = len(search.position.moves), answer(search)
    score = Score(-600 if plies >= 21 or (plies == 20 and search.only) else 0)
    best = "none" if plies == 20 and not search.only else found.best
    return replace(found, score=score, best=best)


async def test_a_result_that_an_alert_doubts_makes_no_moment_before_and_after_a_kill(
    tmp_path: Path,
) -> None:
    players = {"white": Player("Ann", elo=2000), "black": Player("Bo", elo=2400)}
    games = [change_headers(four_boards()[0], **players)]

    def has_doubt(hall: Hall) -> bool:
        told = {each.kind for each in hall.moment_watch.moments()}
        return [each.kind for each in hall.state.alerts()] == [
            "result"
        ] and not told & UPSETS

    async with Hall(tmp_path / "journal.sqlite", engine=turned).started() as first:
        # Black stands won, and White is said to have won.
        await first.play(games, 0, 41, end="1-0")
        assert has_doubt(first)
        copy = first.left_behind()
    async with Hall(copy, START_S + 30 * 40, turned).started() as second:
        assert has_doubt(second)


async def test_moments_keep_their_times_over_a_kill(tmp_path: Path) -> None:
    games, kill = four_boards(), 25
    async with Hall(tmp_path / "journal.sqlite", engine=turned).started() as first:
        await first.play(games, 0, kill + 1)
        held = list(first.moment_watch.moments())
        copy = first.left_behind()
        await first.play(games, kill + 1, 41)
    assert any(each.ply == 21 for each in held)
    assert all(each.at_s == START_S + 30 * each.ply for each in held)
    async with Hall(copy, START_S + 30 * kill, turned).started() as second:
        assert second.moment_watch.moments() == held
        second.answer_all()
        second.moment_watch.tick()
        assert not second.sent, "what was sent before the restart is no news"
        await second.play(games, kill + 1, 41)
        assert second.moment_watch.moments() == first.moment_watch.moments()


def test_a_game_that_breaks_a_rule_costs_its_own_moments_alone() -> None:
    games = {id: game([0.5, 0.5, 0.1, 0.1], id=id) for id in ("a", "b", "c")}
    sent: list[Change] = []

    def detail_of(id: str) -> GameDetail:
        if id == "b":
            raise RuntimeError(id)
        return games[id]

    service = MomentWatch(sent.extend, STORE, lambda: 1000.0, detail_of)
    service.follow([GameMessage(view_of(each)) for each in games.values()])
    service.tick()
    assert [each.game for each in sent if isinstance(each, MomentMessage)] == ["a", "c"]
    assert [each.game for each in service.moments()] == ["a", "c"]
    assert service._faults.count == 1


def test_only_some_games_are_looked_at_in_one_go() -> None:
    looked: list[str] = []
    service = MomentWatch(lambda changes: None, STORE, lambda: 1000.0, looked.append)
    service.follow(
        [GameMessage(view_of(game(id=f"g{n}"))) for n in range(2 * GAMES_A_TICK)]
    )
    service.tick()
    assert len(looked) == GAMES_A_TICK


@pytest.mark.parametrize(
    "body", [b"{", b'{"at_ms":"\xff"}', b"[" * 100, b'"\xff"', b"\xff"]
)
def test_a_record_that_cannot_be_read_is_left_out_and_named(
    body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    bad = RecordedNote(7, 1_000, 1, "", "alert", body)
    good = RecordedNote(8, 2_000, 1, "", "entry", b'{"text":"first"}')
    assert list(decode_notes([bad, good])) == [(2.0, ArbiterEntry("first"))]
    assert "record 7 of the incident log cannot be read" in caplog.text
