"""Players in a list and in tables for reading after the event."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace
from rich.cells import cell_len

from live.events import Curves, PlayerMethods, PlayerView, PluginFigure, Share
from live.terminal import event_tables
from live.terminal.players_view import RANKED, listed, offered
from tests.terminal.sample_boards import ENGINE, detail, drawn, full_point
from tests.terminal.stage import Stage


def player(name: str, perceived: float | None = None, counted: int = 30) -> PlayerView:
    return PlayerView(name, name, 2000, 1, counted, -12.5, counted, perceived, score=0.3)


def test_players_are_listed_by_the_perceived_rating_and_the_early_last() -> None:
    players = [player("Early", 2900.0, 9), player("Beta", 2100.0), player("Alpha", 2300.0)]
    text = drawn(event_tables.players(players, ENGINE, "same-search", width=80), 80)
    assert text.index("Alpha") < text.index("Beta") < text.index("Early")
    assert "By “playing like”" in text


def test_without_a_model_the_reason_stands_below() -> None:
    note = "none for Stockfish 15.1, 3000 nodes; its scores do not fit"
    engine = msgspec.structs.replace(ENGINE, models=(), note=note)
    text = drawn(event_tables.players([], engine, "same-search", width=80), 80)
    assert note in " ".join(text.split()) and "no model reads the scores" in text


def test_the_table_of_games_shows_both_players() -> None:
    curves = Curves(white=(full_point(1),), black=(full_point(2, 1790.0),))
    game = msgspec.structs.replace(detail(result="1-0"), curves=curves)
    text = drawn(event_tables.games([game], ENGINE, "same-search", width=80), 80)
    assert all(each in text for each in ("1-0", "2441", "1790", "2180–2750"))


def test_other_methods_are_empty_where_they_cannot_say() -> None:
    methods = PlayerMethods(conformance=Share(0.8125, 0.7, 0.9, 32), accuracy=91.4)
    view = msgspec.structs.replace(player("[b]Anna"), methods=methods)
    text = drawn(event_tables.methods([view], width=90), 90)
    row = next(line for line in text.splitlines() if "[b]Anna" in line)
    assert row.split() == ["[b]Anna", "81", "%", "70–90", "91.4"]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_ranking_is_whole_at_any_width(width: int) -> None:
    """Names give way, figures never: 80 columns is what a pipe has."""
    stage = Stage()
    views = list(stage.client_state.players())
    text = drawn(
        event_tables.players(views, stage.client_state.engine(), "same-search", width=width), width
    )
    assert max(map(cell_len, text.splitlines())) <= width
    for view in views:
        assert view.perceived is not None
        assert view.usual_low is not None and view.usual_high is not None
        assert f"{view.perceived:.0f}" in text
        assert f"{view.usual_low:.0f}–{view.usual_high:.0f}" in text
        assert str(view.elo) in text


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
    assert [(row.view.id, row.text) for row in rows] == [("b", "1"), ("a", "2"), ("n", "")]


def test_equal_numbers_are_ties_and_the_early_have_no_place() -> None:
    figures = {"a": (2300.2, 20), "b": (2299.8, 20), "c": (2200.0, 20), "d": (2900.0, 9)}
    views = [
        replace(NOBODY, id=id, perceived=perceived, counted=counted)
        for id, (perceived, counted) in figures.items()
    ]
    rows = listed(views, "", RANKED, reverse=False)
    places = [(row.view.id, row.text) for row in rows]
    assert places == [("a", "1="), ("b", "1="), ("c", "3"), ("d", "")]
    assert [row.text for row in listed(views, "", RANKED, reverse=True)] == ["3", "1=", "1=", ""]
