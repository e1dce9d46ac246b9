"""The report as one self-contained page to read or print, and how figures, names, tables and charts
stand on paper. Pure.

Nothing of it is loaded from elsewhere and nothing runs; whatever came from a source is escaped. A
figure that is not known is an empty cell, never a zero. In charts White and Black differ by the
kind of line, not by colour alone, so a grey print says the same. The spike of gains at 0 would
flatten all other bars: it is cut off, and the number stands beside it.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

import msgspec

from live.alerts.alert_desk import LEAST_MOVES
from live.catalogue import (
    BY_ID,
    EARLY_MOVES,
    FIGURES,
    Figure,
    View,
    cell,
    ends_cell,
    is_final,
    sentence,
    standings,
)
from live.events import (
    CurvePoint,
    EngineInfo,
    GainCounts,
    GainKind,
    GameDetail,
    Mark,
    PlyView,
)
from live.games.game import main_round, move_number
from live.human.difficulty import in_words
from live.publish.exports import Analysis
from live.publish.published_state import gain_counts, game_order

# --- on paper -----------------------------------------------------------------------------------

#: Longest name on paper, characters; the longest real one has about 60.
NAME_CHARS = 80
MINUS = "\N{MINUS SIGN}"


def plain(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source without control characters and not endless."""
    printable = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    words = " ".join(printable.split())
    return words if len(words) <= most else words[: most - 1] + "…"


def html(text: str, most: int = NAME_CHARS) -> str:
    """Text of a source for a page: never markup, and kept from turning its neighbours around."""
    return f"<bdi>{escape(plain(text, most))}</bdi>"


def whole(value: float | None) -> str:
    """``2034``."""
    return "" if value is None else f"{value:.0f}".replace("-", MINUS)


def signed(value: float | None, decimals: int = 0) -> str:
    """``+12``, with a real minus sign."""
    return "" if value is None else f"{value:+.{decimals}f}".replace("-", MINUS)


def pawns(cp: float | None) -> str:
    """Centipawns as signed pawns: ``+0.35``."""
    return "" if cp is None else signed(cp / 100, 2)


def percent(share: float | None) -> str:
    """``61 %``."""
    return "" if share is None else f"{100 * share:.0f} %"


def clock(seconds: float | None) -> str:
    """``1:02:11``."""
    return "" if seconds is None else str(dt.timedelta(seconds=max(0, int(seconds))))


Column = tuple[str, str]
"""The head, and the classes of the cells: ``n`` figures, ``c`` centred, empty for text."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML already: whoever fills them has escaped what came from a source."""

    def line(name: str, cells: Iterable[str]) -> str:
        classes = (f' class="{kind}"' if kind else "" for _, kind in columns)
        parts = (
            f"<{name}{kind}>{cell}</{name}>" for kind, cell in zip(classes, cells, strict=True)
        )
        return f"<tr>{''.join(parts)}</tr>"

    head = line("th", (escape(head) for head, _ in columns))
    body = "\n".join(line("td", row) for row in rows)
    return f"<table><thead>{head}</thead><tbody>\n{body}\n</tbody></table>"


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'none'; base-uri 'none'"


def document(title: str, *parts: str) -> str:
    """A whole page that loads nothing and runs nothing; ``title`` as text, ``parts`` as HTML."""
    style = resources.files("live.report").joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


# --- charts -----------------------------------------------------------------------------------

WIDTH, HEIGHT = 340, 150
#: Room for what stands beside the plot: left, right, top, bottom.
LEFT, RIGHT, TOP, BOTTOM = 34, 46, 6, 16
#: Never less than this over the height: noise must not look like drama.
LEAST_SPAN_ELO = 400.0
#: An evaluation is drawn as an expected score: half a pawn more matters near level, not far out.
#: Expected score 1/(1 + exp(-0.00368208 cp)), as lichess publishes it.
_PER_CP = 0.00368208


