"""Commands ``live-rate human --check`` and ``train-human``: they read files and the
clock, and print the results.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from live.errors import ConfigError, InputError
from live.human.network import (
    HumanNetwork,
)
from live.screens.command_output import print_line, write_json
from live.studies.learning.held_out import GamePart, read_held_out
from live.studies.learning.human_check import (
    BAND_ELO,
    OFF_ELO,
    Figures,
    evaluate_network,
)
from live.studies.learning.human_positions import select_games, write_positions


def check_network(
    files: Sequence[Path],
    network: str,
    *,
    part: GamePart,
    most_games: int | None,
    json: str | None,
) -> int:
    """Run ``live-rate human --check``; return the exit code."""
    _reject_missing(files)
    model = HumanNetwork(Path(network) if network else None)
    picked = [game for _, game in select_games(files, part, read_held_out())]
    if not picked:
        raise InputError(
            str(files[0]),
            "holds no game with moves, both ratings and a known kind",
            "See the help",
        )
    if most_games is not None and len(picked) > most_games:
        # The games are chosen evenly over the files, which are often sorted by time or
        # rating.
        picked = [picked[k * len(picked) // most_games] for k in range(most_games)]
    report = {
        "network": model.about,
        "games": len(picked),
        **evaluate_network(model, picked),
    }
    if json is not None:
        write_json(json, report, indent=2)
    if json != "-":
        _print_report(report)
    return 0


def train_network(files: Sequence[Path], out: Path, work: Path, **plan: Any) -> int:
    """Run ``live-rate train-human``; return the exit code."""
    _reject_missing(files)
    try:
        from live.studies.learning.human_network import export_network
        from live.studies.learning.human_training import Plan, train
    except ImportError as error:
        raise ConfigError(
            "train-human",
            f"{error.name} is not installed",
            "Run: pip install 'live-rate[train]'",
        ) from None
    training_plan = Plan(**plan)
    held_out = read_held_out()
    for name in ("train", "validation"):
        games = select_games(files, name, held_out)
        if not games:
            raise InputError(
                str(files[0]), f"no game is left for {name}", "Give more games"
            )
        write_positions(work, games, name, training_plan.seed)
    learned = train(
        work,
        training_plan,
        time.time,
        lambda line: print_line(line, Console(stderr=True)),
    )
    metadata = {
        "name": out.stem,
        "learned": ", ".join(path.name for path in files),
        "size": f"{training_plan.channels} channels, {training_plan.blocks} blocks",
        "seed": str(training_plan.seed),
    }
    export_network(learned, out, metadata)
    return 0


def _reject_missing(files: Sequence[Path]) -> None:
    for path in files:
        if not path.is_file():
            raise InputError(
                str(path), "there is no such file", "Give files of games, as NDJSON"
            )


def _print_report(report: Figures) -> None:
    console = Console()

    def print_figures(name: str, figures: Figures) -> None:
        wrong = figures["wrong_elo_nll"]
        off = "" if wrong is None else f"  {wrong - figures['right_elo_nll']:+.4f}"
        shares = f"{figures['first_choice']:>9.1%}{figures['nll']:>8.3f}{off}"
        print_line(f"{name:<12}{figures['positions']:>9}{shares}", console)

    print_line(
        f"{'':<12}{'positions':>9}{'first':>9}{'nll':>8}  more with Elo {OFF_ELO} off",
        console,
    )
    print_figures("all", report)
    for kind in report["by_kind"]:
        print_figures(kind["kind"], kind)
    for band in report["by_elo"]:
        print_figures(f"{band['elo']}-{band['elo'] + BAND_ELO - 1}", band)
    for reason, n in report["left_out"].items():
        print_line(f"left out: {n} positions, {reason}", console)
