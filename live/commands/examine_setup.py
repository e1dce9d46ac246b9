"""``live-rate doctor``: checks everything that a round needs before the round, with the
functions that the service starts with.
"""

import asyncio
import contextlib
import platform
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from rich.console import Console
from rich.table import Table
from rich.text import Text

from live import __version__
from live.app import build_publisher
from live.engine.engine_process import measure_speed
from live.engine.engine_programs import find_engine
from live.engine.engine_settings import (
    build_timeouts,
    build_uci_settings,
    describe_limit,
)
from live.engine.uci import EngineIdentity
from live.errors import LiveRateError
from live.event.choose_measure import (
    advise_on_models,
    explain_no_screening,
    select_models,
)
from live.games.player_lists import open_player_lists
from live.human.network import HumanNetwork
from live.journal.event_journal import journal_path
from live.journal.journal_file import explain_refusal
from live.journal.measured_engines import read_measured_engine
from live.messages.values import FeedName, Value
from live.outlets.open_outlets import open_outlets
from live.process.limits import count_processors
from live.screens.terminal.text import plain
from live.server.public_audience import PublicAudience
from live.service.event_service import EventService
from live.settings import Config, EngineConfig, FeedsConfig, HumanConfig, JournalConfig
from live.sources.lichess_token import GET_ONE, LichessToken
from live.sources.open_feed import probe_sources
from live.watch.finding import count_things

#: How long a source or broker has to answer, seconds.
PROBE_S = 10.0
#: A board has a move so often, seconds: in time trouble, and on average.
HURRIED_S = 10.0
CALM_S = 60.0


class DoctorFinding(Value):
    """The result of one check."""

    subject: str
    state: Literal["ok", "problem", "note"]
    text: str


_SIGNS = {"ok": ("✓", "green"), "problem": ("✗", "red"), "note": ("·", "dim")}


async def examine_setup(
    settings: Callable[[], Config], specs: Sequence[str] = ()
) -> int:
    """Print the findings; return 0 if nothing is wrong, else 2. ``specs`` are the
    sources to come.
    """
    found: list[DoctorFinding] = []
    config = Config()
    with collect_error("settings", found):
        config = settings()
        found.append(DoctorFinding("settings", "ok", "valid"))
    feeds = config.feeds
    sources = await probe_sources(specs, feeds, within_s=PROBE_S)
    games = list(chain.from_iterable(source.games for source in sources))
    names = [source.feed for source in sources]
    found += [
        DoctorFinding(
            plain(each.feed, 200), "ok" if each.answers else "problem", each.detail
        )
        for each in sources
    ]
    found.append(_describe_delay(feeds))
    running = sum(game.result == "*" for game in games)
    with collect_error("engine", found):
        await _check_engine(config, running or len(games), found)
    found += _check_human_network(config.human)
    found += await _check_start(config)
    found.append(check_journal(config.journal, names))
    with collect_error("lichess", found):
        known = bool(LichessToken(feeds.lichess.token_file).auth_headers())
        text = (
            "a token is there"
            if known
            else f"no token, which broadcasts ask for: {GET_ONE}"
        )
        if not specs or any("lichess" in spec for spec in specs):
            found.append(DoctorFinding("lichess", "ok" if known else "note", text))
    with collect_error("player lists", found):
        if text := open_player_lists(feeds).size_text:
            found.append(DoctorFinding("player lists", "ok", text))
    program = (
        f"{__version__}, Python {platform.python_version()}, {platform.platform()}"
    )
    found.append(DoctorFinding("live-rate", "note", program))
    table = Table.grid(padding=(0, 2))
    for finding in found:
        sign, style = _SIGNS[finding.state]
        # Text, not markup: what is wrong may be full of brackets.
        words = (
            Text(each, overflow="fold") for each in (finding.subject, finding.text)
        )
        table.add_row(Text(sign, style=style), *words)
    Console(highlight=False).print(table)
    return 2 if any(finding.state == "problem" for finding in found) else 0


@contextlib.contextmanager
def collect_error(subject: str, found: list[DoctorFinding]) -> Iterator[None]:
    """Add an error raised in the block to the findings."""
    try:
        yield
    except LiveRateError as error:
        found.append(DoctorFinding(subject, "problem", str(error)))


async def _check_start(config: Config) -> list[DoctorFinding]:
    """Open what the service opens for others, and close it again: port, tokens,
    certificate, study; director and notices; the broker.
    """
    shown = Config(
        server=config.server,
        study=config.study,
        director=config.director,
        notify=config.notify,
    )
    service = EventService(shown)
    service.open_ledger("none", "as given", engine_scores=False)
    public = PublicAudience(service.state)
    found = list[DoctorFinding]()
    with collect_error("port", found):
        async with build_publisher(shown, service) as publisher:
            public = publisher.public
        where = f"{config.server.host}:{config.server.port}"
        found.append(DoctorFinding("port", "ok", f"{where} is free"))
    with collect_error("producer", found):
        report = service.inbox.health
        outlets = open_outlets(shown, public, service.bus, service.state, report)
        if outlets:
            names = ", ".join(outlets)
            found.append(DoctorFinding("producer", "ok", f"{names}: ready"))
    if config.mqtt.publish:
        found.append(await _check_broker(config.mqtt.publish))
    return found


