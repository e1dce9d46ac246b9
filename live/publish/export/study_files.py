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
#: What takes longer is for the command; nobody else's table is made meanwhile.
LIMIT_S: Final = 300.0
#: So many are being made or wait for their turn.
_MOST_WAITING: Final = 4
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
    """There is no such table, player or event, or it takes too long: one line that says so."""


class StudyFiles:
    """Makes what is asked for of one corpus."""

    def __init__(self, corpus: Path, setting: int | None, maker: Sequence[str]) -> None:
        """``maker``: arguments of Python for a process that reads a question as JSON from standard
        input and writes the file; it ends with 2, and a line on standard error, to refuse.
        """
        self.corpus = corpus
        self.setting = setting
        self._maker = tuple(maker)
        # Refusals too: the same question has the same answer until the corpus changes.
        self._made: dict[tuple[StudyQuestion, object], asyncio.Task[ExportedFile]] = {}
        self._turn = asyncio.Lock()

    async def file(self, question: StudyQuestion) -> ExportedFile:
        """The file.

        Raises:
            StudyRefused: there is no such thing.
            ExportFailed: not now.
        """
        key = question, self._state()
        self._forget(key[1])
        if key not in self._made:
            if sum(not each.done() for each in self._made.values()) >= _MOST_WAITING:
                raise ExportFailed("too many tables are being made")
            task = asyncio.ensure_future(self._in_turn(question))
            # Looked at even where nobody waits any more, so that asyncio does not complain.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._made[key] = task
        # Who goes away leaves the others waiting for it.
        return await asyncio.shield(self._made[key])

    def _forget(self, state: object) -> None:
        """What was made of an older corpus, what failed, and what is too much."""
        for key, task in list(self._made.items()):
            failed = task.done() and (
                task.cancelled() or isinstance(task.exception(), ExportFailed | OSError)
            )
            if task.done() and (failed or key[1] != state):
                del self._made[key]
        for key in [each for each, task in self._made.items() if task.done()][:-_KEPT_FILES]:
            del self._made[key]

    async def _in_turn(self, question: StudyQuestion) -> ExportedFile:
        async with self._turn:
            return await self._make(question)

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
            said_s = f"{question.name}: takes longer than {LIMIT_S:.0f} s here"
            raise StudyRefused(f"{said_s}; `live-rate study` makes it") from None
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
