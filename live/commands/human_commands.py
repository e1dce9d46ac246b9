"""The commands about what people play: ``human`` and ``train-human``."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from live.commands.command_options import ConfigFlag, DebugFlag, settings_of
from live.errors import InputError


class PartOption(enum.StrEnum):
    """Which games of the files are asked for."""

    ALL = "all"
    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


def add_to(app: typer.Typer) -> None:
    """Put the commands on the command line."""
    app.command("human")(human)
    app.command("train-human")(train_human)


def human(
    check: Annotated[
        list[Path] | None,
        typer.Option("--check", metavar="GAMES", help="Rated games as NDJSON; may be repeated."),
    ] = None,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[GAMES]...", help="More files for --check.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option("--network", metavar="FILE", help="An ONNX file, or a .pb.gz of Maia."),
    ] = None,
    only: Annotated[
        PartOption,
        typer.Option(
            "--only", help="Games that networks learn from, or a part that they never see."
        ),
    ] = PartOption.ALL,
    games: Annotated[
        int | None,
        typer.Option("--games", metavar="N", min=1, help="At most so many, spread over the files."),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write the figures as JSON; - prints them."),
    ] = None,
    config: ConfigFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Hold the network of human moves against games: does it say what was played?

    A file has one game a line: m (moves in UCI), w and b (Elo), kind (otb, classical, rapid,
    blitz or bullet), and where known wid and bid (the players' numbers).
    """
    settings = settings_of(config, human__network=network)
    if not check:
        raise InputError("human", "there is nothing to do", "Give --check GAMES.ndjson")
    from live.studies.human_moves import check_network

    raise typer.Exit(
        check_network(
            [*check, *(files or [])],
            settings.human.network,
            chosen=only.value,
            most=games,
            json=json,
        )
    )


def train_human(
    games: Annotated[list[Path], typer.Argument(metavar="GAMES...", help="Rated games as NDJSON.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The network, as ONNX.")],
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", metavar="PATH", help="Positions and checkpoints; beside --out if not given."
        ),
    ] = None,
    hours: Annotated[
        float, typer.Option("--hours", metavar="H", min=0.01, help="How long to learn.")
    ] = 8.0,
    channels: Annotated[
        int, typer.Option("--channels", metavar="N", min=8, help="Width of the network.")
    ] = 64,
    blocks: Annotated[
        int, typer.Option("--blocks", metavar="N", min=1, help="Depth of the network.")
    ] = 4,
    threads: Annotated[
        int, typer.Option("--threads", metavar="N", min=1, help="Cores to learn on.")
    ] = 2,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Fixes order and sample.")] = 1,
    debug: DebugFlag = False,
) -> None:
    """Learn what people play from rated games, without those held out; goes on after a break.

    Needs torch: pip install 'live-rate[train]'.
    """
    from live.studies.human_moves import train_network

    raise typer.Exit(
        train_network(
            games,
            out,
            folder or out.with_suffix(".training"),
            seconds=hours * 3600,
            channels=channels,
            blocks=blocks,
            threads=threads,
            seed=seed,
        )
    )
