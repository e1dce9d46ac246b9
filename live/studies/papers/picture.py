"""What three of Ferreira's tables print beside ours, as one picture. Needs matplotlib;
the same bytes every time.
"""

from collections.abc import Sequence
from typing import Any

from live.studies.papers.comparison import Comparison, Measured
from live.studies.papers.limits import choose_highest_limits
from live.studies.study_figures import open_figure, save_figure

#: Their players stand below each other, as strong as the paper has them.
_PANELS = ("ferreira-table-1", "ferreira-table-3", "ferreira-table-4-score")
_SIZE_INCHES = (12.0, 4.2)
#: How far the gains of a player are drawn apart, of the distance between two players.
_APART = 0.25


def render_picture(comparisons: Sequence[Comparison]) -> bytes | None:
    """Render a PNG; None where none of the tables is made.

    Raises ConfigError where matplotlib is not installed.
    """
    groups: dict[str, list[Comparison]] = {name: [] for name in _PANELS}
    for comparison in choose_highest_limits(comparisons):
        if comparison.rows_done and comparison.table.name in groups:
            groups[comparison.table.name].append(comparison)
    filled_groups = [group for group in groups.values() if group]
    if not filled_groups:
        return None
    figure = open_figure(_SIZE_INCHES)
    panels = figure.subplots(1, len(filled_groups), squeeze=False)[0]
    settings: dict[str, None] = {}
    for axes, group in zip(panels, filled_groups, strict=True):
        _draw_table(axes, group)
        settings |= dict.fromkeys(str(comparison.setting) for comparison in group)
    panels[0].legend(fontsize=8, frameon=False)
    figure.supxlabel("; ".join(settings), x=0.01, ha="left", fontsize=6, color="0.4")
    return save_figure(figure, "png", "papers")


def _draw_table(axes: Any, group: Sequence[Comparison]) -> None:
    """Draw the paper's number of each player, and ours by each gain with its
    interval.
    """
    table = group[0].table
    rows = sorted(table.rows, key=lambda row: row.value)
    places = {row.key: place for place, row in enumerate(rows)}
    axes.set_yticks(range(len(rows)), [row.one for row in rows])
    axes.plot([row.value for row in rows], range(len(rows)), "kx", label="the paper")
    for at, comparison in enumerate(group):
        our_rows = [
            (row.printed.key, row.ours)
            for row in comparison.rows
            if row.ours is not None
        ]
        axes.errorbar(
            [ours.value for _, ours in our_rows],
            [places[key] - _APART * (at + 1) for key, _ in our_rows],
            xerr=[*zip(*(_measure_reach(ours) for _, ours in our_rows), strict=True)],
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
    """Return how far the interval goes to either side; 0 where it is not known."""
    value, low, high = ours
    return (
        0.0 if low is None else value - low,
        0.0 if high is None else high - value,
    )
