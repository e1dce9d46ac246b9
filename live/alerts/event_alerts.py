"""All that the changes have said, as far as alerts need it, and what it says of sources, engines
and players. Pure.

Feeds and engines that fail, and players who choose the engine's move more often than the forecast
allows. The latter is a screening figure: it says where to look, with its sample and with how often
it is wrong. It accuses nobody. The evidence is an e-value (``live.ratings.agreement``): it
may be looked at after every move, and with many players watched each needs as many times more of it
(Bonferroni), so that the share of fair events with any alarm stays below what is said. How it did
on players who did not teach the forecast: ``tests/benchmarks/alerts.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from live.alerts.board_history import BoardHistory, MoveFlow
from live.alerts.finding import Finding
from live.events import (
    Agreement,
    Alert,
    Change,
    ClockMessage,
    EngineHealth,
    FeedHealth,
    FeedName,
    GameId,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PlayerView,
    ScoreMessage,
    Severity,
    StandingMessage,
)
from live.games.player_identity import person_key
from live.ratings.agreement import FALSE_ALARMS, bound

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
            case StandingMessage(player=player):
                if player.games or player.moves:
                    self.players[player.id] = player
                else:
                    self.players.pop(player.id, None)
                return AlertTopic(PLAYER, player.id)
            case HealthMessage(feeds=feeds, engines=engines):
                self._health(feeds, engines, now_s)
                return AlertTopic(FEEDS)
        return None

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

    def board_of(self, player: PlayerView) -> BoardHistory | None:
        """Where somebody plays, or played last."""
        return self.boards.get(self._latest.get(player.id, ""))


# --- sources and engines --------------------------------------------------------------------------

#: A feed that comes back within this time has only stumbled, seconds.
FEED_WAIT_S = 15.0
#: A source that is waited for so long may be a mistyped address, seconds.
NOT_THERE_S = 600.0
#: As :data:`FEED_WAIT_S` for an engine.
ENGINE_WAIT_S = 10.0

_FEED_STATES = {
    "failed": "has failed",
    "stale": "reports nothing new",
    "retrying": "is not reached",
}
_MAY_BE_OLD = "What is shown of its boards may be old; see whether the source is there."


def failing_feeds(watched: WatchedEvent, now_s: float) -> Iterator[Finding]:
    """Sources that have failed, stumbled for long or have not begun, and parts of the service."""
    for name, health in watched.feeds.items():
        for_s, failed = now_s - watched.feeds_since_s[name], health.state == "failed"
        severity: Severity = "alarm" if failed else "warning"
        if health.state == "waiting":
            # After a restart the boards of a source are known, and wait for it.
            running = any(
                each.running and each.view.feed == name for each in watched.boards.values()
            )
            if for_s < (FEED_WAIT_S if running else NOT_THERE_S):
                continue
            severity = "warning" if running else "look"
            text = f"Feed {name} is not there yet: {health.detail}"
            idle = "Nothing is to be done if it has not begun; else check its address."
            advice = _MAY_BE_OLD if running else idle
        elif health.state not in _FEED_STATES or (not failed and for_s < FEED_WAIT_S):
            continue
        elif health.part:
            severity, text, advice = _part(health)
        else:
            detail = f": {health.detail}" if health.detail else ""
            text = f"Feed {name} {_FEED_STATES[health.state]}{detail}"
            mend = "Its boards are no longer followed; mend the source and start again."
            advice = mend if failed else _MAY_BE_OLD
        yield Finding(kind="feed", severity=severity, feed=name, text=f"{text}.", advice=advice)


def _part(health: FeedHealth) -> tuple[Severity, str, str]:
    """Not a source but a part of the service: what it says of itself may begin with its name."""
    name, detail = health.feed, health.detail
    if health.state == "stale":
        text, advice = f"{name}: {detail}", "Nothing else waits for it; do what is said there."
    else:
        failed = health.state == "failed"
        said = detail or ("has failed" if failed else "fails")
        text = said if said.startswith(name) else f"{name}: {said}"
        advice = "Everything else goes on, and this is tried again by itself."
        if failed:
            advice = "Everything else goes on without it; do what is said there."
    severities: dict[str, Severity] = {"stale": "look", "failed": "alarm"}
    return severities.get(health.state, "warning"), f"{text[:1].upper()}{text[1:]}", advice


def failing_engines(watched: WatchedEvent, now_s: float) -> Iterator[Finding]:
    """Engines that do not run, and positions that they died over."""
    health = watched.engines

    def finding(about: str, severity: Severity, text: str, advice: str) -> Finding:
        return Finding(
            kind="engine", severity=severity, about=about, text=f"{text}.", advice=advice
        )

    down = [
        engine.index
        for engine in health.engines
        if engine.state == "failed"
        or (
            engine.state == "restarting"
            and now_s - watched.engines_since_s[engine.index][1] >= ENGINE_WAIT_S
        )
    ]
    if down:
        every = len(down) == len(health.engines)
        which = ", ".join(str(index + 1) for index in down)
        text = f"Engine {which} of {len(health.engines)} does not run"
        yield finding(
            "processes",
            "alarm" if every else "warning",
            f"{text}: {health.problem}" if health.problem else text,
            "No scores come until one runs again." if every else "Scores come later than usual.",
        )
    elif health.problem:
        yield finding("problem", "warning", health.problem, "See the log.")
    if health.set_aside:
        yield finding(
            "set aside",
            "look",
            f"{health.set_aside} positions were given up after engines died over them",
            "The moves around them have no gain; nothing else waits for them.",
        )


# --- agreement with the engine --------------------------------------------------------------------

#: Fewer moves say nothing to people, whatever they weigh.
LEAST_MOVES = 25


def engine_agreement(watched: WatchedEvent, id: str) -> Iterator[Finding]:
    """None where nothing forecasts this engine's choices: then nothing can be claimed."""
    view = watched.players.get(id)
    if view is None or view.elo is None or view.agreement is None:
        return
    found = view.agreement
    players = sum(each.agreement is not None for each in watched.players.values())
    if found.moves < LEAST_MOVES or found.log_e_value < bound(players):
        return
    share, expected = found.matches / found.moves, found.expected / found.moves
    board = watched.board_of(view)
    boards = (players + 1) // 2
    z = (found.matches - found.expected) / (found.moves * expected * (1 - expected)) ** 0.5
    yield Finding(
        kind="agreement",
        severity="look",
        about=id,
        player=view.name,
        game=board.view.id if board else None,
        text=(
            f"{board.label + ': ' if board else ''}{view.name} ({view.elo}) played the engine's "
            f"move in {found.matches} of {found.moves} choices ({share:.0%}); {expected:.0%} were "
            f"forecast, z = {z:.1f}."
        ),
        advice=(
            f"A screening figure that accuses nobody: with {boards} boards watched, at most "
            f"{FALSE_ALARMS:.0%} of events show one although all play fair. Say nothing in the "
            "hall; look at the games afterwards, with the usual procedure."
        ),
        agreement=Agreement(
            moves=found.moves,
            share=round(share, 4),
            expected=round(expected, 4),
            z=round(z, 2),
            boards=boards,
            false_alarms=FALSE_ALARMS,
            rests_on="a forecast of each choice by position and Elo, and how players and games "
            "were seen to lie around it",
        ),
    )
