"""``[engine]``: the settings of the engine room."""

from __future__ import annotations

from live.errors import ConfigError
from live.settings import ClusterUrl, Count, HashSize, Lines, Nice, Positive, Section

LIMITS = ("engine.nodes", "engine.depth", "engine.movetime_ms")
"""A search has one of them."""


class EngineConfig(Section, frozen=True):
    """``[engine]``: which engine, how long it thinks, how many run.

    :func:`load_config` leaves exactly one of ``nodes``, ``depth`` and ``movetime_ms`` above 0.
    """

    path: str = ""
    """Empty: found (installed Stockfish, else the embedded one)."""
    nodes: Count = 100_000
    depth: Count = 0
    movetime_ms: Count = 0
    engines: Count = 0
    """0: one for each processor."""
    hash_mb: HashSize = 16
    threads: Positive = 1
    reproducible: bool = True
    multipv: Lines = 1
    same_depth: bool = False
    """The move played is searched as deep as the best one, whatever the limit says."""
    adaptive: bool = False
    """A search ends early when it has seen enough."""
    speculate: bool = True
    cache_file: str = ""
    """Empty: results are kept in memory only."""
    cloud_evals: bool = False
    """Show lichess cloud evaluations until the engine's own score is there."""
    syzygy_path: str = ""
    """A folder of Syzygy tables, which then prove endgames; empty: none."""
    cluster: ClusterUrl = ""
    """Address of a Dask scheduler; empty: all is searched on this machine."""
    cluster_ca_file: str = ""
    """Whom to trust for ``tls``; empty: Dask's own configuration."""
    cluster_cert_file: str = ""
    cluster_key_file: str = ""
    nice: Nice = 5


def check_engine(engine: EngineConfig) -> None:
    """Raises ConfigError where settings that are right by themselves contradict each other."""
    if not (engine.nodes or engine.depth or engine.movetime_ms):
        raise ConfigError(
            "engine.nodes", "0 leaves a search without limit", f"Set one of {', '.join(LIMITS)}"
        )
    if engine.adaptive and engine.depth:
        raise ConfigError(
            "engine.adaptive",
            "a search to a depth cannot end before it",
            "Set engine.nodes or engine.movetime_ms instead of engine.depth, or adaptive to false",
        )
    if engine.reproducible and engine.threads > 1:
        raise ConfigError(
            "engine.threads",
            "several threads never give the same score twice",
            "Set engine.threads to 1 (and engine.engines higher), or engine.reproducible to false",
        )
