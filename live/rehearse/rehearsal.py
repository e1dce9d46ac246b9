"""What all rehearsals share: the moments, one after the other at their time, and their mishaps.

A report written as PGN, the way lichess exports a broadcast game. A folder as DGT LiveChess exports
it: a file for each board, rewritten at every move.

What goes wrong during a rehearsal, decided from a seed. Pure.

``live-rate rehearse``: a rehearsal from start to end, with its progress shown.
"""

from __future__ import annotations

import asyncio
import errno
import inspect
import random
import shlex
import tempfile
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import repeat
from pathlib import Path
from typing import Literal

import chess
import msgspec
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from live.clock import Clock, LoopClock
from live.errors import InputError, PortInUse
from live.events import GameReport, Move
from live.feeds.game_timeline import GameMoment, Mistake, PlannedIncident, timeline
from live.publish.exports import (
    clock_command,
    eval_command,
    numbered,
    player_tags,
    tag_lines,
)

#: Called with each moment after it was shown.
Shown = Callable[[GameMoment], None]


async def _done(result: Awaitable[None] | None) -> None:
    if inspect.isawaitable(result):
        await result


def pgn_text(game: GameReport, url: str = "", more: Mapping[str, str] | None = None) -> str:
    """One game ending in its result token and one line end.

    As lichess writes it (lila PgnDump, scalachess Pgn): movetext in one line, a clock of whole
    seconds without padded hours after every move, `` *`` for a game without moves. ``url`` is
    the ``GameURL`` header, the only stable key a game has there; ``more`` are further tags.
    """
    headers = game.headers
    setup = game.start_fen != chess.STARTING_FEN
    tags = {
        "Event": headers.event or "?",
        "Site": headers.site,
        "Date": headers.date,
        "Round": headers.round,
        "Board": headers.board,
        "White": headers.white.name or "?",
        "Black": headers.black.name or "?",
        "Result": game.result,
        **dict(player_tags(headers.white, headers.black)),
        "TimeControl": headers.time_control,
        "Variant": "Chess960" if headers.variant == "chess960" else headers.variant.capitalize(),
        "FEN": game.start_fen if setup else None,
        "SetUp": "1" if setup else None,
        "GameURL": url or headers.url,
        **(more or {}),
    }
    moves = numbered(game, ((move.san, _commands(move)) for move in game.moves))
    text = " ".join([*moves, *_broken(game.problem), game.result])
    return f"{tag_lines(tags.items())}\n{'' if game.moves else ' '}{text}\n"


def _broken(problem: str | None) -> list[str]:
    """What a reader cannot read where the report says so: the illegal move, or a comment without an
    end, as far as the next game.
    """
    match (problem or "").split():
        case ["illegal", "move", san, *_]:
            return [san]
        case ["a", "comment", *_]:
            return ["{ never closed"]
    return []


def _commands(move: Move) -> list[str]:
    commands = []
    if (score := move.eval) is not None:
        commands.append(eval_command(score.cp, score.mate))
    if move.clock_s is not None:
        commands.append(clock_command(int(move.clock_s)))
    return commands


#: Connections after this many are good: a rehearsal has to come to its end. So are the answers of
#: a server that is asked again and again, and messages of a source that speaks by itself.
BAD_CONNECTIONS = 6
BAD_REQUESTS = 60
BAD_MESSAGES = 400
#: How many of those answers are bad.
BAD_SHARE = 0.25

#: ``drop``: the connection breaks off first; ``repeat``: it is sent twice; ``garble``: something
#: unreadable comes before it; ``stall``: it comes only with the next of its game.
Mishap = Literal["", "drop", "repeat", "garble", "stall"]
_MISHAPS: tuple[Mishap, ...] = ("drop", "repeat", "garble", "stall")

ALL_WELL: Iterator[Mishap] = repeat("")


class ConnectionFaults(msgspec.Struct, frozen=True):
    """How one connection fares."""

    refuse: int = 0
    """HTTP status it is refused with; 0 for none."""
    retry_after_s: int | None = None
    drop_after: int | None = None
    """Bytes of the body after which it breaks off, in mid-line as it happens."""
    stall_after: int | None = None
    """Bytes of the body after which nothing more comes, though the connection stays."""
    cuts: tuple[int, ...] = ()
    """Lengths of the pieces that the bytes come in, again and again; empty: uncut."""
    repeat: bool = False
    """Every game comes twice."""
    half: bool = False
    """Only the first half comes and nothing says so: a file that was just being written."""


GOOD = ConnectionFaults()
ALL_GOOD: Iterator[ConnectionFaults] = repeat(GOOD)