class ChartFrame(msgspec.Struct, frozen=True):
    """Where plies and values lie in the picture."""

    plies: int
    low: float = 0.0
    high: float = 1.0
    right: int = WIDTH - 8

    def x(self, ply: float) -> float:
        return LEFT + (self.right - LEFT) * ply / max(1, self.plies)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - min(1.0, max(0.0, share)))

    def line(self, places: Iterable[tuple[int, float]]) -> str:
        """Plies and values as the points of a line."""
        return " ".join(f"{self.x(ply):.1f},{self.y(value):.1f}" for ply, value in places)

    def axes(self, ticks: Sequence[tuple[float, str]]) -> str:
        lines = [
            f'<line class="grid" x1="{LEFT}" x2="{self.right}" y1="{self.y(at):.1f}" '
            f'y2="{self.y(at):.1f}"/><text class="ax" x="{LEFT - 4}" y="{self.y(at) + 3:.1f}" '
            f'text-anchor="end">{label}</text>'
            for at, label in ticks
        ]
        moves = max(1, (self.plies + 1) // 2)
        step = 5 if moves <= 30 else 10 if moves <= 70 else 20
        lines += [
            f'<text class="ax" x="{self.x(2 * at):.1f}" y="{HEIGHT - 3}" '
            f'text-anchor="middle">{at}</text>'
            for at in range(step, moves + 1, step)
        ]
        return "".join(lines)


def ratings(game: GameDetail) -> str:
    """Both perceived ratings in their usual bands; empty where there is no point."""
    sides = [("White", "w", game.curves.white), ("Black", "b", game.curves.black)]
    bounds = [each.perceived for _, _, curve in sides for each in curve]
    for _, _, curve in sides:
        # Not the first half of the bands: they begin as wide as the page.
        for each in curve[len(curve) // 2 :]:
            bounds += [each.usual_low, each.usual_high]
    known = [each for each in bounds if each is not None]
    if not known:
        return ""
    middle, span = (min(known) + max(known)) / 2, max(LEAST_SPAN_ELO, max(known) - min(known))
    frame = ChartFrame(len(game.plies), middle - span / 2, middle + span / 2, WIDTH - RIGHT)
    step = next(each for each in (100, 200, 500, 1000, 5000, 10**9) if span / each <= 5)
    marks = range(math.ceil(frame.low / step), int(frame.high // step) + 1)
    areas, lines, ends = [], [], []
    for name, color, curve in sides:
        upper = [(each.ply, each.usual_high) for each in curve if each.usual_high is not None]
        lower = [(each.ply, each.usual_low) for each in curve if each.usual_low is not None]
        if len(upper) > 1:
            band = frame.line((*upper, *reversed(lower)))
            areas.append(f'<polygon class="band {color}" points="{band}"/>')
        line = [(each.ply, each.perceived) for each in curve if each.perceived is not None]
        if line:
            lines.append(f'<polyline class="line {color}" points="{frame.line(line)}"/>')
            ends.append((frame.y(line[-1][1]), name, color))
    ends.sort()
    if len(ends) == 2 and ends[1][0] - ends[0][0] < 10:
        # The names are kept apart.
        centre = (ends[0][0] + ends[1][0]) / 2
        ends = [(centre - 5, *ends[0][1:]), (centre + 5, *ends[1][1:])]
    names = [
        f'<text class="end {color}" x="{WIDTH - RIGHT + 4}" y="{y + 3:.1f}">{name}</text>'
        for y, name, color in ends
    ]
    axes = frame.axes([(each * step, whole(each * step)) for each in marks])
    return _svg("Playing like, by ply", [axes, *areas, *lines, *names])


def evaluation(game: GameDetail) -> str:
    """The engine's evaluation as White's expected score; empty where nothing is scored."""
    scores = [(0, game.start_score_cp), *((ply.ply, ply.score_cp) for ply in game.plies)]
    known = [(ply, 1 / (1 + math.exp(-_PER_CP * cp))) for ply, cp in scores if cp is not None]
    if len(known) < 2:
        return ""
    frame = ChartFrame(len(game.plies))
    half = f'y1="{frame.y(0.5):.1f}" y2="{frame.y(0.5):.1f}"'
    parts = [
        *_shares(frame, known),
        f'<line class="half" x1="{LEFT}" x2="{frame.right}" {half}/>',
    ]
    return _svg("White's expected score by ply", parts)


def odds(game: GameDetail) -> str:
    """How likely White is to win (below), the game to be drawn (between) and Black to win (above);
    empty where that is not known.
    """
    known = [
        (ply.ply, ply.win, ply.win + ply.draw)
        for ply in game.plies
        if ply.win is not None and ply.draw is not None
    ]
    if len(known) < 2:
        return ""
    frame = ChartFrame(len(game.plies))
    won = [(ply, win) for ply, win, _ in known]
    not_lost = frame.line((ply, share) for ply, _, share in known)
    parts = [
        *_shares(frame, won),
        f'<polygon class="ed" points="{not_lost} {frame.line(reversed(won))}"/>',
        f'<polyline class="el" points="{not_lost}"/>',
    ]
    return _svg("Win, draw and loss of White by ply", parts)


def _shares(frame: ChartFrame, known: Sequence[tuple[int, float]]) -> list[str]:
    """Axes from 0 to 100 %, and White's share up to a line."""
    floor = frame.line([(known[0][0], 0.0), *known, (known[-1][0], 0.0)])
    return [
        frame.axes([(0.0, "0 %"), (0.5, "50 %"), (1.0, "100 %")]),
        f'<polygon class="ev" points="{floor}"/>',
        f'<polyline class="el" points="{frame.line(known)}"/>',
    ]


def _svg(label: str, parts: Sequence[str], height: int = HEIGHT) -> str:
    open_tag = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{label}">'
    return f"{open_tag}{''.join(parts)}</svg>"


#: Centipawns drawn left of 0, and right of it where successive gains lie there.
BELOW_CP, ABOVE_CP = 150, 60
_BARS, _ENGINE = 60, 16
_GAIN_LEFT = 4


def gain_chart(counts: GainCounts, engine: GainCounts, color: str = "w") -> str:
    """Bars of one centipawn each; empty where there is no gain. ``color``: ``w`` or ``b``."""
    if not counts:
        return ""
    above = any(gain_cp > 0 for gain_cp, _ in (*counts, *engine))
    least, most = -BELOW_CP, ABOVE_CP if above else 0
    step = (WIDTH - 2 * _GAIN_LEFT) / (most - least + 1)
    moves = sum(count for _, count in counts)
    outside = sum(count for gain_cp, count in counts if not least <= gain_cp <= most)
    none = dict(counts).get(0, 0)
    said = f"0 in {none} of {moves} ({100 * none / moves:.0f} %)"
    if outside:
        said += f", {outside} outside"
    floor = 12 + _BARS
    parts = [
        f'<text class="ax" x="{_GAIN_LEFT}" y="9">{said}</text>',
        _bars(counts, least, most, step, floor, _BARS, f"gain {color}"),
        f'<line class="grid" x1="{_GAIN_LEFT}" x2="{WIDTH - _GAIN_LEFT}" '
        f'y1="{floor}" y2="{floor}"/>',
    ]
    height = floor + 10
    if any(gain_cp for gain_cp, _ in engine):
        height += _ENGINE
        parts.append(_bars(engine, least, most, step, floor + _ENGINE, _ENGINE - 2, "gain e"))
        parts.append(f'<text class="ax" x="{_GAIN_LEFT}" y="{floor + _ENGINE - 3}">engine</text>')
    for mark in range(least, most + 1, 50):
        x = _GAIN_LEFT + (mark - least + 0.5) * step
        anchor = "start" if mark == least else "end" if mark == most else "middle"
        parts.append(
            f'<text class="ax" x="{x:.1f}" y="{height - 1}" text-anchor="{anchor}">{mark}</text>'
        )
    return _svg("Gains at one centipawn", parts, height)


def _bars(
    counts: GainCounts, least: int, most: int, step: float, floor: int, height: int, style: str
) -> str:
    """One path: a rectangle each would be most of the page."""
    shown = [each for each in counts if least <= each[0] <= most]
    top = max((count for gain_cp, count in shown if gain_cp), default=1)
    moves = " ".join(
        f"M{_GAIN_LEFT + (gain_cp - least) * step:.1f} {floor}"
        f"v{-height * min(1.0, count / top):.1f}h{step:.2f}V{floor}"
        for gain_cp, count in shown
    )
    return f'<path class="{style}" d="{moves}"/>'


# --- the report ---------------------------------------------------------------------------------

#: Losses of a move from which they are written beside it, and from which they stand out, pawns.
TOLD_CP, BAD_CP = 30, 200
#: Beside a find and a trap.
SIGNS: dict[Mark, str] = {"find": "!", "trap": "!?"}
#: Beyond this a figure says no more than that the game was thrown away.
LOST_CP = 1000


def page(whole_event: Analysis, *, written: str, arbiter: bool = False) -> str:
    """The report; ``written`` says when. Screening figures only where ``arbiter`` asks for them."""
    games = tuple(sorted(whole_event.games, key=_order))
    whole_event = msgspec.structs.replace(whole_event, games=games)
    title = _title(games)
    parts = [
        f"<h1>{html(title, 160)}</h1>",
        f'<p class="lead">{_lead(whole_event, written)}</p>',
    ]
    if len(games) > 1:
        parts += ["<h2>Games</h2>", _games(whole_event)]
    usual = [figure for figure in FIGURES if figure.usual]
    note = "Equal numbers are ties. Under ten counted moves nobody has a place."
    parts += ["<h2>Players</h2>", _figures(whole_event, usual) + f'<p class="soft">{note}</p>']
    parts += ["<h3>Methods</h3>", _figures(whole_event, [BY_ID[name] for name in _METHODS])]
    if whole_event.gains:
        parts += ["<h3>Gains</h3>", _gains(whole_event)]
    if arbiter:
        parts += ["<h2>Screening</h2>", _screening(whole_event)]
    parts.append(f"<h2>{'Game by game' if len(games) > 1 else 'The game'}</h2>")
    parts += [_game(game, whole_event.engine_gains) for game in games]
    parts += ["<h2>What the figures mean</h2>", _notes(whole_event)]
    return document(plain(title, 160), *parts)


def _order(game: GameDetail) -> tuple[object, ...]:
    """Round and board before anything else: some sources name every game an event of its own."""
    return game_order(msgspec.structs.replace(game, event=""))


def _title(games: Sequence[GameDetail]) -> str:
    if len(games) == 1:
        return f"{games[0].white.name} – {games[0].black.name}"
    events = list(dict.fromkeys(game.event for game in games if game.event))
    return events[0] if len(events) == 1 else "Perceived ratings"


def _lead(event: Analysis, written: str) -> str:
    games = event.games
    rounds = list(dict.fromkeys(main_round(game.round) for game in games if game.round))
    dates = sorted({game.date for game in games if game.date and "?" not in game.date})
    events = list(dict.fromkeys(game.event for game in games if game.event))
    plies = sum(game.plies_played for game in games)
    scored = sum(game.plies_scored for game in games)
    said = [html(events[0])] if len(games) == 1 and events else []
    # Some sources name every game an event of its own.
    if 1 < len(events) < len(games):
        said.append(f"{len(events)} events")
    if rounds and len(rounds) <= 3:
        said.append(f"round {html(', '.join(rounds))}")
    if dates:
        said.append(html(dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"))
    said.append(f"{len(games)} game{'s' if len(games) != 1 else ''}, {plies} moves")
    if scored < plies:
        said.append(f"<b>{plies - scored} moves not scored yet</b>")
    said.append(f"{html(event.engine.name)}, {html(event.engine.limit)}")
    said.append(f"written {html(written)} by live-rate")
    return " · ".join(said)


# --- tables -------------------------------------------------------------------------------------


def _games(event: Analysis) -> str:
    like = [("Plays like", "n like"), ("usual", "n range")]
    white, black = [("White", ""), *like], [("Black", ""), *like]
    columns = [("Rd.Bd", "n"), *white, ("Result", "c"), *black, ("Moves", "n")]
    rows = [
        [
            html(_board(game), 12),
            _player(game.white.name, game.white.elo),
            *_last(game.curves.white),
            escape(_result(game)),
            _player(game.black.name, game.black.elo),
            *_last(game.curves.black),
            str((game.plies_played + 1) // 2),
        ]
        for game in event.games
    ]
    return table(columns, rows)


_METHODS = ("tournament", "mean_gain", "centipawn_loss", "accuracy", "first_choice", "conformance")


def _figures(event: Analysis, shown: Sequence[Figure]) -> str:
    """Everybody by the perceived rating, each figure with its interval."""
    columns = [("", "n"), ("Player", "")]
    for figure in shown:
        columns.append((figure.head, "n like" if figure.id == "perceived" else "n"))
        if figure.low:
            columns.append((figure.interval, "n range"))
    rows = []
    for each in standings(event.players):
        row = [each.text, html(each.view.name)]
        for figure in shown:
            row += _cells(figure, each.view, event.engine.rating)
        rows.append(row)
    return table(columns, rows)


def _cells(figure: Figure, view: View, engine_rating: int = 0) -> list[str]:
    """The figure, grey while it is early, and its interval where it can have one."""
    text = escape(cell(figure, view, engine_rating))
    if text and figure.id == "perceived" and getattr(view, "counted", 0) < EARLY_MOVES:
        text = f'<span class="soft">{text}</span>'
    return [text, ends_cell(figure, view, engine_rating)] if figure.low else [text]


def _gains(event: Analysis) -> str:
    """Everybody's histogram, in the order of the other tables."""
    held = {each.player: each.counts for each in event.gains}
    views = [each.view for each in standings(event.players) if each.view.id in held]
    figures = "".join(
        f"<figure>{gain_chart(held[view.id], event.engine_gains)}"
        f"<figcaption>{html(view.name)}</figcaption></figure>"
        for view in views
    )
    own = "0 in every move" if event.engine_gains == ((0, 1),) else "below, as measured"
    note = (
        "How many moves had which gain, a bar for each centipawn; the spike at 0 is cut off. "
        f"The engine's own gains: {own}."
    )
    return f'<p class="soft">{note}</p><div class="charts gains">{figures}</div>'


def _last(points: Sequence[CurvePoint]) -> list[str]:
    """The perceived rating after the last move, and what is usual."""
    return _cells(BY_ID["perceived"], points[-1]) if points else ["", ""]


def _player(name: str, elo: int | None) -> str:
    return html(name or "?") + (f" <small>{elo}</small>" if elo else "")


def _board(game: GameDetail) -> str:
    if "." in game.round or game.board is None:
        return game.round
    return f"{game.round}.{game.board}" if game.round else str(game.board)


def _result(game: GameDetail) -> str:
    return game.result.replace("1/2", "½").replace("-", "–")


# --- one game -----------------------------------------------------------------------------------


def _game(game: GameDetail, engine: GainCounts) -> str:
    about = [each for each in (_board(game), game.date, game.time_control) if each]
    likely, curves = odds(game), ratings(game)
    scores = likely or evaluation(game)
    said = (
        "Expected result by move: White wins (below), draw (between), Black wins (above)"
        if likely
        else "White's expected score, by move"
    )
    charts = "".join(
        f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"
        for svg, caption in (
            (scores, said),
            (curves, "Playing like, by move; bands: usual for the Elo"),
            (gain_chart(gain_counts(game.curves.white), engine, "w"), "White's gains, centipawns"),
            (gain_chart(gain_counts(game.curves.black), engine, "b"), "Black's gains, centipawns"),
        )
        if svg
    )
    problem = f"<p><b>{html(game.problem, 200)}</b></p>" if game.problem else ""
    if game.also:
        sources = " and ".join((game.feed, *game.also))
        problem += f'<p class="soft">{html(f"One game, from {sources}", 300)}</p>'
    if game.dispute:
        dispute = f"Its sources contradict each other: {game.dispute}"
        problem += f"<p><b>{html(dispute, 300)}</b></p>"
    return (
        '<section class="game"><header><h3>'
        f"{_player(game.white.name, game.white.elo)} – "
        f"{_player(game.black.name, game.black.elo)} &nbsp;{escape(_result(game))}</h3>"
        f'<span class="soft">{html(" · ".join(about), 120)}</span></header>'
        f'{problem}{_said(game)}<div class="charts">{charts}</div>'
        f'<p class="moves">{_moves(game)}</p>{_finds_and_traps(game)}</section>'
    )


def _said(game: GameDetail) -> str:
    """A sentence for each player: what the figure means in this game."""
    sides = (
        (game.white, game.black, game.curves.white),
        (game.black, game.white, game.curves.black),
    )
    lines = [
        f"<b>{html(player.name or '?')}</b> {escape(said)}"
        for player, other, points in sides
        if points and (said := sentence(points[-1], player.elo, other.elo, final=is_final(game)))
    ]
    return f'<p class="note">{".<br>".join(lines)}.</p>' if lines else ""


def _number(game: GameDetail, ply: PlyView) -> tuple[str, bool]:
    """``23.`` or ``23…``, and whether White moved."""
    number, white = move_number(game, ply.ply)
    return f"{number}{'.' if white else '…'}", white


def _finds_and_traps(game: GameDetail) -> str:
    """Moves that few would have found, and those in reply to which many would err."""
    said: dict[Mark, list[str]] = {"find": [], "trap": []}
    for ply in game.plies:
        move = f"{_number(game, ply)[0]}&nbsp;{escape(plain(ply.san, 12))}"
        hard = ply.difficulty
        if ply.mark == "find" and ply.played_share is not None:
            said["find"].append(f"{move} ({in_words(ply.played_share)}{_rated(ply.played_elo)})")
        elif ply.mark == "trap" and hard is not None and hard.error_chance is not None:
            said["trap"].append(f"{move} ({in_words(hard.error_chance)}{_rated(hard.elo)} err)")
    names: dict[Mark, str] = {"find": "Finds", "trap": "Traps"}
    lines = [f"<b>{names[mark]}:</b> {', '.join(each)}." for mark, each in said.items() if each]
    return f'<p class="note">{" ".join(lines)}</p>' if lines else ""


def _rated(elo: int | None) -> str:
    return "" if elo is None else f" rated {elo}"


def _moves(game: GameDetail) -> str:
    parts: list[str] = []
    for ply in game.plies:
        number, white = _number(game, ply)
        lead = f"<b>{number}</b>&nbsp;" if white or not parts else ""
        sign = f"<b>{SIGNS[ply.mark]}</b>" if ply.mark else ""
        parts.append(f"<span>{lead}{escape(plain(ply.san, 12))}{sign}{_loss(ply)}</span>")
    if game.plies and (left := _clocks(game)):
        parts.append(f"<i>{left}</i>")
    return " ".join(parts) or '<span class="soft">No moves.</span>'


def _loss(ply: PlyView) -> str:
    if ply.gain_cp is None or ply.gain_cp > -TOLD_CP:
        return ""
    mark = "bad" if ply.gain_cp <= -BAD_CP else "soft"
    lost = pawns(ply.gain_cp) if ply.gain_cp > -LOST_CP else f"{MINUS}{LOST_CP // 100} or more"
    return f'<i class="{mark}">&nbsp;{lost}</i>'


def _clocks(game: GameDetail) -> str:
    last = {move_number(game, ply.ply)[1]: ply.clock_s for ply in game.plies[-2:]}
    sides = (("White", last.get(True)), ("Black", last.get(False)))
    parts = [f"{name} {clock(left_s)}" for name, left_s in sides if left_s is not None]
    return f"Clocks at the end: {', '.join(parts)}." if parts else ""


def _notes(event: Analysis) -> str:
    lines = "".join(
        f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>"
        for term, text in _explained(event.engine, event.gain)
    )
    return f'<dl class="note">{lines}</dl>'


# --- what the figures mean ------------------------------------------------------------------------

_SOURCES = {
    "fixed": "set by hand",
    "calibration": "a stored value",
    "field": "measured on the rated players of this event (Algorithm 3)",
}


def _explained(engine: EngineInfo, gain: GainKind) -> list[tuple[str, str]]:
    """Term and explanation, in the order of reading; plain text."""
    how = (
        "the score of the move played minus that of the engine's own choice, both searched from "
        "the position before the move; never above 0"
        if gain == "same-search"
        else "the score after the move minus the score before it, from the mover's side"
    )
    return [
        (
            "Engine",
            f"Scores are those of {plain(engine.name)} ({plain(engine.limit)}), which counts as "
            f"{engine.rating} Elo, {_SOURCES.get(engine.rating_source, 'as its source says')}.",
        ),
        (
            "Gain",
            f"What a move gained or lost, in pawns: {how}. Losses of 0.30 or more stand beside the "
            "moves.",
        ),
        *((BY_ID[name].name, BY_ID[name].meaning) for name in ("perceived", "percentile")),
        (
            "Read by",
            f"{', '.join(engine.models) or 'no model, so nobody is playing like anything'}. "
            f"{plain(engine.note, 300)}".strip(),
        ),
        *((BY_ID[name].name, BY_ID[name].meaning) for name in _EXPLAINED),
        (
            "Finds, traps",
            "By a network that learned from rated games what players of a rating play, weighed by "
            "what the moves lose. Find (!): no worse than the engine's best, fewer than 1 in 4 of "
            "the mover's rating would play it, and the others lose 0.40 pawns or more on average. "
            "Trap (!?): it costs little, the reply that looks most natural loses a pawn or more, "
            "and at least 1 in 10 of the opponent's rating would err. No rating rests on it.",
        ),
        (
            "What it is not",
            "None of these figures is an official rating, FIDE's performance rating (that goes by "
            "results alone) or evidence of anything but how close the moves were to one engine's "
            "choices.",
        ),
    ]


_EXPLAINED = (
    "algorithm4",
    "tournament",
    "conformance",
    "first_choice",
    "centipawn_loss",
    "accuracy",
)


def _warning(engine: EngineInfo) -> str:
    """What stands above the screening table."""
    return (
        "Screening figures for arbiters only. They say where to look, with how much data, and "
        "accuse nobody: of many players some are far out by chance. A figure alone is never "
        f"evidence. First choices are those of {plain(engine.name)}, {plain(engine.limit)}; moves "
        "1 to 8, forced moves, repeated positions and those decided by more than three pawns are "
        "left out. By chance: at most in this share of events of this size the evidence about "
        "somebody who plays fair ever gets so far."
    )


# --- screening ----------------------------------------------------------------------------------


def _screening(event: Analysis) -> str:
    """Everybody with enough choices, those with most evidence first.

    "By chance" is the most that the share of events of this size can be in which the evidence about
    somebody who plays fair ever gets so far.
    """
    watched = max(1, sum(view.agreement is not None for view in event.players))
    lines = any(view.methods.intrinsic is not None for view in event.players)
    rows: list[tuple[float, list[str]]] = []
    for view in event.players:
        found = view.agreement
        if view.elo is None or found is None or found.moves < LEAST_MOVES:
            continue
        share, expected = found.matches / found.moves, found.expected / found.moves
        z = (found.matches - found.expected) / math.sqrt(found.moves * expected * (1 - expected))
        row = [
            html(view.name),
            str(view.elo),
            str(found.moves),
            percent(share),
            percent(expected),
            signed(z, 1),
            _chance(min(1.0, watched * math.exp(-found.log_e_value))),
        ]
        if lines:
            among = view.methods.intrinsic
            zs = (None, None) if among is None else (among.match_z, among.difference_z)
            row += [signed(z, 1) for z in zs]
        rows.append((found.log_e_value, row))
    rows.sort(key=lambda each: -each[0])
    warning = f'<p class="warn">{escape(_warning(event.engine))}</p>'
    if not rows:
        return (
            warning
            + f"<p>Nobody has {LEAST_MOVES} choices that count and a forecast of them: there is "
            "one for the embedded engine and its usual limit.</p>"
        )
    heads = ["Elo", "Moves", "First choices", "Expected", "z", "By chance"]
    # Where several lines were searched: z of move matches and of the average difference.
    heads += ["z match", "z diff."] if lines else []
    columns = [("Player", ""), *((head, "n") for head in heads)]
    return warning + table(columns, [row for _, row in rows])


def _chance(rate: float) -> str:
    if rate >= 0.995:
        return "always"
    return f"{100 * rate:.0f} %" if rate >= 0.01 else "&lt; 1 %"
