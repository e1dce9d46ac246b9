"""What all tests share keeps its word."""

from collections.abc import Callable

import pytest


def test_a_program_that_is_here_is_found(require_program: Callable[[str], str]) -> None:
    assert require_program("sh").endswith("/sh")


def test_a_missing_program_skips_but_fails_in_ci(
    require_program: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install no-such-program"):
        require_program("no-such-program")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install no-such-program"):
        require_program("no-such-program")
