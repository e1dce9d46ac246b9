"""What an arbiter's program asks for: notes on alerts and corrections."""

from typing import Literal

from live.messages.values import Value


class DeskCommand(Value, tag="desk", omit_defaults=True):
    """What an arbiter does about alerts and the incident log. As ``{"type":"desk", …}`` it is a
    message that the websocket of an arbiter's token may send.
    """

    act: Literal["acknowledge", "note", "mute", "mute-kind", "mute-board", "enter"]
    about: str = ""
    """The alert; its kind for ``mute-kind``, a game for ``mute-board`` and, or none, ``enter``."""
    text: str = ""
    """Of a note or an entry."""
    muted: bool = True
    """False: to be shown again."""
