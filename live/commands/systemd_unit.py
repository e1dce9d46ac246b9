"""The command ``live-rate systemd-unit``."""

import os
import sys
from pathlib import Path

import typer

from live.commands.command_options import Feeds, FileSettings
from live.errors import ConfigError


def systemd_unit(*, feed: Feeds = None, settings: FileSettings) -> None:
    """Print a systemd unit that runs live-rate as a service with as few rights as
    possible.

    Options:
        feed: [URL] Source to follow; can be repeated.
    """
    from live.process.sd_notify import build_unit

    typer.echo(build_unit(_service_command(feed, settings.file)), nl=False)


def _service_command(feed: Feeds, config: Path | None) -> list[str]:
    """Return the command line of the service, with absolute paths."""
    import shutil

    from live.sources.source_address import recognise_source

    # Use the program that prints this unit: PATH might contain another one, or none.
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) not in ("live-rate", "live-rate.exe") or not os.access(
        own, os.X_OK
    ):
        own = shutil.which("live-rate") or "/usr/local/bin/live-rate"
    command = [own, "--headless"]
    if config is not None:
        command += ["--config", str(config.resolve())]
    if not feed:
        raise ConfigError(
            "--feed", "is not given", "Say what the service is to follow: --feed URL"
        )
    for address in feed:
        # Report a mistake now, and not when the machine starts.
        source = recognise_source(address)
        on_disk = source.kind in ("file", "folder") and not source.forced
        # The service runs in a different working folder.
        command += ["--feed", os.path.abspath(address) if on_disk else address]
    return command
