"""Without a terminal: one line for each thing that happened. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from live.alerts.incident_log import IncidentLog, log_lines
from live.catalogue import sentence
from live.events import (
    AlertMessage,
    Change,
    Color,
    CurvePoint,
    FeedHealth,
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
                        lines.append(f"{self._label(game)}: taken back to ply {ply - 1}")
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
