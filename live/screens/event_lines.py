"""Messages about moves, figures, results, sources and alerts, as lines of text."""

from collections import Counter
from collections.abc import Iterable, Sequence

from live.catalogue import explain_no_rating, write_sentence
from live.event.rate_game import COLORS
from live.messages.alerts import Alert
from live.messages.figures import CurvePoint, GameDetail, GameView
from live.messages.health import EngineHealth, FeedHealth
from live.messages.to_clients import (
    AlertMessage,
    Change,
    GameMessage,
    GoneMessage,
    HealthMessage,
    MoveMessage,
    PointMessage,
    ScoreMessage,
)
from live.messages.values import Color, GameId
from live.screens.terminal.text import plain, write_clock, write_move, write_score
from live.server.event_reader import game_of, replay_game
from live.server.reference_client import ReferenceClient
from live.watch.incident_log import IncidentLog, log_lines

#: Line about the measurement of the engine, when it begins (True) and ends (False). The
#: end says nothing about its success.
_MEASURED = {
    True: "figures can still change: the engine is measured when it is idle",
    False: "measuring the engine has ended",
}


class EventLineWriter:
    """Converter of messages to lines of text.

    ``known_games``, ``alerts`` and the health of the ``engines`` were there before the
    first message and get no lines.
    With ``is_public``, neither alerts nor parts of the service get lines.
    """

    def __init__(
        self,
        known_games: Iterable[GameDetail] = (),
        alerts: Iterable[Alert] = (),
        engines: EngineHealth | None = None,
        *,
        is_public: bool = False,
    ) -> None:
        self._is_public = is_public
        self._state = ReferenceClient()
        if engines is not None:
            self._state.apply(HealthMessage((), engines))
        self._alerts = IncidentLog()
        self._printed_plies: dict[tuple[GameId, Color], int] = {}
        """Number of the last ply whose figures were printed, by game and side."""
        self._waiting: dict[tuple[GameId, Color], CurvePoint] = {}
        """Figures to print as soon as the score of their ply is final."""
        self._given_reasons: set[str] = set()
        """Reasons for a missing rating that were printed; each is printed once."""
        for game in known_games:
            self.write_lines(replay_game(game))
        self.write_lines(map(AlertMessage, alerts))

    def write_lines(self, changes: Iterable[Change]) -> list[str]:
        """Return the lines to print for ``changes``, in order.

        If ``changes`` contains several moves of a game, only the last is printed. This
        happens when the service starts in the middle of a game.
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
            was_measuring = self._state.engines().measuring is not None
            before = self._state.game(id)
            self._state.apply(change)
            game = self._state.game(id)
            texts: list[str] = []
            match change:
                case GameMessage(game=view):
                    has_ended = before and before.running and not view.running
                    if game and has_ended:
                        texts = self._take_waiting(game)
                    texts += _describe_game_change(before, view)
                case GoneMessage():
                    if before:
                        texts = self._take_waiting(before)
                    self._forget_figures(id, 0)
                    texts.append("gone from its source")
                case MoveMessage() if before and game:
                    self._forget_figures(id, change.ply - 1)
                    is_last = change is last_moves.get(id)
                    texts = [_describe_move(before, game, change, is_last, move_counts)]
                case PointMessage(color=color, point=point) if game:
                    texts = self._describe_point_once_final(game, color, point)
                case ScoreMessage(ply=ply) if game and ply.final:
                    texts = self._describe_waiting_figures(game, ply.ply)
                case HealthMessage():
                    shown = [
                        feed
                        for feed in change.feeds
                        if not (self._is_public and feed.part)
                    ]
                    lines += _describe_health(feeds, shown)
                    is_measuring = change.engines.measuring is not None
                    if is_measuring != was_measuring:
                        lines.append(_MEASURED[is_measuring])
                case AlertMessage(alert=alert) if not self._is_public:
                    # The service sends alerts only to clients that are allowed to see
                    # them.
                    incidents = self._alerts.add_alert(alert, 0.0) or ()
                    lines += map(plain, log_lines(alert, incidents))
            about = game or before
            lines += [
                f"{_label_board(about)}: {text}" for text in texts if text and about
            ]
        return lines

    def write_last_lines(self) -> list[str]:
        """Return the lines to print at the end, with figures whose score never came."""
        lines = []
        for id in dict.fromkeys(id for id, _ in self._waiting):
            game = self._state.game(id)
            if game is not None:
                texts = self._take_waiting(game)
                lines += [f"{_label_board(game)}: {text}" for text in texts]
        return lines

    def _forget_figures(self, id: GameId, from_ply: int) -> None:
        """Allow figures of plies after ``from_ply`` to be printed again."""
        for color in COLORS:
            side = id, color
            printed = self._printed_plies.get(side, 0)
            self._printed_plies[side] = min(printed, from_ply)
            waiting = self._waiting.get(side)
            if waiting is not None and waiting.ply > from_ply:
                del self._waiting[side]

    def _describe_point_once_final(
        self, game: GameDetail, color: Color, point: CurvePoint
    ) -> list[str]:
        """Return the line with a move's figures, or keep them until its score is final.

        The gain of an engine's first choice is known before the next position is
        scored. Figures that were printed before give no line: if a game's header is
        corrected, the service sends whole curves again.
        """
        side = game.id, color
        if point.ply <= self._printed_plies.get(side, 0):
            return []
        texts = []
        earlier = self._waiting.pop(side, None)
        if earlier is not None and earlier.ply < point.ply:
            # The score of this ply is late, or will never be known.
            texts.append(self._describe_figures(game, color, earlier))
        if game.plies[point.ply - 1].final:
            texts.append(self._describe_figures(game, color, point))
        else:
            self._waiting[side] = point
        return texts

    def _describe_waiting_figures(self, game: GameDetail, ply: int) -> list[str]:
        """Return the line with the figures that waited for this ply's score."""
        texts = []
        for color in COLORS:
            point = self._waiting.get((game.id, color))
            if point is not None and point.ply == ply:
                del self._waiting[game.id, color]
                texts.append(self._describe_figures(game, color, point))
        return texts

    def _take_waiting(self, game: GameDetail) -> list[str]:
        """Return the lines with all figures of a game that waited for a score."""
        waiting: list[tuple[Color, CurvePoint]] = []
        for color in COLORS:
            point = self._waiting.pop((game.id, color), None)
            if point is not None:
                waiting.append((color, point))
        waiting.sort(key=lambda side: side[1].ply)
        return [self._describe_figures(game, color, point) for color, point in waiting]

    def _describe_figures(
        self, game: GameDetail, color: Color, point: CurvePoint
    ) -> str:
        """Return the line with a move's score, its gain and the player's rating."""
        self._printed_plies[game.id, color] = point.ply
        ply = game.plies[point.ply - 1]
        score = f" {write_score(ply)}" if ply.final else ""
        gain = f"gain {point.gain_cp / 100:+.2f}"
        move = f"{write_move(game, ply)}{score}, {gain}"
        is_measuring = self._state.engines().measuring is not None
        rating = _describe_rating(game, color, point, is_measuring=is_measuring)
        if rating:
            return f"{move}. {rating}"
        reason = explain_no_rating(point, game.note)
        if reason in self._given_reasons:
            return move
        self._given_reasons.add(reason)
        return f"{move}. No rating yet: {reason}"


