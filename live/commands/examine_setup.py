"""``live-rate doctor``: checks before a round everything that the round needs, with the
same functions that start the service.
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
    open_event,
    select_models,
)
from live.event_parts import connect_event
from live.games.player_lists import open_player_lists
from live.human.network import HumanNetwork
from live.journal.event_journal import EventJournal, find_journal_place
from live.journal.journal_faults import explain_refusal
from live.journal.measured_engines import read_measured_engine
from live.messages.values import FeedName, Value
from live.outlets.open_outlets import open_outlets
from live.process.limits import count_processors
from live.screens.terminal.text import plain
from live.server.public_view import PublicView
from live.settings import Config, EngineConfig, HumanConfig, JournalConfig
from live.sources.lichess_token import GET_ONE, LichessToken
from live.sources.source_probe import probe_sources
from live.watch.finding import format_count

#: Time that a source or broker has to answer, in seconds.
PROBE_S = 10.0
#: Mean time between two moves on a board, in seconds: in time trouble (``HURRIED_S``),
#: and over a whole game (``CALM_S``).
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
    """Check everything and print the findings; return 0 if nothing is wrong, else 2.

    ``specs`` are the sources that the service will follow.
    """
    findings: list[DoctorFinding] = []
    config = Config()
    with collect_error("settings", findings):
        config = settings()
        findings.append(DoctorFinding("settings", "ok", "valid"))
    feeds = config.feeds
    sources = await probe_sources(specs, feeds, within_s=PROBE_S)
    games = list(chain.from_iterable(source.games for source in sources))
    names = [source.feed for source in sources]
    findings += [
        DoctorFinding(
            plain(source.feed, 200),
            "ok" if source.answers else "problem",
            source.detail,
        )
        for source in sources
    ]
    findings.append(_describe_public_view(config))
    running = sum(game.result == "*" for game in games)
    with collect_error("engine", findings):
        await _check_engine(config, running or len(games), findings)
    findings += _check_human_network(config.human)
    findings += await _check_parts_for_readers(config)
    findings.append(check_journal(config.journal, names))
    with collect_error("lichess", findings):
        has_token = bool(LichessToken(feeds.lichess.token_file).auth_headers())
        text = (
            "a token is there"
            if has_token
            else f"no token, which broadcasts ask for: {GET_ONE}"
        )
        if not specs or any("lichess" in spec for spec in specs):
            findings.append(
                DoctorFinding("lichess", "ok" if has_token else "note", text)
            )
    with collect_error("player lists", findings):
        if text := open_player_lists(feeds).size_text:
            findings.append(DoctorFinding("player lists", "ok", text))
    program = (
        f"{__version__}, Python {platform.python_version()}, {platform.platform()}"
    )
    findings.append(DoctorFinding("live-rate", "note", program))
    table = Table.grid(padding=(0, 2))
    for finding in findings:
        sign, style = _SIGNS[finding.state]
        # Plain text, without markup: error messages can contain brackets.
        words = (
            Text(part, overflow="fold") for part in (finding.subject, finding.text)
        )
        table.add_row(Text(sign, style=style), *words)
    Console(highlight=False).print(table)
    return 2 if any(finding.state == "problem" for finding in findings) else 0


@contextlib.contextmanager
def collect_error(subject: str, findings: list[DoctorFinding]) -> Iterator[None]:
    """Add an error raised in the block to the findings."""
    try:
        yield
    except LiveRateError as error:
        findings.append(DoctorFinding(subject, "problem", str(error)))


async def _check_parts_for_readers(config: Config) -> list[DoctorFinding]:
    """Open everything that the service opens for its readers, and close it again: port,
    tokens, certificate, study, director, notices, broker.
    """
    checked = Config(
        server=config.server,
        study=config.study,
        director=config.director,
        notify=config.notify,
    )
    event = open_event(checked, "none", "as given", engine_scores=False)
    parts = connect_event(checked, EventJournal(), event)
    public = PublicView(event)
    findings = list[DoctorFinding]()
    with collect_error("port", findings):
        async with build_publisher(parts, lambda games: None) as publisher:
            public = publisher.public
        address = f"{config.server.host}:{config.server.port}"
        findings.append(DoctorFinding("port", "ok", f"{address} is free"))
    with collect_error("producer", findings):
        report = parts.inbox.health
        outlets = open_outlets(checked, public, parts.bus, event, report)
        if outlets:
            names = ", ".join(outlets)
            findings.append(DoctorFinding("producer", "ok", f"{names}: ready"))
    if config.mqtt.publish:
        findings.append(await _check_broker(config.mqtt.publish))
    return findings


async def _check_broker(address: str) -> DoctorFinding:
    """Check whether the broker answers.

    Does not log in: that would tell the broker's readers that the service is back.
    """
    url = urlsplit(address)
    host = url.hostname or ""
    port = url.port or (8883 if url.scheme == "mqtts" else 1883)
    try:
        async with asyncio.timeout(PROBE_S):
            _, writer = await asyncio.open_connection(host, port)
        writer.close()
    except OSError as error:  # a time-out is also an OSError
        reason = (error.strerror or "no answer").lower()
        return DoctorFinding(
            "broker", "problem", f"{host}:{port} cannot be reached: {reason}"
        )
    return DoctorFinding("broker", "ok", f"{host}:{port} answers")


def _describe_public_view(config: Config) -> DoctorFinding:
    """Return the finding about what the public sees, and how late."""
    delay_s = config.feeds.delay_s
    is_hidden = config.server.hide_scores
    seen = "moves" if is_hidden else "everything"
    hidden = "; scores and ratings are hidden" if is_hidden else ""
    if not delay_s:
        text = f"none: the public sees {seen} at once{hidden}"
        return DoctorFinding("delay", "note", text)
    text = f"the public sees {seen} {delay_s:g} s later{hidden}"
    return DoctorFinding("delay", "ok", text)


async def _check_engine(
    config: Config, boards: int, findings: list[DoctorFinding]
) -> None:
    command = find_engine(config.engine.path)
    engine, knodes_per_s = await measure_speed(
        command,
        build_uci_settings(config.engine),
        patience=build_timeouts(config.engine),
    )
    text = f"{engine.name}, {command.how_found}, {knodes_per_s:.0f} knodes/s"
    findings.append(DoctorFinding("engine", "ok", f"{text} ({command.argv[-1]})"))
    if boards:
        findings.append(check_speed(config.engine, knodes_per_s, boards))
    with collect_error("model", findings):
        findings.append(_check_models(config, engine))
    findings.append(check_screening(engine.name, describe_limit(config.engine)))


def check_speed(
    config: EngineConfig, knodes_per_s: float, boards: int
) -> DoctorFinding:
    """Return the finding whether the engines keep up with this many boards.

    A move needs at most two searches.
    """
    if config.depth:
        return DoctorFinding(
            "speed", "note", "cannot tell: a search to a depth has no fixed length"
        )
    search_s = config.movetime_ms / 1000 or config.nodes / (
        1000 * max(knodes_per_s, 1e-3)
    )
    every_s = 2 * boards * search_s / (config.engines or count_processors())
    number = format_count(boards, "board")
    text = f"{number}: keeps up while each has a move every {every_s:.3g} s"
    if every_s <= HURRIED_S:
        return DoctorFinding("speed", "ok", f"{text}, time trouble included")
    remedy = "fewer boards, more engines or fewer nodes"
    if every_s <= CALM_S:
        return DoctorFinding(
            "speed", "note", f"{text}; in time trouble it is behind: {remedy} help"
        )
    return DoctorFinding(
        "speed", "problem", f"{text}, too slow for a round: take {remedy}"
    )


def _check_human_network(config: HumanConfig) -> list[DoctorFinding]:
    """Open the neural network of human moves in the same way as the service."""
    if not config.enabled:
        return []
    try:
        network = HumanNetwork(Path(config.network) if config.network else None)
    except LiveRateError as error:
        # Everything else works without this network, so its absence is only a note. A
        # file that was named and cannot be used is a problem.
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
    names = ", ".join(model.name for model in models.models)
    text = "; ".join(filter(None, (f"{names}, {models.note}", better)))
    return DoctorFinding("model", "note" if models.converted else "ok", text)


def check_screening(engine: str, limit: str) -> DoctorFinding:
    """Return the finding whether agreement with the engine is screened; only arbiters
    see the results of screening.
    """
    why_not = explain_no_screening(engine, limit)
    text = why_not or "can be raised for players with an Elo"
    return DoctorFinding("agreement alert", "note" if why_not else "ok", text)


def check_journal(
    config: JournalConfig, names: Sequence[FeedName] = ()
) -> DoctorFinding:
    """Return the finding whether a journal could be written for an event of these
    sources.
    """
    if not config.enabled:
        return DoctorFinding("journal", "note", "off: nothing is kept across restarts")
    place = find_journal_place(config, names or ("any",))
    path = place.path
    if path is None:
        return DoctorFinding(
            "journal", "note", "none for these sources: nothing is kept"
        )
    # Without sources the name of the file is not known, only its folder.
    shown = path if place.is_named or names else path.parent
    if refused := explain_refusal(path):
        return DoctorFinding("journal", "problem", f"{shown}: {refused}")
    return DoctorFinding("journal", "ok", f"{shown} can be written")
