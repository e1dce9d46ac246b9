"""Output without a screen: a line for each event, and tables to read afterwards."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from live.catalogue import BY_ID, cell, ends_cell, sentence, standings
from live.event.rate_game import COLORS
from live.games.rounds import format_board_number
from live.messages.alerts import Alert
from live.messages.figures import (
    AnalysedPlayer,
    CurvePoint,
    EngineInfo,
    GainKind,
    GameDetail,
    GameView,
    PlayerView,
)
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
from live.screens.terminal.text import (
    RATING_SOURCES,
    Column,
    fit_columns,
    is_early,
    plain,
    write_clock,
    write_figure,
    write_move,
    write_score,
)
from live.server.event_reader import game_of, replay_game
from live.server.reference_client import ReferenceClient
from live.watch.incident_log import IncidentLog, log_lines

# --- lines ----------------------------------------------------------------------------


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
            self.lines(replay_game(game))
        self.lines(map(AlertMessage, alerts))

    def lines(self, changes: Iterable[Change]) -> list[str]:
        """Return the lines to print for ``changes``, in order.

        If several moves of a game arrive together, as when following begins in the
        middle of the game, only the last is printed.
        """
        changes = list(changes)
        last = {
            change.game: change
            for change in changes
            if isinstance(change, MoveMessage) and change.move
        }
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
                    texts = ["gone from its source"]
                    for color in COLORS:
                        self._printed_plies.pop((id, color), None)
                case MoveMessage(ply=ply, move=move) if before and game:
                    for color in COLORS:
                        self._printed_plies[id, color] = min(
                            self._printed_plies.get((id, color), 0), ply - 1
                        )
                    move_counts[id] += 1
                    replaced = before.plies[ply - 1 :]
                    if move is None:
                        last_move = (
                            write_move(game, game.plies[-1])
                            if game.plies
                            else "the start"
                        )
                        texts = [f"taken back to {last_move}"]
                    elif replaced:
                        new_move = write_move(game, move)
                        texts = [f"corrected to {new_move}, was {replaced[0].san}"]
                        move_counts[id] = 0
                    elif change is last[id]:
                        count = (
                            f"{move_counts[id]} moves to "
                            if move_counts[id] > 1
                            else ""
                        )
                        clock = write_clock(move.clock_s)
                        text = f"played {count}{write_move(game, move)}"
                        texts = [f"{text}{clock and f', clock {clock}'}"]
                case PointMessage(color=color, point=point) if game:
                    # A header corrected later causes whole curves to be sent again;
                    # print each move's figures once.
                    if point.ply > self._printed_plies.get((id, color), 0):
                        self._printed_plies[id, color] = point.ply
                        texts = [_tell_figures(game, color, point)]
                case HealthMessage():
                    lines += _tell_health(feeds, change.feeds)
                case AlertMessage(alert=alert):
                    # Only readers who are allowed to see alerts are sent any.
                    alert_changes = self._alerts.add_alert(alert, 0.0) or ()
                    lines += map(plain, log_lines(alert, alert_changes))
            about = game or before
            lines += [f"{_label(about)}: {text}" for text in texts if about]
        return lines


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
    rating = (
        sentence(point, own.elo, opponent.elo, final=final) or "no perceived rating"
    )
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


# --- tables ---------------------------------------------------------------------------

#: Maximum width of a table, in cells; wider rows are hard to read as one line.
WIDEST_TABLE = 100
#: Settings of a column of names: names are shortened so that figures are not.
NAME: dict[str, Any] = {"ratio": 1, "no_wrap": True, "overflow": "ellipsis"}
_FIGURE: dict[str, Any] = {"justify": "right", "no_wrap": True}
FIGURE_COLUMNS = (
    Column("Elo", 4, "elo"),
    Column("Plays like", 10, "perceived"),
    Column("usual", 9, "usual"),
    Column("Better than", 11, "percentile"),
    Column("Moves", 5, "counted"),
    Column("Pts", 4, "points"),
    Column("Gm", 2, "games"),
    Column("Algorithm 4", 11, "algorithm4"),
)
#: Minimum width of a player's name, in cells; columns are left out to keep it.
_LEAST_PLAYER = 13
#: Width in cells of what precedes the names: a place, or a place and an alert's sign.
RANK = 6
_METHODS = ("tournament", "conformance", "first_choice", "centipawn_loss", "accuracy")


def choose_figure_columns(width: int, gap: int) -> Sequence[Column]:
    """Return the columns of figures that fit beside the players' names, from the left.

    Args:
        width: the width of the whole line, in cells.
        gap: the cells between two columns.
    """
    return fit_columns(FIGURE_COLUMNS, width - RANK - _LEAST_PLAYER - 2, gap)


def titled(title: str, *heads: str, first: str = "", width: int | None = None) -> Table:
    """Return a table with a title: a column of names if ``first`` is given, then
    figures.
    """
    table = Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        width=None if width is None else min(width, WIDEST_TABLE),
    )
    if first:
        table.add_column(first, no_wrap=True)
    for head in heads:
        table.add_column(head, **_FIGURE)
    return table


def players(
    views: Sequence[PlayerView], engine: EngineInfo, gain: GainKind, *, width: int
) -> Table:
    """Return a table of all players by perceived rating, the highest first; equal
    numbers are ties.
    """
    basis = (
        f"read by {', '.join(engine.models)}"
        if engine.models
        else "no model reads the scores"
    )
    columns = choose_figure_columns(width, gap=2)
    if columns == FIGURE_COLUMNS:
        source = RATING_SOURCES[engine.rating_source]
        basis += "; Algorithm 4, a scale of its own, with the engine at"
        basis += f" {engine.rating} Elo, {source}"
    table = titled(f"Players ({gain} gain; {basis})", width=width)
    table.add_column("", **_FIGURE)
    table.add_column("Player", **NAME)
    for column in columns:
        table.add_column(column.head, min_width=column.width, **_FIGURE)
    for standing in standings(views):
        view = standing.view
        row = []
        for column in columns:
            early = column.figure == "perceived" and is_early(view)
            text = write_figure(column.figure, view, engine.rating)
            row.append(Text(text, "dim" if early else ""))
        table.add_row(standing.text, Text(plain(view.name, 40)), *row)
    caption = "By “playing like”; equal numbers are ties, "
    caption += "players with under ten counted moves have no place."
    table.caption = Text(f"{caption} {engine.note}." if engine.note else caption)
    return table


def methods(views: Sequence[AnalysedPlayer], *, width: int) -> Table:
    """Return a table of the figures of the papers' methods; a cell is empty until its
    method has enough data.
    """
    table = titled(
        "Methods (p30: moves within 30 cp of the engine's choice)", width=width
    )
    table.add_column("Player", **NAME)
    figures = [BY_ID[name] for name in _METHODS]
    for figure in figures:
        table.add_column(figure.head, min_width=4, **_FIGURE)
        if figure.kind == "share":
            table.add_column(figure.interval, min_width=6, **_FIGURE)
    for view in (standing.view for standing in standings(views)):
        row = [plain(view.name, 40)]
        for figure in figures:
            row.append(cell(figure, view))
            if figure.kind == "share":
                row.append(ends_cell(figure, view))
        table.add_row(*map(Text, row))
    return table


#: Width in cells from which a table of games also shows the usual range; below it,
#: names need the room more.
_USUAL_FROM = 100


def games(
    details: Sequence[GameDetail],
    engine: EngineInfo,
    gain: GainKind,
    *,
    width: int,
    in_doubt: Collection[GameId] = (),
) -> Table:
    """Return a table of finished games with both players' figures over the whole game
    and a comparison of them; ``?`` marks a result ``in_doubt``.
    """
    table = titled(
        f"Games ({plain(engine.name, 60)}, {engine.limit}, {gain} gain)", width=width
    )
    table.add_column("Rd.Bd", **_FIGURE)
    cells = 1 + (width >= _USUAL_FROM)
    for color in ("White", "Black"):
        table.add_column(color, **NAME)
        table.add_column("Plays like", **_FIGURE)
        if cells > 1:
            table.add_column("usual", min_width=9, **_FIGURE)
        if color == "White":
            table.add_column("Result", justify="center", min_width=7, no_wrap=True)
    for game in details:
        table.add_row(
            Text(plain(format_board_number(game), 12)),
            Text(plain(game.white.name, 28)),
            *_write_last_figures(game.curves.white)[:cells],
            f"{game.result} ?" if game.id in in_doubt else game.result,
            Text(plain(game.black.name, 28)),
            *_write_last_figures(game.curves.black)[:cells],
        )
    return table


def _write_last_figures(points: Sequence[CurvePoint]) -> tuple[Text, Text]:
    """Return the perceived rating after the last move, and its usual range."""
    last = points[-1] if points else None
    style = "dim" if is_early(last) else "bold"
    return Text(write_figure("perceived", last), style), Text(
        write_figure("usual", last), "dim"
    )
