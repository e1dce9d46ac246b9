"""Which way a run shows itself, and the way for programs."""

from __future__ import annotations

import sys

import msgspec
import pytest

from live.publish.public_state import PublicState
from live.publish.published_state import ClientState, snapshot
from live.service.output_mode import JsonPrinter, offer_delay, theme, way
from live.terminal.palette import DUSK, PLAIN
from live.terminal.view_context import TerminalActions
from tests.publish.world import World
from tests.terminal.event import middle


class Terminals:
    """Which of the three streams are terminals."""

    def __init__(self, patch: pytest.MonkeyPatch, *names: str) -> None:
        for name in ("stdin", "stdout", "stderr"):
            stream = getattr(sys, name)
            patch.setattr(stream, "isatty", lambda name=name: name in names)


ALL = ("stdin", "stdout", "stderr")


@pytest.mark.parametrize(
    ("terminals", "flags", "term", "expected"),
    [
        (ALL, {}, "xterm-256color", "app"),
        (ALL, {}, "dumb", "table"),
        (ALL, {"plain": True}, "xterm-256color", "table"),
        (("stdout", "stderr"), {}, "xterm", "table"),
        (("stdin", "stdout"), {}, "xterm", "table"),
        (("stdin", "stderr"), {}, "xterm", "lines"),
        (ALL, {"headless": True}, "xterm", "lines"),
        (ALL, {"json": True}, "xterm", "json"),
        ((), {"json": True}, "dumb", "json"),
    ],
)
def test_the_app_only_where_somebody_can_see_it(
    terminals: tuple[str, ...],
    flags: dict[str, bool],
    term: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Terminals(monkeypatch, *terminals)
    assert way(environment={"TERM": term}, **flags) == expected


def test_no_color_means_none() -> None:
    assert theme({"NO_COLOR": "1"}) == PLAIN.name
    assert theme({}) == theme({"NO_COLOR": ""}) == DUSK.name


def test_the_terminal_holds_back_what_the_public_sees_and_shows_what_waits() -> None:
    actions, world = TerminalActions("http://127.0.0.1/"), World(1)
    public = PublicState(world)
    offer_delay(actions, public, None)
    assert actions.set_delay is not None and actions.public_delay().delay_s == 0
    actions.set_delay(900)
    public.publish(world.appear("g1") + world.move("g1"))
    held = actions.public_delay()
    assert (held.delay_s, held.held_moves, held.held_boards) == (900, 1, 1)
    actions.set_delay(0)
    assert public.game("g1") == world.held["g1"]


@pytest.mark.slow
def test_json_lines_are_messages_a_client_can_follow() -> None:
    event = middle()
    event.new()
    lines: list[str] = []
    printer = JsonPrinter(lines.append)
    printer.begin(snapshot(event.state))
    event.think()
    printer.show(event.new())
    assert len(lines) > 2
    client_state = ClientState()
    for line in lines:
        assert line.endswith("\n") and line.count("\n") == 1
        client_state.receive(line)
    assert client_state.snapshot() == msgspec.json.decode(
        msgspec.json.encode(snapshot(event.state)), type=type(client_state.snapshot())
    )
