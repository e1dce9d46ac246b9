"""Tables and figures of a named corpus, made by a process beside ours. Shell.

They take seconds to minutes and a whole processor: so they are made one after the other, with low
priority, and kept until the corpus changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from live.operating_system import own_group
from live.publish.export.event_exports import ExportedFile, ExportFailed

_NICE: Final = 10
#: The slowest table over 26,000 games takes some minutes.
LIMIT_S: Final = 900.0
#: More requests than this do not wait for one another.
_MOST_WAITING: Final = 16
_KEPT_FILES: Final = 128

#: Forms of tables and of figures, by the ending of the address.
TABLE_FORMS: Final = {
    "txt": "text/plain; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
}
FIGURE_FORMS: Final = {"svg": "image/svg+xml", "png": "image/png"}


class StudyQuestion(msgspec.Struct, frozen=True):
    """What is to be made: all that a table depends on but for the corpus's content."""

    corpus: str
    setting: int | None
    name: str
    form: str
    """One of ``TABLE_FORMS`` or ``FIGURE_FORMS``."""
    players: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    first_year: int | None = None
    last_year: int | None = None
    by: str | None = None


class StudyRefused(Exception):
    """There is no such table, player or event: one line that says so."""


class StudyFiles:
    """Makes what is asked for of one corpus."""

    def __init__(self, corpus: Path, setting: int | None, maker: Sequence[str]) -> None:
        """``maker``: arguments of Python for a process that reads a question as JSON from standard
        input and writes the file; it ends with 2, and a line on standard error, to refuse.
        """
        self.corpus = corpus
        self.setting = setting
        self._maker = tuple(maker)
        self._made: dict[tuple[StudyQuestion, object], ExportedFile] = {}
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def file(self, question: StudyQuestion) -> ExportedFile:
        """The file.

        Raises:
            StudyRefused: there is no such thing.
            ExportFailed: not now.
        """
        key = question, self._state()
        if key not in self._made:
            if self._waiting >= _MOST_WAITING:
                raise ExportFailed("too many tables are being made")
            self._waiting += 1
            try:
                async with self._turn:
                    if key not in self._made:
                        self._keep(key, await self._make(question))
            finally:
                self._waiting -= 1
        return self._made[key]

    def _keep(self, key: tuple[StudyQuestion, object], made: ExportedFile) -> None:
        # What was made of an older corpus is asked for by nobody.
        for old in [each for each in self._made if each[1] != key[1]]:
            del self._made[old]
        while len(self._made) >= _KEPT_FILES:
            del self._made[next(iter(self._made))]
        self._made[key] = made

    def _state(self) -> object:
        """Changes with the corpus: SQLite writes to the log beside it first."""
        found = []
        for path in (self.corpus, self.corpus.with_name(f"{self.corpus.name}-wal")):
            with contextlib.suppress(OSError):
                at = path.stat()
                found.append((path.name, at.st_mtime_ns, at.st_size))
        if not found or found[0][0] != self.corpus.name:
            raise ExportFailed(f"the corpus {self.corpus.name} is not there any more")
        # An empty log is no change: every reader makes one, and the last takes it away.
        return tuple(each for each in found if each[2])

    async def _make(self, question: StudyQuestion) -> ExportedFile:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", *self._maker),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            **own_group(_NICE),
        )
        try:
            async with asyncio.timeout(LIMIT_S):
                body, said = await process.communicate(msgspec.json.encode(question))
        except TimeoutError:
            raise ExportFailed(f"it was not made within {LIMIT_S:.0f} s") from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if process.returncode == 2:
            raise StudyRefused(said.decode("utf-8", "replace").strip())
        if process.returncode != 0:
            raise ExportFailed("it could not be made; `live-rate study` says why")
        return ExportedFile((TABLE_FORMS | FIGURE_FORMS)[question.form], body)
