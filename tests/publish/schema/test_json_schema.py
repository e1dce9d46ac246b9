"""Notes below fields are found, those of bases too."""

from __future__ import annotations

import msgspec

from live.events import EngineInfo, GameDetail, PlyView
from live.publish.docs import notes


class Base(msgspec.Struct):
    one: int
    """The first,
    told in two lines."""
    two: int = 2
    three: int = 3
    """The third."""


class Derived(Base):
    two: int = 4
    """Now it has one."""


def test_notes_of_a_type_and_of_its_base() -> None:
    assert notes(Base) == {"one": "The first, told in two lines.", "three": "The third."}
    assert notes(Derived) == {**notes(Base), "two": "Now it has one."}


def test_notes_of_real_types() -> None:
    assert notes(PlyView)["best"].startswith("The engine's first choice")
    assert "plies_scored" in notes(GameDetail)
    assert set(notes(EngineInfo)) <= set(EngineInfo.__struct_fields__)
