"""What has just happened, as it is sent: noted for the screens, which boards to look at again and
what is new; or a line for each thing, for who has no terminal.

Noting costs a set entry a change, so that listening holds up nobody. Loss policy: what changed
twice between two frames is seen once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import msgspec

from live.alerts.incident_log import IncidentLog, log_lines
from live.catalogue import sentence
from live.events import (
    AlertMessage,
    Change,
    ClockMessage,
    Color,
    CurvePoint,
    FeedHealth,
    FeedName,
    GameDetail,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PlyView,
    PointMessage,
    ScoreMessage,
)
from live.terminal.text import clock_text, move_text, plain, score_text

#: How long something counts as new, seconds.
NEW_S = 4.0


class RecentChange(msgspec.Struct, frozen=True):
    """The last move of a board, or the taking back of one."""

    ply: int
    at_s: float
    taken_back: bool = False


class RecentChanges:
    """``now`` gives seconds that never go back."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.began_s = now()
        """Nothing is known of what happened before."""
        self._touched: set[GameId] = set()
        self._all = True
        self._moves: dict[GameId, RecentChange] = {}
        self._points: dict[GameId, tuple[int, float]] = {}
        self._silent: dict[FeedName, float] = {}
        """Since when a feed is not live, seconds."""
        self._asked: dict[GameId, tuple[int, float]] = {}
        """Plies of a board whose last move was not sent, and when they were first asked about."""

    def note(self, changes: Iterable[Change]) -> None:
        """Note ``changes``; the state already holds them."""
        for change in changes:
            match change:
                case GoneMessage(game=game):
                    for noted in (self._moves, self._points, self._asked):
                        noted.pop(game, None)
                    self._touched.discard(game)
                case GameMessage(game=view):
                    self._touched.add(view.id)
                case ScoreMessage(game=game) | ClockMessage(game=game):
                    self._touched.add(game)
                case MoveMessage(game=game, ply=ply, move=move):
                    self._touched.add(game)
                    self._moves[game] = RecentChange(ply, self.now(), move is None)
                case PointMessage(game=game, point=point):
                    self._touched.add(game)
                    self._points[game] = (point.ply, self.now())
                case _:
                    pass

    def everything(self) -> None:
        """The whole state was replaced."""
        self._all = True

    def touched(self) -> tuple[bool, set[GameId]]:
        """Whether every board changed, and which did since this was last asked."""
        answer = self._all, self._touched
        self._all, self._touched = False, set()
        return answer

    def age_s(self, game: GameId) -> tuple[float, bool]:
        """Seconds since the last move, and whether it is exact: before the first move sent, all
        that is known is that it is longer ago than we look on.
        """
        event = self._moves.get(game)
        since = self.began_s if event is None else event.at_s
        return self.now() - since, event is not None

    def feeds(self, feeds: Iterable[FeedHealth]) -> None:
        """Note which feeds are silent: nobody knows whether clocks of their games still run."""
        now = self.now()
        self._silent = {
            each.feed: self._silent.get(each.feed, now) for each in feeds if each.state != "live"
        }

    def ran_s(self, game: GameId, feed: FeedName, plies: int) -> float:
        """Seconds that the clock of the side to move has run after so many plies, as far as is
        known: since the last of them was sent, else since this was first asked, and only until the
        feed fell silent.
        """
        event = self._moves.get(game)
        if event is not None and event.ply - event.taken_back == plies:
            since = event.at_s
        else:  # it was there before us, or came while we were cut off
            known, since = self._asked.get(game, (plies, self.now()))
            if known != plies:
                since = self.now()
            self._asked[game] = plies, since
        return max(0.0, self._silent.get(feed, self.now()) - since)

    def is_new(self, game: GameId, ply: int) -> bool:
        """Whether this move, or the rating after it, is a moment old."""
        now = self.now()
        event = self._moves.get(game)
        if event is not None and event.ply == ply and now - event.at_s < NEW_S:
            return True
        point = self._points.get(game)
        return point is not None and point[0] == ply and now - point[1] < NEW_S


