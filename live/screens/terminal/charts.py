"""Curves of a game drawn with characters: ratings as lines of braille dots, the score
as bars, over one common axis of moves.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from operator import itemgetter

from rich.text import Text
from textual.geometry import Size

from live.catalogue import BY_ID, Reading, read
from live.event.rate_game import COLORS
from live.games.game import number_move
from live.messages.figures import GameDetail
from live.messages.values import Color
from live.screens.terminal.text import Panel, align_right, begin_line, write_move
from live.watch.expected_scores import (
    compute_equal_rating_score,
    list_equal_rating_scores,
)
from live.watch.turning_points import COSTLY, has_lost_nothing

#: Width of the labels and the axis on a chart's left, in cells.
AXIS = 6
#: Minimum length of the horizontal axis, in plies: if it grew with every move of a
#: young game, the curves would jump.
LEAST_PLIES = 40
#: Minimum span of a rating axis, in Elo, so that noise does not look like drama.
MIN_SPAN_ELO = 300.0
#: Minimum height of the charts, in lines; with less room none is drawn.
_LEAST_CHARTS = 5
#: Height of a chart, in lines, from which its scale includes the usual band. In a lower
#: chart the band would flatten the curves.
_BAND_FROM = 10
#: Bit of each dot in a braille character: four rows from the top, each left and right.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
#: Distance between the dots of a dotted line, in braille dots; with less it would look
#: like a curve.
_DOTS_APART = 4
_BLANK = "\u2800"
_LAST_BRAILLE = "\u28ff"
#: Sign that marks the cursor's position.
_CURSOR = "┊"
#: Labels of the score axis, in pawns. The axis is linear in expected score, so that
#: large scores do not flatten small ones.
_MARKS = (5, -5, 0, 2, -2)
#: Text in place of curves that have not begun.
_NO_CURVE = "the curve begins with the fifth counted move"
SIDE_SIGNS: dict[Color, str] = {"white": "○", "black": "●"}

Point = tuple[float, float]
"""A ply, and the Elo after it."""


class BraillePlot:
    """A drawing area of braille dots, two by four in a cell, with texts between the
    lines.
    """

    def __init__(
        self, size: tuple[int, int], plies: int, scale: tuple[float, float]
    ) -> None:
        self.width, self.height = size
        self._plies = plies
        self._low, self._high = scale
        self._cells: dict[tuple[int, int], tuple[str, str]] = {}
        """Sign and style of each used cell, by row and column."""

    def find_row(self, elo: float) -> int:
        """Return the row of an Elo in cells, 0 at the top."""
        return self._find_y(elo) // 4

    def find_column(self, ply: float) -> int:
        """Return the column of a ply in cells, 0 at the left."""
        return self._find_x(ply) // 2

    def draw_line(
        self, points: Sequence[Point], style: str, *, dotted: bool = False
    ) -> None:
        """Draw lines between successive points; leave out parts outside the scale."""
        ends = [(self._find_x(ply), self._find_y(elo)) for ply, elo in points]
        for (x, y), (to_x, to_y) in pairwise([*ends, *ends[-1:]]):
            steps = max(abs(to_x - x), abs(to_y - y), 1)
            for step in range(steps + 1):
                at = x + round(step / steps * (to_x - x))
                if not dotted or at % _DOTS_APART == 0:
                    self._draw_dot(at, y + round(step / steps * (to_y - y)), style)

    def draw_bar(self, ply: int, start: float, end: float, style: str) -> None:
        """Fill the area between two values, one ply wide."""
        top, bottom = sorted((self._find_y(start), self._find_y(end)))
        for x in range(
            self._find_x(ply), max(self._find_x(ply) + 1, self._find_x(ply + 1))
        ):
            for y in range(top, bottom + 1):
                self._draw_dot(x, y, style)

    def draw_level(self, elo: float, style: str) -> None:
        """Draw a dashed horizontal line, in empty cells only."""
        for column in range(self.width):
            self._cells.setdefault((self.find_row(elo), column), ("┈", style))

    def draw_upright(self, ply: float) -> None:
        """Draw the cursor as a vertical line, in empty cells only."""
        for row in range(self.height):
            self._cells.setdefault((row, self.find_column(ply)), (_CURSOR, "accent"))

    def write(self, point: Point, text: str, style: str) -> bool:
        """Write a text close to a point without covering anything; return whether it
        found room.
        """
        start = max(0, min(self.find_column(point[0]), self.width - len(text)))
        near = self.find_row(point[1])
        rows = range(max(0, near - 2), min(self.height, near + 3))
        for row in sorted(rows, key=lambda row: abs(row - near)):
            places = [(row, start + index) for index in range(len(text))]
            if self._cells.keys().isdisjoint(places):
                for place, sign in zip(places, text, strict=True):
                    self._cells[place] = sign, style
                return True
        return False

    def mark(self, point: Point, sign: str, style: str) -> None:
        """Put a sign exactly on a point."""
        column = min(self.width - 1, self.find_column(point[0]))
        self._cells[self.find_row(point[1]), column] = sign, style

    def draw_rows(self, labels: Mapping[int, str]) -> Panel:
        """Return the drawing as lines, with ``labels`` on the axis, by row."""
        lines = []
        for row in range(self.height):
            label = labels.get(row, "")
            line = begin_line(
                f"{align_right(label, AXIS - 1)}{'┤' if label else '│'}", "dim"
            )
            places = [(row, column) for column in range(self.width)]
            cells = [self._cells.get(place, (" ", "")) for place in places]
            for style, alike in groupby(cells, key=itemgetter(1)):
                line.append("".join(sign for sign, _ in alike), style)
            line.rstrip()
            lines.append(line)
        return lines

    def _find_x(self, ply: float) -> int:
        return round(ply / self._plies * (2 * self.width - 3))

    def _find_y(self, elo: float) -> int:
        last = 4 * self.height - 1
        return round((self._high - elo) / (self._high - self._low) * last)

    def _draw_dot(self, x: int, y: int, style: str) -> None:
        place = y // 4, x // 2
        if not 0 <= place[0] < self.height:
            return
        sign, _ = self._cells.get(place, (_BLANK, ""))
        if _BLANK <= sign <= _LAST_BRAILLE:
            self._cells[place] = chr(ord(sign) | _DOTS[y % 4][x % 2]), style


@lru_cache(maxsize=1024)
def draw_sparkline(values: tuple[float, ...], cells: int) -> str:
    """Draw the last values as a curve one line high, two values per cell."""
    latest = values[-2 * cells :]
    if not latest:
        return ""
    plot = BraillePlot((cells + 1, 1), 2 * cells - 1, find_elo_range(latest))
    plot.draw_line(list(enumerate(latest)), "")
    return plot.draw_rows({})[0].plain[AXIS:].rstrip()


def find_elo_range(values: Iterable[float]) -> tuple[float, float]:
    """Return the Elo at the bottom and at the top of a chart that shows all values."""
    elos = list(values)
    low, high = min(elos), max(elos)
    spare = max(0.0, MIN_SPAN_ELO - (high - low)) / 2
    return low - spare, high + spare


def compute_lost_scores(game: GameDetail) -> dict[int, float]:
    """Return the expected score that each move lost, by ply; negative for a gain."""
    costs = {}
    for ply, (before, after) in zip(
        game.plies, pairwise(list_equal_rating_scores(game)), strict=True
    ):
        if before is not None and after is not None:
            white = number_move(game, ply.ply)[1]
            costs[ply.ply] = before - after if white else after - before
    return costs


def find_costly_moves(game: GameDetail) -> list[int]:
    """Return the plies that lost at least 0.10 of expected score, the costliest first.

    A move to which the search before it found no better one is not among them.
    """
    costs = compute_lost_scores(game)
    costly = [
        ply
        for ply, cost in costs.items()
        if cost >= COSTLY and not has_lost_nothing(game.plies[ply - 1])
    ]
    return sorted(costly, key=lambda ply: -costs[ply])


@lru_cache(maxsize=2)
def draw_charts(
    game: GameDetail, at: int, figure: str, engine_rating: int, size: Size
) -> Panel:
    """Draw both players' ratings, and below them the score, over one axis of moves.

    The result is cached, since most frames change nothing.

    Args:
        game: the game.
        at: the ply of the cursor.
        figure: id of the figure that is drawn.
        engine_rating: Elo of the engine.
        size: width and height, in cells.
    """
    width, height = size
    if height < _LEAST_CHARTS:
        return []
    scored = 2 * max(1, height // 8)
    rated = height - scored - 1
    return [
        *draw_ratings(game, figure, engine_rating, width, rated),
        *draw_move_axis(game, width),
        *draw_scores(game, at, width, scored),
    ]


def draw_ratings(
    game: GameDetail, figure: str, engine_rating: int, width: int, height: int
) -> Panel:
    """Draw both players' ratings in one plot: each player's own Elo dashed, the usual
    band dotted, costly moves named.
    """
    curves: dict[Color, list[Point]] = {}
    elos: dict[Color, int] = {}
    edges: list[list[Point]] = []
    bounds: list[float] = []
    for color in COLORS:
        readings = [
            (point.ply, read(BY_ID[figure], point, engine_rating))
            for point in getattr(game.curves, color)
        ]
        curves[color] = _list_known_points(readings, 0)
        edges += [_list_known_points(readings, 1), _list_known_points(readings, 2)]
        bounds += [elo for _, elo in curves[color]]
        # Algorithm 4 has a different scale, on which the players' Elo would be
        # meaningless.
        if figure == "perceived" and (own := getattr(game, color).elo) is not None:
            elos[color] = own
    bounds += elos.values()
    if height >= _BAND_FROM:
        for edge in edges:
            bounds += [elo for _, elo in edge[len(edge) // 2 :]]
    if not bounds:
        notice = begin_line(" " * AXIS + _NO_CURVE, "dim")
        return [notice, *(Text() for _ in range(height - 1))]
    low, high = find_elo_range(bounds)
    plot = BraillePlot((max(4, width - AXIS), height), _count_plies(game), (low, high))
    for edge in edges:
        plot.draw_line(edge, "band", dotted=True)
    for color, curve in curves.items():
        plot.draw_line(curve, color)
    for color, curve in curves.items():
        if curve:
            plot.mark(curve[-1], SIDE_SIGNS[color], color)
    for ply in find_costly_moves(game):
        text = f"▼{write_move(game, game.plies[ply - 1], '…')}"
        for point in [*curves["white"], *curves["black"]]:
            if point[0] == ply:
                plot.write(point, text, "bad")
    if not any(curves.values()):
        middle = _count_plies(game) / 4, (low + high) / 2
        plot.write(middle, _NO_CURVE, "dim")
    ends = [edge[-1] for edge in edges if edge and low <= edge[-1][1] <= high]
    if ends:
        name = "usual" if figure == "perceived" else "95 %"
        plot.write(max(ends, key=lambda end: end[1]), name, "band")
    labels = {0: f"{high:.0f}", height - 1: f"{low:.0f}"}
    for color in sorted(elos, key=lambda color: -elos[color]):
        row = plot.find_row(elos[color])
        plot.draw_level(elos[color], color)
        if labels.get(row, "").endswith(tuple(SIDE_SIGNS.values())):
            row = _find_free_row(row, height, labels)
        labels[row] = f"{elos[color]}{SIDE_SIGNS[color]}"
    return plot.draw_rows(labels)


def _list_known_points(
    readings: Iterable[tuple[int, Reading]], part: int
) -> list[Point]:
    """Return one part of a figure by ply, without plies where it is unknown.

    ``part`` is 0 for the figure, 1 for its low end and 2 for its high end.
    """
    return [
        (ply, elo) for ply, reading in readings if (elo := reading[part]) is not None
    ]


def _count_plies(game: GameDetail) -> int:
    """Return the width of a chart, in plies."""
    return max(len(game.plies), LEAST_PLIES)


def _find_free_row(occupied: int, height: int, labels: Mapping[int, str]) -> int:
    """Return a row next to ``occupied`` that has no label; ``occupied`` if both have
    one.
    """
    for row in (occupied + 1, occupied - 1):
        if 0 <= row < height and row not in labels:
            return row
    return occupied


def draw_move_axis(game: GameDetail, width: int) -> Panel:
    """Draw the line of move numbers between the charts."""
    plot = BraillePlot((max(4, width - AXIS), 1), _count_plies(game), (0.0, 1.0))
    line = " " * AXIS
    for ply in range(1, _count_plies(game) + 1):
        number, white = number_move(game, ply)
        if white and number % 5 == 0:
            line = line.ljust(AXIS + plot.find_column(ply)) + str(number)
    return [begin_line(f"{'└':>{AXIS}}{line[AXIS:width]}", "dim")]


def draw_scores(game: GameDetail, cursor_ply: int, width: int, height: int) -> Panel:
    """Draw the score as bars over the axis of the ratings: White's advantage above the
    middle, Black's below.
    """
    size = max(4, width - AXIS), height
    plot = BraillePlot(size, _count_plies(game), (0.0, 1.0))
    scores = [game.start_score_cp, *(ply.score_cp for ply in game.plies)]
    for ply, score in enumerate(scores):
        if score is None:
            plot.mark((ply, 0.5), "·", "dim")
        else:
            side = "white" if score > 0 else "black"
            plot.draw_bar(ply, 0.5, compute_equal_rating_score(score), side)
    plot.draw_upright(cursor_ply)
    labels: dict[int, str] = {}
    for pawns in _MARKS:
        row = plot.find_row(compute_equal_rating_score(100 * pawns))
        labels.setdefault(row, f"{pawns:+d}" if pawns else "0")
    return plot.draw_rows(labels)
