"""``live-rate rehearse``: which games are played back."""

import pytest

from live.commands.rehearse import rehearse
from live.errors import InputError
from tests.sources.fakes import DATA


async def test_a_round_that_is_not_there_is_not_rehearsed() -> None:
    with pytest.raises(InputError, match="has no round 7"):
        await rehearse(DATA / "four-boards.pgn", round="7")
