"""The examples in the docstrings of the ratings give the values they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import live.ratings

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(live.ratings.__path__, "live.ratings.")
    if not module.ispkg
)
#: Modules that people import on their own: each shows how.
WITH_EXAMPLES = {
    f"live.ratings.{name}"
    for name in (
        "algorithm_2",
        "choice_model",
        "conformance",
        "expected_score",
        "ferreira",
        "gain",
        "match",
    )
}


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_show(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert not found.failed
    assert found.attempted or name not in WITH_EXAMPLES, "its examples are gone"


def test_every_module_with_examples_is_tried() -> None:
    assert set(MODULES) >= WITH_EXAMPLES
