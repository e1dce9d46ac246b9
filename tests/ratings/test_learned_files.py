"""Learned values are loaded by name or by path. The error for anything else says what
to do.
"""

from pathlib import Path

import pytest

from live.errors import InputError
from live.ratings.intrinsic_rating import TABLES
from live.server.analysis import to_json


def test_a_name_gives_what_comes_with_the_package_and_anything_else_is_a_path(
    tmp_path: Path,
) -> None:
    shipped = TABLES.load(TABLES.list_names()[0])
    own = tmp_path / "mine.json"
    own.write_bytes(to_json(shipped))
    assert TABLES.load(str(own)) == shipped
    own.write_text("[]")
    with pytest.raises(InputError, match=r"is no intrinsic table.*--intrinsic"):
        TABLES.load(str(own))


@pytest.mark.parametrize("name", ["nothing", "zero\0byte"])
def test_what_is_not_there_is_told_with_what_is(name: str) -> None:
    with pytest.raises(InputError, match=r"no intrinsic table.*Shipped are: ten-lines"):
        TABLES.load(name)
