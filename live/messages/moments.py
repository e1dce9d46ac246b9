"""Moments of games that are worth telling, with the figures they rest on."""

from typing import Literal

from live.messages.values import Color, GameId, Value

MomentKind = Literal[
    "find",
    "trap",
    "turn",
    "missed",
    "scramble",
    "comeback",
    "upset-coming",
    "upset",
    "above",
    "despite",
    "best-played",
    "wildest",
    "highest",
    "lowest",
]

#: Moments that compare all games of a round.
ROUND_MOMENTS: frozenset[MomentKind] = frozenset(
    {"best-played", "wildest", "highest", "lowest"}
)


class MomentFigure(Value):
    """One figure that a moment rests on."""

    name: str
    value: float


class MomentText(Value):
    """One sentence in each language of the overlays."""

    en: str
    de: str
    fr: str
    es: str
    it: str
    ru: str


class Moment(Value):
    """Something that happened in a game, told from figures that hold."""

    id: str
    game: GameId
    ply: int
    """The position it is about: that after this ply."""
    kind: MomentKind
    color: Color | None
    """Whose moment it is; null where it is of both."""
    at_s: float | None
    """When this service saw the move, seconds since 1970 UTC; null where it came with
    others."""
    weight: float
    """How much it matters, 0 to 1: by it a director chooses."""
    figures: tuple[MomentFigure, ...]
    text: MomentText
    """What is said of it, as plain text."""
