"""Changes as lines of text: moves, figures, results, sources and alerts."""

from collections import Counter
from collections.abc import Iterable, Sequence

from live.catalogue import write_sentence
from live.event.rate_game import COLORS
from live.messages.alerts import Alert
from live.messages.figures import CurvePoint, GameDetail, GameView
from live.messages.health import FeedHealth
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PointMessage,
)
from live.messages.values import Color, GameId
from live.screens.terminal.text import plain, write_clock, write_move, write_score
from live.server.event_reader import game_of, replay_game
from live.server.reference_client import ReferenceClient
from live.watch.incident_log import IncidentLog, log_lines


class EventLineWriter:
    """Converter of messages to lines; ``known`` games and ``alerts`` are not reported
    as new.
    """

    def __init__(
        self, known_games: Iterable[GameDetail] = (), alerts: Iterable[Alert] = ()
    ) -> None:
        self._state = ReferenceClient()
        self._alerts = IncidentLog()
        self._printed_plies: dict[tuple[GameId, Color], int] = {}
        """Last ply of each side whose figures were printed."""
        for game in known_games:
            self.write_lines(replay_game(game))
        self.write_lines(map(AlertMessage, alerts))

    def write_lines(self, changes: Iterable[Change]) -> list[str]:
        """Return the lines to print for ``changes``, in order.

        If several moves of a game arrive together, as when following begins in the
        middle of the game, only the last is printed.
        """
        changes = list(changes)
        last_moves: dict[GameId, MoveMessage] = {}
        for change in changes:
            if isinstance(change, MoveMessage) and change.move:
                last_moves[change.game] = change
        lines: list[str] = []
        move_counts: Counter[GameId] = Counter()
        for change in changes:
            id, feeds = game_of(change) or "", self._state.feeds()
            before = self._state.game(id)
            self._state.apply(change)
            game = self._state.game(id)
            texts: list[str] = []
            match change:
                case GameMessage(game=view):
                    texts = _tell_news(before, view)
                case GoneMessage():
                    self._forget_figures(id, 0)
                    texts = ["gone from its source"]
                case MoveMessage() if before and game:
                    self._forget_figures(id, change.ply - 1)
                    is_last = change is last_moves.get(id)
                    texts = [_tell_move(before, game, change, is_last, move_counts)]
                case PointMessage(color=color, point=point) if game:
                    texts = [self._tell_point(game, color, point)]
                case HealthMessage():
                    lines += _tell_health(feeds, change.feeds)
                case AlertMessage(alert=alert):
                    # Only readers who are allowed to see alerts are sent any.
                    incidents = self._alerts.add_alert(alert, 0.0) or ()
                    lines += map(plain, log_lines(alert, incidents))
            about = game or before
            lines += [f"{_label(about)}: {text}" for text in texts if text and about]
        return lines

    def _forget_figures(self, id: GameId, from_ply: int) -> None:
        """Allow the figures after this ply to be printed again."""
        for color in COLORS:
            printed = self._printed_plies.get((id, color), 0)
            self._printed_plies[id, color] = min(printed, from_ply)

    def _tell_point(self, game: GameDetail, color: Color, point: CurvePoint) -> str:
        """Return a move's figures; empty if they were printed before.

        A header corrected later causes whole curves to be sent again.
        """
        side = game.id, color
        if point.ply <= self._printed_plies.get(side, 0):
            return ""
        self._printed_plies[side] = point.ply
        return _tell_figures(game, color, point)


def _tell_move(
    before: GameDetail,
    game: GameDetail,
    change: MoveMessage,
    is_last: bool,
    counts: Counter[GameId],
) -> str:
    """Return a move, a correction or a takeback; empty for a move that is not the last
    of those that came together. ``counts`` counts these.
    """
    move = change.move
    counts[game.id] += 1
    if move is None:
        last = write_move(game, game.plies[-1]) if game.plies else "the start"
        return f"taken back to {last}"
    replaced = before.plies[change.ply - 1 :]
    if replaced:
        counts[game.id] = 0
        return f"corrected to {write_move(game, move)}, was {replaced[0].san}"
    if not is_last:
        return ""
    moves = f"{counts[game.id]} moves to " if counts[game.id] > 1 else ""
    clock = "" if move.clock_s is None else f", clock {write_clock(move.clock_s)}"
    return f"played {moves}{write_move(game, move)}{clock}"


def _tell_news(before: GameView | None, now: GameView) -> list[str]:
    if before is None:
        return ["board appears"]
    sources = " and ".join(plain(name, 60) for name in (now.feed, *now.also))
    texts = {
        "result": now.result,
        "problem": plain(now.problem or "", 200),
        "also": f"one game, from {sources}" if now.also else "",
        "dispute": plain(now.dispute or "", 200),
    }
    changed = (name for name in texts if getattr(before, name) != getattr(now, name))
    return list(filter(None, map(texts.__getitem__, changed)))


def _tell_figures(game: GameDetail, color: Color, point: CurvePoint) -> str:
    ply = game.plies[point.ply - 1]
    # A first choice has its gain before the position after it has a score.
    score = f" {write_score(ply)}" if ply.final else ""
    own, opponent = (
        (game.white, game.black) if color == "white" else (game.black, game.white)
    )
    # The side's last move of a finished game: this figure is final.
    final = not game.running and point.ply >= game.plies_played - 1
    rating = write_sentence(point, own.elo, opponent.elo, final=final)
    rating = rating or "no perceived rating"
    gain = f"gain {point.gain_cp / 100:+.2f}"
    return f"{write_move(game, ply)}{score}, {gain}. {plain(own.name, 40)}: {rating}"


def _label(view: GameView) -> str:
    board = f"board {view.board} " if view.board is not None else ""
    return f"{board}{plain(view.white.name, 24)} - {plain(view.black.name, 24)}"


def _tell_health(before: Sequence[FeedHealth], now: Sequence[FeedHealth]) -> list[str]:
    reported = {(feed.feed, feed.state, feed.detail) for feed in before}
    lines = []
    for feed in now:
        if (feed.feed, feed.state, feed.detail) not in reported:
            reason = f": {plain(feed.detail, 200)}" if feed.detail else ""
            lines.append(f"{plain(feed.feed, 60)} {feed.state}{reason}")
    return lines
