"""A terminal before a real round in its middle, as messages of a rehearsal told it."""

import gzip
from pathlib import Path

import msgspec

from live.events import (
    Alert,
    AlertMessage,
    DeskCommand,
    GameId,
    HelloMessage,
    PublicDelay,
    SnapshotMessage,
)
from live.publish.published_state import ClientState
from live.terminal.controller import TerminalController
from live.terminal.view_context import ExportKind, RecentChanges, ViewContext
from tests.figures import Kind, engine_of, game_with_figures, player_with_figures

DATA = Path(__file__).resolve().parent.parent / "data"
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


def round_in_the_middle(kind: Kind = "open", *, native: bool = False) -> ClientState:
    """What a subscriber held of the bundled round (see tests/data/README.md), with every figure."""
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
    client_state = ClientState()
    client_state.apply(hello)
    client_state.apply(snapshot)
    return client_state


class Stage:
    """Controller, state and a clock that is moved by hand."""

    def __init__(
        self, *, alerts: bool = False, able: bool = True, kind: Kind = "open", native: bool = False
    ) -> None:
        self.now_s = 1000.0
        self.client_state = round_in_the_middle(kind, native=native)
        if alerts:
            games = [view.id for view in self.client_state.games()]
            for alert, game in zip(ALERTS, games, strict=False):
                about = msgspec.structs.replace(alert, game=game)
                self.client_state.apply(AlertMessage(about))
        self.changes = RecentChanges(lambda: self.now_s)
        self.context = ViewContext(self.client_state, self.changes, ADDRESS, lambda: NOW_S)
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
        self.left = 0
        self.controller = TerminalController(self.context, self._leave)
        self.size = (80, 24)
        self.frame()

    def _leave(self) -> None:
        self.left += 1

    def _export(self, kind: ExportKind, game: GameId | None) -> str:
        self.exported.append((kind, game))
        return f"round.{kind}"

    def _delay(self, seconds: float) -> None:
        self.delay_s = seconds

    def frame(self) -> str:
        """What the screen shows."""
        return "\n".join(line.plain.rstrip() for line in self.controller.frame(*self.size))

    def press(self, *keys: str) -> str:
        """The screen after these keys."""
        shown = ""
        for key in keys:
            self.controller.press(key)
            shown = self.frame()
        return shown
