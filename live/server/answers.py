"""What answers are made of: requests and responses, files that are made beside the loop, metrics.

HTTP values are pure: requests, whole responses, and the headers that every one carries.

Files that something beside the loop makes, so that it waits for none of them. Whoever asks for what
is being made already waits for that; what was made is kept for a few seconds.

What is measured of the service, as Prometheus text (OpenMetrics names, base units). Nothing there
names a player, a board or a client: the number of series stays bounded.
"""

import asyncio
import contextlib
import http
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from live.clock import ReadClock
from live.messages.values import Value
from live.operating_system import own_group
from live.server.published_state import PublishedState


class MetricCounts:
    """Plain counts, kept by those who do the things counted."""

    def __init__(self) -> None:
        self.subscribers = 0
        """Websockets being served now."""
        self.deliveries = 0
        """Writes of new messages to one subscriber each."""
        self.skips = 0
        """Writes left out because the subscriber had too much unread."""
        self.snapshots: Counter[str] = Counter()
        """Snapshots given, by ``joined`` and ``skipped``."""
        self.resumes = 0
        """Subscribers that were given just what they had missed."""
        self.closes: Counter[str] = Counter()
        """Connections we ended, by the close code's name."""


class Metrics(Collector):
    """Reads state and counts whenever somebody asks."""

    def __init__(self, state: PublishedState, tally: MetricCounts) -> None:
        self._state, self._tally = state, tally

    def text(self) -> bytes:
        """The whole exposition."""
        return generate_latest(self)

    def collect(self) -> Iterator[Metric]:
        tally, games = self._tally, list(self._state.games())
        yield _gauge("subscribers", "Websockets being served.", tally.subscribers)
        yield _counter("deliveries", "Writes of new messages to a subscriber.", tally.deliveries)
        yield _counter("skips", "Writes left out for a slow subscriber.", tally.skips)
        yield _counter("resumes", "Subscribers given just what they missed.", tally.resumes)
        yield _counter("snapshots", "Snapshots given, by reason.", tally.snapshots, "reason")
        yield _counter("closes", "Connections ended by us, by reason.", tally.closes, "reason")
        yield _gauge("games", "Games held.", len(games))
        yield _gauge("plies", "Plies held.", sum(game.plies_played for game in games))
        scored = sum(game.plies_scored for game in games)
        yield _gauge("plies_scored", "Plies with a final score.", scored)
        feeds = Counter(feed.state for feed in self._state.feeds() if not feed.part)
        yield _gauge("feeds", "Feeds by state.", feeds, "state")
        health = self._state.engines()
        states = Counter(engine.state for engine in health.engines)
        yield _gauge("engines", "Engines by state.", states, "state")
        yield _gauge("queue", "Positions that wait for an engine.", health.queued)
        yield _gauge("queue_oldest_seconds", "Wait of the oldest of them.", health.oldest_wait_s)
        waiting = msgspec.structs.asdict(health.waiting)
        yield _gauge("waiting", "Searches that wait for an engine, by class.", waiting, "class")
        speeds = {
            each.index: each.knodes_per_s * 1000
            for each in health.engines
            if each.knodes_per_s is not None
        }
        yield _gauge("engine_nodes_per_second", "Speed of each engine.", speeds, "engine")
        yield _counter("searches", "Searches done.", health.searches)
        yield _counter("cache_hits", "Searches asked for and known already.", health.cache_hits)
        yield _counter("engine_restarts", "Engines replaced.", health.restarts)
        yield _gauge("set_aside", "Positions given up.", health.set_aside)


def _family(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    text: str,
    values: float | Mapping[Any, float],
    label: str = "",
) -> Metric:
    """One value, or one for each value of a label."""
    if isinstance(values, Mapping):
        family = kind(f"live_rate_{name}", text, labels=[label])
        for each, value in values.items():
            family.add_metric([str(each)], value)
        return family
    return kind(f"live_rate_{name}", text, value=values)


_gauge = partial(_family, GaugeMetricFamily)
_counter = partial(_family, CounterMetricFamily)


class ProblemAnswer(Value):
    """Why a request was not answered as it wished (RFC 9457)."""

    status: int
    title: str
    detail: str


JSON = "application/json"

#: Everything that is no page: nothing may be loaded by it or shown around it.
NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'"

