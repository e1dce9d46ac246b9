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
    """Train a neural network of human moves on rated games, without those held out;
    continues after a break.

    Needs torch: pip install 'live-rate[train]'.

    Options:
        games: [GAMES...] Rated games as NDJSON.
        out: [FILE] The network, as ONNX; positions and checkpoints are written beside
            it.
        hours: [H] How long to train.
        threads: [N] Cores to train on.
    """
    from live.studies.learning.human_commands import train_network

    work = out.with_suffix(".training")
    return train_network(games, out, work, seconds=hours * 3600, threads=threads)