def _describe_move(
    before: GameDetail,
    game: GameDetail,
    change: MoveMessage,
    is_last: bool,
    counts: Counter[GameId],
) -> str:
    """Return the line about a move, a correction or a takeback.

    The line is empty if a later move of the game follows in the same batch. ``counts``
    holds the number of the batch's moves in each game, and is increased here.
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


def _describe_game_change(before: GameView | None, now: GameView) -> list[str]:
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


def _describe_rating(
    game: GameDetail, color: Color, point: CurvePoint, *, is_measuring: bool
) -> str:
    """Return the player's name and perceived rating; empty without a rating."""
    own, opponent = (
        (game.white, game.black) if color == "white" else (game.black, game.white)
    )
    # The figure after a side's last move in a finished game is final, but for the
    # measurement of the engine.
    is_last = point.ply >= game.plies_played - 1
    final = not game.running and is_last and not is_measuring
    rating = write_sentence(point, own.elo, opponent.elo, final=final)
    return f"{plain(own.name, 40)}: {rating}" if rating else ""


def _label_board(view: GameView) -> str:
    board = f"board {view.board} " if view.board is not None else ""
    return f"{board}{plain(view.white.name, 24)} - {plain(view.black.name, 24)}"


def _describe_health(
    before: Sequence[FeedHealth], now: Sequence[FeedHealth]
) -> list[str]:
    reported = {(feed.feed, feed.state, feed.detail) for feed in before}
    lines = []
    for feed in now:
        if (feed.feed, feed.state, feed.detail) not in reported:
            reason = f": {plain(feed.detail, 200)}" if feed.detail else ""
            lines.append(f"{plain(feed.feed, 60)} {feed.state}{reason}")
    return lines
