"""A rehearsal without a network: games played back into the real keeper, watched by the
desk.

No engine: what alerts are about are moves, clocks and results. Time is that of the
rehearsal.
"""

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import chess
import msgspec

from live.event.event import Event
from live.event.game_change import EventChange, select_messages
from live.event.game_record import GameRecord
from live.event.rate_game import Measure
from live.messages.alerts import Alert
from live.messages.figures import EngineInfo
from live.messages.from_sources import FeedReport, GameReport, Headers, Player, Result
from live.messages.to_clients import AlertMessage, ChangeListener
from live.messages.values import GameId
from live.sources.game_timeline import PlannedIncident, plan_timeline
from live.sources.pgn_decoder import PgnReader
from live.watch.alert_desk import AlertDesk
from live.watch.board_memory import BoardMemory, MoveFlow
from live.watch.watched_event import DeskMemory
from tests.games.short_reports import change_headers
from tests.games.short_reports import line as line_of

START_S = 1_750_000_000.0
TICK_S = 30.0


DATA = Path(__file__).resolve().parent.parent / "data"
START = chess.STARTING_FEN


def four_boards() -> list[GameReport]:
    """Four decisive games, 90 minutes and 30 seconds a move, as their PGN holds
    them.
    """
    reader = PgnReader()
    data = (DATA / "four-boards.pgn").read_bytes()
    games = list(reader.read_text(data, closed=True))
    return [change_headers(game, board=board) for board, game in enumerate(games, 1)]


def played(
    line: str,
    *,
    result: Result = "*",
    start_fen: str = START,
    clocks: tuple[float, ...] = (),
    **changes: Any,
) -> GameReport:
    """A game from its moves in SAN, separated by spaces; clocks and other headers where
    given.
    """
    moves = [
        msgspec.structs.replace(move, clock_s=clock_s)
        for move, clock_s in itertools.zip_longest(line_of(line, start_fen), clocks)
    ]
    players = Player("Weiß, Anna", elo=2000), Player("Schwarz, Bea", elo=2000)
    usual = Headers(*players, event="Open", round="1", board=9, time_control="90+30")
    headers = msgspec.structs.replace(usual, **changes)
    return GameReport(f"game-{headers.board}", headers, start_fen, tuple(moves), result)


class Rehearsal:
    """A keeper with its desk; ``raised`` holds every alert there ever was, by
    its id.
    """

    def __init__(self) -> None:
        self.desk = AlertDesk(self._find_record)
        self.state = Event(
            Measure("successive"),
            engine=EngineInfo("none", "as given", 2500, "fixed"),
            engine_scores=False,
        )
        self.state.alerts = lambda: self.desk.open()
        self.now_s = START_S
        self.tick_s = TICK_S
        self.raised: dict[str, Alert] = {}
        self.messages: list[AlertMessage] = []
        self.listeners: list[ChangeListener] = []
        """Hear every message of the event."""
        self._remembered: dict[GameId, bytes] = {}

    def _find_record(self, id: GameId) -> GameRecord | None:
        return self.state.find_record(id)

    def publish(self, changes: Sequence[EventChange]) -> None:
        """What the event has returned."""
        self._take(self.desk.apply(changes, self.now_s))
        for listener in self.listeners:
            listener(select_messages(changes))
        for id, board in self.desk.unremembered().items():
            self._remembered.pop(id, None)
            if board is not None:
                self._remembered[id] = msgspec.msgpack.encode(
                    (board.view.feed, board.memory, board.flow)
                )

    def restart(self, last_s: float | None = None, *, remembered: bool = True) -> None:
        """Another desk knows what was remembered and sent; that of before was there
        until ``last_s``. Nothing has been raised by it.
        """
        kept = {
            id: msgspec.msgpack.decode(body, type=tuple[str, BoardMemory, MoveFlow])
            for id, body in self._remembered.items()
            if remembered
        }
        memory = DeskMemory(
            {id: board for id, (_, board, _) in kept.items()},
            {feed: flow for feed, _, flow in kept.values()},
            self.desk.unwatched_s,
        )
        alerts = [message.alert for message in self.messages]
        self.desk = AlertDesk(self._find_record)
        self.raised.clear()
        self.desk.restore(
            self.state.list_records(),
            memory,
            alerts,
            self.now_s - 1 if last_s is None else last_s,
            self.now_s,
        )

    def _take(self, messages: Sequence[AlertMessage]) -> None:
        self.messages += messages
        for message in messages:
            self.raised[message.alert.id] = message.alert

    def report(self, report: FeedReport) -> None:
        for changes in self.state.apply_report(report):
            self.publish(changes)

    def tick(self) -> None:
        self._take(self.desk.tick(self.now_s))

    def wait(self, seconds: float) -> None:
        """Time passes, a tick every few seconds."""
        until_s = self.now_s + seconds
        while self.now_s < until_s:
            self.now_s = min(until_s, self.now_s + self.tick_s)
            self.tick()

    def play(
        self,
        games: Sequence[GameReport],
        incidents: Iterable[PlannedIncident] = (),
        *,
        feed: str = "hall",
        speed: float = 1.0,
    ) -> None:
        """Play games back at the pace of their clocks, and wait a little after
        the end.
        """
        begin_s = self.now_s
        for moment in plan_timeline(games, incidents=incidents, speed=speed):
            if begin_s + moment.at_s > self.now_s:
                self.wait(begin_s + moment.at_s - self.now_s)
            self.report(FeedReport(feed, (moment.report,)))
        self.wait(200)

    def kinds(self) -> list[str]:
        """Kinds of the alerts there ever were."""
        return sorted({alert.kind for alert in self.raised.values()})
