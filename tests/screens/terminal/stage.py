"""A terminal before a real round in its middle, as messages of a rehearsal told it."""

import contextlib
import gzip
from pathlib import Path
from typing import Self

import msgspec
from textual import events
from textual.strip import Strip

from live.messages.alerts import Alert
from live.messages.from_clients import DeskCommand
from live.messages.health import PublicDelay
from live.messages.to_clients import (
    AlertMessage,
    HelloMessage,
    MomentMessage,
    SnapshotMessage,
)
from live.messages.values import GameId
from live.screens.terminal.terminal_app import Terminal
from live.screens.terminal.view_context import ExportKind, RecentChanges, ViewContext
from live.screens.terminal.widgets import AskLine, Lines
from live.server.reference_client import ReferenceClient
from tests.figures import Kind, engine_of, game_with_figures, player_with_figures
from tests.watch.games import moment

DATA = Path(__file__).resolve().parent.parent.parent / "data"
ADDRESS = "http://127.0.0.1:8765/"
#: When it is, seconds since 1970 UTC.
NOW_S = 1_700_000_000.0

ALERTS = (
    Alert(
        id="flag g1 white",
        kind="flag",
        severity="alarm",
        text="White's flag has fallen: 0:00 on the clock, no result",
        advice="Go to the board",
        first_seen_s=NOW_S - 75,
        color="white",
    ),
    Alert(
        id="stale g2",
        kind="stale",
        severity="look",
        text="No move for 22 minutes",
        advice="See whether the board still sends",
        first_seen_s=NOW_S - 300,
        times=2,
    ),
)


#: Board, ply, and what is told, the oldest first.
MOMENTS = (
    (6, 58, "Rossello Padron (1776) beats Rodriguez Morales (1496)."),
    (5, 44, "Marrero Rodriguez falls from 61 % to 24 % with 22. Rg2. Best was Qh3."),
    (1, 42, "Fiorito falls from 48 % to 31 % with 21... Ba8. Best was Ba6."),
)


def round_in_the_middle(
    kind: Kind = "open", *, native: bool = False
) -> ReferenceClient:
    """What a subscriber held of the bundled round (see tests/data/README.md), with
    every figure.
    """
    hello, snapshot = msgspec.json.decode(
        gzip.decompress((DATA / "round-in-the-middle.json.gz").read_bytes()),
        type=tuple[HelloMessage, SnapshotMessage],
    )
    snapshot = msgspec.structs.replace(
        snapshot,
        engine=engine_of(snapshot.engine, native=native),
        games=tuple(game_with_figures(game, kind) for game in snapshot.games),
        players=tuple(player_with_figures(view, kind) for view in snapshot.players),
    )
    client_state = ReferenceClient()
    client_state.apply(hello)
    client_state.apply(snapshot)
    return client_state


class Stage:
    """App, state and a clock that is moved by hand; opened for as long as ``async
    with`` lasts.
    """

    def __init__(
        self,
        *,
        alerts: bool = False,
        moments: bool = True,
        able: bool = True,
        kind: Kind = "open",
        native: bool = False,
        size: tuple[int, int] = (80, 24),
        theme: str = "dusk",
    ) -> None:
        self.now_s = 1000.0
        self.client_state = round_in_the_middle(kind, native=native)
        if alerts:
            games = [view.id for view in self.client_state.games()]
            for alert, game in zip(ALERTS, games, strict=False):
                about = msgspec.structs.replace(alert, game=game)
                self.client_state.apply(AlertMessage(about))
        if moments:
            boards = {view.board: view.id for view in self.client_state.games()}
            for number, (board, ply, text) in enumerate(MOMENTS):
                told = moment(boards[board], ply, id=str(number), at_s=NOW_S + number)
                words = msgspec.structs.replace(told.text, en=text)
                told = msgspec.structs.replace(told, text=words)
                self.client_state.apply(MomentMessage(told.game, told))
        self.changes = RecentChanges(lambda: self.now_s)
        self.context = ViewContext(
            self.client_state, self.changes, ADDRESS, lambda: NOW_S
        )
        self.asked: list[DeskCommand] = []
        """What an arbiter had done."""
        self.exported: list[tuple[ExportKind, GameId | None]] = []
        self.delay_s = 0.0
        if able:
            self.context.command = self.asked.append
            self.context.export = self._export
            self.context.public_delay = lambda: PublicDelay(self.delay_s)
            self.context.set_delay = self._delay
        else:
            self.context.no_desk = lambda: "alerts and log are for arbiters"
        self.stopped = 0
        self.interrupted = 0
        self.size = size
        self.app = Terminal(
            self.context, theme=theme, stop=self._stop, interrupt=self._interrupt
        )
        self.app.animation_level = "none"  # a page scrolled half is no frame
        self._open = contextlib.AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.pilot = await self._open.enter_async_context(
            self.app.run_test(size=self.size)
        )
        await self.frame()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._open.aclose()

    def _stop(self) -> None:
        self.stopped += 1

    def _interrupt(self) -> None:
        self.interrupted += 1

    def _export(self, kind: ExportKind, game: GameId | None) -> str:
        self.exported.append((kind, game))
        return f"round.{kind}"

    def _delay(self, seconds: float) -> None:
        self.delay_s = seconds

    async def frame(self) -> str:
        """What the screen shows, once nothing is left to do."""
        await self.pilot.pause(0)
        self.app.redraw()
        # A layout may ask for another one, and that for a scroll. The last pause waits
        # for the timer that draws.
        await self.pilot.pause(0)
        await self.pilot.pause(0)
        await self.pilot.pause()
        return self.read_screen()

    def strips(self) -> list[Strip]:
        """What the terminal was given last, with its styles."""
        return self.app.screen._compositor.render_strips()

    def read_screen(self) -> str:
        """What the terminal was given last."""
        return "\n".join(strip.text.rstrip() for strip in self.strips())

    async def resize(self, size: tuple[int, int]) -> str:
        """The screen in another size."""
        await self.pilot.resize_terminal(*size)
        return await self.frame()

    async def press(self, *keys: str) -> str:
        """The screen after these keys."""
        self.burst(*keys)
        return await self.frame()

    def burst(self, *keys: str) -> None:
        """Hand over keys that are all there before the first is looked at."""
        for key in keys:
            event = events.Key(key, key if len(key) == 1 else None)
            event.set_sender(self.app)
            self.app.post_message(event)

    async def answer(self, text: str) -> str:
        """The screen after this text was written into the open line."""
        line = self.app.query_one(AskLine)
        assert line.has_focus
        line.value = ""
        return await self.press(*text, "enter")

    @property
    def asks_for(self) -> str:
        """What the open line asks for; empty where none is open."""
        label = self.app.query_one("#label", Lines)
        return label.render_line(0).text.strip() if label.is_on_screen else ""
