"""What a plugin is: the four kinds, what each is asked, and what it answers.

A plugin is a class that is made without arguments, or an object. Its package names it in an entry
point of one of the groups below; the entry point's name is the plugin's. It runs in a process of
its own, so it may block, keep what it likes between calls, and print. Calls come one by one.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, Protocol, get_args

import msgspec

from live.events import (
    Color,
    GameDetail,
    PlayerView,
    PluginFigure,
    Severity,
    SnapshotMessage,
    Value,
)

PluginGroup = Literal[
    "live_rate.feeds", "live_rate.alerts", "live_rate.methods", "live_rate.exports"
]
GROUPS: tuple[PluginGroup, ...] = get_args(PluginGroup)


#: Longest text for people, characters; it becomes one line without control characters.
MOST_TEXT = 300


class PluginAlert(Value, kw_only=True):
    """Something that an alert plugin finds the matter with a board."""

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    """One for each thing that can be the matter with a board; the same while it lasts."""
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_TEXT)]
    """For people: what is the matter."""
    advice: Annotated[str, msgspec.Meta(max_length=MOST_TEXT)] = ""
    """For people: what to do about it."""
    severity: Severity = "look"
    ply: int | None = None
    color: Color | None = None
    """Whose side it is about; null for both."""


class FeedPlugin(Protocol):
    """Follows a source: ``--feed plugin+NAME`` or ``--feed plugin+NAME:ADDRESS``."""

    def follow(self, address: str) -> Iterable[str]:
        """Whenever something has changed: the PGN of all games of the source, as far as they are.

        ``address`` is empty where none is given. The source is over when this ends. What it raises
        is shown, and it is called again after a while.
        """


class AlertPlugin(Protocol):
    """Watches boards for arbiters."""

    def alerts(self, game: GameDetail) -> Iterable[PluginAlert]:
        """All that is the matter with this board now; an alert that is given no longer is over.

        Called again after moves, clocks, results and final scores, but not for each of them.
        """


class MethodPlugin(Protocol):
    """Makes a figure of every player."""

    def figure(self, player: PlayerView, games: Sequence[GameDetail]) -> PluginFigure | None:
        """The figure over all games of the event that the player is in; None while there is none.

        Called again when one of them has changed. Given what the public may see.
        """


class ExportPlugin(Protocol):
    """Writes the event in another format: ``/api/v1/exports/NAME``."""

    media_type: str
    """As HTTP says it, such as ``text/csv``."""

    def export(self, event: SnapshotMessage) -> bytes:
        """The whole file. ``event`` is what whoever asks may see, and no more."""
