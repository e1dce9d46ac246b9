"""Whatever the protocol, and whatever goes wrong: the games that arrive are those played."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from live.errors import InputError
from live.rehearse.open_rehearsal import open_rehearsal
from tests.feeds.fakes import DATA, decode
from tests.rehearse.following import FOLLOWED, follow_rehearsal

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
#: Two of them, so that fifty seeds for each protocol take a minute.
#: lichess has fifty seeds in its own test.
SEEDED = [protocol for protocol in FOLLOWED if protocol != "lichess"]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", FOLLOWED)
async def test_every_game_arrives_as_it_was_played(
    protocol: str, require_program: Callable[[str], str]
) -> None:
    if protocol == "mqtt":
        require_program("mosquitto")
    ledger = await follow_rehearsal(protocol, GAMES)
    assert "retrying" not in ledger.states


@pytest.mark.slow
@pytest.mark.parametrize("protocol", SEEDED)
@pytest.mark.parametrize(
    "first", [0, *(pytest.param(first, marks=pytest.mark.whole) for first in range(10, 50, 10))]
)
async def test_whatever_goes_wrong_the_end_is_the_same(
    protocol: str, first: int, require_program: Callable[[str], str]
) -> None:
    """Fifty seeds, ten at a time: most of it is waiting for connections that stall."""
    if protocol == "mqtt":
        require_program("mosquitto")
    async with asyncio.TaskGroup() as seeds:
        for seed in range(first, first + 10):
            following = follow_rehearsal(protocol, GAMES[:2], seed, within_s=80)
            seeds.create_task(following, name=f"seed {seed}")


def test_a_target_that_means_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="means nothing for lichess"):
        open_rehearsal("lichess", GAMES, to="mqtt://x/y")
    with pytest.raises(InputError, match="is no broker's address"):
        open_rehearsal("mqtt", GAMES, to=str(tmp_path))
