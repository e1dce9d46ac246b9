"""The arbiter's desk: which alerts there are now, and what the arbiter did about them. Pure.

Changes and clock readings in, messages out. Whoever applies the messages to the list of
:meth:`AlertDesk.open` holds what the desk holds. Times are seconds since 1970 UTC and come as
arguments; the desk has no clock. Games are those of the state, read when they have changed; what
they do not say of themselves is remembered, and given to whoever keeps it for the next run.

Feeds and engines that fail, and players who choose the engine's move more often than the forecast
allows. The latter is a screening figure: it says where to look, with its sample and with how often
it is wrong. It accuses nobody. The evidence is an e-value (``live.ratings.agreement``): it
may be looked at after every move, and with many players watched each needs as many times more of it
(Bonferroni), so that the share of fair events with any alarm stays below what is said.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import asdict, replace

from live.catalogue import main_event
from live.event.rate_game import COLORS
from live.games.player_identity import person_key
from live.games.rounds import normalise_round
from live.messages.alerts import Agreement, Alert, AlertKind, Severity
from live.messages.figures import GameDetail, GameView, PlayerView
from live.messages.health import EngineHealth, FeedHealth
from live.messages.to_clients import (
    AlertMessage,
    Change,
    ClockMessage,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    ScoreMessage,
    StandingMessage,
)
from live.messages.values import FeedName, GameId
from live.ratings.agreement import FALSE_ALARMS, bound_chance
from live.watch.board_alerts import COUNTED, ENDING_WAIT_S, PASSING, board_findings
from live.watch.finding import Finding, dial, in_order
from live.watch.incident_log import signed
from live.watch.watched_board import BoardMemory, MoveFlow, WatchedBoard

BOARD, PLAYER = "board", "player"
#: What has to be looked at again: a board or a player, and which; or the feeds and engines.
Topic = tuple[str, str]
_PARTS: Topic = ("parts", "")


def topic_of(alert: Alert) -> Topic:
    """What has to be looked at to see whether its cause stands, as its id says."""
    if alert.kind == "agreement":
        return PLAYER, alert.id.removeprefix("agreement ")
    return _PARTS if alert.kind in ("feed", "engine") else (BOARD, alert.game or "")


#: A game as it stands now; None where there is none.
DetailOf = Callable[[GameId], GameDetail | None]
#: A game as it stands, and how the whole of it is read.
StandingGame = tuple[GameView, Callable[[], GameDetail]]


class DeskMemory(NamedTuple):
    """What is remembered of a run before this one, beyond what state and journal say."""

    boards: Mapping[GameId, BoardMemory]
    flows: Mapping[FeedName, MoveFlow]
    unwatched_s: float


class WatchedEvent:
    """The state of the event and how it came about. Its clock stands still while nobody watches, so
    that what was waited for is not held against anybody.
    """

    def __init__(self, detail_of: DetailOf) -> None:
        self._detail_of = detail_of
        self.boards: dict[GameId, WatchedBoard] = {}
        self.players: dict[str, PlayerView] = {}
        self.engines = EngineHealth()
        self.feeds: dict[FeedName, FeedHealth] = {}
        self.since: dict[FeedName | int, tuple[str, float]] = {}
        """State of each feed and of each engine by its number, and since when."""
        self.flows: defaultdict[FeedName, MoveFlow] = defaultdict(MoveFlow)
        self.unremembered: dict[GameId, None] = {}
        """Boards of which there is more to remember, or nothing any more."""
        self._latest: dict[str, GameId] = {}

    def take(self, changes: Iterable[Change], now_s: float) -> dict[Topic, None]:
        """Follow the state, which has changed so; answers what to look at again."""
        topics: dict[Topic, None] = {}
        # Whether more than scores of a board is news.
        moved: dict[GameId, bool] = {}
        for change in changes:
            match change:
                case GoneMessage(game=id):
                    moved.pop(id, None)
                    topics[BOARD, id] = None
                    if self.boards.pop(id, None) is not None:
                        self.unremembered[id] = None
                case GameMessage(game=view):
                    moved[view.id] = True
                    for player in (view.white, view.black):
                        self._latest[person_key(player)] = view.id
                case MoveMessage(game=id) | ClockMessage(game=id):
                    moved[id] = True
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
                    self._health(feeds, engines, now_s)
                    topics[_PARTS] = None
        for id, more in moved.items():
            # Scores matter only beside a result, and come many a second.
            if self._follow(id, now_s) and (more or not self.boards[id].running):
                topics[BOARD, id] = None
                if (other := self._exchanged(self.boards[id], now_s)) is not None:
                    self.unremembered[other] = topics[BOARD, other] = None
        return topics

    def _follow(self, id: GameId, now_s: float) -> bool:
        game = self._detail_of(id)
        if game is None:
            return False
        new = id not in self.boards
        if new:
            self.boards[id] = WatchedBoard(game, self.flows[game.feed])
        if self.boards[id].follow(game, now_s) or new:
            self.unremembered[id] = None
        return True

    def _exchanged(self, board: WatchedBoard, now_s: float) -> GameId | None:
        """The board that has changed its moves with this one, which has just been corrected."""
        lapse = board.memory.lapses.get("correction")
        if lapse is None or lapse.at_s != now_s or lapse.exchanged:
            return None
        for id, other in self.boards.items():
            if (
                other is not board
                and other.view.feed == board.view.feed
                and board.exchange(other)
            ):
                return id
        return None

    def _health(
        self, feeds: tuple[FeedHealth, ...], engines: EngineHealth, now_s: float
    ) -> None:
        self.feeds, self.engines = {feed.feed: feed for feed in feeds}, engines
        states: dict[FeedName | int, str] = {feed.feed: feed.state for feed in feeds}
        states |= {engine.index: engine.state for engine in engines.engines}
        before, self.since = (
            self.since,
            {id: (state, now_s) for id, state in states.items()},
        )
        self.since |= {
            id: was for id, was in before.items() if was[0] == states.get(id)
        }

    def note_rounds(self) -> None:
        """Note at boards that wait for a first move when their round began.

        A round has begun when all but a few of its boards have: boards without a
        connection, of which there are many where there are any, are no matter then.
        """
        waiting = {
            _round_of(board)
            for board in self.boards.values()
            if board.running and board.view.plies_played < len(COLORS)
        }
        rounds = defaultdict[tuple[str, str], list[WatchedBoard]](list)
        for board in self.boards.values() if waiting else ():
            if (key := _round_of(board)) in waiting:
                rounds[key].append(board)
        for boards in rounds.values():
            began_s = [board.memory.began_s for board in boards]
            begun_s = sorted(each for each in began_s if each is not None)
            is_begun = len(begun_s) >= BEGUN_SHARE * len(boards)
            since_s = begun_s[len(begun_s) // 2] if is_begun else None
            for board in boards:
                board.round_began_s = since_s

    def board_of(self, player: PlayerView) -> WatchedBoard | None:
        """Where somebody plays, or played last."""
        return self.boards.get(self._latest.get(player.id, ""))

    def restore(
        self, games: Iterable[StandingGame], memory: DeskMemory, last_s: float
    ) -> None:
        """Watch games of a run before this one again, as they stand; nothing is news. Boards of
        which nothing is remembered have stood like this since ``last_s``.
        """
        self.flows.update(memory.flows)
        for view, read in games:
            held = memory.boards.get(view.id)
            if held is None:
                held = BoardMemory(
                    began_s=last_s if view.plies_played else None,
                    moved_s=last_s,
                    ran=view.running,
                    dispute_s=last_s if view.dispute else None,
                )
            self.boards[view.id] = WatchedBoard(view, self.flows[view.feed], held, read)
        for board in sorted(
            self.boards.values(), key=lambda each: each.memory.moved_s or 0.0
        ):
            for player in (board.view.white, board.view.black):
                self._latest[person_key(player)] = board.view.id
        self.note_rounds()


#: As many boards of a round have begun once it has.
BEGUN_SHARE = 0.75


def _round_of(board: WatchedBoard) -> tuple[str, str]:
    return main_event(board.view), normalise_round(board.view.round)


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
        for_s, failed = now_s - watched.since[name][1], health.state == "failed"
        severity: Severity = "alarm" if failed else "warning"
        if health.state == "waiting":
            if for_s < NOT_THERE_S:
                continue
            severity, text = "look", f"Feed {name} is not there yet: {health.detail}"
            advice = (
                "Nothing is to be done if it has not begun; else check its address."
            )
        elif health.state not in _FEED_STATES or (not failed and for_s < FEED_WAIT_S):
            continue
        elif health.part:
            severity, advice = _PARTS_SAY[health.state]
            # What it says of itself may begin with its name.
            said = health.detail or _FEED_STATES[health.state]
            text = said if said.startswith(name) else f"{name}: {said}"
            text = f"{text[:1].upper()}{text[1:]}"
        else:
            detail = health.detail and f": {health.detail}"
            text = f"Feed {name} {_FEED_STATES[health.state]}{detail}"
            mend = "Its boards are no longer followed; mend the source and start again."
            advice = mend if failed else _MAY_BE_OLD
        yield Finding(
            kind="feed", severity=severity, feed=name, text=f"{text}.", advice=advice
        )


#: Of parts of the service; of those that neither lag nor have failed there is the last.
_PARTS_SAY: dict[str, tuple[Severity, str]] = {
    "stale": ("look", "Nothing else waits for it; do what is said there."),
    "failed": ("alarm", "Everything else goes on without it; do what is said there."),
    "retrying": (
        "warning",
        "Everything else goes on, and this is tried again by itself.",
    ),
}


def failing_engines(watched: WatchedEvent, now_s: float) -> Iterator[Finding]:
    """Engines that do not run, and positions that they died over."""
    health, found = watched.engines, list[tuple[str, Severity, str, str]]()
    down = [
        engine.index
        for engine in health.engines
        if engine.state == "failed"
        or (
            engine.state == "restarting"
            and now_s - watched.since[engine.index][1] >= ENGINE_WAIT_S
        )
    ]
    if down:
        every = len(down) == len(health.engines)
        which = ", ".join(str(index + 1) for index in down)
        why = health.problem and f": {health.problem}"
        text = f"Engine {which} of {len(health.engines)} does not run{why}"
        advice = (
            "No scores come until one runs again."
            if every
            else "Scores come later than usual."
        )
        found.append(("processes", "alarm" if every else "warning", text, advice))
    elif health.problem:
        found.append(("problem", "warning", health.problem, "See the log."))
    if health.set_aside:
        text = (
            f"{health.set_aside} positions were given up after engines died over them"
        )
        advice = "The moves around them have no gain; nothing else waits for them."
        found.append(("set aside", "look", text, advice))
    for about, severity, text, advice in found:
        yield Finding(
            kind="engine",
            severity=severity,
            about=about,
            text=f"{text}.",
            advice=advice,
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
    if found.moves < LEAST_MOVES or found.log_e_value < bound_chance(players):
        return
    share, expected = found.matches / found.moves, found.expected / found.moves
    board = watched.board_of(view)
    boards = (players + 1) // 2
    z = (found.matches - found.expected) / (
        found.moves * expected * (1 - expected)
    ) ** 0.5
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


# --- the desk -------------------------------------------------------------------------------------

#: Kinds about a clock, which end by what it shows.
_CLOCKS: tuple[AlertKind, ...] = ("clock-still", "clock-rising", "flag")
#: Longest note an arbiter may write, characters.
NOTE_CHARS = 500
#: Ticks come every second or so; after a longer silence, seconds, or a step back, the machine
#: slept or its clock was set, and nothing is held against those who were waited for.
GAP_S = 120.0


class AlertDesk:
    """All alerts of one event. One writer calls; nothing waits."""

    def __init__(self, detail_of: DetailOf) -> None:
        """``detail_of``: how the games stand."""
        self._watched = WatchedEvent(detail_of)
        self._open: dict[str, Alert] = {}
        # How often what is open had happened, and what was when an arbiter took note of it; 0 for
        # what went by itself.
        self._counted: defaultdict[Topic, dict[str, int]] = defaultdict(dict)
        # Alerts of a run before this one whose cause has not been seen in this one.
        self._unseen: set[str] = set()
        # What is not shown, as :meth:`mute` names it: ``alert``, ``kind`` or ``game``, and which.
        self._mutes: set[tuple[str, str]] = set()
        self._ticked_s: float | None = None
        self.unwatched_s = 0.0
        """How long nobody watched, all gaps together: what is waited for does not count them."""

    # --- news -----------------------------------------------------------------------------------

    def changes(self, changes: Iterable[Change], now_s: float) -> list[AlertMessage]:
        """The state has changed so."""
        topics = self._watched.take(changes, now_s - self.unwatched_s)
        return self._look_at(topics, now_s)

    def tick(self, now_s: float) -> list[AlertMessage]:
        """Time has passed: look at what waits. To be called about once a second."""
        self._pass(now_s)
        self._watched.note_rounds()
        watched_s = now_s - self.unwatched_s
        # Boards with which time alone can change what is the matter.
        topics = [
            (BOARD, id)
            for id, board in self._watched.boards.items()
            if board.running
            or board.memory.dispute_s is not None
            or (
                (ended_s := board.memory.result_s) is not None
                and watched_s - ended_s <= ENDING_WAIT_S + GAP_S
            )
        ]
        return self._look_at([*topics, _PARTS], now_s)

    def _look_at(self, topics: Iterable[Topic], now_s: float) -> list[AlertMessage]:
        messages: list[AlertMessage] = []
        for topic in topics:
            messages += self._look(topic, now_s)
        return messages

    def _pass(self, now_s: float) -> None:
        if self._ticked_s is not None:
            gap_s = now_s - self._ticked_s
            if not 0 <= gap_s <= GAP_S:
                self.unwatched_s += gap_s
        self._ticked_s = now_s

    def unremembered(self) -> dict[GameId, WatchedBoard | None]:
        """Boards of which there is more to remember since the last call, and of their sources;
        None: nothing any more.
        """
        ids, self._watched.unremembered = self._watched.unremembered, {}
        return {id: self._watched.boards.get(id) for id in ids}

    # --- a run before this one ------------------------------------------------------------------

    def restore(
        self,
        games: Iterable[StandingGame],
        memory: DeskMemory,
        alerts: Iterable[Alert],
        last_s: float,
        now_s: float,
    ) -> None:
        """The games that stand again, and alerts as they were sent then, in order. Sends nothing.

        Alerts that were not over stand as they stood, and are not raised a second time by a cause
        that stands. What an arbiter took note of for good stays settled. ``last_s``: until when
        that run is known to have lived; what was waited for, is waited for from there on.
        """
        self.unwatched_s, self._ticked_s = memory.unwatched_s, last_s
        self._watched.restore(games, memory, last_s - self.unwatched_s)
        self._pass(now_s)
        for id, alert in {alert.id: alert for alert in alerts}.items():
            topic = kind, about = topic_of(alert)
            if kind == BOARD and about not in self._watched.boards:
                continue
            finding = self._findings(topic, now_s).get(id)
            passing = alert.kind in PASSING
            if alert.cleared_s is None:
                if alert.muted and not self._is_muted(alert):
                    self._mutes.add(("alert", id))
                if finding is None:
                    self._unseen.add(id)
                self._open[id] = alert
                # Whatever passing thing is seen next has happened since.
                unseen = 0 if passing else 1
                self._counted[topic][id] = (
                    unseen if finding is None else finding.occurrence
                )
            elif passing and alert.acknowledged_s is not None and finding is not None:
                self._counted[topic][id] = finding.occurrence

    def _awaited(self, alert: Alert) -> bool:
        """Whether it stands although its cause is not seen: nothing since the restart says that it
        is gone.
        """
        if alert.id not in self._unseen:
            return False
        if alert.kind == "feed":
            health = self._watched.feeds.get(alert.feed or "")
            return health is None or health.state not in ("live", "finished")
        return alert.kind in PASSING

    # --- what the arbiter does ------------------------------------------------------------------

    def acknowledge(self, id: str, now_s: float, by: str = "") -> list[AlertMessage]:
        """The arbiter has taken note. What is merely past is thereby over; a state that lasts
        stays open, marked, until its cause goes.
        One that is over by now, or was taken note of before, is left alone.
        """
        alert = self._open.get(id)
        if alert is None or alert.acknowledged_s is not None:
            return []
        alert_now = replace(alert, acknowledged_s=now_s, acknowledged_by=by)
        over = alert.kind in PASSING
        return [self._close(alert_now, now_s)] if over else self._say([alert_now])

    def note(self, id: str, text: str, by: str = "") -> list[AlertMessage]:
        """Write something to an alert; an empty text takes it away. ``by``: whose token it came by,
        which stays however long the text is.
        """
        alert = self._open.get(id)
        if alert is None:
            return []
        return self._say([replace(alert, note=signed(text[:NOTE_CHARS], by))])

    def mute(self, muted: bool = True, **what: str | None) -> list[AlertMessage]:
        """Do not show one ``alert``, any of a ``kind``, or any of a board (``game``); or show them
        again. They are still found and logged.
        """
        change = self._mutes.add if muted else self._mutes.discard
        for way, which in what.items():
            if which is not None:
                change((way, which))
        return self._say(self._open.values())

    def _is_muted(self, alert: Alert) -> bool:
        ways = {("alert", alert.id), ("kind", alert.kind), ("game", alert.game)}
        return not ways.isdisjoint(self._mutes)

    # --- what is held ---------------------------------------------------------------------------

    def open(self) -> list[Alert]:
        """Those not cleared: unseen ones first, then by urgency, then the newest first."""
        return in_order(self._open.values())

    # --- the list -------------------------------------------------------------------------------

    def _look(self, topic: Topic, now_s: float) -> list[AlertMessage]:
        """Bring the alerts about one thing to what is the matter with it now."""
        found, counted = self._findings(topic, now_s), self._counted[topic]
        messages, raised = list[AlertMessage](), list[Alert]()
        for id in [each for each in counted if each not in found]:
            alert = self._open.get(id)
            if alert is not None and not self._awaited(alert):
                messages.append(self._close(alert, now_s))
            if id not in self._open:
                counted[id] = 0
        self._unseen.difference_update(found)
        for id, finding in found.items():
            before = self._open.get(id)
            if before is None and counted.get(id) == finding.occurrence:
                continue  # An arbiter has taken note of it.
            if before is not None and before.game != finding.game:
                # Whoever looks at one board only must not be left with what is about another now.
                messages.append(self._close(before, now_s))
            raised.append(self._alert(finding, before, counted.get(id), now_s))
            counted[id] = finding.occurrence
        kind, about = topic
        gone = about not in self._watched.players and self._open.keys().isdisjoint(
            counted
        )
        if kind == BOARD and (gone := about not in self._watched.boards):
            left = [alert for alert in self._open.values() if alert.game == about]
            for alert in left:
                messages.append(self._close(alert, now_s))
                # What is found about somebody who played there is news again.
                self._counted[topic_of(alert)][alert.id] = 0
            self._mutes.discard(("game", about))
        if gone and topic != _PARTS:
            self._mutes.difference_update(
                ("alert", id) for id in self._counted.pop(topic)
            )
        return messages + self._say(raised)

    def _findings(self, topic: Topic, now_s: float) -> dict[str, Finding]:
        """Findings of every kind about one board, one player, or the feeds and engines."""
        watched, (kind, about) = self._watched, topic
        now_s -= self.unwatched_s
        if kind == PLAYER:
            found = engine_agreement(watched, about)
        elif kind == BOARD and about in watched.boards:
            found = board_findings(watched.boards[about], now_s)
        elif kind == BOARD:
            return {}
        else:
            found = itertools.chain(
                failing_feeds(watched, now_s), failing_engines(watched, now_s)
            )
        return {each.id: each for each in found}

    def _alert(
        self, finding: Finding, before: Alert | None, counted: int | None, now_s: float
    ) -> Alert:
        fields = asdict(finding)
        del fields["about"], fields["occurrence"]
        alert = Alert(id=finding.id, first_seen_s=now_s, **fields)
        if before is None:
            return alert
        is_higher = counted is not None and finding.occurrence > counted
        again = is_higher and finding.kind not in COUNTED
        return replace(
            alert,
            first_seen_s=before.first_seen_s,
            times=before.times + again,
            acknowledged_s=None if again else before.acknowledged_s,
            acknowledged_by="" if again else before.acknowledged_by,
            note=before.note,
        )

    def _say(self, alerts: Iterable[Alert]) -> list[AlertMessage]:
        messages = []
        for alert in list(alerts):
            alert_now = replace(alert, muted=self._is_muted(alert))
            if self._open.get(alert.id) != alert_now:
                self._open[alert.id] = alert_now
                messages.append(AlertMessage(alert_now))
        return messages

    def _close(self, alert: Alert, now_s: float) -> AlertMessage:
        del self._open[alert.id]
        self._unseen.discard(alert.id)
        return AlertMessage(
            replace(alert, cleared_s=now_s, ended=self._describe_place(alert))
        )

    def _describe_place(self, alert: Alert) -> str:
        """Return what is to be seen now where an alert was; empty where nothing is."""
        kind, about = topic_of(alert)
        if kind == BOARD:
            board = self._watched.boards.get(about)
            if board is None:
                return "the board is gone"
            if alert.kind == "vanished":
                return "back in its source"
            if alert.kind in _CLOCKS and alert.color and board.running:
                clock_s = board.clock(alert.color).clock_s
                return (
                    "no clock is sent"
                    if clock_s is None
                    else f"it shows {dial(clock_s)}"
                )
            return board.last_event
        feed = self._watched.feeds.get(alert.feed or "")
        return feed.state if feed is not None else ""