class EventLineWriter:
    """Turns messages into lines; remembers only what a line needs to make sense alone."""

    def __init__(self) -> None:
        self._games: dict[GameId, GameView] = {}
        self._plies: dict[GameId, dict[int, PlyView]] = {}
        """As they were sent last, but those before we came."""
        self._said: dict[GameId, set[int]] = {}
        """Plies whose figures were printed."""
        self._feeds: Mapping[str, FeedHealth] = {}
        self._alerts = IncidentLog()

    def lines(self, changes: Iterable[Change]) -> list[str]:
        """What to print for ``changes``, in order. Of moves that come together, as when a game is
        met in its middle, the last stands for all.
        """
        changes = list(changes)
        waiting = Counter(
            each.game for each in changes if isinstance(each, MoveMessage) and each.move
        )
        lines: list[str] = []
        together: Counter[GameId] = Counter()
        for change in changes:
            match change:
                case GameMessage(game=view):
                    lines += self._game(view)
                case GoneMessage(game=game):
                    lines.append(f"{self._label(game)}: gone from its source")
                    for known in (self._games, self._plies, self._said):
                        known.pop(game, None)
                case MoveMessage(game=game, ply=ply, move=move):
                    before = self._played(game, ply, move)
                    if move is None:
                        last = self._plies[game].get(ply - 1)
                        back = f"to {self._move_text(game, last)}" if last else "to the start"
                        lines.append(f"{self._label(game)}: taken back {back}")
                        continue
                    together[game] += 1
                    waiting[game] -= 1
                    if before is not None:
                        was = f", was {before}" if before else ""
                        text = f"corrected to {self._move_text(game, move)}{was}"
                        lines.append(f"{self._label(game)}: {text}")
                        together[game] = 0
                    elif not waiting[game]:
                        several = f"{together[game]} moves to " if together[game] > 1 else ""
                        clock = clock_text(move.clock_s)
                        text = f"played {several}{self._move_text(game, move)}"
                        lines.append(f"{self._label(game)}: {text}{clock and f', clock {clock}'}")
                case ScoreMessage(game=game, ply=scored):
                    self._plies.setdefault(game, {})[scored.ply] = scored
                case PointMessage(game=game, color=color, point=point):
                    # A header corrected later sends whole curves again: a move is reported once.
                    if point.ply not in self._said.setdefault(game, set()):
                        self._said[game].add(point.ply)
                        lines.append(self._point(game, color, point))
                case HealthMessage(feeds=feeds):
                    lines += self._health(feeds)
                case AlertMessage(alert=alert):
                    # Only who may know of alerts is sent any.
                    lines += map(plain, log_lines(alert, self._alerts.alert(alert, 0.0)))
                case _:
                    pass
        return lines

    def _played(self, game: GameId, ply: int, move: PlyView | None) -> str | None:
        """Note a move, or a takeback; what stood in its place, empty where that was before we came,
        and None where nothing did.
        """
        plies = self._plies.setdefault(game, {})
        before = plies.get(ply)
        over = [each for each in plies if each >= ply]
        for each in over:
            del plies[each]
        self._said[game] = {each for each in self._said.get(game, ()) if each < ply}
        if move is not None:
            plies[ply] = move
        return None if not over else "" if before is None else before.san

    def _move_text(self, game: GameId, move: PlyView) -> str:
        view = self._games.get(game)
        return move_text(view, move) if view else f"ply {move.ply}"

    def _game(self, view: GameView) -> list[str]:
        known = self._games.get(view.id)
        self._games[view.id] = view
        if known is None:
            if isinstance(view, GameDetail):
                self._plies[view.id] = {ply.ply: ply for ply in view.plies}
            return [f"{self._label(view.id)}: board appears"]
        sources = " and ".join(plain(name, 60) for name in (view.feed, *view.also))
        return [
            f"{self._label(view.id)}: {text}"
            for before, now, text in (
                (known.result, view.result, view.result),
                (known.problem, view.problem, plain(view.problem or "", 200)),
                (known.also, view.also, f"one game, from {sources}" if view.also else ""),
                (known.dispute, view.dispute, plain(view.dispute or "", 200)),
            )
            if before != now and text
        ]

    def _point(self, game: GameId, color: Color, point: CurvePoint) -> str:
        view = self._games.get(game)
        # The gain of a first choice is known before the position after it has its score.
        ply = self._plies.get(game, {}).get(point.ply)
        move = self._move_text(game, ply) if ply else f"ply {point.ply}"
        score = f" {score_text(ply.score_cp, ply.mate)}" if ply and ply.final else ""
        player = plain(getattr(view, color).name, 40) if view else color
        other: Color = "black" if color == "white" else "white"
        elo, opponent = (getattr(view, each).elo if view else None for each in (color, other))
        # Its side's last move of a finished game: the figure stays.
        final = view is not None and view.result != "*" and point.ply >= view.plies_played - 1
        said = sentence(point, elo, opponent, final=final) or "no perceived rating"
        return (
            f"{self._label(game)}: {move}{score}, gain {point.gain_cp / 100:+.2f}. {player}: {said}"
        )

    def _label(self, game: GameId) -> str:
        view = self._games.get(game)
        if view is None:
            return game
        board = f"board {view.board} " if view.board is not None else ""
        return f"{board}{plain(view.white.name, 24)} - {plain(view.black.name, 24)}"

    def _health(self, feeds: Iterable[FeedHealth]) -> list[str]:
        lines = []
        for feed in feeds:
            known = self._feeds.get(feed.feed)
            if known is None or known.state != feed.state or known.detail != feed.detail:
                detail = f": {plain(feed.detail, 200)}" if feed.detail else ""
                lines.append(f"{plain(feed.feed, 60)} {feed.state}{detail}")
        self._feeds = {feed.feed: feed for feed in feeds}
        return lines
