"""live/web/drawing/player_names.js: what of a name stays where there is little room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live.games.player_names import family_name, isolated, short_name

Pages = Callable[..., Any]


def forms(pages: Pages, name: str, *others: str) -> list[str]:
    found: list[str] = pages(
        "call", module="drawing/player_names.js", name="nameForms", args=[name, list(others)]
    )
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
