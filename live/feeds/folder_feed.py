"""``--feed FOLDER``: PGN files as DGT LiveChess and others write them, in folders and sub-folders.

LiveChess writes ``TOURNAMENT/round-N/games.pgn`` and, beside it, the same games one by one as
``game-M.pgn``; which of the two is there depends on its settings. Where there are single games
they are read (they change one at a time), and of the other files beside them only the games that
no single file holds: side events, an Armageddon, an adjourned game. What is left out is named.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from live.errors import FeedUnreadable
from live.events import IN_DOUBT, GameReport
from live.feeds.feed import FeedConditions, FeedSession, FeedSink, follow
from live.feeds.file_feed import (
    FileLook,
    FilesRead,
    Signature,
    Watch,
    look_on,
    missing,
    not_there,
    read,
    signature,
    unreadable,
)
from live.feeds.pgn_snapshots import BelievedText, PgnSnapshots, PgnText, note_of
from live.network.retry import FeedTrouble

# It logs every change that it sees: with the log in the followed folder, for ever.
logging.getLogger("watchfiles").setLevel(logging.WARNING)

log = logging.getLogger(__name__)

#: Bounds of what is looked at: a whole disk given by mistake must not be read.
MAX_FILES = 2000
MAX_DEPTH = 4
_SINGLE = re.compile(r"game-\d+\.pgn", re.IGNORECASE)
_NUMBER = re.compile(r"(\d+)")
#: Plies of one line that show two games to be one, and how many of the last may be in correction.
PROOF_PLIES = 20
CORRECTED_PLIES = 2
#: Games of one player in one round that a game is compared with.
MAX_ALIKE = 20


def held_twice(singles: Iterable[GameReport], games: Sequence[GameReport]) -> list[GameReport]:
    """Those of ``games`` that single files beside them hold as well.

    They have a player and a round in common and are one line, but for the last moves; or they are
    :data:`PROOF_PLIES` plies of one line, whatever their names.
    """
    seated: dict[tuple[str, str], list[GameReport]] = defaultdict(list)
    lines = set()
    for game in singles:
        for seat in _seats(game):
            seated[seat].append(game)
        if len(game.moves) >= PROOF_PLIES:
            lines.add(_line(game, PROOF_PLIES))
    return [
        game
        for game in games
        if (len(game.moves) >= PROOF_PLIES and _line(game, PROOF_PLIES) in lines)
        or any(_one_line(game, held) for seat in _seats(game) for held in seated[seat][:MAX_ALIKE])
    ]


def _goes_on(game: GameReport, others: Sequence[GameReport], *, cut: bool) -> bool:
    """Whether a game that its file has lost just now others have at least as far."""
    if not cut and not (game.problem or "").startswith(IN_DOUBT):
        return False
    return bool(held_twice([one for one in others if len(one.moves) >= len(game.moves)], [game]))


def _seats(game: GameReport) -> list[tuple[str, str]]:
    told = game.headers
    names = (told.white.name, told.black.name)
    return [(told.round.partition(".")[0], name) for name in names if name]


def _line(game: GameReport, plies: int) -> tuple[str, ...]:
    return (game.start_fen, *(move.uci for move in game.moves[:plies]))


def _one_line(one: GameReport, other: GameReport) -> bool:
    plies = max(0, min(len(one.moves), len(other.moves)) - CORRECTED_PLIES)
    return _line(one, plies) == _line(other, plies)


def _order(path: Path) -> list[list[tuple[bool, int, str]]]:
    return [
        [(word.isdecimal(), int(word) if word.isdecimal() else 0, word) for word in words]
        for words in (_NUMBER.split(part[:255]) for part in path.parts)
    ]


def scan(folder: Path) -> dict[Path, Signature]:
    """The files to read below a folder, each with what shows whether it changed.

    Raises OSError when the folder itself cannot be read; unreadable entries below it are left out.
    """
    os.listdir(folder)
    found: list[Path] = []
    for here, folders, names in os.walk(folder):
        if len(Path(here).relative_to(folder).parts) >= MAX_DEPTH:
            folders.clear()
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [
            Path(here, name)
            for name in names
            if name.lower().endswith(".pgn") and not name.startswith(".")
        ]
        if len(found) > MAX_FILES:
            raise FeedTrouble(
                f"there are more than {MAX_FILES} PGN files",
                fatal=FeedUnreadable(
                    str(folder),
                    f"holds more than {MAX_FILES} PGN files",
                    "Give the folder of one tournament",
                ),
            )
    signatures: dict[Path, Signature] = {}
    for path in sorted(found, key=_order):
        try:
            signatures[path] = signature(path)
        except OSError:  # gone in this very moment
            continue
    return signatures


class FolderFeed:
    """Reports the games of all PGN files below a folder whenever one changes.

    Over when every game has a result and nothing has changed for the grace period.
    """

    def __init__(
        self, name: str, path: Path, conditions: FeedConditions, watch: Watch | None = None
    ) -> None:
        self.name = name
        self._path = path
        self._conditions = conditions
        self._watch = watch or watch_tree
        self._texts: dict[Path, PgnText] = {}
        self._seen = FilesRead(conditions.clock)
        self._left_out: dict[Path, str | None] = {}
        """Files that could not be read, and why."""
        self._doubles: dict[Path, str] = {}
        """Files that are left out, or part of them, and why."""
        self._snapshots = PgnSnapshots(conditions)

    async def run(self, sink: FeedSink) -> None:
        await follow(self.name, self._follow, sink, self._conditions)

    async def _follow(self, session: FeedSession) -> None:
        self._seen.forget()
        await look_on(self._path, self._look, self._watch, session, self._conditions)

    async def _look(self, session: FeedSession) -> FileLook:
        try:
            now = await asyncio.to_thread(scan, self._path)
        except FileNotFoundError:
            if not session.reported and not self._conditions.waiting:
                raise not_there(self.name) from None
            session.show_waiting(missing("folder", session, self._conditions))
            return FileLook(None, there=False)
        except OSError as error:
            raise unreadable(self.name, error) from error
        for path, mark in now.items():
            if self._seen.due(path, mark):
                await self._read(path)
        for path in self._texts.keys() - now.keys():
            await self._texts[path].take(b"")  # perhaps just being replaced: it settles
        self._seen.forget(self._texts.keys() - now.keys())
        beliefs = {path: await text.believe() for path, text in self._texts.items()}
        beliefs |= self._without_doubles(beliefs)
        again_s = await self._snapshots.report(
            [beliefs[path] for path in sorted(beliefs, key=_order)],
            session,
            [self._note(now)],
        )
        for path, belief in beliefs.items():
            # What comes back half-written is known by what it was, as long as that costs little.
            gone = path not in now and belief.complete and not belief.games
            if gone and len(self._texts) > MAX_FILES:
                del self._texts[path]
        return FileLook(again_s)

    def _without_doubles(self, beliefs: dict[Path, BelievedText]) -> dict[Path, BelievedText]:
        """Files beside single games, without what these hold; what is left out is noted. While a
        single file has lost something, the others go on with its game.
        """
        singles: dict[Path, list[GameReport]] = defaultdict(list)
        others: dict[Path, list[GameReport]] = defaultdict(list)
        for path, belief in beliefs.items():
            if not _SINGLE.fullmatch(path.name):
                others[path.parent] += belief.games
        found = {}
        for path, belief in beliefs.items():
            if not _SINGLE.fullmatch(path.name):
                continue
            cut = not self._texts[path].whole
            kept = tuple(
                game for game in belief.games if not _goes_on(game, others[path.parent], cut=cut)
            )
            singles[path.parent] += kept
            if len(kept) < len(belief.games):
                found[path] = msgspec.structs.replace(belief, games=kept, doubted=0)
        doubles = {}
        for path, belief in beliefs.items():
            if _SINGLE.fullmatch(path.name) or path.parent not in singles:
                continue
            twice = held_twice(singles[path.parent], belief.games)
            if twice:
                games = tuple(game for game in belief.games if game not in twice)
                found[path] = msgspec.structs.replace(belief, games=games)
                what = f"{len(twice)} of its {len(belief.games)} games" if games else "its games"
                doubles[path] = f"{path.name}, {what} being in single files"
        for path, reason in doubles.items():
            if self._doubles.get(path) != reason:
                log.info("%s: left out: %s", path, reason)
        self._doubles = doubles
        return found

    def _note(self, now: dict[Path, Signature]) -> str:
        failing = [path.name for path in now if path in self._left_out]
        named = f"cannot be read: {', '.join(failing)}" if failing else ""
        doubles = f"left out: {', '.join(self._doubles.values())}" if self._doubles else ""
        return "; ".join(filter(None, [named, doubles, *map(note_of, self._texts.values())]))

    async def _read(self, path: Path) -> None:
        """One file; whatever is wrong with it costs no other file, and is tried again: its writer
        may hold it for a moment.
        """
        text = self._texts.get(path) or PgnText(str(path), self._conditions)
        try:
            await text.take(await asyncio.to_thread(read, path, self._conditions.config.max_bytes))
        except (FeedTrouble, OSError) as error:
            reason = error.reason if isinstance(error, FeedTrouble) else error.strerror
            if self._left_out.get(path, "") != reason:
                log.warning("%s: left out: %s", path, reason)
            self._left_out[path] = reason
            return
        self._left_out.pop(path, None)
        self._seen.was_read(path)
        self._texts[path] = text


async def watch_tree(path: Path, changed: asyncio.Event) -> None:
    """Set ``changed`` whenever the system reports a change of a PGN file below ``path``."""
    from watchfiles import Change, awatch  # here, because only this kind of feed needs it

    def concerns(change: Change, changed_path: str) -> bool:
        return changed_path.lower().endswith(".pgn")

    async for _ in awatch(path, watch_filter=concerns, debounce=100, step=20):
        changed.set()
