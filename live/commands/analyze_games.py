"""``live-rate analyze``: analyses finished games, and prints and writes every
figure.
"""

import asyncio
import datetime as dt
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from rich.console import Console

from live.process.signals import derive_exit_code, stop_on_signals
from live.screens.command_output import (
    check_writable,
    print_line,
    print_tables,
    write_output,
)
from live.screens.reports.report_export import WRITTEN, write_texts
from live.screens.reports.report_files import build_files
from live.screens.reports.report_page import render_report
from live.screens.terminal import printed
from live.screens.terminal.text import plain
from live.server.analysis import Analysis, build_analysis, to_json
from live.server.pgn_writer import write_game
from live.settings import Config
from live.studies.analyse_files import analyse_files
from live.watch.finding import format_count


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

    Ctrl-C ends the analysis; the results so far are printed, marked as partial.
    """
    written = dt.datetime.now().astimezone().strftime(WRITTEN)
    outputs: dict[str | Path | None, Callable[[Analysis], bytes]] = {
        json: to_json,
        pgn: lambda analysis: "\n".join(map(write_game, analysis.games)).encode(),
        html: lambda analysis: render_report(
            analysis, written=written, arbiter=arbiter
        ).encode(),
    }
    outputs.pop(None, None)
    for target in outputs:
        check_writable(str(target))
    stop = asyncio.Event()
    with stop_on_signals(stop) as signals:
        state = await analyse_files(
            config, files, evals=evals, walkovers=True, stop=stop, human=True
        )
    partial = stop.is_set()
    order = [game.id for game in state.games()]
    methods = state.rate_by_methods()
    result = build_analysis(state, methods, partial=partial, order=order)
    for target, build in outputs.items():
        write_output(str(target), build(result))
    if csv is not None:
        texts = build_files(
            result, ["csv"], stem=files[0].stem, written=written, arbiter=arbiter
        )
        write_texts(texts, csv)
    if json != "-":
        _print_analysis(result)
    _print_problems(result, Console(stderr=json == "-"))
    if partial:
        scored = sum(game.plies_scored for game in result.games)
        played = sum(game.plies_played for game in result.games)
        words = (
            f"Stopped: {scored} of {played} moves have their score; what follows"
            " from the others is missing."
            if scored < played
            else "Stopped while the engine was being measured, which is done once:"
            " all moves have their score, and figures use the usual ratio of this"
            " engine's scores."
        )
        print_line(words, Console(stderr=True))
    return derive_exit_code(signals)


def _print_analysis(result: Analysis) -> None:
    console = Console()
    print_tables(result, console)
    console.print(printed.build_methods_table(result.players, width=console.width))


def _print_problems(result: Analysis, console: Console) -> None:
    """Print how many games could be read only in part, and the problem of each game."""
    damaged = sum(bool(game.problem) for game in result.games)
    if damaged:
        games = format_count(len(result.games), "game")
        print_line(f"Read only in part: {damaged} of {games}.", console)
    for game in result.games:
        # Print the sources if several contain the game, and their contradictions.
        sources = (
            f"one game, from {' and '.join((game.feed, *game.also))}"
            if game.also
            else ""
        )
        dispute = f"these contradict each other: {game.dispute}" if game.dispute else ""
        for text in filter(None, (game.problem, sources, dispute)):
            label = f"{plain(game.white.name)} - {plain(game.black.name)}"
            print_line(f"{label}: {plain(text, 400)}", console)
