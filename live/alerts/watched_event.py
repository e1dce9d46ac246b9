"""All that the changes have said, as far as alerts need it. Pure."""

from __future__ import annotations

import msgspec

from live.alerts.board_history import BoardHistory, MoveFlow
from live.alerts.finding import Finding
from live.events import (
    Alert,
    Change,
    ClockMessage,
    EngineHealth,
    EngineInfo,
    EngineMessage,
    FeedHealth,
    FeedName,
    GameId,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PlayerView,
    ScoreMessage,
    StandingMessage,
)
from live.games.player_identity import person_key

BOARD = "board"
PLAYER = "player"
FEEDS = "feeds"
ENGINES = "engines"


class AlertTopic(msgspec.Struct, frozen=True):
    """What has to be looked at again: a board, a player, the feeds or the engines."""

    kind: str
    id: str = ""


def topic_of(alert: Alert) -> AlertTopic:
    """What has to be looked at to see whether its cause stands, as its id says."""
    match alert.kind:
        case "agreement":
            return AlertTopic(PLAYER, alert.id.removeprefix("agreement "))
        case "feed":
            return AlertTopic(FEEDS)
        case "engine":
            return AlertTopic(ENGINES)
        case _:
            return AlertTopic(BOARD, alert.game or "")


class WatchedEvent:
    """The state of the event and how it came about."""

    def __init__(self) -> None:
        self.boards: dict[GameId, BoardHistory] = {}
        self.players: dict[str, PlayerView] = {}
        self.engine: EngineInfo | None = None
        self.engines = EngineHealth()
        self.engines_since_s: dict[int, tuple[str, float]] = {}
        """State of each engine, and since when."""
        self.feeds: dict[FeedName, FeedHealth] = {}
        self.feeds_since_s: dict[FeedName, float] = {}
        """When each feed came into its present state."""
        self.noticed: dict[GameId, dict[str, tuple[Finding, ...]]] = {}
        """What plugins find the matter with each board, by the plugin's name."""
        self._flows: dict[FeedName, MoveFlow] = {}
        self._latest: dict[str, GameId] = {}

    def take(self, change: Change, now_s: float) -> AlertTopic | None:
        """Remember a change; answers what to look at again."""
        match change:
            case GameMessage(game=view):
                board = self.boards.get(view.id)
                if board is None:
                    flow = self._flows.setdefault(view.feed, MoveFlow())
                    board = self.boards[view.id] = BoardHistory(view, flow)
                board.show(view, now_s)
                for player in (view.white, view.black):
                    self._latest[person_key(player)] = view.id
                return AlertTopic(BOARD, view.id)
            case GoneMessage(game=game):
                self.boards.pop(game, None)
                self.noticed.pop(game, None)
                return AlertTopic(BOARD, game)
            case MoveMessage(game=game) if game in self.boards:
                self.boards[game].move(change, now_s)
                return AlertTopic(BOARD, game)
            case ClockMessage(game=game) if game in self.boards:
                self.boards[game].clock(change)
                return AlertTopic(BOARD, game)
            case ScoreMessage(game=game, ply=scored) if game in self.boards:
                board = self.boards[game]
                if scored.ply <= len(board.moves):
                    board.moves[scored.ply - 1] = scored
                # Scores matter only beside a result, and come many a second.
                return None if board.running else AlertTopic(BOARD, game)
            case StandingMessage(player=view):
                return self._standing(view)
            case EngineMessage(engine=engine):
                self.engine = engine
            case HealthMessage(feeds=feeds, engines=engines):
                self._health(feeds, engines, now_s)
                return AlertTopic(FEEDS)
        return None

    def game_of(self, player: PlayerView) -> BoardHistory | None:
        """The board where somebody plays, or played last."""
        return self.boards.get(self._latest.get(player.id, ""))

    def shift(self, gap_s: float) -> None:
        """The clock jumped by so much."""
        for board in self.boards.values():
            board.shift(gap_s)
        for flow in self._flows.values():
            flow.shift(gap_s)
        for feed in self.feeds_since_s:
            self.feeds_since_s[feed] += gap_s
        self.engines_since_s = {
            index: (state, at_s + gap_s) for index, (state, at_s) in self.engines_since_s.items()
        }

    def _standing(self, view: PlayerView) -> AlertTopic:
        if view.games or view.moves:
            self.players[view.id] = view
        else:
            self.players.pop(view.id, None)
        return AlertTopic(PLAYER, view.id)

    def _health(self, feeds: tuple[FeedHealth, ...], engines: EngineHealth, now_s: float) -> None:
        for feed in feeds:
            before = self.feeds.get(feed.feed)
            if before is None or before.state != feed.state:
                self.feeds_since_s[feed.feed] = now_s
        self.feeds = {feed.feed: feed for feed in feeds}
        since: dict[int, tuple[str, float]] = {}
        for engine in engines.engines:
            state, at_s = self.engines_since_s.get(engine.index, ("", now_s))
            since[engine.index] = (engine.state, at_s if state == engine.state else now_s)
        self.engines, self.engines_since_s = engines, since
