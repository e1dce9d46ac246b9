"""All boards, their moments, and players: live/web/page/boards, live/web/page/players."""

from __future__ import annotations

import csv
import io
import re
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.events import (
    ComplexityView,
    CurvePoint,
    Curves,
    GameDetail,
    MomentKind,
    Player,
    PlayerMethods,
    PlayerView,
    Share,
)
from tests.web.conftest import Pages
from tests.web.page.games import HOSTILE, game, plain, ply, point

# --- boards order --------------------------------------------------------------------------------


def arranged(pages: Pages, games: list[GameDetail], **place: Any) -> list[str]:
    asked = {"q": "", "state": "all", "sort": "", "down": False, **place}
    found = pages.run("page/boards.js", "arranged", plain(games), asked)
    return [each["id"] for each in found]


def boards() -> list[GameDetail]:
    quiet = (ply(1, 10), ply(2, 15), ply(3, 5))
    wild = (ply(1, 10), ply(2, 400), ply(3, -150))
    strong = Curves(white=(point(19, 10, 2300.0),))
    early = Curves(white=(point(17, 9, 2500.0),))
    return [
        game("a", board=3, plies=wild, curves=early, white=Player("Zoë Müller")),
        game("b", board=1, plies=quiet, curves=strong, white=Player("adam", team="Nord")),
        game("c", board=2, plies=(), curves=Curves(), start_score_cp=None, result="1-0"),
    ]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", "bca"),
        ("board", "bca"),
        ("no such order", "bca"),
        ("swing", "abc"),
        ("close", "bac"),
        ("rating", "bca"),
        ("score", "bac"),
        ("moves", "bac"),
        ("white", "bca"),
    ],
)
def test_orders(pages: Pages, sort: str, order: str) -> None:
    assert "".join(arranged(pages, boards(), sort=sort)) == order


def test_events_that_are_pairings_do_not_come_before_boards(pages: Pages) -> None:
    games = [
        game("a", board=2, event="Round 1: Abel - Bo", white=Player("Abel"), black=Player("Bo")),
        game("b", board=1, event="Round 1: Cid - Dee", white=Player("Cid"), black=Player("Dee")),
    ]
    assert arranged(pages, games) == ["b", "a"]


def test_what_is_unknown_comes_last_both_ways(pages: Pages) -> None:
    assert arranged(pages, boards(), sort="swing", down=True) == ["b", "a", "c"]
    assert arranged(pages, boards(), down=True) == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("muller", "a"),
        ("MÜLLER zoe", "a"),
        ("nord", "b"),
        ("board 2", "c"),
        ("open", "bca"),
        ("nobody", ""),
        ("müller nord", ""),
        ("  ", "bca"),
        ("(.*", ""),
    ],
)
def test_the_filter_finds_words_without_case_and_accents(
    pages: Pages, text: str, found: str
) -> None:
    assert "".join(arranged(pages, boards(), q=text)) == found


def test_running_and_over(pages: Pages) -> None:
    assert arranged(pages, boards(), state="running") == ["b", "a"]
    assert arranged(pages, boards(), state="over") == ["c"]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    scores=st.lists(st.none() | st.integers(-3900, 3900), min_size=1, max_size=12),
    sort=st.sampled_from(["close", "swing", "rating", "clock", "score", "result", "black"]),
    down=st.booleans(),
)
def test_every_order_keeps_every_board(
    pages: Pages, scores: list[int | None], sort: str, down: bool
) -> None:
    games = [
        game(f"g{at}", board=at, plies=(ply(1, cp), ply(2, 0)), curves=Curves())
        for at, cp in enumerate(scores)
    ]
    found = arranged(pages, games, sort=sort, down=down)
    assert sorted(found) == sorted(each.id for each in games)
    # The same boards in another order of arrival stand in the same order.
    assert arranged(pages, games[::-1], sort=sort, down=down) == found


def test_time_left_is_that_of_the_side_with_less(pages: Pages) -> None:
    games = [
        game("a", plies=(ply(1, 10, clock_s=600.0), ply(2, 15, clock_s=500.0))),
        game("b", plies=(ply(1, 10, clock_s=30.0), ply(2, 15, clock_s=900.0))),
    ]
    assert arranged(pages, games, sort="clock") == ["b", "a"]


# --- moments list --------------------------------------------------------------------------------


