"""The state of one source: what it has reported, its health, and whether it has ended.

No move is lost between source and game. Each report contains whole games, so the next
report makes up for a missed one. ``FeedSink.report`` waits while the consumer is busy,
and drops nothing.
"""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from live.messages.from_sources import FeedReport, GameReport, GameReports
from live.messages.health import FeedHealth, FeedState
from live.messages.values import FeedName
from live.process.backoff import Chance, format_duration
from live.process.clock import LOOP_CLOCK, Clock
from live.settings import FeedsConfig
from live.sources.game_identity import Identity, identify_games


class FeedSink(Protocol):
    """The receiver of a source's games and health."""

    async def report(self, report: FeedReport) -> None:
        """Pass games to the consumer; wait while it is behind. Can be cancelled
        safely.
        """

    async def wait_until_rated(self) -> None:
        """Return once every reported game has been rated. Sources of live games never
        call this; a replay does, so that it does not run ahead of the ratings.
        """

    def known_games(self, feed: FeedName) -> Sequence[GameReport]:
        """Return this source's games as they were when the service last stopped; none
        on its first run.
        """

    def health(self, health: FeedHealth) -> None:
        """Report the health of the source. Call this only when its state or detail
        changes.
        """


@dataclass(frozen=True)
class FeedConditions:
    """Conditions under which a source is followed: settings, clock, random numbers, and
    whether it is only probed or followed for ever.
    """

    config: FeedsConfig
    clock: Clock = LOOP_CLOCK
    random: Chance = random.random
    """Random number generator for the first wait before a reconnect."""
    passing: bool = False
    """Whether the source is only probed: the probe leaves nothing behind at the source
    and does not disturb others who follow it.
    """
    lasting: bool = False
    """Whether to wait for a source that does not exist yet, and to continue whatever it
    answers. When all its games have ended, it is shown as finished but still polled,
    since the next round might follow. If false, the source ends then.
    """


class Poll(NamedTuple):
    """The result of one poll of a source."""

    games: Sequence[GameReport] = ()
    complete: bool = False
    """Whether these are all the games of the source."""
    again_in_s: float | None = None
    """Poll again after at most this many seconds, and do not consider the source ended:
    it might have more than these games.
    """
    note: str = ""
    """Message for people about a source that works, such as failing boards or games
    left out.
    """
    trouble: Exception | None = None
    """Error that ended the connection or asks for fewer requests. It is raised after
    the games have been reported.
    """
    heard_s: float | None = None
    """Clock time of the source's last answer, if this poll got none and so has no
    games; otherwise None.
    """


class WrongBoard(NamedTuple):
    """A board of a source, with a description of what could not be read."""

    name: str
    problem: str


#: Greatest number of problems listed for a source, and of boards listed per problem.
MOST_NAMED = 5


def describe_wrong_boards(wrong: Iterable[WrongBoard]) -> str:
    """Return a text for display that lists the boards with each problem: ``board 2,
    board 4: …``.
    """
    boards: defaultdict[str, list[str]] = defaultdict(list)
    for board in wrong:
        boards[board.problem].append(board.name)
    texts = []
    for problem, names in list(boards.items())[:MOST_NAMED]:
        suffix = (
            f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        )
        texts.append(f"{', '.join(names[:MOST_NAMED])}{suffix}: {problem}")
    if len(boards) > MOST_NAMED:
        rest = sum(map(len, list(boards.values())[MOST_NAMED:]))
        texts.append(f"{rest} more boards with other problems")
    return "; ".join(texts)


def _name_board(game: GameReport) -> str:
    """Return a name of the board for people: its number, its two players, or its
    key.
    """
    headers = game.headers
    if headers.board is not None:
        return f"board {headers.board}"
    names = (headers.white.name, headers.black.name)
    return game.key if game.key and "?" in names else " - ".join(names)


def _is_ended_illegally(game: GameReport) -> bool:
    """Return whether the game has ended and its last move was illegal. That is not a
    fault of the source: kings are placed in the centre to mark the result.
    """
    return game.result != "*" and (game.problem or "").startswith("illegal move")


