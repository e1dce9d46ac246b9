"""live.games.player_identity: names as people know their owners; the pages' rule is held against it
in tests/web/drawing/test_drawing.py.
"""

from __future__ import annotations

import pytest

from live.games.player_identity import family_name, isolated, short_name


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("Nepomniachtchi, Ian", "Nepomniachtchi"),
        ("Jorden van Foreest", "van Foreest"),
        ("Gukesh D", "Gukesh"),
        ("侯逸凡 (Hou, Yifan)", "侯逸凡"),
        ("侯逸凡 (Hou, Yi", "侯逸凡"),
        ("侯逸凡 \uff08Hou, Yifan\uff09", "侯逸凡"),
        ("Carlsen, Magnus (NOR)", "Carlsen"),
        ("Magnus Carlsen (NOR)", "Carlsen"),
        ("(Hou, Yifan)", "Hou"),
        ("()", "()"),
        ("", "?"),
    ],
)
def test_the_family_name_is_what_people_know(name: str, family: str) -> None:
    assert family_name(name) == family


def test_two_of_one_family_are_told_apart() -> None:
    assert short_name("Ivanov, Sergey", ["Ivanov, Stanislav", "Berg, Bo"]) == "Ivanov, Se."
    assert short_name("Ivanov, Sergey", ["Ivanov, Sergey", "Berg, Bo"]) == "Ivanov"
    assert short_name("侯逸凡 (Hou, Yifan)", ["侯逸凡"]) == "侯逸凡 (Hou, Yifan)"


def test_only_names_from_right_to_left_are_isolated() -> None:
    assert isolated("السيد") == "\u2068السيد\u2069"
    assert isolated("Berg") == "Berg"
    assert isolated("侯逸凡") == "侯逸凡"
