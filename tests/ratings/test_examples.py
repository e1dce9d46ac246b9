"""The examples in docstrings of ``live/ratings`` return the values that they show."""

import doctest
import importlib
import pkgutil

import live.ratings


def test_examples_give_what_they_show() -> None:
    tried = 0
    for module in pkgutil.walk_packages(live.ratings.__path__, "live.ratings."):
        found = doctest.testmod(importlib.import_module(module.name))
        assert not found.failed, module.name
        tried += found.attempted
    assert tried > 20
