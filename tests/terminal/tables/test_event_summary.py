"""Tables for reading after the event."""

from __future__ import annotations

import msgspec
import pytest
from rich.cells import cell_len

from live.events import PlayerMethods, PlayerView, Share
from live.ledger.players.leading_figure import figure
from live.terminal.figure_text import figure_interval, figure_text
from live.terminal.tables import event_summary
from tests.terminal.drawing import drawn
from tests.terminal.sample_boards import ENGINE, detail
from tests.terminal.stage import Stage


def test_players_are_listed_by_what_is_known_of_them() -> None:
    def player(name: str, expected: float | None) -> PlayerView:
        return PlayerView(name, name, 2000, 1, 30, -12.5, expected, None, None, None, None, None,
                          2034.0 if expected == 0 else None)  # fmt: skip

    players = [player("A", None), player("B", 0.0), player("C", 0.3)]
    text = drawn(event_summary.players(players, ENGINE, "same-search", width=80), 80)
    assert text.index("B ") < text.index("A ") < text.index("C ")
    assert "By algorithm 4" in text
    assert "-0.12" in text or "-0.13" in text


def test_without_a_calibration_the_reason_stands_below() -> None:
    note = "none for Stockfish 15.1, 3000 nodes; its scores do not fit"
    engine = msgspec.structs.replace(ENGINE, calibration=None, calibration_note=note)
    text = drawn(event_summary.players([], engine, "same-search", width=80), 80)
    assert note in " ".join(text.split())


def test_the_table_of_games_compares_both_players() -> None:
    text = drawn(event_summary.games([detail(result="1-0")], ENGINE, "same-search", width=80), 80)
    assert "1-0" in text
    assert "0.61" in text


def test_other_methods_are_empty_where_they_cannot_say() -> None:
    view = PlayerView("a", "[b]Anna", 2000, 1, 30, -12.5, 0.3, -148.0, None, None, None, None, None,
                      methods=PlayerMethods(conformance=Share(0.8125, 0.7, 0.9, 32),
                                            tournament_difference=-12,
                                            accuracy_so_far=91.4))  # fmt: skip
    text = drawn(event_summary.methods([view], width=90), 90)
    row = next(line for line in text.splitlines() if "[b]Anna" in line)
    assert row.split() == ["[b]Anna", "-12", "0.81", "0.70–0.90", "~91", "%"]


def test_figures_of_some_moves_are_not_shown_as_those_of_all() -> None:
    def shown(methods: PlayerMethods) -> str:
        view = PlayerView("a", "Anna", 2000, 1, 30, -12.5, 0.3, -148.0, None, None, None, None,
                          None, methods=methods)  # fmt: skip
        return drawn(event_summary.methods([view], width=90), 90)

    part = shown(PlayerMethods(accuracy_so_far=100.0, centipawn_loss_so_far=0.0))
    assert "~100 %" in part and "some moves are not scored" in part
    whole = shown(PlayerMethods(accuracy_so_far=100.0, accuracy=100.0,
                                centipawn_loss_so_far=0.0, centipawn_loss=0.0))  # fmt: skip
    assert "100 %" in whole and "~" not in whole and "not scored" not in whole


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
        found = figure(view, "performance")
        assert figure_text(found) in text and figure_interval(found) in text
        assert str(view.elo) in text
