"""What websocket clients send: tokens, boards on air, what arbiters do about alerts."""

from typing import Literal, TypeVar

import msgspec

from live.messages.values import GameId, Value


class TokenMessage(Value, tag="token"):
    """What a client may send first instead of a header:
    ``{"type":"token","token":"…"}``.
    """

    token: str


class OnAirMessage(Value, tag="air"):
    """What an overlay sends: the games it shows now."""

    games: tuple[GameId, ...] = ()


class DeskCommand(Value, tag="desk", omit_defaults=True):
    """What an arbiter does about alerts and the incident log. As ``{"type":"desk", …}``
    it is a message that the websocket of an arbiter's token may send.
    """

    act: Literal["acknowledge", "note", "mute", "mute-kind", "mute-board", "enter"]
    about: str = ""
    """The alert; its kind for ``mute-kind``, a game for ``mute-board`` and, or none,
    ``enter``."""
    text: str = ""
    """Of a note or an entry."""
    muted: bool = True
    """False: to be shown again."""


ClientMessage = TypeVar("ClientMessage", TokenMessage, OnAirMessage, DeskCommand)


def decode_client_message(
    text: str | bytes, kind: type[ClientMessage]
) -> ClientMessage | None:
    """Read a message of this kind; None for anything else."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