class FeedSession:
    """State of one source. It reports each change of games or health once. Of each game
    it stores only what it needs to notice changes and the end.
    """

    def __init__(
        self, name: FeedName, sink: FeedSink, conditions: FeedConditions
    ) -> None:
        self.name = name
        self.sink = sink
        self.reported = False
        """Whether anything has been reported. After that no trouble is fatal."""
        self.changed_s = conditions.clock.now()
        """Clock time of the last change to any game."""
        self.heard_s = float("-inf")
        """Clock time of the source's last valid answer."""
        self.note = ""
        """Message for people about a source that works, such as failing boards or games
        left out.
        """
        self._polled: tuple[GameReports, bool] | None = None
        self._games: dict[Identity, tuple[object, ...]] = {}
        self._wrong: dict[Identity, WrongBoard] = {}
        self._clock = conditions.clock
        self._config = conditions.config
        self._lasting = conditions.lasting
        self._health: FeedHealth | None = None

    @property
    def games_text(self) -> str:
        """The number of games as text for people."""
        count = len(self._games)
        return f"{count} game{'s' if count != 1 else ''}"

    def _record_game_states(
        self, games: Iterable[GameReport], *, complete: bool
    ) -> None:
        """Record the present state of games, O(1) per game. A change in the middle of a
        game is not noticed if the number of moves, last move, result and headers stay
        the same.
        """
        games = list(games)
        if not complete:
            # A stream that catches up sends several states of one game at once: keep
            # the last.
            games = list(
                {game.key or place: game for place, game in enumerate(games)}.values()
            )
        states: dict[Identity, tuple[object, ...]] = {
            identity: (game.result, len(game.moves), game.moves[-1:], game.headers)
            for identity, game in zip(identify_games(games), games, strict=True)
        }
        wrong = {
            identity: WrongBoard(_name_board(game), game.problem)
            for identity, game in zip(states, games, strict=True)
            if game.problem is not None and not _is_ended_illegally(game)
        }
        if not complete:
            unreported = {
                identity: board
                for identity, board in self._wrong.items()
                if identity not in states
            }
            wrong = unreported | wrong
        self._wrong = wrong
        after = states if complete else self._games | states
        if after != self._games:
            self.changed_s = self._clock.now()
        self._games = after

    def remember_games(self, games: Iterable[GameReport]) -> None:
        """Record games of an earlier run: while one of them is unfinished, the source
        has not ended.
        """
        self._record_game_states(games, complete=False)

    def report_health(self, state: FeedState, detail: str = "") -> None:
        """Report the health, unless it equals the health reported last."""
        if state in ("live", "stale", "finished"):
            notes = [detail, self.note, describe_wrong_boards(self._wrong.values())]
            detail = "; ".join(filter(None, notes))
        health = FeedHealth(self.name, state, detail)
        if health != self._health:
            self._health = health
            self.sink.health(health)

    async def report(
        self, games: Sequence[GameReport], *, complete: bool = False
    ) -> None:
        """Report games and note that the source has answered. Waits while the consumer
        is behind.
        """
        if games or complete:
            self._record_game_states(games, complete=complete)
            self.reported = True
            await self.sink.report(FeedReport(self.name, tuple(games), complete))
        self.record_source_answer()

    async def report_poll(self, poll: Poll) -> None:
        """Report the result of a poll. If it equals the last one, only note that the
        source has answered.
        """
        self.note = poll.note
        if poll.heard_s is not None:
            self._report_source_state(poll.heard_s)
            return
        polled = (tuple(poll.games), poll.complete)
        if polled == self._polled:
            self.record_source_answer()
        else:
            await self.report(poll.games, complete=poll.complete)
            self._polled = polled

    def record_source_answer(self) -> None:
        """Note that the source answered just now, and report its state."""
        self._report_source_state(self._clock.now())

    def _report_source_state(self, heard_s: float) -> None:
        """Report state ``live``, ``stale`` (no game has changed for long) or
        ``finished``. ``heard_s`` is the clock time of the source's last answer.
        """
        self.heard_s = max(self.heard_s, heard_s)
        still_s = self._clock.now() - self.changed_s
        running = any(
            result == "*" and plies for result, plies, *_ in self._games.values()
        )
        if not self._games:
            self.report_health("live", "no games yet")
        elif running and still_s >= self._config.stale_after_s:
            self.report_health("stale", f"nothing new for {format_duration(still_s)}")
        else:
            self.report_health("finished" if self.is_idle else "live", self.games_text)

    def ends_in_s(self) -> float | None:
        """Return the seconds until the source counts as ended; None while a game is
        unfinished.

        A source has ended when all results are in and nothing has changed for the grace
        period: a result is often entered before the last moves arrive, and a wrong
        result is usually corrected at once.
        """
        if not self._games or any(result == "*" for result, *_ in self._games.values()):
            return None
        return max(
            0.0, self.changed_s + self._config.finish_after_s - self._clock.now()
        )

    def earliest_wait_s(self, *waits_s: float | None) -> float:
        """Return the shortest of the given waits and, if the source has not ended, the
        time until it ends, in seconds. At least one of these must not be None.
        """
        ends_in_s = None if self._has_ended else self.ends_in_s()
        return min(wait_s for wait_s in (*waits_s, ends_in_s) if wait_s is not None)

    @property
    def is_over(self) -> bool:
        """Whether everything has been reported and following the source can end."""
        return not self._lasting and self._has_ended

    @property
    def is_idle(self) -> bool:
        """Whether everything has been reported but the next round might follow, so that
        the source is still checked, at longer intervals.
        """
        return self._lasting and self._has_ended

    @property
    def _has_ended(self) -> bool:
        left_s = self.ends_in_s()
        # A deadline can fire one clock tick early, and sums of seconds are not exact.
        return left_s is not None and left_s < 0.1
