"""Figures of the papers, drawn from their tables. Needs matplotlib; the same table
always gives the same bytes.
"""

import io
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars
from polars import DataFrame, col

from live.errors import ConfigError, InputError
from live.ratings.ferreira import Floats
from live.studies.study_tables import StudyTable

#: Largest number of curves in one figure. A reader cannot distinguish more.
_MOST_CURVES = 8
_WIDTH_INCHES = (9.0, 12.5)
_HEIGHT_INCHES = 5.5
_EVALUATION = "evaluation, centipawns"
#: Smallest number of moves for a mean to be drawn.
_ENOUGH_MOVES = 20
#: Step in which differences of gains are drawn, centipawns; at 1 cp the curves would be
#: jagged.
_STEP_CP = 10
_THIN = {"color": "0.6", "lw": 0.8}

Labels = tuple[str, str]
"""Labels of the x and y axes."""
Panel = Callable[[Any, DataFrame], Labels]


def render_figure(name: str, table: StudyTable, form: str) -> bytes:
    """Return a figure as PNG or SVG.

    Raises:
        ConfigError: matplotlib is not installed.
        InputError: there is nothing to draw.
    """
    figure = open_figure((_WIDTH_INCHES[len(FIGURES[name]) - 2], _HEIGHT_INCHES))
    if not table.rows:
        raise InputError(
            f"study figure {name}",
            "nothing in this selection",
            # The notes of an empty table say why it is empty.
            " ".join(table.notes) or "Select other players, events or years",
        )
    _, *panels = FIGURES[name]
    names = [column.name for column in table.columns]
    rows = DataFrame(
        table.rows, schema=names, orient="row", infer_schema_length=None, strict=False
    )
    for axes, draw in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
        x, y = draw(axes, rows)
        axes.set(xlabel=x, ylabel=y)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8, frameon=False)
    figure.suptitle(table.title, x=0.01, ha="left")
    figure.supxlabel(
        f"{table.source}. {table.engine}", x=0.01, ha="left", fontsize=6, color="0.4"
    )
    return save_figure(figure, form, table.name)


