"""How things are written and drawn: by their cells, safely, as people read them;
nothing lies.
"""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace
from rich.cells import cell_len

from live.messages.figures import (
    AnalysedPlayer,
    Curves,
    PlayerMethods,
    PlayerView,
    PlyView,
    Share,
)
from live.screens.terminal import printed
from live.screens.terminal.board_view import draw_moves, find_signs
from live.screens.terminal.players_view import list_players
from live.screens.terminal.text import (
    align_left,
    align_right,
    fit,
    fit_name,
    is_whites_clock_running,
    plain,
    wrap_texts,
    write_figure,
    write_move,
    write_odds,
    write_score,
)
from tests.screens.terminal.sample_boards import ENGINE, detail, drawn, full_point
from tests.screens.terminal.stage import Stage


@given(st.text(max_size=60), st.integers(0, 40))
def test_every_text_is_brought_to_its_cells(text: str, width: int) -> None:
    safe = plain(text)
    assert cell_len(fit(safe, width)) <= width
    assert cell_len(align_left(safe, width)) == width
    assert cell_len(align_right(safe, width)) == width
    assert cell_len(plain(text, width)) <= width


@pytest.mark.parametrize(
    "text",
    [
        "丁立人 " * 30,
        "韦奕" * 60,
        "김민 Ναυσικά " * 12,
        "Larino Nieto, David " * 9,
        "A" * 300,
    ],
)
def test_wrapped_text_stays_in_its_cells_and_loses_no_letter(text: str) -> None:
    lines = wrap_texts([(text, ""), ("short", "warn")], 30, 2)
    assert max(line.cell_len for line in lines) <= 30
    assert all(line.plain.startswith("  ") for line in lines)
    said = "".join(line.plain for line in lines[:-1])
    assert "".join(said.split()) == "".join(text.split())
    assert lines[-1].plain == "  short"


@example("O\x1f\u0328")
@example("O\ufe0f\u0328")
@given(st.text(max_size=200))
def test_plain_text_moves_no_cursor_and_turns_no_line(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    for char in plain(text):
        assert unicodedata.category(char)[0] != "C"
        assert unicodedata.category(char) not in ("Zl", "Zp")


def test_names_are_left_alone() -> None:
    for name in (
        "Muñoz, Zoë",
        "Đorđević",
        "Nguyễn Ngọc Trường Sơn",
        "丁立人",
        "Иванов",
        "김민",
    ):
        assert plain(name) == unicodedata.normalize("NFC", name)


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (19, "Larino Nieto, David"),
        (18, "Larino Nieto, D."),
        (15, "Larino Nieto"),
        (11, "Larino Nie…"),
    ],
)
def test_a_given_name_gives_way_before_the_surname(width: int, shown: str) -> None:
    assert fit_name("Larino Nieto, David", width) == shown
    assert fit_name("Bobby", width) == "Bobby"


def test_pictures_become_a_sign_of_one_cell_and_marks_do_not_pile_up() -> None:
    for text, safe in (
        ("A👍🏽B", "A□□B"),
        ("👩‍👩‍👧", "□□□"),
        ("☕\ufe0f", "□"),
        ("\u0301\u0301a", "a"),
        ("\u1160x\u11ff", "□x□"),
        ("e" + "\u0301" * 5000, "é" + "\u0301" * 2),
    ):
        assert plain(text) == safe


@pytest.mark.parametrize(
    ("cp", "mate", "text"),
    [
        (None, None, "·"),
        (35, None, "+0.35"),
        (-1204, None, "-12.04"),
        (0, None, "+0.00"),
        (3900, 5, "#5"),
        (-3900, -3, "#-3"),
        (-3900, 0, "#"),
        (3900, None, "+39"),
    ],
)
def test_scores_in_few_cells(cp: int | None, mate: int | None, text: str) -> None:
    assert write_score(PlyView(1, "e4", "", score_cp=cp, mate=mate, final=True)) == text


def test_odds_add_up() -> None:
    assert write_odds(0.125, 0.5) == "13/50/37"
    assert write_odds(0.455, 0.395) == "46/39/15"
    for win, draw in ((0.005, 0.005), (1 / 3, 1 / 3), (0.994, 0.001)):
        assert sum(map(int, write_odds(win, draw).split("/"))) == 100


def test_moves_are_numbered_from_the_starting_position() -> None:
    game = detail()
    assert write_move(game, PlyView(1, "e4", "e2e4")) == "1.e4"
    assert write_move(game, PlyView(24, "Nf6", "g8f6")) == "12...Nf6"
    black_first = replace(game, start_fen="8/8/8/8/8/8/8/K6k b - - 0 40")
    assert write_move(black_first, PlyView(1, "Kg2", "h1g2")) == "40...Kg2"
    assert write_move(black_first, PlyView(2, "Ka2", "a1a2")) == "41.Ka2"


def test_the_clock_of_the_side_to_move_runs() -> None:
    game = detail()
    assert (
        is_whites_clock_running(game, 2) is True
        and is_whites_clock_running(game, 1) is False
    )
    assert is_whites_clock_running(game, 0) is None
    stopped = (
        {"result": "1-0"},
        {"problem": "illegal move"},
        {"termination": "adjourned"},
    )
    for over in (*stopped, {"restored": True}):
        assert is_whites_clock_running(replace(game, **over), 2) is None
    assert (
        is_whites_clock_running(
            replace(game, problem="not read: white.elo (a list)"), 2
        )
        is True
    )


