"""The columns that there are for these players."""

from __future__ import annotations

from msgspec.structs import replace

from live.events import PlayerView, PluginFigure
from live.terminal.players.player_list import listed, offered

NOBODY = PlayerView("n", "Nobody", None, 1, 0, None, None, None, None, None, None, None, None)


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
    assert [column.text(view) for view in views] == ["41.2 (-3.0–60.0)", "50", ""]
    rows = listed(views, "", "plugin captures", reverse=False)
    assert [(row.view.id, row.place) for row in rows] == [("b", "1"), ("a", "2"), ("n", "")]
