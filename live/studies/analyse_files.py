"""Analysis of finished games in PGN files, by the parts of the live service."""

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
from live.event.choose_measure import open_event
from live.event.event import Event
from live.event_parts import EngineParts, EventParts, connect_event, run_event
from live.games.game import is_played
from live.games.game_matching import match_games
from live.games.player_lists import add_neighbouring_lists
from live.journal.event_journal import EventJournal
from live.messages.from_sources import FeedReport
from live.messages.to_clients import Change, GameMessage
from live.messages.values import GameId
from live.process.signals import derive_exit_code, run_until_stopped, stop_on_signals
from live.process.stderr_log import log_to_stderr
from live.screens.command_output import build_progress_bar, print_line
from live.screens.terminal.text import plain
from live.settings import Config
from live.sources.pgn_file import read_pgn_file
from live.watch.finding import format_count


async def analyse_files(
    config: Config,
    files: Sequence[Path],
    *,
    evals: Literal["engine", "pgn"],
    walkovers: bool = False,
    stop: asyncio.Event | None = None,
    human: bool = False,
) -> Event:
    """Return all games of the files in their order, with every figure that is known
    when the analysis ends.

    Args:
        config: the settings.
        files: the PGN files.
        evals: the source of scores: an engine, or the ``[%eval]`` comments.
        walkovers: whether to keep games in which a side never moved.
        stop: ends the analysis early when it is set.
        human: whether to predict also the moves that human players would choose.

    Raises:
        InputError: a file does not exist or contains no game that counts.
    """
    log_to_stderr(config.log.level)
    reports = [read_pgn_file(file) for file in files]
    _check_readable(reports)
    if not walkovers:
        reports = _drop_walkovers(reports)
    config = msgspec.structs.replace(
        config, feeds=add_neighbouring_lists(files, config.feeds)
    )
    journal = EventJournal()
    if evals == "pgn":
        games = chain.from_iterable(report.games for report in reports)
        moves = chain.from_iterable(game.moves for game in games)
        if not any(move.eval for move in moves):
            raise InputError(
                ", ".join(map(str, files)),
                _explain_no_evals(reports),
                "Use --evals engine",
            )
        event = open_event(
            config, "[%eval] of the PGN", "as given", engine_scores=False
        )
        parts = connect_event(config, journal, event)
        parts.arbiter.should_log = lambda: False
        await _apply_reports(parts, reports)
    else:
        running = run_event(config, journal, live=False, human=human)
        async with running as (parts, engine_parts):
            # Commands say by themselves what could not be read.
            parts.arbiter.should_log = lambda: False
            with _show_progress(parts):
                work = _analyse_reports(parts, engine_parts, reports)
                await run_until_stopped(work, stop or asyncio.Event())
    _order_by_files(parts.event, reports)
    for doubt in parts.event.lists.doubtful:
        print_line(
            f"Rating list: {plain(doubt)}. This list is not used.",
            Console(stderr=True),
        )
    return parts.event


async def analyse_files_to_end(
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
            "The next run starts again; live-rate study run keeps finished searches",
            exit_code=derive_exit_code(signals),
        )
    return state


def _check_readable(reports: Sequence[FeedReport]) -> None:
    """Raise InputError if no move of any game can be read, with the first problem.

    A game that was not played has no moves either, but no problem.
    """
    games = list(chain.from_iterable(report.games for report in reports))
    if any(game.moves or not game.problem for game in games):
        return
    names = ", ".join(report.feed for report in reports)
    problem = plain(games[0].problem or "", 100)
    raise InputError(
        names, f"no move can be read: {problem}", "Give a PGN file: tags, then moves"
    )


def _explain_no_evals(reports: Sequence[FeedReport]) -> str:
    """Return the message that the files contain no ``[%eval]`` comment. It includes the
    first problem of reading, because the unreadable parts might have contained such
    comments.
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
    number = format_count(games, "game")
    return f"Left out: {number} in which a side made no move, treated as walkovers."


async def _apply_reports(parts: EventParts, reports: Sequence[FeedReport]) -> None:
    for report in reports:
        await parts.inbox.take(report)


async def _analyse_reports(
    parts: EventParts, engine_parts: EngineParts, reports: Sequence[FeedReport]
) -> None:
    """Apply the reports; return when every search has its result and the measurement of
    the engine has ended.
    """
    await _apply_reports(parts, reports)
    await parts.inbox.wait_until(lambda: parts.event.is_analysed)
    await engine_parts.measuring.run()


def _order_by_files(event: Event, reports: Sequence[FeedReport]) -> None:
    """List the games of the event in the order of the files.

    The event itself adds games without a round in an order of its own.
    """
    order: list[GameId] = []
    for report in map(event.lists.complete_report, reports):
        ids = match_games(event.index, report.feed, report.games, complete=True)
        order += [ids[place] for place in sorted(ids)]
    event.set_order(order)


@contextlib.contextmanager
def _show_progress(parts: EventParts) -> Iterator[None]:
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
            measuring = parts.event.engines().measuring
            if measuring is not None and measuring.done:
                words = "measuring the engine, once"
                scored = measuring.done
                played = measuring.of
            bar.update(task, description=words, completed=scored, total=played)

        if console.is_terminal:
            parts.bus.subscribe(show)
        yield
