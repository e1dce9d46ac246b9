"""DGT LiveChess' export on this machine: a file for each board, rewritten at every move."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from live.clock import Clock
from live.events import GameReport
from live.rehearse.rehearsal import ALL_WELL, Mishap, Rehearsal, pgn_text


class FolderRehearsal(Rehearsal):
    """Writes games into ``FOLDER/round-1/game-N.pgn``, each file in place and not at once."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        folder: Path | None = None,
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
    ) -> None:
        super().__init__(games, clock, mishaps)
        self._given = folder
        self._folder = Path()

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """The folder stands while the block runs; gives the ``--feed`` text.

        A folder that was given stays afterwards; host and port mean nothing here.
        """
        with tempfile.TemporaryDirectory(prefix="live-rate-") as own:
            self._folder = (self._given or Path(own)) / "round-1"
            self._folder.mkdir(parents=True, exist_ok=True)
            yield f"folder+{self._folder.parent}"

    def show(self, index: int, report: GameReport) -> None:
        """The file of game number ``index`` (from 0) now holds this."""
        self._file(index).write_text(pgn_text(report), encoding="utf-8")

    def garble(self, index: int, report: GameReport) -> None:
        text = pgn_text(report)
        self._file(index).write_text(text[: len(text) * 2 // 3], encoding="utf-8")

    def drop(self) -> None:
        """All files are gone for a moment, as when a share is connected anew."""
        away = {path: path.read_bytes() for path in self._folder.glob("game-*.pgn")}
        for path in away:
            path.unlink()
        for path, text in away.items():
            path.write_bytes(text)

    def _file(self, index: int) -> Path:
        return self._folder / f"game-{index + 1}.pgn"
