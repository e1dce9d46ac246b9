"""An arbiter's day in a process of its own, killed at the end of each part but the last:
``arbiter_day.py JOURNAL PART``. What is the matter is scripted; desk, log and journal are real.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, get_args

import msgspec

from live.alerts import alert_desk
from live.alerts.event_alerts import BOARD, ENGINES, FEEDS, PLAYER, AlertTopic, WatchedEvent
from live.alerts.finding import Finding
from live.events import (
    AlertKind,
    AlertMessage,
    Change,
    EngineHealth,
    GameMessage,
    HealthMessage,
    PlayerView,
    StandingMessage,
)
from live.service.desks import (
    AlertService,
    RestoredAlerts,
    RestoredMute,
    alerts_of,
    log_of,
    said_in,
)
from live.service.event_journal import EventJournal
from live.store.journal import Journal
from tests.publish.world import World

Verb = Literal[
    "raise",
    "again",
    "worse",
    "acknowledge",
    "note",
    "mute",
    "unmute",
    "mute kind",
    "unmute kind",
    "mute board",
    "unmute board",
    "over",
    "enter",
]

ALERTS = 50
PARTS = 4
BASE_S = 1_777_600_000.0
KINDS: tuple[AlertKind, ...] = get_args(AlertKind)


class Step(msgspec.Struct, frozen=True):
    """One thing that happens, and when, seconds since 1970 UTC."""

    at_s: float
    verb: Verb
    number: int
    """Which finding, or which entry."""


def day() -> list[Step]:
    """Fifty findings, each with what happens to it some steps later."""
    verbs: list[tuple[Verb, int]] = []
    for number in range(ALERTS + 8):
        if number < ALERTS:
            verbs.append(("raise", number))
        if number % 9 == 4:
            verbs.append(("enter", number))
        if number % 13 in (6, 10):
            # A kind is muted, and four findings later shown again.
            verbs.append(("mute kind", number) if number % 13 == 6 else ("unmute kind", number - 4))
        if number % 11 in (5, 9):
            verbs.append(
                ("mute board", number) if number % 11 == 5 else ("unmute board", number - 4)
            )
        later = number - 3
        if 0 <= later < ALERTS:
            if later % 4 == 1:
                verbs.append(("note", later))
            if later % 5 == 2:
                verbs.append(("mute", later))
            if later % 7 == 3:
                verbs.append(("again", later))
            if later % 6 == 5:
                verbs.append(("worse", later))
            if later % 10 == 7:
                verbs.append(("unmute", later))
            if later % 3 == 0:
                verbs.append(("acknowledge", later))
        if 0 <= number - 7 < ALERTS and number % 2:
            verbs.append(("over", number - 7))
    return [Step(BASE_S + 7.25 * at, verb, number) for at, (verb, number) in enumerate(verbs)]


def part_of(at: int, steps: int) -> int:
    """Which life of the process carries a step out."""
    return at * PARTS // steps


def finding(number: int, occurrence: int = 1, *, worse: bool = False) -> Finding:
    """What is the matter, of each kind in turn."""
    kind = KINDS[number % len(KINDS)]
    board = kind not in ("feed", "engine", "agreement")
    return Finding(
        kind=kind,
        severity="alarm" if worse else "look",
        text=f"Finding {number}",
        advice="Look.",
        game=f"g{number % 10}" if board else None,
        feed="hall" if kind == "feed" else None,
        about=f"p{number}",
        occurrence=occurrence,
    )


def kind_of(number: int) -> AlertKind:
    """The kind of a finding."""
    return KINDS[number % len(KINDS)]


def board_of(number: int) -> str:
    """The board of a finding, if it is about one."""
    return f"g{number % 10}"


def note_text(number: int) -> str:
    return f"note on {number}, <b>; =1+1"


def entry_text(number: int) -> str:
    return f"entry {number}: draw offer disputed"


class Script:
    """What is the matter now."""

    def __init__(self) -> None:
        self.standing: dict[int, Finding] = {}

    def findings(self, watched: WatchedEvent, topic: AlertTopic, now_s: float) -> Iterator[Finding]:
        for each in self.standing.values():
            kind = {"feed": FEEDS, "engine": ENGINES, "agreement": PLAYER}.get(each.kind, BOARD)
            at = {BOARD: each.game, PLAYER: each.about}.get(kind, topic.id)
            if topic.kind == kind and topic.id == at:
                yield each

    def take(self, step: Step) -> None:
        """The cause appears, changes or goes."""
        held = self.standing.get(step.number)
        if step.verb == "raise":
            self.standing[step.number] = finding(step.number)
        elif held is not None and step.verb == "again":
            worse = held.severity == "alarm"
            self.standing[step.number] = finding(step.number, held.occurrence + 1, worse=worse)
        elif held is not None and step.verb == "worse":
            self.standing[step.number] = finding(step.number, held.occurrence, worse=True)
        elif step.verb == "over":
            self.standing.pop(step.number, None)


def looks() -> list[Change]:
    """Changes that have the desk look at everything."""
    world = World(1)
    changes: list[Change] = []
    for number in range(10):
        (view,) = world.appear(f"g{number}")
        assert isinstance(view, GameMessage)
        changes.append(GameMessage(msgspec.structs.replace(view.game, result="*")))
    changes.extend(
        StandingMessage(PlayerView(f"p{number}", "x", None, 1, 1, None)) for number in range(ALERTS)
    )
    return [*changes, HealthMessage((), EngineHealth())]


def main() -> None:
    path, part = Path(sys.argv[1]), int(sys.argv[2])
    steps, script, now_s = day(), Script(), [BASE_S]
    alert_desk.findings = script.findings
    kept = EventJournal(path)
    kept.journal = Journal(path, now_ms=lambda: round(now_s[0] * 1000))
    with kept.journal as journal:
        service = AlertService(kept.published, clock=lambda: now_s[0], journal=journal)
        told = [(BASE_S, change) for change in looks()]
        notes = journal.notes()
        mine = [(at, step) for at, step in enumerate(steps) if part_of(at, len(steps)) == part]
        for step in steps[: mine[0][0]]:
            script.take(step)
            now_s[0] = step.at_s
        last_s = now_s[0]
        said = map(said_in, notes)
        mutes = [each for each in said if isinstance(each, RestoredMute)]
        before = RestoredAlerts(told, alerts_of(notes), mutes, last_s, log_of(notes))
        for _ in service.resume(before):
            pass
        for _, step in mine:
            now_s[0] = step.at_s
            carry_out(service, script, step, kept.published)
        if part == PARTS - 1:
            return
        assert journal.flush()
        os.kill(os.getpid(), signal.SIGKILL)


def carry_out(
    service: AlertService,
    script: Script,
    step: Step,
    publish: Callable[[Iterable[Change]], None],
) -> None:
    """What an arbiter sees or does, in one step."""
    script.take(step)
    id = finding(step.number).id
    match step.verb:
        case "acknowledge":
            service.acknowledge(id)
        case "note":
            service.note(id, note_text(step.number))
        case "mute" | "unmute":
            service.mute(id, step.verb == "mute")
        case "mute kind" | "unmute kind":
            service.mute_kind(kind_of(step.number), step.verb == "mute kind")
        case "mute board" | "unmute board":
            service.mute_board(board_of(step.number), step.verb == "mute board")
        case "enter":
            game = f"g{step.number % 10}" if step.number % 2 else None
            service.enter(entry_text(step.number), game)
        case _:
            # What the desk finds goes with the changes that it looked at.
            found = service.with_alerts(looks())
            publish([each for each in found if isinstance(each, AlertMessage)])


if __name__ == "__main__":
    main()
