"""Messages from websocket clients: tokens, boards on air and arbiters' commands."""

from typing import Literal, TypeVar

import msgspec

from live.messages.values import GameId, Value


class TokenMessage(Value, tag="token"):
    """The token of a client, as its first message instead of in a header.

    It is sent as ``{"type":"token","token":"…"}``.
    """

    token: str


class OnAirMessage(Value, tag="air"):
    """The games that an overlay shows at present."""

    games: tuple[GameId, ...] = ()


class DeskCommand(Value, tag="desk", omit_defaults=True):
    """An arbiter's command about an alert or the incident log.

    A websocket client with an arbiter's token can send it as ``{"type":"desk", …}``.
    """

    act: Literal["acknowledge", "note", "mute", "mute-kind", "mute-board", "enter"]
    about: str = ""
    """The subject: the id of an alert for ``acknowledge``, ``note`` and ``mute``; a
    kind of alert for ``mute-kind``; the id of a game for ``mute-board``. For ``enter``
    the id of a game, or empty."""
    text: str = ""
    """The text of a note or an entry."""
    muted: bool = True
    """True to mute, false to unmute."""


ClientMessage = TypeVar("ClientMessage", TokenMessage, OnAirMessage, DeskCommand)


def decode_client_message(text: str | bytes, kind: type[ClientMessage]) -> ClientMessage | None:
    """Return a client's message of this kind; None if the text is anything else."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
