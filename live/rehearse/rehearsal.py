"""What all rehearsals share: the moments, one after the other at their time, and their mishaps.

A report written as PGN, the way lichess exports a broadcast game. A folder as DGT LiveChess exports
it: a file for each board, rewritten at every move.

``live-rate rehearse``: a rehearsal from start to end, with its progress shown.
"""

from __future__ import annotations

import asyncio
import errno
import inspect
import shlex
import tempfile
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal

import chess
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


def mistaken_on(kinds: Sequence[Mistake], games: Sequence[GameReport]) -> list[PlannedIncident]:
    """One mistake each on the first boards, in the middle of the game; what the alerts are for."""
    played = [(index, game) for index, game in enumerate(games) if len(game.moves) > 2]
    return [
        PlannedIncident(kind, index, len(game.moves) // 2)
        for kind, (index, game) in zip(kinds, played, strict=False)
    ]


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
    ) -> None:
        self._games = list(games)
        self._clock = clock or LoopClock()
        self._texts: dict[int, bytes] = {}
        """What others can see of each game."""

    @abstractmethod
    def serving(self, host: str = "127.0.0.1", port: int = 0) -> AbstractAsyncContextManager[str]:
        """Serve while the block runs; gives the ``--feed`` text."""

    @abstractmethod
    def show(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The source now holds this of game number ``index`` (from 0), where others can see it."""

    def tell(self, index: int, report: GameReport) -> Awaitable[None] | None:
        """The next moment of game number ``index``: what :meth:`play` does with it."""
        return self.show(index, report)

    async def play(
        self,
        speed: float = 1.0,
        incidents: Iterable[PlannedIncident] = (),
        shown: Shown | None = None,
    ) -> None:
        """Show the games move by move, ``speed`` times as fast as they were played.

        Returns when the last result is in, where the protocol sends results; serving goes on.
        """
        start_s = self._clock.now()
        for moment in timeline(self._games, speed=speed, incidents=incidents):
            await self._clock.sleep(max(0.0, start_s + moment.at_s - self._clock.now()))
            result = self.tell(moment.game, moment.report)
            if inspect.isawaitable(result):
                await result
            if shown is not None:
                shown(moment)


class FolderRehearsal(Rehearsal):
    """Writes games into ``FOLDER/round-1/game-N.pgn``, each file in place and not at once."""

    def __init__(
        self,
        games: Sequence[GameReport],
        *,
        folder: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(games, clock)
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
        self.write(index, pgn_text(report))

    def write(self, index: int, text: str) -> None:
        """The file of game number ``index`` (from 0) now holds this text."""
        (self._folder / f"game-{index + 1}.pgn").write_text(text, encoding="utf-8")


# --- the command ----------------------------------------------------------------------------------


async def rehearse(
    games: Sequence[GameReport],
    protocol: Protocols,
    *,
    speed: float = 1.0,
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
    rehearsal = open_rehearsal(protocol, games, to=to)
    wrong = mistaken_on(mistakes, games)
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
                    game = moment.report
                    board = game.headers.round or str(moment.game + 1)
                    last = game.moves[-1].san if game.moves else ""
                    said = escape(f"{board}: {last} {game.result}")
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
    protocol: Protocols, games: Sequence[GameReport], *, to: str = "", clock: Clock | None = None
) -> Rehearsal:
    """A rehearsal of ``games``. ``to`` names a folder for ``folder``; where it is empty, one of our
    own is used.

    Raises:
        InputError: ``to`` means nothing for this protocol.
    """
    from live.rehearse.web_servers import LichessRehearsal, PgnUrlRehearsal

    if protocol == "folder":
        folder = Path(to).expanduser() if to else None
        return FolderRehearsal(games, folder=folder, clock=clock)
    if to:
        raise InputError("--to", f"means nothing for {protocol}", "It is for folder")
    kind = LichessRehearsal if protocol == "lichess" else PgnUrlRehearsal
    return kind(games, clock=clock)
