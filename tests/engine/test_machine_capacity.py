"""How many engines a machine can carry."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from live.engine.engine_discovery import check_load, engines_for_machine
from live.errors import ConfigError


@pytest.mark.parametrize(
    ("cores", "threads", "engines"),
    [(1, 1, 1), (2, 1, 2), (4, 1, 4), (8, 1, 7), (16, 1, 14), (8, 2, 3), (2, 4, 1)],
)
def test_one_a_core_less_one_for_every_eight(cores: int, threads: int, engines: int) -> None:
    assert engines_for_machine(threads, cores=cores, quota_file=Path("/nonexistent")) == engines


@pytest.mark.parametrize(
    ("quota", "engines"),
    [("200000 100000", 2), ("max 100000", 4), ("50000 100000", 1), ("nonsense", 4), ("1 0", 4)],
)
def test_a_container_s_quota_counts(tmp_path: Path, quota: str, engines: int) -> None:
    file = tmp_path / "cpu.max"
    file.write_text(quota)
    assert engines_for_machine(cores=4, quota_file=file) == engines


def test_this_machine_carries_one() -> None:
    assert 1 <= engines_for_machine() <= (os.cpu_count() or 1)


def test_engines_that_would_bury_the_machine_are_refused() -> None:
    check_load(engines_for_machine(), 1, 1)
    check_load(16, 1, 1, cores=1)
    check_load(64, 4, 1, cores=64)
    with pytest.raises(ConfigError, match=r"^engine.engines: 500 .*\(2\). Set it to 16 or less"):
        check_load(500, 1, 1, cores=2)
    with pytest.raises(ConfigError, match="Set it to 4 or less"):
        check_load(9, 4, 1, cores=4)


def test_hash_tables_over_half_of_the_memory_are_refused() -> None:
    check_load(4, 1, 512, memory_mb=4096)
    with pytest.raises(ConfigError, match=r"^engine.hash_mb: 4 engines.*Set it to 512 or less"):
        check_load(4, 1, 513, memory_mb=4096)
    with pytest.raises(ConfigError):
        check_load(2, 1, 2**25)
