"""``live-rate analyze`` and ``rehearse``, and what other commands need of finished
games.
"""

import asyncio
import contextlib
import datetime as dt
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import msgspec
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from live.errors import InputError, Interrupted
from live.event.event import Event
from live.games.game import is_played
from live.games.player_lists import add_neighbouring_lists
from live.games.rounds import normalise_round
from live.journal.journal_file import make_private
from live.messages.from_sources import FeedReport
from live.messages.to_clients import Change, GameMessage
from live.messages.values import GameId
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr
from live.rehearse.rehearsal import Protocols
from live.rehearse.rehearsal import rehearse as play_back
from live.screens.reports.report_export import WRITTEN, write_texts
from live.screens.reports.report_files import build_files
from live.screens.reports.report_page import render_report
from live.screens.terminal import printed
from live.screens.terminal.text import plain
from live.server.analysis import Analysis, build_analysis, to_json
from live.server.pgn_writer import write_game
from live.service.event_service import EventService
from live.settings import Config
from live.sources.charset_guess import guess_charset
from live.sources.game_identity import drop_repeated_games
from live.sources.pgn_decoder import PgnLimits, PgnReader
from live.watch.finding import count_things

log = logging.getLogger(__name__)

_ELSEWHERE = "Give another path"
#: A file is held whole anyway and delays nobody, so its games may be longer than a live
#: source's, and commands are found however far into a comment they stand. Reading 64
#: MiB takes seconds.
_OF_A_FILE = PgnLimits(game_bytes=1 << 26)


async def analyze(
    config: Config,
    files: Sequence[Path],
    *,
    evals: Literal["engine", "pgn"],
    json: str | None,
    pgn: Path | None,
    html: Path | None = None,
    csv: Path | None = None,
    arbiter: bool = False,
) -> int:
    """Run ``live-rate analyze``, the live pipeline over finished games; return the exit
    code.

    Ctrl-C ends it with what is known by then, marked as partial.
    """
    written = dt.datetime.now().astimezone().strftime(WRITTEN)
    outputs: dict[str | Path | None, Callable[[Analysis], bytes]] = {
        json: to_json,
        pgn: lambda whole: "\n".join(map(write_game, whole.games)).encode(),
        html: lambda whole: render_report(
            whole, written=written, arbiter=arbiter
        ).encode(),
    }
    outputs.pop(None, None)
    for target in outputs:
        check_writable(str(target))
    stop = asyncio.Event()
    with stop_on_signals(stop) as came:
        state = await analyse_files(
            config, files, evals=evals, walkovers=True, stop=stop, human=True
        )
    partial = stop.is_set()
    result = build_analysis(state, state.rate_by_methods(), partial=partial)
    for target, made in outputs.items():
        write_output(str(target), made(result))
    if csv is not None:
        found = build_files(
            result, ["csv"], stem=files[0].stem, written=written, arbiter=arbiter
        )
        write_texts(found, csv)
    if json != "-":
        _print_analysis(result)
    if partial:
        scored = sum(game.plies_scored for game in result.games)
        played = sum(game.plies_played for game in result.games)
        words = (
            f"Stopped: {scored} of {played} moves have their score; what follows"
            " from the others is missing."
            if scored < played
            else "Stopped while the engine was being measured, which is done once:"
            " all moves have their score, and the figures are transferred by the wider"
            " default."
        )
        print_line(words, Console(stderr=True))
    return derive_exit_code(came)


