"""live/web/overlay/player_names.js: what of a name stays longest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Pages = Callable[..., Any]


def parts_of(pages: Pages, name: str) -> dict[str, Any]:
    found: dict[str, Any] = pages(
        "call", module="overlay/player_names.js", name="partsOf", args=[name]
    )
    return found


@pytest.mark.parametrize(
    ("name", "parts", "kept"),
    [
        ("Nepomniachtchi, Ian", ["Nepomniachtchi", ", I", "an"], 0),
        ("Sanchez Montesdeoca, Isaac M", ["Sanchez Montesdeoca", ", I", "saac", " M"], 0),
        ("Magnus Carlsen", ["Magnus", " Carlsen"], 1),
        ("Jan-Krzysztof van der Duda", ["Jan-Krzysztof van der", " Duda"], 1),
        ("Gukesh D", ["Gukesh", " D"], 0),
        ("DrNykterstein", ["DrNykterstein"], 0),
        # Letters that join are not torn apart.
        ("كارلسن, ماغنوس", ["كارلسن", ", ماغنوس"], 0),
        (", Nobody", [",", " Nobody"], 1),
    ],
)
def test_the_family_name_stays(pages: Pages, name: str, parts: list[str], kept: int) -> None:
    assert parts_of(pages, name) == {"parts": parts, "kept": kept}


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="Ab É,. 王'", min_size=1, max_size=20))
def test_nothing_of_a_name_is_lost(pages: Pages, name: str) -> None:
    found = parts_of(pages, name)
    assert "".join(found["parts"]) == name
    assert 0 <= found["kept"] < len(found["parts"])