def player(
    name: str, perceived: int | None = None, percentile: float | None = None
) -> PlayerView:
    return PlayerView(
        name, name, 2000, 1, 30, -12.5, 30, perceived, percentile=percentile, score=0.3
    )


def test_tables_list_the_best_first_and_say_why_a_figure_is_missing() -> None:
    players = [
        player("Early", 2900),
        player("Beta", 2300, 40.0),
        player("Alpha", 2100, 60.0),
    ]
    engine = replace(ENGINE, models=(), note="none for Stockfish 15.1, 3000 nodes")
    text = drawn(
        printed.build_players_table(players, engine, "same-search", width=80), 80
    )
    assert text.index("Alpha") < text.index("Beta") < text.index("Early")
    assert "Ranked by “better than”" in text and "no model reads the scores" in text
    assert engine.note[1:] in " ".join(text.split())
    curves = Curves(white=(full_point(1),), black=(full_point(2, 1790.0),))
    game = replace(detail(result="1-0"), curves=curves)
    wide, text = (
        drawn(printed.build_games_table([game], ENGINE, "same-search", width=x), x)
        for x in (100, 80)
    )
    assert (
        all(each in text for each in ("1.1 ", "1-0", "2441", "1790"))
        and "2180–2750" in wide
    )


def test_an_early_figure_of_a_game_is_called_early() -> None:
    early = replace(full_point(1), counted=9, percentile=None)
    curves = Curves(white=(early,), black=(full_point(2, 1790.0),))
    game = replace(detail(result="1-0"), curves=curves)
    text = drawn(printed.build_games_table([game], ENGINE, "same-search", width=80), 80)
    assert "2441 early" in text and "1790 early" not in text


def test_the_table_of_methods_has_these_columns() -> None:
    found = PlayerMethods(conformance=Share(0.8125, 0.7, 0.9, 32), accuracy=91.4)
    view = AnalysedPlayer(**asdict(player("[b]Anna")), methods=found)
    text = drawn(printed.build_methods_table([view], width=90), 90)
    row = next(line for line in text.splitlines() if "[b]Anna" in line)
    assert row.split() == ["[b]Anna", "81", "%", "70–90", "91.4"]
    assert "A2 p30 95 % 1st 95 % Loss" in " ".join(text.split())


@pytest.mark.parametrize("width", [50, 60, 74, 80, 200])
def test_the_ranking_is_whole_at_any_width(width: int) -> None:
    """Names give way, figures never: 80 columns is what a pipe has."""
    stage = Stage()
    views = list(stage.client_state.players())
    text = drawn(
        printed.build_players_table(
            views, stage.client_state.engine(), "same-search", width=width
        ),
        width,
    )
    assert max(map(cell_len, text.splitlines())) <= width
    for view in views:
        assert view.perceived is not None
        assert view.usual_low is not None and view.usual_high is not None
        assert f"{view.perceived:.0f}" in text
        assert f"{view.usual_low:.0f}–{view.usual_high:.0f}" in text
        assert str(view.elo) in text and view.name[:12] in text
    assert ("Algorithm 4" in text) == ("a scale of its own" in text) == (width >= 93)


NOBODY = PlayerView("n", "Nobody", None, 1, 0, None)


def test_players_without_a_percentile_follow_by_rating_without_a_place() -> None:
    figures = {
        "a": (2300, 62.2, 20),
        "b": (1700, 61.8, 20),
        "c": (2200, 40.0, 20),
        "early": (2100, None, 9),
        "no Elo": (2900, None, 20),
    }
    views = [
        replace(NOBODY, id=id, perceived=perceived, percentile=percent, counted=counted)
        for id, (perceived, percent, counted) in figures.items()
    ]
    rows = list_players(views, "", "percentile")
    assert [(row.view.id, row.place_text) for row in rows] == [
        ("a", "1="),
        ("b", "1="),
        ("c", "3"),
        ("no Elo", ""),
        ("early", ""),
    ]
    for row in rows[3:]:
        assert write_figure("percentile", row.view) == row.view.id
    assert {row.place_text for row in list_players(views, "", "points")} == {""}


def test_a_first_choice_is_no_mistake() -> None:
    game = detail()
    fell = replace(game.plies[1], score_cp=900, gain_cp=-400, final=True)
    for ply, sign in ((fell, "??"), (replace(fell, gain_cp=0), "")):
        assert find_signs(replace(game, plies=(game.plies[0], ply)))[1] == sign


@pytest.mark.parametrize("width", [60, 80])
def test_a_first_move_of_black_is_in_the_column_of_black(width: int) -> None:
    game = detail()
    begun_by_black = replace(
        game,
        start_fen=game.start_fen.replace(" w ", " b "),
        plies=(replace(game.plies[1], ply=1),),
    )
    _, both = draw_moves(game, 0, width)
    _, alone = draw_moves(begun_by_black, 0, width)
    assert alone.plain.index("c5") == both.plain.index("c5")
