"""The command about engines elsewhere: ``worker``."""

from __future__ import annotations

from typing import Annotated

import typer

from live.commands.command_options import (
    ConfigFlag,
    DebugFlag,
    EngineFlag,
    EnginesFlag,
    settings_of,
)


def add_to(app: typer.Typer) -> None:
    """Put the command on the command line."""
    app.command()(worker)


def worker(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="The Dask scheduler, as tcp://HOST:8786.")
    ],
    engine: EngineFlag = None,
    engines: EnginesFlag = None,
    config: ConfigFlag = None,
    debug: DebugFlag = False,
) -> None:
    """Lend this machine's engines to a live-rate that runs with --cluster.

    Engine, hash and reproducible must be set as there: a worker is asked only where its figures
    would be the same.
    """
    settings = settings_of(
        config, engine__path=engine, engine__engines=engines, engine__cluster=address
    ).engine
    from live.app import run
    from live.engine.cluster.cluster_tls import require_dask
    from live.engine.cluster.cluster_worker import work
    from live.engine.engine_discovery import find_engine
    from live.engine.process.uci_conversation import UciSettings
    from live.service.measure_settings import cluster_tls

    async def lend() -> int:
        command = find_engine(settings.path)
        require_dask()
        typer.echo(f"lending {command.argv[-1]} ({command.how_found}) to {address}")
        await work(
            address,
            command,
            UciSettings(
                threads=settings.threads,
                hash_mb=settings.hash_mb,
                reproducible=settings.reproducible,
                adaptive=settings.adaptive,
            ),
            engines=settings.engines,
            nice=settings.nice,
            tls=cluster_tls(settings),
        )
        return 0

    raise typer.Exit(run(lend()))
