"""Feeds and engines that fail. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from live.alerts.finding import Finding
from live.alerts.watched_event import WatchedEvent
from live.events import FeedHealth

#: A feed that comes back within this time has only stumbled, seconds.
FEED_WAIT_S = 15.0
#: A source that is waited for so long may be a mistyped address, seconds.
NOT_THERE_S = 600.0
#: The same for an engine.
ENGINE_WAIT_S = 10.0


def feeds(watched: WatchedEvent, now_s: float) -> Iterator[Finding]:
    for name, health in watched.feeds.items():
        since_s = watched.feeds_since_s[name]
        failed = health.state == "failed"
        if health.state == "waiting":
            yield from _not_there(watched, health, now_s - since_s)
            continue
        if not failed and health.state not in ("stale", "retrying"):
            continue
        if not failed and now_s - since_s < FEED_WAIT_S:
            continue
        state = {
            "failed": "has failed",
            "stale": "reports nothing new",
            "retrying": "is not reached",
        }
        if health.part:
            yield _part(health)
            continue
        detail = f": {health.detail}" if health.detail else ""
        yield Finding(
            kind="feed",
            severity="alarm" if failed else "warning",
            feed=name,
            text=f"Feed {name} {state[health.state]}{detail}.",
            advice=(
                "Its boards are no longer followed; mend the source and start again."
                if failed
                else "What is shown of its boards may be old; see whether the source is there."
            ),
        )


def _not_there(watched: WatchedEvent, health: FeedHealth, waited_s: float) -> Iterator[Finding]:
    """A source that has not begun. After a restart its boards are known and wait for it."""
    name = health.feed
    running = any(board.running and board.view.feed == name for board in watched.boards.values())
    if waited_s < (FEED_WAIT_S if running else NOT_THERE_S):
        return
    yield Finding(
        kind="feed",
        severity="warning" if running else "look",
        feed=name,
        text=f"Feed {name} is not there yet: {health.detail}.",
        advice=(
            "What is shown of its boards may be old; see whether the source is there."
            if running
            else "Nothing is to be done if it has not begun; else check its address."
        ),
    )


def _part(health: FeedHealth) -> Finding:
    """Not a source but a part of the service: what it says of itself may begin with its name."""
    if health.state == "stale":
        return Finding(
            kind="feed",
            severity="look",
            feed=health.feed,
            text=f"{health.feed[:1].upper()}{health.feed[1:]}: {health.detail}.",
            advice="Nothing else waits for it; do what is said there.",
        )
    failed = health.state == "failed"
    said = health.detail or ("has failed" if failed else "fails")
    text = said if said.startswith(health.feed) else f"{health.feed}: {said}"
    return Finding(
        kind="feed",
        severity="alarm" if failed else "warning",
        feed=health.feed,
        text=f"{text[:1].upper()}{text[1:]}.",
        advice=(
            "Everything else goes on without it; do what is said there."
            if failed
            else "Everything else goes on, and this is tried again by itself."
        ),
    )


def engines(watched: WatchedEvent, now_s: float) -> Iterator[Finding]:
    health = watched.engines
    down = [
        engine.index
        for engine in health.engines
        if engine.state == "failed"
        or (
            engine.state == "restarting"
            and now_s - watched.engines_since_s[engine.index][1] >= ENGINE_WAIT_S
        )
    ]
    if down:
        every = len(down) == len(health.engines)
        which = ", ".join(str(index + 1) for index in down)
        yield _engine(
            "processes",
            "alarm" if every else "warning",
            f"Engine {which} of {len(health.engines)} does not run"
            + (f": {health.problem}" if health.problem else "")
            + ".",
            "No scores come until one runs again." if every else "Scores come later than usual.",
        )
    elif health.problem:
        yield _engine("problem", "warning", f"{health.problem}.", "See the log.")
    if health.set_aside:
        yield _engine(
            "set aside",
            "look",
            f"{health.set_aside} positions were given up after engines died over them.",
            "The moves around them have no gain; nothing else waits for them.",
        )


def _engine(about: str, severity: str, text: str, advice: str) -> Finding:
    return Finding(
        kind="engine",
        severity="alarm" if severity == "alarm" else "warning" if severity == "warning" else "look",
        about=about,
        text=text,
        advice=advice,
    )