async def _check_broker(address: str) -> DoctorFinding:
    """Check whether the broker answers. Logging in would tell its readers that we are
    back.
    """
    url = urlsplit(address)
    host = url.hostname or ""
    port = url.port or (8883 if url.scheme == "mqtts" else 1883)
    try:
        async with asyncio.timeout(PROBE_S):
            _, writer = await asyncio.open_connection(host, port)
        writer.close()
    except OSError as error:  # a time-out is one
        why = (error.strerror or "no answer").lower()
        return DoctorFinding(
            "broker", "problem", f"{host}:{port} cannot be reached: {why}"
        )
    return DoctorFinding("broker", "ok", f"{host}:{port} answers")


def _describe_delay(config: FeedsConfig) -> DoctorFinding:
    """Return how far the public is behind."""
    if not config.delay_s:
        return DoctorFinding(
            "delay", "note", "none: the public sees everything at once"
        )
    text = f"the public sees everything {config.delay_s:g} s later"
    return DoctorFinding("delay", "ok", text)


async def _check_engine(
    config: Config, boards: int, found: list[DoctorFinding]
) -> None:
    command = find_engine(config.engine.path)
    engine, knodes_per_s = await measure_speed(
        command,
        build_uci_settings(config.engine),
        patience=build_timeouts(config.engine),
    )
    text = f"{engine.name}, {command.how_found}, {knodes_per_s:.0f} knodes/s"
    found.append(DoctorFinding("engine", "ok", f"{text} ({command.argv[-1]})"))
    if boards:
        found.append(check_speed(config.engine, knodes_per_s, boards))
    with collect_error("model", found):
        found.append(_check_models(config, engine))
    found.append(check_screening(engine.name, describe_limit(config.engine)))


def check_speed(
    config: EngineConfig, knodes_per_s: float, boards: int
) -> DoctorFinding:
    """Return whether the engines keep up with so many boards: a move takes two searches
    at most.
    """
    if config.depth:
        return DoctorFinding(
            "speed", "note", "cannot tell: a search to a depth has no fixed length"
        )
    search_s = config.movetime_ms / 1000 or config.nodes / (
        1000 * max(knodes_per_s, 1e-3)
    )
    every_s = 2 * boards * search_s / (config.engines or count_processors())
    number = count_things(boards, "board")
    text = f"{number}: keeps up while each has a move every {every_s:.3g} s"
    if every_s <= HURRIED_S:
        return DoctorFinding("speed", "ok", f"{text}, time trouble included")
    more = "fewer boards, more engines or fewer nodes"
    if every_s <= CALM_S:
        return DoctorFinding(
            "speed", "note", f"{text}; in time trouble it is behind: {more} help"
        )
    return DoctorFinding(
        "speed", "problem", f"{text}, too slow for a round: take {more}"
    )


def _check_human_network(config: HumanConfig) -> list[DoctorFinding]:
    """Open the network of human moves as the service would."""
    if not config.enabled:
        return []
    try:
        network = HumanNetwork(Path(config.network) if config.network else None)
    except LiveRateError as error:
        # Without it everything else works; a file that was named and cannot be used is
        # a mistake.
        return [
            DoctorFinding(
                "human moves", "problem" if config.network else "note", str(error)
            )
        ]
    learned = network.about.get("learned", "")
    text = ", learned from ".join(filter(None, (network.identity, learned)))
    return [DoctorFinding("human moves", "ok", text)]


def _check_models(config: Config, engine: EngineIdentity) -> DoctorFinding:
    rating = config.rating
    limit = describe_limit(config.engine)
    measured = read_measured_engine(str(engine), limit)
    models = select_models(rating.model, engine.name, limit, rating.gain, measured)
    better = advise_on_models(models)
    if not models.models:
        text = f"{models.note}: ratings by Algorithm 4 alone; {better}"
        return DoctorFinding("model", "note", text)
    names = ", ".join(each.name for each in models.models)
    text = "; ".join(filter(None, (f"{names}, {models.note}", better)))
    return DoctorFinding("model", "note" if models.transferred else "ok", text)


def check_screening(engine: str, limit: str) -> DoctorFinding:
    """Return whether agreement with the engine is screened; only arbiters are shown
    that.
    """
    why_not = explain_no_screening(engine, limit)
    text = why_not or "on for players with an Elo: alerts of that name can occur"
    return DoctorFinding("agreement", "note" if why_not else "ok", text)


def check_journal(
    config: JournalConfig, names: Sequence[FeedName] = ()
) -> DoctorFinding:
    """Return whether an event of these sources could be kept."""
    if not config.enabled:
        return DoctorFinding("journal", "note", "off: nothing is kept across restarts")
    path = journal_path(config, names or ("any",))
    if path is None:
        return DoctorFinding(
            "journal", "note", "none for these sources: nothing is kept"
        )
    said = path if config.file or names else path.parent
    if refused := explain_refusal(path):
        return DoctorFinding("journal", "problem", f"{said}: {refused}")
    return DoctorFinding("journal", "ok", f"{said} can be written")
