"""Which engine answers."""

from __future__ import annotations

import msgspec

from live.engine.process.engine_process import EngineProcess
from live.engine.process.uci_conversation import UciSettings


class EngineIdentity(msgspec.Struct, frozen=True):
    """What a result depends on besides the question."""

    name: str
    """``id name``."""
    options: tuple[str, ...]

    @classmethod
    def of(cls, process: EngineProcess, settings: UciSettings) -> EngineIdentity:
        """Of a running engine set up like this."""
        modes = ["hash cleared" if settings.reproducible else "hash kept"]
        if settings.adaptive:
            modes.append("adaptive")
        return cls(process.name, (*process.options, *modes))

    def __str__(self) -> str:
        """One text, for cache keys, clusters and export."""
        return "; ".join((self.name, *self.options))
