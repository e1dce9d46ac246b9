"""Exports that a process of its own makes, so that the loop waits for none of them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import msgspec

from live.events import (
    SnapshotMessage,
)
from live.operating_system import own_group


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


#: Whoever looks at pictures and tables takes no time from the engines.
_NICE: Final = 10


class ChildAnswer(NamedTuple):
    """How a program ended, and what it wrote."""

    code: int | None
    body: bytes
    said: str
    """On standard error."""


async def child_answer(program: Sequence[str], asked: bytes, limit_s: float) -> ChildAnswer:
    """What Python answers that is started with these arguments; it is killed where nobody waits.

    Raises TimeoutError where it takes longer than ``limit_s``.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", *program),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        **own_group(_NICE),
    )
    try:
        async with asyncio.timeout(limit_s):
            body, said = await process.communicate(asked)
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return ChildAnswer(process.returncode, body, said.decode("utf-8", "replace").strip())


def step_back() -> None:
    """Give this program the low priority; on Windows whoever started it has done so."""
    if sys.platform != "win32":
        os.nice(_NICE)
