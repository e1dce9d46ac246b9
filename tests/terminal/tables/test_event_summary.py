"""Tables for reading after the event."""

from __future__ import annotations

import msgspec
import pytest
from rich.cells import cell_len

from live.events import Curves, PlayerMethods, PlayerView, Share
from live.terminal.tables import event_summary
from tests.terminal.drawing import drawn
from tests.terminal.sample_boards import ENGINE, detail, full_point
from tests.terminal.stage import Stage


def player(name: str, perceived: float | None = None, counted: int = 30) -> PlayerView:
    return PlayerView(name, name, 2000, 1, counted, -12.5, counted, perceived, score=0.3)


def test_players_are_listed_by_the_perceived_rating_and_the_early_last() -> None:
    players = [player("Early", 2900.0, 9), player("Beta", 2100.0), player("Alpha", 2300.0)]
    text = drawn(event_summary.players(players, ENGINE, "same-search", width=80), 80)
    assert text.index("Alpha") < text.index("Beta") < text.index("Early")
    assert "By “playing like”" in text


def test_without_a_model_the_reason_stands_below() -> None:
    note = "none for Stockfish 15.1, 3000 nodes; its scores do not fit"
    engine = msgspec.structs.replace(ENGINE, models=(), note=note)
    text = drawn(event_summary.players([], engine, "same-search", width=80), 80)
    assert note in " ".join(text.split()) and "no model reads the scores" in text


def test_the_table_of_games_shows_both_players() -> None:
    curves = Curves(white=(full_point(1),), black=(full_point(2, 1790.0),))
    game = msgspec.structs.replace(detail(result="1-0"), curves=curves)
    text = drawn(event_summary.games([game], ENGINE, "same-search", width=80), 80)
    assert all(each in text for each in ("1-0", "2441", "1790", "2180–2750"))


def test_other_methods_are_empty_where_they_cannot_say() -> None:
    methods = PlayerMethods(conformance=Share(0.8125, 0.7, 0.9, 32), accuracy=91.4)
    view = msgspec.structs.replace(player("[b]Anna"), methods=methods)
    text = drawn(event_summary.methods([view], width=90), 90)
    row = next(line for line in text.splitlines() if "[b]Anna" in line)
    assert row.split() == ["[b]Anna", "81", "%", "70–90", "91.4"]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_ranking_is_whole_at_any_width(width: int) -> None:
    """Names give way, figures never: 80 columns is what a pipe has."""
    stage = Stage()
    views = list(stage.client_state.players())
    text = drawn(
        event_summary.players(views, stage.client_state.engine(), "same-search", width=width), width
    )
    assert max(map(cell_len, text.splitlines())) <= width
    for view in views:
        assert view.perceived is not None
        assert view.usual_low is not None and view.usual_high is not None
        assert f"{view.perceived:.0f}" in text
        assert f"{view.usual_low:.0f}–{view.usual_high:.0f}" in text
        assert str(view.elo) in text
