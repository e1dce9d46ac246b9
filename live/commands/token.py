"""The command ``live-rate token``."""

import os
from datetime import datetime
from typing import Annotated

import typer

from live.errors import ConfigError


def token(
    name: str,
    *,
    arbiter: bool = False,
    metrics: bool = False,
    producer: bool = False,
    event: list[str] | None = None,
    expires: Annotated[
        datetime | None,
        typer.Option(
            "--expires",
            metavar="DATE",
            formats=["%Y-%m-%d"],
            help="The last day it is valid, UTC: 2026-05-01.",
        ),
    ] = None,
) -> None:
    """Make a token that lets somebody read: its entry for server.tokens_file goes to
    standard output, the token itself, shown only this once, to standard error.

    Options:
        name: Name of the person or program; shown to nobody else.
        arbiter: It also shows what is for arbiters alone.
        metrics: It also reads the service's /metrics.
        producer: The boards that its overlays show are analysed first.
        event: [NAME] Only this event; can be repeated.
    """
    from datetime import UTC

    from live.server.tokens import create_token

    if not name.strip():
        raise ConfigError("NAME", "is empty", "Say whom the token is for")
    if expires is not None and expires.date() < datetime.now(UTC).date():
        raise ConfigError(
            "--expires", f"{expires:%Y-%m-%d} is in the past", "Give a future day"
        )
    secret, entry = create_token(
        name,
        os.urandom,
        arbiter=arbiter,
        metrics=metrics,
        producer=producer,
        events=tuple(event or ()),
        expires=expires.date() if expires else None,
    )
    typer.echo(entry)
    typer.echo(f"Token for {name}, shown this once: {secret}", err=True)
