"""Analysis of finished games in PGN files, by the live pipeline."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec
from rich.console import Console

from live.errors import InputError, Interrupted
from live.event.event import Event
from live.games.game import is_played
from live.games.player_lists import add_neighbouring_lists
from live.messages.from_sources import FeedReport
from live.messages.to_clients import Change, GameMessage
from live.messages.values import GameId
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr
from live.screens.command_output import build_progress_bar, print_line
from live.screens.terminal.text import plain
from live.service.event_service import EventService
from live.settings import Config
from live.sources.pgn_file import read_pgn_file
from live.watch.finding import count_things


async def analyse_files(
    config: Config,
    files: Sequence[Path],
    *,
    evals: Literal["engine", "pgn"],
    walkovers: bool = False,
    stop: asyncio.Event | None = None,
    human: bool = False,
) -> Event:
    """Return all games of the files, with every figure that is known when the analysis
    ends.

    Args:
        config: the settings.
        files: the PGN files.
        evals: the source of scores: an engine, or the ``[%eval]`` comments.
        walkovers: whether to keep games in which a side never moved.
        stop: ends the analysis early when it is set.
        human: whether to estimate also what players would have played.

    Raises:
        InputError: a file does not exist, contains no game, or none that counts.
    """
    log_to_stderr(config.log.level)
    reports = [read_pgn_file(file) for file in files]
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
        service.open_event("[%eval] of the PGN", "as given", engine_scores=False)
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
        InputError: as in :func:`analyse_files`.
        Interrupted: Ctrl-C or SIGTERM ended ``command``; the text says what is lost.
    """
    stop = asyncio.Event()
    with stop_on_signals(stop) as signals:
        state = await analyse_files(config, files, evals=evals, stop=stop)
    if signals:
        games = list(state.games())
        scored = sum(game.plies_scored for game in games)
        played = sum(game.plies_played for game in games)
        raise Interrupted(
            command,
            f"stopped after {scored} of {played} moves had their score; nothing is"
            f" kept",
            "It begins again the next time; live-rate study run keeps what it searches",
            exit_code=derive_exit_code(signals),
        )
    return state


def _explain_no_evals(reports: Sequence[FeedReport]) -> str:
    """Return the reason why there are no evaluations: unreadable parts might have
    contained them.
    """
    games = chain.from_iterable(report.games for report in reports)
    problems = [game.problem for game in games if game.problem]
    first = f" in what can be read: {plain(problems[0])}" if problems else ""
    rest = f" (and {len(problems) - 1} more like it)" if len(problems) > 1 else ""
    return f"holds no [%eval] comment{first}{rest}"


def _drop_walkovers(reports: Sequence[FeedReport]) -> list[FeedReport]:
    played = [
        msgspec.structs.replace(report, games=tuple(filter(is_played, report.games)))
        for report in reports
    ]
    games = sum(len(report.games) for report in played)
    if not games:
        names = ", ".join(report.feed for report in reports)
        raise InputError(
            names, "holds no game with moves", "Give games that were played"
        )
    if left_out := sum(len(report.games) for report in reports) - games:
        print_line(describe_walkovers(left_out), Console(stderr=True))
    return played


def describe_walkovers(games: int) -> str:
    """Return the message about games that do not count because a side never moved."""
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


@contextlib.contextmanager
def _show_progress(service: EventService) -> Iterator[None]:
    """Show on standard error how many plies have a score."""
    console = Console(stderr=True)
    with build_progress_bar(console) as bar:
        task = bar.add_task("")
        counts = dict[GameId, Counter[str]]()
        total = Counter[str]()

        def show(changes: Iterable[Change]) -> None:
            words = "analysing plies"
            for change in changes:
                if isinstance(change, GameMessage):
                    game = change.game
                    counts_now = Counter(
                        scored=game.plies_scored, played=game.plies_played
                    )
                    total.subtract(counts.get(game.id, ()))
                    total.update(counts_now)
                    counts[game.id] = counts_now
            scored = total["scored"]
            played = total["played"]
            if (measuring := service.state.engines().measuring) is not None:
                words = "measuring the engine, once"
                scored = measuring.done
                played = measuring.of
            bar.update(task, description=words, completed=scored, total=played)

        if console.is_terminal:
            service.bus.subscribe(show)
        yield
