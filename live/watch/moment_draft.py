"""The data of a moment, before sentences about it are written."""

from collections.abc import Mapping
from typing import NamedTuple

from live.messages.moments import MomentKind
from live.messages.values import Color

#: Kinds of moment that a game can have only once for each side.
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
    """The data of a moment, before sentences about it are written."""

    kind: MomentKind
    ply: int
    color: Color | None
    weight: float
    figures: Mapping[str, float]