def fates(
    seed: int | None, most: int, *, share: float = 1.0, half: bool = False
) -> Iterator[ConnectionFaults]:
    """What becomes of each connection or answer in turn, without end; all are good when ``seed``
    is None, and but for cuts after ``most``, of which a ``share`` is bad.

    Only one asks for fewer requests: a follower stays away for a minute then, and after four of
    them in a row a short rehearsal is over before anybody has seen it. ``half``: a text may be cut
    where nothing says so.
    """
    if seed is None:
        yield from ALL_GOOD
    chance = random.Random(seed)
    asked = False
    for _ in range(most if share < 1 else chance.randint(1, most)):
        fate = GOOD
        if chance.random() < share:
            fate = ConnectionFaults(half=True) if half and chance.random() < 0.3 else _bad(chance)
        if fate.refuse == 429:
            if asked:
                continue
            asked = True
        yield fate
    cuts = tuple(chance.randint(1, 3000) for _ in range(17))
    yield from repeat(ConnectionFaults(cuts=cuts))


def _bad(chance: random.Random) -> ConnectionFaults:
    cuts = tuple(chance.randint(1, 200) for _ in range(17))
    after = chance.randint(0, 30_000)
    match chance.choice(["refuse", "refuse politely", "broken", "drop", "drop", "stall"]):
        case "refuse":
            return ConnectionFaults(refuse=429)
        case "refuse politely":
            return ConnectionFaults(refuse=429, retry_after_s=chance.randint(1, 90))
        case "broken":
            return ConnectionFaults(refuse=chance.choice([500, 502, 503]))
        case "drop":
            return ConnectionFaults(drop_after=after, cuts=cuts, repeat=chance.random() < 0.3)
        case _:
            return ConnectionFaults(stall_after=after, cuts=cuts)


def mishaps(seed: int | None) -> Iterator[Mishap]:
    """What goes wrong with each message of a source that speaks by itself; without end.

    All is well after :data:`BAD_MESSAGES`, and when ``seed`` is None.
    """
    if seed is not None:
        chance = random.Random(seed)
        rate = chance.choice([0.02, 0.1, 0.3])
        for _ in range(BAD_MESSAGES):
            bad = chance.random() < rate
            yield chance.choice(_MISHAPS) if bad else ""
    yield from ALL_WELL


