"""How fast an engine is."""

from __future__ import annotations

import pytest

from live.engine.engine_discovery import EngineCommand
from live.engine.engine_process import measure_speed
from live.engine.uci import UciSettings


@pytest.mark.slow
async def test_the_embedded_engine_s_speed_is_measured(embedded: EngineCommand) -> None:
    speed = await measure_speed(embedded, UciSettings(), seconds=0.2)
    assert "Stockfish" in speed.name
    assert speed.knodes_per_s > 0
    assert speed.depth > 5
    assert speed.start_s > 0
