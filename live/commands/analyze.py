"""The command ``live-rate analyze``."""

from pathlib import Path
from typing import Annotated

from live.commands.command_options import RUN, SEARCH, Ended, Evals, Settings


def analyze(
    files: list[Path],
    *,
    evals: Evals = "engine",
    json: str | None = None,
    pgn: Path | None = None,
    html: Path | None = None,
    csv: Path | None = None,
    arbiter: bool = False,
    settings: Annotated[Settings, f"{SEARCH} cluster {RUN}"],
) -> Ended:
    """Rate the players of finished games: the same figures as live, from PGN files.

    Options:
        files: [PGN...] Files to analyse.
        pgn: [FILE] Write the games annotated.
        html: [FILE] Write a report to print.
        csv: [FOLDER] Write plies, curves and players as CSV.
        arbiter: Add screening figures to the report.
    """
    config = settings.load()
    from live.commands.analyze_games import analyze as analyze_files

    return analyze_files(
        config,
        files,
        evals=evals,
        json=json,
        pgn=pgn,
        html=html,
        csv=csv,
        arbiter=arbiter,
    )
