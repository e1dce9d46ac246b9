"""Which scene is on air: moments in, at most one switch out. Pure: the time comes in.

A scene stays for a least time. Whoever switches by hand is the producer: then nothing is switched
for a while.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from live.config import DirectorConfig
from live.events import (
    Change,
    GameId,
    GameMessage,
    GameView,
    GoneMessage,
    Moment,
    MomentMessage,
    MoveMessage,
)

#: A moment that was not shown within so long is none any more, seconds.
FRESH_S: Final = 60.0
#: Of so many moments it is known that they were taken note of.
KNOWN: Final = 1000


class SwitchScene(NamedTuple):
    """Put this scene on air."""

    scene: str
    why: str


class SceneChoice:
    """One writer calls; nothing waits."""

    def __init__(self, rules: DirectorConfig) -> None:
        self._rules = rules
        self._boards: dict[GameId, int | None] = {}
        self._moments: dict[str, tuple[Moment, float]] = {}
        # Ids, the oldest first: a moment is sent again whenever its figures change.
        self._noted: dict[str, None] = {}
        self._scene: str | None = None
        self._since_s: float | None = None
        self._paused_until_s = float("-inf")
        self._known: frozenset[str] | None = None

    def begin(self, games: Iterable[GameView], moments: Iterable[Moment]) -> None:
        """These are known already: nothing of them is switched to."""
        self._boards = {view.id: view.board for view in games}
        self._noted = {moment.id: None for moment in moments}

    def heard(self, changes: Iterable[Change], now_s: float) -> None:
        """Take note of what viewers may know."""
        for change in changes:
            if isinstance(change, GameMessage):
                self._boards[change.game.id] = change.game.board
            elif isinstance(change, GoneMessage):
                self._boards.pop(change.game, None)
                self._drop(change.game, 0)
            elif isinstance(change, MoveMessage):
                self._drop(change.game, change.ply)
            elif isinstance(change, MomentMessage):
                self._note(change.moment, change.holds, now_s)

    def _drop(self, game: GameId, ply: int) -> None:
        """Moments of a game from a ply on have not happened."""
        self._moments = {
            id: each
            for id, each in self._moments.items()
            if each[0].game != game or each[0].ply < ply
        }

    def _note(self, moment: Moment, holds: bool, now_s: float) -> None:
        held = self._moments.pop(moment.id, None)
        if not holds or not self._wanted(moment):
            return
        if held is not None:
            self._moments[moment.id] = (moment, held[1])
        elif moment.id not in self._noted:
            self._moments[moment.id] = (moment, now_s)
            self._noted[moment.id] = None
            if len(self._noted) > KNOWN:
                del self._noted[next(iter(self._noted))]

    def _wanted(self, moment: Moment) -> bool:
        if moment.at_s is None:
            return False  # Nobody saw it happen: it may be hours old.
        kinds = self._rules.kinds
        return moment.weight >= self._rules.least_weight and (not kinds or moment.kind in kinds)

    def scenes(self, known: Collection[str]) -> None:
        """The scenes there are; no other is ever asked for."""
        self._known = frozenset(known)

    def on_air(self, scene: str, now_s: float) -> None:
        """This scene is on air. Where it is not the one that was asked for, somebody switched by
        hand.
        """
        if self._scene is not None and scene != self._scene:
            self._paused_until_s = now_s + self._rules.pause_s
        self._scene, self._since_s = scene, now_s

    def asked(self, scene: str, now_s: float) -> None:
        """A switch to this scene was asked for."""
        self._scene, self._since_s = scene, now_s

    def scene_of(self, board: int | None) -> str | None:
        """The scene of a board; None where there is none of that name."""
        if board is None:
            return None
        scene = self._rules.scene.replace("{board}", str(board))
        return scene if self._known is None or scene in self._known else None

    def next(self, now_s: float) -> SwitchScene | None:
        """What is to be done now, if anything."""
        self._moments = {
            id: each for id, each in self._moments.items() if now_s - each[1] < FRESH_S
        }
        on_air_s = float("inf") if self._since_s is None else now_s - self._since_s
        if now_s < self._paused_until_s or on_air_s < self._rules.stay_s:
            return None
        best: tuple[float, str, SwitchScene] | None = None
        for moment, _ in self._moments.values():
            scene = self.scene_of(self._boards.get(moment.game))
            if scene is None or scene == self._scene:
                continue
            found = (moment.weight, moment.id, SwitchScene(scene, moment.text.en))
            if best is None or found > best:
                best = found
        if best is not None:
            del self._moments[best[1]]
            return best[2]
        home = self._rules.home_scene
        known = self._known is None or home in self._known
        if home and known and self._scene != home and on_air_s >= self._rules.hold_s:
            return SwitchScene(home, "nothing else is worth telling")
        return None