def open_figure(size_inches: tuple[float, float]) -> Any:
    """Open a figure of matplotlib.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            "study figure",
            "matplotlib is not installed",
            "Run: pip install 'live-rate[study]'",
        ) from None
    figure = Figure(figsize=size_inches, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, form: str, name: str) -> bytes:
    """Return a figure as PNG or SVG, without date, and with ids that do not depend on
    chance.
    """
    import matplotlib as mpl

    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        metadata: dict[str, Any] = (
            {"Software": None} if form == "png" else {"Date": None}
        )
        figure.savefig(out, format=form, dpi=120, metadata=metadata)
    return out.getvalue()


def _read_columns(rows: DataFrame, *names: str) -> list[Floats]:
    """Return whole columns; unknown values become NaN and are drawn as gaps."""
    return [rows[name].cast(polars.Float64).to_numpy() for name in names]


def _group_rows(
    rows: DataFrame, groups: Sequence[str], *names: str, most_groups: int = _MOST_CURVES
) -> Iterator[tuple[list[str], list[Floats]]]:
    """Yield the names of each group and its columns, in the order of the table; at most
    ``most_groups`` groups, so that a reader can distinguish them.
    """
    for key, part in itertools.islice(
        rows.group_by(groups, maintain_order=True), most_groups
    ):
        yield list(map(str, key)), _read_columns(part, *names)


def _select_first(rows: DataFrame) -> DataFrame:
    """Return the rows of the first player, or of all players together."""
    return rows.filter(player=rows["player"][0])


def _draw_curve(
    axes: Any,
    label: str,
    x: Floats,
    y: Floats,
    low: Floats | None = None,
    high: Floats | None = None,
    **style: Any,
) -> None:
    """Draw a curve, with its interval if one is given."""
    [line] = axes.plot(x, y, label=label, **({"ms": 3, "lw": 1.2} | style))
    if low is not None:
        color = line.get_color()
        axes.fill_between(x, low, high, alpha=0.15, color=color, lw=0)
        if len(x) == 1:
            axes.vlines(x, low, high, color=color, lw=1, alpha=0.6)


def _fill_gaps(
    at: Floats, values: Floats, blank: float, low: float, high: float
) -> list[Any]:
    """Return every whole number from ``low`` to ``high`` that the curve reaches, and
    the values at these numbers; the value is ``blank`` where the curve has none.
    """
    whole_numbers = np.arange(max(low, at.min()), min(high, at.max()) + 1)
    value_at = dict(zip(at, values, strict=True))
    return [whole_numbers, [value_at.get(number, blank) for number in whole_numbers]]


def _build_curves_panel(
    group: str, names: Sequence[str], *labels: *Labels, marker: str = ""
) -> Panel:
    """Return a panel with a curve for each group of rows. The columns are x and y, and
    low and high if there is an interval.
    """

    def draw(axes: Any, rows: DataFrame) -> Labels:
        for [key], columns in _group_rows(rows, [group], *names):
            _draw_curve(axes, key, *columns, marker=marker)
        return labels

    return draw


def _build_x_panel(name: str, label: str) -> Panel:
    return _build_curves_panel("conformance", ("x_cp", name), "x, centipawns", label)


def _draw_color_columns(
    axes: Any, rows: DataFrame, x: str, name: str, marker: str = ""
) -> None:
    """Draw White's and Black's columns. ``name`` is the name of a column with ``{}`` in
    place of the colour.
    """
    for color, shade in (("white", "0.65"), ("black", "0.1")):
        columns = _read_columns(rows, x, name.format(color))
        _draw_curve(axes, color, *columns, marker=marker, color=shade)


def _draw_conformances(axes: Any, rows: DataFrame) -> Labels:
    drawn = rows.filter(col("conformance_cp").is_between(1, 199))
    _draw_color_columns(axes, drawn, "conformance_cp", "{}")
    return "conformance, centipawns (1 to 199)", "moves"


def _draw_within_30(axes: Any, rows: DataFrame) -> Labels:
    rows_of_all = _require_enough_moves(_select_first(rows))
    _draw_color_columns(axes, rows_of_all, "evaluation_cp", "{} within 30", "o")
    return _EVALUATION, "share within 30 cp"


def _require_enough_moves(rows: DataFrame) -> DataFrame:
    """Return the rows with enough moves.

    Raises:
        InputError: no row has enough moves.
    """
    classes = rows.filter(rows["moves"] >= _ENOUGH_MOVES)
    if not len(classes):
        problem = f"has no class of {_ENOUGH_MOVES} moves in this selection"
        raise InputError("alliot-evaluations", problem, "Select more games")
    return classes


def _draw_distribution(axes: Any, rows: DataFrame) -> Labels:
    for [player], (gains, shares) in _group_rows(
        rows, ["player"], "gain_cp", "share", most_groups=4
    ):
        columns = _fill_gaps(gains, shares, math.nan, -150, 100)
        _draw_curve(axes, player, *columns, marker=".", ms=4, lw=0.8)
    axes.set_yscale("log")
    return "gain, centipawns", "share of moves (logarithmic)"


def _draw_correlation(axes: Any, rows: DataFrame) -> Labels:
    labels = _build_x_panel("rho", "correlation of p(x) with results")(axes, rows)
    axes.axvline(30, ls=":", **_THIN)
    return labels


def _draw_shortfalls(axes: Any, rows: DataFrame) -> Labels:
    names = ("evaluation_cp", "conformance", "low", "high")
    labels = (_EVALUATION, "mean conformance, centipawns")
    return _build_curves_panel("player", names, *labels, marker="o")(
        axes, _require_enough_moves(rows)
    )


def _draw_positions(axes: Any, rows: DataFrame) -> Labels:
    at, moves = _read_columns(_select_first(rows), "evaluation_cp", "moves")
    axes.bar(at, moves, width=18)
    return f"evaluation, centipawns, {rows['player'][0]}", "positions"


def _draw_classes(axes: Any, rows: DataFrame) -> Labels:
    for [player], columns in _group_rows(
        rows, ["player"], "class", "positions", most_groups=4
    ):
        _draw_curve(axes, player, *columns, marker="o")
    at, edges = _read_columns(_select_first(rows), "class", "from_cp")
    words = ["below" if math.isnan(edge) else f"{edge:.0f}" for edge in edges]
    axes.set_xticks(at, words, rotation=60, fontsize=8)
    return "least evaluation of the class, centipawns", "positions"


def _draw_colors(axes: Any, rows: DataFrame) -> Labels:
    n = np.array([[max(1, rows[color].sum())] for color in ("white", "black")])
    drawn = rows.filter(rows["conformance_cp"] <= 200)
    at, *columns = _read_columns(drawn, "conformance_cp", "white p(x)", "black p(x)")
    shares = np.array(columns)
    ahead = 100 * (shares[0] - shares[1])
    reach = 196 * np.sqrt((shares * (1 - shares) / n).sum(axis=0))
    label = "95 %, moves taken as independent"
    _draw_curve(axes, label, at, ahead, ahead - reach, ahead + reach)
    axes.axhline(0, **_THIN)
    return "x, centipawns", "p(x) of White less Black, percent"


def _draw_depths(axes: Any, rows: DataFrame) -> Labels:
    counts = _group_rows(
        rows, ["from_ms", "to_ms"], "depth", "share", "searches", most_groups=99
    )
    # The classes with the most searches, sorted from the shortest time on.
    largest_classes = sorted(counts, key=lambda group: -group[1][2].sum())[
        :_MOST_CURVES
    ]
    largest_classes.sort(key=lambda group: int(group[0][0]))
    for place, ((start, end), (depths, shares, searches)) in enumerate(largest_classes):
        # Fills the depths at which no search ended with 0.
        columns = _fill_gaps(depths, 100 * shares, 0.0, -math.inf, math.inf)
        label = f"{start} to {end} ms, {searches.sum():.0f} searches"
        # Later classes are darker, from light blue to navy.
        shade = (
            0.75 - 0.75 * place / len(largest_classes),
            0.85 - 0.7 * place / len(largest_classes),
            0.9,
        )
        _draw_curve(axes, label, *columns, marker="o", color=shade)
    return "depth", "percent of the searches"


def _draw_matches(axes: Any, rows: DataFrame) -> Labels:
    drawn = rows.head(40)
    at = np.arange(len(drawn))
    for name, marker, style in (
        ("result", "o", {"color": "0.1", "label": "result"}),
        ("by p(0.3)", "D", {"ms": 5, "label": "expected from p(0.3)"}),
        ("by p(0)", "^", {"ms": 5, "label": "expected from perfect moves"}),
    ):
        axes.plot(*_read_columns(drawn, name), at, marker, **style)
    axes.axvline(0.5, **_THIN)
    names = [
        f"{_read_family_name(player)} - {_read_family_name(opponent)}\n{event[:32]}"
        for player, opponent, event in drawn["player", "opponent", "event"].iter_rows()
    ]
    axes.set_yticks(at, names, fontsize=7)
    axes.invert_yaxis()
    return "points a game of the first named", ""


def _build_match_panel(*names: str, label: str) -> Panel:
    """Return a panel with a curve over x for each match, with an interval if low and
    high are named too.
    """

    def draw(axes: Any, rows: DataFrame) -> Labels:
        for (player, opponent, _), columns in _group_rows(
            rows, ["player", "opponent", "event"], "x_cp", *names, most_groups=6
        ):
            _draw_curve(
                axes,
                f"{_read_family_name(player)} - {_read_family_name(opponent)}",
                *columns,
            )
        if len(names) == 1:
            axes.axhline(0, **_THIN)
        else:
            # The panels of winners and of losers have the same limits on the y axis.
            lowest = np.min(_read_columns(rows, "low", "opponent's low"))
            axes.set_ylim(math.floor(lowest * 20) / 20, 1.01)
        return "x, centipawns", label

    return draw


def _draw_outcomes(axes: Any, rows: DataFrame) -> Labels:
    at, tanh, *spline = _read_columns(
        rows, "difference_cp", "tanh", "spline", "low", "high"
    )
    axes.plot([at[0], 0, 0, at[-1]], [0, 0, 1, 1], lw=1.2, label="step (Ferreira)")
    axes.plot(at, tanh, lw=1.2, label="tanh, a = 1.16")
    words = "spline fitted to these games, 1 at +400 (95 %, but for its scale)"
    _draw_curve(axes, words, at, *spline)
    axes.set_ylim(-0.25, 1.25)
    return "difference of two gains, centipawns", "worth to White"


def _draw_convolutions(axes: Any, rows: DataFrame) -> Labels:
    place = (col("difference_cp") + _STEP_CP // 2) // _STEP_CP * _STEP_CP
    steps = rows.group_by("pairs", place, maintain_order=True).agg(col("share").sum())
    for [n], columns in _group_rows(steps, ["pairs"], "difference_cp", "share"):
        # The first and the last step are incomplete, so they are left out.
        at, shares = (column[1:-1] for column in columns)
        _draw_curve(axes, f"{n} pair{'s' if n != '1' else ''} of moves", at, shares)
    axes.set_yscale("log", nonpositive="mask")
    axes.set_ylim(1e-5, 1)
    words = f"probability in steps of {_STEP_CP} cp (logarithmic)"
    return "difference of the gains, centipawns", words


def _draw_grid(axes: Any, rows: DataFrame) -> Labels:
    shades = rows.pivot("n0", index="b", values="rho", sort_columns=False).sort("b")
    across = sorted(map(int, shades.columns[1:]))
    [rho] = _read_columns(rows, "rho")
    image = axes.contourf(
        across,
        *_read_columns(shades, "b"),
        np.array(_read_columns(shades, *map(str, across))).T,
        levels=[
            math.ceil(np.nanmax(rho) * 50) / 50 - 0.4 + 0.02 * step
            for step in range(21)
        ],
        extend="both",
        cmap="viridis",
    )
    axes.figure.colorbar(
        image, ax=axes, format="%.2f", label="correlation with results"
    )
    axes.grid(False)
    return "n0", "b, pawns"


def _build_best_panel(label: str, *names: str) -> Panel:
    """Return a panel that shows, for each n0, the row with the best correlation."""

    def draw(axes: Any, rows: DataFrame) -> Labels:
        # Correlations that differ only by rounding count as equal: then the smallest b
        # is chosen.
        ranked = rows.drop_nulls("rho").sort(
            col("rho").round(9), "b", descending=[True, False]
        )
        best = ranked.unique("n0", keep="first", maintain_order=True).sort("n0")
        _draw_curve(axes, "", *_read_columns(best, "n0", *names), marker="o")
        return "n0", label

    return draw


def _read_family_name(name: str) -> str:
    """Return the part of a name before the comma, which is the family name."""
    return name.split(",")[0]


def _build_career_panel(name: str, low: str, high: str) -> Panel:
    labels = ("year", f"ponderated conformance {name}")
    return _build_curves_panel("player", ("year", name, low, high), *labels, marker="o")


#: Figures by name, in the order of the manual: the table that a figure shows, and its
#: panels from left to right.
FIGURES: dict[str, tuple[str, *tuple[Panel, ...]]] = {
    "ferreira-3": ("ferreira-distribution", _draw_distribution),
    "ferreira-6": (
        "ferreira-curve",
        _build_curves_panel(
            "player", ("moves", "d"), "moves", "Elo against the engine"
        ),
    ),
    "alliot-1": ("alliot-depths", _draw_depths),
    "alliot-2": ("alliot-evaluations", _draw_shortfalls),
    "alliot-3": ("alliot-conformance-distribution", _draw_conformances),
    "alliot-4": ("alliot-conformance-results", _draw_correlation),
    "alliot-5": (
        "alliot-conformance-results",
        _build_x_panel("alpha", "alpha (result where p(x) is alike)"),
        _build_x_panel("beta", "beta (result for each 1 of p(x))"),
    ),
    "alliot-6": ("alliot-conformance-distribution", _draw_colors),
    "alliot-6-right": ("alliot-evaluations", _draw_within_30),
    "alliot-7": ("alliot-matches", _draw_matches),
    "alliot-7-right": (
        "alliot-match-conformance",
        _build_match_panel("difference", label="p(x) of the winner less the loser"),
    ),
    "alliot-8": (
        "alliot-match-conformance",
        _build_match_panel("p(x)", "low", "high", label="p(x) of the winner"),
        _build_match_panel(
            "opponent's p(x)",
            "opponent's low",
            "opponent's high",
            label="p(x) of the loser",
        ),
    ),
    "alliot-9": ("alliot-outcomes", _draw_outcomes),
    "alliot-10": ("alliot-differences", _draw_convolutions),
    "alliot-11": ("alliot-convolution-grid", _draw_grid),
    "alliot-12": (
        "alliot-convolution-grid",
        _build_best_panel("b of the best correlation, pawns", "b"),
        _build_best_panel(
            "best correlation with results, 95 % interval", "rho", "low", "high"
        ),
    ),
    "alliot-13": (
        "alliot-highest",
        _build_curves_panel(
            "player",
            ("highest_cp", "score", "low", "high"),
            "highest evaluation reached, centipawns",
            "score",
            marker="o",
        ),
    ),
    "alliot-14": ("alliot-evaluations", _draw_positions),
    "alliot-15": ("alliot-classes", _draw_classes),
    "career": (
        "career",
        _build_career_panel("p(0)", "low 0", "high 0"),
        _build_career_panel("p(0.3)", "low", "high"),
    ),
}
