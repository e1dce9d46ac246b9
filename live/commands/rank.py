"""The command ``live-rate rank``."""

from pathlib import Path
from typing import Annotated, Literal

from live.commands.command_options import RUN, SEARCH, Ended, Evals, Settings


def rank(
    pgn: list[Path],
    *,
    by: Literal["covariance", "convolution", "markov"] = "covariance",
    evals: Evals = "engine",
    json: str | None = None,
    settings: Annotated[Settings, f"{SEARCH} {RUN}"],
) -> Ended:
    """Rank the players by every figure, ties as ties; and predict everybody against
    everybody.

    Options:
        pgn: [PGN...] Games of the event.
        by: Predictor for the pairings of the battle royale.
    """
    config = settings.load()
    from live.studies.player_studies import rank_players

    return rank_players(config, pgn, evals=evals, by=by, json=json)
