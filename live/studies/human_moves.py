"""Networks of human moves, made and held against games. Part of the composition root: reads files,
asks the clock, prints.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from rich.console import Console

from live.errors import ConfigError, InputError
from live.human.players import open_network
from live.jobs.analyze_games import write
from live.studies.human_check import BAND_ELO, OFF_ELO, check
from live.studies.human_dataset import GameLine, encode_to, games, held_out, part

Part = Literal["all", "train", "validation", "test"]


def check_network(
    files: Sequence[Path], network: str, *, chosen: Part, most: int | None, json: str | None
) -> int:
    """``live-rate human --check``; returns the exit code."""
    _reject_missing(files)
    model = open_network(Path(network) if network else None)
    picked = list(_chosen(files, chosen))
    if not picked:
        raise InputError(
            str(files[0]), "holds no game with moves, both ratings and a known kind", "See the help"
        )
    if most is not None and len(picked) > most:
        # Spread over the files, which are often in order of time or rating.
        picked = [picked[k * len(picked) // most] for k in range(most)]
    report = {"network": model.about, "games": len(picked), **check(model, picked).report()}
    if json is not None:
        write(json, msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")
    if json != "-":
        _print(report)
    return 0


def train_network(files: Sequence[Path], out: Path, work: Path, **plan: Any) -> int:
    """``live-rate train-human``; returns the exit code."""
    _reject_missing(files)
    try:
        from live.studies.human_train import Plan, export, train
    except ImportError as error:
        raise ConfigError(
            "train-human", f"{error.name} is not installed", "Run: pip install 'live-rate[train]'"
        ) from None
    wanted = Plan(**plan)
    held = held_out()
    for name in ("train", "validation"):
        chosen = part(files, name, held)
        if not chosen:
            raise InputError(str(files[0]), f"no game is left for {name}", "Give more games")
        encode_to(work, [*chosen], name, wanted.seed)
    learned = train(work, wanted, time.time, lambda line: _say(line))
    about = {
        "name": out.stem,
        "learned": ", ".join(path.name for path in files),
        "size": f"{wanted.channels} channels, {wanted.blocks} blocks",
        "seed": str(wanted.seed),
    }
    export(learned, out, about)
    return 0


def _reject_missing(files: Sequence[Path]) -> None:
    for path in files:
        if not path.is_file():
            raise InputError(str(path), "there is no such file", "Give files of games, as NDJSON")


def _chosen(files: Sequence[Path], chosen: Part) -> Iterator[GameLine]:
    held = held_out()
    for path in files:
        for game in games(path):
            if chosen in ("all", held.part_of(game.moves, game.players)):
                yield game


def _say(line: str) -> None:
    Console(stderr=True).print(line, markup=False, highlight=False)


def _print(report: dict[str, Any]) -> None:
    console = Console()

    def line(name: str, figures: dict[str, Any]) -> None:
        wrong = figures["wrong_elo_nll"]
        off = "" if wrong is None else f"  {wrong - figures['right_elo_nll']:+.4f}"
        console.print(
            f"{name:<12}{figures['positions']:>9}{figures['first_choice']:>9.1%}"
            f"{figures['nll']:>8.3f}{off}",
            markup=False,
            highlight=False,
        )

    console.print(
        f"{'':<12}{'positions':>9}{'first':>9}{'nll':>8}  more with Elo {OFF_ELO} off", markup=False
    )
    line("all", report)
    for kind in report["by_kind"]:
        line(kind["kind"], kind)
    for band in report["by_elo"]:
        line(f"{band['elo']}-{band['elo'] + BAND_ELO - 1}", band)
    for reason, many in report["left_out"].items():
        console.print(f"left out: {many} positions, {reason}", markup=False, highlight=False)
