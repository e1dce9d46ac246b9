"""Curves of a game in characters: ratings as joined braille lines, the score as bars,
on one axis of moves.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from live.catalogue import BY_ID, Reading, read
from live.event.rate_game import COLORS
from live.games.game import number_move
from live.messages.figures import GameDetail
from live.messages.values import Color
from live.screens.terminal.text import Panel, move_text, right, styled
from live.watch.expected_scores import scores_alike

#: Labels and rule left of a chart, cells.
AXIS = 6
#: A chart is drawn as if there were so many plies at least: lines do not jump as a game
#: begins.
LEAST_PLIES = 40
#: A rating axis never spans less than this, Elo: noise must not look like drama.
MIN_SPAN_ELO = 300.0
#: A chart of fewer lines shows what is usual only as far as the curves reach.
_BAND_FROM = 10
#: A move is named where it costs its player so much of the expected score.
COSTLY = 0.10
#: Dots of a braille cell, from above, left and right; four by two.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE = 0x2800
#: A bar of the score stands so often between two plies.
_PARTS = 8
#: Stands where the cursor is.
_CURSOR = "┊"
#: The marks of the score axis, pawns; placed by winning chances, so that ±1 is not lost
#: near ±10.
_MARKS = (5, -5, 0, 2, -2)
#: Steepness of winning chances by centipawns (lichess, scalachess core/eval.scala,
#: 2026-08-07).
_CHANCES = -0.00368208
SIDE_SIGNS = {"white": "○", "black": "●"}

Point = tuple[float, float]
"""A ply and the Elo after it."""


def chances(score_cp: int) -> float:
    """White's winning chances from -1 to 1, scores capped at ten pawns."""
    return 2 / (1 + math.exp(_CHANCES * max(-1000, min(1000, score_cp)))) - 1


def column_of(ply: int, plies: int, columns: int) -> int:
    """Return which of so many columns a ply of a game of so many plies has."""
    return round(ply / max(plies, LEAST_PLIES) * (columns - 1))


