"""The columns of players: the catalogue's figures, and those of plugins."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from live.catalogue import (
    EARLY_MOVES,
    FIGURES,
    Figure,
    band_text,
    percentile_text,
    plugin_text,
    read,
    written,
)
from live.events import PlayerView, PluginFigure
from live.terminal.figure_text import perceived_text


class PlayerColumn(msgspec.Struct, frozen=True):
    """One figure of a player; ``text`` and ``value`` take what the engine counts, too."""

    name: str
    """For the list of columns."""
    head: str
    width: int
    text: Callable[[PlayerView, int], str]
    value: Callable[[PlayerView, int], float | None]
    """What is sorted by; None comes last."""
    explained: str
    shown: bool = True
    """Whether it is there at the start."""
    figure: Figure | None = None
    """Of the catalogue; None for a plugin's."""
    interval: bool = False
    least_is_best: bool = False


def _columns(figure: Figure) -> list[PlayerColumn]:
    def value(view: PlayerView, engine_rating: int) -> float | None:
        if figure.id == "percentile" and view.counted < EARLY_MOVES:
            return None
        return read(figure, view, engine_rating).value

    def text(view: PlayerView, engine_rating: int) -> str:
        found = value(view, engine_rating)
        if figure.id == "perceived":
            return perceived_text(found)
        if figure.id == "percentile":
            return "" if found is None else percentile_text(found).replace(" ", "")
        return written(figure, found)

    def ends(view: PlayerView, engine_rating: int) -> str:
        found = read(figure, view, engine_rating)
        if found.low is None or found.high is None:
            return ""
        if figure.kind in ("elo", "rating"):
            wide = figure.kind == "elo"
            return band_text(found.low, found.high) if wide else f"{found.low:.0f}–{found.high:.0f}"
        low, high = (written(figure, end).removesuffix(" %") for end in (found.low, found.high))
        return f"{low}–{high}"

    head = "Plays" if figure.id == "perceived" else figure.head
    columns = [
        PlayerColumn(
            figure.name,
            head,
            max(4, len(head)),
            text,
            value,
            figure.meaning,
            figure.usual,
            figure,
            least_is_best=figure.least_is_best,
        )
    ]
    if figure.low:
        name = f"{figure.name}, {figure.interval}"
        columns.append(
            PlayerColumn(
                name,
                figure.interval,
                9,
                ends,
                lambda view, engine_rating: read(figure, view, engine_rating).low,
                figure.meaning,
                figure.id == "perceived",
                figure,
                interval=True,
            )
        )
    return columns


def plugin_column(name: str) -> PlayerColumn:
    """The figure of the plugin of this name, with its interval where it gives one."""

    def found(view: PlayerView) -> PluginFigure | None:
        return next((each for each in view.plugins if each.name == name), None)

    def text(view: PlayerView, engine_rating: int) -> str:
        each = found(view)
        return "" if each is None else plugin_text(each)

    def value(view: PlayerView, engine_rating: int) -> float | None:
        each = found(view)
        return None if each is None else each.value

    explained = f"A figure of the plugin {name}, with its 95 % interval where it gives one."
    return PlayerColumn(f"plugin {name}", name[:16], 16, text, value, explained)


COLUMNS: tuple[PlayerColumn, ...] = tuple(
    column for figure in FIGURES for column in _columns(figure)
)
