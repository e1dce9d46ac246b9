"""live.setting_keys: dotted keys, values that fit, and each kind of refusal."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.errors import ConfigError
from live.setting_keys import (
    SETTINGS,
    build_unknown_error,
    convert_setting,
    describe_type,
    flatten,
    nest,
)

#: Where names that went are listed.
GONE = "For removed settings: live-rate manual changes"

names = st.text("abc", min_size=1, max_size=3)
tables = st.dictionaries(names, st.integers(), min_size=1, max_size=3)
trees = st.dictionaries(names, st.one_of(st.integers(), tables), max_size=3)


def test_every_setting_can_be_explained() -> None:
    for kind in SETTINGS.values():
        assert describe_type(msgspec.inspect.type_info(kind))


@given(trees)
def test_flatten_and_nest_are_inverse(tree: dict[str, Any]) -> None:
    assert nest(dict(flatten(tree))) == tree


def test_an_empty_table_counts_only_where_nobody_knows_it() -> None:
    assert list(flatten({"server": {}, "other": {}})) == [("other", {})]


@pytest.mark.parametrize(
    ("key", "value", "text", "result"),
    [
        ("engine.threads", 5, False, 5),
        ("engine.threads", "5", True, 5),
        ("feeds.poll_s", 2, False, 2.0),
        ("feeds.poll_s", "0.5", True, 0.5),
        ("server.public", "false", True, False),
        ("server.public", "1", True, True),
        ("log.level", "info", True, "info"),
        ("engine.path", "12", True, "12"),
    ],
)
def test_a_fitting_value_is_converted(
    key: str, value: object, text: bool, result: object
) -> None:
    converted = convert_setting("here", key, value, text=text)
    assert converted == result
    assert type(converted) is type(result)


WHOLE, ABOVE = "a whole number above 0", "seconds, above 0"
RATING = '"field" or an Elo rating from 0 to 5000'


@pytest.mark.parametrize(
    ("key", "value", "text", "said"),
    [
        ("engine.threads", "5", False, f'"5" does not fit. Expected is {WHOLE}'),
        ("engine.threads", 0, False, f"0 does not fit. Expected is {WHOLE}"),
        ("engine.threads", True, False, f"true does not fit. Expected is {WHOLE}"),
        ("engine.threads", "many", True, f'"many" does not fit. Expected is {WHOLE}'),
        ("feeds.poll_s", float("inf"), False, f"inf does not fit. Expected is {ABOVE}"),
        ("feeds.poll_s", float("nan"), False, f"nan does not fit. Expected is {ABOVE}"),
        (
            "log.level",
            "c",
            False,
            '"c" does not fit. Expected is "debug" or "error" or "info" or "warning"',
        ),
        (
            "server.public",
            "maybe",
            True,
            '"maybe" does not fit. Expected is true or false',
        ),
        ("engine.path", 3, False, "3 does not fit. Expected is text"),
        (
            "server.port",
            65536,
            False,
            "65536 does not fit. Expected is a port from 0 to 65535",
        ),
        (
            "rating.engine_rating",
            True,
            False,
            f"true does not fit. Expected is {RATING}",
        ),
        (
            "feeds.mqtt",
            3,
            False,
            "is a table, not a value. Write [feeds.mqtt] and keys below",
        ),
        (
            "engine.paht",
            3,
            False,
            f"there is no such setting. Did you mean engine.path? {GONE}",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_one_clear_line(
    key: str, value: object, text: bool, said: str
) -> None:
    with pytest.raises(ConfigError) as error:
        convert_setting("x", key, value, text=text)
    assert str(error.value) == f"x: {said}"
    assert error.value.exit_code == 2


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(ConfigError, match=r'^x: "a{56}\.\.\. does not fit'):
        convert_setting("x", "log.level", "a" * 1000)


def test_a_name_like_no_other_gets_no_guess() -> None:
    said = str(build_unknown_error("x", "zzz", SETTINGS))
    assert "Did you mean" not in said and GONE in said


def test_a_number_without_description_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a description"):
        describe_type(msgspec.inspect.type_info(int))
