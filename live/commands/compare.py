"""The command ``live-rate compare``."""

from pathlib import Path
from typing import Annotated

from live.commands.command_options import RUN, SEARCH, Ended, Evals, Settings


def compare(
    pgn: list[Path],
    *,
    players: tuple[str, str],
    evals: Evals = "engine",
    json: str | None = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Predict who would beat whom: every predictor side by side, each with its interval
    or its reason.

    Options:
        pgn: [PGN...] Games of both players.
        players: [A B] Two names, or parts of them.
    """
    config = settings.load()
    from live.studies.player_studies import compare_players

    return compare_players(config, pgn, players, evals=evals, json=json)
