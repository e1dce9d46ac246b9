"""What is said before others can reach the port."""

from __future__ import annotations

import pytest

from live.config import ServerConfig
from live.errors import ConfigError
from live.publish.access.exposure import check


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_this_machine_alone_needs_no_permission(host: str) -> None:
    assert check(ServerConfig(host=host)) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "2001:db8::1"])
def test_any_other_address_does(host: str) -> None:
    with pytest.raises(ConfigError, match="--public") as refused:
        check(ServerConfig(host=host))
    assert host in str(refused.value)


def test_what_others_can_see_is_said() -> None:
    (line,) = check(ServerConfig(host="0.0.0.0", public=True))
    assert "scores of running games included" in line
    (line,) = check(ServerConfig(host="0.0.0.0", public=True, hide_scores=True))
    assert "without scores" in line
    (line,) = check(ServerConfig(host="0.0.0.0", tokens_file="t"))
    assert "in the clear" in line
    assert check(ServerConfig(host="0.0.0.0", tokens_file="t", certificate_file="c")) == []
