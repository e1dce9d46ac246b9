"""Tables and figures of a named corpus, made by a process beside ours. Shell.

They take seconds to minutes and a whole processor: so they are made one after the other, with low
priority, and kept until the corpus changes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from live.publish.export.event_exports import ExportedFile, ExportFailed, child_answer

_log = logging.getLogger(__name__)

#: What takes longer is for the command; nobody else's table is made meanwhile.
LIMIT_S: Final = 300.0
#: So many are being made or wait for their turn.
_MOST_WAITING: Final = 8
#: And so many for one address.
_MOST_FOR_ONE: Final = 2
#: What the process ends with where the question is at fault, not the corpus or what is installed.
REFUSED: Final = 2
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


class AskedTooMuch(Exception):
    """Others are being made already for whoever asks."""


class StudyFiles:
    """Makes what is asked for of one corpus."""

    def __init__(self, corpus: Path, setting: int | None, maker: Sequence[str]) -> None:
        """``maker``: arguments of Python for a process that reads a question as JSON from standard
        input and writes the file; it ends with ``REFUSED``, and a line on standard error, where
        the question is at fault.
        """
        self.corpus = corpus
        self.setting = setting
        self._maker = tuple(maker)
        # Refusals too: the same question has the same answer until the corpus changes.
        self._made: dict[tuple[StudyQuestion, object], asyncio.Task[ExportedFile]] = {}
        self._turn = asyncio.Lock()
        self._making_for = Counter[str]()
        self._waiting = Counter[asyncio.Task[ExportedFile]]()

    async def file(self, question: StudyQuestion, asker: str = "") -> ExportedFile:
        """The file. ``asker``: the address of who wants it, empty for who is not counted.

        Raises:
            StudyRefused: there is no such thing.
            AskedTooMuch: two others are being made for this address.
            ExportFailed: not now.
        """
        key = question, self._state()
        self._forget(key[1])
        if key not in self._made:
            if sum(not each.done() for each in self._made.values()) >= _MOST_WAITING:
                raise ExportFailed("too many tables are being made")
            if asker and self._making_for[asker] >= _MOST_FOR_ONE:
                raise AskedTooMuch
            self._making_for[asker] += 1
            task = asyncio.ensure_future(self._in_turn(question, asker))
            # Looked at even where nobody waits any more, so that asyncio does not complain.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._made[key] = task
        task = self._made[key]
        self._waiting[task] += 1
        try:
            # Who goes away leaves the others waiting for it.
            return await asyncio.shield(task)
        finally:
            self._waiting -= Counter([task])
            if task not in self._waiting and not task.done():
                # Nobody waits for it any more: others have its place.
                task.cancel()
                self._made.pop(key, None)

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

    async def _in_turn(self, question: StudyQuestion, asker: str) -> ExportedFile:
        try:
            async with self._turn:
                return await self._make(question)
        finally:
            self._making_for -= Counter([asker])

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
        try:
            made = await child_answer(self._maker, msgspec.json.encode(question), LIMIT_S)
        except TimeoutError:
            said_s = f"{question.name}: takes longer than {LIMIT_S:.0f} s here"
            raise StudyRefused(f"{said_s}; `live-rate study` makes it") from None
        if made.code == REFUSED:
            raise StudyRefused(made.said)
        if made.code != 0:
            _log.warning("/study: %s was not made: %s", question.name, made.said)
            raise ExportFailed("it could not be made; the log of the service says why")
        return ExportedFile((TABLE_FORMS | FIGURE_FORMS)[question.form], made.body)
