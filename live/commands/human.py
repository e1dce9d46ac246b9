"""The command ``live-rate human``."""

from pathlib import Path
from typing import Annotated, Literal

from live.commands.command_options import Ended, Positive, Settings
from live.errors import InputError


def human(
    files: list[Path] | None = None,
    *,
    check: list[Path] | None = None,
    only: Literal["all", "train", "validation", "test"] = "all",
    games: Positive = None,
    json: str | None = None,
    settings: Annotated[Settings, "network config"],
) -> Ended:
    """Test how well the neural network of human moves predicts the moves of games.

    A file has one game per line: m (moves in UCI), w and b (Elo), kind (otb, classical,
    rapid, blitz or bullet), and if known wid and bid (the players' numbers).

    Options:
        files: [GAMES...] More files for --check.
        check: [GAMES] Rated games as NDJSON; can be repeated.
        only: All games, those for training, or a part held out of it.
        games: [N] At most so many, spread over the files.
    """
    if not check:
        raise InputError("human", "there is nothing to do", "Give --check GAMES.ndjson")
    from live.studies.learning.human_commands import check_network

    return check_network(
        [*check, *(files or [])],
        settings.load().human.network,
        part=only,
        most_games=games,
        json=json,
    )
