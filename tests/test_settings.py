"""live.settings: dotted keys, and the one line about a value that does not fit."""

from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import ConfigError
from live.settings import checked, flat, in_words, nested, setting_types, unknown


class Inner(msgspec.Struct, frozen=True):
    size: Annotated[int, msgspec.Meta(ge=1, description="a whole number above 0")] = 1
    name: str = ""


class Outer(msgspec.Struct):
    on: bool = True
    ratio: Annotated[float, msgspec.Meta(gt=0, description="a number above 0")] = 1.0
    mode: Literal["a", "b"] = "a"
    inner: Inner = Inner()


TYPES = setting_types(Outer)


def test_keys_are_dotted_and_in_order() -> None:
    assert list(TYPES) == ["on", "ratio", "mode", "inner.size", "inner.name"]


names = st.text("abc", min_size=1, max_size=3)
tables = st.dictionaries(names, st.integers(), min_size=1, max_size=3)
trees = st.dictionaries(names, st.one_of(st.integers(), tables), max_size=3)


@pytest.mark.slow
@given(trees)
def test_flat_and_nested_are_inverse(tree: dict[str, Any]) -> None:
    assert nested(dict(flat(tree, {}))) == tree


def test_an_empty_table_counts_only_where_nobody_knows_it() -> None:
    assert list(flat({"inner": {}, "other": {}}, TYPES)) == [("other", {})]


@pytest.mark.parametrize(
    ("key", "value", "text", "result"),
    [
        ("inner.size", 5, False, 5),
        ("inner.size", "5", True, 5),
        ("ratio", 2, False, 2.0),
        ("ratio", "0.5", True, 0.5),
        ("on", "false", True, False),
        ("on", "1", True, True),
        ("mode", "b", True, "b"),
        ("inner.name", "12", True, "12"),
    ],
)
def test_a_fitting_value_is_converted(key: str, value: object, text: bool, result: object) -> None:
    converted = checked("here", key, value, TYPES, text=text)
    assert converted == result
    assert type(converted) is type(result)


@pytest.mark.parametrize(
    ("key", "value", "text", "line"),
    [
        ("inner.size", "5", False, 'x: "5" does not fit. Expected is a whole number above 0'),
        ("inner.size", 0, False, "x: 0 does not fit. Expected is a whole number above 0"),
        ("inner.size", True, False, "x: true does not fit. Expected is a whole number above 0"),
        ("inner.size", "many", True, 'x: "many" does not fit. Expected is a whole number above 0'),
        ("ratio", float("inf"), False, "x: inf does not fit. Expected is a number above 0"),
        ("ratio", float("nan"), False, "x: nan does not fit. Expected is a number above 0"),
        ("ratio", "inf", True, 'x: "inf" does not fit. Expected is a number above 0'),
        ("mode", "c", False, 'x: "c" does not fit. Expected is "a" or "b"'),
        ("on", "maybe", True, 'x: "maybe" does not fit. Expected is true or false'),
        ("inner.name", 3, False, "x: 3 does not fit. Expected is text"),
        ("inner", 3, False, "x: is a table, not a value. Write [inner] and keys below"),
        ("inner.sise", 3, False, "x: there is no such setting. Did you mean inner.size?"),
    ],
)
def test_a_value_that_does_not_fit_is_one_clear_line(
    key: str, value: object, text: bool, line: str
) -> None:
    with pytest.raises(ConfigError) as error:
        checked("x", key, value, TYPES, text=text)
    assert str(error.value) == line
    assert error.value.exit_code == 2


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(ConfigError, match=r'^x: "a{56}\.\.\. does not fit'):
        checked("x", "mode", "a" * 1000, TYPES)


def test_a_name_like_no_other_gets_no_guess() -> None:
    assert "Did you mean" not in str(unknown("x", "zzz", TYPES))


def test_a_number_without_description_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a description"):
        in_words(msgspec.inspect.type_info(int))
