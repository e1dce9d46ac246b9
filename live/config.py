"""Typed settings: flags > environment (``LIVE_RATE_…``) > ``config.toml`` > defaults.

A key that does not exist or has the wrong type is refused with its name. Reads a file, nothing
else. ``config.toml`` at the top of the repository shows every key with its default.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from live.events import GainKind


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Common strictness of all sections."""


class ServerConfig(_Section, frozen=True):
    """``[server]``: the one port for websockets, pages and JSON."""

    host: str = "127.0.0.1"
    port: int = 8765


class EngineConfig(_Section, frozen=True):
    """``[engine]``: which engine, how long it thinks, how many run."""

    path: str = ""
    nodes: int = 100_000
    depth: int = 0
    movetime_ms: int = 0
    engines: int = 0
    hash_mb: int = 16
    threads: int = 1
    reproducible: bool = True
    nice: int = 5


class RatingConfig(_Section, frozen=True):
    """``[rating]``: which gain feeds the curves and how strong the engine counts."""

    gain: GainKind = "same-search"
    engine_rating: Literal["field"] | int = "field"


class LichessConfig(_Section, frozen=True):
    """``[feeds.lichess]``"""

    base_url: str = "https://lichess.org"
    token_file: str = ""


class DemoConfig(_Section, frozen=True):
    """``[feeds.demo]``: the bundled games."""

    speed: float = 60.0


class FeedsConfig(_Section, frozen=True):
    """``[feeds]``: what all sources share, and one table per kind."""

    poll_s: float = 2.0
    timeout_s: float = 10.0
    stale_after_s: float = 300.0
    max_bytes: int = 64_000_000
    lichess: LichessConfig = LichessConfig()
    demo: DemoConfig = DemoConfig()


class LogConfig(_Section, frozen=True):
    """``[log]``"""

    level: Literal["debug", "info", "warning", "error"] = "warning"


class Config(_Section, frozen=True):
    """Everything that can be set."""

    server: ServerConfig = ServerConfig()
    engine: EngineConfig = EngineConfig()
    rating: RatingConfig = RatingConfig()
    feeds: FeedsConfig = FeedsConfig()
    log: LogConfig = LogConfig()