async def analyse_files(
    config: Config,
    files: Sequence[Path],
    *,
    evals: Literal["engine", "pgn"],
    walkovers: bool = False,
    stop: asyncio.Event | None = None,
    human: bool = False,
) -> Event:
    """Return all games of the files with every figure, as far as it is known when
    ``stop`` is set. Without ``walkovers``, leave out games in which not both players
    moved. ``human``: also estimate what players would have played.

    Raises:
        InputError: a file is not there, or holds no game, or none that counts.
    """
    log_to_stderr(config.log.level)
    reports = [read_pgn(file) for file in files]
    if not walkovers:
        reports = _drop_walkovers(reports)
    config = msgspec.structs.replace(
        config, feeds=add_neighbouring_lists(files, config.feeds)
    )
    service = EventService(config, human=human and evals == "engine")
    if evals == "pgn":
        games = chain.from_iterable(report.games for report in reports)
        moves = chain.from_iterable(game.moves for game in games)
        if not any(move.eval for move in moves):
            raise InputError(
                ", ".join(map(str, files)),
                _explain_no_evals(reports),
                "Use --evals engine",
            )
        service.open_ledger("[%eval] of the PGN", "as given", engine_scores=False)
        await _apply_reports(service, reports)
    else:
        async with service.with_engine(live=False):
            with _show_progress(service):
                work = _apply_reports(service, reports, measured=True)
                await run_until_stopped(work, stop or asyncio.Event())
    for doubt in service.lists.doubtful:
        print_line(
            f"Rating list: {plain(doubt)}. Nothing is taken from it.",
            Console(stderr=True),
        )
    return service.state


async def analyse_files_whole(
    config: Config,
    files: Sequence[Path],
    *,
    command: str,
    evals: Literal["engine", "pgn"],
) -> Event:
    """Return the games of the files in which both players moved, analysed to the end
    (see :func:`analyse_files`).

    Raises:
        InputError: as there.
        Interrupted: Ctrl-C or SIGTERM came; says what is lost. ``command``: of what.
    """
    stop = asyncio.Event()
    with stop_on_signals(stop) as came:
        state = await analyse_files(config, files, evals=evals, stop=stop)
    if came:
        games = list(state.games())
        scored = sum(game.plies_scored for game in games)
        played = sum(game.plies_played for game in games)
        raise Interrupted(
            command,
            f"stopped after {scored} of {played} moves had their score; nothing is"
            f" kept",
            "It begins again the next time; live-rate study run keeps what it searches",
            exit_code=derive_exit_code(came),
        )
    return state


def _explain_no_evals(reports: Sequence[FeedReport]) -> str:
    """Return why there are no evaluations: what could not be read may have held
    them.
    """
    games = chain.from_iterable(report.games for report in reports)
    problems = [game.problem for game in games if game.problem]
    first = f" in what can be read: {plain(problems[0])}" if problems else ""
    others = f" (and {len(problems) - 1} more like it)" if len(problems) > 1 else ""
    return f"holds no [%eval] comment{first}{others}"


def _drop_walkovers(reports: Sequence[FeedReport]) -> list[FeedReport]:
    kept = [
        msgspec.structs.replace(report, games=tuple(filter(is_played, report.games)))
        for report in reports
    ]
    games = sum(len(report.games) for report in kept)
    if not games:
        names = ", ".join(report.feed for report in reports)
        raise InputError(
            names, "holds no game with moves", "Give games that were played"
        )
    if left_out := sum(len(report.games) for report in reports) - games:
        print_line(describe_walkovers(left_out), Console(stderr=True))
    return kept


def describe_walkovers(games: int) -> str:
    """Return the message about games that do not count."""
    number = count_things(games, "game")
    return f"Left out: {number} without a move of both, taken as walkovers."


async def _apply_reports(
    service: EventService, reports: Sequence[FeedReport], *, measured: bool = False
) -> None:
    for report in reports:
        await service.take(report)
    await service.settled()
    if measured:
        await service.measure_engine()


def read_pgn(file: Path) -> FeedReport:
    """Return all games of one file.

    Raises:
        InputError: there is no such file, or no game in it.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(
            str(file), error.strerror or "cannot be read", "Check the path"
        ) from None
    charset = guess_charset(data)
    if charset:
        log.warning("%s: charset guessed: %s", file, charset)
    reader = PgnReader(limits=_OF_A_FILE, fallback_charset=charset or "cp1252")
    read = reader.read_text(data, closed=True)
    games = drop_repeated_games(read)
    if len(games) < len(read):
        repeated = len(read) - len(games)
        log.warning(
            "%s: games that stand in it twice, counted once: %d", file, repeated
        )
    for note in reader.notes:
        log.warning("%s: %s", file, note)
    if reader.left_out:
        log.warning("%s: only the first %d games are read", file, len(games))
    if not games:
        raise InputError(
            str(file), "holds no game", "Give a PGN file: tags, then moves"
        )
    return FeedReport(str(file), games, complete=True)


def build_progress_bar(console: Console) -> Progress:
    """Return a progress bar that shows on a terminal only, and vanishes at the end."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


