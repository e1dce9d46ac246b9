"""The command ``live-rate site``."""

from pathlib import Path

import typer


def site(out: Path, *, broker: str, prefix: str = "live-rate") -> None:
    """Write the page and the overlays as files for any web server; viewers read from a
    broker.

    Options:
        out: The folder to write into.
        broker: [URL] wss://HOST:PORT/PATH, as viewers reach it.
        prefix: [TEXT] Beginning of the broker's topics, as in mqtt.prefix.
    """
    from live.server.static_site import write_site

    written = write_site(out, broker, prefix)
    size_mb = sum(file.stat().st_size for file in written) / 1e6
    typer.echo(f"{len(written)} files, {size_mb:.1f} MB, in {out}")