def test_every_kind_has_a_name(pages: Pages) -> None:
    for words in pages("languages").values():
        assert set(get_args(MomentKind)) <= set(words)


def test_the_newest_come_first_and_of_unknown_time_those_that_matter(pages: Pages) -> None:
    moments = [
        {"id": "old", "at_s": 10, "weight": 0.9},
        {"id": "unknown", "at_s": None, "weight": 0.4},
        {"id": "matters", "at_s": None, "weight": 0.8},
        {"id": "new", "at_s": 20, "weight": 0.1},
    ]
    shown = pages.run("page/boards.js", "newestMoments", moments, 3)
    assert [each["id"] for each in shown] == ["new", "old", "matters"]


OVERLAY = "overlay?game=g+1&ply=7"


@pytest.mark.parametrize(
    ("page", "sight", "is_static", "overlay"),
    [
        ("http://h/#game=old", "public", False, f"http://h/{OVERLAY}"),
        (
            "http://h/?token=t",
            "public",
            False,
            f"http://h/{OVERLAY}&token=t",
        ),
        # With an arbiter's token an overlay would show on air what is delayed or hidden.
        ("http://h/?token=t", "arbiter", False, f"http://h/{OVERLAY}"),
        (
            "http://h/x/index.html#a",
            "public",
            True,
            "http://h/x/overlay.html?game=g+1&ply=7",
        ),
    ],
)
def test_links_take_the_token_along_but_not_an_arbiters(
    pages: Pages, page: str, sight: str, is_static: bool, overlay: str
) -> None:
    def ask(name: str, *args: object) -> Any:
        module = "page/boards.js"
        return pages.run(module, name, page, sight, *args)

    assert ask("overlayAddress", is_static, {"game": "g 1", "ply": 7}) == overlay


# --- small curves --------------------------------------------------------------------------------


def paths(pages: Pages, white: tuple[CurvePoint, ...], black: tuple[CurvePoint, ...] = ()) -> Any:
    curves = plain(Curves(white, black))
    return pages.run("page/board_card.js", "sparkPaths", curves)


