"""Notable moments of games, with the figures on which they rest."""

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

#: Kinds of moment that compare all games of a round.
ROUND_MOMENTS: frozenset[MomentKind] = frozenset({"best-played", "wildest", "highest", "lowest"})


class MomentFigure(Value):
    """One figure on which a moment rests."""

    name: str
    value: float


class MomentText(Value):
    """The same sentence in each language of the overlays."""

    en: str
    de: str
    fr: str
    es: str
    it: str
    ru: str


class Moment(Value):
    """A notable moment of a game, based on final figures."""

    id: str
    game: GameId
    ply: int
    """The moment is about the position after this ply."""
    kind: MomentKind
    color: Color | None
    """The side that the moment is about; null if it is about both sides."""
    at_s: float | None
    """Time when this service received the move, seconds since 1970 UTC; null if the
    move came together with several others."""
    weight: float
    """Importance of the moment, 0 to 1. The automatic director uses it to choose."""
    figures: tuple[MomentFigure, ...]
    text: MomentText
    """A sentence about the moment, as plain text in each language."""
