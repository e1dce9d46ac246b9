"""Curves in characters: joined, whole, on one axis of moves; nothing unknown is
drawn.
"""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from live.messages.figures import Curves, GameDetail, PlyView
from live.screens.terminal.charts import (
    AXIS,
    LEAST_PLIES,
    BraillePlot,
    draw_ratings,
    draw_scores,
    draw_sparkline,
    find_costly_moves,
)
from tests.screens.terminal.sample_boards import detail, full_point, point

BLANK = "\u2800"
WIDTH, HEIGHT = 66, 12


def game_of(scores: Sequence[int | None], perceived: Sequence[float]) -> GameDetail:
    """A game with these scores after each ply, and White's perceived rating after each
    move.
    """
    plies = tuple(
        PlyView(
            ply,
            "Ka1" if ply % 2 else "Kh8",
            "a2a1",
            score_cp=score,
            final=score is not None,
        )
        for ply, score in enumerate(scores, 1)
    )
    points = tuple(full_point(2 * at + 1, elo) for at, elo in enumerate(perceived))
    return replace(detail(), start_score_cp=0, plies=plies, curves=Curves(white=points))


def drawn(game: GameDetail, figure: str = "perceived") -> list[str]:
    return [line.plain for line in draw_ratings(game, figure, 2160, WIDTH, HEIGHT)]


@pytest.mark.parametrize("perceived", [[2400.0] * 20, [2400.0] * 10 + [1300.0] * 10])
def test_a_line_is_joined_from_its_first_to_its_last_move(
    perceived: list[float],
) -> None:
    lines = drawn(game_of([0] * 40, perceived))
    # Own Elo and the edges of what is usual stand in other rows.
    plot = BraillePlot((WIDTH - AXIS, 1), 40, (0.0, 1.0))
    first, last = (AXIS + plot.find_column(ply) for ply in (1, 39))
    for column in range(first + 1, last - 1):
        assert any(
            "\u2801" <= line.ljust(WIDTH)[column] <= "\u28ff" for line in lines
        ), column


def test_nothing_is_clipped_where_the_drama_is() -> None:
    lines = drawn(game_of([0] * 40, [2900.0] * 10 + [900.0] * 10))
    assert len(lines) == HEIGHT and max(map(len, lines)) <= WIDTH
    low, high = int(lines[-1][: AXIS - 1]), int(lines[0][: AXIS - 1])
    assert low <= 900 and high >= 2900
    assert any("○" in line[AXIS:] for line in lines[-2:])


@pytest.mark.parametrize("black_elo", [2459, 2457, 2463])
def test_own_elos_that_are_close_have_a_label_each(black_elo: int) -> None:
    game = game_of([0] * 40, [2400.0] * 20)
    lines = drawn(replace(game, black=replace(game.black, elo=black_elo)))
    assert any(line.startswith("2459○┤") for line in lines)
    assert any(line.startswith(f"{black_elo}●┤") for line in lines)


def count_dots(line: str) -> int:
    return sum(char in "⠁⠈⠂⠐⠄⠠⡀⢀" for char in line)


def test_own_elo_is_dashed_and_named_and_the_band_dotted() -> None:
    lines = drawn(game_of([0] * 40, [2400.0] * 20))
    assert any(line.startswith("2459○┤") and "┈┈┈" in line for line in lines)
    dots = [count_dots(line) for line in lines]
    assert len([count for count in dots if count >= 8]) == 2
    assert max(dots) < WIDTH / 2, "dots side by side look like a curve"
    game = replace(
        game_of([0] * 40, [2400.0] * 20), white=replace(detail().white, elo=None)
    )
    assert not any("○┤" in line for line in drawn(game))


def test_the_moves_that_cost_ten_points_are_named_and_no_others() -> None:
    scores = [0] * 20 + [-300] * 20
    game = game_of(scores, [2400.0] * 10 + [2250.0] * 10)
    assert find_costly_moves(game) == [21]
    named = [line for line in drawn(game) if "▼" in line]
    assert len(named) == 1 and "▼11.Ka1" in named[0]
    assert find_costly_moves(game_of([0, -60, 0, 40], [])) == []
    assert find_costly_moves(game_of([0, None, -900, None], [])) == []


