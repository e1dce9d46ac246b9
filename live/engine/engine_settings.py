"""Settings of ``[engine]`` as limits, options and timeouts of engines."""

import msgspec

from live.engine.search import Limit, SearchOptions
from live.engine.searcher import EngineTimeouts
from live.engine.uci import UciSettings
from live.settings import EngineConfig


def build_limit(config: EngineConfig) -> Limit:
    """Return the limit of every search. Exactly one of the three settings is above
    0.
    """
    return Limit(
        nodes=config.nodes or None,
        depth=config.depth or None,
        movetime_ms=config.movetime_ms or None,
    )


def build_uci_settings(config: EngineConfig) -> UciSettings:
    """Return the UCI options with which each engine is set up."""
    return msgspec.convert(config, UciSettings, from_attributes=True)


def build_timeouts(config: EngineConfig) -> EngineTimeouts:
    """Return the timeouts of engines, with the configured time for a start."""
    return EngineTimeouts(handshake_s=config.start_s)


def build_search_options(config: EngineConfig) -> SearchOptions:
    """Return the options with which every search is requested."""
    same_depth = config.same_depth or config.adaptive
    return SearchOptions(config.multipv, same_depth=same_depth)


def describe_limit(config: EngineConfig) -> str:
    """Return the limit and all options that change the result of a search, as text. A
    calibration is valid only for searches with the same text.
    """
    parts = [str(build_limit(config))]
    if config.multipv > 1:
        parts.append(f"{config.multipv} lines")
    if config.adaptive:
        parts.append("adaptive")
    elif config.same_depth:
        parts.append("same depth")
    return ", ".join(parts)
