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
from live.terminal.text import (
    clock_text,
    move_text,
    plain,
    score_text,
)


class EventLineWriter:
    """Turns messages into lines; remembers only what a line needs to make sense alone."""

    def __init__(self) -> None:
        self._games: dict[GameId, GameView] = {}
        self._feeds: Mapping[str, FeedHealth] = {}
        self._plies: dict[GameId, dict[int, PlyView]] = {}
        self._told: dict[GameId, set[int]] = {}
        self._alerts = IncidentLog()
        self._moves: dict[GameId, list[str]] = {}
        """SAN of every ply; empty for plies before we came."""

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
                    self._games.pop(game, None)
                    self._forget(game, 1)
                    self._moves.pop(game, None)
                case MoveMessage(game=game, ply=ply, move=move):
                    self._forget(game, ply)
                    if move is None:
                        lines.append(f"{self._label(game)}: taken back to ply {ply - 1}")
                        del self._sans(game, ply - 1)[ply - 1 :]
                        continue
                    self._plies.setdefault(game, {})[ply] = move
                    before = self._played(game, ply, move.san)
                    together[game] += 1
                    waiting[game] -= 1
                    if before is not None:
                        lines.append(self._correction(game, move, before))
                        together[game] = 0
                    elif not waiting[game]:
                        lines.append(self._move(game, move, together[game]))
                case ScoreMessage(game=game, ply=scored):
                    if scored.ply not in self._told.get(game, ()):
                        self._plies.setdefault(game, {})[scored.ply] = scored
                case PointMessage(game=game, color=color, point=point):
                    # A header corrected later sends whole curves again: a move is reported once.
                    if point.ply not in self._told.setdefault(game, set()):
                        self._told[game].add(point.ply)
                        lines.append(self._point(game, color, point))
                case HealthMessage(feeds=feeds):
                    lines += self._health(feeds)
                case AlertMessage(alert=alert):
                    # Only who may know of alerts is sent any.
                    lines += map(plain, log_lines(alert, self._alerts.alert(alert, 0.0)))
                case _:
                    pass
        return lines

    def _sans(self, game: GameId, before: int) -> list[str]:
        """The moves of a game, with a place for each of the first ``before`` plies."""
        sans = self._moves.setdefault(game, [])
        sans += [""] * (before - len(sans))
        return sans

    def _played(self, game: GameId, ply: int, san: str) -> str | None:
        """Note a move; what stood in its place, if something did."""
        sans = self._sans(game, ply - 1)
        before = sans[ply - 1] if len(sans) >= ply else None
        del sans[ply - 1 :]
        sans.append(san)
        return before

    def _move(self, game: GameId, move: PlyView, together: int) -> str:
        view = self._games.get(game)
        text = f"{together} moves to " if together > 1 else ""
        text += move_text(view, move) if view else f"ply {move.ply}"
        clock = f", clock {clock_text(move.clock_s)}" if move.clock_s is not None else ""
        return f"{self._label(game)}: played {text}{clock}"

    def _correction(self, game: GameId, move: PlyView, before: str) -> str:
        view = self._games.get(game)
        text = move_text(view, move) if view else f"ply {move.ply}"
        return f"{self._label(game)}: corrected to {text}{f', was {before}' if before else ''}"

    def _forget(self, game: GameId, from_ply: int) -> None:
        self._told[game] = {ply for ply in self._told.get(game, ()) if ply < from_ply}
        held = self._plies.get(game, {})
        self._plies[game] = {ply: view for ply, view in held.items() if ply < from_ply}

    def _game(self, view: GameView) -> list[str]:
        known = self._games.get(view.id)
        self._games[view.id] = view
        if known is None:
            if isinstance(view, GameDetail):
                self._moves[view.id] = [ply.san for ply in view.plies]
            return [f"{self._label(view.id)}: board appears"]
        lines = []
        if known.result != view.result:
            lines.append(f"{self._label(view.id)}: {view.result}")
        if known.problem != view.problem and view.problem:
            lines.append(f"{self._label(view.id)}: {plain(view.problem, 200)}")
        if known.also != view.also and view.also:
            sources = " and ".join(plain(name, 60) for name in (view.feed, *view.also))
            lines.append(f"{self._label(view.id)}: one game, from {sources}")
        if known.dispute != view.dispute and view.dispute:
            lines.append(f"{self._label(view.id)}: {plain(view.dispute, 200)}")
        return lines

    def _point(self, game: GameId, color: Color, point: CurvePoint) -> str:
        view = self._games.get(game)
        # The gain of a first choice is known before the position after it has its score.
        ply = self._plies.get(game, {}).pop(point.ply, None)
        move = move_text(view, ply) if view and ply else f"ply {point.ply}"
        score = f" {score_text(ply.score_cp, ply.mate)}" if ply and ply.final else ""
        player = plain(getattr(view, color).name, 40) if view else color
        other: Color = "black" if color == "white" else "white"
        elo, opponent = (getattr(view, each).elo if view else None for each in (color, other))
        said = sentence(point, elo, opponent) or "no perceived rating"
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
