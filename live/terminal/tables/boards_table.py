"""The arbiter's screen: pure functions from state to rich renderables."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from live.catalogue import EARLY_MOVES, band_text, percentile_text
from live.events import (
    CurvePoint,
    EngineHealth,
    EngineInfo,
    FeedHealth,
    GainKind,
    GameDetail,
    GameId,
    Player,
)
from live.terminal.figure_text import (
    WITHHELD,
    curve_range,
    is_withheld,
    move_text,
    perceived_text,
    plain,
    rating_text,
    score_text,
    sparkline,
)

#: Sign and style of each feed state: never by colour alone.
_FEED_SIGNS = {
    "connecting": ("…", "yellow"),
    "waiting": ("◌", "yellow"),
    "live": ("●", "green"),
    "stale": ("◔", "yellow"),
    "retrying": ("↻", "yellow"),
    "failed": ("✗", "red"),
    "finished": ("✓", "green"),
}
#: Lines above and below the boards: title, column heads, feed and engine lines.
_FRAME_LINES = 7
_SPARK_CELLS = 12
#: Nobody is to press keys in vain.
NO_KEYS = "This display takes no keys; Ctrl-C ends it."


class BoardsTableInput(msgspec.Struct, frozen=True):
    """Everything one frame of the terminal shows."""

    engine: EngineInfo
    gain: GainKind
    address: str
    games: Sequence[GameDetail]
    games_in_all: int
    feeds: Sequence[FeedHealth]
    engines: EngineHealth
    alerting: Collection[GameId] = ()
    """Boards with an alert that nobody took note of, where this is an arbiter's screen."""
    trouble: str = ""
    """What is wrong with the connection to the service; empty while nothing is."""


