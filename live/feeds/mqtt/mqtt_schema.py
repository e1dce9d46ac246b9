"""What publishers may send over MQTT as JSON: our own schema. Values without behaviour.

Unknown fields are passed over, so that a publisher may send more than we read.
"""

from __future__ import annotations

from typing import Annotated

import chess
import msgspec

Elo = Annotated[int, msgspec.Meta(ge=0, le=5000)]
FideId = Annotated[int, msgspec.Meta(ge=0, lt=10**11)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**7)]


class MqttPlayer(msgspec.Struct, frozen=True):
    """A player; a bare name may stand in its place."""

    name: str = "?"
    elo: Elo | None = None
    title: str | None = None
    fide_id: FideId | None = None
    federation: str | None = None
    team: str | None = None


class MqttMove(msgspec.Struct, frozen=True):
    """A move with its clock; bare SAN or UCI may stand in its place."""

    move: str
    """SAN (``Nf3``) or UCI (``g1f3``)."""
    clock_s: Seconds | None = None
    """The mover's clock after the move, seconds."""
    spent_s: Seconds | None = None
    """Time the move took, seconds."""


class MqttGameHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """What a payload may say about its game."""

    white: str | MqttPlayer = "?"
    black: str | MqttPlayer = "?"
    id: str = ""
    """Stable name of the game; needed only where the players' names do not identify it."""
    event: str = ""
    site: str = ""
    round: str | int = ""
    board: Annotated[int, msgspec.Meta(ge=0, le=10**6)] | None = None
    date: str = ""
    """``2026.11.21``"""
    time_control: str = ""
    url: str = ""
    eco: str = ""
    opening: str = ""
    """Its name; ``eco`` is its code."""
    result: str = "*"


class MqttGame(MqttGameHeaders, frozen=True, kw_only=True):
    """A whole game: all moves so far, each time."""

    moves: str | list[str | MqttMove]
    """From the start on; as one text: ``"e4 e5 Nf3"``."""
    start_fen: str = chess.STARTING_FEN
    variant: str = "standard"
    """``standard`` or ``chess960``."""


class MqttPosition(MqttGameHeaders, frozen=True, kw_only=True):
    """A position and the move that led to it."""

    fen: str
    """The position after the move; the fields after the side to move may be missing."""
    move: str = ""
    """SAN or UCI."""
    white_clock_s: Seconds | None = None
    black_clock_s: Seconds | None = None
    """Both clocks at this moment, seconds."""
