"""The event as alert rules see it: boards, players, sources and engines. Pure.

Its times come from a clock that stops while the service does not run, so that waiting
times do not include the time of a stop.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from live.event.game_change import EventChange, GameChange
from live.event.game_record import GameRecord
from live.event.rate_game import COLORS
from live.games.player_identity import person_key
from live.messages.alerts import Alert
from live.messages.figures import GameView, PlayerView
from live.messages.health import EngineHealth, FeedHealth
from live.messages.to_clients import (
    ClockMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import FeedName, GameId
from live.watch.agreement_alerts import find_engine_agreement
from live.watch.board_alerts import find_board_alerts
from live.watch.board_memory import BoardMemory, MoveFlow
from live.watch.finding import Finding
from live.watch.part_alerts import find_engine_trouble, find_feed_trouble
from live.watch.round_names import RoundName, round_of
from live.watch.watched_board import WatchedBoard

#: The subject of a check: a kind (``BOARD``, ``PLAYER``, or the kind of ``PARTS``,
#: which stands for all sources and engines) and an id.
Topic = tuple[str, str]
BOARD, PLAYER = "board", "player"
PARTS: Topic = ("parts", "")

#: Minimum share of the boards of a round with a first move, so that the round counts as
#: begun.
BEGUN_SHARE = 0.75

#: A function that returns the record of a game; None if the game is unknown.
FindRecord = Callable[[GameId], GameRecord | None]


class DeskMemory(NamedTuple):
    """Facts from an earlier run that the restored games and alerts do not contain."""

    boards: Mapping[GameId, BoardMemory]
    flows: Mapping[FeedName, MoveFlow]
    unwatched_s: float


def find_topic(alert: Alert) -> Topic:
    """Return the topic that must be checked to find out whether an alert's cause still
    exists.
    """
    if alert.kind == "agreement":
        return PLAYER, alert.id.removeprefix("agreement ")
    if alert.kind in ("feed", "engine"):
        return PARTS
    return BOARD, alert.game or ""


class WatchedEvent:
    """The state of the event, with the history that alert rules need."""

    def __init__(self, find_record: FindRecord) -> None:
        self._find_record = find_record
        self.boards: dict[GameId, WatchedBoard] = {}
        self.players: dict[str, PlayerView] = {}
        self.engines = EngineHealth()
        self.feeds: dict[FeedName, FeedHealth] = {}
        self.flows: defaultdict[FeedName, MoveFlow] = defaultdict(MoveFlow)
        self.unremembered: dict[GameId, None] = {}
        """Ids of games that were removed, or whose memory changed, since the last call
        of :meth:`live.watch.alert_desk.AlertDesk.unremembered`.
        """
        # The state of each feed (by name) and engine (by number), and the time since
        # which it has been in this state.
        self._since: dict[FeedName | int, tuple[str, float]] = {}
        self._latest: dict[str, GameId] = {}

    def apply(self, changes: Iterable[EventChange], now_s: float) -> dict[Topic, None]:
        """Apply changes of the event; return the topics that must be checked again."""
        topics: dict[Topic, None] = {}
        # For each changed game: True if anything besides scores changed.
        moved: dict[GameId, bool] = {}
        moves: dict[GameId, GameChange] = {}
        reread = defaultdict[GameId, set[int]](set)
        for change in changes:
            match change:
                case GameChange(game=id):
                    moves[id] = moves[id].join(change) if id in moves else change
                    moved[id] = True
                case GoneMessage(game=id):
                    moved.pop(id, None)
                    moves.pop(id, None)
                    topics[BOARD, id] = None
                    if self.boards.pop(id, None) is not None:
                        self.unremembered[id] = None
                case GameMessage(game=view):
                    moved[view.id] = True
                    self._note_latest_game_of_players(view)
                case ClockMessage(game=id, ply=ply):
                    moved[id] = True
                    reread[id].add(ply)
                case ScoreMessage(game=id):
                    moved.setdefault(id, False)
                case StandingMessage(player=player):
                    if player.games or player.moves:
                        self.players[player.id] = player
                    else:
                        self.players.pop(player.id, None)
                        self._latest.pop(player.id, None)
                    topics[PLAYER, player.id] = None
                case HealthMessage(feeds=feeds, engines=engines):
                    self._update_health(feeds, engines, now_s)
                    topics[PARTS] = None
        for id, is_moved in moved.items():
            # Scores matter only for games with a result. Other games with new scores
            # are not checked.
            if not self._follow(id, moves.get(id), reread[id], now_s):
                continue
            if is_moved or not self.boards[id].is_running:
                topics[BOARD, id] = None
                partner = self._find_swapped_game(self.boards[id], now_s)
                if partner is not None:
                    self.unremembered[partner] = topics[BOARD, partner] = None
        return topics

    def _note_latest_game_of_players(self, view: GameView) -> None:
        for player in (view.white, view.black):
            self._latest[person_key(player)] = view.id

    def _follow(
        self,
        id: GameId,
        change: GameChange | None,
        reread: Collection[int],
        now_s: float,
    ) -> bool:
        """Update a board to its present game; return False if the game is unknown."""
        record = self._find_record(id)
        if record is None:
            return False
        board = self.boards.get(id)
        is_new = board is None or board.record is not record
        if board is None or is_new:
            board = WatchedBoard(record, self.flows[record.view.feed])
            self.boards[id] = board
        if board.follow(change, reread, now_s) or is_new:
            self.unremembered[id] = None
        return True

    def _find_swapped_game(self, board: WatchedBoard, now_s: float) -> GameId | None:
        """Return the game of the board that has just exchanged its moves with
        ``board``.

        Return None if there is none.
        """
        lapse = board.memory.lapses.get("correction")
        if lapse is None or lapse.at_s != now_s or lapse.exchanged:
            return None
        for id, partner in self.boards.items():
            if partner is board or partner.view.feed != board.view.feed:
                continue
            if board.note_exchange(partner):
                return id
        return None

    def _update_health(
        self, feeds: tuple[FeedHealth, ...], engines: EngineHealth, now_s: float
    ) -> None:
        self.feeds = {feed.feed: feed for feed in feeds}
        self.engines = engines
        states: dict[FeedName | int, str] = {feed.feed: feed.state for feed in feeds}
        states |= {engine.index: engine.state for engine in engines.engines}
        before = self._since
        self._since = {}
        for id, state in states.items():
            old_state, since_s = before.get(id, (state, now_s))
            self._since[id] = state, since_s if old_state == state else now_s

    def set_round_beginnings(self) -> None:
        """Set the time when each round began, on all its boards.

        A round has begun when most of its boards have begun (:data:`BEGUN_SHARE`). If
        some boards are not connected, usually many are not. Then the round does not
        count as begun, and no board of it is reported. Rounds in which no board waits
        for a first move are skipped.
        """
        waiting = {
            round_of(board.view)
            for board in self.boards.values()
            if board.is_running and board.view.plies_played < len(COLORS)
        }
        rounds = defaultdict[RoundName, list[WatchedBoard]](list)
        for board in self.boards.values() if waiting else ():
            name = round_of(board.view)
            if name in waiting:
                rounds[name].append(board)
        for boards in rounds.values():
            began_s = [board.memory.began_s for board in boards]
            begun_s = sorted(time_s for time_s in began_s if time_s is not None)
            is_begun = len(begun_s) >= BEGUN_SHARE * len(boards)
            since_s = begun_s[len(begun_s) // 2] if is_begun else None
            for board in boards:
                board.round_began_s = since_s

    def find_alerts(self, topic: Topic, now_s: float) -> dict[str, Finding]:
        """Return all present findings about a topic, by the ids of their alerts."""
        kind, about = topic
        findings: Iterator[Finding] = iter(())
        if kind == PLAYER:
            findings = self._find_player_alerts(about)
        elif topic == PARTS:
            for_s: dict[Any, float] = {
                id: now_s - since_s for id, (_, since_s) in self._since.items()
            }
            findings = chain(
                find_feed_trouble(self.feeds, for_s),
                find_engine_trouble(self.engines, for_s),
            )
        elif about in self.boards:
            findings = find_board_alerts(self.boards[about], now_s)
        return {finding.id: finding for finding in findings}

    def _find_player_alerts(self, id: str) -> Iterator[Finding]:
        player = self.players.get(id)
        if player is None or player.agreement is None:
            return
        measured = sum(
            rated_player.agreement is not None for rated_player in self.players.values()
        )
        board = self.boards.get(self._latest.get(id, ""))
        yield from find_engine_agreement(player, measured, board)

    def restore(
        self, records: Iterable[GameRecord], memory: DeskMemory, last_s: float
    ) -> None:
        """Restore the games of an earlier run, without reporting them as changes.

        ``last_s`` is the time when that run ended. A board without a stored memory is
        treated as if its last move had been reported at that time.
        """
        self.flows.update(memory.flows)
        for record in records:
            view = record.view
            board_memory = memory.boards.get(view.id)
            if board_memory is None:
                board_memory = BoardMemory(
                    began_s=last_s if view.plies_played else None,
                    moved_s=last_s,
                    ran=view.running,
                    dispute_s=last_s if view.dispute else None,
                )
            self.boards[view.id] = WatchedBoard(
                record, self.flows[view.feed], board_memory
            )
        for board in sorted(
            self.boards.values(), key=lambda board: board.memory.moved_s or 0.0
        ):
            self._note_latest_game_of_players(board.view)
        self.set_round_beginnings()
