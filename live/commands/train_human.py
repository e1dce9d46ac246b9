"""The command ``live-rate train-human``."""

from pathlib import Path
from typing import Annotated

from live.commands.command_options import Ended, Within


def train_human(
    games: list[Path],
    *,
    out: Path,
    hours: Annotated[float, Within(0.01)] = 8.0,
    threads: Annotated[int, Within(1)] = 2,
) -> Ended:
    """Learn what people play from rated games, without those held out; goes on after a
    break.

    Needs torch: pip install 'live-rate[train]'.

    Options:
        games: [GAMES...] Rated games as NDJSON.
        out: [FILE] The network, as ONNX; positions and checkpoints stand beside it.
        hours: [H] How long to learn.
        threads: [N] Cores to learn on.
    """
    from live.studies.learning.human_commands import train_network

    work = out.with_suffix(".training")
    return train_network(games, out, work, seconds=hours * 3600, threads=threads)