@pytest.mark.parametrize(
    ("judgement", "named"),
    [
        ({"best": "a2a1"}, []),
        ({"best": "b2b1", "gain_same_search_cp": 0}, []),
        ({"best": "b2b1", "gain_same_search_cp": -300}, [21]),
    ],
)
def test_a_move_to_which_there_was_no_better_one_is_not_named(
    judgement: dict[str, object], named: list[int]
) -> None:
    game = game_of([0] * 20 + [-300] * 20, [2400.0] * 20)
    plies = list(game.plies)
    plies[20] = replace(plies[20], **judgement)
    assert find_costly_moves(replace(game, plies=tuple(plies))) == named


def test_ratings_and_score_have_one_axis() -> None:
    game = game_of([0] * 39 + [900], [2400.0] * 20)
    cursor = [line.plain.rfind("┊") for line in draw_scores(game, 40, WIDTH, 8)]
    assert max(cursor) in (WIDTH - 2, WIDTH - 1)
    ends = [line.rfind("○") for line in drawn(game)]
    assert max(ends) in (WIDTH - 4, WIDTH - 3, WIDTH - 2)


def test_an_unknown_score_is_no_zero() -> None:
    chart = draw_scores(game_of([0, None], []), 99, WIDTH, 8)
    lines = [line.plain.ljust(WIDTH)[:WIDTH] for line in chart]
    columns = ["".join(column) for column in zip(*lines, strict=True)][AXIS:]
    at = BraillePlot((WIDTH - AXIS, 1), LEAST_PLIES, (0.0, 1.0)).find_column(2)
    assert "·" in columns[at] and "·" not in columns[0] and columns[0].strip()


def test_without_a_figure_it_says_so() -> None:
    assert (
        "the curve begins with the fifth counted move"
        in drawn(
            replace(
                game_of([], []),
                white=replace(detail().white, elo=None),
                black=replace(detail().black, elo=None),
            )
        )[0]
    )


def test_before_the_first_figure_the_own_elos_are_there_and_the_reason() -> None:
    lines = drawn(game_of([], []))
    assert any("the curve begins with the fifth counted move" in each for each in lines)
    assert any("2459○┤" in each for each in lines)


def test_the_other_figure_is_on_its_own_scale() -> None:
    game = replace(
        detail(), curves=Curves(white=tuple(point(ply, 2700.0) for ply in (1, 3, 5)))
    )
    lines = drawn(game, "algorithm4")
    assert not any("2459○" in line for line in lines)
    assert any("95 %" in line for line in lines) and not any(
        "usual" in line for line in lines
    )
    assert int(lines[0][: AXIS - 1]) > 2700


def test_a_sparkline_shows_the_newest_in_its_cells() -> None:
    assert draw_sparkline((), 6) == ""
    assert len(draw_sparkline((2400.0,) * 90, 6)) == 6
    rising, falling = (
        draw_sparkline((2000.0, 2600.0), 6),
        draw_sparkline((2600.0, 2000.0), 6),
    )
    assert rising != falling and BLANK not in rising
    assert len({*draw_sparkline((2400.0,) * 12, 6)}) == 1


def test_words_never_cover_a_line_or_each_other() -> None:
    plot = BraillePlot((20, 3), 40, (2000.0, 2400.0))
    plot.draw_line([(0, 2200.0), (40, 2200.0)], "")
    assert plot.write((20, 2200.0), "▼one", "") and plot.write((20, 2200.0), "▼two", "")
    assert not plot.write((20, 2200.0), "▼three", "")
    text = "\n".join(line.plain for line in plot.draw_rows({}))
    assert "▼one" in text and "▼two" in text and text.count("⠒") + text.count("⠤") >= 18