_COMMON = (
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


NO_STORE = (("Cache-Control", "no-store"),)
#: Of what cannot be had now.
LATER = (("Retry-After", "5"),)
#: Answers that a browser asks about each time.
REVALIDATE = (("Cache-Control", "no-cache"),)


Pairs = tuple[tuple[str, str], ...]
"""Header fields, or parameters of a query."""


class HttpRequest(Value):
    """One request, without its body: no route takes one."""

    method: str
    path: str
    """Percent-decoded."""
    query: Pairs
    headers: dict[str, str]
    """Names in lower case; of a repeated header the values are joined by ``, ``."""


class HttpResponse(Value):
    """One whole response."""

    status: int
    headers: Pairs
    body: bytes = b""


def respond(
    status: int,
    content_type: str,
    body: bytes,
    headers: Iterable[tuple[str, str]],
    policy: str = NO_CONTENT_POLICY,
) -> HttpResponse:
    """A response with the headers every one carries."""
    own = (("Content-Type", content_type), ("Content-Security-Policy", policy))
    return HttpResponse(status, (*own, *_COMMON, *headers), body)


def problem(status: int, detail: str, headers: Iterable[tuple[str, str]] = ()) -> HttpResponse:
    """An error as JSON (RFC 9457)."""
    title = http.HTTPStatus(status).phrase
    body = msgspec.json.encode(ProblemAnswer(status, title, detail))
    return respond(status, "application/problem+json", body, (*NO_STORE, *headers))


#: The answer to no token, or a wrong one (RFC 6750, section 3).
UNKNOWN = problem(
    401,
    "a valid token is needed: Authorization: Bearer TOKEN",
    [("WWW-Authenticate", 'Bearer realm="live-rate"')],
)


def read_target(target: str) -> tuple[str, Pairs]:
    """Path and query of a request target, decoded.

    Raises:
        ValueError: not an absolute path, or not UTF-8 once decoded.
    """
    if not target.startswith("/"):
        raise ValueError(target)
    # "//host/…" would be taken for a host by urlsplit; as a path it is just odd.
    parts = urlsplit(f"http://host{target}")
    query = parse_qsl(parts.query, keep_blank_values=True, errors="strict", max_num_fields=128)
    return unquote(parts.path, errors="strict"), tuple(query)


class ExportFailed(Exception):
    """Why there is no such file now: short, in lower case, without a full stop."""


class ExportedFile(Value):
    """A download."""

    media_type: str
    body: bytes


#: A picture that is not there by then is given up, seconds.
PICTURE_S = 20.0
#: Whoever looks at pictures takes no time from the engines.
_NICE = 10


async def drawn(svg: str) -> bytes:
    """A picture as PNG, made by a process of its own.

    Raises:
        ExportFailed: it could not be made.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "live.server.exports"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # the terminal is somebody's screen
        **own_group(_NICE),
    )
    try:
        async with asyncio.timeout(PICTURE_S):
            picture, _ = await process.communicate(svg.encode())
    except TimeoutError:
        raise ExportFailed("the picture was not made in time") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode != 0:
        raise ExportFailed("the picture could not be made")
    return picture


#: What was made is given again for so long, seconds.
KEPT_S = 5.0
#: So many different files are made or kept at once.
MOST = 64


async def file_made(making: Awaitable[ExportedFile], name: str) -> HttpResponse:
    """What is made beside the loop, or why not."""
    try:
        made = await making
    except ExportFailed as error:
        return problem(503, f"{name}: {error}", LATER)
    return respond(200, made.media_type, made.body, REVALIDATE)


class SharedMaking:
    """Makes each file once for all who ask at the same time."""

    def __init__(self, clock: ReadClock) -> None:
        self._clock = clock
        self._made: dict[Hashable, tuple[float, asyncio.Task[ExportedFile]]] = {}

    async def get(
        self, key: Hashable, make: Callable[[], Coroutine[Any, Any, ExportedFile]]
    ) -> ExportedFile:
        """What ``make`` makes, or made lately.

        Raises:
            ExportFailed: so many others are being made.
            Exception: what ``make`` raises.
        """
        now_s = self._clock()
        for old, (at_s, task) in list(self._made.items()):
            full = len(self._made) >= MOST and key not in self._made
            if task.done() and (full or not 0 <= now_s - at_s < KEPT_S):
                del self._made[old]
        if key not in self._made:
            if len(self._made) >= MOST:
                raise ExportFailed("too many files are being made")
            self._made[key] = now_s, asyncio.ensure_future(make())
        # Who goes away leaves the others waiting for it.
        return await asyncio.shield(self._made[key][1])
