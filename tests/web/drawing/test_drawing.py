"""Names, numbers, curves and the board's frame: live/web/drawing."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.games.player_identity import family_name, isolated, short_name
from tests.web.conftest import Pages

# --- board frame ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("side", "start", "end"), [("white", (4.5, 6.5), (4.5, 4.5)), ("black", (3.5, 1.5), (3.5, 3.5))]
)
def test_an_arrow_starts_and_ends_in_the_middle_of_its_squares(
    pages: Pages, side: str, start: tuple[float, float], end: tuple[float, float]
) -> None:
    told: str = pages.run("client/board_position.js", "arrowCorners", "e2e4", side)
    corners = [tuple(map(float, corner.split(","))) for corner in told.split()]
    assert len(corners) == 7
    tail = [(one + other) / 2 for one, other in zip(corners[0], corners[-1], strict=True)]
    assert tail == pytest.approx(start)
    assert corners[3] == pytest.approx(end)


# --- curve marks ---------------------------------------------------------------------------------


AREA = {"left": 0, "right": 400, "top": 0, "bottom": 300, "height": 12, "gap": 2}


def places(pages: Pages, names: list[dict[str, Any]], *lines: Sequence[Sequence[float]]) -> Any:
    args = [names, lines, AREA]
    return pages.run("drawing/curves.js", "namePlaces", *args)


def test_names_lie_neither_on_another_nor_on_a_curve(pages: Pages) -> None:
    names = [{"x": x, "y": 150, "width": 60, "up": True} for x in (100, 110, 120)]
    middle = [[0, 150], [400, 150]]
    above = [[0, 120], [400, 120]]
    found = places(pages, names, middle, above)
    assert None not in found
    ys = sorted(y for _, y in found)
    assert all(low + 12 <= high for low, high in itertools.pairwise(ys))
    assert all(abs(y - line) >= 6 for y in ys for line in (120, 150))


def test_a_name_stays_within_the_chart_or_is_left_out(pages: Pages) -> None:
    corner = {"x": 398, "y": 4, "width": 60, "up": True}
    [[x, y]] = places(pages, [corner])
    assert x + 30 <= 400
    assert y - 6 >= 0
    full = [[[0, y], [400, y]] for y in range(0, 300, 8)]
    assert places(pages, [corner], *full) == [None]


def test_falling_moves_are_named_in_their_order(pages: Pages) -> None:
    names = [{"x": x, "y": y, "width": 60, "up": False} for x, y in ((300, 100), (330, 140))]
    (_, upper), (_, lower) = places(pages, names, [[270, 60], [300, 100], [330, 140]])
    assert upper < lower


# --- number format -------------------------------------------------------------------------------


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("name", "args", "result"),
    [
        ("scoreText", [34, None], "+0.34"),
        ("scoreText", [-120, None], "−1.20"),
        ("scoreText", [0, None], "0.00"),
        ("scoreText", [3900, 5], "#5"),
        ("scoreText", [-3900, -5], "−#5"),
        ("scoreText", [3900, 0], "#0"),
        ("scoreText", [None, None], ""),
        ("whiteShare", [0], 0.5),
        ("clockText", [None], ""),
        ("clockText", [3909.9], "1:05:09"),
        ("clockText", [309], "5:09"),
        ("clockText", [9.44], "9.4"),
        ("clockText", [-1], "0.0"),
        ("moveText", [1, "e4", START], "1.\u00a0e4"),
        ("moveText", [2, "c5", START], "1…\u00a0c5"),
        ("moveText", [1, "Kd7", "4k3/8/8/8/8/8/8/4K3 b - - 0 31"], "31…\u00a0Kd7"),
        ("moveText", [2, "Kd2", "4k3/8/8/8/8/8/8/4K3 b - - 0 31"], "32.\u00a0Kd2"),
        ("ageText", [8.2], "8 s"),
        ("ageText", [180], "3 min"),
        ("ageText", [7300], "2 h"),
        ("resultText", ["1/2-1/2"], "½–½"),
        ("resultText", ["*"], ""),
        ("resultText", ["1-0"], "1–0"),
        ("safeLink", ["https://lichess.org/x"], "https://lichess.org/x"),
        ("safeLink", ["javascript:alert(1)"], None),
        ("safeLink", [" JaVaScRiPt:alert(1)"], None),
        ("safeLink", [""], None),
    ],
)
def test_it_reads(pages: Pages, name: str, args: list[object], result: object) -> None:
    assert pages.run("drawing/number_format.js", name, *args) == result


def test_the_score_bar_follows_the_score(pages: Pages) -> None:
    def share(cp: int) -> float:
        result = pages.run("drawing/number_format.js", "whiteShare", cp)
        assert isinstance(result, float)
        return result

    shares = [share(cp) for cp in (-3900, -300, -20, 20, 300, 3900)]
    assert shares == sorted(shares)
    assert shares[0] == pytest.approx(1 - shares[-1])
    # lichess.org/page/accuracy: 300 centipawns are 75.1 % for White.
    assert share(300) == pytest.approx(0.751, abs=5e-4)


# --- player names --------------------------------------------------------------------------------


def forms(pages: Pages, name: str, *others: str) -> list[str]:
    found: list[str] = pages.run("drawing/player_names.js", "nameForms", name, list(others))
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "Nepomniachtchi, Ian",
            ["Nepomniachtchi, Ian", "Nepomniachtchi, I.", "Nepomniachtchi"],
        ),
        (
            "Praggnanandhaa Rameshbabu",
            ["Praggnanandhaa Rameshbabu", "P. Rameshbabu", "Rameshbabu"],
        ),
        ("Jorden van Foreest", ["Jorden van Foreest", "J. van Foreest", "van Foreest"]),
        ("Gukesh D", ["Gukesh D", "Gukesh"]),
        ("Gukesh D.", ["Gukesh D.", "Gukesh"]),
        ("DrNykterstein", ["DrNykterstein"]),
        ("Wei, Yi", ["Wei, Yi", "Wei"]),
        ("丁立人", ["丁立人"]),
        ("王, 皓", ["王, 皓", "王"]),
        # Letters that join have no initial.
        ("كارلسن, ماغنوس", ["كارلسن, ماغنوس", "كارلسن"]),
        ("Непомнящий, Ян", ["Непомнящий, Ян", "Непомнящий"]),
        (
            "Карпов Анатолий Евгеньевич",
            ["Карпов Анатолий Евгеньевич", "Карпов А.", "Карпов"],
        ),
        ("  Anna   Muzychuk ", ["Anna Muzychuk", "A. Muzychuk", "Muzychuk"]),
        ("", ["?"]),
        (", Nobody", [", Nobody", "Nobody"]),
        # A comma in brackets parts no name.
        ("侯逸凡 (Hou, Yifan)", ["侯逸凡 (Hou, Yifan)", "侯逸凡"]),
        ("Magnus Carlsen (NOR)", ["Magnus Carlsen (NOR)", "M. Carlsen", "Carlsen"]),
    ],
)
def test_the_family_name_stays(pages: Pages, name: str, expected: list[str]) -> None:
    assert forms(pages, name) == expected


def test_two_of_one_family_are_told_apart(pages: Pages) -> None:
    alone = forms(pages, "Muzychuk, Anna", "Carlsen, Magnus")
    assert alone[-1] == "Muzychuk"
    assert forms(pages, "Muzychuk, Anna", "Muzychuk, Mariya")[-1] == "Muzychuk, A."
    # One initial for both says nothing.
    assert forms(pages, "Fiorito, Fabian", "Fiorito, Federico")[-1] == "Fiorito, Fa."
    assert forms(pages, "Anna Muzychuk", "Muzychuk, Mariya")[-1] == "A. Muzychuk"
    # Nor can anything tell those apart who are called the same.
    assert forms(pages, "Li, Wei", "Li, Wei")[-1] == "Li"


def test_the_service_has_the_same_rule(pages: Pages) -> None:
    names = [
        "Ivanov, Sergey",
        "Ivanov, Stanislav",
        "Stanislav Ivanov",
        "侯逸凡 (Hou, Yifan)",
        "侯逸凡",
        "Magnus Carlsen (NOR)",
        "Carlsen, Magnus",
        "Карпов Анатолий Евгеньевич",
        "Карпов, Иван",
        "محمد عبد الرحمن السيد",
        "السيد, علي",
        # Thaana is written from right to left, too.
        "O'Neil, \u0790\u07a6\u078d\u07a7",
        "O'Neil, Ann",
        "Jorden van Foreest",
        "van Foreest, Lucas",
        "John Smith Jr.",
        "Smith Jr., Adam",
        "Gukesh D",
        "Gukesh E.",
        "(Hou, Yifan)",
        "()",
        "",
    ]
    assert [forms(pages, name, *names)[-1] for name in names] == [
        short_name(name, names) for name in names
    ]
    assert [forms(pages, name)[-1] for name in names] == list(map(family_name, names))
    ask = {"module": "drawing/player_names.js", "name": "isolated"}
    assert [pages("call", **ask, args=[name]) for name in names] == list(map(isolated, names))


NAMES = st.one_of(
    st.text(min_size=1, max_size=40),
    st.from_regex(r"[A-Z][a-z]{1,12}, [A-Z][a-z]{1,9}", fullmatch=True),
    st.from_regex(r"[A-D][a-b]{1,2}(,)? [A-D][a-b]{1,3}", fullmatch=True),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(NAMES, st.lists(NAMES, max_size=4))
def test_what_is_left_is_shorter_and_nobody_else(
    pages: Pages, name: str, others: list[str]
) -> None:
    found = forms(pages, name, *others)
    assert all(found)
    lengths = [len(form.encode("utf-16-le")) for form in found]
    assert lengths == sorted(lengths, reverse=True)
    added = [form for form in found if "…" in form and "…" not in name]
    assert added == []
    whole = [forms(pages, other)[0] for other in others]
    for other in whole:
        if other != found[0]:
            rest = [each for each in (*whole, found[0]) if each != other]
            shortest = forms(pages, other, *rest)[-1]
            assert shortest.lower() != found[-1].lower() or found == found[:1]