def mistaken_on(kinds: Sequence[Mistake], games: Sequence[GameReport]) -> list[PlannedIncident]:
    """One mistake each on the first boards, in the middle of the game; what the alerts are for."""
    played = [(index, game) for index, game in enumerate(games) if len(game.moves) > 2]
    return [
        PlannedIncident(kind, index, len(game.moves) // 2)
        for kind, (index, game) in zip(kinds, played, strict=False)
    ]


def incidents(seed: int | None, games: Sequence[GameReport]) -> list[PlannedIncident]:
    """Which boards take a move back or send a wrong one first; none when ``seed`` is None."""
    if seed is None:
        return []
    chance = random.Random(seed)
    found = []
    for index, game in enumerate(games):
        if game.moves and chance.random() < 0.5:
            kind: Literal["slip", "takeback"] = "slip" if chance.random() < 0.7 else "takeback"
            found.append(PlannedIncident(kind, index, chance.randint(1, len(game.moves))))
    return found


class Rehearsal(ABC):
    """Plays games back over one protocol.

    ::

        async with rehearsal.serving() as feed_spec:
            await rehearsal.play(speed=60)
    """

    def __init__(
        self,
        games: Sequence[GameReport],
        clock: Clock | None = None,
        mishaps: Iterator[Mishap] = ALL_WELL,
    ) -> None:
        """``mishaps``: what goes wrong with each moment."""
        self._games = list(games)
        self._clock = clock or LoopClock()
        self._mishaps = mishaps

    @abstractmethod
    def serving(self, host: str = "127.0.0.1", port: int = 0) -> AbstractAsyncContextManager[str]:
        """Serve while the block runs; gives the ``--feed`` text."""

    @abstractmethod
    def show(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The source now holds this of game number ``index`` (from 0), where others can see it."""

    def tell(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The next moment of game number ``index``: what :meth:`play` does with it."""
        return self.show(index, report)

    def drop(self) -> Awaitable[None] | None:
        """Break connections off, where the protocol has any that are not broken otherwise."""
        return None

    def garble(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """Show something unreadable of a game, where the protocol lets one."""
        return None

    async def play(
        self,
        speed: float = 1.0,
        incidents: Iterable[PlannedIncident] = (),
        shown: Shown | None = None,
    ) -> None:
        """Show the games move by move, ``speed`` times as fast as they were played.

        Returns when the last result is in, where the protocol sends results. By then
        everything that stalled has been shown, and serving goes on.
        """
        stalled: dict[int, GameReport] = {}
        start_s = self._clock.now()
        for moment in timeline(self._games, speed=speed, incidents=incidents):
            wait_s = start_s + moment.at_s - self._clock.now()
            if wait_s > 0:
                await self._clock.sleep(wait_s)
            else:
                await asyncio.sleep(0)
            match next(self._mishaps, ""):
                case "stall":
                    stalled[moment.game] = moment.report
                    continue
                case "drop":
                    await _done(self.drop())
                case "repeat":
                    await _done(self.tell(moment.game, moment.report))
                case "garble":
                    await _done(self.garble(moment.game, moment.report))
            stalled.pop(moment.game, None)
            await _done(self.tell(moment.game, moment.report))
            if shown is not None:
                shown(moment)
        for index, report in stalled.items():
            await _done(self.tell(index, report))


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
        self._write(index, pgn_text(report))

    def garble(self, index: int, report: GameReport) -> None:
        text = pgn_text(report)
        self._write(index, text[: len(text) * 2 // 3])

    def drop(self) -> None:
        """All files are gone for a moment, as when a share is connected anew."""
        away = {path: path.read_bytes() for path in self._folder.glob("game-*.pgn")}
        for path in away:
            path.unlink()
        for path, text in away.items():
            path.write_bytes(text)

    def _write(self, index: int, text: str) -> None:
        (self._folder / f"game-{index + 1}.pgn").write_text(text, encoding="utf-8")


# --- the command ----------------------------------------------------------------------------------


async def rehearse(
    games: Sequence[GameReport],
    protocol: Protocols,
    *,
    speed: float = 1.0,
    seed: int | None = None,
    mistakes: Sequence[Mistake] = (),
    host: str = "127.0.0.1",
    port: int = 0,
    to: str = "",
    linger_s: float = 60.0,
) -> None:
    """Play games back over one protocol; returns ``linger_s`` after the last result.

    The line to follow it with goes to standard output, progress to standard error.

    Raises:
        InputError: the target cannot be used.
        PortInUse: somebody else serves there.
    """
    rehearsal = open_rehearsal(protocol, games, seed=seed, to=to)
    wrong = [*incidents(seed, games), *mistaken_on(mistakes, games)]
    moments = len(timeline(games, incidents=wrong))
    try:
        async with rehearsal.serving(host, port) as spec:
            Console().print(
                f"live-rate --feed {shlex.quote(spec)}",
                markup=False,
                highlight=False,
                soft_wrap=True,
            )
            console = Console(stderr=True)
            with Progress(console=console, disable=not console.is_terminal) as bar:
                task = bar.add_task(f"{len(games)} games", total=moments)

                def shown(moment: GameMoment) -> None:
                    told = moment.report
                    board = told.headers.round or str(moment.game + 1)
                    last = told.moves[-1].san if told.moves else ""
                    said = escape(f"{board}: {last} {told.result}")
                    bar.update(task, advance=1, description=said)

                await rehearsal.play(speed, wrong, shown)
                over = f"over, serving {linger_s:g} s more"
                bar.update(task, completed=moments, description=over)
                await asyncio.sleep(linger_s)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(f"{host}:{port}", "is taken", "Choose another --port") from None
        raise InputError(
            "rehearse", f"cannot serve there ({error.strerror})", "Check --host, --port and --to"
        ) from None


Protocols = Literal["lichess", "pgn-url", "folder"]


def open_rehearsal(
    protocol: Protocols,
    games: Sequence[GameReport],
    *,
    seed: int | None = None,
    to: str = "",
    clock: Clock | None = None,
) -> Rehearsal:
    """A rehearsal of ``games``, with the faults that ``seed`` decides (None: none). ``to`` names a
    folder for ``folder``; where it is empty, one of our own is used.

    Raises:
        InputError: ``to`` means nothing for this protocol.
    """
    from live.rehearse.web_servers import LichessRehearsal, PgnUrlRehearsal

    if protocol == "folder":
        folder = Path(to).expanduser() if to else None
        return FolderRehearsal(games, folder=folder, clock=clock, mishaps=mishaps(seed))
    if to:
        raise InputError("--to", f"means nothing for {protocol}", "It is for folder")
    if protocol == "lichess":
        return LichessRehearsal(games, clock=clock, fates=fates(seed, BAD_CONNECTIONS))
    bad = fates(seed, BAD_REQUESTS, share=BAD_SHARE, half=True)
    return PgnUrlRehearsal(games, clock=clock, fates=bad)
