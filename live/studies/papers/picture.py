"""A picture of three of Ferreira's tables: the printed numbers beside ours.

It needs matplotlib. The same comparisons give the same bytes.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from live.studies.papers.comparison import Comparison, Measured, group_comparisons
from live.studies.papers.limits import choose_highest_limits
from live.studies.study_figures import open_figure, save_figure

#: Tables of the picture, one panel each; the players are ordered by the printed number.
_PANELS = ("ferreira-table-1", "ferreira-table-3", "ferreira-table-4-score")
_SIZE_INCHES = (12.0, 4.2)
#: Distance in the chart between the dots of one player, as a fraction of the distance
#: between two players.
_APART = 0.25


def render_picture(comparisons: Sequence[Comparison]) -> bytes | None:
    """Return the picture as PNG; None if no comparison is of one of the tables.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    highest = choose_highest_limits(comparisons)
    done = [comparison for comparison in highest if comparison.rows_done]
    drawn = group_comparisons(done, attrgetter("table.name"))
    tables = [name for name in _PANELS if name in drawn]
    if not tables:
        return None
    figure = open_figure(_SIZE_INCHES)
    panels = figure.subplots(1, len(tables), squeeze=False)[0]
    settings: dict[str, None] = {}
    for axes, name in zip(panels, tables, strict=True):
        _draw_table(axes, drawn[name])
        settings |= dict.fromkeys(str(table.setting) for table in drawn[name])
    panels[0].legend(fontsize=8, frameon=False)
    figure.supxlabel("; ".join(settings), x=0.01, ha="left", fontsize=6, color="0.4")
    return save_figure(figure, "png", "papers")


def _draw_table(axes: Any, group: Sequence[Comparison]) -> None:
    """Draw each player's printed number, and for each gain our number with its
    interval.
    """
    table = group[0].table
    rows = sorted(table.rows, key=lambda row: row.value)
    places = {row.key: place for place, row in enumerate(rows)}
    axes.set_yticks(range(len(rows)), [row.one for row in rows])
    axes.plot([row.value for row in rows], range(len(rows)), "kx", label="the paper")
    for number, comparison in enumerate(group, 1):
        measured = [
            (row.printed.key, row.ours)
            for row in comparison.rows
            if row.ours is not None
        ]
        reaches = [_measure_reach(ours) for _, ours in measured]
        axes.errorbar(
            [ours.value for _, ours in measured],
            [places[key] - _APART * number for key, _ in measured],
            xerr=[*zip(*reaches, strict=True)],
            fmt="o",
            ms=4,
            lw=1,
            label=comparison.gain,
        )
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    occasion, _, figures = table.title.partition(": ")
    axes.set_title(f"{occasion}, {table.where}\n{figures}", fontsize=9, loc="left")


def _measure_reach(ours: Measured) -> tuple[float, float]:
    """Return the distances from our number to the ends of its interval; a distance is 0
    if the end is unknown.
    """
    value, low, high = ours
    return (
        0.0 if low is None else value - low,
        0.0 if high is None else high - value,
    )