def heights(path: str) -> list[float]:
    return [float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


def test_higher_is_higher(pages: Pages) -> None:
    found = paths(pages, (point(1, 1, 2000.0), point(3, 2, 2200.0)), (point(2, 1, 2100.0),))
    low, high = heights(found["white"]["line"])
    (between,) = heights(found["black"]["line"])
    assert 40 >= low > between > high >= 0


def test_a_band_is_drawn_behind_its_line(pages: Pages) -> None:
    found = paths(pages, tuple(point(2 * n - 1, n, 2000.0 + 9 * n) for n in range(1, 6)))
    line, band = heights(found["white"]["line"]), heights(found["white"]["band"])
    assert len(band) == 2 * len(line)
    for at, height in enumerate(line):
        assert band[at] < height < band[-1 - at]


def test_without_an_own_rating_there_is_a_line_and_no_band(pages: Pages) -> None:
    open_ = {"usual_low": None, "usual_high": None}
    found = paths(pages, tuple(point(2 * n - 1, n, 2000.0, **open_) for n in range(1, 4)))
    assert len(heights(found["white"]["line"])) == 3
    assert found["white"]["band"] == ""


def test_without_a_figure_there_is_no_line(pages: Pages) -> None:
    assert paths(pages, ()) is None
    assert paths(pages, (point(1, 0, None),)) is None
    found = paths(pages, (point(1, 0, None), point(3, 1, 2100.0), point(5, 2, 2110.0)))
    assert len(heights(found["white"]["line"])) == 2


# --- wall pages ----------------------------------------------------------------------------------


def call(pages: Pages, name: str, *args: Any) -> Any:
    return pages.run("page/wall_view.js", name, *args)


@pytest.mark.parametrize(
    ("boards", "screen", "grid"),
    [
        (1, (3840, 2100), (1, 1)),
        (4, (3840, 2100), (2, 2)),
        (8, (3840, 2100), (3, 3)),
        (12, (1920, 1040), (3, 4)),
        (3, (1080, 1900), (1, 3)),
        (0, (1920, 1040), (1, 1)),
    ],
)
def test_boards_are_as_large_as_the_screen_allows(
    pages: Pages, boards: int, screen: tuple[int, int], grid: tuple[int, int]
) -> None:
    found = call(pages, "wallGrid", boards, *screen)
    assert (found["columns"], found["rows"]) == grid


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 80))
def test_every_board_is_on_one_page_and_pages_are_even(pages: Pages, boards: int) -> None:
    found = call(pages, "wallPages", list(range(boards)))
    assert [each for page in found for each in page] == list(range(boards))
    sizes = [len(page) for page in found]
    assert all(0 < size <= 12 for size in sizes)
    assert len(found) == -(-boards // 12)


def test_pages_follow_one_another_and_one_page_stays(pages: Pages) -> None:
    assert [call(pages, "pageAt", 1000 * s, 3) for s in (0, 14, 15, 30, 44, 45)] == [
        0,
        0,
        1,
        2,
        2,
        0,
    ]
    assert call(pages, "pageAt", 99_999, 1) == 0
    assert call(pages, "pageAt", 99_999, 0) == 0


# --- columns -------------------------------------------------------------------------------------


NOBODY = PlayerView("n", "Nobody", None, 1, 0, None)
ENGINE = {"rating": 2200}


def shown(pages: Pages, of: msgspec.Struct, table: str = "PLAYER_COLUMNS") -> dict[str, Any]:
    return {each["id"]: each for each in pages("columns", table=table, of=plain(of), engine=ENGINE)}


def test_each_figure_is_written_with_its_unit_and_interval(pages: Pages) -> None:
    first_choice = Share(0.404, 0.3, 0.5, 14)
    methods = PlayerMethods(first_choice=first_choice, centipawn_loss=15.04, accuracy=96.04)
    view = msgspec.structs.replace(
        NOBODY,
        counted=30,
        perceived=2340.4,
        usual_low=1900.0,
        usual_high=2300.0,
        percentile=99.8,
        score=0.4,
        difference=-70.0,
        difference_low=-170.0,
        difference_high=30.0,
        rating_change=-3.25,
        methods=methods,
    )
    found = shown(pages, view)
    assert (found["perceived"]["text"], found["perceived"]["interval"]) == (
        "2340",
        "usual 1900–2300",
    )
    assert found["percentile"]["text"] == "99\u00a0%"
    assert (found["algorithm4"]["text"], found["algorithm4"]["interval"]) == ("2130", "2030–2230")
    assert found["first_choice"]["text"] == "40\u00a0%"
    assert found["first_choice"]["interval"] == "30\u00a0%–50\u00a0%"
    assert (found["centipawn_loss"]["text"], found["accuracy"]["text"]) == ("15.0", "96.0\u00a0%")
    assert found["rating_change"]["text"] in ("−3.2", "−3.3")


def test_what_is_early_has_no_percentile(pages: Pages) -> None:
    early = msgspec.structs.replace(NOBODY, counted=9, perceived=2340.0, percentile=90.0)
    found = shown(pages, early)
    assert (found["perceived"]["early"], found["percentile"]["text"]) == (True, "–")


def test_unknown_is_a_dash_with_its_reason(pages: Pages) -> None:
    methods = PlayerMethods(missing={"accuracy": "3 moves not scored", "conformance": "too early"})
    unknown = shown(pages, msgspec.structs.replace(NOBODY, methods=methods))
    for name in ("elo", "perceived", "percentile", "algorithm4", "score", "tournament"):
        assert unknown[name]["text"] == "–", name
        assert unknown[name]["missing"], name
    assert unknown["accuracy"]["missing"] == "3 moves not scored"
    assert unknown["conformance"]["missing"] == "too early"


def test_players_are_ranked_best_first_by_any_column(pages: Pages) -> None:
    def player(name: str, elo: int | None, perceived: float | None, loss: float | None) -> Any:
        view = msgspec.structs.replace(
            NOBODY,
            id=name,
            name=name,
            elo=elo,
            counted=30,
            perceived=perceived,
            methods=PlayerMethods(centipawn_loss=loss),
        )
        return plain(view)

    players = [
        player("a", 2000, 2300.2, 30.0),
        player("b", None, 2299.9, 10.0),
        player("c", 2200, 2500.0, None),
        player("d", 2000, None, 20.0),
    ]

    def ranked(sort: str, down: bool = False) -> list[str]:
        args = [players, sort, down]
        call = {"module": "page/players.js", "name": "rankedPlayers"}
        return [each["player"]["id"] + each["place"] for each in pages("call", **call, args=args)]

    assert ranked("") == ranked("perceived") == ["c1", "a2=", "b2=", "d"]
    # The other way round, nothing known still comes last.
    assert ranked("", down=True) == ["b2=", "a2=", "c1", "d"]
    assert ranked("elo") == ["c1", "a2=", "d2=", "b"]
    # Of losses the smallest is the best.
    assert ranked("centipawn_loss") == ["b1", "d2", "a3", "c"]
    assert ranked("name", down=True) == ["d4", "c3", "b2", "a1"]


def test_columns_can_be_chosen(pages: Pages) -> None:
    def chosen(text: str) -> list[str]:
        found = pages.run("page/players.js", "chosenColumns", text)
        return [each["id"] for each in found]

    assert chosen("algorithm4,elo,nonsense") == ["elo", "algorithm4"]
    assert "perceived" in chosen("")
    assert chosen("nonsense") == chosen("")


def test_a_plugins_figure_is_a_column_under_its_name(pages: Pages) -> None:
    figure = {"name": "captures", "value": 41.25, "low": -3.0, "high": 60.0, "digits": 1}
    players = [
        {"id": "a", "name": "A", "plugins": [figure]},
        {"id": "b", "name": "B", "plugins": [{"name": "captures", "value": 50.0}]},
        {"id": "c", "name": "C"},  # of a service that knows no plugins
    ]
    ranked = pages.run("page/players.js", "rankedPlayers", players, "plugin-captures", False)
    assert [(each["player"]["id"], each["place"]) for each in ranked] == [
        *(("b", "1"), ("a", "2"), ("c", ""))
    ]


# --- csv tables ----------------------------------------------------------------------------------


def rows(pages: Pages, name: str, *args: Any) -> list[list[str]]:
    text = pages.run("page/share.js", name, *args)
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(
    table=st.lists(
        st.lists(
            st.none() | st.integers(-(10**6), 10**6) | st.text(st.characters(codec="utf-8")),
            min_size=2,
            max_size=2,
        ),
        max_size=5,
    )
)
def test_every_value_comes_back_and_no_text_is_a_formula(pages: Pages, table: list[Any]) -> None:
    head, *found = rows(pages, "csv", ["a", "b"], table)
    assert head == ["a", "b"]
    for row, given_row in zip(found, table, strict=True):
        for cell, value in zip(row, given_row, strict=True):
            if not isinstance(value, str):
                assert cell == ("" if value is None else str(value))
            elif value[:1] in set("=+-@\t\r"):
                assert cell == f"'{value}"
            else:
                assert cell == value


def test_a_game_has_a_row_for_each_ply_with_its_point(pages: Pages) -> None:
    complexity = ComplexityView(3.5, 20, 4)
    view = game(plies=(ply(1, 30, 0, complexity=complexity), ply(2, -10, -40)))
    head, first, second = rows(pages, "gameCsv", plain(view))
    told = dict(zip(head, first, strict=True))
    assert told["san"] == "e4"
    assert told["score_cp"] == "30"
    assert (told["perceived"], told["counted"], told["difference"]) == ("2100", "1", "-70")
    assert (told["stability_cp"], told["jump_cp"], told["jump_depth"]) == ("3.5", "20", "4")
    unknown = dict(zip(head, second, strict=True))
    assert (unknown["perceived"], unknown["usual_low"], unknown["low"]) == ("", "", "400")


def test_boards_have_a_row_each(pages: Pages) -> None:
    games = [game("a", white=Player(HOSTILE)), game("b", plies=())]
    head, first, second = rows(pages, "boardsCsv", plain(games))
    told = dict(zip(head, first, strict=True))
    assert told["white"] == f"'{HOSTILE}"
    assert told["white_perceived"] == "2150"
    assert told["score_cp"] == "24"
    assert dict(zip(head, second, strict=True))["score_cp"] == "20"


# --- pooled gains --------------------------------------------------------------------------------


def test_gains_of_all_games_and_both_colours_are_the_players(pages: Pages) -> None:
    anna, bea = Player("Anna Ek", fide_id=77), Player("Bea Lund")
    curves = Curves(
        white=(point(1, 1, 2000.0, gain_cp=-7), point(3, 2, 2000.0)),
        black=(point(2, 1, 2000.0, gain_cp=-40),),
    )
    games = [
        game("a", white=anna, black=bea, curves=curves),
        game("b", white=bea, black=anna, curves=curves),
        game("c", curves=curves),
    ]
    found = pages.run("page/player_page.js", "heldGains", plain(games), "fide-77")
    assert sorted(found) == [-40, -7, 0]
