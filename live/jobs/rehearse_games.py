"""``live-rate rehearse`` and ``live-rate feeds``: part of the composition root."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from live.config import Config
from live.errors import InputError
from live.feeds.open_feed import ProbedSource, probe
from live.games.game import main_round
from live.jobs.analyze_games import read_pgn, write_json
from live.rehearse.open_rehearsal import Protocols
from live.rehearse.open_rehearsal import rehearse as play_back
from live.terminal.text import plain


async def rehearse(pgn: Path, protocol: Protocols, *, round_name: str, **how: Any) -> int:
    """``live-rate rehearse``; returns the exit code. ``how``: as ``rehearsal_run`` takes it.

    Raises:
        InputError: the file holds no such games, or the target cannot be used.
        PortInUse: somebody else serves there.
    """
    games = [
        game
        for game in read_pgn(pgn).games
        if not round_name or main_round(game.headers.round) == main_round(round_name)
    ]
    if not games:
        raise InputError(str(pgn), f"has no round {round_name}", "Look at its Round tags")
    await play_back(games, protocol, **how)
    return 0


async def probe_feeds(config: Config, specs: Sequence[str], *, json: bool, within_s: float) -> int:
    """``live-rate feeds``; returns 0 when every source answers, else 1."""
    findings = await probe(specs, config.feeds, within_s=within_s)
    if json:
        write_json("-", findings)
    else:
        console = Console()
        for finding in findings:
            _print(finding, console)
    return 0 if all(finding.answers for finding in findings) else 1


def _print(finding: ProbedSource, console: Console) -> None:
    mark, style = ("●", "green") if finding.answers else ("✗", "red")
    line = Text.assemble(
        (f"{mark} ", style),
        (plain(finding.feed, 200), "bold"),
        f"  {finding.kind or 'no source'}: ",
        plain(finding.detail, 300),
    )
    console.print(line, soft_wrap=True)
    if not finding.games:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("Round", "Bd", "White", "Black", "Plies", "Last", "Result"):
        table.add_column(head, justify="right" if head in ("Bd", "Plies") else "left")
    for game in finding.games:
        table.add_row(
            plain(game.round, 12),
            str(game.board or ""),
            plain(game.white, 28),
            plain(game.black, 28),
            str(game.plies),
            plain(game.last_move, 8),
            plain(game.problem, 40) if game.problem else game.result,
        )
    console.print(table)
