"""The command ``live-rate worker``."""

from typing import Annotated

import typer

from live.commands.command_options import Settings


async def worker(
    address: str, *, settings: Annotated[Settings, "engine engines config"]
) -> int:
    """Lend this machine's engines to a live-rate service that runs with --cluster.

    Engine, hash and reproducible must be set as on the service: a worker is asked only
    if its figures would be the same.

    Options:
        address: The Dask scheduler, as tcp://HOST:8786.
    """
    engine = settings.load({"engine.cluster": address}).engine
    from live.engine.engine_programs import find_engine

    command = find_engine(engine.path)
    from live.engine.cluster import run_worker  # reports if Dask is missing

    typer.echo(f"lending {command.argv[-1]} ({command.how_found}) to {address}")
    await run_worker(command, engine)
    return 0
