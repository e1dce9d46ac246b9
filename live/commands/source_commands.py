"""The commands about sources: ``rehearse`` and ``feeds``."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from live.commands.command_options import (
    SWITCH,
    ConfigFlag,
    DebugFlag,
    OwnHostFlag,
    OwnPortFlag,
    settings_of,
)


class ProtocolOption(enum.StrEnum):
    """How ``rehearse`` sends its games."""

    LICHESS = "lichess"
    PGN_URL = "pgn-url"
    DGT_BOARD = "dgt-board"
    MQTT = "mqtt"
    FOLDER = "folder"


class MistakeOption(enum.StrEnum):
    """What ``rehearse`` gets wrong when asked; the names of the alerts that say so."""

    ILLEGAL_MOVE = "illegal-move"
    UNREADABLE = "unreadable"
    CLOCK_STILL = "clock-still"
    CLOCK_RISING = "clock-rising"
    FLAG = "flag"
    STALE = "stale"
    LAST_MOVE = "last-move"
    LATE_MOVE = "late-move"
    RESULT = "result"


def rehearse(
    pgn: Annotated[Path, typer.Argument(metavar="PGN", help="Finished games, best with clocks.")],
    protocol: Annotated[
        ProtocolOption, typer.Option("--as", help="The protocol to play them back over.")
    ] = ProtocolOption.LICHESS,
    speed: Annotated[
        float,
        typer.Option("--speed", metavar="X", min=0.001, help="How many times as fast as played."),
    ] = 1.0,
    faults: Annotated[
        int | None,
        typer.Option(
            "--faults", metavar="SEED", help="Drop, repeat, garble, correct and stall by chance."
        ),
    ] = None,
    mistakes: Annotated[
        list[MistakeOption] | None,
        typer.Option(
            "--mistake",
            metavar="KIND",
            help="What an alert is for, in the middle of the first game; again for the next: "
            + ", ".join(MistakeOption)
            + ".",
        ),
    ] = None,
    round_name: Annotated[
        str, typer.Option("--round", metavar="N", help="Only this round of the file.")
    ] = "",
    host: OwnHostFlag = "127.0.0.1",
    port: OwnPortFlag = 0,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="WHERE",
            help="With mqtt: mqtt://BROKER/TOPIC instead of a Mosquitto of its own. With folder: "
            "a folder that stays.",
        ),
    ] = "",
    linger: Annotated[
        float,
        typer.Option("--linger", metavar="SECONDS", min=0, help="Stay after the last result."),
    ] = 60.0,
    debug: DebugFlag = False,
) -> None:
    """Play games back as a real broadcast: the real protocol, with the games' own clocks."""
    from live.app import run
    from live.jobs.rehearse_games import rehearse as play_back

    raise typer.Exit(
        run(
            play_back(
                pgn,
                protocol.value,
                speed=speed,
                seed=faults,
                mistakes=[mistake.value for mistake in mistakes or ()],
                round_name=round_name,
                host=host,
                port=port,
                to=to,
                linger_s=linger,
            )
        )
    )


def feeds(
    url: Annotated[list[str], typer.Argument(metavar="URL...", help="Sources, as after --feed.")],
    json: Annotated[
        bool, typer.Option("--json", metavar=SWITCH, help="Print JSON instead of tables.")
    ] = False,
    timeout: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long to wait for each."),
    ] = 15.0,
    config: ConfigFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Report what a URL is, whether it answers, and which games it holds now."""
    from live.app import run
    from live.jobs.rehearse_games import probe_feeds

    settings = settings_of(config)
    raise typer.Exit(run(probe_feeds(settings, url, json=json, within_s=timeout)))


def add_to(app: typer.Typer) -> None:
    """Make these commands part of the command line."""
    for command in (rehearse, feeds):
        app.command()(command)
