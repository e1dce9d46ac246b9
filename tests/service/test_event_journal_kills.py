"""A short kill drill: real processes, killed without warning. The long one is a benchmark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from tests.benchmarks.service.kill_drill import drill
from tests.benchmarks.service.rehearsal import boards

pytestmark = pytest.mark.whole


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_service_that_is_killed_again_and_again_loses_nothing_and_asks_nothing_twice(
    tmp_path: Path, require_program: Callable[[str], str]
) -> None:
    require_program("tee")
    games = [
        msgspec.structs.replace(game, moves=game.moves[:24], result="1/2-1/2") for game in boards(4)
    ]
    outcome = await drill(games, tmp_path, kills=4, seed=7, nodes=5000, patience_s=120)
    log = (tmp_path / "service.log").read_text(errors="replace")
    assert outcome.good, f"{outcome}\n{log[-2000:]}"
    assert outcome.distinct > 100