@contextlib.contextmanager
def _show_progress(service: EventService) -> Iterator[None]:
    """Show on standard error how many plies have their score."""
    console = Console(stderr=True)
    with build_progress_bar(console) as bar:
        task = bar.add_task("")
        known = dict[GameId, Counter[str]]()
        total = Counter[str]()

        def show(changes: Iterable[Change]) -> None:
            words = "analysing plies"
            for change in changes:
                if isinstance(change, GameMessage):
                    game = change.game
                    now = Counter(scored=game.plies_scored, played=game.plies_played)
                    total.subtract(known.get(game.id, ()))
                    total.update(now)
                    known[game.id] = now
            scored = total["scored"]
            played = total["played"]
            if (measuring := service.state.engines().measuring) is not None:
                words = "measuring the engine, once"
                scored = measuring.done
                played = measuring.of
            bar.update(task, description=words, completed=scored, total=played)

        if console.is_terminal:
            service.listen(show)
        yield


def check_writable(target: str | None) -> None:
    """Check before the work starts that a file can be written; leave nothing new.

    Raises:
        InputError: nothing can be written there.
    """
    if target is not None and target != "-":
        new = not Path(target).exists()
        try:
            with open(target, "ab"):
                pass
            if new:
                Path(target).unlink()
        except OSError as error:
            raise InputError(
                target, f"cannot be written ({error.strerror})", _ELSEWHERE
            ) from None


def write_output(target: str, data: bytes, *, private: bool = False) -> None:
    """Write to a file, or to standard output for ``-``. ``private``: only its user may
    read the file.
    """
    if target == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        if private:
            make_private(Path(target))
        Path(target).write_bytes(data)
    except OSError as error:
        raise InputError(
            target, f"cannot be written ({error.strerror})", _ELSEWHERE
        ) from None


def write_json(target: str, figures: object, *, indent: int = 1) -> None:
    """Write readable JSON that ends with a newline; unbounded and unknown are null."""
    write_output(target, to_json(figures, indent))


def print_line(text: str, console: Console) -> None:
    """Print a line without wrapping: paths and addresses are copied from it."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def print_tables(whole: Analysis, console: Console) -> None:
    """Print the tables of games and players."""
    width = console.width
    games = printed.games(
        whole.games, whole.engine, whole.gain, width=width, in_doubt=whole.in_doubt
    )
    console.print(games)
    console.print(printed.players(whole.players, whole.engine, whole.gain, width=width))


def _print_analysis(result: Analysis) -> None:
    console = Console()
    print_tables(result, console)
    console.print(printed.methods(result.players, width=console.width))
    for game in result.games:
        # Which files hold it, and where they contradict each other.
        sources = (
            f"one game, from {' and '.join((game.feed, *game.also))}"
            if game.also
            else ""
        )
        dispute = f"these contradict each other: {game.dispute}" if game.dispute else ""
        for text in filter(None, (game.problem, sources, dispute)):
            label = f"{plain(game.white.name)} - {plain(game.black.name)}"
            print_line(f"{label}: {plain(text, 400)}", console)


async def rehearse(
    pgn: Path, protocol: Protocols, *, round_name: str, **how: Any
) -> int:
    """Run ``live-rate rehearse``; return the exit code. ``how``: the other arguments of
    ``rehearsal_run``.

    Raises:
        InputError: the file holds no such games, or the target cannot be used.
        PortInUse: somebody else serves there.
    """
    games = [
        game
        for game in read_pgn(pgn).games
        if not round_name
        or normalise_round(game.headers.round) == normalise_round(round_name)
    ]
    if not games:
        raise InputError(
            str(pgn), f"has no round {round_name}", "Look at its Round tags"
        )
    await play_back(games, protocol, **how)
    return 0
