"""A moment before it is worded."""

from collections.abc import Mapping
from typing import NamedTuple

from live.messages.moments import MomentKind
from live.messages.values import Color

#: At most one of this kind and colour in a game.
ONCE: frozenset[MomentKind] = frozenset(
    {
        "scramble",
        "upset-coming",
        "upset",
        "comeback",
        "above",
        "despite",
        "highest",
        "lowest",
    }
)


class MomentDraft(NamedTuple):
    """A moment before it is worded."""

    kind: MomentKind
    ply: int
    color: Color | None
    weight: float
    figures: Mapping[str, float]