def boards_that_fit(height: int) -> int:
    """How many boards a terminal of ``height`` lines shows; each takes two lines."""
    return max(1, (height - _FRAME_LINES) // 2)


def screen(view: BoardsTableInput, *, width: int) -> RenderableType:
    """The whole frame."""
    more = view.games_in_all - len(view.games)
    parts: list[RenderableType] = [
        title(view.engine, view.gain, view.address),
        boards(view.games, view.engine.rating, width=width, alerting=view.alerting),
    ]
    if view.trouble:
        parts.append(Text(f"  ↻ {plain(view.trouble, 200)}", style="yellow"))
    last = f"and {more} more boards: enlarge the terminal. " if more > 0 else ""
    parts.append(Text(f"  {last}{NO_KEYS}", style="dim"))
    parts.append(health(view.feeds, view.engines))
    return Group(*parts)


def title(engine: EngineInfo, gain: GainKind, address: str) -> RenderableType:
    """Who measures, and where browsers find the same."""
    line = Text.assemble((" live-rate ", "bold reverse"))
    if is_withheld(engine):
        line.append(f"  {WITHHELD}", "yellow")
    line.append(f"  {address}  ", "cyan")
    if not is_withheld(engine):
        line.append(plain(engine.name, 40), "bold")
        line.append(f" at {engine.rating} Elo, {RATING_SOURCES[engine.rating_source]}")
        line.append(f" · {engine.limit} · {gain} gain")
        if not engine.models:
            line.append(" · no model reads these scores", "yellow")
    line.no_wrap = True
    line.overflow = "ellipsis"
    return line


#: Where the engine's rating comes from, for people.
RATING_SOURCES = {
    "field": "by the field",
    "calibration": "a stored value",
    "fixed": "as configured",
}


def boards(
    games: Sequence[GameDetail],
    engine_rating: int,
    *,
    width: int,
    alerting: Collection[GameId] = (),
) -> Table:
    """Two lines a board, White above, Black below: the perceived rating with what is usual."""
    table = Table(box=box.SIMPLE_HEAD, expand=True, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("Bd", justify="right", width=3, style="dim")
    table.add_column("Player", ratio=1, no_wrap=True, overflow="ellipsis", min_width=12)
    table.add_column("Elo", justify="right", width=4, style="dim")
    table.add_column("Last move", width=11, no_wrap=True, overflow="ellipsis")
    table.add_column("Score", justify="right", width=6)
    for head, cells in (("Plays", 5), ("usual", 9), ("Pct", 4)):
        table.add_column(head, width=cells, justify="left" if head == "usual" else "right")
    wide = {"a4": width >= 88, "curve": width >= 96}
    if wide["a4"]:
        table.add_column("A4", justify="right", width=4, style="dim")
    if wide["curve"]:
        table.add_column("Curve", width=_SPARK_CELLS, no_wrap=True)
    for game in games:
        for row in _board_rows(game, engine_rating, alerting=game.id in alerting, **wide):
            table.add_row(*row)
    return table


def _board_rows(
    game: GameDetail, engine_rating: int, *, alerting: bool, a4: bool, curve: bool
) -> list[list[RenderableType]]:
    both = curve_range([each.perceived for each in (*game.curves.white, *game.curves.black)])
    last = game.plies[-1] if game.plies else None
    rows: list[list[RenderableType]] = []
    for sign, player, points in (
        ("○", game.white, game.curves.white),
        ("●", game.black, game.curves.black),
    ):
        top = sign == "○"
        moved, score = Text(""), Text("")
        if top and last is not None:
            moved = Text(move_text(game, last))
            score = Text(score_text(last.score_cp, last.mate), style="" if last.final else "dim")
            if last.score_cp is not None and not last.final:
                score.append("~")
        elif not top:
            moved = Text(_state_of(game), style="dim" if game.problem is None else "yellow")
        point = points[-1] if points else None
        mark = "" if top else "bold red"
        row: list[RenderableType] = [
            Text(str(game.board) if top and game.board is not None else "!" * alerting, mark),
            _name(sign, player),
            Text(str(player.elo) if player.elo else ""),
            moved,
            score,
            *figure_cells(point),
        ]
        if a4:
            known = point is not None and point.difference is not None
            rating = engine_rating + (point.difference or 0.0) if point and known else None
            row.append(Text(rating_text(rating)))
        if curve:
            heights = [each.perceived for each in points]
            row.append(Text(sparkline(heights, _SPARK_CELLS, *both) if both else ""))
        rows.append(row)
    return rows


def figure_cells(point: CurvePoint | None) -> tuple[Text, Text, Text]:
    """The perceived rating, what is usual, and the percentile."""
    if point is None or point.perceived is None:
        return Text("·", style="dim"), Text(""), Text("")
    early = point.counted < EARLY_MOVES
    usual = percentile = ""
    if point.usual_low is not None and point.usual_high is not None:
        usual = band_text(point.usual_low, point.usual_high)
    if point.percentile is not None and not early:
        percentile = percentile_text(point.percentile).replace(" ", "")
    plays = Text(perceived_text(point.perceived), style="dim" if early else "bold")
    return plays, Text(usual, style="dim"), Text(percentile)


def _name(sign: str, player: Player) -> Text:
    name = Text(f"{sign} ")
    if player.title:
        name.append(f"{plain(player.title, 4)} ", style="bold")
    name.append(plain(player.name, 60))
    return name


def _state_of(game: GameDetail) -> str:
    if game.problem is not None:
        # A result is never hidden by what went wrong on the way to it.
        return " ".join(filter(None, (game.result.strip("*"), plain(game.problem, 40))))
    if game.result != "*":
        return game.result
    behind = game.plies_played - game.plies_scored
    return f"{behind} to score" if behind > 1 else ""


def health(feeds: Sequence[FeedHealth], engines: EngineHealth) -> RenderableType:
    """One line a feed, one for the engines."""
    lines: list[RenderableType] = []
    for feed in feeds:
        sign, style = _FEED_SIGNS[feed.state]
        line = Text.assemble(
            (f" {sign} ", style), (plain(feed.feed, 50), "bold"), f"  {feed.state}"
        )
        if feed.detail:
            line.append(f": {plain(feed.detail, 120)}")
        line.no_wrap = True
        line.overflow = "ellipsis"
        lines.append(line)
    lines.append(engine_line(engines))
    return Group(*lines)


def engine_line(engines: EngineHealth) -> Text:
    """Engines, speed, queue."""
    busy = sum(engine.state == "searching" for engine in engines.engines)
    speeds = [engine.knodes_per_s for engine in engines.engines if engine.knodes_per_s]
    line = Text.assemble(
        (" ⚙ ", "cyan"),
        (f"{len(engines.engines)} engines", "bold"),
        f"  {busy} searching",
    )
    if speeds:
        line.append(f" · {sum(speeds):.0f} knodes/s")
    depths = [engine.depth for engine in engines.engines if engine.state == "searching"]
    if any(depths):
        line.append(
            f" · depth {'/'.join('–' if depth is None else str(depth) for depth in depths)}"
        )
    line.append(f" · queue {queue_text(engines)}")
    if engines.oldest_wait_s >= 1:
        line.append(f" · oldest waits {engines.oldest_wait_s:.0f} s")
    line.append(f" · {engines.searches} searches")
    if engines.asked:
        line.append(f", {engines.cache_hits / engines.asked:.0%} known before")
    if ahead_text(engines):
        line.append(f" · {ahead_text(engines)}")
    if engines.restarts:
        line.append(f" · {engines.restarts} restarts", style="yellow")
    if engines.set_aside:
        line.append(f" · {engines.set_aside} given up", style="red")
    if engines.problem:
        line.append(f" · {plain(engines.problem, 120)}", style="yellow")
    line.no_wrap = True
    line.overflow = "ellipsis"
    return line


def queue_text(engines: EngineHealth) -> str:
    """``14 (2 live, 12 behind)``: the classes are named where more than one waits."""
    waiting = engines.waiting
    classes = [
        f"{number} {name}"
        for number, name in (
            (waiting.head, "live"),
            (waiting.closing, "just over"),
            (waiting.backlog, "behind"),
            (waiting.finished, "of games over"),
        )
        if number
    ]
    return f"{engines.queued} ({', '.join(classes)})" if len(classes) > 1 else str(engines.queued)


def ahead_text(engines: EngineHealth) -> str:
    """How often a move found what it needed already searched; empty while that says nothing."""
    ahead = engines.speculation
    if ahead is None or not ahead.hits + ahead.misses:
        return ""
    share = ahead.hits / (ahead.hits + ahead.misses)
    return f"ahead of {share:.0%} ({ahead.wasted_nodes / 1e6:.0f} Mnodes in vain)"
