"""Figures of the papers, drawn from their tables. Needs matplotlib; the same bytes every time."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import polars

from live.errors import ConfigError, InputError
from live.studies.study_data import StudyTable

#: Curves in one figure; more are a knot.
_MOST_CURVES: Final = 8
_WIDTH_INCHES: Final = (9.0, 12.5)
_HEIGHT_INCHES: Final = 5.5
_EVALUATION: Final = "evaluation, centipawns"
#: A mean of fewer moves is not drawn.
_ENOUGH_MOVES: Final = 20
#: Differences of gains are drawn in steps: at 1 cp they are a comb.
_STEP_CP: Final = 10
_THIN: Final = {"color": "0.6", "lw": 0.8}

Panel = Callable[[Any, "polars.DataFrame"], None]


class StudyFigure(NamedTuple):
    """Which table a figure shows, and its panels from left to right."""

    table: str
    panels: tuple[Panel, ...]


def drawn(name: str, table: StudyTable, form: str) -> bytes:
    """A figure as PNG or SVG.

    Raises:
        ConfigError: matplotlib is not installed.
        InputError: there is nothing to draw.
    """
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            "study figure", "matplotlib is not installed", "Run: pip install 'live-rate[study]'"
        ) from None
    if not table.rows:
        raise InputError(
            f"study figure {name}",
            "nothing in this selection",
            # Tables without a row say why.
            " ".join(table.notes) or "Select other players, events or years",
        )
    panels = FIGURES[name].panels
    names = [column.name for column in table.columns]
    rows = polars.DataFrame(
        table.rows, schema=names, orient="row", infer_schema_length=None, strict=False
    )
    size = (_WIDTH_INCHES[len(panels) - 1], _HEIGHT_INCHES)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    for axes, draw in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
        draw(axes, rows)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8, frameon=False)
    figure.suptitle(table.title, x=0.01, ha="left")
    figure.supxlabel(f"{table.source}. {table.engine}", x=0.01, ha="left", fontsize=6, color="0.4")
    out = io.BytesIO()
    # Without date, and with ids that do not depend on chance.
    with mpl.rc_context({"svg.hashsalt": table.name, "svg.fonttype": "none"}):
        about: dict[str, Any] = {"Software": None} if form == "png" else {"Date": None}
        figure.savefig(out, format=form, dpi=120, metadata=about)
    return out.getvalue()


def _curves(
    rows: polars.DataFrame, groups: Sequence[str], *names: str, most: int = _MOST_CURVES
) -> Iterator[tuple[str, list[list[Any]]]]:
    """Columns by group, in the order of the table; not more groups than can be told apart."""
    for key, part in itertools.islice(rows.group_by(groups, maintain_order=True), most):
        yield ", ".join(map(str, key)), [part[name].to_list() for name in names]


def _values(rows: polars.DataFrame, *names: str) -> list[list[Any]]:
    """Whole columns."""
    return [rows[name].to_list() for name in names]


def _with_band(
    axes: Any, label: str, columns: Sequence[Iterable[Any]], *, marker: str | None = "o"
) -> None:
    """A curve with its interval: x, y, low and high; a gap where something is not known."""
    x = list(columns[0])
    y, low, high = map(_known, columns[1:])
    [line] = axes.plot(x, y, marker=marker, ms=3, lw=1.2, label=label)
    color = line.get_color()
    axes.fill_between(x, low, high, alpha=0.15, color=color, lw=0)
    if len(x) == 1:
        axes.vlines(x, low, high, color=color, lw=1, alpha=0.6)


def _known(values: Iterable[Any]) -> list[float]:
    return [float("nan") if value is None else float(value) for value in values]


def _named(axes: Any, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _bands(
    groups: Sequence[str], names: Sequence[str], labels: tuple[str, str], marker: str | None = "o"
) -> Panel:
    """A curve with its interval for each group of rows."""

    def draw(axes: Any, rows: polars.DataFrame) -> None:
        for label, columns in _curves(rows, groups, *names):
            _with_band(axes, label, columns, marker=marker)
        _named(axes, *labels)

    return draw


def _lines(groups: Sequence[str], x: str, y: str, labels: tuple[str, str]) -> Panel:
    """A curve for each group of rows."""

    def draw(axes: Any, rows: polars.DataFrame) -> None:
        for label, (at, values) in _curves(rows, groups, x, y):
            axes.plot(at, _known(values), lw=1.2, label=label)
        _named(axes, *labels)

    return draw


def _by_color(
    axes: Any, rows: polars.DataFrame, x: str, name: str, labels: tuple[str, str], marker: str = ""
) -> None:
    """Columns called ``name`` with the colour."""
    for color, shade in (("white", "0.65"), ("black", "0.1")):
        at, values = _values(rows, x, name.format(color))
        axes.plot(at, _known(values), marker=marker, ms=3, lw=1.2, color=shade, label=color)
    _named(axes, *labels)


def _conformances(axes: Any, rows: polars.DataFrame) -> None:
    shown = rows.filter(polars.col("conformance_cp").is_between(1, 199))
    labels = ("conformance, centipawns (1 to 199)", "moves")
    _by_color(axes, shown, "conformance_cp", "{}", labels)


def _within(axes: Any, rows: polars.DataFrame) -> None:
    everybody = _enough(rows.filter(player=rows["player"][0]))
    labels = (_EVALUATION, "share within 30 cp")
    _by_color(axes, everybody, "evaluation_cp", "{} within 30", labels, "o")


def _enough(rows: polars.DataFrame) -> polars.DataFrame:
    """The rows on enough moves. Raises InputError where there is none."""
    found = rows.filter(rows["moves"] >= _ENOUGH_MOVES)
    if not len(found):
        problem = f"has no class of {_ENOUGH_MOVES} moves in this selection"
        raise InputError("alliot-evaluations", problem, "Select more games")
    return found


def _distribution(axes: Any, rows: polars.DataFrame) -> None:
    for player, (gains, shares) in _curves(rows, ["player"], "gain_cp", "share", most=4):
        share_of = dict(zip(gains, shares, strict=True))
        near = range(max(-150, min(gains)), min(100, max(gains)) + 1)
        # A gain that nobody had is a gap.
        values = _known(map(share_of.get, near))
        axes.plot(near, values, marker=".", ms=4, lw=0.8, label=player)
    axes.set_yscale("log")
    _named(axes, "gain, centipawns", "share of moves (logarithmic)")


def _rho(axes: Any, rows: polars.DataFrame) -> None:
    labels = ("x, centipawns", "correlation of p(x) with results")
    _lines(["conformance"], "x_cp", "rho", labels)(axes, rows)
    axes.axvline(30, ls=":", **_THIN)


def _shortfalls(axes: Any, rows: polars.DataFrame) -> None:
    names = ("evaluation_cp", "conformance", "low", "high")
    _bands(["player"], names, (_EVALUATION, "mean conformance, centipawns"))(axes, _enough(rows))


def _positions(axes: Any, rows: polars.DataFrame) -> None:
    [(player, (at, moves))] = _curves(rows, ["player"], "evaluation_cp", "moves", most=1)
    axes.bar(at, moves, width=18)
    _named(axes, f"evaluation, centipawns, {player}", "positions")


def _classes(axes: Any, rows: polars.DataFrame) -> None:
    for player, (at, counts) in _curves(rows, ["player"], "class", "positions", most=4):
        axes.plot(at, counts, marker="o", ms=3, lw=1.2, label=player)
    [(_, (at, edges))] = _curves(rows, ["player"], "class", "from_cp", most=1)
    words = ["below" if edge is None else str(edge) for edge in edges]
    axes.set_xticks(at, words, rotation=60, fontsize=8)
    _named(axes, "least evaluation of the class, centipawns", "positions")


def _colors(axes: Any, rows: polars.DataFrame) -> None:
    n = np.array([[max(1, rows[color].sum())] for color in ("white", "black")])
    shown = rows.filter(rows["conformance_cp"] <= 200)
    at, *columns = _values(shown, "conformance_cp", "white p(x)", "black p(x)")
    shares = np.array([_known(each) for each in columns])
    ahead = 100 * (shares[0] - shares[1])
    reach = 196 * np.sqrt((shares * (1 - shares) / n).sum(axis=0))
    label = "95 %, moves taken as independent"
    _with_band(axes, label, [at, ahead, ahead - reach, ahead + reach], marker=None)
    axes.axhline(0, **_THIN)
    _named(axes, "x, centipawns", "p(x) of White less Black, percent")


def _depths(axes: Any, rows: polars.DataFrame) -> None:
    counts = _curves(rows, ["from_ms", "to_ms"], "depth", "share", "searches", most=99)
    # The classes with the most searches, from the shortest time on.
    known = sorted(counts, key=lambda each: -sum(each[1][2]))[:_MOST_CURVES]
    known.sort(key=lambda each: int(each[0].split(",")[0]))
    for place, (label, (depths, shares, searches)) in enumerate(known):
        start, end = label.split(", ")
        # Depths between that no search ended at.
        share_of = dict(zip(depths, shares, strict=True))
        reached = range(min(depths), max(depths) + 1)
        axes.plot(
            reached,
            [100 * share_of.get(depth, 0.0) for depth in reached],
            marker="o",
            ms=3,
            lw=1.2,
            # Later classes darker, from light blue to navy.
            color=(0.75 - 0.75 * place / len(known), 0.85 - 0.7 * place / len(known), 0.9),
            label=f"{start} to {end} ms, {sum(searches)} searches",
        )
    _named(axes, "depth", "percent of the searches")


def _matches(axes: Any, rows: polars.DataFrame) -> None:
    shown = rows.head(40)
    at = list(range(len(shown)))
    for name, marker, style in (
        ("result", "o", {"color": "0.1", "label": "result"}),
        ("by p(0.3)", "D", {"ms": 5, "label": "expected from p(0.3)"}),
        ("by p(0)", "^", {"ms": 5, "label": "expected from perfect moves"}),
    ):
        axes.plot(_known(shown[name]), at, marker, **style)
    axes.axvline(0.5, **_THIN)
    names = [
        f"{_family(one)} - {_family(other)}\n{event[:32]}"
        for one, other, event in zip(*_values(shown, "player", "opponent", "event"), strict=True)
    ]
    axes.set_yticks(at, names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("points a game of the first named")


def _match_curves(*names: str, label: str) -> Panel:
    """Each match by x: with an interval where low and high are named too."""

    def draw(axes: Any, rows: polars.DataFrame) -> None:
        groups = ["player", "opponent", "event"]
        for _, (one, other, *columns) in _curves(
            rows, groups, "player", "opponent", "x_cp", *names, most=6
        ):
            words = f"{_family(one[0])} - {_family(other[0])}"
            if len(names) == 1:
                axes.plot(*columns, lw=1.2, label=words)
            else:
                _with_band(axes, words, columns, marker=None)
        if len(names) == 1:
            axes.axhline(0, **_THIN)
        else:
            # Winners and losers alike.
            lowest = min(map(min, _values(rows, "low", "opponent's low")))
            axes.set_ylim(math.floor(lowest * 20) / 20, 1.01)
        _named(axes, "x, centipawns", label)

    return draw


def _outcomes(axes: Any, rows: polars.DataFrame) -> None:
    at, tanh, *spline = _values(rows, "difference_cp", "tanh", "spline", "low", "high")
    axes.plot([at[0], 0, 0, at[-1]], [0, 0, 1, 1], lw=1.2, label="step (Ferreira)")
    axes.plot(at, tanh, lw=1.2, label="tanh, a = 1.16")
    words = "spline fitted to these games, 1 at +400 (95 %, but for its scale)"
    _with_band(axes, words, [at, *spline], marker=None)
    axes.set_ylim(-0.25, 1.25)
    _named(axes, "difference of two gains, centipawns", "worth to White")


def _convolved(axes: Any, rows: polars.DataFrame) -> None:
    column = polars.col
    place = (column("difference_cp") + _STEP_CP // 2) // _STEP_CP * _STEP_CP
    steps = rows.group_by("pairs", place, maintain_order=True).agg(column("share").sum())
    for n, columns in _curves(steps, ["pairs"], "difference_cp", "share"):
        # What is left of the steps at both ends is no whole step.
        at, shares = (each[1:-1] for each in columns)
        axes.plot(at, shares, lw=1.2, label=f"{n} pair{'s' if n != '1' else ''} of moves")
    axes.set_yscale("log", nonpositive="mask")
    axes.set_ylim(1e-5, 1)
    words = f"probability in steps of {_STEP_CP} cp (logarithmic)"
    _named(axes, "difference of the gains, centipawns", words)


def _grid(axes: Any, rows: polars.DataFrame) -> None:
    shades = rows.pivot("n0", index="b", values="rho", sort_columns=False).sort("b")
    across = sorted(map(int, shades.columns[1:]))
    highest = max(_known(rows["rho"].drop_nulls()))
    image = axes.contourf(
        across,
        shades["b"].to_list(),
        [_known(row) for row in shades.select(map(str, across)).rows()],
        levels=[math.ceil(highest * 50) / 50 - 0.4 + 0.02 * step for step in range(21)],
        extend="both",
        cmap="viridis",
    )
    axes.figure.colorbar(image, ax=axes, format="%.2f", label="correlation with results")
    axes.grid(False)
    _named(axes, "n0", "b, pawns")


def _best(rows: polars.DataFrame) -> polars.DataFrame:
    """By n0: the b of the best correlation, that, and its interval."""
    # Alike but for rounding: the least b counts.
    rho = polars.col("rho").round(9)
    ranked = rows.drop_nulls("rho").sort(rho, "b", descending=[True, False])
    return ranked.unique("n0", keep="first", maintain_order=True).sort("n0")


def _best_b(axes: Any, rows: polars.DataFrame) -> None:
    axes.plot(*_values(_best(rows), "n0", "b"), marker="o", ms=4, lw=1.2)
    _named(axes, "n0", "b of the best correlation, pawns")


def _best_rho(axes: Any, rows: polars.DataFrame) -> None:
    _with_band(axes, "", _values(_best(rows), "n0", "rho", "low", "high"))
    _named(axes, "n0", "best correlation with results, 95 % interval")


def _family(name: str) -> str:
    """The family name, where the name has it first."""
    return name.split(",")[0]


def _career(name: str, low: str, high: str, what: str) -> Panel:
    return _bands(["player"], ("year", name, low, high), ("year", f"ponderated conformance {what}"))


#: By name, in the order of the manual.
FIGURES: Final[dict[str, StudyFigure]] = {
    "ferreira-3": StudyFigure("ferreira-distribution", (_distribution,)),
    "ferreira-6": StudyFigure(
        "ferreira-curve",
        (_lines(["player"], "moves", "d", ("moves", "Elo against the engine")),),
    ),
    "alliot-1": StudyFigure("alliot-depths", (_depths,)),
    "alliot-2": StudyFigure("alliot-evaluations", (_shortfalls,)),
    "alliot-3": StudyFigure("alliot-conformance-distribution", (_conformances,)),
    "alliot-4": StudyFigure("alliot-conformance-results", (_rho,)),
    "alliot-5": StudyFigure(
        "alliot-conformance-results",
        tuple(
            _lines(["conformance"], "x_cp", name, ("x, centipawns", f"{name} {what}"))
            for name, what in (
                ("alpha", "(result where p(x) is alike)"),
                ("beta", "(result for each 1 of p(x))"),
            )
        ),
    ),
    "alliot-6": StudyFigure("alliot-conformance-distribution", (_colors,)),
    "alliot-6-right": StudyFigure("alliot-evaluations", (_within,)),
    "alliot-7": StudyFigure("alliot-matches", (_matches,)),
    "alliot-7-right": StudyFigure(
        "alliot-match-conformance",
        (_match_curves("difference", label="p(x) of the winner less the loser"),),
    ),
    "alliot-8": StudyFigure(
        "alliot-match-conformance",
        (
            _match_curves("p(x)", "low", "high", label="p(x) of the winner"),
            _match_curves(
                "opponent's p(x)", "opponent's low", "opponent's high", label="p(x) of the loser"
            ),
        ),
    ),
    "alliot-9": StudyFigure("alliot-outcomes", (_outcomes,)),
    "alliot-10": StudyFigure("alliot-differences", (_convolved,)),
    "alliot-11": StudyFigure("alliot-convolution-grid", (_grid,)),
    "alliot-12": StudyFigure("alliot-convolution-grid", (_best_b, _best_rho)),
    "alliot-13": StudyFigure(
        "alliot-highest",
        (
            _bands(
                ["player"],
                ("highest_cp", "score", "low", "high"),
                ("highest evaluation reached, centipawns", "score"),
            ),
        ),
    ),
    "alliot-14": StudyFigure("alliot-evaluations", (_positions,)),
    "alliot-15": StudyFigure("alliot-classes", (_classes,)),
    "career": StudyFigure(
        "career",
        (
            _career("p(0)", "low 0", "high 0", "p(0)"),
            _career("p(0.3)", "low", "high", "p(0.3)"),
        ),
    ),
}
