"""Figures of the papers, drawn from their tables. Needs matplotlib; the same bytes every time."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from live.corpus.tables.study_table import Cell, StudyTable
from live.errors import ConfigError

#: Curves in one figure; more are a knot.
_MOST_CURVES: Final = 8
_SIZE_INCHES: Final = (9.0, 5.5)


class StudyFigure(NamedTuple):
    """Which table a figure shows, and how."""

    table: str
    draw: Callable[[Any, StudyTable], None]


def drawn(name: str, table: StudyTable, form: str) -> bytes:
    """A figure as PNG or SVG. Raises ConfigError without matplotlib, and for an empty table."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(
            "study figure", "matplotlib is not installed", "Run: pip install 'live-rate[study]'"
        ) from None
    if not table.rows:
        raise ConfigError(
            f"study figure {name}",
            "nothing in this selection",
            "See study table, or select other players, events or years",
        )
    figure = Figure(figsize=_SIZE_INCHES, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    FIGURES[name].draw(axes, table)
    axes.set_title(table.title, loc="left")
    figure.text(0.01, 0.005, f"{table.source}. {table.engine}", fontsize=6, color="0.4")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=8, frameon=False)
    axes.grid(alpha=0.25)
    out = io.BytesIO()
    # Without date, and with ids that do not depend on chance.
    with mpl.rc_context({"svg.hashsalt": table.name, "svg.fonttype": "none"}):
        about: dict[str, Any] = {"Software": None} if form == "png" else {"Date": None}
        figure.savefig(out, format=form, dpi=120, metadata=about)
    return out.getvalue()


def _column(table: StudyTable, name: str) -> int:
    return next(index for index, each in enumerate(table.columns) if each.name == name)


def _curves(table: StudyTable, group: str, *names: str) -> Iterator[tuple[str, list[list[Cell]]]]:
    """Columns by the words of one of them, in order of first appearance."""
    at, wanted = _column(table, group), [_column(table, name) for name in names]
    groups: dict[str, list[list[Cell]]] = {}
    for row in table.rows:
        held = groups.setdefault(str(row[at]), [[] for _ in wanted])
        for values, index in zip(held, wanted, strict=True):
            values.append(row[index])
    yield from list(groups.items())[:_MOST_CURVES]


def _distribution(axes: Any, table: StudyTable) -> None:
    for player, (gains, shares) in _curves(table, "player", "gain_cp", "share"):
        near = [(g, s) for g, s in zip(gains, shares, strict=True) if -150 <= float(g or 0) <= 100]
        axes.step([g for g, _ in near], [s for _, s in near], where="mid", label=player, lw=1)
    axes.set_yscale("log")
    axes.set_xlabel("gain, centipawns")
    axes.set_ylabel("share of moves (logarithmic)")


def _career(axes: Any, table: StudyTable) -> None:
    names = ("year", "p(0.3)", "low", "high")
    for player, (years, shares, lows, highs) in _curves(table, "player", *names):
        [line] = axes.plot(years, shares, marker="o", ms=3, lw=1.2, label=player)
        known = [low is not None for low in lows]
        axes.fill_between(
            years,
            [low if low is not None else 0.0 for low in lows],
            [high if high is not None else 1.0 for high in highs],
            where=known,
            alpha=0.15,
            color=line.get_color(),
        )
    axes.set_xlabel("year")
    axes.set_ylabel("ponderated conformance, p(0.3), with 95 % interval")


def _rho(axes: Any, table: StudyTable) -> None:
    for kind, (steps, rho) in _curves(table, "conformance", "x_cp", "rho"):
        axes.plot(steps, rho, lw=1.2, label=kind)
    axes.axvline(30, color="0.6", lw=0.8, ls=":")
    axes.set_xlabel("x, centipawns")
    axes.set_ylabel("correlation of p(x) with the result")


def _beta(axes: Any, table: StudyTable) -> None:
    for kind, (steps, beta) in _curves(table, "conformance", "x_cp", "beta"):
        axes.plot(steps, beta, lw=1.2, label=kind)
    axes.set_xlabel("x, centipawns")
    axes.set_ylabel("beta")


def _band(axes: Any, table: StudyTable, x: str, y: str, label: str) -> None:
    columns = [_column(table, name) for name in (x, y, "low", "high")]
    at, middle, low, high = ([row[index] for row in table.rows] for index in columns)
    axes.plot(at, middle, marker="o", ms=3, lw=1.2)
    axes.fill_between(at, low, high, alpha=0.2)
    axes.set_xlabel(f"{x.removesuffix('_cp')}, centipawns")
    axes.set_ylabel(f"{label}, with 95 % interval")


def _evaluations(axes: Any, table: StudyTable) -> None:
    _band(axes, table, "evaluation_cp", "conformance", "mean conformance, centipawns")


def _highest(axes: Any, table: StudyTable) -> None:
    _band(axes, table, "highest_cp", "score", "White's score")


def _positions(axes: Any, table: StudyTable) -> None:
    at = _column(table, "evaluation_cp"), _column(table, "moves")
    axes.bar([row[at[0]] for row in table.rows], [row[at[1]] for row in table.rows], width=18)
    axes.set_xlabel("evaluation, centipawns")
    axes.set_ylabel("positions")


def _conformances(axes: Any, table: StudyTable) -> None:
    at = _column(table, "conformance_cp")
    for color in ("white", "black"):
        index = _column(table, color)
        shown = [row for row in table.rows if 0 < int(row[at] or 0) < 200]
        axes.plot([row[at] for row in shown], [row[index] for row in shown], lw=1, label=color)
    axes.set_xlabel("conformance, centipawns (1 to 199)")
    axes.set_ylabel("moves")


def _colors(axes: Any, table: StudyTable) -> None:
    at = _column(table, "conformance_cp")
    both = [_column(table, f"{color} p(x)") for color in ("white", "black")]
    shown = [row for row in table.rows if int(row[at] or 0) <= 200]
    ahead = [100 * (float(row[both[0]] or 0) - float(row[both[1]] or 0)) for row in shown]
    axes.plot([row[at] for row in shown], ahead, lw=1.2)
    axes.axhline(0, color="0.6", lw=0.8)
    axes.set_xlabel("x, centipawns")
    axes.set_ylabel("p(x) of White less Black, percent")


#: By name, in the order of the manual.
FIGURES: Final[dict[str, StudyFigure]] = {
    "ferreira-distribution": StudyFigure("ferreira-distribution", _distribution),
    "alliot-2": StudyFigure("alliot-evaluations", _evaluations),
    "alliot-3": StudyFigure("alliot-conformance-distribution", _conformances),
    "alliot-4": StudyFigure("alliot-conformance-results", _rho),
    "alliot-5": StudyFigure("alliot-conformance-results", _beta),
    "alliot-6": StudyFigure("alliot-conformance-distribution", _colors),
    "alliot-13": StudyFigure("alliot-highest", _highest),
    "alliot-14": StudyFigure("alliot-evaluations", _positions),
    "career": StudyFigure("career", _career),
}
