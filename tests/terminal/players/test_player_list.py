"""The columns that there are for these players."""

from __future__ import annotations

from msgspec.structs import replace

from live.events import PlayerView, PluginFigure
from live.terminal.players.player_list import RANKED, listed, offered

NOBODY = PlayerView("n", "Nobody", None, 1, 0, None)


def test_a_plugins_figure_is_a_column_under_its_name() -> None:
    wide = PluginFigure(name="captures", value=41.25, low=-3.0, high=60.0, digits=1)
    views = [
        replace(NOBODY, id="a", plugins=(wide,)),
        replace(NOBODY, id="b", plugins=(PluginFigure(name="captures", value=50.0),)),
        NOBODY,
    ]
    assert "plugin captures" not in {column.name for column in offered([NOBODY])}
    column = offered(views)[-1]
    assert (column.name, column.head) == ("plugin captures", "captures")
    assert [column.text(view, 2160) for view in views] == ["41.2 (-3.0–60.0)", "50", ""]
    rows = listed(views, "", "plugin captures", reverse=False)
    assert [(row.view.id, row.place) for row in rows] == [("b", "1"), ("a", "2"), ("n", "")]


def test_equal_numbers_are_ties_and_the_early_have_no_place() -> None:
    figures = {"a": (2300.2, 20), "b": (2299.8, 20), "c": (2200.0, 20), "d": (2900.0, 9)}
    views = [
        replace(NOBODY, id=id, perceived=perceived, counted=counted)
        for id, (perceived, counted) in figures.items()
    ]
    rows = listed(views, "", RANKED, reverse=False)
    places = [(row.view.id, row.place) for row in rows]
    assert places == [("a", "1="), ("b", "1="), ("c", "3"), ("d", "")]
    assert [row.place for row in listed(views, "", RANKED, reverse=True)] == ["3", "1=", "1=", ""]
