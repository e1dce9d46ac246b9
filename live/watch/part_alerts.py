"""Alerts about sources, engines and other parts of the service. Pure."""

from collections.abc import Iterator, Mapping

from live.messages.alerts import Severity
from live.messages.health import EngineHealth, FeedHealth
from live.messages.values import FeedName
from live.watch.finding import Finding

#: Time for which a feed can be interrupted without an alert, seconds.
FEED_WAIT_S = 15.0
#: Time after which a source without data raises an alert, seconds. Its address can be
#: wrong.
NOT_THERE_S = 600.0
#: Time for which an engine can be restarting without an alert, seconds.
ENGINE_WAIT_S = 10.0

#: The states that raise an alert, each with the words for it.
_FEED_STATES = {
    "failed": "has failed",
    "stale": "reports nothing new",
    "retrying": "cannot be reached",
}
#: Urgency and advice for each state of a part of the service that is not a source.
_PART_ADVICE: dict[str, tuple[Severity, str]] = {
    "stale": ("look", "Everything else runs normally; see the text for what to do."),
    "failed": (
        "alarm",
        "Everything else runs without it; see the text for what to do.",
    ),
    "retrying": (
        "warning",
        "Everything else runs normally; the service keeps trying.",
    ),
}


def find_feed_trouble(
    feeds: Mapping[FeedName, FeedHealth], for_s: Mapping[FeedName, float]
) -> Iterator[Finding]:
    """Find sources and parts of the service that have failed or have not begun.

    Sources and parts that are stale, or that retry for too long, are found too.
    ``for_s`` is the time that each source or part has been in its present state,
    seconds.
    """
    for name, health in feeds.items():
        is_failed = health.state == "failed"
        severity: Severity = "alarm" if is_failed else "warning"
        detail = f": {health.detail}" if health.detail else ""
        if health.state == "waiting":
            if for_s[name] < NOT_THERE_S:
                continue
            severity = "look"
            text = f"Feed {name} is not there yet: {health.detail}"
            advice = (
                "If the event has not begun, do nothing; otherwise check the address."
            )
        elif health.state not in _FEED_STATES or (
            not is_failed and for_s[name] < FEED_WAIT_S
        ):
            continue
        elif health.part:
            severity, advice = _PART_ADVICE[health.state]
            # The detail can already begin with the name of the source.
            text = health.detail or _FEED_STATES[health.state]
            text = text if text.startswith(name) else f"{name}: {text}"
            text = f"{text[:1].upper()}{text[1:]}"
        else:
            text = f"Feed {name} {_FEED_STATES[health.state]}{detail}"
            advice = (
                "Its boards are no longer followed; repair the source, then restart."
                if is_failed
                else "Its boards may be out of date; check that the source is online."
            )
        yield Finding(
            kind="feed", severity=severity, feed=name, text=f"{text}.", advice=advice
        )


def find_engine_trouble(
    health: EngineHealth, for_s: Mapping[int, float]
) -> Iterator[Finding]:
    """Find engines that do not run, and positions that made engines crash.

    ``for_s`` is the time that each engine, by its number, has been in its present
    state, seconds.
    """
    down = [
        engine.index
        for engine in health.engines
        if engine.state == "failed"
        or (engine.state == "restarting" and for_s[engine.index] >= ENGINE_WAIT_S)
    ]
    if down:
        is_all = len(down) == len(health.engines)
        numbers = ", ".join(str(index + 1) for index in down)
        reason = f": {health.problem}" if health.problem else ""
        yield Finding(
            kind="engine",
            severity="alarm" if is_all else "warning",
            about="processes",
            text=f"Engine {numbers} of {len(health.engines)} is not running{reason}.",
            advice=(
                "There are no new scores until one runs again."
                if is_all
                else "Scores arrive later than usual."
            ),
        )
    elif health.problem:
        yield Finding(
            kind="engine",
            severity="warning",
            about="problem",
            text=f"{health.problem}.",
            advice="See the log.",
        )
    if health.set_aside:
        yield Finding(
            kind="engine",
            severity="look",
            about="set aside",
            text=f"{health.set_aside} positions were given up"
            " after engines crashed on them.",
            advice="Moves next to them have no gain; everything else runs normally.",
        )