class BraillePlot:
    """Lines of dots, two by four in a cell, and words between them."""

    def __init__(
        self, size: tuple[int, int], plies: int, scale: tuple[float, float]
    ) -> None:
        self.width, self.height = size
        self._plies = plies
        self._low, self._high = scale
        self._dots: dict[tuple[int, int], int] = {}
        """By row and column."""
        self._styles: dict[tuple[int, int], str] = {}
        self._signs: dict[tuple[int, int], str] = {}

    def row_of(self, elo: float) -> int:
        """Return the row of cells, 0 at the top."""
        return self._y(elo) // 4

    def draw_dots(self, points: Iterable[Point], style: str) -> None:
        """Draw a dotted edge: one dot in every second column of cells."""
        for ply, elo in points:
            x = self._x(ply)
            if x // 2 % 2:
                self._dot(x, self._y(elo), style)

    def draw_line(self, points: Sequence[Point], style: str) -> None:
        """Join the points."""
        ends = [(self._x(ply), self._y(elo)) for ply, elo in points]
        for (x, y), (to_x, to_y) in zip(ends, [*ends[1:], *ends[-1:]], strict=True):
            steps = max(abs(to_x - x), abs(to_y - y), 1)
            for step in range(steps + 1):
                part = step / steps
                self._dot(
                    round(x + part * (to_x - x)), round(y + part * (to_y - y)), style
                )

    def draw_level(self, elo: float, style: str) -> None:
        """Draw a dashed level where nothing else is."""
        row = self.row_of(elo)
        for column in range(self.width):
            if (row, column) not in self._dots:
                self._signs.setdefault((row, column), "┈")
                self._styles.setdefault((row, column), style)

    def draw_upright(self, ply: float) -> None:
        """Draw the cursor where nothing else is."""
        for row in range(self.height):
            place = row, self._x(ply) // 2
            if place not in self._dots:
                self._signs.setdefault(place, _CURSOR)
                self._styles.setdefault(place, "accent")

    def write(self, point: Point, text: str, style: str) -> bool:
        """Write beside a point, as near as no line is crossed; say whether there was
        room.
        """
        at = self._x(point[0]) // 2
        start = max(0, min(at, self.width - len(text)))
        near = self.row_of(point[1])
        for row in sorted(range(self.height), key=lambda row: abs(row - near)):
            places = [(row, start + index) for index in range(len(text))]
            if abs(row - near) <= 2 and not any(
                place in self._dots for place in places
            ):
                if any(self._signs.get(place, "┈") != "┈" for place in places):
                    continue
                self._signs.update(zip(places, text, strict=True))
                self._styles.update(dict.fromkeys(places, style))
                return True
        return False

    def mark(self, point: Point, sign: str, style: str) -> None:
        """Put a sign on a point itself."""
        place = self.row_of(point[1]), min(self.width - 1, self._x(point[0]) // 2)
        self._signs[place] = sign
        self._styles[place] = style

    def lines(self, labels: Mapping[int, str]) -> Panel:
        """Return the rows beside their axis, which has ``labels`` at some of them."""
        lines = []
        for row in range(self.height):
            label = labels.get(row, "")
            line = styled(f"{right(label, AXIS - 1)}{'┤' if label else '│'}", "dim")
            for column in range(self.width):
                place = row, column
                dots = self._dots.get(place)
                sign = chr(_BRAILLE + dots) if dots else " "
                line.append(self._signs.get(place, sign), self._styles.get(place, ""))
            line.rstrip()
            lines.append(line)
        return lines

    def _x(self, ply: float) -> int:
        return round(ply / self._plies * (2 * self.width - 3))

    def _y(self, elo: float) -> int:
        last = 4 * self.height - 1
        y = round((self._high - elo) / (self._high - self._low) * last)
        return max(0, min(last, y))

    def _dot(self, x: int, y: int, style: str) -> None:
        place = y // 4, x // 2
        self._dots[place] = self._dots.get(place, 0) | _DOTS[y % 4][x % 2]
        self._styles[place] = style


def sparkline(values: Sequence[float], cells: int) -> str:
    """Return the last values, two a cell, as one row of joined dots."""
    shown = values[-2 * cells :]
    if not shown:
        return ""
    plot = BraillePlot((cells + 1, 1), 2 * cells - 1, span_of(shown))
    plot.draw_line(list(enumerate(shown)), "")
    return plot.lines({})[0].plain[AXIS:].rstrip()


def span_of(values: Iterable[float]) -> tuple[float, float]:
    """Return the Elo from the bottom to the top of a chart that holds all values."""
    known = list(values)
    low, high = min(known), max(known)
    spare = max(0.0, MIN_SPAN_ELO - (high - low)) / 2
    return low - spare, high + spare


def costly_moves(game: GameDetail) -> dict[int, float]:
    """Return by ply what moves cost that cost 10 points of expected score, 0 to 1."""
    scores = scores_alike(game)
    costs = {}
    for ply, before, after in zip(game.plies, scores, scores[1:], strict=False):
        if before is None or after is None:
            continue
        cost = before - after if number_move(game, ply.ply)[1] else after - before
        if cost >= COSTLY:
            costs[ply.ply] = cost
    return costs


def rating_chart(
    game: GameDetail, figure: str, engine_rating: int, width: int, height: int
) -> Panel:
    """Both players' ratings in one plot: own Elo dashed, usual band dotted, costly
    moves named.
    """
    readings: dict[Color, list[tuple[int, Reading]]] = {}
    for color in COLORS:
        readings[color] = [
            (point.ply, read(BY_ID[figure], point, engine_rating))
            for point in getattr(game.curves, color)
        ]
    # Algorithm 4 has a scale of its own, on which the players' Elo says nothing.
    elos = {
        color: getattr(game, color).elo for color in COLORS if figure == "perceived"
    }
    known = [elo for elo in elos.values() if elo is not None]
    for points in readings.values():
        settled = points[len(points) // 2 :]
        known += [each.value for _, each in points if each.value is not None]
        if height >= _BAND_FROM:
            for _, each in settled:
                known += [end for end in each[1:] if end is not None]
    if not known:
        return [styled(" " * AXIS + "no figure yet: five moves first", "dim")]
    scale = span_of(known)
    plot = BraillePlot(
        (max(4, width - AXIS), height), max(len(game.plies), LEAST_PLIES), scale
    )
    labels = {0: f"{scale[1]:.0f}", height - 1: f"{scale[0]:.0f}"}
    edges: list[Point] = []
    for points in readings.values():
        for end in (1, 2):
            edge = []
            for ply, each in points:
                elo = each[end]
                if elo is not None and scale[0] <= elo <= scale[1]:
                    edge.append((ply, elo))
            plot.draw_dots(edge, "band")
            edges += edge[-1:]
    for side in sorted(elos, key=lambda side: -(elos[side] or 0)):
        if (own := elos[side]) is not None:
            row = plot.row_of(own)
            if labels.get(row, "")[-1:] in SIDE_SIGNS.values():
                row = _find_free_row(row, height, labels)
            labels[row] = f"{own}{SIDE_SIGNS[side]}"
    curves: dict[Color, list[Point]] = {}
    for side, points in readings.items():
        curve: list[Point] = []
        for ply, each in points:
            if each.value is not None:
                curve.append((ply, each.value))
        curves[side] = curve
        plot.draw_line(curve, side)
    for side, curve in curves.items():
        if curve:
            plot.mark(curve[-1], SIDE_SIGNS[side], side)
    costs = costly_moves(game)
    for ply in sorted(costs, key=lambda ply: -costs[ply]):
        mover: Color = "white" if number_move(game, ply)[1] else "black"
        here = [point for point in curves[mover] if point[0] == ply]
        if here:
            plot.write(here[0], f"▼{move_text(game, game.plies[ply - 1], '…')}", "bad")
    if edges:
        plot.write(max(edges, key=lambda edge: edge[1]), "usual", "band")
    for side, own in elos.items():
        if own is not None:
            plot.draw_level(own, side)
    return plot.lines(labels)


def _find_free_row(taken: int, height: int, labels: Mapping[int, str]) -> int:
    """Return the row beside a taken one where a label stands alone, as far as there is
    one.
    """
    near = (
        row for row in (taken + 1, taken - 1) if 0 <= row < height and row not in labels
    )
    return next(near, taken)


def move_axis(game: GameDetail, width: int) -> Panel:
    """Return the line of move numbers between the charts."""
    columns = max(4, width - AXIS)
    marks = [" "] * columns
    for ply in range(1, max(len(game.plies), LEAST_PLIES) + 1):
        number, white = number_move(game, ply)
        at = column_of(ply, len(game.plies), columns - 1)
        text = str(number)
        if white and number % 5 == 0 and at + len(text) <= columns:
            marks[at : at + len(text)] = text
    return [styled(f"{'└':>{AXIS}}{''.join(marks).rstrip()}", "dim")]


def score_chart(game: GameDetail, cursor_ply: int, width: int, height: int) -> Panel:
    """White's advantage above the line, Black's below, on the axis of the ratings."""
    size = max(4, width - AXIS), height
    plot = BraillePlot(size, max(len(game.plies), LEAST_PLIES), (-1.0, 1.0))
    for ply, score in enumerate(
        [game.start_score_cp, *(ply.score_cp for ply in game.plies)]
    ):
        if score is None:
            plot.mark((ply, 0.0), "·", "dim")
            continue
        for part in range(_PARTS):
            at = ply + part / _PARTS
            plot.draw_line(
                [(at, 0.0), (at, chances(score))], "white" if score > 0 else "black"
            )
    plot.draw_upright(cursor_ply)
    labels: dict[int, str] = {}
    for pawns in _MARKS:
        labels.setdefault(
            plot.row_of(chances(100 * pawns)), f"{pawns:+d}" if pawns else "0"
        )
    return plot.lines(labels)
