"""Downloads of the whole event in formats of others: what the port asks of whoever makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from live.events import SnapshotMessage


class ExportFailed(Exception):
    """Why there is no such file now: short, in lower case, without a full stop."""


class ExportedFile(msgspec.Struct, frozen=True):
    """A download."""

    media_type: str
    body: bytes


class EventExports(Protocol):
    """Whoever makes them, beside the loop."""

    @property
    def exports(self) -> Sequence[str]:
        """Names of those that there are."""

    async def export(self, name: str, event: SnapshotMessage) -> ExportedFile:
        """The event as that file. Raises ExportFailed."""
